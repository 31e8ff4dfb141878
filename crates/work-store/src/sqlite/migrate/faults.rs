//! A migration that fails, or whose machine fails, anywhere on its way: schema 1 is there as it was.

use super::super::pool::{Link, Opener, Role};
use super::upgrade;
use crate::support::open;
use crate::support::schema_1::{dump, shipped};
use rusqlite::hooks::Authorization;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use work_core::port::StoreError;

/// How many of many places are tried.
const PLACES: u64 = 60;

/// Copies of the shipped file, and what becomes of it.
struct Files {
    home: TempDir,
    before: String,
    after: String,
}

impl Files {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let files = Self { home, before: String::new(), after: String::new() };
        let path = files.copy();
        let before = dump(&path);
        drop(open(&path));
        Self { before, after: dump(&path), ..files }
    }

    /// The only copy, fresh.
    fn copy(&self) -> PathBuf {
        let path = self.home.path().join("work.sqlite");
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(self.home.path().join(format!("work.sqlite{suffix}")));
        }
        fs::copy(shipped(), &path).expect("copied");
        path
    }

    /// Migrates a fresh copy after `fault` was put in its way.
    fn migrated(&self, fault: impl FnOnce(&mut Link)) -> Result<(), StoreError> {
        let mut link = Opener::new(&self.copy(), Role::Writer).open().expect("opens");
        fault(&mut link);
        upgrade(&link.connection)
    }

    /// Whether the copy is what it was, and can still be migrated.
    #[track_caller]
    fn expect_as_before(&self, place: &str) {
        let path = self.home.path().join("work.sqlite");
        assert!(dump(&path) == self.before, "schema 1 is not what it was: {place}");
        drop(open(&path));
        assert!(dump(&path) == self.after, "it is not migrated later: {place}");
    }
}

/// Numbers spread over so many.
fn places(all: u64) -> impl Iterator<Item = u64> {
    let step = (all / PLACES).max(1);
    (1..=all).step_by(usize::try_from(step).expect("small"))
}

/// Counts, and says when it is time to fail.
fn at(place: u64) -> (Arc<AtomicU64>, impl FnMut() -> bool + Send + std::panic::RefUnwindSafe) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    (count, move || counted.fetch_add(1, Ordering::Relaxed) + 1 == place)
}

// spec: D2
#[test]
fn a_statement_that_is_refused_leaves_schema_1_as_it_was() {
    let files = Files::new();
    let refusing = |place| {
        let (count, mut now) = at(place);
        let done = files.migrated(|link| {
            let refuse = move |_: rusqlite::hooks::AuthContext<'_>| {
                if now() { Authorization::Deny } else { Authorization::Allow }
            };
            link.connection.authorizer(Some(refuse)).expect("set");
        });
        (done, count.load(Ordering::Relaxed))
    };
    let (done, all) = refusing(u64::MAX);
    assert_eq!(done, Ok(()));
    assert!(all > 500, "{all}");
    for place in places(all) {
        assert!(refusing(place).0.is_err(), "action {place} of {all}");
        files.expect_as_before(&format!("action {place} of {all}"));
    }
}

// spec: D2
#[test]
fn an_interruption_anywhere_leaves_schema_1_as_it_was() {
    let files = Files::new();
    let interrupted = |place| {
        let (count, now) = at(place);
        let done = files.migrated(|link| {
            link.connection.progress_handler(1, Some(now)).expect("set");
        });
        (done, count.load(Ordering::Relaxed))
    };
    let (done, all) = interrupted(u64::MAX);
    assert_eq!(done, Ok(()));
    for place in places(all) {
        if interrupted(place).0.is_ok() {
            // The last steps come after the commit, and there is nothing left to interrupt.
            assert!(place > all - 100, "step {place} of {all} was not interrupted");
            continue;
        }
        files.expect_as_before(&format!("step {place} of {all}"));
    }
}

// spec: D2 D6
#[test]
fn a_disk_that_is_full_at_any_page_leaves_schema_1_as_it_was() {
    let files = Files::new();
    let pages = fs::metadata(shipped()).expect("shipped").len() / 4096;
    let limited = |more: u64| {
        files.migrated(|link| {
            let limit = format!("PRAGMA max_page_count = {}", pages + more);
            link.connection.query_row(&limit, [], |_| Ok(())).expect("set");
        })
    };
    let mut more = 0;
    while let Err(error) = limited(more) {
        assert_eq!(error, StoreError::DiskFull, "{more} pages more");
        files.expect_as_before(&format!("{more} pages more"));
        more += 1;
    }
    assert!(more > 10, "the disk was never full");
}

// spec: D2
#[test]
fn a_commit_that_is_refused_leaves_schema_1_as_it_was() {
    let files = Files::new();
    let refused = files.migrated(|link| {
        link.connection.commit_hook(Some(|| true)).expect("set");
    });
    assert!(refused.is_err());
    files.expect_as_before("the commit");
}

/// Copies database and log, as a machine would find them whose power went.
fn image(path: &Path, into: &Path) {
    fs::create_dir(into).expect("made");
    for suffix in ["", "-wal"] {
        let name = format!("work.sqlite{suffix}");
        let from = path.with_file_name(&name);
        if from.exists() {
            fs::copy(from, into.join(name)).expect("copied");
        }
    }
}

// spec: D1 D2
#[test]
fn a_machine_that_stops_anywhere_on_the_way_finds_schema_1_as_it_was() {
    let files = Files::new();
    let images = tempfile::tempdir().expect("a directory");
    let path = files.home.path().join("work.sqlite");
    let (taken, into) = (Arc::new(AtomicU64::new(0)), images.path().to_owned());
    let count = Arc::clone(&taken);
    let done = files.migrated(|link| {
        // So small a cache that pages reach the log long before the commit.
        link.connection
            .execute_batch("PRAGMA cache_size = 5; PRAGMA cache_spill = 5")
            .expect("set");
        let take = move || {
            let n = count.fetch_add(1, Ordering::Relaxed);
            image(&path, &into.join(n.to_string()));
            false
        };
        link.connection.progress_handler(700, Some(take)).expect("set");
    });
    assert_eq!(done, Ok(()));
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken > 10, "{taken} images");
    let mut logs = 0;
    for n in 0..taken {
        let path = images.path().join(n.to_string()).join("work.sqlite");
        logs += u64::from(
            path.with_file_name("work.sqlite-wal").metadata().is_ok_and(|log| log.len() > 4096),
        );
        assert!(dump(&path) == files.before, "image {n} of {taken}");
        drop(open(&path));
        assert!(dump(&path) == files.after, "image {n} of {taken} is not migrated later");
    }
    assert!(logs > 5, "the log was written on the way in {logs} images only");
}
