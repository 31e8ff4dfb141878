//! Proposals: next revisions that wait for approval, used once or never.
//!
//! Owns the records that a store keeps of them and of their approvals, what an approval binds ([`Bound`]), and the
//! machine: [`prepare`] says what a new one ends, [`decide`] what becomes of one that is applied, superseded or
//! dismissed. Refuses to know where sources lie: what is seen of them comes in as [`Evidence`].

mod bound;
mod machine;

pub use bound::Bound;
pub use machine::{
    Ask, Evidence, Preparation, Refusal, Standing, TooManyPending, Transition, decide, prepare,
};

use crate::digest::{Digest, NotADigest};
use crate::id::{ProposalId, ResultId, TaskId};
use crate::plant::{Fault, is_planted};
use crate::result::{Origin, RevisionNo};
use crate::task::Fence;
use crate::time::{Era, Now, Timestamp};
use std::fmt;
use std::str::FromStr;

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

impl Proposal {
    /// Whether it may still be applied at `now`, as far as time goes. One of an older era has ended.
    #[must_use]
    pub fn lasts(&self, now: Now) -> bool {
        self.era == now.era && now.at < self.expires_at
    }

    /// The word for where it stands at `now`: one that waits past its time has expired.
    #[must_use]
    pub fn standing(&self, now: Now) -> &'static str {
        match self.state {
            ProposalState::Pending if !self.lasts(now) => "expired",
            ProposalState::Pending => "pending",
            ProposalState::Applied(_) => "applied",
            ProposalState::Superseded(..) => "superseded",
            ProposalState::Dismissed(_) => "dismissed",
            ProposalState::Expired(_) => "expired",
        }
    }

    /// The proposal after `transition`.
    #[must_use]
    pub fn after(self, transition: Transition, now: Now) -> Self {
        let state = match transition {
            Transition::Applied if is_planted(Fault::SingleUse) => self.state,
            Transition::Applied => ProposalState::Applied(now.at),
            Transition::Superseded(by) => ProposalState::Superseded(now.at, by),
            Transition::Dismissed => ProposalState::Dismissed(now.at),
            Transition::Expired => ProposalState::Expired(now.at),
        };
        Self { state, ..self }
    }

    /// How the revision that it becomes came to be.
    #[must_use]
    pub const fn origin(&self) -> Origin {
        match self.kind {
            ProposalKind::Repair { task, fence } => {
                Origin::Repaired { task, fence, proposal: self.id }
            }
            ProposalKind::Restore(from) => Origin::Restored { proposal: self.id, from },
        }
    }
}

impl ProposalKind {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Repair { .. } => "repair",
            Self::Restore(_) => "restore",
        }
    }

    /// The revision that it would bring back, if it would.
    #[must_use]
    pub const fn restores(self) -> Option<RevisionNo> {
        match self {
            Self::Repair { .. } => None,
            Self::Restore(no) => Some(no),
        }
    }

    /// Whether both repair, or both restore.
    #[must_use]
    pub const fn is_like(self, other: Self) -> bool {
        self.restores().is_some() == other.restores().is_some()
    }
}

/// SHA-256 over everything that an approval binds: what [`Bound::fingerprint`] gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Fingerprint(pub Digest);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Fingerprint {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        text.parse().map(Self)
    }
}

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
