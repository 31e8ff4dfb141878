//! A new database: complete, on the disk, and then visible under its name.
//!
//! It is built under another name in the same directory, synced, and linked to its own name, which fails if anybody
//! else was first. So a crash leaves either nothing or all of it, and of two that create at once one wins.

use super::error::failure;
use super::open::{APPLICATION, SCHEMA};
use super::pool::harden;
use super::rows::kept;
use crate::filesystem::{self, with_suffix};
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;
use work_core::plant::{Fault, is_planted};
use work_core::port::{Head, StoreError};

/// The tables.
pub(super) const TABLES: &str = include_str!("schema.sql");

/// Whether something was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is new.
    New,
    /// It was there before and is as it was.
    Before,
}

/// Makes a database at `path` unless something is there.
pub(super) fn create(path: &Path, head: &Head) -> Result<Made, StoreError> {
    made_by(path, |unfinished| build(unfinished, head))
}

/// Makes what `build` makes under the name that it is given, at `path`, unless something is there.
pub(super) fn made_by(
    path: &Path,
    build: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<Made, StoreError> {
    let directory = path.parent().ok_or(StoreError::Io("create"))?;
    filesystem::refuse_network(directory)?;
    let _turn = filesystem::lock(directory)?;
    let unfinished = with_suffix(path, ".new");
    discard(&unfinished)?;
    if path.symlink_metadata().is_ok() {
        return Ok(Made::Before);
    }
    let made = build(&unfinished)
        .and_then(|()| filesystem::publish(&unfinished, path).map_err(filesystem::refused));
    discard(&unfinished)?;
    made.map(|fresh| if fresh { Made::New } else { Made::Before })
}

/// Removes what an earlier attempt left, which nobody uses: whoever builds holds the lock of the directory.
fn discard(unfinished: &Path) -> Result<(), StoreError> {
    ["", "-journal", "-wal", "-shm"].into_iter().try_for_each(|suffix| {
        filesystem::remove(&with_suffix(unfinished, suffix)).map_err(filesystem::refused)
    })
}

/// A whole database under a name that nobody opens, synced.
fn build(unfinished: &Path, head: &Head) -> Result<(), StoreError> {
    filesystem::new_private_file(unfinished).map_err(filesystem::refused)?;
    let connection = writable(unfinished)?;
    harden(&connection).map_err(failure)?;
    fill(&connection, head)?;
    connection.close().map_err(|(_, error)| failure(error))?;
    filesystem::sync_file(unfinished).map_err(filesystem::refused)
}

/// A connection to a file that nobody else opens.
pub(super) fn writable(unfinished: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    Connection::open_with_flags(unfinished, flags).map_err(failure)
}

/// Tables, head and marks in one transaction. `EXTRA` also syncs the directory when the journal goes, without which a
/// power loss could bring the journal back and undo it.
fn fill(connection: &Connection, head: &Head) -> Result<(), StoreError> {
    let run = |sql: &str| connection.execute_batch(sql).map_err(failure);
    run("PRAGMA synchronous = EXTRA;")?;
    if is_planted(Fault::CreationUnsynced) {
        run("PRAGMA synchronous = OFF;")?;
    }
    run("BEGIN IMMEDIATE;")?;
    run(TABLES)?;
    insert_head(connection, head)?;
    run(&format!(
        "PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}; COMMIT;"
    ))?;
    run("PRAGMA journal_mode = WAL;")
}

/// The one row that every batch updates.
fn insert_head(connection: &Connection, head: &Head) -> Result<(), StoreError> {
    let Head { workspace, owner, site, anchor, acts, chain, access, looks, refresher } = *head;
    connection
        .execute(
            "INSERT INTO head VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                workspace.bytes(),
                owner.bytes(),
                site.bytes(),
                anchor.latest_ms,
                anchor.boot.bytes(),
                anchor.since_boot_ms,
                kept(anchor.era.0)?,
                kept(acts)?,
                chain.bytes(),
                kept(access)?,
                kept(looks)?,
                refresher.map(|(worker, _)| worker.bytes()),
                refresher.map(|(_, until)| until.seconds()),
            ],
        )
        .map_err(failure)
        .map(drop)
}
