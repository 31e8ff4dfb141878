//! The audit log: one line for each act, chained by digests, never changed.
//!
//! Owns what is logged and how one event binds the one before. Events hold ids and numbers alone, so there is nothing
//! in them to hide. Refuses to know where they are kept.

use crate::canonical::Canonical;
use crate::digest::Digest;
use crate::id::{ActId, GrantId, ProposalId, ResultId, TaskId};
use crate::result::RevisionNo;
use crate::time::Timestamp;

/// One line of the log, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// The act that it is the record of, unique in the log.
    pub act: ActId,
    /// When.
    pub at: Timestamp,
    /// What it is about, to find the last word on it.
    pub subject: Option<[u8; 16]>,
    /// What happened, as JSON written once.
    pub bytes: Vec<u8>,
    /// The digest of the event before; [`AuditEvent::GENESIS`] for the first.
    pub previous: Digest,
    /// The digest of this event.
    pub digest: Digest,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// A folder was approved, for the first time or again.
    FolderApproved {
        /// The grant.
        folder: GrantId,
    },
    /// An approved folder was given other rules.
    RulesChanged {
        /// The grant.
        folder: GrantId,
    },
    /// A folder's approval ended.
    FolderRevoked {
        /// The grant.
        folder: GrantId,
    },
    /// Work was asked for.
    TaskQueued {
        /// The task.
        task: TaskId,
    },
    /// A worker began.
    TaskLeased {
        /// The task.
        task: TaskId,
        /// The lease.
        fence: u64,
    },
    /// A worker stopped in order and gave its lease back.
    TaskGivenBack {
        /// The task.
        task: TaskId,
        /// The lease.
        fence: u64,
    },
    /// A task was cancelled.
    TaskCancelled {
        /// The task.
        task: TaskId,
    },
    /// A task ended without a result.
    TaskFailed {
        /// The task.
        task: TaskId,
        /// The lease.
        fence: u64,
    },
    /// A task's leases ended without a word too often.
    TaskAbandoned {
        /// The task.
        task: TaskId,
    },
    /// A report was published.
    ResultPublished {
        /// The result.
        result: ResultId,
        /// Its revision.
        revision: RevisionNo,
        /// The task.
        task: TaskId,
        /// The lease.
        fence: u64,
    },
    /// A repair or a restore was prepared.
    ProposalPrepared {
        /// The proposal.
        proposal: ProposalId,
        /// Whose next revision.
        result: ResultId,
    },
    /// A proposal became a revision.
    ProposalApplied {
        /// The proposal.
        proposal: ProposalId,
        /// Whose revision.
        result: ResultId,
        /// Which.
        revision: RevisionNo,
    },
    /// A commit in doubt was settled: this event's own commit made the answer last.
    Settled {
        /// The act that was in doubt.
        act: ActId,
        /// Whether it had happened.
        done: bool,
    },
}

impl AuditEvent {
    /// What the first event names as the one before.
    pub const GENESIS: Digest = Digest::from_bytes([0; 32]);

    /// The event after number `acts` with digest `previous`.
    ///
    /// Its digest is over the canonical bytes `work.event/1`: number, act, moment, subject or nothing, stored bytes,
    /// and the digest before.
    #[must_use]
    pub fn following(
        acts: u64,
        previous: Digest,
        act: ActId,
        at: Timestamp,
        kind: &EventKind,
    ) -> Self {
        let bytes = serde_json::to_vec(kind).expect("ids and numbers are always JSON");
        let event = Self {
            seq: acts + 1,
            act,
            at,
            subject: kind.subject(),
            bytes,
            previous,
            digest: previous,
        };
        Self { digest: event.computed(), ..event }
    }

    /// The digest that its fields give.
    #[must_use]
    pub fn computed(&self) -> Digest {
        let fields =
            Canonical::new("work.event/1").number(self.seq).bytes(&self.act.bytes()).at(self.at);
        let fields = match &self.subject {
            Some(subject) => fields.bytes(subject),
            None => fields.nothing(),
        };
        fields.bytes(&self.bytes).bytes(self.previous.bytes()).digest()
    }

    /// Whether it is unchanged and the next after number `acts` with digest `previous`.
    #[must_use]
    pub fn follows(&self, acts: u64, previous: &Digest) -> bool {
        self.seq == acts + 1 && self.previous == *previous && self.digest == self.computed()
    }

    /// What happened; `None` if the stored bytes are no event that this version knows.
    #[must_use]
    pub fn kind(&self) -> Option<EventKind> {
        serde_json::from_slice(&self.bytes).ok()
    }
}

impl EventKind {
    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Option<[u8; 16]> {
        Some(match *self {
            Self::FolderApproved { folder }
            | Self::RulesChanged { folder }
            | Self::FolderRevoked { folder } => folder.bytes(),
            Self::TaskQueued { task }
            | Self::TaskLeased { task, .. }
            | Self::TaskGivenBack { task, .. }
            | Self::TaskCancelled { task }
            | Self::TaskFailed { task, .. }
            | Self::TaskAbandoned { task } => task.bytes(),
            Self::ResultPublished { result, .. } => result.bytes(),
            Self::ProposalPrepared { proposal, .. } | Self::ProposalApplied { proposal, .. } => {
                proposal.bytes()
            }
            Self::Settled { act, .. } => act.bytes(),
        })
    }
}
