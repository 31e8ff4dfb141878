//! A workspace in memory: a store for tests and for programs that keep nothing, and a door over records of their own.
//!
//! [`MemoryStore`] is the strictest store there is. A database checks what its schema can say; this one sees the whole
//! batch and refuses what can never be right, so that a fault in the rules shows here first. [`MemoryDoor`] is a
//! guarded door over files that a program holds itself. Neither reads a file or a clock.
//!
//! To read: `tables` is what is kept, `read` answers, `check` says which batch is sound.

mod check;
mod door;
mod read;
mod tables;

pub use door::MemoryDoor;

use crate::id::{OwnerId, SiteId, WorkspaceId};
use crate::limits::Limits;
use crate::port::{Batch, Clock, CommitError, Head, Patience, ReadTx, Store, StoreError, WriteTx};
use read::Snapshot;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use tables::Tables;

/// The strict store in memory.
///
/// A snapshot is one shared pointer. A write copies the tables it touches and takes their place when it commits, so
/// readers never wait. Somebody who finds the write lock held gets [`StoreError::Busy`] at once, whatever the patience:
/// there is no thread here that could wait.
///
/// ```
/// use std::sync::Arc;
/// use work_core::id::{BootId, OwnerId, SiteId, WorkspaceId};
/// use work_core::limits::Limits;
/// use work_core::memory::MemoryStore;
/// use work_core::port::{Clock, Patience, Store, StoreError};
/// use work_core::time::Reading;
///
/// struct Noon;
/// impl Clock for Noon {
///     fn reading(&self) -> Reading {
///         Reading { wall_ms: 43_200_000, boot: BootId::from_bytes([1; 16]), since_boot_ms: 0 }
///     }
/// }
///
/// let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
/// let store = MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), Arc::new(Noon));
/// let limits = Limits::standard();
/// let patience = Patience { lock: limits.lock_wait, whole: limits.transaction };
///
/// let held = store.write(patience)?;
/// assert_eq!(store.write(patience).err(), Some(StoreError::Busy));
/// drop(held);
/// assert_eq!(store.read(patience)?.head()?.0.acts, 0);
/// # Ok::<(), StoreError>(())
/// ```
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    limits: Limits,
    now: Mutex<Arc<Tables>>,
    lock: Mutex<()>,
}

impl MemoryStore {
    /// An empty workspace whose time begins at what `clock` reads.
    #[must_use]
    pub fn new(
        workspace: WorkspaceId,
        owner: OwnerId,
        site: SiteId,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let head = Head::new(workspace, owner, site, clock.reading());
        let now = Mutex::new(Arc::new(Tables::new(head)));
        Self { clock, limits: Limits::standard(), now, lock: Mutex::new(()) }
    }

    /// The same store with other ceilings for questions and folders.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// What is kept at this moment.
    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::new(Arc::clone(&self.current()), &*self.clock, &self.limits)
    }

    /// The tables in force. They are replaced whole, so a panic elsewhere leaves nothing half done.
    fn current(&self) -> MutexGuard<'_, Arc<Tables>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn read(&self, _: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        Ok(Box::new(self.snapshot()))
    }

    fn write(&self, _: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        let held = match self.lock.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
        };
        Ok(Box::new(Write { store: self, snapshot: self.snapshot(), _held: held }))
    }
}

/// The write lock, with what it found.
struct Write<'a> {
    store: &'a MemoryStore,
    snapshot: Snapshot<'a>,
    _held: MutexGuard<'a, ()>,
}

impl WriteTx for Write<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        &mut self.snapshot
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let next = check::after(self.snapshot.tables(), batch, &self.store.limits)?;
        *self.store.current() = Arc::new(next);
        Ok(())
    }
}
