//! Proposals: whether each is what was proposed, and became what it says.

use super::super::case::Case;
use super::super::sheet::Content;
use super::super::{Failure, Moment, Workspace};
use super::{Checkup, Written, check_documents};
use crate::document::stored::Form;
use crate::document::wire::FindingDoc;
use crate::id::ProposalId;
use crate::limits::Limits;
use crate::port::{Kept, Proposals, ReadTx, Revisions, StoreError};
use crate::proposal::{Proposal, ProposalKind, ProposalState};
use crate::result::{Origin, Revision, RevisionNo};

impl Workspace {
    /// Every proposal: a list's worth at a time, and each in a snapshot of its own.
    pub(super) fn check_proposals(&self) -> Result<Vec<FindingDoc>, Failure> {
        let (mut found, mut before) = (Vec::new(), None);
        loop {
            let pick = Proposals::Latest { before, most: self.limits.list };
            let page = self.read(|tx, _| tx.proposals(pick))?;
            for Kept { value, .. } in &page {
                found.extend(self.read(|tx, moment| check(tx, value.id, moment, &self.limits))?);
            }
            match page.last() {
                Some(last) => before = Some(last.value.id),
                None => return Ok(found),
            }
        }
    }
}

/// What is wrong with one proposal: its documents, its fingerprint, its end.
fn check(
    tx: &mut dyn ReadTx,
    id: ProposalId,
    moment: &Moment,
    limits: &Limits,
) -> Result<Vec<FindingDoc>, StoreError> {
    let Some(kept) = tx.proposals(Proposals::Ids(&[id]))?.pop() else { return Ok(Vec::new()) };
    let proposal = kept.value;
    let mut found = check_documents(tx, &written(&proposal), limits)?;
    if !has_its_fingerprint(tx, kept, moment, limits)? {
        let what = format!("the fingerprint of proposal {id} is not what its records give");
        found.push(Checkup::Fingerprint.finding(what));
    }
    if !became_what_it_says(tx, &proposal)? {
        let what = format!("proposal {id} did not become what it says");
        found.push(Checkup::Proposals.finding(what));
    }
    Ok(found)
}

/// Its documents.
fn written(proposal: &Proposal) -> Written {
    Written {
        whose: format!("proposal {}", proposal.id),
        content: Content::from(proposal),
        beside: Some((Form::Binding, proposal.binding)),
    }
}

/// Whether its fingerprint is over what is stored. One that ended before this schema has that of version 1.
fn has_its_fingerprint(
    tx: &mut dyn ReadTx,
    kept: Kept<Proposal>,
    moment: &Moment,
    limits: &Limits,
) -> Result<bool, StoreError> {
    let proposal = kept.value;
    let of_old = proposal.state != ProposalState::Pending
        && proposal.fingerprint_1() == proposal.fingerprint;
    match Case::all(tx, vec![kept], limits) {
        Ok(cases) => {
            let given = cases.first().and_then(|case| case.computed(&moment.head));
            Ok(of_old || given == Some(proposal.fingerprint))
        }
        Err(StoreError::Damaged) => Ok(false),
        Err(failure) => Err(failure),
    }
}

/// Whether what ended it is there: its revision, or the proposal that took its place. A restore is what it brings back.
fn became_what_it_says(tx: &mut dyn ReadTx, proposal: &Proposal) -> Result<bool, StoreError> {
    let ended = match proposal.state {
        ProposalState::Pending | ProposalState::Dismissed(_) | ProposalState::Expired(_) => true,
        ProposalState::Applied(_) => {
            let no = RevisionNo(proposal.base.0.saturating_add(1));
            revision(tx, proposal, no)?.is_some_and(|revision| carries_out(&revision, proposal))
        }
        ProposalState::Superseded(_, by) => {
            let by = tx.proposals(Proposals::Ids(&[by]))?.pop().map(|kept| kept.value);
            by.is_some_and(|by| {
                let like = by.kind.is_like(proposal.kind);
                by.id != proposal.id && by.result == proposal.result && like
            })
        }
    };
    Ok(ended && brings_back(tx, proposal)?)
}

/// Whether a restore proposes what the earlier revision holds.
fn brings_back(tx: &mut dyn ReadTx, proposal: &Proposal) -> Result<bool, StoreError> {
    match proposal.kind {
        ProposalKind::Repair { .. } => Ok(true),
        ProposalKind::Restore(no) => {
            let earlier = revision(tx, proposal, no)?;
            let same = |earlier: Revision| {
                let content = (earlier.body, earlier.dependencies, earlier.verification);
                content == (proposal.body, proposal.dependencies, proposal.verification)
            };
            Ok(earlier.is_some_and(same))
        }
    }
}

/// A revision of a proposal's result.
fn revision(
    tx: &mut dyn ReadTx,
    proposal: &Proposal,
    no: RevisionNo,
) -> Result<Option<Revision>, StoreError> {
    Ok(tx.revisions(Revisions::Keys(&[(proposal.result, no)]))?.pop())
}

/// Whether a revision is what a proposal proposed, and says so.
fn carries_out(revision: &Revision, proposal: &Proposal) -> bool {
    revision.result == proposal.result
        && revision.no.0.checked_sub(1) == Some(proposal.base.0)
        && revision.origin == proposal.origin()
        && Content::from(revision) == Content::from(proposal)
}

/// Whether a revision that somebody approved names a proposal that was applied, and is what that one proposed.
pub(super) fn check_origin(
    tx: &mut dyn ReadTx,
    revision: &Revision,
) -> Result<Option<FindingDoc>, StoreError> {
    let approved = match revision.origin {
        Origin::Published { .. } => return Ok(None),
        Origin::Repaired { proposal, .. } | Origin::Restored { proposal, .. } => proposal,
    };
    let proposal = tx.proposals(Proposals::Ids(&[approved]))?.pop().map(|kept| kept.value);
    let sound = proposal.is_some_and(|proposal| {
        let applied = matches!(proposal.state, ProposalState::Applied(_));
        applied && carries_out(revision, &proposal)
    });
    let what = || {
        let (no, result) = (revision.no.0, revision.result);
        format!("revision {no} of result {result} is not what was approved")
    };
    Ok((!sound).then(|| Checkup::Proposals.finding(what())))
}
