//! The machine: what becomes of a proposal.

use super::{Fingerprint, Proposal, ProposalKind, ProposalState};
use crate::id::ProposalId;
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::result::RevisionNo;
use crate::time::Now;
use Ask::{Apply, Dismiss, Supersede};
use ProposalState::{Applied, Dismissed, Expired, Pending, Superseded};

/// What is asked of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Somebody approves what was shown.
    Apply(Standing),
    /// A newer one of its kind takes its place.
    Supersede(ProposalId),
    /// The owner says no.
    Dismiss,
}

/// What is true at the moment of applying, beside the proposal itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What was presented as shown.
    pub presented: Fingerprint,
    /// What the stored records give now; `None` if they cannot be read.
    pub computed: Option<Fingerprint>,
    /// The revision that is accepted now.
    pub accepted: RevisionNo,
    /// What is seen now of every source of both bodies.
    pub evidence: Evidence,
}

/// What is seen of the sources of both bodies beside what the approval binds: the worst of them, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Each as it was bound.
    AsBound,
    /// One is readable and not as it was bound.
    Moved,
    /// One that must be readable is not.
    Unavailable,
    /// One was not reached in time: nothing can be said of it.
    NotReached,
    /// Access to one was withdrawn.
    Denied,
}

/// What happens to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// It becomes the accepted revision.
    Applied,
    /// A newer one takes its place.
    Superseded(ProposalId),
    /// The owner said no.
    Dismissed,
    /// Its time was past when it was looked at.
    Expired,
}

/// Why nothing happens to a proposal, in the order in which reasons are told.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    thiserror::Error,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// What was presented, or what the records give, is not what was shown.
    #[error("the fingerprint is not the one of this proposal")]
    FingerprintMismatch,
    /// It was applied before.
    #[error("the proposal was applied before, and an approval is used once")]
    AlreadyUsed,
    /// A newer one took its place.
    #[error("a newer proposal took its place")]
    Superseded,
    /// The owner said no.
    #[error("the proposal was dismissed")]
    Dismissed,
    /// Its time is past.
    #[error("the proposal has expired")]
    Expired,
    /// Access to a source was withdrawn.
    #[error("access to a source was withdrawn")]
    AccessRemoved,
    /// A source was not reached in time. Trying again can help.
    #[error("not every source could be looked at in time")]
    RefreshIncomplete,
    /// A source could not be read.
    #[error("a source could not be read")]
    EvidenceUnavailable,
    /// Another revision was accepted since.
    #[error("another revision was accepted since it was prepared")]
    RevisionChanged,
    /// A source changed since.
    #[error("a source changed since it was prepared")]
    SourcesChanged,
}

impl Refusal {
    /// Every reason, in the order in which they are told.
    pub const ALL: [Self; 10] = [
        Self::FingerprintMismatch,
        Self::AlreadyUsed,
        Self::Superseded,
        Self::Dismissed,
        Self::Expired,
        Self::AccessRemoved,
        Self::RefreshIncomplete,
        Self::EvidenceUnavailable,
        Self::RevisionChanged,
        Self::SourcesChanged,
    ];
}

/// Decides what `ask` does to `proposal` at `now`. Reads nothing else.
///
/// # Errors
/// The first [`Refusal`] that holds, in their order; it leaves the proposal as it is.
pub fn decide(proposal: &Proposal, ask: Ask, now: Now) -> Result<Transition, Refusal> {
    match (proposal.state, ask) {
        (_, Apply(standing)) if !standing.is_shown(proposal) => Err(Refusal::FingerprintMismatch),
        (Applied(_), Apply(_) | Supersede(_) | Dismiss) => Err(Refusal::AlreadyUsed),
        (Superseded(..), Apply(_) | Supersede(_) | Dismiss) => Err(Refusal::Superseded),
        (Dismissed(_), Apply(_) | Supersede(_) | Dismiss) => Err(Refusal::Dismissed),
        (Expired(_), Apply(_) | Supersede(_) | Dismiss) => Err(Refusal::Expired),
        (Pending, Apply(_) | Dismiss) if !proposal.lasts(now) && !is_planted(Fault::Expiry) => {
            Err(Refusal::Expired)
        }
        (Pending, Supersede(_)) if !proposal.lasts(now) => Ok(Transition::Expired),
        (Pending, Supersede(by)) => Ok(Transition::Superseded(by)),
        (Pending, Dismiss) => Ok(Transition::Dismissed),
        (Pending, Apply(standing)) => approved(proposal, standing),
    }
}

/// Whether what waits and was shown may become the accepted revision.
fn approved(proposal: &Proposal, standing: Standing) -> Result<Transition, Refusal> {
    let moved = standing.accepted != proposal.base && !is_planted(Fault::BaseRevision);
    match standing.evidence {
        Evidence::Denied => Err(Refusal::AccessRemoved),
        Evidence::NotReached => Err(Refusal::RefreshIncomplete),
        Evidence::Unavailable => Err(Refusal::EvidenceUnavailable),
        Evidence::Moved | Evidence::AsBound if moved => Err(Refusal::RevisionChanged),
        Evidence::Moved => Err(Refusal::SourcesChanged),
        Evidence::AsBound => Ok(Transition::Applied),
    }
}

impl Standing {
    /// Whether what was presented is the proposal's, and what its records give.
    fn is_shown(&self, proposal: &Proposal) -> bool {
        let shown = self.presented == proposal.fingerprint || is_planted(Fault::Presented);
        shown && self.computed == Some(proposal.fingerprint)
    }
}

/// What preparing a proposal comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// The same one waits already, and keeps its expiry.
    Waits(ProposalId),
    /// It is new, and ends nothing.
    New,
    /// It is new, and ends this one.
    InPlaceOf(ProposalId, Transition),
}

/// As many restores wait as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} restores wait for approval, as many as may")]
pub struct TooManyPending(pub usize);

/// Decides what becomes of `new` beside the proposals `waiting` for the same result, in state pending, when `restores`
/// unexpired restores wait in the whole workspace.
///
/// A repair takes the place of an older repair. A restore that says the same as one that waits is that one; another one
/// takes its place. What is past its time ends as expired.
///
/// # Errors
/// [`TooManyPending`] for a restore, when as many others wait as may.
pub fn prepare(
    new: &Proposal,
    waiting: &[Proposal],
    restores: usize,
    now: Now,
    limits: &Limits,
) -> Result<Preparation, TooManyPending> {
    let old = waiting.iter().find(|old| old.kind.is_like(new.kind));
    if let Some(same) = old.filter(|old| old.lasts(now) && is_same_restore(old, new)) {
        return Ok(Preparation::Waits(same.id));
    }
    let replaced = usize::from(old.is_some_and(|old| old.lasts(now)));
    let full = restores.saturating_sub(replaced) >= limits.pending_restores;
    match (new.kind, old.map(|old| (old.id, decide(old, Supersede(new.id), now)))) {
        (ProposalKind::Restore(_), _) if full => Err(TooManyPending(limits.pending_restores)),
        (_, Some(_)) if is_planted(Fault::Supersede) => Ok(Preparation::New),
        (_, Some((id, Ok(ends)))) => Ok(Preparation::InPlaceOf(id, ends)),
        (_, Some((_, Err(_))) | None) => Ok(Preparation::New),
    }
}

/// Whether both bring the same revision back over the same one, with the sources seen alike.
fn is_same_restore(old: &Proposal, new: &Proposal) -> bool {
    let content = |one: &Proposal| (one.kind.restores(), one.base, one.body, one.binding);
    new.kind.restores().is_some() && content(old) == content(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::id::{ResultId, TaskId};
    use crate::task::Fence;
    use crate::time::{Era, Timestamp};
    use std::collections::BTreeSet;

    const NOW: Now = Now { at: Timestamp::from_seconds(1000), era: Era(3) };
    const SHOWN: Fingerprint = Fingerprint(Digest::from_bytes([1; 32]));
    const OTHER: Fingerprint = Fingerprint(Digest::from_bytes([2; 32]));
    const NEWER: ProposalId = ProposalId::from_bytes([9; 16]);
    const REPAIR: ProposalKind =
        ProposalKind::Repair { task: TaskId::from_bytes([5; 16]), fence: Fence(1) };
    const RESTORE: ProposalKind = ProposalKind::Restore(RevisionNo(1));
    const SOUND: Standing = Standing {
        presented: SHOWN,
        computed: Some(SHOWN),
        accepted: RevisionNo(2),
        evidence: Evidence::AsBound,
    };

    /// A proposal for revision 2 that expires in a second.
    fn proposal(state: ProposalState) -> Proposal {
        let document = Digest::from_bytes([7; 32]);
        Proposal {
            id: ProposalId::from_bytes([8; 16]),
            result: ResultId::from_bytes([4; 16]),
            kind: REPAIR,
            state,
            base: RevisionNo(2),
            body: document,
            dependencies: document,
            verification: document,
            scan: document,
            binding: document,
            fingerprint: SHOWN,
            created_at: Timestamp::from_seconds(500),
            expires_at: Timestamp::from_seconds(1001),
            era: NOW.era,
        }
    }

    #[track_caller]
    fn check(proposal: &Proposal, ask: Ask, expected: Result<Transition, Refusal>) {
        assert_eq!(decide(proposal, ask, NOW), expected, "{proposal:?} asked {ask:?}");
    }

    /// The same past its time, of an older era, and found expired.
    fn past() -> [Proposal; 3] {
        [
            Proposal { expires_at: NOW.at, ..proposal(Pending) },
            Proposal { era: Era(2), ..proposal(Pending) },
            proposal(Expired(NOW.at)),
        ]
    }

    /// Every end but expiry, with its reason.
    const ENDS: [(ProposalState, Refusal); 3] = [
        (Applied(NOW.at), Refusal::AlreadyUsed),
        (Superseded(NOW.at, NEWER), Refusal::Superseded),
        (Dismissed(NOW.at), Refusal::Dismissed),
    ];

    // spec: P5
    #[test]
    fn what_waits_and_is_as_shown_and_bound_is_applied() {
        check(&proposal(Pending), Apply(SOUND), Ok(Transition::Applied));
    }

    // spec: P6
    #[test]
    fn another_fingerprint_is_refused_whatever_became_of_the_proposal() {
        let presented = Standing { presented: OTHER, ..SOUND };
        let unreadable = Standing { computed: None, ..SOUND };
        let changed = Standing { computed: Some(OTHER), ..SOUND };
        let both = Standing { presented: OTHER, computed: Some(OTHER), ..SOUND };
        for state in ENDS.map(|(state, _)| state).into_iter().chain([Pending, Expired(NOW.at)]) {
            for standing in [presented, unreadable, changed, both] {
                check(&proposal(state), Apply(standing), Err(Refusal::FingerprintMismatch));
            }
        }
    }

    // spec: P3 P6
    #[test]
    fn an_end_is_final() {
        for (state, why) in ENDS {
            for ask in [Apply(SOUND), Supersede(NEWER), Dismiss] {
                check(&proposal(state), ask, Err(why));
            }
        }
    }

    // spec: P3 P6 T6
    #[test]
    fn past_its_time_or_of_an_older_era_it_is_neither_applied_nor_dismissed() {
        for proposal in past() {
            check(&proposal, Apply(SOUND), Err(Refusal::Expired));
            check(&proposal, Dismiss, Err(Refusal::Expired));
        }
    }

    // spec: P8 H5
    #[test]
    fn what_a_newer_one_finds_past_its_time_ends_as_expired() {
        let [late, old, found] = past();
        check(&late, Supersede(NEWER), Ok(Transition::Expired));
        check(&old, Supersede(NEWER), Ok(Transition::Expired));
        check(&found, Supersede(NEWER), Err(Refusal::Expired));
        check(&proposal(Pending), Supersede(NEWER), Ok(Transition::Superseded(NEWER)));
    }

    // spec: P5 P6
    #[test]
    fn what_is_seen_of_the_sources_decides_and_the_worst_is_told_first() {
        for (evidence, at_base, after_another) in [
            (Evidence::AsBound, Ok(Transition::Applied), Refusal::RevisionChanged),
            (Evidence::Moved, Err(Refusal::SourcesChanged), Refusal::RevisionChanged),
            (
                Evidence::Unavailable,
                Err(Refusal::EvidenceUnavailable),
                Refusal::EvidenceUnavailable,
            ),
            (Evidence::NotReached, Err(Refusal::RefreshIncomplete), Refusal::RefreshIncomplete),
            (Evidence::Denied, Err(Refusal::AccessRemoved), Refusal::AccessRemoved),
        ] {
            let standing = Standing { evidence, ..SOUND };
            check(&proposal(Pending), Apply(standing), at_base);
            let moved = Standing { accepted: RevisionNo(3), ..standing };
            check(&proposal(Pending), Apply(moved), Err(after_another));
        }
    }

    // spec: P6
    #[test]
    fn reasons_are_told_in_their_order() {
        let order: BTreeSet<Refusal> = Refusal::ALL.into_iter().collect();
        assert_eq!(order.into_iter().collect::<Vec<_>>(), Refusal::ALL);
    }

    /// What becomes of `new` beside these, when that many restores wait.
    fn prepared(
        new: &Proposal,
        waiting: &[Proposal],
        restores: usize,
    ) -> Result<Preparation, TooManyPending> {
        prepare(new, waiting, restores, NOW, &Limits::standard())
    }

    fn new(kind: ProposalKind) -> Proposal {
        Proposal { id: NEWER, kind, ..proposal(Pending) }
    }

    fn restore() -> Proposal {
        Proposal { kind: RESTORE, ..proposal(Pending) }
    }

    // spec: P8
    #[test]
    fn a_repair_takes_the_place_of_an_older_repair_and_of_no_restore() {
        let [repair, restore] = [proposal(Pending), restore()];
        let superseded = Preparation::InPlaceOf(repair.id, Transition::Superseded(NEWER));
        assert_eq!(prepared(&new(REPAIR), &[], 0), Ok(Preparation::New));
        assert_eq!(prepared(&new(REPAIR), &[restore], 20), Ok(Preparation::New));
        assert_eq!(prepared(&new(REPAIR), &[repair, restore], 0), Ok(superseded));
        let expired = Preparation::InPlaceOf(repair.id, Transition::Expired);
        assert_eq!(prepared(&new(REPAIR), &[past()[0]], 0), Ok(expired));
    }

    // spec: H5
    #[test]
    fn the_same_restore_is_the_one_that_waits_and_keeps_its_expiry() {
        let old = restore();
        assert_eq!(prepared(&new(RESTORE), &[old], 20), Ok(Preparation::Waits(old.id)));
        let other = Digest::from_bytes([6; 32]);
        for another in [
            Proposal { kind: ProposalKind::Restore(RevisionNo(2)), ..new(RESTORE) },
            Proposal { base: RevisionNo(3), ..new(RESTORE) },
            Proposal { body: other, ..new(RESTORE) },
            Proposal { binding: other, ..new(RESTORE) },
        ] {
            let superseded = Preparation::InPlaceOf(old.id, Transition::Superseded(NEWER));
            assert_eq!(prepared(&another, &[old], 1), Ok(superseded), "{another:?}");
        }
    }

    // spec: H5
    #[test]
    fn a_restore_past_its_time_is_not_returned() {
        let expired = |old: Proposal| Preparation::InPlaceOf(old.id, Transition::Expired);
        for old in
            [Proposal { expires_at: NOW.at, ..restore() }, Proposal { era: Era(2), ..restore() }]
        {
            assert_eq!(prepared(&new(RESTORE), &[old], 0), Ok(expired(old)));
        }
    }

    // spec: H5
    #[test]
    fn twenty_restores_wait_in_a_workspace_and_one_that_is_replaced_makes_room() {
        let another = Proposal { base: RevisionNo(3), ..new(RESTORE) };
        assert_eq!(prepared(&another, &[], 19), Ok(Preparation::New));
        assert_eq!(prepared(&another, &[], 20), Err(TooManyPending(20)));
        let superseded = Preparation::InPlaceOf(restore().id, Transition::Superseded(NEWER));
        assert_eq!(prepared(&another, &[restore()], 20), Ok(superseded));
        let late = Proposal { expires_at: NOW.at, ..restore() };
        assert_eq!(prepared(&another, &[late], 20), Err(TooManyPending(20)));
    }
}
