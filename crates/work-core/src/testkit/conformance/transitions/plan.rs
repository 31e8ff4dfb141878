//! What a step writes, decided by the real rules on what is stored.

use super::stage::Stage;
use crate::audit::EventKind;
use crate::port::{Change, Kept, Note, Proposals, Put};
use crate::proposal::{
    self, Approval, Channel, Preparation, Proposal, ProposalKind, ProposalState, Refusal, Standing,
    Transition,
};
use crate::result::{Revision, RevisionNo, WorkResult};
use crate::task::{
    self, Ask, Failure, FailureReason, Fence, Outcome, Progress, ReportRequest, Run, RunEnd,
    Success, Task, TaskKind, TaskState,
};
use crate::testkit::conformance::desk::cited;
use crate::testkit::world::{Hand, Others, PROPOSALS, Place, Presented, Step, Work, World};

/// What is to be written.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) kind: Option<EventKind>,
    pub(super) puts: Vec<Put>,
    pub(super) notes: Vec<Note>,
}

/// What the rules said, and what is written then.
type Planned = (Option<Place>, Option<Plan>);

/// Events that a step leaves behind.
pub(super) const fn acts(step: Step, place: Option<Place>) -> u64 {
    match place {
        None => matches!(step, Step::Queue(_)) as u64,
        Some(
            Place::Leased
            | Place::LeasedAfterSilence
            | Place::Abandoned
            | Place::Published
            | Place::Proposed
            | Place::NoChange
            | Place::Failed
            | Place::GivenBack
            | Place::Cancelled
            | Place::PreparedNew
            | Place::PreparedSuperseding
            | Place::PreparedExpiring
            | Place::Applied
            | Place::Dismissed
            | Place::ClockAccepted,
        ) => 1,
        Some(
            Place::Renewed
            | Place::PreparedWaits
            | Place::PreparedTooMany
            | Place::NewEra
            | Place::RefusedHeld
            | Place::RefusedNotRunning
            | Place::RefusedOldFence
            | Place::RefusedLeaseEnded
            | Place::RefusedRenewedEnough
            | Place::RefusedCancelled
            | Place::RefusedFingerprint
            | Place::RefusedUsed
            | Place::RefusedSuperseded
            | Place::RefusedDismissed
            | Place::RefusedExpired
            | Place::RefusedAccess
            | Place::RefusedUnreached
            | Place::RefusedUnavailable
            | Place::RefusedRevision
            | Place::RefusedSources,
        ) => 0,
    }
}

impl Plan {
    /// An act.
    const fn act(kind: EventKind, puts: Vec<Put>) -> Self {
        Self { kind: Some(kind), puts, notes: Vec::new() }
    }

    /// The time and nothing else.
    const fn time() -> Self {
        Self { kind: None, puts: Vec::new(), notes: Vec::new() }
    }

    /// Whether it writes nothing but the time.
    pub(super) const fn is_empty(&self) -> bool {
        self.puts.is_empty() && self.notes.is_empty()
    }

    /// The rows that it is decided on.
    fn rows(&self) -> Vec<[u8; 16]> {
        let puts = self.puts.iter().filter_map(|put| match put {
            Put::Task(Change::From(_, task)) => Some(task.id.bytes()),
            Put::Run(Change::From(_, run)) => Some(run.id.bytes()),
            Put::Result(Change::From(_, result)) => Some(result.id.bytes()),
            Put::Proposal(change) => Some(change.value().id.bytes()),
            Put::Task(Change::New(_))
            | Put::Run(Change::New(_))
            | Put::Result(Change::New(_))
            | Put::Grant(_)
            | Put::Source { .. }
            | Put::Document { .. }
            | Put::Revision(..)
            | Put::Request(_)
            | Put::ForgetRequests { .. }
            | Put::Approval(_) => None,
        });
        let notes = self.notes.iter().filter_map(|note| match note {
            Note::Renewal(_, task, _) => Some(task.id.bytes()),
            Note::Look(..) | Note::Finding { .. } | Note::Swept(..) => None,
        });
        puts.chain(notes).collect()
    }

    /// Whether both are decided on one and the same row.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let rows = self.rows();
        other.rows().iter().any(|row| rows.contains(row))
    }
}

impl Stage {
    /// What the rules say to a step on what is stored, and what is written for it.
    pub(super) fn plan(&self, world: &World, step: Step) -> Planned {
        match step {
            Step::Queue(n) => (None, self.queueing(n)),
            Step::Cancel(n) => {
                let kind = EventKind::TaskCancelled { task: self.task_id(n) };
                self.asking(n, Ask::Cancel, RunEnd::Cancelled, kind, Vec::new())
            }
            Step::Claim(worker, n) => self.claiming(worker, n),
            Step::Renew(worker) => self.renewing(world, worker),
            Step::Publish(worker) => self.publication(world, worker),
            Step::Fail(worker) => self.failing(world, worker),
            Step::GiveBack(worker) => self.giving_back(world, worker),
            Step::Restore(others) => {
                let kind = ProposalKind::Restore(RevisionNo::FIRST);
                let bound = world.source.version;
                match self.preparing(world, kind, (0, bound), others) {
                    Some((_, place, puts)) => {
                        let kind = self.prepared(world);
                        (Some(place), puts.map(|puts| Plan::act(kind, puts)))
                    }
                    None => (None, None),
                }
            }
            Step::Apply(n, presented) => self.approving(world, n, presented),
            Step::Dismiss(n) => self.dismissing(n),
            Step::Tick
            | Step::SetBack
            | Step::Reboot
            | Step::AcceptClock
            | Step::Source(_)
            | Step::Look(_)
            | Step::Crash(_) => (None, None),
        }
    }

    /// A repair that is asked for. A report is asked for through its use case.
    fn queueing(&self, n: u8) -> Option<Plan> {
        match self.setting.tasks[usize::from(n)] {
            Work::Report => None,
            Work::Repair => {
                let kind = TaskKind::Repair(self.result_id());
                let query = "how long are backups kept".to_owned();
                let request = ReportRequest { query, scope: vec![self.grant] };
                let task = Task::queued(self.task_id(n), kind, request, self.desk.now().at);
                let kind = EventKind::TaskQueued { task: task.id };
                Some(Plan::act(kind, vec![Put::Task(Change::New(task))]))
            }
        }
    }

    /// Something that is asked of a task, after other changes.
    fn asking(&self, n: u8, ask: Ask, how: RunEnd, kind: EventKind, mut puts: Vec<Put>) -> Planned {
        let (old, now) = (self.desk.task(self.task_id(n)), self.desk.now());
        let came = task::decide(&old.value, ask, now, &self.setting.limits);
        let place = Some(Place::of_task(&came));
        let Ok(granted) = came else { return (place, None) };
        let ended = self.ended(&old.value, how);
        puts.push(Put::Task(Change::From(old.version, old.value.after(granted, now))));
        puts.extend(ended);
        (place, Some(Plan::act(kind, puts)))
    }

    /// The end of a task's present run.
    fn ended(&self, task: &Task, how: RunEnd) -> Option<Put> {
        let runs = self.desk.ask(|tx| tx.runs(&[(task.id, task.fence)])).expect("runs");
        let Kept { version, value } = runs.into_iter().find(|run| run.value.ended.is_none())?;
        let ended = Some((self.desk.now().at, how));
        Some(Put::Run(Change::From(version, Run { ended, ..value })))
    }

    fn claiming(&self, worker: u8, n: u8) -> Planned {
        let (old, now) = (self.desk.task(self.task_id(n)), self.desk.now());
        let by = self.worker_id(worker);
        let came = task::decide(&old.value, Ask::Claim(by), now, &self.setting.limits);
        let place = Some(Place::of_task(&came));
        let Ok(granted) = came else { return (place, None) };
        let silent = self.ended(&old.value, RunEnd::Silent);
        let task = old.value.after(granted, now);
        let (id, fence) = (task.id, task.fence);
        let leased = matches!(task.state, TaskState::Running(_));
        let mut puts = vec![Put::Task(Change::From(old.version, task))];
        puts.extend(silent);
        if !leased {
            return (place, Some(Plan::act(EventKind::TaskAbandoned { task: id }, puts)));
        }
        let run = self.run_id(n, fence.0);
        let run = Run { id: run, task: id, fence, worker: by, started_at: now.at, ended: None };
        puts.push(Put::Run(Change::New(run)));
        (place, Some(Plan::act(EventKind::TaskLeased { task: id, fence: fence.0 }, puts)))
    }

    /// The task that a worker believes to hold, and its number.
    fn held(world: &World, worker: u8) -> Option<(u8, Fence)> {
        match world.workers[usize::from(worker)] {
            Hand::Idle => None,
            Hand::Holds { task, fence, .. } => Some((task, Fence(fence.into()))),
        }
    }

    fn renewing(&self, world: &World, worker: u8) -> Planned {
        let Some((n, fence)) = Self::held(world, worker) else { return (None, None) };
        let (old, now) = (self.desk.task(self.task_id(n)), self.desk.now());
        let came = task::decide(&old.value, Ask::Renew(fence), now, &self.setting.limits);
        let plan = came.ok().map(|granted| {
            let renewed = old.value.clone().after(granted, now);
            let notes = vec![Note::Renewal(old.version, renewed, Progress::default())];
            Plan { notes, ..Plan::time() }
        });
        (Some(Place::of_task(&came)), plan)
    }

    fn failing(&self, world: &World, worker: u8) -> Planned {
        let Some((n, fence)) = Self::held(world, worker) else { return (None, None) };
        let none = Failure { why: FailureReason::NoMatches, scan: None };
        let ask = Ask::Finish(fence, Outcome::Failure(none));
        let kind = EventKind::TaskFailed { task: self.task_id(n), fence: fence.0 };
        self.asking(n, ask, RunEnd::Failed, kind, Vec::new())
    }

    fn giving_back(&self, world: &World, worker: u8) -> Planned {
        let Some((n, fence)) = Self::held(world, worker) else { return (None, None) };
        let kind = EventKind::TaskGivenBack { task: self.task_id(n), fence: fence.0 };
        self.asking(n, Ask::GiveBack(fence), RunEnd::GaveBack, kind, Vec::new())
    }

    fn publication(&self, world: &World, worker: u8) -> Planned {
        let hand = world.workers[usize::from(worker)];
        let Hand::Holds { task: n, fence, looked } = hand else { return (None, None) };
        let (task, fence) = (self.task_id(n), Fence(fence.into()));
        let finish = |success| Ask::Finish(fence, Outcome::Success(success));
        let result = self.result_id();
        match (self.setting.tasks[usize::from(n)], looked) {
            (Work::Report, _) => {
                let id = crate::id::ResultId::from_bytes(self.name("published", n));
                let puts = self.publishing(id, &self.desk.task(task).value, 50 + n);
                let no = RevisionNo::FIRST;
                let fence = fence.0;
                let kind = EventKind::ResultPublished { result: id, revision: no, task, fence };
                self.asking(n, finish(Success::Published(id, no)), RunEnd::Finished, kind, puts)
            }
            (Work::Repair, None) => (None, None),
            (Work::Repair, Some(seen)) if world.has_moved(seen) => self.giving_back(world, worker),
            (Work::Repair, Some(seen)) if world.says_the_same(seen) => {
                let kind = EventKind::RepairNotNeeded { result, task, fence: fence.0 };
                self.asking(n, finish(Success::NoChange), RunEnd::Finished, kind, Vec::new())
            }
            (Work::Repair, Some(seen)) => {
                let kind = ProposalKind::Repair { task, fence };
                let version = (seen.version, seen.version);
                let Some((id, _, puts)) = self.preparing(world, kind, version, Others::None) else {
                    return (None, None);
                };
                let ask = finish(Success::Proposed(self.proposal_id(id)));
                let (kind, puts) = (self.prepared(world), puts.unwrap_or_default());
                self.asking(n, ask, RunEnd::Finished, kind, puts)
            }
        }
    }

    /// The event of the proposal that is made next.
    fn prepared(&self, world: &World) -> EventKind {
        let n = world.room(&self.setting).unwrap_or_default();
        let proposal = self.proposal_id(u8::try_from(n).expect("a few"));
        EventKind::ProposalPrepared { proposal, result: self.result_id() }
    }

    /// A proposal that quotes the first and binds the second of two versions, with its documents.
    pub(super) fn new_proposal(
        &self,
        n: u8,
        kind: ProposalKind,
        (body, bound): (u8, u8),
    ) -> (Proposal, Vec<Put>) {
        let now = self.desk.now();
        let ([body, dependencies, verification, scan], mut puts) = self.documents(body);
        let (binding, put) = self.document("binding", bound);
        puts.push(put);
        let proposal = Proposal {
            id: self.proposal_id(n),
            result: self.result_id(),
            kind,
            state: ProposalState::Pending,
            base: self.desk.result(self.result_id()).value.accepted,
            body,
            dependencies,
            verification,
            scan,
            binding,
            fingerprint: self.fingerprint(n),
            created_at: now.at,
            expires_at: now.at.plus(self.setting.limits.proposal_life),
            era: now.era,
        };
        (proposal, puts)
    }

    /// A proposal on its way: its number, what the rules say, and what is written for it.
    fn preparing(
        &self,
        world: &World,
        kind: ProposalKind,
        versions: (u8, u8),
        others: Others,
    ) -> Option<(u8, Place, Option<Vec<Put>>)> {
        let n = u8::try_from(world.room(&self.setting)?).expect("a few");
        let (now, limits) = (self.desk.now(), &self.setting.limits);
        let (new, mut puts) = self.new_proposal(n, kind, versions);
        let pick = Proposals::PendingOf(self.result_id());
        let kept = self.desk.ask(|tx| tx.proposals(pick)).expect("proposals");
        let waiting: Vec<Proposal> = kept.iter().map(|one| one.value).collect();
        let own = waiting.iter().filter(|one| one.kind.restores().is_some() && one.lasts(now));
        let elsewhere = match others {
            Others::None => 0,
            Others::Full => limits.pending_restores,
        };
        let came = proposal::prepare(&new, &waiting, elsewhere + own.count(), now, limits);
        let place = Place::of_preparation(&came);
        match came {
            Err(_) | Ok(Preparation::Waits(_)) => return Some((n, place, None)),
            Ok(Preparation::New) => {}
            Ok(Preparation::InPlaceOf(old, how)) => {
                let old = kept.into_iter().find(|one| one.value.id == old)?;
                let ended = old.value.after(how, now);
                puts.push(Put::Proposal(Change::From(old.version, ended)));
            }
        }
        puts.push(Put::Proposal(Change::New(new)));
        Some((n, place, Some(puts)))
    }

    fn approving(&self, world: &World, n: u8, presented: Presented) -> Planned {
        let (kept, now) = (self.desk.proposal(self.proposal_id(n)), self.desk.now());
        let own = self.fingerprint(n);
        let (presented, readable, reached) = match presented {
            Presented::Shown => (own, true, true),
            Presented::OfAnother(other) => (self.fingerprint(other), true, true),
            Presented::Invented => {
                (self.fingerprint(u8::try_from(PROPOSALS).expect("a few")), true, true)
            }
            Presented::Unreadable => (own, false, true),
            Presented::Unreached => (own, true, false),
        };
        let bound = crate::testkit::world::index_of(kept.value.binding.bytes());
        let standing = Standing {
            presented,
            computed: readable.then_some(kept.value.fingerprint),
            accepted: self.desk.result(self.result_id()).value.accepted,
            evidence: world.source.evidence(bound, reached),
        };
        let came = proposal::decide(&kept.value, proposal::Ask::Apply(standing), now);
        let plan = match came {
            Ok(granted) => {
                let revision = RevisionNo(standing.accepted.0 + 1);
                let (proposal, result) = (kept.value.id, kept.value.result);
                let kind = EventKind::ProposalApplied { proposal, result, revision };
                Some(Plan::act(kind, self.applying(&kept, granted)))
            }
            Err(Refusal::Expired) => Some(Plan::time()),
            Err(_) => None,
        };
        (Some(Place::of_proposal(&came)), plan)
    }

    /// The changes that apply a proposal.
    pub(super) fn applying(&self, kept: &Kept<Proposal>, granted: Transition) -> Vec<Put> {
        let (proposal, now) = (kept.value, self.desk.now());
        let result = self.desk.result(proposal.result);
        let no = RevisionNo(result.value.accepted.0 + 1);
        let Proposal { body, dependencies, verification, scan, fingerprint, .. } = proposal;
        let (origin, at) = (proposal.origin(), now.at);
        let (created_at, result_id) = (at, proposal.result);
        let revision = Revision {
            result: result_id,
            no,
            body,
            dependencies,
            verification,
            scan,
            origin,
            created_at,
        };
        let next = WorkResult { accepted: no, updated_at: at, ..result.value };
        vec![
            Put::Result(Change::From(result.version, next)),
            Put::Revision(revision, cited(&[self.source])),
            Put::Proposal(Change::From(kept.version, proposal.after(granted, now))),
            Put::Approval(Approval {
                fingerprint,
                proposal: proposal.id,
                channel: Channel::Library,
                at,
            }),
        ]
    }

    fn dismissing(&self, n: u8) -> Planned {
        let (kept, now) = (self.desk.proposal(self.proposal_id(n)), self.desk.now());
        let came = proposal::decide(&kept.value, proposal::Ask::Dismiss, now);
        let plan = came.ok().map(|granted| {
            let kind = EventKind::ProposalDismissed { proposal: kept.value.id };
            let ended = kept.value.after(granted, now);
            Plan::act(kind, vec![Put::Proposal(Change::From(kept.version, ended))])
        });
        (Some(Place::of_proposal(&came)), plan)
    }
}
