//! Tasks: durable requests for work, leased by one worker at a time.
//!
//! Owns the machine: state, request, transition, refusal, [`decide`]. Refuses to know what the work is and who stores
//! it. A lease that has ended, or is of an older era, counts as free when somebody asks; nothing sweeps.

use crate::digest::Digest;
use crate::id::{GrantId, ProposalId, ResultId, RunId, TaskId, WorkerId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::result::RevisionNo;
use crate::time::{Era, Now, Timestamp};
use Ask::{Cancel, Claim, Finish, GiveBack, Renew};
use TaskState::{Cancelled, Failed, Queued, Running, Succeeded};

/// A durable request for work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What kind of work.
    pub kind: TaskKind,
    /// What is asked.
    pub request: ReportRequest,
    /// Where it stands.
    pub state: TaskState,
    /// The highest fencing number given out for it; 0 before the first lease.
    pub fence: Fence,
    /// Leases that began and were not given back.
    pub attempts: u32,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last changed; a renewal is no change.
    pub updated_at: Timestamp,
}

/// What kind of work a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Make a report.
    Report,
    /// Repeat a result's query and propose its next revision.
    Repair(ResultId),
}

/// A query and where it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRequest {
    /// The query as it was asked, trimmed.
    pub query: String,
    /// The grants searched, in the order in which they take turns.
    pub scope: Vec<GrantId>,
}

/// Proves which lease a write belongs to: one higher than any before on the same task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u64);

/// How far a scan has come; erased when the task ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    /// Files read so far.
    pub files_read: u64,
    /// Candidate files found so far.
    pub of: u64,
    /// Directory entries visited so far: progress too, where there is nothing to read. Known to the worker alone.
    #[serde(skip)]
    pub entries: u64,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It waits for a worker.
    Queued,
    /// A worker has it, while the lease lasts.
    Running(Lease),
    /// The work is in.
    Succeeded(Success),
    /// It ended without a result.
    Failed(Failure),
    /// Somebody said no. Nothing published after that.
    Cancelled,
}

/// One worker's hold on a task; its fencing number is the task's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub holder: WorkerId,
    /// Since when.
    pub began: Timestamp,
    /// Until when, this second excluded.
    pub ends: Timestamp,
    /// The era of both.
    pub era: Era,
}

/// What came of a task that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// A first revision of a new result.
    Published(ResultId, RevisionNo),
    /// A proposal that waits for approval.
    Proposed(ProposalId),
    /// The sources still say what the result says.
    NoChange,
}

/// What came of a task that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why.
    pub why: FailureReason,
    /// The document of what was scanned, if it came to that.
    pub scan: Option<Digest>,
}

/// Why a task failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureReason {
    /// Nothing in the sources matches.
    #[error("nothing in the folders matches")]
    NoMatches,
    /// No folder of the scope is active and readable.
    #[error("no folder of the search is approved and readable")]
    NoSources,
    /// Its leases ended without a word too often.
    #[error("each worker that began it ended without a word")]
    Abandoned,
    /// A source that the work would bind cannot be relied on.
    #[error("a source could not be relied on while it was read")]
    EvidenceUnavailable,
    /// A source that the work would bind was not looked at in time.
    #[error("not every source could be looked at in time")]
    RefreshIncomplete,
    /// A record of it cannot be stored within the limits.
    #[error("a record of it does not fit its limit")]
    TooLarge,
    /// The worker met a fault of its own.
    #[error("the worker met a fault of its own")]
    Internal,
}

/// One leased attempt at a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The task.
    pub task: TaskId,
    /// The lease's fencing number.
    pub fence: Fence,
    /// Who ran.
    pub worker: WorkerId,
    /// Since when.
    pub started_at: Timestamp,
    /// How and when it ended, as far as anybody said.
    pub ended: Option<(Timestamp, RunEnd)>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// With the work.
    Finished,
    /// Without a result.
    Failed,
    /// The worker stopped in order.
    GaveBack,
    /// Somebody cancelled the task.
    Cancelled,
    /// Its lease ended without a word.
    Silent,
}

/// What is asked of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A worker wants it.
    Claim(WorkerId),
    /// The holder makes progress and wants more time.
    Renew(Fence),
    /// The holder has the outcome.
    Finish(Fence, Outcome),
    /// The holder stops in order.
    GiveBack(Fence),
    /// The owner does not want it any more.
    Cancel,
}

/// What a holder brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The work.
    Success(Success),
    /// None.
    Failure(Failure),
}

/// What happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// A lease begins under this number; the one before it ended silently if `after_silence`.
    Leased {
        /// The number.
        fence: Fence,
        /// The lease.
        lease: Lease,
        /// Whether an earlier lease ended without a word.
        after_silence: bool,
    },
    /// Too many leases ended without a word.
    Abandoned,
    /// The lease lasts until `lease.ends`.
    Renewed(Lease),
    /// The outcome is in.
    Finished(Outcome),
    /// It waits again, and this was no attempt.
    GivenBack,
    /// It has ended.
    Cancelled,
}

/// Why nothing happens to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another worker holds it.
    #[error("another worker has the task until {until}")]
    Held {
        /// Until when, unless it renews.
        until: Timestamp,
    },
    /// It has ended, or nobody runs it.
    #[error("the task is not running")]
    NotRunning,
    /// A later lease began.
    #[error("another worker has taken the task over")]
    OldFence,
    /// The lease ended before the holder came back.
    #[error("the lease ended before the work was in")]
    LeaseEnded,
    /// The lease was renewed for as long as it may be.
    #[error("the lease lasted as long as it may")]
    RenewedEnough,
    /// It was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
}

/// Decides what `ask` does to `task` at `now`. Reads nothing else.
///
/// # Errors
/// A [`Refusal`] that leaves the task as it is.
pub fn decide(task: &Task, ask: Ask, now: Now, limits: &Limits) -> Result<Transition, Refusal> {
    match (task.state, ask) {
        (Queued, Claim(by)) => Ok(leased(task, by, now, limits, false)),
        (Running(lease), Claim(_)) if lease.lasts(now) => Err(Refusal::Held { until: lease.ends }),
        (Running(_), Claim(_)) if task.attempts >= limits.attempts => Ok(Transition::Abandoned),
        (Running(_), Claim(by)) => Ok(leased(task, by, now, limits, true)),
        (Running(_), Renew(f) | Finish(f, _) | GiveBack(f))
            if f != task.fence && !is_planted(Fault::FencingNumber) =>
        {
            Err(Refusal::OldFence)
        }
        (Running(lease), Renew(_) | Finish(..) | GiveBack(_))
            if !lease.lasts(now) && !is_planted(Fault::LeaseEnd) =>
        {
            Err(Refusal::LeaseEnded)
        }
        (Running(lease), Renew(_)) => renewed(lease, now, limits),
        (Running(_), Finish(_, outcome)) => Ok(Transition::Finished(outcome)),
        (Running(_), GiveBack(_)) => Ok(Transition::GivenBack),
        (Queued | Running(_), Cancel) => Ok(Transition::Cancelled),
        (Queued, Renew(f) | Finish(f, _) | GiveBack(f)) if f != task.fence => {
            Err(Refusal::OldFence)
        }
        (Queued, Renew(_) | Finish(..) | GiveBack(_)) => Err(Refusal::NotRunning),
        (Cancelled, Finish(_, late)) if is_planted(Fault::Cancellation) => {
            Ok(Transition::Finished(late))
        }
        (Cancelled, Claim(_) | Renew(_) | Finish(..) | GiveBack(_) | Cancel) => {
            Err(Refusal::Cancelled)
        }
        (Succeeded(_) | Failed(_), Claim(_) | Renew(_) | Finish(..) | GiveBack(_) | Cancel) => {
            Err(Refusal::NotRunning)
        }
    }
}

/// A new lease under the next number.
fn leased(task: &Task, by: WorkerId, now: Now, limits: &Limits, after_silence: bool) -> Transition {
    let lease = Lease { holder: by, began: now.at, ends: now.at.plus(limits.lease), era: now.era };
    Transition::Leased { fence: Fence(task.fence.0 + 1), lease, after_silence }
}

/// The lease carried on, but never beyond the time of a scan and a little more.
fn renewed(lease: Lease, now: Now, limits: &Limits) -> Result<Transition, Refusal> {
    let last = lease.began.plus(limits.scan.time + limits.lease_slack);
    let ends = now.at.plus(limits.lease).min(last);
    if ends < lease.ends || last <= now.at {
        return Err(Refusal::RenewedEnough);
    }
    Ok(Transition::Renewed(Lease { ends, ..lease }))
}

impl TaskKind {
    /// The result that it repairs, if it does.
    #[must_use]
    pub const fn repairs(self) -> Option<ResultId> {
        match self {
            Self::Report => None,
            Self::Repair(result) => Some(result),
        }
    }
}

impl TaskState {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Queued => "queued",
            Running(_) => "running",
            Succeeded(_) => "succeeded",
            Failed(_) => "failed",
            Cancelled => "cancelled",
        }
    }
}

impl Lease {
    /// Whether it still holds at `now`.
    #[must_use]
    pub fn lasts(&self, now: Now) -> bool {
        self.era == now.era && now.at < self.ends
    }
}

impl Task {
    /// A task that waits since `at`.
    #[must_use]
    pub const fn queued(id: TaskId, kind: TaskKind, request: ReportRequest, at: Timestamp) -> Self {
        let (state, fence, attempts) = (Queued, Fence(0), 0);
        Self { id, kind, request, state, fence, attempts, created_at: at, updated_at: at }
    }

    /// The task after `transition`.
    #[must_use]
    pub fn after(self, transition: Transition, now: Now) -> Self {
        let renewal = matches!(transition, Transition::Renewed(_));
        let updated_at = if renewal { self.updated_at } else { now.at };
        let (state, fence, attempts) = match transition {
            Transition::Leased { fence, lease, .. } => (Running(lease), fence, self.attempts + 1),
            Transition::Abandoned => {
                let failure = Failure { why: FailureReason::Abandoned, scan: None };
                (Failed(failure), self.fence, self.attempts)
            }
            Transition::Renewed(lease) => (Running(lease), self.fence, self.attempts),
            Transition::Finished(Outcome::Success(success)) => {
                (Succeeded(success), self.fence, self.attempts)
            }
            Transition::Finished(Outcome::Failure(failure)) => {
                (Failed(failure), self.fence, self.attempts)
            }
            Transition::GivenBack => (Queued, self.fence, self.attempts.saturating_sub(1)),
            Transition::Cancelled => (Cancelled, self.fence, self.attempts),
        };
        Self { state, fence, attempts, updated_at, ..self }
    }

    /// Whether a worker may still work on it.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.state, Queued | Running(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::time::Duration;

    const ANN: WorkerId = WorkerId::from_bytes([1; 16]);
    const BEA: WorkerId = WorkerId::from_bytes([2; 16]);
    const NOW: Now = Now { at: Timestamp::from_seconds(1000), era: Era(7) };
    const DONE: Success = Success::NoChange;
    const NONE: Failure = Failure { why: FailureReason::NoMatches, scan: None };

    /// A moment some seconds from now, in its era.
    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1000 + seconds)
    }

    /// Ann's lease, from one moment to another.
    const fn lease(began: i64, ends: i64) -> Lease {
        Lease { holder: ANN, began: at(began), ends: at(ends), era: NOW.era }
    }

    /// A task whose highest fencing number is 4.
    fn task(state: TaskState) -> Task {
        Task {
            id: TaskId::from_bytes([3; 16]),
            kind: TaskKind::Report,
            request: ReportRequest { query: "backups".into(), scope: vec![] },
            state,
            fence: Fence(4),
            attempts: 1,
            created_at: at(-500),
            updated_at: at(-100),
        }
    }

    #[track_caller]
    fn check(state: TaskState, ask: Ask, expected: Result<Transition, Refusal>) {
        let decided = decide(&task(state), ask, NOW, &Limits::standard());
        assert_eq!(decided, expected, "{state:?} asked {ask:?}");
    }

    /// Bea's new lease, under the next number.
    fn leased(after_silence: bool) -> Result<Transition, Refusal> {
        let lease = Lease { holder: BEA, ..lease(0, 30) };
        Ok(Transition::Leased { fence: Fence(5), lease, after_silence })
    }

    /// What only a holder asks, under a number.
    fn holders(fence: u64) -> [Ask; 4] {
        let fence = Fence(fence);
        [
            Renew(fence),
            Finish(fence, Outcome::Success(DONE)),
            Finish(fence, Outcome::Failure(NONE)),
            GiveBack(fence),
        ]
    }

    // spec: T2
    #[test]
    fn a_queued_task_is_leased_under_the_next_number_for_thirty_seconds() {
        check(Queued, Claim(BEA), leased(false));
    }

    // spec: T2
    #[test]
    fn a_lease_that_lasts_holds_others_off() {
        check(Running(lease(-10, 1)), Claim(BEA), Err(Refusal::Held { until: at(1) }));
        check(Running(lease(-10, 1)), Claim(ANN), Err(Refusal::Held { until: at(1) }));
    }

    // spec: T2
    #[test]
    fn a_lease_that_ends_now_is_open_to_others() {
        check(Running(lease(-30, 0)), Claim(BEA), leased(true));
    }

    // spec: T6
    #[test]
    fn a_lease_of_an_older_era_has_ended() {
        let old = Lease { era: Era(6), ..lease(-10, 20) };
        check(Running(old), Claim(BEA), leased(true));
        for ask in holders(4) {
            check(Running(old), ask, Err(Refusal::LeaseEnded));
        }
    }

    // spec: T4
    #[test]
    fn a_task_whose_third_lease_ended_silently_is_abandoned() {
        for (attempts, expected) in [(2, leased(true)), (3, Ok(Transition::Abandoned))] {
            let task = Task { attempts, ..task(Running(lease(-30, 0))) };
            assert_eq!(decide(&task, Claim(BEA), NOW, &Limits::standard()), expected);
        }
        let held = Task { attempts: 3, ..task(Running(lease(-10, 20))) };
        let refusal = Err(Refusal::Held { until: at(20) });
        assert_eq!(decide(&held, Claim(BEA), NOW, &Limits::standard()), refusal);
    }

    // spec: T3
    #[test]
    fn an_old_number_moves_nothing() {
        for state in [Queued, Running(lease(-10, 20)), Running(lease(-30, 0))] {
            for ask in [holders(3), holders(5)].concat() {
                check(state, ask, Err(Refusal::OldFence));
            }
        }
    }

    // spec: T3
    #[test]
    fn a_holder_whose_lease_has_ended_publishes_nothing() {
        for ask in holders(4) {
            check(Running(lease(-30, 0)), ask, Err(Refusal::LeaseEnded));
        }
    }

    // spec: T3
    #[test]
    fn a_holder_finishes_with_its_outcome() {
        for outcome in [Outcome::Success(DONE), Outcome::Failure(NONE)] {
            let finish = Finish(Fence(4), outcome);
            check(Running(lease(-29, 1)), finish, Ok(Transition::Finished(outcome)));
        }
    }

    // spec: T2
    #[test]
    fn a_renewal_lasts_thirty_seconds_from_now() {
        let renewed = Ok(Transition::Renewed(lease(-10, 30)));
        check(Running(lease(-10, 20)), Renew(Fence(4)), renewed);
        check(Running(lease(-10, 30)), Renew(Fence(4)), renewed);
    }

    // spec: T2
    #[test]
    fn a_renewal_never_lasts_beyond_the_time_of_a_scan_and_fifteen_seconds() {
        let renewed = Ok(Transition::Renewed(lease(-40, 5)));
        check(Running(lease(-40, 5)), Renew(Fence(4)), renewed);
        check(Running(lease(-40, 3)), Renew(Fence(4)), renewed);
        check(Running(lease(-45, 1)), Renew(Fence(4)), Err(Refusal::RenewedEnough));
    }

    // spec: T4
    #[test]
    fn a_holder_gives_back_what_it_holds() {
        check(Running(lease(-10, 20)), GiveBack(Fence(4)), Ok(Transition::GivenBack));
    }

    // spec: T5
    #[test]
    fn what_has_not_ended_is_cancelled_at_once() {
        for state in [Queued, Running(lease(-10, 20)), Running(lease(-30, 0))] {
            check(state, Cancel, Ok(Transition::Cancelled));
        }
    }

    // spec: T3
    #[test]
    fn a_task_that_was_given_back_does_not_run() {
        for ask in holders(4) {
            check(Queued, ask, Err(Refusal::NotRunning));
        }
    }

    // spec: T5
    #[test]
    fn cancelling_wins_over_everything_later() {
        for ask in [&holders(4)[..], &holders(3), &[Claim(BEA), Cancel]].concat() {
            check(Cancelled, ask, Err(Refusal::Cancelled));
        }
    }

    // spec: T1
    #[test]
    fn what_has_ended_does_not_run() {
        for state in [Succeeded(DONE), Failed(NONE)] {
            for ask in [&holders(4)[..], &holders(3), &[Claim(BEA), Cancel]].concat() {
                check(state, ask, Err(Refusal::NotRunning));
            }
        }
    }

    #[track_caller]
    fn check_after(transition: Transition, state: TaskState, fence: u64, attempts: u32) {
        let before = task(Running(lease(-30, 0)));
        let after = before.clone().after(transition, NOW);
        let expected =
            Task { state, fence: Fence(fence), attempts, updated_at: after.updated_at, ..before };
        assert_eq!(after, expected);
        let renewal = matches!(transition, Transition::Renewed(_));
        assert_eq!(after.updated_at, if renewal { at(-100) } else { NOW.at });
    }

    #[test]
    fn a_task_becomes_what_was_decided() {
        let held = lease(0, 30);
        let next = Transition::Leased { fence: Fence(5), lease: held, after_silence: true };
        let abandoned = Failure { why: FailureReason::Abandoned, scan: None };
        let success = Transition::Finished(Outcome::Success(DONE));
        let failure = Transition::Finished(Outcome::Failure(NONE));
        check_after(next, Running(held), 5, 2);
        check_after(Transition::Abandoned, Failed(abandoned), 4, 1);
        check_after(Transition::Renewed(held), Running(held), 4, 1);
        check_after(success, Succeeded(DONE), 4, 1);
        check_after(failure, Failed(NONE), 4, 1);
        check_after(Transition::GivenBack, Queued, 4, 0);
        check_after(Transition::Cancelled, Cancelled, 4, 1);
    }

    /// A tiny world: one task, the time, the numbers that two workers believe in, and what has happened to it.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct World {
        key: (i64, u64, String),
        believed: [u64; 2],
        silent: u32,
    }

    /// The ceilings of the tiny world, in seconds: leases of 2, scans of 2 and a slack of 1.
    fn tiny() -> Limits {
        let mut limits = Limits::standard();
        limits.lease = Duration::from_secs(2);
        limits.scan.time = Duration::from_secs(2);
        limits.lease_slack = Duration::from_secs(1);
        limits.attempts = 2;
        limits
    }

    /// Every ask that somebody may make, with the worker who makes it.
    fn asks(believed: [u64; 2]) -> Vec<(Ask, Option<usize>)> {
        let workers = [ANN, BEA].into_iter().zip(believed).enumerate();
        let mine = |(who, (worker, fence)): (usize, (WorkerId, u64))| {
            let asks = [[Claim(worker)].as_slice(), &holders(fence)].concat();
            asks.into_iter().map(move |ask| (ask, Some(who)))
        };
        workers.flat_map(mine).chain([(Cancel, None)]).collect()
    }

    /// What must hold of every step.
    fn assert_sound(before: &Task, ask: Ask, decided: Transition, after: &Task, now: Now) {
        let limits = tiny();
        let held = matches!(before.state, Running(lease) if lease.lasts(now));
        assert!(before.is_open(), "nothing follows an end: {before:?} {ask:?}");
        assert!(after.fence >= before.fence, "a fencing number only grows");
        match decided {
            Transition::Leased { fence, lease, .. } => {
                assert!(!held, "at most one lease lasts");
                assert_eq!(fence.0, before.fence.0 + 1);
                assert!(lease.lasts(now));
                assert!(after.attempts <= limits.attempts);
            }
            Transition::Renewed(_) | Transition::GivenBack | Transition::Finished(_) => {
                assert!(held, "an ended lease does nothing: {before:?} {ask:?}");
                let mine =
                    matches!(ask, Renew(f) | GiveBack(f) | Finish(f, _) if f == before.fence);
                assert!(mine, "only the holder's number counts");
            }
            Transition::Abandoned => {
                assert!(!held && before.attempts >= limits.attempts);
            }
            Transition::Cancelled => assert_eq!(ask, Cancel),
        }
        if let Running(lease) = after.state {
            let last = lease.began.plus(limits.scan.time + limits.lease_slack);
            assert!(lease.ends <= last, "no lease lasts beyond a scan and its slack");
        }
    }

    // spec: T2 T3 T4 T5 T6
    #[test]
    fn every_reachable_state_of_a_tiny_world_is_sound() {
        let start = Task { fence: Fence(0), attempts: 0, ..task(Queued) };
        let mut open = vec![(start, NOW, [0; 2], 0)];
        let mut seen = BTreeSet::new();
        let mut ends = BTreeSet::new();
        while let Some((task, now, believed, silent)) = open.pop() {
            let key = (now.at.seconds(), now.era.0, format!("{task:?}"));
            if !seen.insert(World { key, believed, silent }) {
                continue;
            }
            assert!(silent <= tiny().attempts, "too many silent leases: {task:?}");
            ends.extend((!task.is_open()).then(|| format!("{:?}", task.state)));
            if now.at < at(7) {
                let later = Now { at: now.at.plus(Duration::from_secs(1)), ..now };
                open.push((task.clone(), later, believed, silent));
            }
            if now.era.0 < 8 {
                open.push((task.clone(), Now { era: Era(8), ..now }, believed, silent));
            }
            for (ask, who) in asks(believed).into_iter().filter(|_| task.fence.0 < 4) {
                let Ok(decided) = decide(&task, ask, now, &tiny()) else { continue };
                let after = task.clone().after(decided, now);
                assert_sound(&task, ask, decided, &after, now);
                let mut believed = believed;
                let mut silent = silent;
                match (decided, who) {
                    (Transition::Leased { fence, after_silence, .. }, Some(who)) => {
                        believed[who] = fence.0;
                        silent += u32::from(after_silence);
                    }
                    (Transition::Abandoned, _) => silent += 1,
                    _ => {}
                }
                open.push((after, now, believed, silent));
            }
        }
        assert!(seen.len() > 1000, "the walk went nowhere: {} states", seen.len());
        assert_eq!(ends.len(), 4, "every end is reached: {ends:?}");
    }
}
