//! Proposals: next revisions that wait for approval, as they are kept.
//!
//! Owns the records that a store keeps of them and of their approvals. How one is prepared, superseded and applied is
//! not part of this release.

use crate::digest::Digest;
use crate::id::{ProposalId, ResultId, TaskId};
use crate::result::RevisionNo;
use crate::task::Fence;
use crate::time::{Era, Timestamp};

/// A proposed next revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// Its id.
    pub id: ProposalId,
    /// Whose next revision.
    pub result: ResultId,
    /// A repair or a restore.
    pub kind: ProposalKind,
    /// Where it stands.
    pub state: ProposalState,
    /// The accepted revision that it was made for.
    pub base: RevisionNo,
    /// The proposed body.
    pub body: Digest,
    /// What it rests on.
    pub dependencies: Digest,
    /// What was checked for it.
    pub verification: Digest,
    /// What was scanned for it.
    pub scan: Digest,
    /// Everything that an approval binds, as a document.
    pub binding: Digest,
    /// The digest over what an approval binds.
    pub fingerprint: Fingerprint,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The era of both.
    pub era: Era,
}

/// What a proposal would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalKind {
    /// Replace the body by what a run found, under this lease.
    Repair {
        /// The run's task.
        task: TaskId,
        /// The run's lease.
        fence: Fence,
    },
    /// Bring an earlier revision back.
    Restore(RevisionNo),
}

/// Where a proposal stands. Every state but `Pending` is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalState {
    /// It waits, while its time lasts.
    Pending,
    /// It became a revision at that time.
    Applied(Timestamp),
    /// Another one took its place at that time.
    Superseded(Timestamp, ProposalId),
    /// The owner said no at that time.
    Dismissed(Timestamp),
    /// Its time was found to be past at that time.
    Expired(Timestamp),
}

/// SHA-256 over everything that an approval binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub Digest);

/// The single use of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval {
    /// What was used.
    pub fingerprint: Fingerprint,
    /// For which proposal.
    pub proposal: ProposalId,
    /// From where.
    pub channel: Channel,
    /// When.
    pub at: Timestamp,
}

/// Where an approval came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The command line.
    Cli,
    /// The HTTP API.
    Http,
    /// A program that embeds the library.
    Library,
}
