//! A database made from a backup: checked as a whole, in an era of its own.
//!
//! Owns that nothing which waited or was leased when the backup was made can be used once more: where the backup came
//! from it may have been used since. Identities stay: it is the same workspace, and its log goes on where it ended.

use super::error::failure;
use super::migrate::migrate;
use super::open::{self, Standing};
use super::pool::{Opener, harden};
use super::renew::renew;
use super::{AsIs, Depth, SqliteStore, backup, create, rows, sql};
use crate::filesystem;
use crate::ids::OsIds;
use rusqlite::{Connection, params};
use std::path::Path;
use std::sync::Arc;
use work_core::memory::MemoryDoor;
use work_core::port::{Clock, Go, StoreError};
use work_core::time::{Anchor, Era};
use work_core::workspace::{Failure, Workspace};

/// Makes the database that is to be at `path` of the one at `backup`, under a name that nobody opens.
pub(super) fn revive(
    backup: &Path,
    unfinished: &Path,
    clock: &Arc<dyn Clock>,
) -> Result<(), StoreError> {
    let (standing, looks) = open::look_at(backup)?;
    filesystem::new_private_file(unfinished).map_err(filesystem::refused)?;
    let mut source = Opener::new(backup, looks).open()?.connection;
    backup::copy(&mut source, unfinished, || Go::On)?;
    match standing {
        Standing::Present => {}
        Standing::Stricter => renew(unfinished)?,
        Standing::Older => migrate(unfinished)?,
    }
    expect_sound(unfinished, clock)?;
    begin_era(unfinished, clock.as_ref())?;
    filesystem::sync_file(unfinished).map_err(filesystem::refused)
}

/// Refuses a file in which anything is not as it was written.
fn expect_sound(path: &Path, clock: &Arc<dyn Clock>) -> Result<(), StoreError> {
    let AsIs::Present(store) = SqliteStore::open_as_is(path, Arc::clone(clock))? else {
        return Err(StoreError::Internal("a migration that left the schema before"));
    };
    let faults = store.inspect(Depth::Full)?.faults;
    let work = Workspace::new(Arc::new(store), Arc::new(MemoryDoor::new()), Arc::new(OsIds));
    let records = match work.doctor() {
        Ok(found) => found.findings,
        Err(Failure::Store(cause)) => return Err(cause),
        Err(_) => return Err(StoreError::Internal("a look that did not end in an answer")),
    };
    let damaged = !faults.is_empty() || records.iter().any(|found| found.severity == "damage");
    if damaged { Err(StoreError::Damaged) } else { Ok(()) }
}

/// Time goes on from the later of the anchor and the clock, in the next era. Nobody holds the lease to refresh.
fn begin_era(path: &Path, clock: &dyn Clock) -> Result<(), StoreError> {
    let connection = create::writable(path)?;
    harden(&connection).map_err(failure)?;
    let run = |sql: &str| connection.execute_batch(sql).map_err(failure);
    run("PRAGMA synchronous = EXTRA; BEGIN IMMEDIATE;")?;
    next_era(&connection, clock)?;
    run("COMMIT; PRAGMA journal_mode = WAL;")?;
    connection.close().map_err(|(_, error)| failure(error))
}

/// The head in the next era.
fn next_era(connection: &Connection, clock: &dyn Clock) -> Result<(), StoreError> {
    let head =
        connection.query_row(sql::HEAD, [], |row| Ok(rows::head(row))).map_err(failure)??;
    let era = Era(head.anchor.era.0 + 1);
    let Anchor { latest_ms, boot, since_boot_ms, .. } = head.anchor.advance(clock.reading());
    connection
        .execute(
            "UPDATE head SET latest_ms = ?1, boot = ?2, since_boot_ms = ?3, era = ?4, \
             refresher = NULL, refreshes_until = NULL",
            params![latest_ms, boot.bytes(), since_boot_ms, rows::kept(era.0)?],
        )
        .map_err(failure)
        .map(drop)
}
