//! How little of a record a small world keeps, and the record again.

use super::truth::{ProposalTruth, TaskTruth};
use super::{PROPOSALS, Work};
use crate::digest::Digest;
use crate::id::{BootId, ProposalId, ResultId, TaskId, WorkerId};
use crate::proposal::{Fingerprint, Proposal, ProposalKind, ProposalState};
use crate::result::RevisionNo;
use crate::task::{
    Failure, FailureReason, Fence, Lease, ReportRequest, Success, Task, TaskKind, TaskState,
};
use crate::time::{Anchor, Era, Reading, Timestamp};
use std::time::Duration;

/// The number of a worker that died.
const GONE: u8 = u8::MAX;

/// The bytes of an id or digest that stands for a number: it is the last of them, counted from 1.
pub(in crate::testkit) const fn named<const N: usize>(n: u8) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[N - 1] = n.wrapping_add(1);
    bytes
}

/// The number that an id or digest stands for.
pub(in crate::testkit) const fn index_of(bytes: &[u8]) -> u8 {
    bytes[bytes.len() - 1].wrapping_sub(1)
}

/// From where a record is seen: the moment and the era at which its world began.
#[derive(Clone, Copy, Debug)]
pub(in crate::testkit) struct Lens {
    pub(in crate::testkit) since: Timestamp,
    pub(in crate::testkit) era: Era,
}

impl Lens {
    /// From the beginning of time, as a world sees its own.
    pub(super) const OWN: Self = Self { since: Timestamp::from_seconds(0), era: Era(0) };

    fn at(self, at: Timestamp) -> i8 {
        i8::try_from(at.seconds() - self.since.seconds()).expect("a few ticks")
    }

    fn era(self, era: Era) -> u8 {
        small(era.0 - self.era.0)
    }
}

/// A number that is one of a few.
fn small(n: u64) -> u8 {
    u8::try_from(n).expect("a small world has small numbers")
}

/// A moment of a small world.
fn moment(tick: i8) -> Timestamp {
    Timestamp::from_seconds(tick.into())
}

/// The clocks, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClockCell {
    pub(super) wall: i8,
    pub(super) boot: u8,
    pub(super) up: u8,
}

impl ClockCell {
    pub(super) const START: Self = Self { wall: 0, boot: 0, up: 0 };

    /// What the clocks say.
    pub(super) fn reading(self) -> Reading {
        let boot = BootId::from_bytes(named(self.boot));
        let since_boot_ms = i64::from(self.up) * 1000;
        Reading { wall_ms: i64::from(self.wall) * 1000, boot, since_boot_ms }
    }

    /// Counts boots only as far as the stored time can tell them apart.
    pub(super) fn normal(&mut self, anchor: &mut AnchorCell) {
        let same = self.boot == anchor.boot;
        (self.boot, anchor.boot) = (1, u8::from(same));
    }
}

/// The time that is stored, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AnchorCell {
    pub(super) latest: i8,
    pub(super) boot: u8,
    pub(super) up: u8,
    pub(super) era: u8,
}

impl AnchorCell {
    pub(super) const START: Self = Self { latest: 0, boot: 0, up: 0, era: 0 };

    pub(super) fn of(anchor: Anchor) -> Self {
        let up = small(u64::try_from(anchor.since_boot_ms / 1000).expect("a time since boot"));
        let latest = Lens::OWN.at(anchor.now().at);
        Self { latest, boot: index_of(&anchor.boot.bytes()), up, era: small(anchor.era.0) }
    }

    pub(super) fn anchor(self) -> Anchor {
        Anchor {
            latest_ms: i64::from(self.latest) * 1000,
            boot: BootId::from_bytes(named(self.boot)),
            since_boot_ms: i64::from(self.up) * 1000,
            era: Era(self.era.into()),
        }
    }
}

/// The source: what it says, and what a look at it sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) struct Source {
    /// Which version of its bytes.
    pub(in crate::testkit) version: u8,
    /// What is seen.
    pub(super) seen: Sight,
}

/// What a look sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sight {
    Bytes,
    Missing,
    Unreachable,
    Denied,
}

impl Source {
    pub(super) const START: Self = Self { version: 1, seen: Sight::Bytes };

    /// Whether its bytes can be read.
    pub(in crate::testkit) fn is_whole(self) -> bool {
        self.seen == Sight::Bytes
    }

    /// Whether its folder was revoked.
    pub(in crate::testkit) fn is_denied(self) -> bool {
        self.seen == Sight::Denied
    }
}

/// What is kept of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) struct TaskCell {
    pub(in crate::testkit) seat: TaskSeat,
    pub(in crate::testkit) fence: u8,
    pub(in crate::testkit) attempts: u8,
    pub(super) truth: TaskTruth,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) enum TaskSeat {
    Queued,
    Running(LeaseCell),
    Published,
    Proposed(u8),
    NoChange,
    Failed(u8),
    Cancelled,
}

/// A lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) struct LeaseCell {
    pub(super) holder: u8,
    began: i8,
    ends: i8,
    era: u8,
}

/// Every reason for which a task may have failed.
const REASONS: [FailureReason; 7] = [
    FailureReason::NoMatches,
    FailureReason::NoSources,
    FailureReason::Abandoned,
    FailureReason::EvidenceUnavailable,
    FailureReason::RefreshIncomplete,
    FailureReason::TooLarge,
    FailureReason::Internal,
];

impl TaskCell {
    /// One that waits.
    pub(super) const QUEUED: Self =
        Self { seat: TaskSeat::Queued, fence: 0, attempts: 0, truth: TaskTruth::NEW };

    /// What is seen of a task, with nothing known of the truth.
    pub(in crate::testkit) fn of(task: &Task, lens: Lens) -> Self {
        let (fence, attempts) = (small(task.fence.0), small(task.attempts.into()));
        Self { seat: TaskSeat::of(task.state, lens), fence, attempts, truth: TaskTruth::NEW }
    }

    /// The task with this number.
    pub(super) fn task(self, n: usize, work: Work) -> Task {
        let kind = match work {
            Work::Report => TaskKind::Report,
            Work::Repair => TaskKind::Repair(RESULT),
        };
        let created_at = moment(0);
        Task {
            id: TaskId::from_bytes(named(small(n as u64))),
            kind,
            request: ReportRequest { query: String::new(), scope: Vec::new() },
            state: self.seat.state(),
            fence: Fence(self.fence.into()),
            attempts: self.attempts.into(),
            created_at,
            updated_at: created_at,
        }
    }

    /// Whether what is seen of a task is this, whoever holds the lease of a worker that died.
    pub(in crate::testkit) fn is_seen_as(mut self, mut seen: Self) -> bool {
        if self.holder().is_some_and(|holder| *holder == GONE)
            && let Some(holder) = seen.holder()
        {
            *holder = GONE;
        }
        self == Self { truth: self.truth, ..seen }
    }

    /// Whether nothing follows.
    pub(super) const fn has_ended(&self) -> bool {
        !matches!(self.seat, TaskSeat::Queued | TaskSeat::Running(_))
    }

    /// The worker that holds it.
    pub(super) const fn holder(&mut self) -> Option<&mut u8> {
        match &mut self.seat {
            TaskSeat::Running(lease) => Some(&mut lease.holder),
            TaskSeat::Queued
            | TaskSeat::Published
            | TaskSeat::Proposed(_)
            | TaskSeat::NoChange
            | TaskSeat::Failed(_)
            | TaskSeat::Cancelled => None,
        }
    }

    /// The same under a name that nobody has, if this worker died.
    pub(super) fn orphan(&mut self, worker: u8) {
        if let Some(holder) = self.holder().filter(|holder| **holder == worker) {
            *holder = GONE;
        }
    }

    /// Forgets of an ended one what nobody asks again.
    pub(super) const fn normal(&mut self) {
        if self.has_ended() {
            self.attempts = 0;
            self.truth.forget_the_lease();
        }
    }
}

/// The one result that is there from the beginning.
pub(super) const RESULT: ResultId = ResultId::from_bytes(named(0));

impl TaskSeat {
    fn of(state: TaskState, lens: Lens) -> Self {
        match state {
            TaskState::Queued => Self::Queued,
            TaskState::Running(lease) => Self::Running(LeaseCell {
                holder: index_of(&lease.holder.bytes()),
                began: lens.at(lease.began),
                ends: lens.at(lease.ends),
                era: lens.era(lease.era),
            }),
            TaskState::Succeeded(Success::Published(..)) => Self::Published,
            TaskState::Succeeded(Success::Proposed(id)) => Self::Proposed(index_of(&id.bytes())),
            TaskState::Succeeded(Success::NoChange) => Self::NoChange,
            TaskState::Failed(failure) => {
                let reason = REASONS.iter().position(|why| *why == failure.why);
                Self::Failed(small(reason.expect("every reason is listed") as u64))
            }
            TaskState::Cancelled => Self::Cancelled,
        }
    }

    fn state(self) -> TaskState {
        match self {
            Self::Queued => TaskState::Queued,
            Self::Running(lease) => TaskState::Running(Lease {
                holder: WorkerId::from_bytes(named(lease.holder)),
                began: moment(lease.began),
                ends: moment(lease.ends),
                era: Era(lease.era.into()),
            }),
            Self::Published => TaskState::Succeeded(Success::Published(RESULT, RevisionNo::FIRST)),
            Self::Proposed(n) => {
                TaskState::Succeeded(Success::Proposed(ProposalId::from_bytes(named(n))))
            }
            Self::NoChange => TaskState::Succeeded(Success::NoChange),
            Self::Failed(reason) => {
                TaskState::Failed(Failure { why: REASONS[usize::from(reason)], scan: None })
            }
            Self::Cancelled => TaskState::Cancelled,
        }
    }
}

/// What is kept of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) struct ProposalCell {
    pub(in crate::testkit) seat: Seat,
    pub(in crate::testkit) kind: KindCell,
    /// The accepted revision that it was made for.
    pub(in crate::testkit) base: u8,
    /// The version of the source that its body quotes.
    pub(in crate::testkit) body: u8,
    /// The version of the source that it binds.
    pub(in crate::testkit) bound: u8,
    pub(in crate::testkit) created: i8,
    pub(in crate::testkit) era: u8,
    pub(super) truth: ProposalTruth,
}

/// Where a proposal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) enum Seat {
    Pending,
    Applied,
    Superseded(u8),
    Dismissed,
    Expired,
}

/// What a proposal would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::testkit) enum KindCell {
    Repair { task: u8, fence: u8 },
    Restore(u8),
}

impl ProposalCell {
    /// What is seen of a proposal, with nothing known of the truth.
    pub(in crate::testkit) fn of(proposal: &Proposal, lens: Lens) -> Self {
        let kind = match proposal.kind {
            ProposalKind::Repair { task, fence } => {
                KindCell::Repair { task: index_of(&task.bytes()), fence: small(fence.0) }
            }
            ProposalKind::Restore(no) => KindCell::Restore(small(no.0)),
        };
        Self {
            seat: Seat::of(proposal.state),
            kind,
            base: small(proposal.base.0),
            body: index_of(proposal.body.bytes()),
            bound: index_of(proposal.binding.bytes()),
            created: lens.at(proposal.created_at),
            era: lens.era(proposal.era),
            truth: ProposalTruth::NEW,
        }
    }

    /// The proposal with this number, which lasts so long.
    pub(super) fn proposal(self, n: usize, life: Duration) -> Proposal {
        let kind = match self.kind {
            KindCell::Repair { task, fence } => ProposalKind::Repair {
                task: TaskId::from_bytes(named(task)),
                fence: Fence(fence.into()),
            },
            KindCell::Restore(no) => ProposalKind::Restore(RevisionNo(no.into())),
        };
        let body = Digest::from_bytes(named(self.body));
        let id = ProposalId::from_bytes(named(small(n as u64)));
        Proposal {
            id,
            result: RESULT,
            kind,
            state: self.seat.state(),
            base: RevisionNo(self.base.into()),
            body,
            dependencies: body,
            verification: body,
            scan: body,
            binding: Digest::from_bytes(named(self.bound)),
            fingerprint: fingerprint(n),
            created_at: moment(self.created),
            expires_at: moment(self.created).plus(life),
            era: Era(self.era.into()),
        }
    }

    /// Whether what is seen of a proposal is this.
    pub(in crate::testkit) fn is_seen_as(self, seen: Self) -> bool {
        self == Self { truth: self.truth, ..seen }
    }

    /// Whether nothing follows.
    pub(super) const fn has_ended(&self) -> bool {
        !matches!(self.seat, Seat::Pending)
    }

    /// Whether both repair, or both restore.
    pub(super) const fn is_like(&self, other: &Self) -> bool {
        matches!(self.kind, KindCell::Repair { .. })
            == matches!(other.kind, KindCell::Repair { .. })
    }

    /// Forgets of an ended one what nobody asks again.
    pub(super) fn normal(&mut self) {
        if self.has_ended() {
            let (seat, truth) = (self.seat, self.truth.of_an_end());
            let kind = KindCell::Restore(0);
            *self = Self { seat, kind, base: 0, body: 0, bound: 0, created: 0, era: 0, truth };
        }
    }
}

/// The fingerprint of the proposal with this number. A digest over what it binds is another test's matter.
pub(super) fn fingerprint(n: usize) -> Fingerprint {
    debug_assert!(n <= PROPOSALS, "a proposal, or one that nobody made");
    Fingerprint(Digest::from_bytes(named(small(n as u64))))
}

impl Seat {
    fn of(state: ProposalState) -> Self {
        match state {
            ProposalState::Pending => Self::Pending,
            ProposalState::Applied(_) => Self::Applied,
            ProposalState::Superseded(_, by) => Self::Superseded(index_of(&by.bytes())),
            ProposalState::Dismissed(_) => Self::Dismissed,
            ProposalState::Expired(_) => Self::Expired,
        }
    }

    fn state(self) -> ProposalState {
        let at = moment(0);
        match self {
            Self::Pending => ProposalState::Pending,
            Self::Applied => ProposalState::Applied(at),
            Self::Superseded(by) => {
                ProposalState::Superseded(at, ProposalId::from_bytes(named(by)))
            }
            Self::Dismissed => ProposalState::Dismissed(at),
            Self::Expired => ProposalState::Expired(at),
        }
    }
}
