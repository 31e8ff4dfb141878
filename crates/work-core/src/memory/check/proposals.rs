//! Proposals and approvals.

use super::{Checked, Draft, first, must};
use crate::port::Change;
use crate::proposal::{Approval, Proposal, ProposalKind, ProposalState};
use crate::time::Now;
use std::sync::Arc;

impl Draft<'_> {
    /// Prepares a proposal, or ends it.
    pub(super) fn proposal(&mut self, change: &Change<Proposal>) -> Checked {
        let new = change.value();
        match self.tables.proposals.replaced_by(&new.id, change)? {
            Some(old) => ends_once(old, new, self.now)?,
            None => self.is_prepared(new)?,
        }
        Arc::make_mut(&mut self.tables.proposals).put(new.id, *new);
        Ok(())
    }

    /// Whether a proposal may begin like this.
    fn is_prepared(&self, new: &Proposal) -> Checked {
        let times = new.expires_at > new.created_at && new.era == self.now.era;
        must(new.state == ProposalState::Pending && times, "a proposal that ended before it was")?;
        self.past(new.created_at)?;
        let result = self.tables.results.value(&new.result);
        let based = result.is_some_and(|result| result.accepted == new.base);
        must(based, "a proposal for another revision than the accepted one")?;
        let content = [new.body, new.dependencies, new.verification, new.scan, new.binding];
        self.documents_exist(&content)?;
        let mut others = self.tables.proposals.oldest_first().map(|kept| kept.value.fingerprint);
        must(others.all(|other| other != new.fingerprint), "two proposals with one fingerprint")?;
        self.kind_is_known(new)
    }

    /// Whether the run or the revision behind a proposal is there.
    fn kind_is_known(&self, new: &Proposal) -> Checked {
        let known = match new.kind {
            ProposalKind::Repair { task, fence } => self.tables.runs.get(&(task, fence)).is_some(),
            ProposalKind::Restore(no) => {
                no <= new.base && self.tables.revisions.contains_key(&(new.result, no))
            }
        };
        must(known, "a proposal out of nothing")
    }

    /// One proposal of a kind waits for a result; an ended one has what ended it.
    pub(super) fn proposal_fits(&self, proposal: &Proposal) -> Checked {
        let now = self.tables.proposals.value(&proposal.id).unwrap_or(proposal);
        match now.state {
            ProposalState::Pending => {
                let mut others = self.tables.proposals.oldest_first().map(|kept| &kept.value);
                first(!others.any(|other| other.id != now.id && waits_beside(other, now)))
            }
            ProposalState::Applied(_) => {
                let became = self.revision_from(now.result, now.id).is_some();
                let approved = self.tables.approvals.contains_key(&now.fingerprint);
                must(became && approved, "an applied proposal without revision or approval")
            }
            ProposalState::Superseded(_, by) => {
                let by = self.tables.proposals.value(&by).filter(|by| by.id != now.id);
                let same =
                    by.is_some_and(|by| by.result == now.result && by.kind.is_like(now.kind));
                must(same, "a proposal superseded by none of its kind")
            }
            ProposalState::Dismissed(_) | ProposalState::Expired(_) => Ok(()),
        }
    }

    /// Uses a fingerprint, once.
    pub(super) fn approval(&mut self, new: &Approval) -> Checked {
        self.past(new.at)?;
        first(!self.tables.approvals.contains_key(&new.fingerprint))?;
        first(self.tables.approvals.values().all(|old| old.proposal != new.proposal))?;
        let proposal = self.tables.proposals.value(&new.proposal);
        let bound = proposal.is_some_and(|proposal| proposal.fingerprint == new.fingerprint);
        must(bound, "an approval of another fingerprint than its proposal's")?;
        Arc::make_mut(&mut self.tables.approvals).insert(new.fingerprint, *new);
        Ok(())
    }

    /// An approval applies its proposal.
    pub(super) fn approval_fits(&self, approval: &Approval) -> Checked {
        let state = self.tables.proposals.value(&approval.proposal).map(|proposal| proposal.state);
        let applied = matches!(state, Some(ProposalState::Applied(_)));
        must(applied, "an approval that applies nothing")
    }
}

/// Whether a proposal is the same and ends now for the first time, in a way that its time allows.
fn ends_once(old: &Proposal, new: &Proposal, now: Now) -> Checked {
    must(old.state == ProposalState::Pending, "a proposal that went on after its end")?;
    must(Proposal { state: old.state, ..*new } == *old, "a proposal that became another")?;
    let lasts = old.lasts(now);
    let (at, in_time) = match new.state {
        ProposalState::Pending => return must(false, "a proposal that changed without an end"),
        ProposalState::Applied(at) => (at, lasts),
        ProposalState::Expired(at) => (at, !lasts),
        ProposalState::Superseded(at, _) | ProposalState::Dismissed(at) => (at, true),
    };
    must(at == now.at && in_time, "a proposal that cannot have ended like this now")
}

/// Whether both would be pending proposals of one kind for one result.
fn waits_beside(other: &Proposal, proposal: &Proposal) -> bool {
    other.state == ProposalState::Pending
        && other.result == proposal.result
        && other.kind.is_like(proposal.kind)
}
