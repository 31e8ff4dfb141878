//! Asking for a report: a task that is durable before the request returns.

use super::{Decision, Failure, Moment, Workspace, grants, tasks};
use crate::audit::EventKind;
use crate::canonical::Canonical;
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::wire::TaskDoc;
use crate::folder::Grants;
use crate::id::{GrantId, TaskId};
use crate::limits::Limits;
use crate::port::{Asked, Change, Put, ReadTx, Request, RequestKey, StoreError, Tasks};
use crate::redact::Access;
use crate::retrieve::Query;
use crate::task::{Fence, ReportRequest, Task, TaskKind, TaskState};

/// What is asked for: a query, where to look, and a client's key for the request.
#[derive(Clone, Debug)]
pub struct ReportAsk {
    /// The query.
    pub query: Query,
    /// The folders to search; all active ones if none are named.
    pub folders: Option<Vec<GrantId>>,
    /// A key under which the same request within 24 hours returns the same task.
    pub key: Option<String>,
}

impl ReportAsk {
    /// Asks all active folders.
    #[must_use]
    pub const fn everywhere(query: Query) -> Self {
        Self { query, folders: None, key: None }
    }

    /// What is asked, as a digest over the canonical bytes `work.request/1`: kind, query, and the folders named.
    fn digest(&self) -> Digest {
        let fields = Canonical::new("work.request/1").text("report").text(self.query.as_str());
        match &self.folders {
            None => fields.nothing().digest(),
            Some(folders) => {
                let count = fields.count(folders.len());
                folders.iter().fold(count, |fields, folder| fields.bytes(&folder.bytes())).digest()
            }
        }
    }

    fn request_key(&self) -> Option<RequestKey> {
        self.key.as_ref().map(|key| RequestKey(Digest::tagged("work.key/1", key.as_bytes())))
    }
}

/// Why nothing was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// No folder was ever approved.
    #[error("no folder is approved yet")]
    SetupIncomplete,
    /// The query is longer than this workspace allows.
    #[error("the query has {characters} characters, {most} at most are searched for")]
    QueryTooLong {
        /// What it has.
        characters: usize,
        /// What it may have.
        most: usize,
    },
    /// A folder of this id was never approved.
    #[error("folder {0} is unknown")]
    UnknownFolder(GrantId),
    /// As many tasks wait as may.
    #[error("{0} tasks wait already, as many as may")]
    QueueFull(usize),
    /// The key stands for another request.
    #[error("this key was used for another request within the last day")]
    KeyConflict,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for AskError {
    fn code(&self) -> Code {
        match self {
            Self::SetupIncomplete => Code::SetupIncomplete,
            Self::QueryTooLong { .. } => Code::InvalidQuery,
            Self::UnknownFolder(_) => Code::NotFound,
            Self::QueueFull(_) => Code::QueueFull,
            Self::KeyConflict => Code::KeyConflict,
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// What is known when a report is asked for.
struct Known {
    grants: Grants,
    open: Vec<Asked>,
    before: Option<(Request, TaskDoc)>,
}

impl Workspace {
    /// Queues a report and answers its task, or the task that the same key asked for before.
    ///
    /// # Errors
    /// [`AskError`]: nothing approved, an unknown folder, a full queue, a key of another request, or a failure.
    pub fn ask(&self, ask: &ReportAsk) -> Result<TaskDoc, AskError> {
        let id = self.fresh(TaskId::from_bytes);
        self.act(
            |tx, _| self.known(tx, ask),
            |known, moment| decide(ask, known, id, moment, &self.limits),
        )?
    }

    fn known(&self, tx: &mut dyn ReadTx, ask: &ReportAsk) -> Result<Known, StoreError> {
        let request = match ask.request_key() {
            Some(key) => tx.request(&key)?,
            None => None,
        };
        let before = match request {
            Some(request) => {
                let found = tx.tasks(Tasks::Ids(&[request.task]))?;
                self.task_documents(tx, found)?.pop().map(|task| (request, task))
            }
            None => None,
        };
        let open = tx.tasks(Tasks::Open { most: self.limits.page })?;
        Ok(Known { grants: grants(tx)?, open, before })
    }
}

/// Whether a report is queued, and what is written for it.
fn decide(
    ask: &ReportAsk,
    known: Known,
    id: TaskId,
    moment: &Moment,
    limits: &Limits,
) -> Result<Decision<TaskDoc>, AskError> {
    if let Some((request, first)) = known.before {
        let (from, until) = (request.created_at, request.created_at.plus(limits.key_life));
        // One from the future was made before the owner set time back, and would last until then.
        let lasts = from <= moment.now.at && moment.now.at < until;
        match (lasts, request.asks == ask.digest()) {
            (true, true) => return Ok(Decision::nothing(first)),
            (true, false) => return Err(AskError::KeyConflict),
            (false, _) => {}
        }
    }
    let characters = ask.query.as_str().chars().count();
    if characters > limits.query_characters {
        return Err(AskError::QueryTooLong { characters, most: limits.query_characters });
    }
    if known.grants.is_empty() {
        return Err(AskError::SetupIncomplete);
    }
    let scope = ask.folders.clone().unwrap_or_else(|| known.grants.searched());
    if let Some(unknown) = scope.iter().find(|&&folder| known.grants.get(folder).is_none()) {
        return Err(AskError::UnknownFolder(*unknown));
    }
    let queued =
        known.open.iter().filter(|asked| asked.task.value.state == TaskState::Queued).count();
    if queued >= limits.queued {
        return Err(AskError::QueueFull(limits.queued));
    }
    let task = queued_task(id, ask, scope, moment);
    let answer = tasks::document(tasks::as_new(&task), None, &Access::new(known.grants));
    Ok(Decision::act(answer, EventKind::TaskQueued { task: id }, puts(ask, task, moment, limits)))
}

/// A task that waits.
fn queued_task(id: TaskId, ask: &ReportAsk, mut scope: Vec<GrantId>, moment: &Moment) -> Task {
    let mut had = std::collections::BTreeSet::new();
    scope.retain(|&folder| had.insert(folder));
    Task {
        id,
        kind: TaskKind::Report,
        request: ReportRequest { query: ask.query.as_str().to_owned(), scope },
        state: TaskState::Queued,
        fence: Fence(0),
        attempts: 0,
        created_at: moment.now.at,
        updated_at: moment.now.at,
    }
}

/// The task, and the key that stands for it.
fn puts(ask: &ReportAsk, task: Task, moment: &Moment, limits: &Limits) -> Vec<Put> {
    let (id, at) = (task.id, moment.now.at);
    let mut puts = vec![Put::Task(Change::New(task))];
    if let Some(key) = ask.request_key() {
        puts.push(Put::ForgetRequests {
            before: at.minus(limits.key_life),
            most: limits.keys_forgotten,
        });
        puts.push(Put::Request(Request { key, asks: ask.digest(), task: id, created_at: at }));
    }
    puts
}
