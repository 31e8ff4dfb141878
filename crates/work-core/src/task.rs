//! Tasks: durable requests for work, leased by one worker at a time.
//!
//! Owns the machine: state, request, transition, refusal, [`decide`]. Refuses to know what the work is and who stores
//! it. A lease that has ended, or is of an older era, counts as free when somebody asks; nothing sweeps.

use crate::digest::Digest;
use crate::id::{GrantId, ProposalId, ResultId, RunId, TaskId, WorkerId};
use crate::limits::Limits;
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
        (Running(_), Renew(f) | Finish(f, _) | GiveBack(f)) if f != task.fence => {
            Err(Refusal::OldFence)
        }
        (Running(lease), Renew(_) | Finish(..) | GiveBack(_)) if !lease.lasts(now) => {
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
