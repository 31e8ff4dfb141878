//! What SQLite's result codes mean to the rules.
//!
//! Owns the one table from codes to [`StoreError`], and which failures of a write are certain to have changed nothing.

use rusqlite::{Error, ErrorCode, ffi};
use work_core::port::{CommitError, StoreError};

/// Why a statement failed. Messages of SQLite are dropped: they may repeat what is stored.
pub(super) fn failure(error: Error) -> StoreError {
    match error.sqlite_error() {
        Some(error) => by_code(*error),
        None => no_statement(&error),
    }
}

/// Why a change failed before the commit began: nothing was written.
pub(super) fn undone(error: Error) -> CommitError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => CommitError::Overtaken,
        Some(_) | None => CommitError::NotDone(failure(error)),
    }
}

/// Why a commit failed, given whether its transaction is still open.
///
/// SQLite keeps the transaction open when it refused before writing: a deferred key that is not kept, or a lock. Any
/// other failure may come after the last frame had reached the log (a full disk too: the frame may be repeated to fill
/// a sector), and recovery may bring it back.
pub(super) fn in_doubt(error: Error, still_open: bool) -> CommitError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) if still_open => CommitError::Overtaken,
        Some(ErrorCode::DatabaseBusy) if still_open => CommitError::NotDone(StoreError::Busy),
        Some(_) | None => CommitError::Unknown(failure(error)),
    }
}

/// Codes of SQLite itself.
fn by_code(error: ffi::Error) -> StoreError {
    match error.code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Busy,
        ErrorCode::OperationInterrupted => StoreError::TooSlow,
        ErrorCode::DiskFull => StoreError::DiskFull,
        ErrorCode::ReadOnly => StoreError::ReadOnly,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Damaged,
        ErrorCode::SystemIoFailure => StoreError::Io(operation(error.extended_code)),
        ErrorCode::CannotOpen => StoreError::Io("open"),
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => {
            StoreError::Io("permission")
        }
        ErrorCode::OutOfMemory => StoreError::Internal("out of memory"),
        ErrorCode::ConstraintViolation => StoreError::Internal("a rule of the schema"),
        ErrorCode::TooBig => StoreError::Internal("a value too large to store"),
        ErrorCode::SchemaChanged | ErrorCode::TypeMismatch => StoreError::Damaged,
        ErrorCode::InternalMalfunction
        | ErrorCode::OperationAborted
        | ErrorCode::NotFound
        | ErrorCode::ApiMisuse
        | ErrorCode::NoLargeFileSupport
        | ErrorCode::ParameterOutOfRange
        | ErrorCode::Unknown => StoreError::Internal("a statement that SQLite does not take"),
        _ => StoreError::Internal("a code of SQLite that is not known"),
    }
}

/// What the file system refused.
fn operation(extended: std::ffi::c_int) -> &'static str {
    match extended {
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS => {
            "read"
        }
        ffi::SQLITE_IOERR_WRITE => "write",
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => "sync",
        ffi::SQLITE_IOERR_TRUNCATE => "truncate",
        ffi::SQLITE_IOERR_LOCK | ffi::SQLITE_IOERR_UNLOCK | ffi::SQLITE_IOERR_RDLOCK => "lock",
        ffi::SQLITE_IOERR_SHMOPEN
        | ffi::SQLITE_IOERR_SHMSIZE
        | ffi::SQLITE_IOERR_SHMLOCK
        | ffi::SQLITE_IOERR_SHMMAP => "shared memory",
        _ => "input or output",
    }
}

/// Failures that rusqlite found by itself.
fn no_statement(error: &Error) -> StoreError {
    if matches!(error, Error::FromSqlConversionFailure(..) | Error::InvalidColumnType(..)) {
        StoreError::Damaged
    } else {
        StoreError::Internal("a statement and its parameters do not agree")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: std::ffi::c_int, still_open: bool, expected: CommitError) {
        let error = Error::SqliteFailure(ffi::Error::new(code), None);
        assert_eq!(in_doubt(error, still_open), expected, "code {code}");
    }

    // spec: D1
    #[test]
    fn only_a_commit_that_left_its_transaction_open_is_certain_not_to_have_happened() {
        check(ffi::SQLITE_BUSY, true, CommitError::NotDone(StoreError::Busy));
        check(ffi::SQLITE_BUSY, false, CommitError::Unknown(StoreError::Busy));
        check(ffi::SQLITE_CONSTRAINT_FOREIGNKEY, true, CommitError::Overtaken);
        check(ffi::SQLITE_FULL, false, CommitError::Unknown(StoreError::DiskFull));
        check(ffi::SQLITE_IOERR_FSYNC, false, CommitError::Unknown(StoreError::Io("sync")));
        check(ffi::SQLITE_IOERR_WRITE, true, CommitError::Unknown(StoreError::Io("write")));
    }

    // spec: D6
    #[test]
    fn each_cause_has_its_own_failure() {
        for (code, expected) in [
            (ffi::SQLITE_BUSY_RECOVERY, StoreError::Busy),
            (ffi::SQLITE_INTERRUPT, StoreError::TooSlow),
            (ffi::SQLITE_FULL, StoreError::DiskFull),
            (ffi::SQLITE_READONLY_DIRECTORY, StoreError::ReadOnly),
            (ffi::SQLITE_CORRUPT_INDEX, StoreError::Damaged),
            (ffi::SQLITE_NOTADB, StoreError::Damaged),
            (ffi::SQLITE_IOERR_READ, StoreError::Io("read")),
            (ffi::SQLITE_CANTOPEN, StoreError::Io("open")),
        ] {
            let error = Error::SqliteFailure(ffi::Error::new(code), None);
            assert_eq!(failure(error), expected, "code {code}");
        }
    }
}
