//! SQLite as a [`Store`].
//!
//! Owns transactions: how one begins, how long it may last, and that dropping it changes nothing. A reader is a
//! deferred transaction whose first read pins the snapshot; a writer takes the lock at once, since a lock taken later
//! fails whenever somebody else has committed in between. Start at [`SqliteStore`]; the questions are in `read`, the
//! changes in `write`, every statement in `sql`.

mod backup;
mod create;
mod error;
mod inspect;
mod migrate;
pub(crate) mod open;
mod pool;
mod read;
mod renew;
mod revive;
mod rows;
mod sql;
mod write;

#[cfg(test)]
mod costs;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod plans;

pub use backup::{BackupError, BackupMade};
pub use create::Made;
pub use inspect::{Depth, Fault, Health};
pub use open::SCHEMA;

use crate::filesystem;
use error::failure;
use open::Standing;
use pool::{Lender, Opener, Role};
use read::Snapshot;
use scheduled_thread_pool::ScheduledThreadPool;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use work_core::limits::Limits;
use work_core::port::{Clock, Head, Patience, ReadTx, Store, StoreError, WriteTx};
use write::Lock;

/// Readers of one process at the same time.
const READERS: u32 = 4;

/// The longest that anybody waits: what fits the clocks of pools and of SQLite.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The records of one workspace in one SQLite file.
///
/// Any number of them, in any number of processes, may be open on the same file.
pub struct SqliteStore {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    writer: Lender,
    readers: Lender,
    most: usize,
    /// How the file is looked at besides transactions.
    looks: Role,
}

/// A database that is only looked at.
#[derive(Debug)]
pub enum AsIs {
    /// It has the present schema: a store to look at, which refuses every write.
    Present(SqliteStore),
    /// It has the schema before. Opening it for writing brings it up to date.
    Older,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Makes a database at `path` with this head, complete or not at all, and durably.
    ///
    /// Whatever is at `path` already stays as it is.
    ///
    /// # Errors
    /// [`StoreError`] when the directory is on a network file system, is full, or cannot be written.
    pub fn create(path: &Path, head: &Head) -> Result<Made, StoreError> {
        open::expect_sqlite()?;
        create::create(path, head)
    }

    /// Makes a database at `path` of the one at `backup`, complete or not at all, and durably; `before` is done when it
    /// is ready and not yet there. Whatever is at `path` already stays as it is.
    pub(crate) fn create_from(
        backup: &Path,
        path: &Path,
        clock: &Arc<dyn Clock>,
        before: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<Made, StoreError> {
        open::expect_sqlite()?;
        create::made_by(path, |unfinished| {
            revive::revive(backup, unfinished, clock)?;
            before()
        })
    }

    /// Opens the database at `path`.
    ///
    /// Whose it is and which schema it has is read before anything is written; what is not this program's, or newer,
    /// stays as it is to the byte. A database of schema 1 is brought up to date first, all of it or nothing; another
    /// process that does the same at the same time is waited for.
    ///
    /// # Errors
    /// [`StoreError`]: `Foreign` for another program's file, `Newer`, `Damaged`, `NetworkFilesystem`, or why the file
    /// cannot be opened.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        open::expect_sqlite()?;
        let path = std::path::absolute(path).map_err(|_| StoreError::Io("open"))?;
        match open::expect_ours(&path)? {
            Standing::Present => {}
            Standing::Stricter => renew::renew(&path)?,
            Standing::Older => migrate::migrate(&path)?,
        }
        Ok(Self::over(path, clock, Role::Writer, Role::Reader))
    }

    /// Brings a database of schema 1 up to date over a connection in whose way `with` has put something: for the proofs.
    ///
    /// # Errors
    /// [`StoreError`] says why it is still of schema 1.
    #[cfg(feature = "plant")]
    pub fn migrate_with(
        path: &Path,
        with: impl FnOnce(&mut rusqlite::Connection),
    ) -> Result<(), StoreError> {
        migrate::migrate_with(path, with)
    }

    /// Opens any database file only to look at it: nothing is written, and no file is made beside it unless a log or a
    /// journal is there already. Links on the way are followed. A file without either is read as if nobody wrote it.
    ///
    /// # Errors
    /// [`StoreError`] as for [`SqliteStore::open`], but a file that needs no locks may lie anywhere.
    pub fn open_as_is(path: &Path, clock: Arc<dyn Clock>) -> Result<AsIs, StoreError> {
        open::expect_sqlite()?;
        let path = std::fs::canonicalize(path).map_err(filesystem::refused)?;
        Ok(match open::look_at(&path)? {
            (Standing::Present | Standing::Stricter, looks) => {
                AsIs::Present(Self::over(path, clock, looks, looks))
            }
            (Standing::Older, _) => AsIs::Older,
        })
    }

    /// Opens the database of an instance only to look at it: others may write it meanwhile.
    pub(crate) fn look(path: &Path, clock: Arc<dyn Clock>) -> Result<AsIs, StoreError> {
        open::expect_sqlite()?;
        let looks = Role::Reader;
        Ok(match open::expect_ours(path)? {
            Standing::Present | Standing::Stricter => {
                AsIs::Present(Self::over(path.to_owned(), clock, looks, looks))
            }
            Standing::Older => AsIs::Older,
        })
    }

    /// A store over the file at `path`, with connections in these roles.
    fn over(path: PathBuf, clock: Arc<dyn Clock>, writes: Role, looks: Role) -> Self {
        let helpers = Arc::new(
            ScheduledThreadPool::builder()
                .num_threads(1)
                .thread_name_pattern("work-store-{}")
                .build(),
        );
        Self {
            writer: Lender::new(Opener::new(&path, writes), 1, &helpers),
            readers: Lender::new(Opener::new(&path, looks), READERS, &helpers),
            most: most(&Limits::standard()),
            path,
            clock,
            looks,
        }
    }

    /// With the ceilings of an embedding program: one question may ask for `limits.page` rows and one more.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Self {
        Self { most: most(limits), ..self }
    }

    /// Looks for damage, for `doctor`: the file itself, its schema and its references. Repairs nothing.
    ///
    /// Takes as long as it takes. Digests and the chain are checked by the core, through the questions.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be looked at; what is found wrong is in [`Health`].
    pub fn inspect(&self, depth: Depth) -> Result<Health, StoreError> {
        inspect::inspect(&Opener::new(&self.path, self.looks).open()?.connection, depth)
    }

    /// Makes sure that a reader has the log in sight before anybody writes.
    ///
    /// Frames of a commit whose sync failed look written to whoever reads the file again, while a power loss takes them
    /// away: the system counts the pages as clean. As long as one connection has the log in sight they are no part of it,
    /// and the next commit writes over them. Without any, recovery would find them, and everything that is committed
    /// later would be built on them.
    fn keep_log_in_sight(&self, patience: Patience) -> Result<(), StoreError> {
        if self.readers.has_any() { Ok(()) } else { self.read(patience).map(drop) }
    }

    /// A transaction with a connection of `lender`.
    fn begin(
        &self,
        lender: &Lender,
        how: &'static str,
        wait: Duration,
        patience: Patience,
    ) -> Result<Snapshot<'_>, StoreError> {
        let start = Instant::now();
        let mut link = lender.lend(wait.min(LONGEST))?;
        let left = patience.lock.min(LONGEST).saturating_sub(start.elapsed());
        link.connection.busy_timeout(in_whole_milliseconds(left)).map_err(failure)?;
        link.until(start + patience.whole.min(LONGEST))?;
        Snapshot::begin(link, how, start + patience.whole.min(LONGEST), &*self.clock, self.most)
    }
}

/// At least this long, in what SQLite counts: it cuts what is less than a millisecond, and would give up too soon.
fn in_whole_milliseconds(wait: Duration) -> Duration {
    Duration::from_millis(u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u64::MAX))
}

/// What one question may ask for: a page, and one more to tell whether another follows.
const fn most(limits: &Limits) -> usize {
    limits.page as usize + 1
}

impl Store for SqliteStore {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        Ok(Box::new(self.begin(&self.readers, "BEGIN", patience.whole, patience)?))
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        self.keep_log_in_sight(patience)?;
        let snapshot = self.begin(&self.writer, "BEGIN IMMEDIATE", patience.lock, patience)?;
        Ok(Box::new(Lock::new(snapshot)))
    }
}
