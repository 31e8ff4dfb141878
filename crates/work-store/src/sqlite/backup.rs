//! A copy of the records of one moment, while others write.
//!
//! Owns that a backup is whole or not there, and never takes another file's place. It is built under a name of its own
//! beside its place, synced, and only then linked to its name.
//!
//! `VACUUM INTO` writes it, from one snapshot. SQLite's backup interface was weighed: it copies pages faster, but with
//! them what was erased and is not yet overwritten, and damage that nobody reads; and its copy asks for a log beside it
//! whenever somebody looks at it. This one has no page too many, was read row by row, and is looked at without a trace.

use super::SqliteStore;
use super::error::failure;
use super::open::unmoving;
use super::pool::{Opener, harden};
use super::{rows, sql};
use crate::filesystem::{self, with_suffix};
use crate::ids::random;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use work_core::digest::Digest;
use work_core::port::{Go, Head, StoreError};

/// Steps of SQLite's machine between two questions whether to go on: some hundred rows.
const STEPS: std::ffi::c_int = 500;

/// What a backup holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupMade {
    /// Events in its log.
    pub events: u64,
    /// The digest of the last of them.
    pub chain: Digest,
    /// Its size.
    pub size_bytes: u64,
}

/// Why there is no backup. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is there already.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// It was told to stop.
    #[error("the backup was stopped")]
    Stopped,
    /// The file system refused.
    #[error("{} cannot be written", path.display())]
    Io {
        /// What it refused.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The records cannot be read, or their copy cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SqliteStore {
    /// Copies the records of this moment into a new file for the owner alone, durably, while others go on writing.
    ///
    /// The file needs no other beside it. Whatever its place holds already stays as it is.
    ///
    /// # Errors
    /// [`BackupError`] says why there is none.
    pub fn backup(&self, to: &Path) -> Result<BackupMade, BackupError> {
        self.backup_while(to, || Go::On)
    }

    /// The same, asking `go` all the while whether to go on.
    ///
    /// # Errors
    /// [`BackupError`] says why there is none; `Stopped` after [`Go::Stop`].
    pub fn backup_while(
        &self,
        to: &Path,
        go: impl FnMut() -> Go + Send + 'static,
    ) -> Result<BackupMade, BackupError> {
        let to = place(to)?;
        if to.symlink_metadata().is_ok() {
            return Err(BackupError::Exists(to));
        }
        let unfinished = Unfinished::beside(&to)?;
        let mut source = Opener::new(&self.path, self.looks).open()?.connection;
        copy(&mut source, &unfinished.0, go).map_err(stopped_or)?;
        let head = head_of(&unfinished.0)?;
        let made = BackupMade {
            events: head.acts,
            chain: head.chain,
            size_bytes: unfinished.settled().map_err(at(&to))?,
        };
        let fresh = filesystem::publish_new(&unfinished.0, &to).map_err(at(&to))?;
        if fresh { Ok(made) } else { Err(BackupError::Exists(to)) }
    }
}

/// A file that is not yet what it is to be, and goes with everything beside it when it is dropped.
struct Unfinished(PathBuf);

impl Unfinished {
    /// An empty file beside `path`, for the owner alone.
    fn beside(path: &Path) -> Result<Self, BackupError> {
        let mut suffix = String::from(".");
        for byte in random::<8>() {
            write!(suffix, "{byte:02x}").expect("a string takes everything");
        }
        let unfinished = with_suffix(path, &(suffix + ".new"));
        filesystem::new_private_file(&unfinished).map_err(at(&unfinished))?;
        Ok(Self(unfinished))
    }

    /// Brings it to the disk; its size.
    fn settled(&self) -> io::Result<u64> {
        filesystem::sync_file(&self.0)?;
        Ok(self.0.metadata()?.len())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // What cannot be removed has a name that says that it is unfinished.
            let _ = filesystem::remove(&with_suffix(&self.0, suffix));
        }
    }
}

/// Where a file is to be, without links on the way: SQLite follows none.
fn place(to: &Path) -> Result<PathBuf, BackupError> {
    let (Some(directory), Some(name)) = (to.parent(), to.file_name()) else {
        return Err(at(to)(ErrorKind::InvalidFilename.into()));
    };
    let here = Path::new(".");
    let directory = if directory.as_os_str().is_empty() { here } else { directory };
    Ok(fs::canonicalize(directory).map_err(at(directory))?.join(name))
}

/// Copies all that a connection sees into an empty file; [`StoreError::TooSlow`] after [`Go::Stop`].
pub(super) fn copy(
    source: &mut Connection,
    into: &Path,
    mut go: impl FnMut() -> Go + Send + 'static,
) -> Result<(), StoreError> {
    let stop = move || match go() {
        Go::On => false,
        Go::Stop => true,
    };
    source.progress_handler(STEPS, Some(stop)).map_err(failure)?;
    // The file was opened to be read only; this setting refuses to write any other file too.
    source.execute_batch("PRAGMA query_only = OFF").map_err(failure)?;
    source.execute("VACUUM INTO ?1", [Name(into)]).map_err(failure).map(drop)
}

/// What a failed copy means: a copy has no time limit, so one that was interrupted was told to stop.
fn stopped_or(error: StoreError) -> BackupError {
    if error == StoreError::TooSlow { BackupError::Stopped } else { BackupError::Store(error) }
}

/// The head of a copy, read from the copy.
fn head_of(path: &Path) -> Result<Head, StoreError> {
    let copy = unmoving(path).map_err(failure)?;
    harden(&copy).map_err(failure)?;
    let head = copy.query_row(sql::HEAD, [], |row| Ok(rows::head(row))).map_err(failure)?;
    copy.close().map_err(|(_, error)| failure(error))?;
    head
}

/// A path as a value, whatever its bytes.
struct Name<'p>(&'p Path);

impl ToSql for Name<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_os_str().as_bytes())))
    }
}

/// An error of the file system with what it touched.
fn at(path: &Path) -> impl FnOnce(io::Error) -> BackupError + use<> {
    let path = path.to_owned();
    move |source| BackupError::Io { path, source }
}
