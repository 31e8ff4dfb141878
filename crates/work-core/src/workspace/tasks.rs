//! `tasks`: what was asked for, and how far it has come.

use super::list::{ListError, TaskCursor};
use super::{FindError, Workspace, grants};
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::stored;
use crate::document::wire::{TaskDoc, TaskErrorDoc, TasksDoc};
use crate::id::{ResultId, TaskId};
use crate::port::{Asked, Document, Kept, Quotations, ReadTx, StoreError, Tasks, Version};
use crate::redact::Access;
use crate::report::ScanRecord;
use crate::task::{FailureReason, Success, Task, TaskKind, TaskState};
use std::collections::{BTreeMap, BTreeSet};

impl Workspace {
    /// One task.
    ///
    /// # Errors
    /// [`FindError::Unknown`] when there is none of this id, or a failure.
    pub fn task(&self, id: TaskId) -> Result<TaskDoc, FindError> {
        self.deliver(|tx, _| {
            let found = tx.tasks(Tasks::Ids(&[id]))?;
            Ok(self.task_documents(tx, found)?.pop().ok_or(FindError::Unknown))
        })?
    }

    /// The latest tasks, 100 at a time; `cursor` is the `next` of the list before.
    ///
    /// # Errors
    /// [`ListError`]: a cursor of another list, or a failure.
    pub fn tasks(&self, cursor: Option<&str>) -> Result<TasksDoc, ListError> {
        let before = cursor.map(TaskCursor::parse).transpose()?;
        let most = self.limits.list;
        self.deliver(|tx, _| {
            let mut found = tx.tasks(Tasks::Latest { before, most: most + 1 })?;
            let more = found.len() > most as usize;
            found.truncate(most as usize);
            let next =
                found.last().filter(|_| more).map(|last| TaskCursor::write(last.task.value.id));
            Ok(Ok(TasksDoc { tasks: self.task_documents(tx, found)?, next }))
        })?
    }

    /// Tasks as documents, each with the scan record of its failure.
    pub(super) fn task_documents(
        &self,
        tx: &mut dyn ReadTx,
        found: Vec<Asked>,
    ) -> Result<Vec<TaskDoc>, StoreError> {
        let access = Access::new(grants(tx)?);
        let hidden = hidden(tx, &found)?;
        let digests: Vec<Digest> =
            found.iter().filter_map(|asked| scan_digest(&asked.task.value)).collect();
        let scans: BTreeMap<Digest, ScanRecord> = tx
            .documents(&digests, self.limits.scan_bytes)?
            .into_iter()
            .filter_map(|(digest, sealed)| Some((digest, self.read_scan(digest, sealed)?)))
            .collect();
        let scan_of = |task: &Task| scan_digest(task).and_then(|digest| scans.get(&digest));
        Ok(found
            .into_iter()
            .map(|asked| {
                let scan = scan_of(&asked.task.value).cloned();
                let repairs = asked.task.value.kind.repairs();
                let searched = &asked.task.value.request.scope;
                let in_force = searched.iter().all(|&folder| access.is_active(folder));
                let outcome = match repairs.filter(|id| hidden.contains(id) || !in_force) {
                    Some(_) => Told::Withheld,
                    None => Told::Whole,
                };
                document(asked, scan, &access, outcome)
            })
            .collect())
    }

    fn read_scan(
        &self,
        digest: Digest,
        sealed: crate::redact::Sealed<Document>,
    ) -> Option<ScanRecord> {
        stored::read_scan((digest, &crate::redact::scan_record(sealed)), &self.limits)
    }
}

/// A task that was just made, as a store would answer it.
pub(super) fn as_new(task: &Task) -> Asked {
    Asked { task: Kept { version: Version(1), value: task.clone() }, progress: None }
}

fn scan_digest(task: &Task) -> Option<Digest> {
    match task.state {
        TaskState::Failed(failure) => failure.scan,
        TaskState::Queued
        | TaskState::Running(_)
        | TaskState::Succeeded(_)
        | TaskState::Cancelled => None,
    }
}

/// Whether what came of a repair is told: it says something of what the result holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// All of it.
    Whole,
    /// The result must not be seen, or a folder that was searched was withdrawn since.
    Withheld,
}

/// The results that these tasks repair and that must not be seen, as far as their last looks tell.
fn hidden(tx: &mut dyn ReadTx, found: &[Asked]) -> Result<BTreeSet<ResultId>, StoreError> {
    let repaired: Vec<ResultId> =
        found.iter().filter_map(|asked| asked.task.value.kind.repairs()).collect();
    if repaired.is_empty() {
        return Ok(BTreeSet::new());
    }
    let quoted = tx.quotations(Quotations::Of(&repaired))?;
    let mut access = Access::new(grants(tx)?);
    for one in &quoted {
        access.learn(&one.observed.source, one.observed.observation.as_ref(), None);
    }
    let rests_on = |result: ResultId| {
        let mine = quoted.iter().filter(move |one| one.result == result);
        mine.map(|one| (one.cited.source, one.cited.version))
    };
    let hides = |result: &ResultId| access.state(rests_on(*result)).hides();
    Ok(repaired.iter().filter(|result| hides(result)).copied().collect())
}

/// A task as documents show it.
pub(super) fn document(
    asked: Asked,
    scan: Option<ScanRecord>,
    access: &Access,
    told: Told,
) -> TaskDoc {
    let task = asked.task.value;
    let progress =
        asked.progress.and_then(|progress| access.open_progress(progress, &task.request));
    let (artifact_id, proposal_id, outcome) = match (task.state, task.kind) {
        (TaskState::Succeeded(Success::Published(result, _)), _) => {
            (Some(result), None, Some("published"))
        }
        (TaskState::Succeeded(_) | TaskState::Failed(_), kind) if told == Told::Withheld => {
            (kind.repairs(), None, None)
        }
        (TaskState::Succeeded(Success::Proposed(proposal)), kind) => {
            (kind.repairs(), Some(proposal), None)
        }
        (TaskState::Succeeded(Success::NoChange), kind) => {
            (kind.repairs(), None, Some("no_change"))
        }
        (
            TaskState::Queued | TaskState::Running(_) | TaskState::Failed(_) | TaskState::Cancelled,
            kind,
        ) => (kind.repairs(), None, None),
    };
    TaskDoc {
        task_id: task.id,
        kind: match task.kind {
            TaskKind::Report => "report",
            TaskKind::Repair(_) => "repair",
        },
        query: task.request.query,
        state: task.state.as_str(),
        attempt: task.attempts,
        progress,
        created_at: task.created_at,
        updated_at: task.updated_at,
        artifact_id,
        proposal_id,
        outcome,
        error: error(task.state).filter(|_| told == Told::Whole),
        scan: scan.filter(|_| told == Told::Whole).map(|scan| access.scan(scan)),
    }
}

/// Why a task failed, in code and words.
fn error(state: TaskState) -> Option<TaskErrorDoc> {
    match state {
        TaskState::Failed(failure) => Some(TaskErrorDoc {
            code: failure.why.code().as_str(),
            message: failure.why.to_string(),
        }),
        TaskState::Queued
        | TaskState::Running(_)
        | TaskState::Succeeded(_)
        | TaskState::Cancelled => None,
    }
}

impl Coded for FailureReason {
    fn code(&self) -> Code {
        match self {
            Self::NoMatches => Code::NoMatches,
            Self::NoSources => Code::NoSources,
            Self::Abandoned => Code::Abandoned,
            Self::EvidenceUnavailable => Code::EvidenceUnavailable,
            Self::RefreshIncomplete => Code::RefreshIncomplete,
            Self::TooLarge => Code::TooLarge,
            Self::Internal => Code::Internal,
        }
    }
}
