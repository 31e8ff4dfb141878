//! The audit log: one line for each act, chained by digests, never changed.
//!
//! Owns what is logged and how one event binds the one before. Events hold ids and numbers alone, so there is nothing
//! in them to hide. Refuses to know where they are kept.

use crate::canonical::Canonical;
use crate::digest::Digest;
use crate::id::{ActId, GrantId, ProposalId, ResultId, TaskId};
use crate::proposal::Refusal;
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
    /// A repair found that the sources still say what the result says.
    RepairNotNeeded {
        /// The result.
        result: ResultId,
        /// The task.
        task: TaskId,
        /// The lease.
        fence: u64,
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
    /// A proposal was not applied.
    ProposalRefused {
        /// The proposal.
        proposal: ProposalId,
        /// Why.
        reason: Refusal,
    },
    /// The owner said no to a proposal.
    ProposalDismissed {
        /// The proposal.
        proposal: ProposalId,
    },
    /// The owner said that time had jumped ahead: it went on from the wall clock, and all that was pending ended.
    ClockAccepted {
        /// The time until then, in milliseconds since the epoch.
        from_ms: i64,
        /// The wall clock.
        to_ms: i64,
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
            Self::ResultPublished { result, .. } | Self::RepairNotNeeded { result, .. } => {
                result.bytes()
            }
            Self::ProposalPrepared { proposal, .. }
            | Self::ProposalApplied { proposal, .. }
            | Self::ProposalRefused { proposal, .. }
            | Self::ProposalDismissed { proposal } => proposal.bytes(),
            Self::Settled { act, .. } => act.bytes(),
            Self::ClockAccepted { .. } => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ACT: ActId = ActId::from_bytes([1; 16]);
    const FOLDER: GrantId = GrantId::from_bytes([2; 16]);
    const TASK: TaskId = TaskId::from_bytes([3; 16]);
    const RESULT: ResultId = ResultId::from_bytes([4; 16]);
    const PROPOSAL: ProposalId = ProposalId::from_bytes([5; 16]);
    const NOON: Timestamp = Timestamp::from_seconds(43_200);

    /// One event of every kind, what it is about, and its digest as the first of a log.
    const GOLDEN: [(EventKind, Option<[u8; 16]>, &str); 17] = [
        (
            EventKind::FolderApproved { folder: FOLDER },
            Some([2; 16]),
            "1a60478d67bd5d9210562d1b0ae9cea0830707f78f279d2c1ab27669de2454a7",
        ),
        (
            EventKind::RulesChanged { folder: FOLDER },
            Some([2; 16]),
            "267e9bbab3b6015ad3af375a29d56dfee69a1bad2a6125ca59feefc5037a6f6e",
        ),
        (
            EventKind::FolderRevoked { folder: FOLDER },
            Some([2; 16]),
            "a3dc326a0fb292941e4c9deffebe0aeb3d6d236712f10ba2bdc412555e16f218",
        ),
        (
            EventKind::TaskQueued { task: TASK },
            Some([3; 16]),
            "6008cfaac02e6e7affa64b69f21f1fcf51ee6f85fe377aaa9777b5da156aaa11",
        ),
        (
            EventKind::TaskLeased { task: TASK, fence: 1 },
            Some([3; 16]),
            "4ca7d20565b0aaa74fdfa6e77a54ad4c2391f756bf287925f8e0817044b56bb1",
        ),
        (
            EventKind::TaskGivenBack { task: TASK, fence: 2 },
            Some([3; 16]),
            "43f9a9ec99c066978169633f1da3e3c149890d3dfd289f8204ac96fe52f7512e",
        ),
        (
            EventKind::TaskCancelled { task: TASK },
            Some([3; 16]),
            "1d852617ef108f8d9eb8aec17b0fb95b402225c636d2b9f1c6016fb96f6c71c8",
        ),
        (
            EventKind::TaskFailed { task: TASK, fence: u64::MAX },
            Some([3; 16]),
            "abbb9690b88e57854799adf11279fb8720f8a121c6c0554ad9888a99f169b60e",
        ),
        (
            EventKind::TaskAbandoned { task: TASK },
            Some([3; 16]),
            "173c28e7a4a39d9d79df0f8a6a13c3738ab1ee4ee47a780a87d24a04400bf587",
        ),
        (
            EventKind::ResultPublished {
                result: RESULT,
                revision: RevisionNo(1),
                task: TASK,
                fence: 3,
            },
            Some([4; 16]),
            "9bdd48d97de03e4ded9049726538fb48528c58ee6ea4a984cedf4b115c173a93",
        ),
        (
            EventKind::ProposalPrepared { proposal: PROPOSAL, result: RESULT },
            Some([5; 16]),
            "347ca9242eb6bd73f932a5da1977c2fb73732785cb5b59849fed33b565c3104f",
        ),
        (
            EventKind::ProposalApplied {
                proposal: PROPOSAL,
                result: RESULT,
                revision: RevisionNo(2),
            },
            Some([5; 16]),
            "2c6ed273c7944706a3bd78c6b86535fa97c8ab8b25c17cea223f323889b542f8",
        ),
        (
            EventKind::ProposalRefused { proposal: PROPOSAL, reason: Refusal::SourcesChanged },
            Some([5; 16]),
            "f0f0d5d9b506accd159d21be6945645292b5d2c51c3fb0e1cd80c065b3efd8a7",
        ),
        (
            EventKind::ProposalDismissed { proposal: PROPOSAL },
            Some([5; 16]),
            "7e3feb5eb71071581c103b2ef402ff233d827e3ef77ab3ce7f3c02b10adf2547",
        ),
        (
            EventKind::RepairNotNeeded { result: RESULT, task: TASK, fence: 4 },
            Some([4; 16]),
            "7e6db3d84e3295f1247e6c7a43d61a95d26b907f77a1d5962e5af241d36b166e",
        ),
        (
            EventKind::Settled { act: ACT, done: true },
            Some([1; 16]),
            "e52b522066f5f5234aef0b1cdf8637bfd420c25739da0c8c5e187158d697e778",
        ),
        (
            EventKind::ClockAccepted { from_ms: 43_200_999, to_ms: -1 },
            None,
            "e19c258dc4e2d384afe81fd3ea861c0d10f5402f10f29a07ef90f72e81262cab",
        ),
    ];

    /// The first event of a log.
    fn first(kind: &EventKind) -> AuditEvent {
        AuditEvent::following(0, AuditEvent::GENESIS, ACT, NOON, kind)
    }

    // spec: D4
    // The digests were computed by another program from the description of the canonical bytes.
    #[test]
    fn the_digest_of_every_kind_never_changes() {
        for (kind, _, digest) in GOLDEN {
            assert_eq!(first(&kind).digest.to_string(), digest, "{kind:?}");
        }
    }

    #[test]
    fn every_kind_reads_back_as_written_and_is_about_its_subject() {
        let mut words = BTreeSet::new();
        for (kind, subject, _) in GOLDEN {
            let event = first(&kind);
            assert_eq!((event.kind(), event.subject), (Some(kind), subject));
            let word: serde_json::Value = serde_json::from_slice(&event.bytes).expect("JSON");
            words.insert(word["kind"].to_string());
        }
        assert_eq!(words.len(), GOLDEN.len(), "a word stands for one kind");
    }

    // spec: D4
    #[test]
    fn a_chain_holds_from_the_first_event_to_the_last() {
        let (mut acts, mut previous) = (0, AuditEvent::GENESIS);
        for (kind, ..) in GOLDEN {
            let event = AuditEvent::following(acts, previous, ACT, NOON, &kind);
            assert!(event.follows(acts, &previous));
            assert!(!event.follows(acts + 1, &previous), "a number is missing");
            assert!(!event.follows(acts, &event.digest), "another event stood before");
            (acts, previous) = (event.seq, event.digest);
        }
    }

    // spec: D4
    #[test]
    fn a_change_of_any_field_breaks_the_chain() {
        let event = first(&GOLDEN[4].0);
        let other = AuditEvent::following(1, event.digest, ACT, NOON, &GOLDEN[5].0);
        for changed in [
            AuditEvent { seq: 2, ..event.clone() },
            AuditEvent { act: ActId::from_bytes([9; 16]), ..event.clone() },
            AuditEvent { at: Timestamp::from_seconds(43_201), ..event.clone() },
            AuditEvent { subject: None, ..event.clone() },
            AuditEvent { subject: Some([9; 16]), ..event.clone() },
            AuditEvent { bytes: other.bytes.clone(), ..event.clone() },
            AuditEvent { previous: other.digest, ..event.clone() },
            AuditEvent { digest: other.digest, ..event.clone() },
        ] {
            assert!(!changed.follows(0, &AuditEvent::GENESIS), "{changed:?}");
        }
        assert!(event.follows(0, &AuditEvent::GENESIS));
    }

    #[test]
    fn what_this_version_does_not_know_is_no_kind() {
        let event = first(&GOLDEN[0].0);
        for text in
            ["", "{}", r#"{"kind":"folder_painted","folder":"00"}"#, r#"{"kind":"task_queued"}"#]
        {
            let unknown = AuditEvent { bytes: text.into(), ..event.clone() };
            assert_eq!(unknown.kind(), None, "{text}");
        }
    }
}
