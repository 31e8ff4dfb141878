//! Whose file it is, before anything is written.
//!
//! The header is read through SQLite and never by hand: closing any other descriptor of a database drops the locks
//! that this process holds on it (POSIX), and a committed transaction with them.

use super::error::failure;
use super::pool::{Opener, Role};
use super::renew;
use crate::filesystem;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use work_core::plant::{Fault, is_planted};
use work_core::port::StoreError;

/// What says that a file is this program's: `work` in ASCII.
pub(super) const APPLICATION: i64 = 0x776f_726b;
/// The number of the schema that this version reads and writes.
pub const SCHEMA: u32 = 2;
/// The schema before, which is brought up to date when it is opened for writing.
const OLDER: i64 = 1;
/// The oldest SQLite without the fault that loses commits when a checkpoint races a writer.
const OLDEST_SQLITE: i32 = 3_051_003;

/// Which schema a file of this program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The one of this version.
    Present,
    /// The one of this version with a rule that was stricter once.
    Stricter,
    /// The one before.
    Older,
}

/// Refuses a SQLite that can lose what was committed.
pub(super) fn expect_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() >= OLDEST_SQLITE {
        Ok(())
    } else {
        Err(StoreError::Internal("SQLite is older than 3.51.3"))
    }
}

/// Tells the schema of a file, and refuses one that is not this program's, of a newer schema, damaged, or on a network file system.
///
/// First the file is looked at as if it never changed, which takes no lock and makes no file beside it. A checkpoint
/// may be writing just then, so only what cannot change is believed of that look; then one reader looks properly.
pub(super) fn expect_ours(path: &Path) -> Result<Standing, StoreError> {
    let directory = path.parent().ok_or(StoreError::Io("open"))?;
    filesystem::refuse_network(directory)?;
    match unmoving(path).and_then(|connection| schema(&connection)) {
        Ok(found) => judge(found).map(drop)?,
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {}
        Err(error) => return Err(failure(error)),
    }
    standing(&Opener::new(path, Role::Reader).open()?.connection)
}

/// Tells the schema of any file, and how to look at it: as if nobody wrote it, unless something beside it says that
/// somebody does, or did until a crash. Refuses what [`expect_ours`] refuses, but for the place of a file that needs no
/// locks.
pub(super) fn look_at(path: &Path) -> Result<(Standing, Role), StoreError> {
    if !path.metadata().map_err(filesystem::refused)?.is_file() {
        return Err(StoreError::Foreign);
    }
    let beside = |suffix| filesystem::with_suffix(path, suffix).symlink_metadata().is_ok();
    if beside("-wal") || beside("-journal") {
        Ok((expect_ours(path)?, Role::Reader))
    } else {
        Ok((standing(&unmoving(path).map_err(failure)?)?, Role::Looker))
    }
}

/// Refuses a file that says that it is another application's, or of a newer schema, and touches nothing. What cannot be
/// read like this is told when it is opened.
pub(crate) fn expect_claimed(path: &Path) -> Result<(), StoreError> {
    unmoving(path)
        .and_then(|connection| schema(&connection))
        .map_or(Ok(()), |found| judge(found).map(drop))
}

/// The file as if nobody wrote it.
pub(super) fn unmoving(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            other => write!(uri, "%{other:02x}").expect("a string takes everything"),
        }
    }
    uri.push_str("?mode=ro&immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    Connection::open_with_flags(uri, flags)
}

/// Refuses what is not this program's or of a newer schema.
pub(super) fn standing(connection: &Connection) -> Result<Standing, StoreError> {
    let standing = judge(schema(connection).map_err(failure)?)?;
    let stricter = standing == Standing::Present && renew::is_needed(connection)?;
    Ok(if stricter { Standing::Stricter } else { standing })
}

/// The application and the schema that a file names.
fn schema(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    let pragma = |name| connection.query_row(name, [], |row| row.get(0));
    Ok((pragma("PRAGMA application_id")?, pragma("PRAGMA user_version")?))
}

/// Refuses another application and a schema that this version neither reads nor brings up to date.
fn judge((application, schema): (i64, i64)) -> Result<Standing, StoreError> {
    match (application, schema) {
        (APPLICATION, OLDER) => Ok(Standing::Older),
        (APPLICATION, schema) => known(schema).map(|()| Standing::Present),
        _ => Err(StoreError::Foreign),
    }
}

/// Refuses another schema than the one that is read and written.
pub(super) fn known(schema: i64) -> Result<(), StoreError> {
    match schema.cmp(&i64::from(SCHEMA)) {
        Ordering::Equal => Ok(()),
        Ordering::Greater if is_planted(Fault::NewerDatabase) => Ok(()),
        Ordering::Greater => Err(StoreError::Newer),
        Ordering::Less => Err(StoreError::Foreign),
    }
}
