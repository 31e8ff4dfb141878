//! The layer itself: SQLite works over it, and what it says of a power loss is as bad as it may be and no worse.

use crate::crash::Crash;
use crate::disk::{Disk, Error, Lasts};
use crate::record::{FileId, Image, Op};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::sync::Arc;

const FILE: FileId = FileId(0);

fn written(at: u64, bytes: &[u8]) -> Op {
    Op::Write { file: FILE, at, bytes: bytes.into() }
}

/// The place after these operations on a file `a` that held `old`.
fn after(ops: &[Op]) -> Crash {
    let mut crash = Crash::before(&Image::default().with("a", *b"old"));
    ops.iter().for_each(|op| crash.pass(op));
    crash
}

/// Everything that `a` may hold, over many choices.
fn outcomes(crash: &Crash) -> BTreeSet<Option<Vec<u8>>> {
    (0..4000_u64)
        .map(|seed| {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut choose = |below: usize| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                usize::try_from(state >> 33).unwrap() % below
            };
            crash.image(&mut choose).bytes("a").map(<[u8]>::to_vec)
        })
        .collect()
}

#[test]
fn what_was_not_synced_may_be_lost_or_there_and_out_of_order() {
    let found = outcomes(&after(&[written(0, b"new"), written(3, b"er")]));
    for expected in [&b"old"[..], b"new", b"newer", b"older"] {
        assert!(found.contains(&Some(expected.to_vec())), "{expected:?}");
    }
}

#[test]
fn what_was_synced_is_never_lost() {
    let ops = [written(0, b"new"), Op::Sync { file: FILE }, written(3, b"er")];
    let lost = |bytes: &Option<Vec<u8>>| !bytes.as_ref().is_some_and(|a| a.starts_with(b"new"));
    assert!(!outcomes(&after(&ops)).iter().any(lost));
}

#[test]
fn a_write_is_torn_at_sectors_and_nowhere_else() {
    let found = outcomes(&after(&[Op::Resize { file: FILE, size: 0 }, written(0, &[7; 1024])]));
    let (whole, torn) = ([7; 1024].to_vec(), [[0; 512], [7; 512]].concat());
    assert!(found.contains(&Some(whole)) && found.contains(&Some(torn)));
    let sectors = |bytes: &[u8]| {
        let (sectors, rest) = bytes.as_chunks::<512>();
        let even = sectors.iter().all(|sector| *sector == [0; 512] || *sector == [7; 512]);
        even && (rest.is_empty() || bytes == b"old")
    };
    let old = |bytes: &[u8]| bytes.starts_with(b"old");
    let sound = |bytes: &Option<Vec<u8>>| bytes.as_ref().is_some_and(|a| old(a) || sectors(a));
    assert!(found.iter().all(sound));
}

#[test]
fn a_name_that_was_given_or_taken_lasts_when_the_names_are_synced() {
    let gone = Op::Unname { name: "a".to_owned() };
    assert_eq!(outcomes(&after(std::slice::from_ref(&gone))).len(), 2);
    assert_eq!(outcomes(&after(&[gone, Op::SyncNames])), BTreeSet::from([None]));
}

#[test]
fn what_stands_before_a_failed_sync_may_be_lost_after_a_later_one() {
    let failed = [written(0, b"new"), Op::SyncFailed { file: FILE }];
    let later = [written(3, b"er"), Op::Sync { file: FILE }];
    let found = outcomes(&after(&[failed, later].concat()));
    let expected = [b"older", b"newer"].map(|bytes| Some(bytes.to_vec()));
    assert_eq!(found, BTreeSet::from(expected.map(|bytes| bytes)));
}

fn open(disk: &Disk) -> Connection {
    Connection::open(format!("{}/db", disk.directory())).unwrap()
}

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

#[test]
fn two_connections_write_one_log_and_see_each_other() {
    let disk = Disk::new("/recorded/two", Image::default());
    let (ann, bea) = (open(&disk), open(&disk));
    ann.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
    for _ in 0..50 {
        ann.execute("INSERT INTO t VALUES (randomblob(900))", []).unwrap();
        bea.execute("INSERT INTO t VALUES (randomblob(900))", []).unwrap();
    }
    assert_eq!((count(&ann), count(&bea)), (100, 100));
    assert!(disk.now().bytes("db-wal").is_some());
    drop((ann, bea));
    assert!(disk.now().bytes("db-wal").is_none(), "the last one puts the log into the database");
    assert_eq!(count(&open(&disk)), 100);
}

#[test]
fn two_threads_write_at_once_and_nothing_is_lost() {
    let disk = Disk::new("/recorded/threads", Image::default());
    open(&disk).execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let connection = open(&disk);
                connection.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
                for _ in 0..100 {
                    connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
                }
            });
        }
    });
    assert_eq!(count(&open(&disk)), 200);
}

#[test]
fn a_copy_of_what_is_certain_holds_what_was_committed_in_full_and_may_miss_it_in_normal() {
    for (synchronous, expected) in [("FULL", 1), ("NORMAL", 0)] {
        let disk = Disk::new("/recorded/sync", Image::default());
        let connection = open(&disk);
        let begin = format!("PRAGMA synchronous = {synchronous}; CREATE TABLE t (x);");
        connection.execute_batch(&format!("PRAGMA journal_mode = WAL; {begin}")).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
        let mut crash = Crash::before(&disk.began_as());
        disk.record().iter().for_each(|op| crash.pass(op));
        drop(connection);
        drop(disk);
        let found = Disk::new("/recorded/found", crash.least());
        assert_eq!(count(&open(&found)), expected, "{synchronous}");
    }
}

#[test]
fn an_operation_fails_once_or_for_ever_until_it_is_healed() {
    let disk = Disk::new("/recorded/fault", Image::default());
    let connection = open(&disk);
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    let insert = || connection.execute("INSERT INTO t VALUES (1)", []);
    disk.fail(0, Error::Full, Lasts::Once);
    assert!(insert().is_err() && insert().is_ok());
    disk.fail(0, Error::Device, Lasts::ForEver);
    assert!(insert().is_err() && insert().is_err());
    disk.heal();
    assert!(insert().is_ok());
    assert_eq!(count(&connection), 2);
}

#[test]
fn files_elsewhere_are_where_they_were() {
    let disk = Disk::new("/recorded/other", Image::default());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(path.metadata().unwrap().len() > 0);
    assert_eq!(disk.now(), Image::default());
}

#[test]
fn bytes_are_shared_until_they_are_written() {
    let image = Image::default().with("a", vec![1; 10]);
    let disk = Disk::new("/recorded/shared", image.clone());
    assert!(Arc::ptr_eq(&disk.now().0["a"], &image.0["a"]));
}
