//! What needs somebody: the documents of `refresh`, `status` and `check`.
//!
//! None of them counts a source that is denied, or that only results quote which access was withdrawn from: what such
//! a result rests on does not show, not even as a number.

use super::CauseDoc;
use crate::id::{ProposalId, ResultId};
use crate::result::ResultState;
use crate::time::Timestamp;
use serde::Serialize;

document! {
    /// `work.refresh/1`: what a look at everything that is quoted came to.
    RefreshDoc {
        /// Sources that were looked at.
        looked_at: u64,
        /// Of these, those whose bytes are not those that a visible result quotes.
        changed: u64,
        /// Of these, those whose file is not there.
        missing: u64,
        /// Of these, those that would not hold still.
        unstable: u64,
        /// Sources that were not looked at in time.
        not_looked_at: u64,
        /// The oldest look that this rests on.
        observed_at: Option<Timestamp>,
        /// Results that are worth something else than before, the latest changed first; at most 100. One of which all
        /// that is known is that a source of it was not looked at in time is not among them.
        results: Vec<TurnedDoc>,
        /// How many more there are.
        left_out: u64,
    }

    /// A result that is worth something else than before.
    TurnedDoc {
        /// Its id.
        artifact_id: ResultId,
        /// What it is worth now.
        state: ResultState,
    }

    /// `work.status/1`: what needs somebody.
    StatusDoc {
        /// How many results are in each state.
        counts: CountsDoc,
        /// Results that are not `sources_checked`, the worst first, then the latest changed; at most 100.
        attention: Vec<AttentionDoc>,
        /// How many more there are.
        left_out: u64,
        /// Proposals that wait for approval, the latest first; at most 100.
        waiting: Vec<WaitingDoc>,
        /// How many more there are.
        waiting_left_out: u64,
        /// The sources that are quoted.
        sources: SourcesDoc,
        /// The quotations of visible results.
        quotations: QuotationsDoc,
        /// The oldest look that this rests on.
        observed_at: Option<Timestamp>,
    }

    /// Results by state.
    CountsDoc {
        /// Those whose sources are as cited.
        sources_checked: u64,
        /// Those of which a source changed, is missing or would not hold still.
        stale: u64,
        /// Those of which a source could not be looked at.
        evidence_unavailable: u64,
        /// Those of which a source was withdrawn.
        access_removed: u64,
    }

    /// A result that is not `sources_checked`.
    AttentionDoc {
        /// Its id.
        artifact_id: ResultId,
        /// The query that it answers.
        query: String,
        /// What it is worth now.
        state: ResultState,
        /// One for each quotation of a source that is not as cited; `null` if the result is hidden.
        causes: Option<Vec<CauseDoc>>,
        /// The next command.
        next: String,
    }

    /// A proposal that waits for approval.
    WaitingDoc {
        /// Its id.
        proposal_id: ProposalId,
        /// `repair` or `restore`.
        kind: &'static str,
        /// Whose next revision it would be.
        artifact_id: ResultId,
        /// When it was made.
        created_at: Timestamp,
        /// When it expires.
        expires_at: Timestamp,
    }

    /// Sources that are quoted.
    SourcesDoc {
        /// Those that were looked at.
        looked_at: u64,
        /// Of these, those whose bytes are not those that a visible result quotes.
        changed: u64,
        /// Those that were not looked at in time.
        not_looked_at: u64,
    }

    /// Quotations of visible results.
    QuotationsDoc {
        /// Those that became something else than intact, or are gone.
        affected: u64,
        /// Those that stand as cited, or where they stood.
        intact: u64,
    }

    /// `work.check/1`: whether what is quoted may be relied on.
    CheckDoc {
        /// Whether the verdict is `passed`.
        passed: bool,
        /// What the check came to.
        verdict: Verdict,
        /// Results of which something is as it must not be, the worst first, then the latest changed; at most 100.
        failed: Vec<FailedDoc>,
        /// How many more there are.
        left_out: u64,
        /// Sources that would not hold still.
        unstable: u64,
        /// Results that are hidden.
        hidden: u64,
        /// Sources that were not looked at in time, or not for long enough to tell what became of a quotation.
        not_looked_at: u64,
        /// The oldest look that this rests on.
        observed_at: Option<Timestamp>,
    }

    /// A result that fails a check.
    FailedDoc {
        /// Its id.
        artifact_id: ResultId,
        /// The query that it answers.
        query: String,
        /// What it is worth now.
        state: ResultState,
        /// One for each quotation of a source that is not as cited; `null` if the result is hidden.
        causes: Option<Vec<CauseDoc>>,
    }
}

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything was looked at, and nothing is as it must not be.
    Passed,
    /// Something is as it must not be.
    Attention,
    /// Nothing is, as far as could be told; not everything could.
    Incomplete,
}
