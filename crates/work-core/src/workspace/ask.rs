//! Asking for a report: a task that is durable before the request returns.

use super::tasks::{self, Told};
use super::{Decision, Failure, Moment, Workspace, grants};
use crate::audit::EventKind;
use crate::canonical::Canonical;
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::wire::TaskDoc;
use crate::folder::Grants;
use crate::id::{GrantId, TaskId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::port::{Asked, Change, Put, ReadTx, Request, RequestKey, StoreError, Tasks};
use crate::redact::Access;
use crate::retrieve::Query;
use crate::task::{ReportRequest, Task, TaskKind, TaskState};

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

    fn keyed(&self) -> Option<Keyed> {
        Keyed::new(self.key.as_deref(), self.digest())
    }
}

/// A request under a client's key: the key as its digest, and the digest of what is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed {
    key: RequestKey,
    asks: Digest,
}

impl Keyed {
    /// What is asked under a key, if there is one.
    pub(super) fn new(key: Option<&str>, asks: Digest) -> Option<Self> {
        let key = RequestKey(Digest::tagged("work.key/1", key?.as_bytes()));
        Some(Self { key, asks })
    }

    /// What to write so that the key stands for a new task.
    fn puts(self, task: TaskId, moment: &Moment, limits: &Limits) -> [Put; 2] {
        let (Self { key, asks }, at) = (self, moment.now.at);
        let before = at.minus(limits.key_life);
        [
            Put::ForgetRequests { before, most: limits.keys_forgotten },
            Put::Request(Request { key, asks, task, created_at: at }),
        ]
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

/// What is known when work is asked for.
pub(super) struct Queue {
    pub(super) grants: Grants,
    /// Tasks that are queued or running.
    pub(super) open: Vec<Asked>,
    before: Option<(Request, TaskDoc)>,
}

/// The key stands for another request.
pub(super) struct KeyConflict;

/// As many tasks wait as may.
pub(super) struct QueueFull(pub(super) usize);

impl Queue {
    /// What the same key asked for before, if it still counts.
    pub(super) fn before(
        &mut self,
        keyed: Option<Keyed>,
        moment: &Moment,
        limits: &Limits,
    ) -> Result<Option<TaskDoc>, KeyConflict> {
        let Some((Keyed { asks, .. }, (request, first))) = keyed.zip(self.before.take()) else {
            return Ok(None);
        };
        let (from, until) = (request.created_at, request.created_at.plus(limits.key_life));
        // One from the future was made before the owner set time back, and would last until then.
        let past = is_planted(Fault::RepeatedRequest);
        let lasts = from <= moment.now.at && moment.now.at < until && !past;
        match (lasts, request.asks == asks) {
            (true, true) => Ok(Some(first)),
            (true, false) => Err(KeyConflict),
            (false, _) => Ok(None),
        }
    }

    /// Whether one more may wait.
    pub(super) fn room(&self, limits: &Limits) -> Result<(), QueueFull> {
        let waits = |asked: &&Asked| asked.task.value.state == TaskState::Queued;
        let queued = self.open.iter().filter(waits).count();
        if queued < limits.queued { Ok(()) } else { Err(QueueFull(limits.queued)) }
    }

    /// A new task, as it is answered and written.
    pub(super) fn queued(
        self,
        task: Task,
        keyed: Option<Keyed>,
        moment: &Moment,
        limits: &Limits,
    ) -> Decision<TaskDoc> {
        let id = task.id;
        let answer =
            tasks::document(tasks::as_new(&task), None, &Access::new(self.grants), Told::Whole);
        let key = keyed.into_iter().flat_map(|keyed| keyed.puts(id, moment, limits));
        let puts = std::iter::once(Put::Task(Change::New(task))).chain(key).collect();
        Decision::act(answer, EventKind::TaskQueued { task: id }, puts)
    }

    /// A task that is open already, as it is answered. A key that asked for it stands for it from now on, so that it
    /// returns it also when it has ended.
    pub(super) fn joined(
        self,
        open: Asked,
        keyed: Option<Keyed>,
        moment: &Moment,
        limits: &Limits,
    ) -> Decision<TaskDoc> {
        let id = open.task.value.id;
        let answer = tasks::document(open, None, &Access::new(self.grants), Told::Whole);
        match keyed {
            None => Decision::nothing(answer),
            Some(keyed) => {
                let puts = keyed.puts(id, moment, limits).into();
                Decision::act(answer, EventKind::TaskQueued { task: id }, puts)
            }
        }
    }
}

impl Workspace {
    /// Queues a report and answers its task, or the task that the same key asked for before.
    ///
    /// # Errors
    /// [`AskError`]: nothing approved, an unknown folder, a full queue, a key of another request, or a failure.
    pub fn ask(&self, ask: &ReportAsk) -> Result<TaskDoc, AskError> {
        let id = self.fresh(TaskId::from_bytes);
        self.act(
            |tx, _| self.queue(tx, ask.keyed()),
            |queue, moment| decide(ask, queue, id, moment, &self.limits),
        )?
    }

    /// Reads what is open, and what a key asked for before.
    pub(super) fn queue(
        &self,
        tx: &mut dyn ReadTx,
        keyed: Option<Keyed>,
    ) -> Result<Queue, StoreError> {
        let request = match keyed {
            Some(Keyed { key, .. }) => tx.request(&key)?,
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
        Ok(Queue { grants: grants(tx)?, open, before })
    }
}

/// Whether a report is queued, and what is written for it.
fn decide(
    ask: &ReportAsk,
    mut queue: Queue,
    id: TaskId,
    moment: &Moment,
    limits: &Limits,
) -> Result<Decision<TaskDoc>, AskError> {
    if let Some(first) = queue.before(ask.keyed(), moment, limits)? {
        return Ok(Decision::nothing(first));
    }
    let characters = ask.query.as_str().chars().count();
    if characters > limits.query_characters {
        return Err(AskError::QueryTooLong { characters, most: limits.query_characters });
    }
    if queue.grants.is_empty() {
        return Err(AskError::SetupIncomplete);
    }
    let scope = ask.folders.clone().unwrap_or_else(|| queue.grants.searched());
    if let Some(unknown) = scope.iter().find(|&&folder| queue.grants.get(folder).is_none()) {
        return Err(AskError::UnknownFolder(*unknown));
    }
    queue.room(limits)?;
    let mut had = std::collections::BTreeSet::new();
    let scope = scope.into_iter().filter(|&folder| had.insert(folder)).collect();
    let request = ReportRequest { query: ask.query.as_str().to_owned(), scope };
    let task = Task::queued(id, TaskKind::Report, request, moment.now.at);
    Ok(queue.queued(task, ask.keyed(), moment, limits))
}

impl From<KeyConflict> for AskError {
    fn from(_: KeyConflict) -> Self {
        Self::KeyConflict
    }
}

impl From<QueueFull> for AskError {
    fn from(QueueFull(most): QueueFull) -> Self {
        Self::QueueFull(most)
    }
}
