//! Clocks, ids, watches, pauses and faults that a test sets.

use crate::digest::Digest;
use crate::id::BootId;
use crate::port::{
    Batch, Clock, CommitError, Go, Ids, Patience, Pause, ReadTx, Store, StoreError, Watch, WriteTx,
};
use crate::task::Progress;
use crate::time::Reading;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A clock that stands still until it is told to move.
///
/// ```
/// use std::time::Duration;
/// use work_core::port::Clock;
/// use work_core::testkit::fakes::FakeClock;
///
/// let clock = FakeClock::at(1_000);
/// clock.advance(Duration::from_secs(5));
/// clock.set_back(Duration::from_secs(60));
/// assert_eq!(clock.reading().wall_ms, 945_000);
/// assert_eq!(clock.reading().since_boot_ms, 5_000, "the clock since boot cannot be set");
/// ```
#[derive(Debug)]
pub struct FakeClock(Mutex<Reading>);

impl FakeClock {
    /// A clock whose wall shows this many seconds since the epoch, at the moment of a boot.
    #[must_use]
    pub fn at(seconds: i64) -> Self {
        let boot = BootId::from_bytes([1; 16]);
        Self(Mutex::new(Reading { wall_ms: seconds * 1000, boot, since_boot_ms: 0 }))
    }

    /// Lets time pass, awake or asleep.
    pub fn advance(&self, by: Duration) {
        let mut reading = lock(&self.0);
        reading.wall_ms += milliseconds(by);
        reading.since_boot_ms += milliseconds(by);
    }

    /// Sets the wall clock ahead. No time passes.
    pub fn set_ahead(&self, by: Duration) {
        lock(&self.0).wall_ms += milliseconds(by);
    }

    /// Sets the wall clock back. No time passes.
    pub fn set_back(&self, by: Duration) {
        lock(&self.0).wall_ms -= milliseconds(by);
    }

    /// Starts the machine anew. The wall clock goes on from where it stands.
    pub fn reboot(&self) {
        let mut reading = lock(&self.0);
        let boot = Digest::of(&reading.boot.bytes());
        reading.boot = BootId::from_bytes(half(&boot));
        reading.since_boot_ms = 0;
    }
}

impl Clock for FakeClock {
    fn reading(&self) -> Reading {
        *lock(&self.0)
    }
}

/// Ids that come in the same order in every run, with prefixes that tell them apart.
#[derive(Debug, Default)]
pub struct CountingIds(AtomicU64);

impl CountingIds {
    /// From the first.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From another first, so that two counters have no id in common.
    #[must_use]
    pub fn from(first: u64) -> Self {
        Self(AtomicU64::new(first))
    }
}

impl Ids for CountingIds {
    fn fresh(&self) -> [u8; 16] {
        half(&Digest::of(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes()))
    }
}

/// A watch that says stop at its last beat, and remembers what it was told.
#[derive(Clone, Debug)]
pub struct StopAfter {
    /// Beats that are still to come.
    pub left: u32,
    /// The latest progress.
    pub told: Option<Progress>,
}

impl StopAfter {
    /// Says stop at this beat, counted from 1. At 0 it says stop at once.
    #[must_use]
    pub const fn beats(left: u32) -> Self {
        Self { left, told: None }
    }
}

impl Watch for StopAfter {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.told = Some(*progress);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Go::Stop } else { Go::On }
    }
}

/// A pause that lets its clock pass instead of waiting, and ends the worker when its script is at its end.
#[derive(Debug)]
pub struct ScriptedPause {
    clock: Arc<FakeClock>,
    steps: Mutex<VecDeque<Step>>,
}

/// What happens in a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It lasts as long as was asked.
    Whole,
    /// There may be work after this long, or after as long as was asked if that is shorter.
    Woken(Duration),
}

impl ScriptedPause {
    /// Pauses by `steps`, then stops.
    #[must_use]
    pub fn new(clock: Arc<FakeClock>, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { clock, steps: Mutex::new(steps.into_iter().collect()) }
    }
}

impl Pause for ScriptedPause {
    fn pause(&self, most: Duration) -> Go {
        let step = lock(&self.steps).pop_front();
        let passed = match step {
            None => return Go::Stop,
            Some(Step::Whole) => most,
            Some(Step::Woken(after)) => after.min(most),
        };
        self.clock.advance(passed);
        Go::On
    }
}

/// A store whose next commits fail as a test says.
///
/// A commit in doubt is told as [`CommitError::Unknown`]; what became of the batch is [`Doubt`]'s. The store itself stays
/// sound: only its answers fail.
///
/// ```
/// use std::sync::Arc;
/// use work_core::id::{OwnerId, SiteId, WorkspaceId};
/// use work_core::memory::MemoryStore;
/// use work_core::port::StoreError;
/// use work_core::testkit::fakes::{Doubt, FakeClock, Fault, Faulty};
///
/// let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
/// let clock = Arc::new(FakeClock::at(1_000));
/// let store = MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), clock);
/// let faulty = Faulty::new(store);
/// faulty.fail_next_commit(Fault::InDoubt(StoreError::Io("sync"), Doubt::Written));
/// ```
#[derive(Debug)]
pub struct Faulty<S> {
    store: S,
    faults: Mutex<VecDeque<Fault>>,
    late: Mutex<Option<Batch>>,
}

/// How a commit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written, and that is told.
    NotDone(StoreError),
    /// Nothing is written, as if somebody had been faster.
    Overtaken,
    /// It is told that it is not known.
    InDoubt(StoreError, Doubt),
}

/// What became of a batch in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It was written and is seen at once.
    Written,
    /// It is lost.
    Lost,
    /// Readers see the old state, and the write is there when the lock is taken next: what a failed sync looks like,
    /// and why a look cannot settle it.
    Late,
}

impl<S: Store> Faulty<S> {
    /// `store`, which does not fail yet.
    pub const fn new(store: S) -> Self {
        Self { store, faults: Mutex::new(VecDeque::new()), late: Mutex::new(None) }
    }

    /// Lets the next commit fail that does not fail yet; calls add up.
    pub fn fail_next_commit(&self, fault: Fault) {
        lock(&self.faults).push_back(fault);
    }

    /// The store behind it, which does not fail.
    pub const fn inner(&self) -> &S {
        &self.store
    }

    /// Lets a late batch arrive.
    fn arrive(&self, patience: Patience) -> Result<(), StoreError> {
        let write = self.store.write(patience)?;
        if let Some(batch) = lock(&self.late).take() {
            write.commit(&batch).map_err(|_| StoreError::Damaged)?;
        }
        Ok(())
    }
}

impl<S: Store> Store for Faulty<S> {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.store.read(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        self.arrive(patience)?;
        Ok(Box::new(FaultyWrite {
            write: self.store.write(patience)?,
            of: &self.faults,
            late: &self.late,
        }))
    }
}

/// The write lock of a store that may fail.
struct FaultyWrite<'a> {
    write: Box<dyn WriteTx + 'a>,
    of: &'a Mutex<VecDeque<Fault>>,
    late: &'a Mutex<Option<Batch>>,
}

impl WriteTx for FaultyWrite<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.write.reads()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let fault = lock(self.of).pop_front();
        match fault {
            None => self.write.commit(batch),
            Some(Fault::NotDone(why)) => Err(CommitError::NotDone(why)),
            Some(Fault::Overtaken) => Err(CommitError::Overtaken),
            Some(Fault::InDoubt(why, Doubt::Written)) => {
                self.write.commit(batch)?;
                Err(CommitError::Unknown(why))
            }
            Some(Fault::InDoubt(why, Doubt::Lost)) => Err(CommitError::Unknown(why)),
            Some(Fault::InDoubt(why, Doubt::Late)) => {
                *lock(self.late) = Some(batch.clone());
                Err(CommitError::Unknown(why))
            }
        }
    }
}

/// The first half of a digest, as the bytes of an id.
pub(crate) fn half(digest: &Digest) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.bytes()[..16]);
    bytes
}

/// A length of time in milliseconds.
fn milliseconds(by: Duration) -> i64 {
    i64::try_from(by.as_millis()).unwrap_or(i64::MAX)
}

/// What is behind a lock, also after a panic elsewhere.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
