//! `review` and `proposals`: what waits for approval, and what became of it.

use super::case::{self, Case};
use super::list::ListError;
use super::looks::NoProbe;
use super::{Decision, Failure, Moment, Workspace};
use crate::code::{Code, Coded};
use crate::document::wire::{ProposalDoc, ProposalEntry, ProposalsDoc};
use crate::id::ProposalId;
use crate::port::{Kept, Proposals, ReadTx, StoreError, Watch};
use crate::proposal::{Proposal, Refusal};
use crate::time::Now;
use std::sync::Arc;

/// Why a proposal is not shown. A hidden one is shown, as a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposalError {
    /// There is no proposal of this id.
    #[error("there is no such proposal")]
    Unknown,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ProposalError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Coded for Refusal {
    fn code(&self) -> Code {
        match self {
            Self::FingerprintMismatch => Code::FingerprintMismatch,
            Self::AlreadyUsed => Code::AlreadyUsed,
            Self::Superseded => Code::Superseded,
            Self::Dismissed => Code::Dismissed,
            Self::Expired => Code::Expired,
            Self::AccessRemoved => Code::AccessRemoved,
            Self::RefreshIncomplete => Code::RefreshIncomplete,
            Self::EvidenceUnavailable => Code::EvidenceUnavailable,
            Self::RevisionChanged => Code::RevisionChanged,
            Self::SourcesChanged => Code::SourcesChanged,
        }
    }
}

impl Workspace {
    /// One proposal with both bodies and their exact difference, and whether it could be applied now. The sources of
    /// both are looked at first, read again to the byte. One that must not be seen is answered as a stub.
    ///
    /// # Errors
    /// [`ProposalError`]: no such proposal, or a failure.
    pub fn proposal(
        &self,
        id: ProposalId,
        watch: &mut dyn Watch,
    ) -> Result<ProposalDoc, ProposalError> {
        let case = self.read(|tx, _| Case::load(tx, id, &self.limits))?;
        let case = case.ok_or(ProposalError::Unknown)?;
        let looked = case.scene.look(self, Arc::new(NoProbe), watch);
        let mut late = false;
        let shown = self.deliver_at_roots(&case.scene.concerned(), |tx, moment, roots| {
            let Some(case) = Case::load(tx, id, &self.limits)? else {
                return Ok(Err(ProposalError::Unknown));
            };
            late |= case::tells_expiry(&case.proposal.value, stored_now(tx)?, moment.now);
            let bodies = case.bodies(tx, &self.limits)?;
            let access = case.scene.access(&looked, roots);
            let evidence = case.evidence(&access, &looked);
            Ok(Ok(case.document(&bodies, &access, evidence, moment, &self.limits)))
        })??;
        self.keep(&looked, Vec::new());
        if late {
            self.keep_time()?;
        }
        Ok(shown)
    }

    /// The latest proposals, 100 at a time; `cursor` is the `next` of the list before. Lists do not look: whether one
    /// could be applied is told as far as it is known. Those that must not be seen are left out, so that a list may come
    /// short and have a cursor.
    ///
    /// # Errors
    /// [`ListError`]: a cursor of another list, or a failure.
    pub fn proposals(&self, cursor: Option<&str>) -> Result<ProposalsDoc, ListError> {
        let before = cursor.map(read_cursor).transpose()?;
        let most = self.limits.list;
        let mut late = false;
        let listed = self.deliver(|tx, moment| {
            let mut found = tx.proposals(Proposals::Latest { before, most: most + 1 })?;
            let more = found.len() > most as usize;
            found.truncate(most as usize);
            let next = found.last().filter(|_| more).map(|last| write_cursor(last.value.id));
            let stored = stored_now(tx)?;
            late |= found.iter().any(|one| case::tells_expiry(&one.value, stored, moment.now));
            Ok(Ok(ProposalsDoc { proposals: self.proposal_entries(tx, found, moment)?, next }))
        })?;
        if late {
            self.keep_time()?;
        }
        listed
    }

    /// Proposals as a list shows them, without those that must not be seen.
    pub(super) fn proposal_entries(
        &self,
        tx: &mut dyn ReadTx,
        found: Vec<Kept<Proposal>>,
        moment: &Moment,
    ) -> Result<Vec<ProposalEntry>, StoreError> {
        let cases = Case::all(tx, found, &self.limits)?;
        let Some(access) = cases.first().map(|case| case::as_stored(&case.scene)) else {
            return Ok(Vec::new());
        };
        let entry = |case: &Case| case.entry(&access, case.known_evidence(&access), moment).ok();
        Ok(cases.iter().filter_map(entry).collect())
    }

    /// Stores the time as it is now, so that an end that is told stays one. On a disk that cannot be written it is told
    /// all the same, and not kept.
    pub(super) fn keep_time(&self) -> Result<(), Failure> {
        let kept = self
            .act::<_, _, std::convert::Infallible>(|_, _| Ok(()), |(), _| Ok(Decision::time(())));
        match kept {
            Ok(_) | Err(Failure::Store(StoreError::ReadOnly | StoreError::DiskFull)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

/// The time that is stored.
pub(super) fn stored_now(tx: &mut dyn ReadTx) -> Result<Now, StoreError> {
    Ok(tx.head()?.0.anchor.now())
}

/// The cursor of the list of proposals: `proposals.ID`.
fn write_cursor(id: ProposalId) -> String {
    format!("proposals.{id}")
}

fn read_cursor(cursor: &str) -> Result<ProposalId, ListError> {
    let id = cursor.strip_prefix("proposals.").and_then(|id| id.parse().ok());
    id.ok_or(ListError::InvalidCursor)
}
