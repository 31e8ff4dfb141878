//! `apply` and `dismiss`: the single use of an approval, and the owner's no.

use super::case::{self, Case};
use super::deliver::Roots;
use super::looks::{self, Looked, NoProbe};
use super::{Decision, Failure, Moment, Workspace};
use crate::audit::{AuditEvent, EventKind};
use crate::code::{Code, Coded};
use crate::document::wire::AppliedDoc;
use crate::id::ProposalId;
use crate::limits::Limits;
use crate::port::{Change, Events, Kept, Proposals, Put, Watch};
use crate::proposal::{
    self, Approval, Ask, Channel, Fingerprint, Proposal, Refusal, Standing, Transition,
};
use crate::result::{Revision, RevisionNo, WorkResult};
use std::sync::Arc;

/// Why a proposal was not applied. Nothing changed but the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// There is no proposal of this id.
    #[error("there is no such proposal")]
    Unknown,
    /// The rules say no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ApplyError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::Refused(why) => why.code(),
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// Events about a proposal that are looked through for an earlier refusal: more than a minute can hold.
const EVENTS: u32 = 16;

/// What is known when a proposal is to be applied: the records under the lock, and the latest events about it.
struct Known {
    /// With whether the proposed body can be read.
    case: Option<(Case, bool)>,
    stored: looks::Stored,
    events: Vec<AuditEvent>,
}

impl Workspace {
    /// Makes a proposal the accepted revision, for whoever presents the fingerprint under which it was shown.
    ///
    /// The sources of both bodies are read again first. Then one transaction computes the fingerprint from what is
    /// stored at that moment and compares it, the accepted revision and what is seen of every source with what is bound;
    /// it writes the revision, the proposal's end, the approval and the event, or nothing. An approval is used once.
    ///
    /// # Errors
    /// [`ApplyError`]: no such proposal, the first [`Refusal`] that holds, or a failure. A refusal is an event, the same
    /// one at most once a minute.
    pub fn apply(
        &self,
        id: ProposalId,
        presented: Fingerprint,
        channel: Channel,
        watch: &mut dyn Watch,
    ) -> Result<AppliedDoc, ApplyError> {
        let scene = self.read(|tx, _| case::bound_scene(tx, id, &self.limits))?;
        let looked = scene.ok_or(ApplyError::Unknown)?.look(self, Arc::new(NoProbe), watch);
        self.act(
            |tx, _| {
                let events = tx.events(Events::LatestOf { subject: id.bytes(), most: EVENTS })?;
                let Some(case) = Case::load(tx, id, &self.limits)? else {
                    return Ok(Known { case: None, stored: looks::Stored::new(), events });
                };
                let readable = case.is_readable(tx, &self.limits)?;
                let stored = case.scene.stored(tx, &looked)?;
                Ok(Known { case: Some((case, readable)), stored, events })
            },
            |known, moment| {
                let Known { case, stored, events } = known;
                let (case, readable) = case.ok_or(ApplyError::Unknown)?;
                let noted = looks::notes(&looked, &stored, &case.scene.grants, moment);
                let decided = judged((&case, readable), presented, channel, &looked, moment);
                let decision =
                    decided.unwrap_or_else(|why| refused(id, why, &events, moment, &self.limits));
                Ok(decision.with_looks(noted))
            },
        )?
        .and_then(|answer: Result<AppliedDoc, Refusal>| Ok(answer?))
    }

    /// Ends a proposal that waits: the owner says no.
    ///
    /// # Errors
    /// [`ApplyError`]: no such proposal, it has ended already, or a failure.
    pub fn dismiss(&self, id: ProposalId) -> Result<(), ApplyError> {
        self.act(
            |tx, _| Ok(tx.proposals(Proposals::Ids(&[id]))?.pop()),
            |found, moment| Ok(dismissed(found.ok_or(ApplyError::Unknown)?, moment)),
        )?
        .and_then(|answer: Result<(), Refusal>| Ok(answer?))
    }
}

/// What is written when the owner says no. That the time is past is told, so it is stored: told must mean ended.
fn dismissed(kept: Kept<Proposal>, moment: &Moment) -> Decision<Result<(), Refusal>> {
    let Kept { version, value } = kept;
    match proposal::decide(&value, Ask::Dismiss, moment.now) {
        Ok(transition) => {
            let ended = value.after(transition, moment.now);
            let kind = EventKind::ProposalDismissed { proposal: value.id };
            Decision::act(Ok(()), kind, vec![Put::Proposal(Change::From(version, ended))])
        }
        Err(Refusal::Expired) => Decision::time(Err(Refusal::Expired)),
        Err(why) => Decision::nothing(Err(why)),
    }
}

/// What is written when the proposal may be applied.
fn judged(
    (case, readable): (&Case, bool),
    presented: Fingerprint,
    channel: Channel,
    looked: &[Looked],
    moment: &Moment,
) -> Result<Decision<Result<AppliedDoc, Refusal>>, Refusal> {
    let access = case.scene.access(looked, &Roots::new());
    let evidence = case.evidence(&access, looked);
    let standing = case.standing(presented, &moment.head, evidence);
    // What cannot be read any more is not what was shown.
    let computed = standing.computed.filter(|_| readable);
    let standing = Standing { computed, ..standing };
    let proposal = &case.proposal.value;
    let transition = proposal::decide(proposal, Ask::Apply(standing), moment.now)?;
    let revision = revision(case, moment);
    let applied = AppliedDoc {
        artifact_id: revision.result,
        revision: revision.no,
        restored_from: revision.origin.restored_from(),
        proposal_id: proposal.id,
        digest: revision.body,
        created_at: revision.created_at,
    };
    let kind = EventKind::ProposalApplied {
        proposal: proposal.id,
        result: revision.result,
        revision: revision.no,
    };
    Ok(Decision::act(Ok(applied), kind, puts(case, revision, transition, channel, moment)))
}

/// The next revision of the result: what was proposed.
fn revision(case: &Case, moment: &Moment) -> Revision {
    let proposal = &case.proposal.value;
    Revision {
        result: proposal.result,
        no: RevisionNo(case.result.value.accepted.0 + 1),
        body: proposal.body,
        dependencies: proposal.dependencies,
        verification: proposal.verification,
        scan: proposal.scan,
        origin: proposal.origin(),
        created_at: moment.now.at,
    }
}

/// The result with its new revision, the proposal's end, and the single use of its fingerprint.
fn puts(
    case: &Case,
    revision: Revision,
    transition: Transition,
    channel: Channel,
    moment: &Moment,
) -> Vec<Put> {
    let Kept { version, value: proposal } = case.proposal;
    let at = moment.now.at;
    let result = WorkResult { accepted: revision.no, updated_at: at, ..case.result.value.clone() };
    vec![
        Put::Result(Change::From(case.result.version, result)),
        Put::Revision(revision, case.cited()),
        Put::Proposal(Change::From(version, proposal.after(transition, moment.now))),
        Put::Approval(Approval {
            fingerprint: proposal.fingerprint,
            proposal: proposal.id,
            channel,
            at,
        }),
    ]
}

/// A refusal, with its event unless the same one is younger than a minute. What was only not reached in time is no
/// event: nothing was decided.
fn refused(
    id: ProposalId,
    why: Refusal,
    events: &[AuditEvent],
    moment: &Moment,
    limits: &Limits,
) -> Decision<Result<AppliedDoc, Refusal>> {
    let kind = EventKind::ProposalRefused { proposal: id, reason: why };
    let said = |event: &AuditEvent| {
        // One from the future was said before the owner set time back.
        let quiet =
            event.at <= moment.now.at && moment.now.at < event.at.plus(limits.refusal_quiet);
        event.kind() == Some(kind) && quiet
    };
    if why == Refusal::RefreshIncomplete || events.iter().any(said) {
        Decision::nothing(Err(why))
    } else {
        Decision::act(Err(why), kind, Vec::new())
    }
}
