//! What is true whatever the rules say, by arithmetic of its own, and where a rule went against it.
//!
//! Nothing here asks the rules anything. Where they are right, all of it follows from the rest of the world, so that
//! keeping it makes no world larger.

use super::World;
use super::cell::{ProposalCell, Seat};
use crate::task::{Ask, Fence, Outcome, Transition};
use crate::time::Now;

/// The ticks that a lease lasts from its start or renewal.
const LEASE: i8 = 2;
/// The ticks that a lease lasts at most.
const LEASE_AT_MOST: i8 = 3;
/// The ticks that a proposal lasts.
const LIFE: i8 = 3;

macro_rules! wrongs {
    ($($wrong:ident = $says:literal,)+) => {
        /// What must never be.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Wrong {$(
            #[doc = $says]
            $wrong,
        )+}

        impl Wrong {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$wrong),+];

            /// What is wrong, in words.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self {$(Self::$wrong => $says,)+}
            }
        }
    };
}

wrongs! {
    PublishedTwice = "a task published twice",
    OldFence = "a worker with an old fencing number was heard",
    AfterLease = "a worker was heard after its lease had ended",
    AfterCancel = "a cancelled task went on",
    TwoHolders = "a task was leased while another lease of it lasted",
    LeaseTooLong = "a lease lasts longer than it may",
    EndMoved = "what had ended went on",
    UsedTwice = "an approval was used twice",
    StillWaits = "an approval was used and not marked as used",
    AppliedExpired = "a proposal was applied after its time",
    CameBack = "a proposal that had expired was applied",
    OtherBase = "a proposal was applied over another revision than it was made for",
    NotShown = "a proposal was applied by another fingerprint than its own",
    NotReadable = "a proposal was applied while its records could not be read",
    NotAsBound = "a proposal was applied while its source was not as bound",
    TwoWait = "two proposals of one kind wait for one result",
    TimeBack = "the stored time went back, or stood still while time passed",
}

/// What is wrong with a world, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wrongs(u32);

impl Wrongs {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn has(self, wrong: Wrong) -> bool {
        self.0 & (1 << wrong as u32) != 0
    }

    /// Adds one, unless all is well.
    fn unless(&mut self, well: bool, wrong: Wrong) {
        if !well {
            self.0 |= 1 << wrong as u32;
        }
    }
}

/// What is true of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskTruth {
    /// Leases given out.
    given: u8,
    /// The present lease: its era, when it began, and until when.
    lease: Option<(u8, i8, i8)>,
    published: bool,
    cancelled: bool,
}

impl TaskTruth {
    pub(super) const NEW: Self = Self { given: 0, lease: None, published: false, cancelled: false };

    pub(super) const fn forget_the_lease(&mut self) {
        self.lease = None;
    }

    fn lasts(&self, now: Now) -> bool {
        self.lease.is_some_and(|(era, _, until)| {
            now.era.0 == u64::from(era) && now.at.seconds() < i64::from(until)
        })
    }
}

/// What is true of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProposalTruth {
    /// The revision over which it may be applied, and the version that its source must have.
    over: (u8, u8),
    /// Its era, and until when it lasts.
    until: (u8, i8),
    uses: u8,
    /// Whether its time was past at some moment that was acted on.
    past: bool,
}

impl ProposalTruth {
    pub(super) const NEW: Self = Self { over: (0, 0), until: (0, 0), uses: 0, past: false };

    /// Of a proposal that is made now, over this revision, when the source says that.
    pub(super) fn made(now: Now, base: u8, version: u8) -> Self {
        let era = u8::try_from(now.era.0).expect("a few eras");
        Self { over: (base, version), until: (era, tick(now) + LIFE), uses: 0, past: false }
    }

    /// What stays of it when it has ended.
    pub(super) const fn of_an_end(self) -> Self {
        Self { uses: self.uses, ..Self::NEW }
    }

    fn lasts(&self, now: Now) -> bool {
        now.era.0 == u64::from(self.until.0) && tick(now) < self.until.1
    }
}

/// A moment as ticks.
fn tick(now: Now) -> i8 {
    i8::try_from(now.at.seconds()).expect("a few ticks")
}

/// What was presented with an approval, as it truly is.
pub(super) struct Approved {
    pub(super) shown: bool,
    pub(super) readable: bool,
    pub(super) reached: bool,
}

impl World {
    /// Judges what was granted to somebody who asked task `n`, and remembers it.
    pub(super) fn judge_task(&mut self, n: usize, ask: Ask, granted: Transition, now: Now) {
        let Some(cell) = self.tasks[n].as_mut() else { return };
        let (wrong, truth) = (&mut self.wrong, &mut cell.truth);
        wrong.unless(!truth.cancelled, Wrong::AfterCancel);
        if let Ask::Renew(Fence(fence))
        | Ask::Finish(Fence(fence), _)
        | Ask::GiveBack(Fence(fence)) = ask
        {
            wrong.unless(fence == u64::from(truth.given), Wrong::OldFence);
            wrong.unless(truth.lasts(now), Wrong::AfterLease);
        }
        let era = u8::try_from(now.era.0).expect("a few eras");
        match granted {
            Transition::Leased { fence, .. } => {
                wrong.unless(!truth.lasts(now), Wrong::TwoHolders);
                truth.given += 1;
                wrong.unless(fence.0 == u64::from(truth.given), Wrong::OldFence);
                truth.lease = Some((era, tick(now), tick(now) + LEASE));
            }
            Transition::Renewed(lease) => {
                let began = truth.lease.map_or(tick(now), |(_, began, _)| began);
                let until = (tick(now) + LEASE).min(began + LEASE_AT_MOST);
                wrong.unless(lease.ends.seconds() <= i64::from(until), Wrong::LeaseTooLong);
                truth.lease = Some((era, began, until));
            }
            Transition::Finished(Outcome::Success(_)) => {
                wrong.unless(!truth.published, Wrong::PublishedTwice);
                (truth.published, truth.lease) = (true, None);
            }
            Transition::Abandoned => {
                wrong.unless(!truth.lasts(now), Wrong::TwoHolders);
                truth.lease = None;
            }
            Transition::Cancelled => (truth.cancelled, truth.lease) = (true, None),
            Transition::Finished(Outcome::Failure(_)) | Transition::GivenBack => truth.lease = None,
        }
    }

    /// Judges that proposal `n` was applied, and remembers it. The world is still as it was found.
    pub(super) fn judge_applied(&mut self, n: usize, approved: &Approved, now: Now) {
        let as_bound = self.source.is_whole() && approved.reached;
        let over = (self.accepted, self.source.version);
        let Some(cell) = self.proposals[n].as_mut() else { return };
        let (wrong, truth) = (&mut self.wrong, &mut cell.truth);
        truth.uses += 1;
        wrong.unless(truth.uses == 1, Wrong::UsedTwice);
        wrong.unless(cell.seat == Seat::Applied, Wrong::StillWaits);
        wrong.unless(truth.lasts(now), Wrong::AppliedExpired);
        wrong.unless(!truth.past, Wrong::CameBack);
        wrong.unless(truth.over.0 == over.0, Wrong::OtherBase);
        wrong.unless(truth.over.1 == over.1 && as_bound, Wrong::NotAsBound);
        wrong.unless(approved.shown, Wrong::NotShown);
        wrong.unless(approved.readable, Wrong::NotReadable);
    }

    /// Judges that at most one proposal of each kind waits.
    pub(super) fn judge_waiting(&mut self) {
        let waits = |one: &&ProposalCell| one.seat == Seat::Pending;
        let waiting = || self.proposals.iter().flatten().filter(waits);
        let alone = waiting().all(|one| waiting().filter(|other| other.is_like(one)).count() == 1);
        self.wrong.unless(alone, Wrong::TwoWait);
    }

    /// Judges that what had ended is as it was.
    pub(super) fn judge_ends(&mut self, before: &Self) {
        let tasks = self.tasks.iter().zip(&before.tasks).all(|pair| match pair {
            (Some(is), Some(was)) => !was.has_ended() || is.seat == was.seat,
            (_, None) | (None, Some(_)) => true,
        });
        let proposals = self.proposals.iter().zip(&before.proposals).all(|pair| match pair {
            (Some(is), Some(was)) => !was.has_ended() || is.seat == was.seat,
            (_, None) | (None, Some(_)) => true,
        });
        self.wrong.unless(tasks && proposals, Wrong::EndMoved);
    }

    /// Judges the time that is stored from now on, and remembers what is past by it. Within one boot and era at least as
    /// much passes as truly did.
    pub(super) fn judge_time(&mut self, before: &Self, now: Now) {
        let (was, is) = (before.anchor, self.anchor);
        let goes_on = (is.era, is.latest) >= (was.era, was.latest);
        let unbroken = was.boot == self.clock.boot && is.era == was.era;
        let passed = i16::from(self.clock.up) - i16::from(was.up);
        let counted = i16::from(is.latest) - i16::from(was.latest);
        self.wrong.unless(goes_on && (!unbroken || counted >= passed), Wrong::TimeBack);
        for cell in self.proposals.iter_mut().flatten().filter(|cell| !cell.has_ended()) {
            cell.truth.past |= !cell.truth.lasts(now);
        }
    }
}
