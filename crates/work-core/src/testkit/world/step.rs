//! What happens in a small world: each step asks the real rules, and does what they say.

use super::cell::{
    AnchorCell, KindCell, ProposalCell, RESULT, Sight, Source, TaskCell, fingerprint, named,
};
use super::truth::{Approved, ProposalTruth};
use super::{
    BACK, Fate, Hand, Lens, Looked, Others, PROPOSALS, Place, Presented, Seat, Setting, Step, Work,
    World,
};
use crate::id::{ProposalId, WorkerId};
use crate::proposal::{self, Evidence, Preparation, Proposal, Refusal, Standing};
use crate::result::RevisionNo;
use crate::task::{self, Failure, FailureReason, Fence, Outcome, Success};
use crate::time::{Anchor, Now};

/// What came of a step.
#[derive(Clone, Copy, Debug)]
pub struct Happened {
    /// The world after it, if it is another.
    pub next: Option<World>,
    /// What the rules said, if they were asked.
    pub place: Option<Place>,
    /// What they said to a proposal that was to be made on the way.
    pub prepared: Option<Place>,
}

/// What the rules said to a step: to whom it was about, and to a proposal that was to be made.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    place: Option<Place>,
    prepared: Option<Place>,
}

impl From<Option<Place>> for Said {
    fn from(place: Option<Place>) -> Self {
        Self { place, prepared: None }
    }
}

impl World {
    /// The world after a step, and what the rules said to it.
    #[must_use]
    pub fn step(&self, step: Step, setting: &Setting) -> Happened {
        let mut next = *self;
        let Said { place, prepared } = next.take(step, setting);
        next.judge_ends(self);
        if next.anchor != self.anchor {
            next.judge_time(self, next.anchor.anchor().now());
        }
        Happened { next: (next != *self).then_some(next), place, prepared }
    }

    fn take(&mut self, step: Step, setting: &Setting) -> Said {
        match step {
            Step::Tick | Step::SetBack | Step::Reboot | Step::AcceptClock => self.turn(step).into(),
            Step::Source(fate) => {
                self.left.edits -= 1;
                self.source = self.source.after(fate);
                Said::default()
            }
            Step::Queue(n) => {
                self.keep_time(self.advanced());
                self.tasks[usize::from(n)] = Some(TaskCell::QUEUED);
                Said::default()
            }
            Step::Cancel(n) => self.ask(n, task::Ask::Cancel, setting).into(),
            Step::Claim(worker, n) => self.claim(worker, n, setting).into(),
            Step::Renew(worker) => self.held(worker, task::Ask::Renew, setting).into(),
            Step::Look(worker) => self.look(worker),
            Step::Publish(worker) => self.publish(worker, setting),
            Step::Fail(worker) => {
                let none = Failure { why: FailureReason::NoMatches, scan: None };
                let finish = |fence| task::Ask::Finish(fence, Outcome::Failure(none));
                self.held(worker, finish, setting).into()
            }
            Step::GiveBack(worker) => self.held(worker, task::Ask::GiveBack, setting).into(),
            Step::Crash(worker) => {
                self.workers[usize::from(worker)] = Hand::Idle;
                self.tasks.iter_mut().flatten().for_each(|task| task.orphan(worker));
                Said::default()
            }
            Step::Restore(others) => self.restore(others, setting),
            Step::Apply(n, presented) => self.apply(n.into(), presented, setting).into(),
            Step::Dismiss(n) => self.dismiss(n.into(), setting).into(),
        }
    }

    /// Something happens to the clocks.
    fn turn(&mut self, step: Step) -> Option<Place> {
        let clock = &mut self.clock;
        if step == Step::Tick {
            self.left.ticks -= 1;
            (clock.wall, clock.up) = (clock.wall + 1, clock.up + 1);
            return None;
        }
        self.left.turns -= 1;
        let now = self.advanced();
        if step == Step::SetBack {
            self.clock.wall -= BACK;
        } else if step == Step::Reboot {
            (self.clock.boot, self.clock.up) = (self.clock.boot + 1, 0);
            return (self.advanced().era > now.era).then_some(Place::NewEra);
        } else if self.clock.reading().wall_ms < now.latest_ms {
            self.keep_time(self.anchor.anchor().accept(self.clock.reading()));
            return Some(Place::ClockAccepted);
        }
        None
    }

    /// The time at this moment.
    fn advanced(&self) -> Anchor {
        self.anchor.anchor().advance(self.clock.reading())
    }

    fn keep_time(&mut self, anchor: Anchor) {
        self.anchor = AnchorCell::of(anchor);
    }

    /// Asks something of a task.
    fn ask(&mut self, n: u8, ask: task::Ask, setting: &Setting) -> Option<Place> {
        let came = self.decide_task(n, ask, setting)?;
        Some(Place::of_task(&came))
    }

    fn decide_task(
        &mut self,
        n: u8,
        ask: task::Ask,
        setting: &Setting,
    ) -> Option<Result<task::Transition, task::Refusal>> {
        let n = usize::from(n);
        let cell = self.tasks[n]?;
        let (anchor, task) = (self.advanced(), cell.task(n, setting.tasks[n]));
        let now = anchor.now();
        let came = task::decide(&task, ask, now, &setting.limits);
        if let Ok(granted) = came {
            let after = TaskCell::of(&task.after(granted, now), Lens::OWN);
            self.tasks[n] = Some(TaskCell { truth: cell.truth, ..after });
            self.judge_task(n, ask, granted, now);
            self.keep_time(anchor);
        }
        Some(came)
    }

    fn claim(&mut self, worker: u8, n: u8, setting: &Setting) -> Option<Place> {
        let ask = task::Ask::Claim(WorkerId::from_bytes(named(worker)));
        let came = self.decide_task(n, ask, setting)?;
        if let Ok(task::Transition::Leased { fence, .. }) = came {
            let fence = u8::try_from(fence.0).expect("a few leases");
            self.workers[usize::from(worker)] = Hand::Holds { task: n, fence, looked: None };
        }
        Some(Place::of_task(&came))
    }

    /// A worker asks something of the task that it believes to hold. One that is done holds nothing.
    fn held(
        &mut self,
        worker: u8,
        ask: impl Fn(Fence) -> task::Ask,
        setting: &Setting,
    ) -> Option<Place> {
        let hand = self.workers[usize::from(worker)];
        let Hand::Holds { task, fence, .. } = hand else { return None };
        let came = self.decide_task(task, ask(Fence(fence.into())), setting)?;
        if let Ok(task::Transition::Finished(_) | task::Transition::GivenBack) = came {
            self.workers[usize::from(worker)] = Hand::Idle;
        }
        Some(Place::of_task(&came))
    }

    /// A worker notes what it works on.
    fn look(&mut self, worker: u8) -> Said {
        let seen = Looked { base: self.accepted, version: self.source.version };
        if let Hand::Holds { looked, .. } = &mut self.workers[usize::from(worker)] {
            *looked = Some(seen);
        }
        Said::default()
    }

    /// A worker publishes what it has.
    fn publish(&mut self, worker: u8, setting: &Setting) -> Said {
        let hand = self.workers[usize::from(worker)];
        let Hand::Holds { task, fence, looked } = hand else { return Said::default() };
        let success = |with| move |fence| task::Ask::Finish(fence, Outcome::Success(with));
        match (setting.tasks[usize::from(task)], looked) {
            (Work::Report, _) => {
                let published = success(Success::Published(RESULT, RevisionNo::FIRST));
                self.held(worker, published, setting).into()
            }
            (Work::Repair, None) => Said::default(),
            (Work::Repair, Some(seen)) if self.has_moved(seen) => {
                self.held(worker, task::Ask::GiveBack, setting).into()
            }
            (Work::Repair, Some(seen)) if self.says_the_same(seen) => {
                self.held(worker, success(Success::NoChange), setting).into()
            }
            (Work::Repair, Some(seen)) => {
                let kind = KindCell::Repair { task, fence };
                let new = NewProposal { kind, body: seen.version, bound: seen.version };
                self.propose(worker, new, setting)
            }
        }
    }

    /// A worker publishes a proposal: with the end of its task, or not at all.
    fn propose(&mut self, worker: u8, new: NewProposal, setting: &Setting) -> Said {
        let mut next = *self;
        let Some((n, prepared)) = next.prepare(new, Others::None, setting) else {
            return Said::default();
        };
        let id = ProposalId::from_bytes(named(n.unwrap_or_default()));
        let outcome = Outcome::Success(Success::Proposed(id));
        let finish = |fence| task::Ask::Finish(fence, outcome);
        let place = next.held(worker, finish, setting);
        if place == Some(Place::Proposed) {
            *self = next;
        }
        Said { place, prepared: Some(prepared) }
    }

    /// Whether what a worker saw is no ground for a proposal any more: it has to look again.
    pub(in crate::testkit) fn has_moved(&self, seen: Looked) -> bool {
        seen.base != self.accepted || self.source.is_denied()
    }

    /// Whether a repair of what was seen says what the accepted revision says.
    pub(in crate::testkit) fn says_the_same(&self, seen: Looked) -> bool {
        seen.version == self.rests_on
    }

    /// Makes a proposal, and ends what it takes the place of: its number, if it was made, and what the rules said.
    /// Nothing, if no more may be made in this world.
    fn prepare(
        &mut self,
        new: NewProposal,
        others: Others,
        setting: &Setting,
    ) -> Option<(Option<u8>, Place)> {
        let (n, anchor) = (self.room(setting)?, self.advanced());
        let (now, at) = (anchor.now(), AnchorCell::of(anchor));
        let cell = new.cell(self.accepted, at, now);
        let waiting = self.waiting(setting);
        let elsewhere = match others {
            Others::None => 0,
            Others::Full => setting.limits.pending_restores,
        };
        let own = waiting.iter().filter(|one| one.kind.restores().is_some() && one.lasts(now));
        let restores = elsewhere + own.count();
        let new = cell.proposal(n, setting.limits.proposal_life);
        let came = proposal::prepare(&new, &waiting, restores, now, &setting.limits);
        let place = Place::of_preparation(&came);
        match came {
            Err(_) | Ok(Preparation::Waits(_)) => return Some((None, place)),
            Ok(Preparation::New) => {}
            Ok(Preparation::InPlaceOf(old, how)) => {
                let old = waiting.iter().find(|one| one.id == old)?;
                self.put_proposal(&old.after(how, now));
            }
        }
        self.proposals[n] = Some(cell);
        self.judge_waiting();
        self.keep_time(anchor);
        Some((Some(u8::try_from(n).expect("a few proposals")), place))
    }

    /// The proposals in state pending.
    fn waiting(&self, setting: &Setting) -> Vec<Proposal> {
        let all = self.proposals.iter().enumerate();
        let pending =
            all.filter_map(|(n, one)| one.filter(|one| !one.has_ended()).map(|one| (n, one)));
        pending.map(|(n, one)| one.proposal(n, setting.limits.proposal_life)).collect()
    }

    /// Puts a proposal in the place of what it was.
    fn put_proposal(&mut self, proposal: &Proposal) {
        let n = usize::from(super::index_of(&proposal.id.bytes()));
        let seen = ProposalCell::of(proposal, Lens::OWN);
        if let Some(cell) = &mut self.proposals[n] {
            *cell = ProposalCell { truth: cell.truth, ..seen };
        }
    }

    /// The owner wants the first revision back, which quotes the source as it was before all versions.
    fn restore(&mut self, others: Others, setting: &Setting) -> Said {
        let (kind, bound) = (KindCell::Restore(1), self.source.version);
        let prepared = self.prepare(NewProposal { kind, body: 0, bound }, others, setting);
        Said { place: prepared.map(|(_, place)| place), prepared: None }
    }

    fn apply(&mut self, n: usize, presented: Presented, setting: &Setting) -> Option<Place> {
        let (anchor, found) = (self.advanced(), self.proposals[n]?);
        let (now, proposal) = (anchor.now(), found.proposal(n, setting.limits.proposal_life));
        let approved = Approved {
            shown: matches!(
                presented,
                Presented::Shown | Presented::Unreadable | Presented::Unreached
            ),
            readable: presented != Presented::Unreadable,
            reached: presented != Presented::Unreached,
        };
        let standing = Standing {
            presented: match presented {
                Presented::Shown | Presented::Unreadable | Presented::Unreached => {
                    proposal.fingerprint
                }
                Presented::OfAnother(other) => fingerprint(other.into()),
                Presented::Invented => fingerprint(PROPOSALS),
            },
            computed: approved.readable.then_some(proposal.fingerprint),
            accepted: RevisionNo(self.accepted.into()),
            evidence: self.source.evidence(found.bound, approved.reached),
        };
        let came = proposal::decide(&proposal, proposal::Ask::Apply(standing), now);
        match came {
            Ok(transition) => {
                self.put_proposal(&proposal.after(transition, now));
                self.judge_applied(n, &approved, now);
                self.keep_time(anchor);
                self.accepted += 1;
                self.rests_on = found.body;
            }
            // What is told to have expired has: the time is stored.
            Err(Refusal::Expired) => self.keep_time(anchor),
            Err(_) => {}
        }
        Some(Place::of_proposal(&came))
    }

    fn dismiss(&mut self, n: usize, setting: &Setting) -> Option<Place> {
        let (anchor, found) = (self.advanced(), self.proposals[n]?);
        let (now, proposal) = (anchor.now(), found.proposal(n, setting.limits.proposal_life));
        let came = proposal::decide(&proposal, proposal::Ask::Dismiss, now);
        match came {
            Ok(transition) => {
                self.put_proposal(&proposal.after(transition, now));
                self.keep_time(anchor);
            }
            Err(Refusal::Expired) => self.keep_time(anchor),
            Err(_) => {}
        }
        Some(Place::of_proposal(&came))
    }
}

/// A proposal that is to be made.
struct NewProposal {
    kind: KindCell,
    body: u8,
    bound: u8,
}

impl NewProposal {
    /// As it waits from now on, over the accepted revision.
    fn cell(self, base: u8, at: AnchorCell, now: Now) -> ProposalCell {
        let Self { kind, body, bound } = self;
        let truth = ProposalTruth::made(now, base, bound);
        let (seat, created, era) = (Seat::Pending, at.latest, at.era);
        ProposalCell { seat, kind, base, body, bound, created, era, truth }
    }
}

impl Source {
    /// The source after something happened to it.
    const fn after(self, fate: Fate) -> Self {
        match fate {
            Fate::Edited => Self { version: self.version + 1, ..self },
            Fate::Lost => Self { seen: Sight::Missing, ..self },
            Fate::Unmounted => Self { seen: Sight::Unreachable, ..self },
            Fate::Revoked => Self { seen: Sight::Denied, ..self },
            Fate::Returned => Self { seen: Sight::Bytes, ..self },
        }
    }

    /// What is seen of it beside the version that was bound.
    pub(in crate::testkit) fn evidence(self, bound: u8, reached: bool) -> Evidence {
        let seen = match self.seen {
            Sight::Bytes if self.version == bound => Evidence::AsBound,
            Sight::Bytes => Evidence::Moved,
            Sight::Missing | Sight::Unreachable => Evidence::Unavailable,
            Sight::Denied => Evidence::Denied,
        };
        if reached { seen } else { seen.max(Evidence::NotReached) }
    }
}
