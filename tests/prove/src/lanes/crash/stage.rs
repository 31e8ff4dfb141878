//! A workspace on a disk in memory: the product's own store and rules, a clock that stands, ids that count.
//!
//! Owns how a database on a recorded disk is opened, and that every commit is witnessed: what was told of it, where in
//! the disk's record it began and ended, and what the database held after it.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a proof is a finding")]

use super::state::State;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use work_core::audit::{AuditEvent, EventKind};
use work_core::id::ActId;
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::port::{Batch, CommitError, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::fakes::{CountingIds, FakeClock};
use work_core::workspace::Workspace;
use work_faultvfs::disk::Disk;
use work_faultvfs::record::Image;
use work_store::sqlite::SqliteStore;

/// The database's name.
pub(crate) const DATABASE: &str = "work.sqlite";

/// What is around a database: the folders, the time.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) door: Arc<MemoryDoor>,
    pub(crate) clock: Arc<FakeClock>,
}

/// A disk with a database on it.
pub(crate) struct Stage {
    pub(crate) disk: Arc<Disk>,
    pub(crate) around: Surroundings,
}

/// An open database.
pub(crate) struct Opened {
    pub(crate) work: Workspace,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) witness: Arc<Witness>,
}

impl Stage {
    /// A disk of its own with these files.
    pub(crate) fn new(image: Image, around: &Surroundings) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let directory = format!("/recorded/{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self { disk: Arc::new(Disk::new(&directory, image)), around: around.clone() }
    }

    /// Where the database is.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("{}/{DATABASE}", self.disk.directory()))
    }

    /// What the database holds.
    pub(crate) fn state(&self) -> Result<State, String> {
        State::of(&self.path())
    }

    /// Opens the database as every program does; ids begin at `first_id`.
    pub(crate) fn open(&self, first_id: u64, sees: Sees) -> Result<Opened, StoreError> {
        let clock = self.around.clock.clone();
        let store = Arc::new(SqliteStore::open(&self.path(), clock)?);
        let witness = Arc::new(Witness {
            store: Arc::clone(&store),
            disk: Arc::clone(&self.disk),
            path: self.path(),
            sees,
            commits: Mutex::default(),
        });
        let ids = Arc::new(CountingIds::from(first_id));
        let work = Workspace::new(witness.clone(), self.around.door.clone(), ids);
        Ok(Opened { work: work.with_limits(patient()), store, witness })
    }

    /// Waits until nobody has a file open: a pool closes its connections on a thread of its own.
    pub(crate) fn expect_closed(&self) {
        while self.disk.open_files() > 0 {
            std::thread::yield_now();
        }
    }
}

/// The limits of the specification, but for the time that a busy machine may take.
fn patient() -> Limits {
    let (lock_wait, transaction) = (Duration::from_secs(120), Duration::from_secs(120));
    Limits { lock_wait, transaction, ..Limits::standard() }
}

/// Whether a witness looks what the database holds after each commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    Commits,
    States,
}

/// A commit, as it was told.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    /// The act that it recorded, if it was one.
    pub(crate) act: Option<ActId>,
    /// The doubt that it settled.
    pub(crate) settles: Option<(ActId, bool)>,
    /// Operations on the disk before it, and after it was told.
    pub(crate) begun: usize,
    pub(crate) ended: usize,
    /// What was told.
    pub(crate) told: Result<(), CommitError>,
    /// What the database held after it.
    pub(crate) state: Option<State>,
}

/// A store that writes down what becomes of every commit.
pub(crate) struct Witness {
    store: Arc<SqliteStore>,
    disk: Arc<Disk>,
    path: PathBuf,
    sees: Sees,
    commits: Mutex<Vec<Commit>>,
}

impl Witness {
    /// What was seen so far.
    pub(crate) fn commits(&self) -> Vec<Commit> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, commit: Commit) {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner).push(commit);
    }
}

impl Store for Witness {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.store.read(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        let begun = self.disk.recorded();
        Ok(Box::new(Witnessed { write: self.store.write(patience)?, begun, by: self }))
    }
}

struct Witnessed<'a> {
    write: Box<dyn WriteTx + 'a>,
    begun: usize,
    by: &'a Witness,
}

impl WriteTx for Witnessed<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.write.reads()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let Self { write, begun, by } = *self;
        let told = write.commit(batch);
        let ended = by.disk.recorded();
        let event = batch.act.as_ref().map(|act| &act.event);
        let settles = match event.and_then(AuditEvent::kind) {
            Some(EventKind::Settled { act, done }) => Some((act, done)),
            Some(_) | None => None,
        };
        let state = match by.sees {
            Sees::States => Some(State::of(&by.path).unwrap()),
            Sees::Commits => None,
        };
        by.add(Commit { act: event.map(|event| event.act), settles, begun, ended, told, state });
        told
    }
}
