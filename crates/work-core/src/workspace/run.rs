//! Leasing a task and working it: claim, work under a watch that renews, publish or give back.

use super::publish::{self, Found, Published};
use super::{
    AskError, Decision, Failure, FindError, Moment, ReportAsk, ShowError, Workspace, grants, repair,
};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::wire::{ResultDoc, TaskDoc};
use crate::folder::Grants;
use crate::id::{ResultId, RunId, TaskId, WorkerId};
use crate::limits::Limits;
use crate::port::{
    Asked, Change, Go, Kept, Note, Pause, Put, ReadTx, StoreError, Tasks, Version, Watch,
};
use crate::task::{
    self, Ask, FailureReason, Fence, Progress, Refusal, Run, RunEnd, Success, Task, TaskKind,
    TaskState, Transition,
};
use crate::time::Now;
use std::time::Duration;

/// How working a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnding {
    /// The task has ended: with a result, without one, or cancelled.
    Ended(Box<TaskDoc>),
    /// The watch said stop: the lease was given back, and the task waits for another worker.
    GivenBack(TaskId),
    /// Another worker took over, or the lease ended: nothing was published.
    Lost(TaskId, Refusal),
    /// A folder was withdrawn or approved while it was read: the lease was given back, and the task waits to be worked
    /// again.
    Overtaken(TaskId),
}

/// Why a report was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// It could not be asked for.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The task ended without a result.
    #[error("{1}")]
    Unanswered(Box<TaskDoc>, FailureReason),
    /// Somebody cancelled it.
    #[error("the task was cancelled")]
    Cancelled(Box<TaskDoc>),
    /// It was stopped before its end; the task waits for a worker.
    #[error("stopped before the end; the task waits for a worker")]
    Stopped(TaskId),
    /// The lease was lost.
    #[error(transparent)]
    Lost(Refusal),
    /// The result is there and cannot be shown.
    #[error(transparent)]
    Show(#[from] ShowError),
    /// The task is gone.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Ask(cause) => cause.code(),
            Self::Unanswered(_, why) => why.code(),
            Self::Cancelled(_) => Code::Cancelled,
            Self::Stopped(_) | Self::Lost(_) => Code::LeaseLost,
            Self::Show(cause) => cause.code(),
            Self::Find(cause) => cause.code(),
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// What claiming came to.
pub(super) enum Claimed {
    /// This worker has it.
    Leased(Box<Leased>),
    /// It ended when it was looked at: abandoned.
    Ended(TaskId),
    /// Another worker has it.
    Held,
    /// It had ended before.
    Over,
    /// Nothing waits.
    Nothing,
}

/// A task that has ended with something: the result that it made or is about, and what came of it.
pub(super) struct Done {
    pub(super) result: ResultId,
    pub(super) success: Success,
}

/// A task under this worker's lease.
pub(super) struct Leased {
    pub(super) task: Task,
    pub(super) fence: Fence,
}

/// How often somebody who waits for another worker looks again.
const GLANCE: Duration = Duration::from_millis(250);

impl Workspace {
    /// Makes a report: asks, works the task, and shows the result. Waits for nobody: if another worker is faster to
    /// claim the task, it ends as [`RunError::Stopped`] with the task's id, and [`Workspace::finish`] waits for it.
    ///
    /// # Errors
    /// [`RunError`]: refused, ended without a result, stopped by the watch, or a failure.
    pub fn report(&self, ask: &ReportAsk, watch: &mut dyn Watch) -> Result<ResultDoc, RunError> {
        let task = self.ask(ask)?;
        self.finish(task.task_id, self.new_worker(), &crate::port::NoPause, watch)
    }

    /// Works one task to its end in the foreground, or waits for the worker that has it, and shows the result.
    ///
    /// # Errors
    /// [`RunError`] as for [`Workspace::report`].
    pub fn finish(
        &self,
        task: TaskId,
        worker: WorkerId,
        pause: &dyn Pause,
        watch: &mut dyn Watch,
    ) -> Result<ResultDoc, RunError> {
        let done = self.work_to_end(task, worker, pause, watch)?;
        Ok(self.show(done.result, None, &mut NeverStop(watch))?)
    }

    /// Works one task to its end, or waits for the worker that has it.
    pub(super) fn work_to_end(
        &self,
        task: TaskId,
        worker: WorkerId,
        pause: &dyn Pause,
        watch: &mut dyn Watch,
    ) -> Result<Done, RunError> {
        loop {
            let busy = match self.claim(worker, Some(task)) {
                Ok(Claimed::Leased(leased)) => match self.run(*leased, watch)? {
                    RunEnding::GivenBack(task) => return Err(RunError::Stopped(task)),
                    RunEnding::Ended(_) | RunEnding::Lost(..) | RunEnding::Overtaken(_) => None,
                },
                Ok(Claimed::Ended(_) | Claimed::Held | Claimed::Over | Claimed::Nothing) => None,
                Err(busy) if busy.code().is_retryable() => Some(busy),
                Err(failed) => return Err(failed.into()),
            };
            if let Some(done) = self.done(task)? {
                return Ok(done);
            }
            if pause.pause(GLANCE) == Go::Stop {
                return Err(busy.map_or(RunError::Stopped(task), RunError::Failed));
            }
        }
    }

    /// What came of a task, if it has ended with something.
    fn done(&self, id: TaskId) -> Result<Option<Done>, RunError> {
        let found = self.read(|tx, _| Ok(tx.tasks(Tasks::Ids(&[id]))?.pop()))?;
        let task = found.ok_or(FindError::Unknown)?.task.value;
        let document = || self.task(id).map(Box::new);
        match task.state {
            TaskState::Queued | TaskState::Running(_) => Ok(None),
            TaskState::Succeeded(success) => {
                let published = match success {
                    Success::Published(result, _) => Some(result),
                    Success::Proposed(_) | Success::NoChange => None,
                };
                let result = published.or(task.kind.repairs()).ok_or(FindError::Unknown)?;
                Ok(Some(Done { result, success }))
            }
            TaskState::Failed(failure) => Err(RunError::Unanswered(document()?, failure.why)),
            TaskState::Cancelled => Err(RunError::Cancelled(document()?)),
        }
    }

    /// Leases the oldest task that is free, or the one named, if it is. Takes the write lock only if one seems to be.
    pub(super) fn claim(&self, worker: WorkerId, only: Option<TaskId>) -> Result<Claimed, Failure> {
        let run = self.fresh(RunId::from_bytes);
        let most = self.limits.page;
        let glanced = self.read(|tx, moment| {
            let open = open(tx, only, most)?;
            Ok(claim(open, &[], worker, run, moment, &self.limits))
        })?;
        if glanced.act.is_none() {
            return Ok(glanced.answer);
        }
        let claimed = self.act::<_, _, std::convert::Infallible>(
            |tx, _| {
                let open = open(tx, only, most)?;
                let keys: Vec<_> = open
                    .iter()
                    .map(|asked| (asked.task.value.id, asked.task.value.fence))
                    .collect();
                Ok((open, tx.runs(&keys)?))
            },
            |(open, runs), moment| Ok(claim(open, &runs, worker, run, moment, &self.limits)),
        )?;
        match claimed {
            Ok(claimed) => Ok(claimed),
        }
    }

    /// Works a leased task to its end, or until the lease or the watch ends it.
    pub(super) fn run(&self, leased: Leased, watch: &mut dyn Watch) -> Result<RunEnding, RunError> {
        let (all, access) = self.read(|tx, moment| Ok((grants(tx)?, moment.head.access)))?;
        let mut watch = LeaseWatch {
            work: self,
            task: leased.task.id,
            fence: leased.fence,
            outer: watch,
            grants: &all,
            access,
            renewed: Progress::default(),
            stop: None,
        };
        let found = search(self, &leased.task, &all, &mut watch);
        match (watch.stop, found) {
            (None, found) => self.publish(&leased, found?),
            (Some(Stop::Outer), _) => self.give_back(&leased, RunEnding::GivenBack(leased.task.id)),
            (Some(Stop::Access), _) => {
                self.give_back(&leased, RunEnding::Overtaken(leased.task.id))
            }
            (Some(Stop::Lost(why)), _) => self.lost(leased.task.id, why),
        }
    }

    /// What became of a task that another took out of this worker's hands.
    fn lost(&self, task: TaskId, why: Refusal) -> Result<RunEnding, RunError> {
        match why {
            Refusal::Cancelled | Refusal::NotRunning => {
                Ok(RunEnding::Ended(Box::new(self.task(task)?)))
            }
            Refusal::Held { .. }
            | Refusal::OldFence
            | Refusal::LeaseEnded
            | Refusal::RenewedEnough => Ok(RunEnding::Lost(task, why)),
        }
    }

    fn publish(&self, leased: &Leased, found: publish::Found) -> Result<RunEnding, RunError> {
        let task = leased.task.id;
        match publish::publish(self, leased, found)? {
            Published::Yes => Ok(RunEnding::Ended(Box::new(self.task(task)?))),
            Published::Refused(why) => self.lost(task, why),
            Published::Moved => self.give_back(leased, RunEnding::Overtaken(task)),
        }
    }

    fn give_back(&self, leased: &Leased, ending: RunEnding) -> Result<RunEnding, RunError> {
        let (id, fence) = (leased.task.id, leased.fence);
        let given = self.act(
            |tx, _| held(tx, id, fence),
            |held, moment| {
                let kind = EventKind::TaskGivenBack { task: id, fence: fence.0 };
                let puts =
                    held.moved(Ask::GiveBack(fence), RunEnd::GaveBack, moment, &self.limits)?;
                Ok::<_, Refusal>(Decision::act((), kind, puts))
            },
        )?;
        match given {
            Ok(()) => Ok(ending),
            Err(why) => self.lost(id, why),
        }
    }
}

/// Does what a task asks for, as far as that can be done without a transaction.
fn search(
    work: &Workspace,
    task: &Task,
    all: &Grants,
    watch: &mut dyn Watch,
) -> Result<Found, Failure> {
    match (task.kind, publish::search(work, task, all, watch)?) {
        (TaskKind::Repair(result), Found::Answer(answer)) => {
            repair::look(work, result, *answer, watch)
        }
        (TaskKind::Report | TaskKind::Repair(_), found) => Ok(found),
    }
}

/// The task named, or those that are open, the oldest first.
fn open(tx: &mut dyn ReadTx, only: Option<TaskId>, most: u32) -> Result<Vec<Asked>, StoreError> {
    match only {
        Some(task) => tx.tasks(Tasks::Ids(&[task])),
        None => tx.tasks(Tasks::Open { most }),
    }
}

/// Which open task this worker gets, and what is written for it.
fn claim(
    open: Vec<Asked>,
    runs: &[Kept<Run>],
    worker: WorkerId,
    run: RunId,
    moment: &Moment,
    limits: &Limits,
) -> Decision<Claimed> {
    let mut nothing = Claimed::Nothing;
    for asked in open {
        let Kept { version, value: task } = asked.task;
        let silent = runs
            .iter()
            .find(|kept| (kept.value.task, kept.value.fence) == (task.id, task.fence))
            .cloned();
        match task::decide(&task, Ask::Claim(worker), moment.now, limits) {
            Ok(transition) => {
                return granted(version, task, transition, silent, (worker, run), moment);
            }
            Err(Refusal::Held { .. }) => nothing = Claimed::Held,
            Err(_) => nothing = Claimed::Over,
        }
    }
    Decision::nothing(nothing)
}

/// What is written when a claim is granted, or shows that a task is to be given up.
fn granted(
    version: Version,
    task: Task,
    transition: Transition,
    before: Option<Kept<Run>>,
    (worker, run): (WorkerId, RunId),
    moment: &Moment,
) -> Decision<Claimed> {
    let id = task.id;
    let was_running = matches!(task.state, TaskState::Running(_));
    let task = task.after(transition, moment.now);
    let mut puts = vec![Put::Task(Change::From(version, task.clone()))];
    puts.extend(before.filter(|_| was_running).and_then(|run| ended(run, RunEnd::Silent, moment)));
    if !task.is_open() {
        return Decision::act(Claimed::Ended(id), EventKind::TaskAbandoned { task: id }, puts);
    }
    let fence = task.fence;
    let run = Run { id: run, task: id, fence, worker, started_at: moment.now.at, ended: None };
    puts.push(Put::Run(Change::New(run)));
    let leased = Claimed::Leased(Box::new(Leased { task, fence }));
    Decision::act(leased, EventKind::TaskLeased { task: id, fence: fence.0 }, puts)
}

/// A run with its end, if nobody said how it ended before.
pub(super) fn ended(run: Kept<Run>, how: RunEnd, moment: &Moment) -> Option<Put> {
    let Kept { version, value } = run;
    let open = value.ended.is_none();
    open.then(|| {
        Put::Run(Change::From(version, Run { ended: Some((moment.now.at, how)), ..value }))
    })
}

/// A task with the run of one of its leases, as they are stored now.
pub(super) struct Held {
    task: Option<Kept<Task>>,
    run: Option<Kept<Run>>,
}

/// Reads a task with the run of one of its leases.
pub(super) fn held(tx: &mut dyn ReadTx, task: TaskId, fence: Fence) -> Result<Held, StoreError> {
    let found = tx.tasks(Tasks::Ids(&[task]))?.pop().map(|asked| asked.task);
    Ok(Held { task: found, run: tx.runs(&[(task, fence)])?.pop() })
}

impl Held {
    /// What is written when the holder's `ask` is granted, and its run ends so.
    pub(super) fn moved(
        self,
        ask: Ask,
        how: RunEnd,
        moment: &Moment,
        limits: &Limits,
    ) -> Result<Vec<Put>, Refusal> {
        let Kept { version, value: task } = self.task.ok_or(Refusal::NotRunning)?;
        let transition = task::decide(&task, ask, moment.now, limits)?;
        let task = task.after(transition, moment.now);
        let run = self.run.and_then(|run| ended(run, how, moment));
        Ok(std::iter::once(Put::Task(Change::From(version, task))).chain(run).collect())
    }
}

/// Tells how far a look has come, and lets nothing stop it: what was published is shown.
pub(super) struct NeverStop<'a>(pub(super) &'a mut dyn Watch);

impl Watch for NeverStop<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        let _: Go = self.0.beat(progress);
        Go::On
    }
}

/// Renews the lease and notices when it is lost, at each beat of the work.
struct LeaseWatch<'a> {
    work: &'a Workspace,
    task: TaskId,
    fence: Fence,
    outer: &'a mut dyn Watch,
    /// The grants that the search goes by, and the workspace's count of changes of access when they were read.
    grants: &'a Grants,
    access: u64,
    /// How far it had come when the lease was renewed last: without progress since, it is not renewed.
    renewed: Progress,
    stop: Option<Stop>,
}

/// Why the work stops.
#[derive(Clone, Copy)]
enum Stop {
    /// Whoever runs it said so.
    Outer,
    /// A folder was withdrawn or approved meanwhile.
    Access,
    /// The lease is lost.
    Lost(Refusal),
}

impl Watch for LeaseWatch<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        if self.stop.is_none() && self.outer.beat(progress) == Go::Stop {
            self.stop = Some(Stop::Outer);
        }
        if self.stop.is_none() {
            self.stop = self.glance(progress);
        }
        if self.stop.is_some() { Go::Stop } else { Go::On }
    }
}

impl LeaseWatch<'_> {
    /// Looks at the record and renews the lease when that is due. A store that does not answer is asked again at the
    /// next beat: only a record tells that a lease is lost, or a folder withdrawn.
    fn glance(&mut self, progress: &Progress) -> Option<Stop> {
        let known = self.access;
        let looked = self.work.read(|tx, moment| {
            let moved = moment.head.access != known;
            let all = if moved { Some(grants(tx)?) } else { None };
            let task = tx.tasks(Tasks::Ids(&[self.task]))?.pop();
            Ok((task, all, moment.head.access, moment.now))
        });
        let Ok((Some(asked), all, access, now)) = looked else { return None };
        if all.is_some_and(|all| !all.are_as(self.grants)) {
            return Some(Stop::Access);
        }
        self.access = access;
        self.hold_on(asked.task.value, progress, now)
    }

    /// Renews the lease, if that is due and there was progress; says so if it is lost.
    fn hold_on(&mut self, task: Task, progress: &Progress, now: Now) -> Option<Stop> {
        let limits = self.work.limits.as_ref();
        match task::decide(&task, Ask::Renew(self.fence), now, limits) {
            Ok(Transition::Renewed(lease)) => {
                let TaskState::Running(held) = task.state else { return None };
                let due = held.ends.plus(limits.renewal) <= lease.ends;
                if due && *progress != self.renewed {
                    self.renew(progress);
                }
                None
            }
            Ok(_) | Err(Refusal::RenewedEnough) => None,
            Err(lost) => Some(Stop::Lost(lost)),
        }
    }

    /// Writes a renewal. What fails is tried again at the next beat.
    fn renew(&mut self, progress: &Progress) {
        if self.work.renew(self.task, self.fence, progress).is_ok() {
            self.renewed = *progress;
        }
    }
}

impl Workspace {
    fn renew(&self, id: TaskId, fence: Fence, progress: &Progress) -> Result<(), Failure> {
        let renewed = self.act(
            |tx, _| Ok(tx.tasks(Tasks::Ids(&[id]))?.pop().map(|asked| asked.task)),
            |kept, moment| {
                let Kept { version, value: task } = kept.ok_or(Refusal::NotRunning)?;
                let transition = task::decide(&task, Ask::Renew(fence), moment.now, &self.limits)?;
                let task = task.after(transition, moment.now);
                let notes = vec![Note::Renewal(version, task, *progress)];
                Ok::<_, Refusal>(Decision { notes, ..Decision::nothing(()) })
            },
        )?;
        // A refusal is noticed at the next beat, from the record.
        renewed.or(Ok(()))
    }
}
