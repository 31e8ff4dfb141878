//! Results, revisions and the quotations of the accepted ones.

use super::{Checked, Draft, first, goes_on, must};
use crate::id::{ProposalId, ResultId};
use crate::memory::tables::Accepted;
use crate::plant::{Fault, is_planted};
use crate::port::Change;
use crate::proposal::{Proposal, ProposalKind, ProposalState};
use crate::result::{Cited, Origin, Revision, RevisionNo, WorkResult};
use crate::task::Fence;
use crate::time::Now;
use std::sync::Arc;

impl Draft<'_> {
    /// Publishes a result, or moves it to its next revision.
    pub(super) fn result(&mut self, change: &Change<WorkResult>) -> Checked {
        let new = change.value();
        match self.tables.results.replaced_by(&new.id, change)? {
            Some(old) => moves_on(old, new, self.now)?,
            None => {
                must(new.accepted == RevisionNo::FIRST, "a result that does not begin at 1")?;
                must(new.created_at == new.updated_at, "a result that changed before it was")?;
                self.scope_exists(&new.query, &new.scope)?;
            }
        }
        self.past(new.updated_at)?;
        Arc::make_mut(&mut self.tables.results).put(new.id, new.clone());
        Ok(())
    }

    /// The accepted revision is there and the latest; its quotations take the place of those before.
    pub(super) fn result_fits(&mut self, result: &WorkResult) -> Checked {
        let latest = self.tables.revisions_of(result.id).next_back();
        let (revision, cited) = match latest {
            Some((revision, cited)) => (revision.no, Arc::clone(cited)),
            None => return must(false, "a result without a revision"),
        };
        must(revision == result.accepted, "a result whose latest revision is not accepted")?;
        let quotations = Arc::make_mut(&mut self.tables.quotations);
        quotations.retain(|(of, _), _| *of != result.id);
        let rows =
            cited.iter().map(|&cited| ((result.id, cited.n), Accepted { cited, finding: None }));
        quotations.extend(rows);
        Ok(())
    }

    /// Adds a revision: the next number, its documents and sources known, its origin true.
    pub(super) fn revision(&mut self, new: &Revision, cited: &[Cited]) -> Checked {
        must(self.tables.results.get(&new.result).is_some(), "a revision without its result")?;
        let latest = self.tables.revisions_of(new.result).next_back().map(|(latest, _)| *latest);
        let next = latest.map_or(1, |latest| latest.no.0 + 1);
        first(new.no.0 >= next)?;
        must(new.no.0 == next, "a gap between revisions")?;
        must(
            latest.is_none_or(|old| goes_on(old.created_at, new.created_at, self.now)),
            "a revision before the last",
        )?;
        self.past(new.created_at)?;
        self.documents_exist(&[new.body, new.dependencies, new.verification, new.scan])?;
        self.sources_exist(cited)?;
        self.origin(new, cited)?;
        let key = (new.result, new.no);
        Arc::make_mut(&mut self.tables.revisions).insert(key, (*new, cited.into()));
        if is_planted(Fault::LostRevision) {
            let before = (new.result, RevisionNo(new.no.0 - 1));
            Arc::make_mut(&mut self.tables.revisions).remove(&before);
        }
        Ok(())
    }

    /// Whether quotations are numbered from 1 and quote known sources.
    fn sources_exist(&self, cited: &[Cited]) -> Checked {
        must(!cited.is_empty(), "a revision that quotes nothing")?;
        let numbered = cited.iter().zip(1..).all(|(cited, n)| cited.n == n);
        must(numbered, "quotations that are not numbered from 1")?;
        let known = cited.iter().all(|cited| self.tables.sources.contains_key(&cited.source));
        must(known, "a quotation without its source")
    }

    /// Whether a revision came to be as it says.
    fn origin(&self, new: &Revision, cited: &[Cited]) -> Checked {
        match new.origin {
            Origin::Published { task, fence } => {
                must(new.no == RevisionNo::FIRST, "a later revision that nobody approved")?;
                must(self.tables.runs.get(&(task, fence)).is_some(), "a revision without its run")
            }
            Origin::Repaired { task, fence, proposal } => {
                let proposal = self.approved(new, proposal)?;
                let kind = ProposalKind::Repair { task, fence };
                must(proposal.kind == kind, "a repair that its proposal did not propose")
            }
            Origin::Restored { proposal, from } => {
                let proposal = self.approved(new, proposal)?;
                let kind = ProposalKind::Restore(from);
                must(proposal.kind == kind, "a restore that its proposal did not propose")?;
                self.brings_back(new, cited, from)
            }
        }
    }

    /// The proposal that a revision carries out: of this result and its last revision, and for the first time.
    fn approved(&self, new: &Revision, id: ProposalId) -> Checked<&Proposal> {
        first(self.revision_from(new.result, id).is_none())?;
        let Some(proposal) = self.tables.proposals.value(&id) else {
            return Err(missing("a revision without its proposal"));
        };
        let documents =
            (proposal.body, proposal.dependencies, proposal.verification, proposal.scan);
        let mine = (new.body, new.dependencies, new.verification, new.scan);
        must(documents == mine, "a revision that is not what was proposed")?;
        must(proposal.result == new.result, "a proposal for another result")?;
        must(proposal.base.0 + 1 == new.no.0, "a proposal for another revision")?;
        Ok(proposal)
    }

    /// Whether a restored revision is the earlier one over again.
    fn brings_back(&self, new: &Revision, cited: &[Cited], from: RevisionNo) -> Checked {
        let Some((old, quoted)) = self.tables.revisions.get(&(new.result, from)) else {
            return Err(missing("a restore of a revision that never was"));
        };
        let content = |r: &Revision| (r.body, r.dependencies, r.verification);
        must(content(old) == content(new), "a restore with another content")?;
        must(**quoted == *cited, "a restore with other quotations")
    }

    /// The revision that a proposal became.
    pub(super) fn revision_from(
        &self,
        result: ResultId,
        proposal: ProposalId,
    ) -> Option<&Revision> {
        let from = |origin: Origin| match origin {
            Origin::Published { .. } => None,
            Origin::Repaired { proposal, .. } | Origin::Restored { proposal, .. } => Some(proposal),
        };
        let mut all = self.tables.revisions_of(result).map(|(revision, _)| revision);
        all.find(|revision| from(revision.origin) == Some(proposal))
    }

    /// A new revision is accepted, and the proposal behind it applied.
    pub(super) fn revision_fits(&self, revision: &Revision) -> Checked {
        let result = self.tables.results.value(&revision.result);
        let accepted = result.is_some_and(|result| result.accepted == revision.no);
        must(accepted, "a revision that its result does not accept")?;
        match revision.origin {
            Origin::Published { .. } => Ok(()),
            Origin::Repaired { proposal, .. } | Origin::Restored { proposal, .. } => {
                let state = self.tables.proposals.value(&proposal).map(|proposal| proposal.state);
                let applied = matches!(state, Some(ProposalState::Applied(_)));
                must(applied, "a revision from a proposal that was not applied")
            }
        }
    }

    /// Whether that run published that revision.
    pub(super) fn published(
        &self,
        by: (crate::id::TaskId, Fence),
        at: (ResultId, RevisionNo),
    ) -> bool {
        let origin = Origin::Published { task: by.0, fence: by.1 };
        self.tables.revisions.get(&at).is_some_and(|(revision, _)| revision.origin == origin)
    }
}

/// Whether a result may become this: only its accepted revision moves, by one.
fn moves_on(old: &WorkResult, new: &WorkResult, now: Now) -> Checked {
    let fixed = WorkResult { accepted: old.accepted, updated_at: old.updated_at, ..new.clone() };
    must(fixed == *old, "a result that became another")?;
    must(new.accepted.0 == old.accepted.0 + 1, "a result that did not move to its next revision")?;
    must(goes_on(old.updated_at, new.updated_at, now), "a result that went back in time")
}

/// A fault: something named is not there.
fn missing(why: &'static str) -> crate::port::CommitError {
    crate::port::CommitError::NotDone(crate::port::StoreError::Internal(why))
}
