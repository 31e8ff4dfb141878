//! `cancel`: immediate in the record, and it wins over everything later.

use super::{Decision, Failure, Workspace, grants, tasks};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::wire::TaskDoc;
use crate::id::TaskId;
use crate::port::{Asked, Change, Kept, Put, Tasks};
use crate::redact::Access;
use crate::task::{self, Ask, Refusal, RunEnd};

/// Why a task is not cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    /// There is no task of this id.
    #[error("there is no such task")]
    Unknown,
    /// It has ended.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for CancelError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::Refused(_) => Code::NotRunning,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Workspace {
    /// Cancels a task that is queued or running.
    ///
    /// # Errors
    /// [`CancelError`]: no such task, one that has ended, or a failure.
    pub fn cancel(&self, id: TaskId) -> Result<TaskDoc, CancelError> {
        self.act(
            |tx, _| {
                let found = tx.tasks(Tasks::Ids(&[id]))?.pop();
                let runs = match &found {
                    Some(asked) => tx.runs(&[(id, asked.task.value.fence)])?,
                    None => Vec::new(),
                };
                Ok((found, runs, Access::new(grants(tx)?)))
            },
            |(found, mut runs, access), moment| {
                let Kept { version, value: task } = found.ok_or(CancelError::Unknown)?.task;
                let transition = task::decide(&task, Ask::Cancel, moment.now, &self.limits)?;
                let task = task.after(transition, moment.now);
                let answer = Asked { task: Kept { version, value: task.clone() }, progress: None };
                let mut puts = vec![Put::Task(Change::From(version, task))];
                puts.extend(
                    runs.pop().and_then(|run| super::run::ended(run, RunEnd::Cancelled, moment)),
                );
                let answer = tasks::document(answer, None, &access, tasks::Told::Whole);
                Ok(Decision::act(answer, EventKind::TaskCancelled { task: id }, puts))
            },
        )?
    }
}
