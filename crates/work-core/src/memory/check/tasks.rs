//! Tasks, runs and client keys.

use super::{Checked, Draft, goes_on, must};
use crate::port::{Change, Request};
use crate::proposal::ProposalKind;
use crate::task::{Failure, FailureReason, Fence, Lease, Run, Success, Task, TaskKind, TaskState};
use crate::time::{Now, Timestamp};
use std::sync::Arc;

impl Draft<'_> {
    /// Queues a task, or moves it on. Its progress is erased.
    pub(super) fn task(&mut self, change: &Change<Task>) -> Checked {
        let new = change.value();
        match self.tables.tasks.replaced_by(&new.id, change)? {
            Some(old) => {
                stays_itself(old, new, self.now)?;
                must(new.updated_at == self.now.at, "a task that changed at another time")?;
                moves_on(old, new, self.now)?;
            }
            None => self.is_queued(new)?,
        }
        self.past(new.updated_at)?;
        Arc::make_mut(&mut self.tables.tasks).put(new.id, new.clone());
        Arc::make_mut(&mut self.tables.progress).remove(&new.id);
        Ok(())
    }

    /// Whether a task may begin like this.
    fn is_queued(&self, new: &Task) -> Checked {
        let untouched = (new.state, new.fence, new.attempts) == (TaskState::Queued, Fence(0), 0);
        must(
            untouched && new.created_at == new.updated_at,
            "a task that began before it was asked",
        )?;
        self.scope_exists(&new.request.query, &new.request.scope)?;
        match new.kind {
            TaskKind::Report => Ok(()),
            TaskKind::Repair(result) => {
                must(self.tables.results.get(&result).is_some(), "a repair of an unknown result")
            }
        }
    }

    /// A task that runs has its run; one that succeeded has what came of it.
    pub(super) fn task_fits(&self, task: &Task) -> Checked {
        match task.state {
            TaskState::Queued | TaskState::Cancelled => Ok(()),
            TaskState::Running(_) => {
                let run = self.tables.runs.get(&(task.id, task.fence));
                must(run.is_some(), "a lease without its run")
            }
            TaskState::Succeeded(success) => self.success_fits(task, success),
            TaskState::Failed(failure) => self.documents_exist(failure.scan.as_slice()),
        }
    }

    /// Whether what came of a task is there and came from its last run.
    fn success_fits(&self, task: &Task, success: Success) -> Checked {
        let fits = match (task.kind, success) {
            (TaskKind::Report, Success::Published(result, no)) => {
                self.published((task.id, task.fence), (result, no))
            }
            (TaskKind::Repair(result), Success::Proposed(proposal)) => {
                let kind = ProposalKind::Repair { task: task.id, fence: task.fence };
                let proposal = self.tables.proposals.value(&proposal);
                proposal.is_some_and(|proposal| (proposal.result, proposal.kind) == (result, kind))
            }
            (TaskKind::Repair(_), Success::NoChange) => true,
            (TaskKind::Report, Success::Proposed(_) | Success::NoChange)
            | (TaskKind::Repair(_), Success::Published(..)) => false,
        };
        must(fits, "a task that says what did not come of it")
    }

    /// Begins a run, or ends it once.
    pub(super) fn run(&mut self, change: &Change<Run>) -> Checked {
        let new = change.value();
        let key = (new.task, new.fence);
        match self.tables.runs.replaced_by(&key, change)? {
            Some(old) => ends_once(old, new, self.now)?,
            None => {
                must(new.ended.is_none(), "a run that ended before it began")?;
                let ids = self.tables.runs.oldest_first().map(|kept| kept.value.id);
                must(!ids.into_iter().any(|id| id == new.id), "two runs with one id")?;
            }
        }
        self.past(new.ended.map_or(new.started_at, |(at, _)| at))?;
        must(self.tables.tasks.get(&new.task).is_some(), "a run without its task")?;
        Arc::make_mut(&mut self.tables.runs).put(key, *new);
        Ok(())
    }

    /// A run that has not ended is the task's present lease.
    pub(super) fn run_fits(&self, run: &Run) -> Checked {
        let task = self.tables.tasks.value(&run.task);
        let holds = match (run.ended, task.map(|task| (task.fence, task.state))) {
            (Some(_), Some((fence, _))) => run.fence <= fence,
            (None, Some((fence, TaskState::Running(lease)))) => {
                run.fence == fence && (run.worker, run.started_at) == (lease.holder, lease.began)
            }
            (None, Some(_)) | (Some(_) | None, None) => false,
        };
        must(holds, "a run without its lease")
    }

    /// Remembers what a client key asked for, in place of an older request.
    pub(super) fn request(&mut self, new: &Request) -> Checked {
        must(self.tables.tasks.get(&new.task).is_some(), "a client key without its task")?;
        self.past(new.created_at)?;
        let old = self.tables.requests.get(&new.key);
        let goes_on = old.is_none_or(|old| goes_on(old.created_at, new.created_at, self.now));
        must(goes_on, "a client key of the past")?;
        Arc::make_mut(&mut self.tables.requests).insert(new.key, *new);
        Ok(())
    }

    /// Forgets the oldest client keys from before a moment.
    pub(super) fn forget_requests(&mut self, before: Timestamp, most: u32) -> Checked {
        let all = self.tables.requests.values();
        let mut old: Vec<_> = all.filter(|request| request.created_at < before).copied().collect();
        old.sort_by_key(|request| (request.created_at, request.key));
        let requests = Arc::make_mut(&mut self.tables.requests);
        for request in old.iter().take(usize::try_from(most).unwrap_or(usize::MAX)) {
            requests.remove(&request.key);
        }
        Ok(())
    }
}

/// Whether a task is still the same request, and its numbers did not go back.
pub(super) fn stays_itself(old: &Task, new: &Task, now: Now) -> Checked {
    let same = (new.kind, &new.request, new.created_at) == (old.kind, &old.request, old.created_at);
    must(same, "a task that became another")?;
    must(old.is_open(), "a task that went on after its end")?;
    must(new.fence >= old.fence, "a fencing number that went back")?;
    must(goes_on(old.updated_at, new.updated_at, now), "a task that went back in time")
}

/// Whether a task may go from one state to the other.
fn moves_on(old: &Task, new: &Task, now: Now) -> Checked {
    use TaskState::{Cancelled, Failed, Queued, Running, Succeeded};
    let same_lease = (new.fence, new.attempts) == (old.fence, old.attempts);
    let given_back = (new.fence, new.attempts + 1) == (old.fence, old.attempts.max(1));
    let next_lease = (new.fence.0, new.attempts) == (old.fence.0 + 1, old.attempts + 1);
    let sound = match (old.state, new.state) {
        (Queued, Running(lease)) => next_lease && begins(&lease, now),
        (Running(was), Running(lease)) => next_lease && begins(&lease, now) && !was.lasts(now),
        (Running(was), Queued) => given_back && was.lasts(now),
        (Running(was), Failed(Failure { why: FailureReason::Abandoned, .. })) => {
            same_lease && !was.lasts(now)
        }
        (Running(was), Succeeded(_) | Failed(_)) => same_lease && was.lasts(now),
        (Queued | Running(_), Cancelled) => same_lease,
        (Queued, Queued | Succeeded(_) | Failed(_)) | (Succeeded(_) | Failed(_) | Cancelled, _) => {
            false
        }
    };
    must(sound, "a task that cannot have become this")
}

/// Whether a lease begins now and lasts for a while.
fn begins(lease: &Lease, now: Now) -> bool {
    lease.began == now.at && lease.ends > now.at && lease.era == now.era
}

/// Whether a run is the same, and ends now for the first time.
fn ends_once(old: &Run, new: &Run, now: Now) -> Checked {
    must(Run { ended: None, ..*new } == *old, "a run that became another or ended twice")?;
    let after = new.ended.is_some_and(|(at, _)| goes_on(new.started_at, at, now));
    must(after, "a run that changed without an end")
}
