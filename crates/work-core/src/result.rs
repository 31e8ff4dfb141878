//! Results and their revisions.
//!
//! Owns the records and the derived state: what became of a result's sources since it was published. Refuses to decide
//! what of it may be seen ([`redact`](crate::redact)).

use crate::digest::Digest;
use crate::id::{GrantId, ProposalId, ResultId, SourceId, TaskId};
use crate::plant::{Fault, is_planted};
use crate::source::{Seen, SourceVersion};
use crate::task::Fence;
use crate::time::Timestamp;

/// A durable answer with a current revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkResult {
    /// Its id.
    pub id: ResultId,
    /// What kind of answer.
    pub kind: ResultKind,
    /// The query that it answers, as asked.
    pub query: String,
    /// The grants that were searched; a repair searches them again.
    pub scope: Vec<GrantId>,
    /// The accepted revision.
    pub accepted: RevisionNo,
    /// When it was published.
    pub created_at: Timestamp,
    /// When its accepted revision last changed.
    pub updated_at: Timestamp,
}

/// What kind of answer a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// Exact quotations that answer a query.
    ExcerptReport,
}

impl ResultKind {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExcerptReport => "excerpt_report",
        }
    }
}

/// The number of a revision, from 1 without gaps.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RevisionNo(pub u64);

impl RevisionNo {
    /// The first.
    pub const FIRST: Self = Self(1);
}

/// An immutable, numbered body with its dependencies, its verification and its scan record, each by digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Whose revision.
    pub result: ResultId,
    /// Its number.
    pub no: RevisionNo,
    /// The body.
    pub body: Digest,
    /// What it rests on.
    pub dependencies: Digest,
    /// What was checked when it was published.
    pub verification: Digest,
    /// What was scanned for it.
    pub scan: Digest,
    /// How it came to be.
    pub origin: Origin,
    /// When.
    pub created_at: Timestamp,
}

/// How a revision came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A run published it.
    Published {
        /// The run's task.
        task: TaskId,
        /// The run's lease.
        fence: Fence,
    },
    /// Somebody approved a repair that a run had prepared.
    Repaired {
        /// The run's task.
        task: TaskId,
        /// The run's lease.
        fence: Fence,
        /// What was approved.
        proposal: ProposalId,
    },
    /// Somebody approved bringing an earlier revision back.
    Restored {
        /// What was approved.
        proposal: ProposalId,
        /// The earlier revision.
        from: RevisionNo,
    },
}

impl Origin {
    /// The revision that this one brought back, if it did.
    #[must_use]
    pub const fn restored_from(self) -> Option<RevisionNo> {
        match self {
            Self::Restored { from, .. } => Some(from),
            Self::Published { .. } | Self::Repaired { .. } => None,
        }
    }
}

/// One quotation of a revision, as an index knows it: where from, and which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cited {
    /// Its number in the body, from 1.
    pub n: u32,
    /// The source.
    pub source: SourceId,
    /// The version that was quoted.
    pub version: SourceVersion,
}

/// What a result is worth now. Derived at reading, never stored; in the order of severity, the worst last.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResultState {
    /// The stored source versions matched when checked. No proof of any claim.
    SourcesChecked,
    /// A source changed, is missing, or would not hold still.
    Stale,
    /// A source could not be looked at. Content is hidden.
    EvidenceUnavailable,
    /// Access to a source was withdrawn. Content is hidden.
    AccessRemoved,
}

impl ResultState {
    /// The state of a quotation of `cited`, given what is seen of its source.
    #[must_use]
    pub fn of(cited: &SourceVersion, seen: &Seen) -> Self {
        match seen {
            Seen::Bytes(version) if version == cited => Self::SourcesChecked,
            Seen::Bytes(version)
                if is_planted(Fault::ChangedIsChecked) && version.size == cited.size =>
            {
                Self::SourcesChecked
            }
            Seen::Bytes(_) | Seen::Missing | Seen::Unstable => Self::Stale,
            Seen::Unreachable => Self::EvidenceUnavailable,
            Seen::Denied => Self::AccessRemoved,
        }
    }

    /// Whether content that rests on it must not show.
    #[must_use]
    pub const fn hides(self) -> bool {
        match self {
            Self::SourcesChecked | Self::Stale => false,
            Self::EvidenceUnavailable | Self::AccessRemoved => true,
        }
    }

    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SourcesChecked => "sources_checked",
            Self::Stale => "stale",
            Self::EvidenceUnavailable => "evidence_unavailable",
            Self::AccessRemoved => "access_removed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: O3
    #[test]
    fn the_worst_dependency_decides() {
        let cited = SourceVersion { digest: Digest::of(b"a"), size: 1, cut: false };
        let changed = SourceVersion { digest: Digest::of(b"b"), ..cited };
        let grown = SourceVersion { size: 2, ..cited };
        for (seen, state) in [
            (Seen::Bytes(cited), ResultState::SourcesChecked),
            (Seen::Bytes(changed), ResultState::Stale),
            (Seen::Bytes(grown), ResultState::Stale),
            (Seen::Missing, ResultState::Stale),
            (Seen::Unstable, ResultState::Stale),
            (Seen::Unreachable, ResultState::EvidenceUnavailable),
            (Seen::Denied, ResultState::AccessRemoved),
        ] {
            assert_eq!(ResultState::of(&cited, &seen), state, "{seen:?}");
        }
        assert_eq!(
            [ResultState::Stale, ResultState::AccessRemoved, ResultState::EvidenceUnavailable]
                .iter()
                .max(),
            Some(&ResultState::AccessRemoved)
        );
    }
}
