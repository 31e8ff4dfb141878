//! Use cases: one file each, all of the same shape.
//!
//! Four beats: **look** at sources with no transaction open, **load** the few rows that the rule needs, **decide** by a
//! pure function of these values, **commit** one batch with its event. They are written once here: `act`
//! for what changes something, `deliver` for what shows something, `settle` for a commit in doubt.
//!
//! To read: `ask` and `run` are a report's life, `show` is what becomes of it, `approve` and `revoke` are who may see
//! it. `survey` looks at everything that is quoted, and `refresh`, `status`, `check` and the worker tell of it.

mod accept_clock;
mod answer;
mod apply;
mod approve;
mod ask;
mod backup;
mod cancel;
mod case;
mod check;
mod compare;
mod deliver;
mod doctor;
mod error;
mod export;
mod find;
mod findings;
mod folders;
mod history;
mod ledger;
mod list;
mod log;
mod looks;
mod overview;
mod prepare;
mod proposals;
mod publish;
mod refresh;
mod repair;
mod restore;
mod revoke;
mod rows;
mod run;
mod search;
mod sheet;
mod show;
mod status;
mod survey;
mod tasks;
mod worker;

pub use accept_clock::AcceptedClock;
pub use apply::ApplyError;
pub use approve::{ApproveError, Approved};
pub use ask::{AskError, ReportAsk};
pub use backup::BackupRefusal;
pub use cancel::CancelError;
pub use check::{CheckAsk, CheckError, Defect, FailOn, NoSuchDefect};
pub use doctor::Checkup;
pub use error::Failure;
pub use export::ExportError;
pub use find::FindError;
pub use history::HistoryError;
pub use list::{ListError, StateFilter};
pub use proposals::ProposalError;
pub use repair::{AskRepairError, RepairAsk, RepairError, Repaired};
pub use restore::{Prepared, Restore, RestoreError};
pub use revoke::{FolderName, RevokeError};
pub use run::{RunEnding, RunError};
pub use show::ShowError;
pub use survey::Reading;
pub use worker::{Told, Until};

use crate::audit::EventKind;
use crate::folder::Grants;
use crate::id::{ActId, WorkerId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::port::{
    Act, Batch, CommitError, Events, Head, Ids, Note, Patience, Put, ReadTx, SourceDoor, Store,
    StoreError, WriteTx,
};
use crate::time::{Now, Timestamp};
use std::sync::Arc;

/// One workspace: its records, the way to its sources, and names for new things. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use work_core::id::{OwnerId, SiteId, WorkspaceId};
/// use work_core::memory::{MemoryDoor, MemoryStore};
/// use work_core::path::HostPath;
/// use work_core::port::Quiet;
/// use work_core::retrieve::Query;
/// use work_core::testkit::fakes::{CountingIds, FakeClock};
/// use work_core::workspace::{ReportAsk, Workspace};
///
/// let (workspace, owner, site) = ([1; 16], [2; 16], [3; 16]);
/// let store = MemoryStore::new(
///     WorkspaceId::from_bytes(workspace),
///     OwnerId::from_bytes(owner),
///     SiteId::from_bytes(site),
///     Arc::new(FakeClock::at(1_000)),
/// );
/// let door = MemoryDoor::new().file("/handbook/backups.md", "Backups are kept for 35 days.\n");
/// let work = Workspace::new(Arc::new(store), Arc::new(door), Arc::new(CountingIds::new()));
///
/// work.approve(&HostPath::from_bytes("/handbook"), None, &mut Quiet)?;
/// let ask = ReportAsk::everywhere(Query::parse("how long are backups kept")?);
/// let report = work.report(&ask, &mut Quiet)?;
/// assert_eq!(report.body.expect("visible").excerpts[0].text, "Backups are kept for 35 days.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Workspace {
    store: Arc<dyn Store>,
    door: Arc<dyn SourceDoor>,
    ids: Arc<dyn Ids>,
    limits: Arc<Limits>,
}

/// What a decision comes to: the answer, and what is to be written for it.
pub(crate) struct Decision<T> {
    pub(crate) answer: T,
    pub(crate) act: Option<(EventKind, Vec<Put>)>,
    pub(crate) notes: Vec<Note>,
    /// Observations among the notes: how far the count of looks grows.
    pub(crate) looks: u64,
    /// Whether somebody may see more or less than before.
    pub(crate) access_moved: bool,
    /// The worker that looks at the interval from now on, if it is another than before, and until when.
    pub(crate) refresher: Option<(WorkerId, Timestamp)>,
    /// Whether the time is stored though nothing else is.
    pub(crate) keeps_time: bool,
}

impl<T> Decision<T> {
    /// Nothing to do.
    pub(crate) const fn nothing(answer: T) -> Self {
        Self {
            answer,
            act: None,
            notes: Vec::new(),
            looks: 0,
            access_moved: false,
            refresher: None,
            keeps_time: false,
        }
    }

    /// Nothing but the time, which is stored.
    pub(crate) fn time(answer: T) -> Self {
        Self { keeps_time: true, ..Self::nothing(answer) }
    }

    /// An act with its event.
    pub(crate) fn act(answer: T, kind: EventKind, puts: Vec<Put>) -> Self {
        Self { act: Some((kind, puts)), ..Self::nothing(answer) }
    }

    /// The same with the looks that it was made on.
    pub(crate) fn with_looks(self, noted: looks::Noted) -> Self {
        let looks::Noted { notes, count, access_moved } = noted;
        Self { notes, looks: count, access_moved, ..self }
    }

    fn is_nothing(&self) -> bool {
        let is_silent = self.act.is_none() && self.notes.is_empty();
        is_silent && self.refresher.is_none() && !self.keeps_time
    }
}

/// What every decision gets to know: the time, and the head at that time.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) head: Head,
    pub(crate) now: Now,
}

impl Workspace {
    /// A workspace over these ports, with the limits of the specification.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, door: Arc<dyn SourceDoor>, ids: Arc<dyn Ids>) -> Self {
        Self { store, door, ids, limits: Arc::new(Limits::standard()) }
    }

    /// The same with other limits. A raised one is recorded in the results that it shapes.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits: Arc::new(limits), ..self }
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A name for one start of one worker.
    #[must_use]
    pub fn new_worker(&self) -> WorkerId {
        self.fresh(WorkerId::from_bytes)
    }

    fn fresh<T>(&self, named: fn([u8; 16]) -> T) -> T {
        crate::port::fresh(self.ids.as_ref(), named)
    }

    fn patience(&self) -> Patience {
        Patience { lock: self.limits.lock_wait, whole: self.limits.transaction }
    }

    /// One snapshot, with the time at which it was taken.
    fn read<T>(
        &self,
        questions: impl FnOnce(&mut dyn ReadTx, &Moment) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        let mut tx = self.store.read(self.patience())?;
        let moment = moment(tx.as_mut())?;
        Ok(questions(tx.as_mut(), &moment)?)
    }

    /// Load, decide, commit, under the write lock. A refusal changes nothing.
    fn act<L, T, R>(
        &self,
        load: impl FnOnce(&mut dyn ReadTx, &Moment) -> Result<L, StoreError>,
        decide: impl FnOnce(L, &Moment) -> Result<Decision<T>, R>,
    ) -> Result<Result<T, R>, Failure> {
        let mut tx = self.store.write(self.patience())?;
        let moment = moment(tx.reads())?;
        let loaded = load(tx.reads(), &moment)?;
        match decide(loaded, &moment) {
            Ok(decision) => self.commit(tx, moment.head, decision).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Writes what was decided, if it is anything.
    fn commit<T>(
        &self,
        tx: Box<dyn WriteTx + '_>,
        head: Head,
        decision: Decision<T>,
    ) -> Result<T, Failure> {
        if decision.is_nothing() {
            return Ok(decision.answer);
        }
        let id = self.fresh(ActId::from_bytes);
        let moved = Head {
            looks: head.looks + decision.looks,
            access: head.access + u64::from(decision.access_moved),
            refresher: decision.refresher.or(head.refresher),
            ..head
        };
        let (head, act) = match decision.act {
            Some((kind, puts)) => {
                let (head, event) = moved.record(id, &kind);
                (head, Some(Act { event, puts }))
            }
            None => (moved, None),
        };
        let is_act = act.is_some();
        match tx.commit(&Batch { head, act, notes: decision.notes }) {
            Ok(()) => Ok(decision.answer),
            Err(CommitError::NotDone(cause)) => Err(Failure::Store(cause)),
            Err(CommitError::Overtaken) => Err(Failure::Overtaken),
            // A look or a renewal in doubt needs no settling: the next one decides anew.
            Err(CommitError::Unknown(cause)) if !is_act || is_planted(Fault::DoubtIsNo) => {
                Err(Failure::Store(cause))
            }
            Err(CommitError::Unknown(cause)) => {
                self.settle(id, cause)?.then_some(decision.answer).ok_or(Failure::Lost(cause))
            }
        }
    }

    /// Whether the act in doubt happened: looks under the write lock and commits an event of its own before it answers,
    /// since a look alone tells nothing that lasts.
    fn settle(&self, act: ActId, cause: StoreError) -> Result<bool, Failure> {
        if is_planted(Fault::PlainLook) {
            return self.read(|tx, _| Ok(!tx.events(Events::Act(act))?.is_empty()));
        }
        self.try_to_settle(act).map_err(|_| Failure::UnknownOutcome { act, cause })
    }

    fn try_to_settle(&self, act: ActId) -> Result<bool, CommitError> {
        let mut tx = self.store.write(self.patience()).map_err(CommitError::NotDone)?;
        let Moment { head, .. } = moment(tx.reads()).map_err(CommitError::NotDone)?;
        let found = tx.reads().events(Events::Act(act)).map_err(CommitError::NotDone)?;
        let done = !found.is_empty();
        let (head, event) =
            head.record(self.fresh(ActId::from_bytes), &EventKind::Settled { act, done });
        tx.commit(&Batch { head, act: Some(Act { event, puts: Vec::new() }), notes: Vec::new() })?;
        Ok(done)
    }
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workspace").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The head with its time advanced to now.
fn moment(tx: &mut dyn ReadTx) -> Result<Moment, StoreError> {
    let (head, reading) = tx.head()?;
    let (head, now) = head.at(reading);
    Ok(Moment { head, now })
}

/// All grants without their versions.
fn grants(tx: &mut dyn ReadTx) -> Result<Grants, StoreError> {
    Ok(Grants::new(tx.folders()?.into_iter().map(|kept| kept.value).collect()))
}
