//! What becomes of a transaction when a disk is full, time is up, or somebody forgot to end it.

use super::read::Snapshot;
use crate::support::*;
use std::time::Duration;
use work_core::digest::Digest;
use work_core::port::*;

/// Lets the file of the present writer grow by no more than a few pages.
fn fill_disk(world: &World) {
    let link = world.store.writer.lend(PATIENT.lock).expect("the writer");
    let pages: i64 =
        link.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a count");
    link.connection
        .query_row(&format!("PRAGMA max_page_count = {}", pages + 2), [], |_| Ok(()))
        .expect("set");
}

// spec: D6
#[test]
fn a_full_disk_is_told_and_leaves_nothing_half_written() {
    let world = World::new();
    fill_disk(&world);
    let bytes = vec![7; 100_000];
    let digest = Digest::of(&bytes);
    let before = world.head();
    let large = Put::Document { digest, bytes };
    let full = Err(CommitError::NotDone(StoreError::DiskFull));
    assert_eq!(world.try_put(vec![large.clone()]), full);
    assert_eq!(world.head(), before);
    assert_eq!(world.read().documents(&[digest], 9).expect("an answer"), []);
    // The connection on which a write failed is gone, and with it its limit.
    assert_eq!(world.try_put(vec![large]), Ok(()));
}

// spec: D1
#[test]
fn a_transaction_that_nobody_ended_never_reaches_the_next_user() {
    let world = World::new();
    let link = world.store.writer.lend(PATIENT.lock).expect("the writer");
    link.connection.execute_batch("BEGIN IMMEDIATE; UPDATE head SET looks = 99").expect("begun");
    drop(link);
    let link = world.store.writer.lend(PATIENT.lock).expect("another writer");
    assert!(link.connection.is_autocommit());
    drop(link);
    assert_eq!(world.head().looks, 0);
}

#[test]
fn a_panic_in_a_transaction_frees_the_lock_and_changes_nothing() {
    let world = World::new();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _tx = world.store.write(PATIENT).expect("the lock");
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert!(world.store.write(HASTY).is_ok());
}

fn endless(snapshot: &Snapshot<'_>) -> Result<i64, StoreError> {
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let count = snapshot.link.connection.query_row(endless, [], |row| row.get(0));
    count.map_err(super::error::failure)
}

// spec: W4
#[test]
fn a_question_that_takes_too_long_is_cut_off() {
    let world = World::new();
    let patience = Patience { whole: Duration::from_millis(30), ..PATIENT };
    let begun = world.store.begin(&world.store.readers, "BEGIN", PATIENT.whole, patience);
    assert_eq!(endless(&begun.expect("a snapshot")), Err(StoreError::TooSlow));
    let later = world.store.begin(&world.store.readers, "BEGIN", PATIENT.whole, PATIENT);
    assert!(later.expect("a snapshot").head().is_ok(), "the deadline went with its transaction");
}

// spec: D1
#[test]
fn every_connection_is_strict_and_safe() {
    let world = World::new();
    for lender in [&world.store.writer, &world.store.readers] {
        let link = lender.lend(PATIENT.lock).expect("a connection");
        let ask = |pragma: &str| {
            link.connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).expect(pragma)
        };
        assert_eq!(ask("PRAGMA foreign_keys"), 1);
        assert_eq!(ask("PRAGMA synchronous"), 2, "FULL");
        assert_eq!(ask("PRAGMA recursive_triggers"), 1);
        assert_eq!(ask("PRAGMA trusted_schema"), 0);
        let mode: String =
            link.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("mode");
        assert_eq!(mode, "wal");
        let unsafe_write = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ''";
        assert!(link.connection.execute_batch(unsafe_write).is_err(), "defensive");
    }
}

// spec: D1
#[test]
fn readers_cannot_write() {
    let world = World::new();
    let link = world.store.readers.lend(PATIENT.lock).expect("a reader");
    assert!(link.connection.execute_batch("UPDATE head SET looks = 99").is_err());
}
