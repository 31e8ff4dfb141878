//! Connections and the pools that lend them.
//!
//! Owns what every connection is set to, and that none comes back with a transaction on it. A connection on which a
//! write, a sync or a commit failed is never lent again.

use super::error::failure;
use super::open::unmoving;
use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use scheduled_thread_pool::ScheduledThreadPool;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use work_core::plant::{Fault, is_planted};
use work_core::port::StoreError;

/// Statements kept prepared on each connection: all of them.
pub(super) const STATEMENTS: usize = 96;

/// Bytes of the log that are kept for use again.
const LOG: u32 = 16 << 20;

/// How long a first connection may take, whatever the patience: opening is no waiting for a lock.
const CONNECTING: Duration = Duration::from_secs(1);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Takes the write lock.
    Writer,
    /// Only reads.
    Reader,
    /// Only reads a file that nobody writes: takes no lock, and makes no file beside it.
    Looker,
}

/// A connection on loan, and whether it may be lent again.
#[derive(Debug)]
pub(super) struct Link {
    /// The connection.
    pub(super) connection: Connection,
    broken: bool,
}

impl Link {
    /// Never lends this connection again. Closing it leaves the log as it is: a sync that failed is not tried again on
    /// the same descriptor.
    pub(super) fn give_up(&mut self) {
        self.broken = true;
        let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        // If even this is refused, closing checkpoints what was committed before, which is no harm.
        let _ = self.connection.set_db_config(no_checkpoint, true);
    }

    /// Ends the deadline, and whatever transaction is open.
    pub(super) fn rest(&mut self) {
        let free = self.connection.progress_handler(0, None::<fn() -> bool>).is_ok();
        let undone = self.connection.is_autocommit() || self.roll_back().is_ok();
        if !(free && undone) {
            self.give_up();
        }
    }

    fn roll_back(&self) -> rusqlite::Result<usize> {
        self.connection.prepare_cached("ROLLBACK")?.execute([])
    }

    /// Interrupts every statement that still runs at `end`.
    pub(super) fn until(&mut self, end: Instant) -> Result<(), StoreError> {
        /// Steps of SQLite's machine between two looks at the clock: some ten microseconds.
        const STEPS: std::ffi::c_int = 1000;
        self.connection
            .progress_handler(STEPS, Some(move || Instant::now() >= end))
            .map_err(failure)
    }
}

/// Opens connections to one file in one role.
#[derive(Debug)]
pub(super) struct Opener {
    path: PathBuf,
    role: Role,
    refused: Arc<Mutex<Option<StoreError>>>,
}

impl Opener {
    /// Opens connections to `path` in `role`.
    pub(super) fn new(path: &Path, role: Role) -> Self {
        Self { path: path.to_owned(), role, refused: Arc::default() }
    }

    /// Opens a connection, set up for its role.
    pub(super) fn open(&self) -> Result<Link, StoreError> {
        let with = |access| {
            let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_NOFOLLOW
                | OpenFlags::SQLITE_OPEN_EXRESCODE;
            Connection::open_with_flags(&self.path, access | flags)
        };
        let connection = match self.role {
            Role::Writer => with(OpenFlags::SQLITE_OPEN_READ_WRITE),
            Role::Reader => with(OpenFlags::SQLITE_OPEN_READ_ONLY),
            Role::Looker => unmoving(&self.path),
        }
        .map_err(failure)?;
        harden(&connection).map_err(failure)?;
        match self.role {
            Role::Writer => expect_log(&connection)?,
            Role::Reader | Role::Looker => {
                connection.execute_batch("PRAGMA query_only = ON").map_err(failure)?;
            }
        }
        Ok(Link { connection, broken: false })
    }
}

/// Settings that every connection has. Foreign keys, triggers and syncs are promises, not defaults.
///
/// `fullfsync` matters on macOS alone, where a plain sync stops at the disk's own cache.
pub(super) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(CONNECTING)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA recursive_triggers = ON; \
         PRAGMA cell_size_check = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
    )?;
    if is_planted(Fault::Unsynced) {
        connection.execute_batch("PRAGMA synchronous = NORMAL")
    } else {
        Ok(())
    }
}

/// Makes sure that the database writes ahead into a log, and that a log which grew while somebody read for long shrinks.
fn expect_log(connection: &Connection) -> Result<(), StoreError> {
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failure)?;
    if mode != "wal" {
        return Err(StoreError::Internal("no write-ahead log"));
    }
    let keep = format!("PRAGMA journal_size_limit = {LOG}");
    connection.query_row(&keep, [], |_| Ok(())).map_err(failure)
}

impl ManageConnection for Opener {
    type Connection = Link;
    type Error = StoreError;

    fn connect(&self) -> Result<Link, StoreError> {
        let opened = self.open();
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) =
            opened.as_ref().err().copied();
        opened
    }

    fn is_valid(&self, _: &mut Link) -> Result<(), StoreError> {
        Ok(())
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        link.broken || !link.connection.is_autocommit()
    }
}

/// Connections in one role.
#[derive(Debug)]
pub(super) struct Lender {
    pool: Pool<Opener>,
    refused: Arc<Mutex<Option<StoreError>>>,
}

impl Lender {
    /// At most `most` connections, opened when they are needed by `helpers`.
    pub(super) fn new(opener: Opener, most: u32, helpers: &Arc<ScheduledThreadPool>) -> Self {
        let refused = Arc::clone(&opener.refused);
        let pool = Pool::builder()
            .max_size(most)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .idle_timeout(None)
            .max_lifetime(None)
            .error_handler(Box::new(NopErrorHandler))
            .thread_pool(Arc::clone(helpers))
            .build_unchecked(opener);
        Self { pool, refused }
    }

    /// Whether a connection is open.
    pub(super) fn has_any(&self) -> bool {
        self.pool.state().connections > 0
    }

    /// Lends a connection within `wait`.
    pub(super) fn lend(&self, wait: Duration) -> Result<PooledConnection<Opener>, StoreError> {
        let wait = if self.has_any() { wait } else { wait.max(CONNECTING) };
        self.pool.get_timeout(wait).map_err(|_| {
            let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            refused.unwrap_or(StoreError::Busy)
        })
    }
}
