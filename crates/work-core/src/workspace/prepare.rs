//! Preparing a proposal: what it binds, the fingerprint over it, and whose place it takes.

use super::sheet::Content;
use super::{Moment, case};
use crate::document::stored::{self, Binding, BoundSource, Stored, TooLarge};
use crate::id::{ProposalId, SourceId};
use crate::limits::Limits;
use crate::port::{Change, Kept, Put};
use crate::proposal::{
    Fingerprint, Preparation, Proposal, ProposalKind, ProposalState, Transition,
};
use crate::redact::{Access, Withheld};
use crate::result::Revision;
use std::collections::BTreeSet;

/// A next revision on its way to becoming a proposal.
pub(super) struct Draft<'a> {
    pub(super) id: ProposalId,
    pub(super) kind: ProposalKind,
    /// The accepted revision that it is made for.
    pub(super) base: &'a Revision,
    /// What is proposed.
    pub(super) content: Content,
    /// What is seen now of every source of both bodies.
    pub(super) binding: &'a Binding,
}

impl Draft<'_> {
    /// The proposal as it waits from now on, and the document of what it binds.
    pub(super) fn propose(
        &self,
        moment: &Moment,
        limits: &Limits,
    ) -> Result<(Proposal, Stored), TooLarge> {
        let written = stored::write_binding(self.binding, limits)?;
        let Content { body, dependencies, verification, scan } = self.content;
        let unsigned = Proposal {
            id: self.id,
            result: self.base.result,
            kind: self.kind,
            state: ProposalState::Pending,
            base: self.base.no,
            body,
            dependencies,
            verification,
            scan,
            binding: written.digest,
            fingerprint: Fingerprint(written.digest),
            created_at: moment.now.at,
            expires_at: moment.now.at.plus(limits.proposal_life),
            era: moment.now.era,
        };
        let bound = case::bound(&unsigned, self.base, &moment.head, self.binding);
        Ok((Proposal { fingerprint: bound.fingerprint(), ..unsigned }, written))
    }
}

/// What is seen now of these sources, as an approval binds it.
///
/// # Errors
/// [`Withheld`] for one of which nothing can be bound.
pub(super) fn binding(sources: BTreeSet<SourceId>, access: &Access) -> Result<Binding, Withheld> {
    let bound = |source_id| Ok(BoundSource { source_id, version: access.to_bind(source_id)? });
    sources.into_iter().map(bound).collect::<Result<_, _>>().map(Binding)
}

/// What a new proposal writes: its binding, the end of the one whose place it takes, and itself.
pub(super) fn puts(
    written: Stored,
    proposal: Proposal,
    waiting: &[Kept<Proposal>],
    preparation: Preparation,
    moment: &Moment,
) -> Vec<Put> {
    let Stored { digest, bytes } = written;
    let end = |old: ProposalId, how: Transition| {
        let kept = waiting.iter().find(|kept| kept.value.id == old)?;
        Some(Put::Proposal(Change::From(kept.version, kept.value.after(how, moment.now))))
    };
    let ended = match preparation {
        Preparation::InPlaceOf(old, how) => end(old, how),
        Preparation::Waits(_) | Preparation::New => None,
    };
    let bound = Put::Document { digest, bytes };
    std::iter::once(bound).chain(ended).chain([Put::Proposal(Change::New(proposal))]).collect()
}
