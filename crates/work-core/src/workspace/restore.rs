//! `restore`: a proposal that brings an earlier revision back. No query runs, no source changes.

use super::case::{self, Case};
use super::compare::Pair;
use super::deliver::Roots;
use super::looks::{self, Looked, NoProbe};
use super::prepare::{self, Draft};
use super::proposals::ProposalError;
use super::{Decision, Failure, Moment, Workspace};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::stored::TooLarge;
use crate::document::wire::ProposalDoc;
use crate::id::{ProposalId, ResultId};
use crate::limits::Limits;
use crate::port::{Kept, Proposals, ReadTx, StoreError, Watch};
use crate::proposal::{self, Preparation, Proposal, ProposalKind, TooManyPending};
use crate::redact::{Access, Withheld};
use crate::result::RevisionNo;
use std::sync::Arc;

/// A restore that waits for approval.
#[derive(Clone, Debug, PartialEq)]
pub struct Restore {
    /// The proposal.
    pub proposal: ProposalDoc,
    /// Whether it was made now, or the same one waited already.
    pub prepared: Prepared,
}

/// Whether a proposal is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It was made now.
    Now,
    /// The same one waited already, and keeps its expiry.
    Before,
}

/// Why no restore was prepared. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// There is no result of this id.
    #[error("there is no such result")]
    Unknown,
    /// The result has no revision of this number.
    #[error("the result has no revision {}", .0.0)]
    UnknownRevision(RevisionNo),
    /// This revision is the accepted one.
    #[error("revision {} is the accepted one", .0.0)]
    AlreadyAccepted(RevisionNo),
    /// A source of either body cannot be read now.
    #[error(transparent)]
    Withheld(Withheld),
    /// Not every source could be looked at in time.
    #[error("not every source could be looked at in time")]
    RefreshIncomplete,
    /// As many restores wait as may.
    #[error(transparent)]
    TooManyPending(#[from] TooManyPending),
    /// The record of what it binds does not fit its limit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// It was prepared and cannot be shown.
    #[error(transparent)]
    Show(#[from] ProposalError),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for RestoreError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown | Self::UnknownRevision(_) => Code::NotFound,
            Self::AlreadyAccepted(_) => Code::InvalidArgument,
            Self::Withheld(Withheld::AccessRemoved) => Code::AccessRemoved,
            Self::Withheld(Withheld::EvidenceUnavailable) => Code::EvidenceUnavailable,
            Self::RefreshIncomplete => Code::RefreshIncomplete,
            Self::TooManyPending(_) => Code::TooManyPending,
            Self::TooLarge(_) => Code::TooLarge,
            Self::Show(cause) => cause.code(),
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// What is known when a restore is prepared.
struct Known {
    pair: Option<Pair>,
    stored: looks::Stored,
    /// Proposals of the result in state pending.
    waiting: Vec<Kept<Proposal>>,
    /// Unexpired restores that wait in the workspace.
    restores: usize,
}

impl Workspace {
    /// Prepares to bring revision `no` of a result back: a proposal that binds both bodies and what is seen of their
    /// sources now, or the same one if it waits already. The sources of both are read again to the byte first. The
    /// accepted revision does not change.
    ///
    /// A readable source that differs from the earlier version permits a restore, of a stale body, and the proposal says
    /// so.
    ///
    /// # Errors
    /// [`RestoreError`]: no such result or revision, a source that cannot be read, too many that wait, or a failure.
    pub fn restore(
        &self,
        id: ResultId,
        no: RevisionNo,
        watch: &mut dyn Watch,
    ) -> Result<Restore, RestoreError> {
        let pair = self.read(|tx, _| Pair::load(tx, id, no, &self.limits))?;
        let pair = pair.ok_or(RestoreError::Unknown)?;
        let looked = pair.scene.look(self, Arc::new(NoProbe), watch);
        let fresh = self.fresh(ProposalId::from_bytes);
        let (proposal, prepared) = self.act(
            |tx, moment| self.restorable(tx, id, no, &looked, moment),
            |known, moment| decide(known, fresh, &looked, moment, &self.limits),
        )??;
        Ok(Restore { proposal: self.proposal(proposal, watch)?, prepared })
    }

    fn restorable(
        &self,
        tx: &mut dyn ReadTx,
        id: ResultId,
        no: RevisionNo,
        looked: &[Looked],
        moment: &Moment,
    ) -> Result<Known, StoreError> {
        Ok(Known {
            pair: Pair::load(tx, id, no, &self.limits)?,
            stored: looks::stored(tx, looked)?,
            waiting: tx.proposals(Proposals::PendingOf(id))?,
            restores: waiting_restores(tx, moment, &self.limits)?,
        })
    }
}

/// Restores that are looked through for those that wait: far more than may be visible.
const RESTORES: u32 = 1000;

/// How many restores wait that may be seen: one that lost to another proposal waits for nobody, and one that is hidden
/// must not be told by a refusal.
fn waiting_restores(
    tx: &mut dyn ReadTx,
    moment: &Moment,
    limits: &Limits,
) -> Result<usize, StoreError> {
    let (era, ending_after) = (moment.now.era, moment.now.at);
    let most = limits.page.min(RESTORES);
    let restores = tx.proposals(Proposals::PendingRestores { era, ending_after, most })?;
    let cases = Case::all(tx, restores, limits)?;
    let access = cases.first().map(|case| case::as_stored(&case.scene));
    let waits = |case: &&Case| access.as_ref().is_some_and(|access| case.waits(access));
    Ok(cases.iter().filter(waits).count())
}

/// Which proposal waits, and what is written for it.
fn decide(
    known: Known,
    id: ProposalId,
    looked: &[Looked],
    moment: &Moment,
    limits: &Limits,
) -> Result<Decision<(ProposalId, Prepared)>, RestoreError> {
    let pair = known.pair.ok_or(RestoreError::Unknown)?;
    let access = pair.scene.access(looked, &Roots::new());
    refuse(&pair, &access, looked, limits)?;
    let binding = prepare::binding(pair.sources(), &access).map_err(RestoreError::Withheld)?;
    let (kind, content) = (ProposalKind::Restore(pair.selected.no), pair.selected_sheet.content);
    let draft = Draft { id, kind, base: &pair.accepted, content, binding: &binding };
    let (proposal, written) = draft.propose(moment, limits)?;
    let waiting: Vec<Proposal> = known.waiting.iter().map(|kept| kept.value).collect();
    let noted = looks::notes(looked, &known.stored, &pair.scene.grants, moment);
    let decision = match proposal::prepare(&proposal, &waiting, known.restores, moment.now, limits)?
    {
        Preparation::Waits(same) => Decision::nothing((same, Prepared::Before)),
        new @ (Preparation::New | Preparation::InPlaceOf(..)) => {
            let kind = EventKind::ProposalPrepared { proposal: id, result: proposal.result };
            let puts = prepare::puts(written, proposal, &known.waiting, new, moment);
            Decision::act((id, Prepared::Now), kind, puts)
        }
    };
    Ok(decision.with_looks(noted))
}

/// Refuses what cannot be restored now. Of a hidden result it does not show whether a revision is there.
fn refuse(
    pair: &Pair,
    access: &Access,
    looked: &[Looked],
    limits: &Limits,
) -> Result<(), RestoreError> {
    if let Some(missing) = pair.missing().filter(|_| !pair.hides(access)) {
        return Err(RestoreError::UnknownRevision(missing));
    }
    let unreadable = Err(RestoreError::Withheld(Withheld::EvidenceUnavailable));
    let telling = pair.telling(access);
    let reached = pair.scene.were_reached(&telling, looked);
    match access.comparable(telling) {
        Err(Withheld::AccessRemoved) => Err(RestoreError::Withheld(Withheld::AccessRemoved)),
        Ok(()) | Err(_) if !reached => Err(RestoreError::RefreshIncomplete),
        Err(why) => Err(RestoreError::Withheld(why)),
        Ok(()) if pair.selected.no == pair.accepted.no => {
            Err(RestoreError::AlreadyAccepted(pair.accepted.no))
        }
        Ok(()) if !pair.is_readable(limits) => unreadable,
        Ok(()) => Ok(()),
    }
}
