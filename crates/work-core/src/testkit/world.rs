//! A small world to walk through: a few workers, tasks and proposals, a source that changes, and clocks that turn back.
//!
//! Every decision in it is made by the real rules ([`task::decide`],
//! [`proposal::decide`], [`prepare`](crate::proposal::prepare),
//! [`Anchor::advance`](crate::time::Anchor::advance)); the world only remembers what came of them, in as few bytes as it
//! takes. Beside that it keeps, by arithmetic of its own, what is true whatever the rules say, and marks a state as
//! [`Wrong`] when a rule went against it. Who walks is somebody else: a checker that goes through every state, or
//! [`transitions`](super::conformance::transitions), which does each step on a store.
//!
//! To read: [`Step`] is what may happen, `step` does it, `cell` is how little of a record is kept, `truth` judges.

mod cell;
mod step;
mod truth;

pub(in crate::testkit) use cell::{Lens, ProposalCell, Seat, Source, TaskCell, index_of};
pub use step::Happened;
pub use truth::Wrong;

use crate::limits::Limits;
use crate::proposal::{self, Preparation, TooManyPending};
use crate::task::{self, Outcome, Success};
use cell::{AnchorCell, ClockCell};
use std::time::Duration;
use truth::Wrongs;

/// Workers at most.
pub(in crate::testkit) const WORKERS: usize = 3;
/// Tasks at most.
pub(in crate::testkit) const TASKS: usize = 3;
/// Proposals at most.
pub(in crate::testkit) const PROPOSALS: usize = 4;
/// Ticks by which a clock is set back.
pub(in crate::testkit) const BACK: i8 = 3;

/// How large a world is. A tick is a second.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What it is called.
    pub name: &'static str,
    /// Workers that may be at work at once, up to 3. One that crashes starts again under another name.
    pub workers: usize,
    /// What is asked for, each once, up to 3.
    pub tasks: &'static [Work],
    /// Proposals that are ever made, up to 4.
    pub proposals: usize,
    /// Ticks that pass.
    pub ticks: u8,
    /// Times that a clock is set back, accepted, or the machine started anew.
    pub turns: u8,
    /// Times that something happens to the source.
    pub edits: u8,
    /// Leases of one task, those that are given back included.
    pub leases: u8,
    /// The ceilings in force: leases of 2 ticks, 3 with renewals; 2 attempts; proposals of 3 ticks; 1 waiting restore.
    pub limits: Limits,
}

/// What a task asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A report.
    Report,
    /// A repair of the one result that is there from the beginning.
    Repair,
}

impl Setting {
    /// A world of this size.
    #[must_use]
    pub fn new(name: &'static str, workers: usize, tasks: &'static [Work]) -> Self {
        let mut limits = Limits::standard();
        limits.lease = Duration::from_secs(2);
        limits.scan.time = Duration::from_secs(2);
        limits.lease_slack = Duration::from_secs(1);
        limits.attempts = 2;
        limits.proposal_life = Duration::from_secs(3);
        limits.pending_restores = 1;
        let (proposals, ticks, turns, edits, leases) = (0, 0, 0, 0, 3);
        Self { name, workers, tasks, proposals, ticks, turns, edits, leases, limits }
    }

    /// The same with so many proposals and changes of the source.
    #[must_use]
    pub const fn proposing(self, proposals: usize, edits: u8) -> Self {
        Self { proposals, edits, ..self }
    }

    /// The same with so many ticks and turns of the clock.
    #[must_use]
    pub const fn lasting(self, ticks: u8, turns: u8) -> Self {
        Self { ticks, turns, ..self }
    }
}

/// A state of a small world, as a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// What may still happen.
    left: Left,
    clock: ClockCell,
    /// The time that is stored.
    anchor: AnchorCell,
    /// What becomes of the one source.
    pub(in crate::testkit) source: Source,
    /// The accepted revision of the one result.
    pub(in crate::testkit) accepted: u8,
    /// The version of the source that the accepted body quotes.
    pub(in crate::testkit) rests_on: u8,
    pub(in crate::testkit) tasks: [Option<TaskCell>; TASKS],
    pub(in crate::testkit) workers: [Hand; WORKERS],
    pub(in crate::testkit) proposals: [Option<ProposalCell>; PROPOSALS],
    wrong: Wrongs,
}

/// What may still happen of what is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Left {
    ticks: u8,
    turns: u8,
    edits: u8,
}

/// What a worker believes that it holds. It may be wrong: that is what a fencing number is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::testkit) enum Hand {
    /// Nothing.
    Idle,
    /// A lease of a task under a number, and what it saw before it looks for an answer.
    Holds { task: u8, fence: u8, looked: Option<Looked> },
}

/// What a worker saw: the accepted revision, and the version of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::testkit) struct Looked {
    pub(in crate::testkit) base: u8,
    pub(in crate::testkit) version: u8,
}

/// What may happen. Workers, tasks and proposals go by their number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A second passes. A worker to which nothing else happens is one that pauses.
    Tick,
    /// The wall clock is set back.
    SetBack,
    /// The machine starts anew.
    Reboot,
    /// The owner accepts a clock that is behind.
    AcceptClock,
    /// Something happens to the source.
    Source(Fate),
    /// A task is asked for.
    Queue(u8),
    /// The owner does not want a task any more.
    Cancel(u8),
    /// A worker wants a task.
    Claim(u8, u8),
    /// A worker carries on.
    Renew(u8),
    /// A worker notes the accepted revision and reads the source.
    Look(u8),
    /// A worker publishes.
    Publish(u8),
    /// A worker found nothing.
    Fail(u8),
    /// A worker stops in order.
    GiveBack(u8),
    /// A worker dies. Whoever starts in its place has another name and holds nothing.
    Crash(u8),
    /// The owner wants an earlier revision back, while this is how many others wait in the workspace.
    Restore(Others),
    /// Somebody approves a proposal.
    Apply(u8, Presented),
    /// The owner says no to a proposal.
    Dismiss(u8),
}

/// What happens to a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Its bytes change.
    Edited,
    /// It is deleted.
    Lost,
    /// Its folder is not there.
    Unmounted,
    /// Its folder is revoked.
    Revoked,
    /// It is there again, as it was.
    Returned,
}

/// Restores of other results that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Others {
    /// None.
    None,
    /// As many as may.
    Full,
}

/// What somebody presents who approves, and what can be known at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presented {
    /// The fingerprint that was shown.
    Shown,
    /// The one of another proposal.
    OfAnother(u8),
    /// One that was never shown.
    Invented,
    /// The one that was shown, while the records behind it cannot be read.
    Unreadable,
    /// The one that was shown, while the source was not reached in time.
    Unreached,
}

macro_rules! places {
    ($($place:ident = $name:literal,)+) => {
        /// What can come of a step: every transition and every refusal of the machines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Place {$(
            #[doc = $name]
            $place,
        )+}

        impl Place {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$place),+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {$(Self::$place => $name,)+}
            }
        }
    };
}

places! {
    Leased = "task: leased",
    LeasedAfterSilence = "task: leased after an earlier lease ended silently",
    Abandoned = "task: abandoned",
    Renewed = "task: renewed",
    Published = "task: succeeded with a result",
    Proposed = "task: succeeded with a proposal",
    NoChange = "task: succeeded without a change",
    Failed = "task: failed",
    GivenBack = "task: given back",
    Cancelled = "task: cancelled",
    RefusedHeld = "task refused: held by another",
    RefusedNotRunning = "task refused: not running",
    RefusedOldFence = "task refused: old fencing number",
    RefusedLeaseEnded = "task refused: lease ended",
    RefusedRenewedEnough = "task refused: renewed enough",
    RefusedCancelled = "task refused: cancelled",
    PreparedNew = "prepared: nothing waited",
    PreparedWaits = "prepared: the same waits",
    PreparedSuperseding = "prepared: supersedes",
    PreparedExpiring = "prepared: ends an expired one",
    PreparedTooMany = "prepared: refused, too many wait",
    Applied = "proposal: applied",
    Dismissed = "proposal: dismissed",
    RefusedFingerprint = "proposal refused: fingerprint",
    RefusedUsed = "proposal refused: already used",
    RefusedSuperseded = "proposal refused: superseded",
    RefusedDismissed = "proposal refused: dismissed",
    RefusedExpired = "proposal refused: expired",
    RefusedAccess = "proposal refused: access removed",
    RefusedUnreached = "proposal refused: not reached in time",
    RefusedUnavailable = "proposal refused: evidence unavailable",
    RefusedRevision = "proposal refused: revision changed",
    RefusedSources = "proposal refused: sources changed",
    NewEra = "time: a new era after a start with an earlier clock",
    ClockAccepted = "time: an earlier clock accepted",
}

impl Place {
    /// What came of asking a task.
    pub(in crate::testkit) fn of_task(came: &Result<task::Transition, task::Refusal>) -> Self {
        use task::{Refusal as No, Transition as Yes};
        match came {
            Ok(Yes::Leased { after_silence: false, .. }) => Self::Leased,
            Ok(Yes::Leased { after_silence: true, .. }) => Self::LeasedAfterSilence,
            Ok(Yes::Abandoned) => Self::Abandoned,
            Ok(Yes::Renewed(_)) => Self::Renewed,
            Ok(Yes::Finished(Outcome::Success(Success::Published(..)))) => Self::Published,
            Ok(Yes::Finished(Outcome::Success(Success::Proposed(_)))) => Self::Proposed,
            Ok(Yes::Finished(Outcome::Success(Success::NoChange))) => Self::NoChange,
            Ok(Yes::Finished(Outcome::Failure(_))) => Self::Failed,
            Ok(Yes::GivenBack) => Self::GivenBack,
            Ok(Yes::Cancelled) => Self::Cancelled,
            Err(No::Held { .. }) => Self::RefusedHeld,
            Err(No::NotRunning) => Self::RefusedNotRunning,
            Err(No::OldFence) => Self::RefusedOldFence,
            Err(No::LeaseEnded) => Self::RefusedLeaseEnded,
            Err(No::RenewedEnough) => Self::RefusedRenewedEnough,
            Err(No::Cancelled) => Self::RefusedCancelled,
        }
    }

    /// What came of preparing a proposal.
    pub(in crate::testkit) const fn of_preparation(
        came: &Result<Preparation, TooManyPending>,
    ) -> Self {
        use proposal::Transition as How;
        match came {
            Ok(Preparation::New) => Self::PreparedNew,
            Ok(Preparation::Waits(_)) => Self::PreparedWaits,
            Ok(Preparation::InPlaceOf(_, How::Expired)) => Self::PreparedExpiring,
            Ok(Preparation::InPlaceOf(_, How::Applied | How::Superseded(_) | How::Dismissed)) => {
                Self::PreparedSuperseding
            }
            Err(TooManyPending(_)) => Self::PreparedTooMany,
        }
    }

    /// What came of asking a proposal.
    pub(in crate::testkit) const fn of_proposal(
        came: &Result<proposal::Transition, proposal::Refusal>,
    ) -> Self {
        use proposal::{Refusal as No, Transition as Yes};
        match came {
            Ok(Yes::Applied) => Self::Applied,
            Ok(Yes::Dismissed | Yes::Superseded(_) | Yes::Expired) => Self::Dismissed,
            Err(No::FingerprintMismatch) => Self::RefusedFingerprint,
            Err(No::AlreadyUsed) => Self::RefusedUsed,
            Err(No::Superseded) => Self::RefusedSuperseded,
            Err(No::Dismissed) => Self::RefusedDismissed,
            Err(No::Expired) => Self::RefusedExpired,
            Err(No::AccessRemoved) => Self::RefusedAccess,
            Err(No::RefreshIncomplete) => Self::RefusedUnreached,
            Err(No::EvidenceUnavailable) => Self::RefusedUnavailable,
            Err(No::RevisionChanged) => Self::RefusedRevision,
            Err(No::SourcesChanged) => Self::RefusedSources,
        }
    }
}

impl World {
    /// The beginning: a result at its second revision, which says what the source says now.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            left: Left { ticks: setting.ticks, turns: setting.turns, edits: setting.edits },
            clock: ClockCell::START,
            anchor: AnchorCell::START,
            source: Source::START,
            accepted: 2,
            rests_on: 1,
            tasks: [None; TASKS],
            workers: [Hand::Idle; WORKERS],
            proposals: [None; PROPOSALS],
            wrong: Wrongs::NONE,
        }
    }

    /// The time that is stored: the moment and its era.
    pub(in crate::testkit) const fn stored_time(&self) -> (i8, u8) {
        (self.anchor.latest, self.anchor.era)
    }

    /// Whether nothing is wrong with it.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.wrong == Wrongs::NONE
    }

    /// Whether this is wrong with it.
    #[must_use]
    pub const fn is_wrong(&self, how: Wrong) -> bool {
        self.wrong.has(how)
    }

    /// Everything that may happen next, refusals included. Nothing follows on what is wrong.
    pub fn steps(&self, setting: &Setting, steps: &mut Vec<Step>) {
        if self.is_sound() {
            self.steps_of_time(steps);
            self.steps_of_the_source(steps);
            self.steps_of_tasks(setting, steps);
            self.steps_of_workers(setting, steps);
            self.steps_of_proposals(setting, steps);
        }
    }

    fn steps_of_time(&self, steps: &mut Vec<Step>) {
        if self.left.ticks > 0 {
            steps.push(Step::Tick);
        }
        if self.left.turns > 0 {
            steps.extend([Step::SetBack, Step::Reboot, Step::AcceptClock]);
        }
    }

    fn steps_of_the_source(&self, steps: &mut Vec<Step>) {
        let fates: &[Fate] = match (self.left.edits, self.source.is_whole()) {
            (0, _) => &[],
            (_, true) => &[Fate::Edited, Fate::Lost, Fate::Unmounted, Fate::Revoked],
            (_, false) => &[Fate::Returned],
        };
        steps.extend(fates.iter().copied().map(Step::Source));
    }

    /// Tasks that ask for the same are asked for in their order: which of them is first makes no difference.
    fn steps_of_tasks(&self, setting: &Setting, steps: &mut Vec<Step>) {
        let mut before = None;
        for (n, work) in (0..).zip(setting.tasks) {
            let asked = self.tasks[usize::from(n)].is_some();
            if asked {
                steps.push(Step::Cancel(n));
            } else if before != Some((work, false)) {
                steps.push(Step::Queue(n));
            }
            before = Some((work, asked));
        }
    }

    /// Workers that hold nothing are alike: one of them claims.
    fn steps_of_workers(&self, setting: &Setting, steps: &mut Vec<Step>) {
        let busy = self.workers.iter().filter(|hand| **hand != Hand::Idle).count();
        let mut may_claim = busy < setting.workers;
        for (n, hand) in (0..).zip(&self.workers) {
            match *hand {
                Hand::Idle if !may_claim => {}
                Hand::Idle => {
                    may_claim = false;
                    let free = |task: &TaskCell| task.fence < setting.leases;
                    let asked = (0..).zip(&self.tasks);
                    let asked = asked.filter(|(_, task)| task.as_ref().is_some_and(free));
                    steps.extend(asked.map(|(task, _)| Step::Claim(n, task)));
                }
                Hand::Holds { task, looked, .. } => {
                    steps.extend([Step::Renew(n), Step::Fail(n), Step::GiveBack(n)]);
                    steps.push(Step::Crash(n));
                    let repairs = setting.tasks[usize::from(task)] == Work::Repair;
                    if repairs && looked.is_none() && self.source.is_whole() {
                        steps.push(Step::Look(n));
                    } else if !repairs || looked.is_some() {
                        steps.push(Step::Publish(n));
                    }
                }
            }
        }
    }

    fn steps_of_proposals(&self, setting: &Setting, steps: &mut Vec<Step>) {
        if self.room(setting).is_some() && self.source.is_whole() {
            steps.extend([Step::Restore(Others::None), Step::Restore(Others::Full)]);
        }
        let made = || (0..).zip(&self.proposals).filter(|(_, one)| one.is_some());
        for (n, _) in made() {
            let others = made().map(|(other, _)| other).filter(|other| *other != n);
            let own = [Presented::Shown, Presented::Invented, Presented::Unreadable];
            let presented = own.into_iter().chain([Presented::Unreached]);
            let presented = presented.chain(others.map(Presented::OfAnother));
            steps.extend(presented.map(|presented| Step::Apply(n, presented)));
            steps.push(Step::Dismiss(n));
        }
    }

    /// The number that the next proposal gets, if one more may be made.
    pub(in crate::testkit) fn room(&self, setting: &Setting) -> Option<usize> {
        self.proposals[..setting.proposals].iter().position(Option::is_none)
    }

    /// The same world with what makes no difference to anything that follows told in one way: workers in an order, ended
    /// records without what they were made of.
    #[must_use]
    pub fn normal(mut self) -> Self {
        self.clock.normal(&mut self.anchor);
        self.tasks.iter_mut().flatten().for_each(TaskCell::normal);
        self.proposals.iter_mut().flatten().for_each(ProposalCell::normal);
        if !self.workers.is_sorted() {
            self.sort_workers();
        }
        self
    }

    /// Brings the workers into an order, with the leases that they hold.
    fn sort_workers(&mut self) {
        let mut order = [0, 1, 2];
        order.sort_by_key(|n| self.workers[*n]);
        self.workers = order.map(|n| self.workers[n]);
        let holders = self.tasks.iter_mut().flatten().filter_map(TaskCell::holder);
        for holder in holders {
            if let Some(new) = order.iter().position(|old| *old == usize::from(*holder)) {
                *holder = u8::try_from(new).expect("a worker's number");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn setting() -> Setting {
        Setting::new("tiny", 2, &[Work::Report, Work::Repair]).proposing(2, 1).lasting(3, 1)
    }

    /// The world after these steps, each of which must change something.
    fn after(steps: &[Step]) -> World {
        steps.iter().fold(World::new(&setting()), |world, step| {
            let happened = world.step(*step, &setting());
            assert!(happened.next.is_some(), "{step:?} changes nothing: {happened:?}");
            happened.next.expect("just asked")
        })
    }

    /// What comes of a step after others.
    #[track_caller]
    fn check(before: &[Step], step: Step, place: Place) {
        assert_eq!(after(before).step(step, &setting()).place, Some(place), "{before:?} {step:?}");
    }

    #[test]
    fn a_worker_that_paused_is_told_that_another_took_over() {
        let taken_over =
            [Step::Queue(0), Step::Claim(0, 0), Step::Tick, Step::Tick, Step::Claim(1, 0)];
        check(&taken_over, Step::Publish(0), Place::RefusedOldFence);
        check(&taken_over, Step::Publish(1), Place::Published);
    }

    #[test]
    fn a_restore_is_applied_once_and_by_its_own_fingerprint() {
        let waits = [Step::Restore(Others::None)];
        check(&waits, Step::Apply(0, Presented::Invented), Place::RefusedFingerprint);
        check(&waits, Step::Apply(0, Presented::Shown), Place::Applied);
        let used = [Step::Restore(Others::None), Step::Apply(0, Presented::Shown)];
        check(&used, Step::Apply(0, Presented::Shown), Place::RefusedUsed);
        assert_eq!(after(&used).accepted, 3);
    }

    #[test]
    fn what_expired_stays_expired_when_the_clock_is_set_back_and_the_machine_starts_anew() {
        let expired = [Step::Restore(Others::None), Step::Tick, Step::Tick, Step::Tick];
        check(&expired, Step::Dismiss(0), Place::RefusedExpired);
        let told = after(&expired).step(Step::Dismiss(0), &setting()).next.expect("time is kept");
        let back = told.step(Step::SetBack, &setting()).next.expect("set back");
        let again = back.step(Step::Apply(0, Presented::Shown), &setting());
        assert_eq!(again.place, Some(Place::RefusedExpired));
    }

    #[test]
    fn worlds_that_differ_only_in_which_worker_does_what_are_one() {
        let two = [Step::Queue(0), Step::Queue(1)];
        let one = after(&[&two[..], &[Step::Claim(0, 0), Step::Claim(1, 1)]].concat());
        let other = after(&[&two[..], &[Step::Claim(1, 0), Step::Claim(0, 1)]].concat());
        assert_ne!(one, other);
        assert_eq!(one.normal(), other.normal());
    }

    #[test]
    fn a_worker_that_was_brought_into_an_order_goes_on_working() {
        let world = after(&[Step::Queue(0), Step::Claim(0, 0)]).normal();
        let mut steps = Vec::new();
        world.steps(&setting(), &mut steps);
        let publish = steps.iter().find(|step| matches!(step, Step::Publish(_)));
        let publish = *publish.expect("a worker that holds a task may publish");
        assert_eq!(world.step(publish, &setting()).place, Some(Place::Published));
    }

    #[test]
    fn a_walk_through_a_tiny_world_finds_nothing_wrong_and_goes_on_for_long() {
        let setting = Setting::new("tiny", 1, &[Work::Repair]).proposing(1, 1).lasting(2, 1);
        let mut open = vec![World::new(&setting)];
        let mut seen = BTreeSet::new();
        while let Some(world) = open.pop() {
            if !seen.insert(format!("{world:?}")) {
                continue;
            }
            assert_eq!(world.wrong, Wrongs::NONE, "{world:?}");
            let mut steps = Vec::new();
            world.steps(&setting, &mut steps);
            let next = steps.into_iter().filter_map(|step| world.step(step, &setting).next);
            open.extend(next.map(World::normal));
        }
        assert!(seen.len() > 1000, "{} states", seen.len());
    }
}
