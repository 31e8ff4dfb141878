//! A case: a proposal with all that it binds and all that its showing rests on, as read in one snapshot.

use super::deliver::Roots;
use super::looks::{self, Looked, Scene};
use super::sheet::{Content, Sheet};
use super::{Moment, answer};
use crate::code::Coded as _;
use crate::difference;
use crate::digest::Digest;
use crate::document::stored::{self, Binding, Dependencies};
use crate::document::wire::{ProposalDoc, ProposalEntry};
use crate::id::{ProposalId, ResultId, SourceId};
use crate::limits::Limits;
use crate::port::{
    Document, Head, Kept, Proposals, Quotations, ReadTx, Results, Revisions, StoreError,
};
use crate::proposal::{self, Ask, Bound, Evidence, Fingerprint, Proposal, ProposalState, Standing};
use crate::redact::{self, Access, MustRead};
use crate::result::{Cited, ResultState, Revision, RevisionNo, WorkResult};
use crate::time::Now;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A proposal with what it is about. Its bodies are loaded apart, by whoever shows them.
pub(super) struct Case {
    pub(super) proposal: Kept<Proposal>,
    pub(super) result: Kept<WorkResult>,
    /// What the revision that is accepted now rests on: what shows rests on it too.
    accepted: Vec<Cited>,
    /// The revision that it was made for.
    base: Revision,
    /// What that revision rests on, and what is proposed; `None` if a record of it cannot be read.
    base_rests_on: Option<Dependencies>,
    rests_on: Option<Dependencies>,
    /// What it binds of sources; `None` if the record of it cannot be read.
    binding: Option<Binding>,
    /// The sources of all of that, and of the other cases that were read with it.
    pub(super) scene: Arc<Scene>,
}

/// Both bodies of a case, sealed.
pub(super) struct Bodies {
    base: Sheet,
    proposed: Sheet,
}

impl Case {
    /// Reads one proposal with what it is about, if there is one of this id.
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        id: ProposalId,
        limits: &Limits,
    ) -> Result<Option<Self>, StoreError> {
        let found = tx.proposals(Proposals::Ids(&[id]))?;
        Ok(Self::all(tx, found, limits)?.pop())
    }

    /// Reads what these proposals are about: so many questions for all of them together.
    pub(super) fn all(
        tx: &mut dyn ReadTx,
        proposals: Vec<Kept<Proposal>>,
        limits: &Limits,
    ) -> Result<Vec<Self>, StoreError> {
        let of_result: BTreeSet<ResultId> = proposals.iter().map(|one| one.value.result).collect();
        let ids: Vec<ResultId> = of_result.into_iter().collect();
        let results: BTreeMap<ResultId, Kept<WorkResult>> =
            tx.results(Results::Ids(&ids))?.into_iter().map(|one| (one.value.id, one)).collect();
        let mut accepted: BTreeMap<ResultId, Vec<Cited>> = BTreeMap::new();
        for one in tx.quotations(Quotations::Of(&ids))? {
            accepted.entry(one.result).or_default().push(one.cited);
        }
        let keys: Vec<_> = proposals.iter().map(|one| (one.value.result, one.value.base)).collect();
        let bases = tx.revisions(Revisions::Keys(&keys))?;
        let read = Records::load(tx, &proposals, &bases, limits)?;
        let rest_on = read.dependencies.values().flat_map(Dependencies::rests_on);
        let cited = accepted.values().flatten().map(|cited| cited.source);
        let sources: Vec<SourceId> = rest_on.map(|(source, _)| source).chain(cited).collect();
        let scene = Arc::new(Scene::load(tx, sources)?);
        let bases: BTreeMap<(ResultId, RevisionNo), Revision> =
            bases.into_iter().map(|base| ((base.result, base.no), base)).collect();
        let case = |proposal: Kept<Proposal>| {
            let Proposal { result, base, dependencies, binding, .. } = proposal.value;
            let base = *bases.get(&(result, base)).ok_or(StoreError::Damaged)?;
            Ok(Self {
                result: results.get(&result).cloned().ok_or(StoreError::Damaged)?,
                accepted: accepted.get(&result).cloned().unwrap_or_default(),
                base_rests_on: read.dependencies.get(&base.dependencies).cloned(),
                rests_on: read.dependencies.get(&dependencies).cloned(),
                binding: read.bindings.get(&binding).cloned(),
                scene: Arc::clone(&scene),
                base,
                proposal,
            })
        };
        proposals.into_iter().map(case).collect()
    }

    /// Reads both bodies.
    pub(super) fn bodies(
        &self,
        tx: &mut dyn ReadTx,
        limits: &Limits,
    ) -> Result<Bodies, StoreError> {
        let base = Sheet::load(tx, Content::from(&self.base), limits)?;
        let proposed = Sheet::load(tx, Content::from(&self.proposal.value), limits)?;
        Ok(Bodies { base, proposed })
    }

    /// Whether the proposed body can be read.
    pub(super) fn is_readable(
        &self,
        tx: &mut dyn ReadTx,
        limits: &Limits,
    ) -> Result<bool, StoreError> {
        let body = tx.documents(&[self.proposal.value.body], limits.body_bytes)?.pop();
        let read = body.zip(self.rests_on.as_ref()).and_then(|((digest, sealed), rests_on)| {
            stored::read_body((digest, &redact::for_checking(sealed)), rests_on, limits)
        });
        Ok(read.is_some())
    }

    /// What the proposed body cites.
    pub(super) fn cited(&self) -> Vec<Cited> {
        cited(self.rests_on.as_ref())
    }

    /// The sources of both bodies.
    fn both(&self) -> BTreeSet<SourceId> {
        let both = [self.base_rests_on.as_ref(), self.rests_on.as_ref()];
        both.into_iter().flat_map(cited).map(|cited| cited.source).collect()
    }

    /// The fingerprint that the stored records give, if they can be read and bind the sources of both bodies.
    pub(super) fn computed(&self, head: &Head) -> Option<Fingerprint> {
        let readable = self.base_rests_on.is_some() && self.rests_on.is_some();
        let binding = self.binding.as_ref().filter(|binding| {
            let sources = binding.0.iter().map(|bound| bound.source_id);
            readable && sources.eq(self.both())
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
        let proposed: BTreeSet<SourceId> =
            self.cited().into_iter().map(|cited| cited.source).collect();
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

    /// Whether it may be seen, and is for the revision that is accepted.
    pub(super) fn waits(&self, access: &Access) -> bool {
        self.result.value.accepted == self.proposal.value.base && self.visible_state(access).is_ok()
    }

    /// What the proposed body is worth, if the accepted one, the one it was made for and itself may all be seen.
    fn visible_state(&self, access: &Access) -> Result<ResultState, ResultState> {
        let base = cited(self.base_rests_on.as_ref());
        let [accepted, base, proposed] =
            [&self.accepted, &base, &self.cited()].map(|cited| access.state(answer::pairs(cited)));
        let worst = accepted.max(base).max(proposed);
        let restores = self.proposal.value.kind.restores().is_some();
        let beyond = restores && access.comparable(self.both()).is_err();
        if worst.hides() || beyond { Err(answer::unless_hidden(worst)) } else { Ok(proposed) }
    }

    /// The proposal with both bodies as a document; a stub if anything that it rests on must not be seen.
    pub(super) fn document(
        &self,
        bodies: &Bodies,
        access: &Access,
        evidence: Evidence,
        moment: &Moment,
        limits: &Limits,
    ) -> ProposalDoc {
        let Proposal { id, result, body, .. } = self.proposal.value;
        let open =
            |sheet: &Sheet| sheet.open(access, limits).ok_or(ResultState::EvidenceUnavailable);
        let shown = self.entry(access, evidence, moment).and_then(|entry| {
            let (base, proposed) = (open(&bodies.base)?, open(&bodies.proposed)?);
            let difference = difference::between(&base.body, &proposed.body);
            let accepted = base.side(Some(self.base.no), self.base.body, access);
            Ok(ProposalDoc::shown(entry, accepted, proposed.side(None, body, access), difference))
        });
        shown.unwrap_or_else(|why| ProposalDoc::hidden(id, result, why.as_str()))
    }
}

/// What proposals and the revisions that they were made for rest on, and what they bind, as far as it can be read.
struct Records {
    dependencies: BTreeMap<Digest, Dependencies>,
    bindings: BTreeMap<Digest, Binding>,
}

impl Records {
    fn load(
        tx: &mut dyn ReadTx,
        proposals: &[Kept<Proposal>],
        bases: &[Revision],
        limits: &Limits,
    ) -> Result<Self, StoreError> {
        let proposed = proposals.iter().map(|one| one.value.dependencies);
        let rest_on: BTreeSet<Digest> =
            bases.iter().map(|base| base.dependencies).chain(proposed).collect();
        let bound: BTreeSet<Digest> = proposals.iter().map(|one| one.value.binding).collect();
        let rest_on = documents(tx, rest_on, limits.dependency_bytes)?;
        let bound = documents(tx, bound, limits.binding_bytes)?;
        let dependencies = rest_on.iter().filter_map(|(digest, document)| {
            Some((*digest, stored::read_dependencies((*digest, document), limits)?))
        });
        let bindings = bound.iter().filter_map(|(digest, document)| {
            Some((*digest, stored::read_binding((*digest, document), limits)?))
        });
        Ok(Self { dependencies: dependencies.collect(), bindings: bindings.collect() })
    }
}

/// The sources that a proposal binds, if there is one of this id: no source, if the record of them cannot be read.
pub(super) fn bound_scene(
    tx: &mut dyn ReadTx,
    id: ProposalId,
    limits: &Limits,
) -> Result<Option<Scene>, StoreError> {
    let Some(proposal) = tx.proposals(Proposals::Ids(&[id]))?.pop() else { return Ok(None) };
    let bound = documents(tx, [proposal.value.binding], limits.binding_bytes)?.pop();
    let bound =
        bound.and_then(|(digest, document)| stored::read_binding((digest, &document), limits));
    let sources = bound.iter().flat_map(|binding| &binding.0).map(|bound| bound.source_id);
    Scene::load(tx, sources.collect::<Vec<_>>()).map(Some)
}

/// Documents that say what content rests on: they are read to decide, and shown to nobody.
fn documents(
    tx: &mut dyn ReadTx,
    digests: impl IntoIterator<Item = Digest>,
    each: usize,
) -> Result<Vec<(Digest, Document)>, StoreError> {
    let digests: Vec<Digest> = digests.into_iter().collect();
    let found = tx.documents(&digests, each)?;
    Ok(found.into_iter().map(|(digest, sealed)| (digest, redact::for_checking(sealed))).collect())
}

/// What dependencies say that is cited; nothing if they cannot be read.
fn cited(dependencies: Option<&Dependencies>) -> Vec<Cited> {
    dependencies.map(Dependencies::cited).unwrap_or_default()
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
