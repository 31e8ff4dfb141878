//! A case: a proposal with all that it binds and all that its showing rests on, as read in one snapshot.

use super::deliver::Roots;
use super::looks::{self, Looked, Scene};
use super::sheet::{Content, Sheet};
use super::{Moment, answer};
use crate::code::Coded as _;
use crate::difference;
use crate::document::stored::{self, Binding};
use crate::document::wire::{ProposalDoc, ProposalEntry};
use crate::id::{ProposalId, SourceId};
use crate::limits::Limits;
use crate::port::{
    Head, Kept, Proposals, Quotations, Quoted, ReadTx, Results, Revisions, StoreError,
};
use crate::proposal::{self, Ask, Bound, Evidence, Fingerprint, Proposal, ProposalState, Standing};
use crate::redact::{self, Access, MustRead};
use crate::result::{Cited, ResultState, Revision, WorkResult};
use crate::time::Now;
use std::collections::BTreeSet;

/// A proposal with what it is about.
pub(super) struct Case {
    pub(super) proposal: Kept<Proposal>,
    pub(super) result: Kept<WorkResult>,
    /// Quotations of the revision that is accepted now: what shows rests on them too.
    accepted: Vec<Quoted>,
    /// The revision that it was made for.
    base: Revision,
    base_sheet: Sheet,
    pub(super) proposed: Sheet,
    /// What it binds of sources; `None` if the record of it cannot be read.
    binding: Option<Binding>,
    /// The sources of all of that.
    pub(super) scene: Scene,
}

impl Case {
    /// Reads one proposal with all of it, if there is one of this id.
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        id: ProposalId,
        limits: &Limits,
    ) -> Result<Option<Self>, StoreError> {
        match tx.proposals(Proposals::Ids(&[id]))?.pop() {
            Some(proposal) => Self::of(tx, proposal, limits).map(Some),
            None => Ok(None),
        }
    }

    /// Reads all of a proposal.
    pub(super) fn of(
        tx: &mut dyn ReadTx,
        proposal: Kept<Proposal>,
        limits: &Limits,
    ) -> Result<Self, StoreError> {
        let Proposal { result, base, binding, .. } = proposal.value;
        let found = tx.results(Results::Ids(&[result]))?.pop().ok_or(StoreError::Damaged)?;
        let base = tx.revisions(Revisions::Keys(&[(result, base)]))?.pop();
        let base = base.ok_or(StoreError::Damaged)?;
        let base_sheet = Sheet::load(tx, Content::from(&base), limits)?;
        let proposed = Sheet::load(tx, Content::from(&proposal.value), limits)?;
        let binding = tx.documents(&[binding], limits.binding_bytes)?.pop();
        let binding = binding.and_then(|(digest, sealed)| {
            stored::read_binding((digest, &redact::for_checking(sealed)), limits)
        });
        let accepted = tx.quotations(Quotations::Of(&[result]))?;
        let now = accepted.iter().map(|one| one.cited.source);
        let sources: Vec<SourceId> = now.chain(of(&base_sheet)).chain(of(&proposed)).collect();
        let scene = Scene::load(tx, sources)?;
        Ok(Self { proposal, result: found, accepted, base, base_sheet, proposed, binding, scene })
    }

    /// The fingerprint that the stored records give, if they can be read and bind the sources of both bodies.
    pub(super) fn computed(&self, head: &Head) -> Option<Fingerprint> {
        let both: BTreeSet<SourceId> = of(&self.base_sheet).chain(of(&self.proposed)).collect();
        let readable =
            [&self.base_sheet, &self.proposed].iter().all(|sheet| sheet.dependencies.is_some());
        let binding = self.binding.as_ref().filter(|binding| {
            readable && binding.0.iter().map(|bound| bound.source_id).eq(both.iter().copied())
        })?;
        Some(bound(&self.proposal.value, &self.base, head, binding).fingerprint())
    }

    /// What is seen of the sources of both bodies beside what is bound: the worst of it.
    pub(super) fn evidence(&self, access: &Access, looked: &[Looked]) -> Evidence {
        let looked = looks::by_source(looked);
        let grants = &self.scene.grants;
        self.evidence_of(access, |source| {
            looked.get(&source).is_some_and(|one| one.reached(grants))
        })
    }

    /// The same of what is stored, for whoever does not look.
    pub(super) fn known_evidence(&self, access: &Access) -> Evidence {
        self.evidence_of(access, |_| true)
    }

    fn evidence_of(&self, access: &Access, reached: impl Fn(SourceId) -> bool) -> Evidence {
        let proposed: BTreeSet<SourceId> = of(&self.proposed).collect();
        let restores = self.proposal.value.kind.restores().is_some();
        let bound = self.binding.iter().flat_map(|binding| &binding.0);
        let one = |bound: &stored::BoundSource| {
            let source = bound.source_id;
            let must_read =
                if restores || proposed.contains(&source) { MustRead::Yes } else { MustRead::No };
            let seen = access.beside(source, bound.version, must_read);
            if reached(source) { seen } else { seen.max(Evidence::NotReached) }
        };
        bound.map(one).max().unwrap_or(Evidence::Unavailable)
    }

    /// What is true of it now, for whoever presents this fingerprint.
    pub(super) fn standing(
        &self,
        presented: Fingerprint,
        head: &Head,
        evidence: Evidence,
    ) -> Standing {
        let accepted = self.result.value.accepted;
        Standing { presented, computed: self.computed(head), accepted, evidence }
    }

    /// The proposal as a list shows it, as far as this may be seen.
    ///
    /// # Errors
    /// The state that a stub tells, if anything that it rests on must not be seen.
    pub(super) fn entry(
        &self,
        access: &Access,
        evidence: Evidence,
        moment: &Moment,
    ) -> Result<ProposalEntry, ResultState> {
        let proposal = &self.proposal.value;
        let result_state = self.visible_state(access)?;
        let standing = self.standing(proposal.fingerprint, &moment.head, evidence);
        let refusal = proposal::decide(proposal, Ask::Apply(standing), moment.now).err();
        Ok(ProposalEntry {
            proposal_id: proposal.id,
            kind: Some(proposal.kind.as_str()),
            artifact_id: proposal.result,
            state: proposal.standing(moment.now),
            base_revision: Some(proposal.base),
            restore_revision: proposal.kind.restores(),
            result_state: Some(result_state),
            can_apply: Some(refusal.is_none()),
            rejection_reason: refusal.map(|why| why.code().as_str()),
            fingerprint: Some(proposal.fingerprint),
            created_at: Some(proposal.created_at),
            expires_at: Some(proposal.expires_at),
        })
    }

    /// What the proposed body is worth, if the accepted one, the one it was made for and itself may all be seen.
    fn visible_state(&self, access: &Access) -> Result<ResultState, ResultState> {
        let accepted: Vec<Cited> = self.accepted.iter().map(|one| one.cited).collect();
        let [accepted, base, proposed] = [accepted, self.base_sheet.cited(), self.proposed.cited()]
            .map(|cited| access.state(answer::pairs(&cited)));
        let worst = accepted.max(base).max(proposed);
        let restores = self.proposal.value.kind.restores().is_some();
        let both = || of(&self.base_sheet).chain(of(&self.proposed));
        let beyond = restores && access.comparable(both()).is_err();
        if worst.hides() || beyond { Err(answer::unless_hidden(worst)) } else { Ok(proposed) }
    }

    /// The proposal as a document; a stub if anything that it rests on must not be seen.
    pub(super) fn document(
        &self,
        access: &Access,
        evidence: Evidence,
        moment: &Moment,
        limits: &Limits,
    ) -> ProposalDoc {
        let Proposal { id, result, body, .. } = self.proposal.value;
        let open =
            |sheet: &Sheet| sheet.open(access, limits).ok_or(ResultState::EvidenceUnavailable);
        let shown = self.entry(access, evidence, moment).and_then(|entry| {
            let (base, proposed) = (open(&self.base_sheet)?, open(&self.proposed)?);
            let difference = difference::between(&base.body, &proposed.body);
            let accepted = base.side(Some(self.base.no), self.base.body, access);
            Ok(ProposalDoc::shown(entry, accepted, proposed.side(None, body, access), difference))
        });
        shown.unwrap_or_else(|why| ProposalDoc::hidden(id, result, why.as_str()))
    }
}

/// What is bound of a proposal made for `base`.
pub(super) fn bound<'a>(
    proposal: &Proposal,
    base: &Revision,
    head: &Head,
    observed: &'a Binding,
) -> Bound<'a> {
    Bound {
        proposal: proposal.id,
        kind: proposal.kind,
        workspace: head.workspace,
        owner: head.owner,
        result: proposal.result,
        base: base.no,
        base_body: base.body,
        body: proposal.body,
        dependencies: proposal.dependencies,
        verification: proposal.verification,
        scan: proposal.scan,
        observed,
        created_at: proposal.created_at,
        expires_at: proposal.expires_at,
    }
}

/// The sources of a sheet.
pub(super) fn of(sheet: &Sheet) -> impl Iterator<Item = SourceId> + use<> {
    sheet.cited().into_iter().map(|cited| cited.source)
}

/// Whether an answer tells that a proposal has expired though the time that is stored says that it lasts. Told must
/// mean ended, so such an answer first stores the time.
pub(super) fn tells_expiry(proposal: &Proposal, stored: Now, now: Now) -> bool {
    proposal.state == ProposalState::Pending && proposal.lasts(stored) && !proposal.lasts(now)
}

/// Access for whoever does not look: what is stored, and no roots.
pub(super) fn as_stored(scene: &Scene) -> Access {
    scene.access(&[], &Roots::new())
}
