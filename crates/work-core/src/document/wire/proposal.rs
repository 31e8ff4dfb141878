//! Wire documents of proposals, history and comparison.

use super::{BodyDoc, ContentDoc, ScanDoc, VerificationDoc};
use crate::digest::Digest;
use crate::document::difference::DifferenceDoc;
use crate::id::{ProposalId, ResultId, RunId};
use crate::proposal::Fingerprint;
use crate::result::{ResultState, RevisionNo};
use crate::time::Timestamp;
use serde::Serialize;

document! {
    /// `work.proposal/1`: a next revision that waits for approval, or what became of it.
    ///
    /// One that rests on what must not be seen tells its id, its result's and, as its state, why: `access_removed` or
    /// `evidence_unavailable`.
    ProposalDoc {
        /// Its id.
        proposal_id: ProposalId,
        /// `repair` or `restore`.
        kind: Option<&'static str>,
        /// Whose next revision.
        artifact_id: ResultId,
        /// `pending`, `applied`, `superseded`, `dismissed` or `expired`; of a hidden one why it is hidden.
        state: &'static str,
        /// The accepted revision that it was made for.
        base_revision: Option<RevisionNo>,
        /// The revision that it would bring back.
        restore_revision: Option<RevisionNo>,
        /// What the proposed body is worth now: a restore may bring back a stale one.
        result_state: Option<ResultState>,
        /// Whether it could be applied now. Information: applying looks again and decides.
        can_apply: Option<bool>,
        /// Why not.
        rejection_reason: Option<&'static str>,
        /// What to approve it by.
        fingerprint: Option<Fingerprint>,
        /// When it was made.
        created_at: Option<Timestamp>,
        /// When it expires, or did.
        expires_at: Option<Timestamp>,
        /// The accepted revision that it was made for.
        accepted: Option<ContentDoc>,
        /// What it would put in its place.
        proposed: Option<ContentDoc>,
        /// The exact difference of the two bodies.
        difference: Option<DifferenceDoc>,
    }

    /// A proposal in a list: as [`ProposalDoc`], without bodies.
    ProposalEntry {
        /// Its id.
        proposal_id: ProposalId,
        /// `repair` or `restore`.
        kind: Option<&'static str>,
        /// Whose next revision.
        artifact_id: ResultId,
        /// `pending`, `applied`, `superseded`, `dismissed` or `expired`.
        state: &'static str,
        /// The accepted revision that it was made for.
        base_revision: Option<RevisionNo>,
        /// The revision that it would bring back.
        restore_revision: Option<RevisionNo>,
        /// What the proposed body was worth when its sources were last looked at.
        result_state: Option<ResultState>,
        /// Whether it could be applied, as far as is known without a look.
        can_apply: Option<bool>,
        /// Why not.
        rejection_reason: Option<&'static str>,
        /// What to approve it by.
        fingerprint: Option<Fingerprint>,
        /// When it was made.
        created_at: Option<Timestamp>,
        /// When it expires, or did.
        expires_at: Option<Timestamp>,
    }

    /// `work.proposals/1`: proposals, the latest made first. Those of hidden results are left out.
    ProposalsDoc {
        /// At most 100.
        proposals: Vec<ProposalEntry>,
        /// The cursor of what follows, if anything does.
        next: Option<String>,
    }

    /// `work.applied/1`: a proposal that became the accepted revision.
    AppliedDoc {
        /// The result.
        artifact_id: ResultId,
        /// The revision that it became.
        revision: RevisionNo,
        /// The revision that this one brought back.
        restored_from: Option<RevisionNo>,
        /// What was approved.
        proposal_id: ProposalId,
        /// The digest of the revision's stored body.
        digest: Digest,
        /// When.
        created_at: Timestamp,
    }

    /// `work.history/1`: the revisions of a result, the latest first.
    HistoryDoc {
        /// The result.
        artifact_id: ResultId,
        /// What the accepted revision is worth now.
        state: ResultState,
        /// At most 100; `null` of a hidden result.
        revisions: Option<Vec<RevisionEntry>>,
        /// How many there are; `null` of a hidden result.
        total: Option<u64>,
        /// The cursor of those before, if there are any.
        next: Option<String>,
    }

    /// A revision in a history. One that must not be seen tells its number and why.
    RevisionEntry {
        /// Its number.
        revision: RevisionNo,
        /// When it was accepted.
        created_at: Option<Timestamp>,
        /// The digest of its stored body.
        digest: Option<Digest>,
        /// The run that made it.
        run: Option<RunId>,
        /// The revision that it brought back.
        restored_from: Option<RevisionNo>,
        /// What it is worth now.
        state: ResultState,
    }

    /// `work.revision/1`: one revision.
    RevisionDoc {
        /// The result.
        artifact_id: ResultId,
        /// Its number.
        revision: Option<RevisionNo>,
        /// What it is worth now.
        state: ResultState,
        /// When it was accepted.
        created_at: Option<Timestamp>,
        /// The digest of its stored body.
        digest: Option<Digest>,
        /// The run that made it.
        run: Option<RunId>,
        /// The revision that it brought back.
        restored_from: Option<RevisionNo>,
        /// What it says.
        body: Option<BodyDoc>,
        /// What was scanned for it.
        scan: Option<ScanDoc>,
        /// What was checked when it was published.
        verification: Option<VerificationDoc>,
    }

    /// `work.comparison/1`: an earlier revision beside the accepted one.
    ///
    /// Where a source of either cannot be read now it tells that, and nothing of either.
    ComparisonDoc {
        /// The result.
        artifact_id: ResultId,
        /// The accepted revision.
        accepted_revision: Option<RevisionNo>,
        /// The revision beside it.
        selected_revision: RevisionNo,
        /// What the selected revision is worth now.
        state: ResultState,
        /// Whether a restore of it can be prepared.
        can_restore: bool,
        /// Why not: `access_removed`, `evidence_unavailable`, or `already_accepted`.
        rejection_reason: Option<&'static str>,
        /// What is accepted.
        accepted: Option<ContentDoc>,
        /// What is selected.
        selected: Option<ContentDoc>,
        /// The exact difference, from the accepted body to the selected one.
        difference: Option<DifferenceDoc>,
    }
}

impl ProposalDoc {
    /// A proposal that may be seen, with both bodies.
    #[must_use]
    pub fn shown(
        entry: ProposalEntry,
        accepted: ContentDoc,
        proposed: ContentDoc,
        difference: DifferenceDoc,
    ) -> Self {
        let ProposalEntry {
            proposal_id,
            kind,
            artifact_id,
            state,
            base_revision,
            restore_revision,
            result_state,
            can_apply,
            rejection_reason,
            fingerprint,
            created_at,
            expires_at,
        } = entry;
        Self {
            proposal_id,
            kind,
            artifact_id,
            state,
            base_revision,
            restore_revision,
            result_state,
            can_apply,
            rejection_reason,
            fingerprint,
            created_at,
            expires_at,
            accepted: Some(accepted),
            proposed: Some(proposed),
            difference: Some(difference),
        }
    }

    /// What is left of one that must not be seen: that it is there, whose it is, and why.
    #[must_use]
    pub const fn hidden(
        proposal_id: ProposalId,
        artifact_id: ResultId,
        state: &'static str,
    ) -> Self {
        Self {
            proposal_id,
            kind: None,
            artifact_id,
            state,
            base_revision: None,
            restore_revision: None,
            result_state: None,
            can_apply: None,
            rejection_reason: None,
            fingerprint: None,
            created_at: None,
            expires_at: None,
            accepted: None,
            proposed: None,
            difference: None,
        }
    }
}
