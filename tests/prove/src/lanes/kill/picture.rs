//! What is stored, taken in one snapshot, and whether it is what its log says.

use std::collections::BTreeMap;
use std::time::Duration;
use work_core::audit::{AuditEvent, EventKind};
use work_core::digest::Digest;
use work_core::folder::GrantState;
use work_core::id::{GrantId, ProposalId, ResultId, TaskId};
use work_core::port::{
    Events, Patience, Proposals, ReadTx, Results, Revisions, Store, StoreError, Tasks,
};
use work_core::proposal::{Proposal, ProposalKind, ProposalState};
use work_core::task::TaskState;

/// Everything there is to read here, which is little.
const ALL: u32 = 5000;

/// How long a look may wait: others may have been killed over it, and recovery takes its time.
const PATIENCE: Patience =
    Patience { lock: Duration::from_secs(30), whole: Duration::from_secs(30) };

/// The records of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Picture {
    /// The digest of every event, in order, with what it tells.
    pub(super) log: Vec<(Digest, EventKind)>,
    /// Whether each folder is approved.
    pub(super) folders: BTreeMap<GrantId, bool>,
    /// Where each task stands.
    pub(super) tasks: BTreeMap<TaskId, TaskWord>,
    /// The accepted revision of each result.
    pub(super) results: BTreeMap<ResultId, u64>,
    /// The body of each revision.
    pub(super) revisions: BTreeMap<(ResultId, u64), Digest>,
    /// Each proposal.
    pub(super) proposals: BTreeMap<ProposalId, Proposal>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskWord {
    Queued,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl TaskWord {
    /// As commands say it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl From<TaskState> for TaskWord {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Queued => Self::Queued,
            TaskState::Running(_) => Self::Running,
            TaskState::Succeeded(_) => Self::Succeeded,
            TaskState::Failed(_) => Self::Failed,
            TaskState::Cancelled => Self::Cancelled,
        }
    }
}

impl Picture {
    /// Takes one.
    ///
    /// # Errors
    /// What the store says.
    pub(super) fn take(store: &dyn Store) -> Result<Self, StoreError> {
        let mut tx = store.read(PATIENCE)?;
        let tx = tx.as_mut();
        let mut picture = Self { log: log(tx)?, ..Self::default() };
        for kept in tx.folders()? {
            picture.folders.insert(kept.value.id, kept.value.state == GrantState::Active);
        }
        for asked in tx.tasks(Tasks::Latest { before: None, most: ALL })? {
            picture.tasks.insert(asked.task.value.id, asked.task.value.state.into());
        }
        for kept in tx.results(Results::Latest { before: None, most: ALL })? {
            picture.results.insert(kept.value.id, kept.value.accepted.0);
        }
        let results: Vec<ResultId> = picture.results.keys().copied().collect();
        let latest = Revisions::LatestOf { results: &results, before: None, each: 100 };
        for revision in tx.revisions(latest)? {
            picture.revisions.insert((revision.result, revision.no.0), revision.body);
        }
        for kept in tx.proposals(Proposals::Latest { before: None, most: ALL })? {
            picture.proposals.insert(kept.value.id, kept.value);
        }
        Ok(picture)
    }

    /// Whether the log of `before` is the beginning of this one.
    pub(super) fn goes_on_from(&self, before: &Self) -> bool {
        self.log.starts_with(&before.log)
    }

    /// Whether the records are what the log says, no more and no less.
    ///
    /// # Errors
    /// In words, where they differ.
    pub(super) fn is_whole(&self) -> Result<(), String> {
        let said = Said::by(self);
        same("folders", &said.folders, &self.folders)?;
        same("tasks", &said.tasks, &self.tasks)?;
        same("results", &said.results, &self.results)?;
        let numbers = |(&id, &last): (&ResultId, &u64)| (1..=last).map(move |no| (id, no));
        let expected: Vec<_> = said.results.iter().flat_map(numbers).collect();
        same("revisions", &expected, &self.revisions.keys().copied().collect())?;
        let ended = self.proposals.iter().map(|(&id, proposal)| (id, End::of(proposal.state)));
        same("proposals", &said.proposals, &ended.collect())
    }

    /// Tasks in this place.
    pub(super) fn tasks_that_are(&self, word: TaskWord) -> Vec<TaskId> {
        self.tasks.iter().filter(|(_, is)| **is == word).map(|(id, _)| *id).collect()
    }

    /// Proposals that wait for the accepted revision.
    pub(super) fn waiting(&self) -> Vec<&Proposal> {
        let waits = |one: &&Proposal| {
            one.state == ProposalState::Pending
                && self.results.get(&one.result) == Some(&one.base.0)
        };
        self.proposals.values().filter(waits).collect()
    }
}

/// Whether two tellings of the same are the same.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, said: &T, stored: &T) -> Result<(), String> {
    if said == stored {
        Ok(())
    } else {
        Err(format!("the log says of {what} {said:?}, stored is {stored:?}"))
    }
}

/// The whole log.
fn log(tx: &mut dyn ReadTx) -> Result<Vec<(Digest, EventKind)>, StoreError> {
    let read = |event: AuditEvent| Some((event.digest, event.kind()?));
    let events = tx.events(Events::After { seq: 0, most: ALL })?;
    events.into_iter().map(|event| read(event).ok_or(StoreError::Damaged)).collect()
}

/// How a proposal ended, as far as an event says: what another one replaced has none of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Applied,
    Dismissed,
}

impl End {
    const fn of(state: ProposalState) -> Self {
        match state {
            ProposalState::Pending | ProposalState::Superseded(..) | ProposalState::Expired(_) => {
                Self::Open
            }
            ProposalState::Applied(_) => Self::Applied,
            ProposalState::Dismissed(_) => Self::Dismissed,
        }
    }
}

/// What a log says that there is.
#[derive(Debug, Default)]
struct Said {
    folders: BTreeMap<GrantId, bool>,
    tasks: BTreeMap<TaskId, TaskWord>,
    results: BTreeMap<ResultId, u64>,
    proposals: BTreeMap<ProposalId, End>,
}

impl Said {
    fn by(picture: &Picture) -> Self {
        let mut said = Self::default();
        picture.log.iter().for_each(|(_, event)| said.hear(event, picture));
        said
    }

    fn hear(&mut self, event: &EventKind, picture: &Picture) {
        match *event {
            EventKind::FolderApproved { folder } => drop(self.folders.insert(folder, true)),
            EventKind::FolderRevoked { folder } => drop(self.folders.insert(folder, false)),
            EventKind::TaskQueued { task } | EventKind::TaskGivenBack { task, .. } => {
                self.task(task, TaskWord::Queued);
            }
            EventKind::TaskLeased { task, .. } => self.task(task, TaskWord::Running),
            EventKind::TaskCancelled { task } => self.task(task, TaskWord::Cancelled),
            EventKind::TaskFailed { task, .. } | EventKind::TaskAbandoned { task } => {
                self.task(task, TaskWord::Failed);
            }
            EventKind::ResultPublished { result, revision, task, .. } => {
                self.results.insert(result, revision.0);
                self.task(task, TaskWord::Succeeded);
            }
            EventKind::RepairNotNeeded { task, .. } => self.task(task, TaskWord::Succeeded),
            EventKind::ProposalPrepared { proposal, .. } => {
                self.proposals.insert(proposal, End::Open);
                // The run that prepares a repair ends with it, and the event does not name its task.
                let kind = picture.proposals.get(&proposal).map(|proposal| proposal.kind);
                if let Some(ProposalKind::Repair { task, .. }) = kind {
                    self.task(task, TaskWord::Succeeded);
                }
            }
            EventKind::ProposalApplied { proposal, result, revision } => {
                self.proposals.insert(proposal, End::Applied);
                self.results.insert(result, revision.0);
            }
            EventKind::ProposalDismissed { proposal } => {
                self.proposals.insert(proposal, End::Dismissed);
            }
            EventKind::RulesChanged { .. }
            | EventKind::ProposalRefused { .. }
            | EventKind::Settled { .. }
            | EventKind::ClockAccepted { .. } => {}
        }
    }

    fn task(&mut self, task: TaskId, word: TaskWord) {
        self.tasks.insert(task, word);
    }
}
