//! A migration that is stopped at every step: schema 1 is there as it was, or schema 2 is whole.

use super::Wrong;
use super::original::clock;
use super::rows::{self, Rows};
use crate::{Ask, Counts};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use work_core::memory::MemoryDoor;
use work_core::port::StoreError;
use work_core::workspace::Workspace;
use work_store::ids::OsIds;
use work_store::sqlite::{Depth, SqliteStore};

/// A file of schema 1 in which something of everything has happened.
const SHIPPED: &[u8] =
    include_bytes!("../../../../../crates/work-store/tests/data/schema-1.sqlite");

/// What schema 2 keeps of each table of schema 1, row by row.
const KEPT: [(&str, &str); 9] = [
    ("folders", "folder"),
    ("sources", "source"),
    ("looks", "observation"),
    ("results", "result"),
    ("revisions", "revision"),
    ("tasks", "task"),
    ("runs", "run"),
    ("proposals", "proposal"),
    ("events", "event"),
];

/// Copies of the file, one at a time, and what it is before and after.
struct Files {
    home: TempDir,
    before: Rows,
    after: Rows,
}

/// Migrates it as a whole, then stops it on the way.
pub(super) fn run(ask: &Ask, counts: &mut Counts) -> Result<(), Wrong> {
    *counts.entry("migrations").or_default() += 1;
    let files = Files::new().map_err(|what| (0, what))?;
    files.expect_sound().map_err(|what| (0, what))?;
    stopped::run(&files, ask, counts)
}

impl Files {
    fn new() -> Result<Self, String> {
        let home = tempfile::tempdir().expect("a directory");
        let mut files = Self { home, before: Rows::new(), after: Rows::new() };
        files.fresh();
        files.before = files.rows()?;
        files.open().map_err(|error| format!("the shipped file does not open: {error}"))?;
        files.after = files.rows()?;
        Ok(files)
    }

    /// Whether schema 2 is sound, and keeps what schema 1 had.
    fn expect_sound(&self) -> Result<(), String> {
        for (old, new) in KEPT {
            let rows = |of: &Rows, table| of.get(table).map(std::collections::BTreeMap::len);
            let (was, is) = (rows(&self.before, old), rows(&self.after, new));
            if was.is_none() || was != is {
                return Err(format!("{was:?} rows of {old} became {is:?} of {new}"));
            }
        }
        self.expect_content()
    }

    /// Whether the doctor finds nothing in the present copy.
    fn expect_content(&self) -> Result<(), String> {
        let store = SqliteStore::open(&self.path(), clock()).map_err(|error| error.to_string())?;
        let health = store.inspect(Depth::Full).map_err(|error| error.to_string())?;
        let door = Arc::new(MemoryDoor::new());
        let found = Workspace::new(Arc::new(store), door, Arc::new(OsIds)).doctor();
        let mut found = found.map_err(|error| error.to_string())?.findings;
        found.retain(|one| one.severity == "damage");
        if health.faults.is_empty() && found.is_empty() {
            Ok(())
        } else {
            Err(format!("it was migrated, and the doctor finds {:?} {found:?}", health.faults))
        }
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("work.sqlite")
    }

    /// Puts a fresh copy in the place.
    fn fresh(&self) {
        super::original::install(self.home.path(), SHIPPED);
    }

    fn rows(&self) -> Result<Rows, String> {
        rows_of(&self.path())
    }

    fn open(&self) -> Result<(), StoreError> {
        SqliteStore::open(&self.path(), clock()).map(drop)
    }
}

fn rows_of(path: &Path) -> Result<Rows, String> {
    rows::of(path).map_err(|error| format!("it cannot be read: {error}"))
}

/// Nothing can be put in the way of a migration in this build.
#[cfg(not(feature = "plant"))]
mod stopped {
    use super::{Ask, Counts, Files, Wrong};

    pub(super) fn run(_: &Files, _: &Ask, _: &mut Counts) -> Result<(), Wrong> {
        Ok(())
    }
}

#[cfg(feature = "plant")]
mod stopped {
    use super::{Ask, Counts, Files, SqliteStore, StoreError, Wrong, rows_of};
    use crate::Size;
    use rusqlite::Connection;
    use rusqlite::hooks::{AuthContext, Authorization};
    use std::panic::RefUnwindSafe;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Actions that are refused in CI, out of all; steps of SQLite's machine at which it is interrupted, and at which
    /// an image is taken.
    const CI: [u64; 3] = [200, 100, 60];

    /// The same in the long run, which refuses every action.
    const LONG: [u64; 3] = [u64::MAX, 4000, 2000];

    /// How each place is called.
    const NAMES: [&str; 3] =
        ["migration statements refused", "migrations interrupted", "migration images"];

    pub(super) fn run(files: &Files, ask: &Ask, counts: &mut Counts) -> Result<(), Wrong> {
        let most = match ask.size {
            Size::Ci | Size::Hunt(_) => CI,
            Size::Long(_) => LONG,
        };
        let mut count = |what: &'static str| *counts.entry(what).or_default() += 1;
        for place in places(files.stopped(refuse(u64::MAX)).1, most[0]) {
            count(NAMES[0]);
            files.expect_stopped(place, NAMES[0], files.stopped(refuse(place)).0)?;
        }
        let all = files.stopped(interrupt(u64::MAX)).1;
        for place in places(all, most[1]) {
            count(NAMES[1]);
            let (done, _) = files.stopped(interrupt(place));
            // The last steps come after the commit, and there is nothing left to interrupt.
            if done.is_ok() && place > all - 100 {
                continue;
            }
            files.expect_stopped(place, NAMES[1], done)?;
        }
        for image in 0..files.images(all, most[2]) {
            count(NAMES[2]);
            files.expect_image(image)?;
        }
        Ok(())
    }

    /// At most so many numbers, spread over all.
    fn places(all: u64, most: u64) -> impl Iterator<Item = u64> {
        let step = all.div_ceil(most).max(1);
        (1..=all).step_by(usize::try_from(step).expect("small"))
    }

    /// What stops a migration, and how often it was asked.
    type Stop = (Arc<AtomicU64>, Box<dyn FnOnce(&mut Connection)>);

    /// Counts, and says when it is time.
    fn at(place: u64) -> (Arc<AtomicU64>, impl FnMut() -> bool + Send + RefUnwindSafe + 'static) {
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        (count, move || counted.fetch_add(1, Ordering::Relaxed) + 1 == place)
    }

    /// Refuses one action of a statement.
    fn refuse(place: u64) -> Stop {
        let (count, mut now) = at(place);
        let refuse = move |_: AuthContext<'_>| {
            if now() { Authorization::Deny } else { Authorization::Allow }
        };
        (count, Box::new(move |raw: &mut Connection| raw.authorizer(Some(refuse)).expect("set")))
    }

    /// Interrupts one step.
    fn interrupt(place: u64) -> Stop {
        let (count, now) = at(place);
        (
            count,
            Box::new(move |raw: &mut Connection| raw.progress_handler(1, Some(now)).expect("set")),
        )
    }

    impl Files {
        /// Migrates a fresh copy until it is stopped.
        fn stopped(&self, (count, stop): Stop) -> (Result<(), StoreError>, u64) {
            self.fresh();
            let done = SqliteStore::migrate_with(&self.path(), stop);
            (done, count.load(Ordering::Relaxed))
        }

        /// Whether it was stopped, is what it was, and can still be migrated.
        fn expect_stopped(
            &self,
            place: u64,
            how: &str,
            done: Result<(), StoreError>,
        ) -> Result<(), Wrong> {
            let wrong = |what: &str| (place, format!("{how}, at {place}: {what}"));
            if done.is_ok() {
                return Err(wrong("nothing says that it was stopped"));
            }
            self.expect_either(&self.path(), false).map_err(|what| wrong(&what))
        }

        /// Whether a file is schema 1 as it was, or, where that may be, schema 2 as a whole; and is the latter when it
        /// has been opened.
        fn expect_either(&self, path: &Path, may_be_done: bool) -> Result<(), String> {
            let found = rows_of(path)?;
            if found != self.before && !(may_be_done && found == self.after) {
                return Err("it is neither what it was nor what it becomes".to_owned());
            }
            let opened = SqliteStore::open(path, super::clock()).map(drop);
            opened.map_err(|error| format!("it does not open later: {error}"))?;
            if rows_of(path)? == self.after {
                Ok(())
            } else {
                Err("it is not migrated later".to_owned())
            }
        }

        /// Takes images of a migration, as a machine would find them that stopped. Says how many.
        fn images(&self, steps: u64, most: u64) -> u64 {
            let (from, to) = (self.home.path().to_owned(), self.home.path().to_owned());
            let taken = Arc::new(AtomicU64::new(0));
            let count = Arc::clone(&taken);
            let every = i32::try_from(steps.div_ceil(most).max(1)).expect("small");
            let take = move || {
                let n = count.fetch_add(1, Ordering::Relaxed);
                image(&from, &to.join(format!("image-{n}")));
                false
            };
            let small = "PRAGMA cache_size = 5; PRAGMA cache_spill = 5";
            self.fresh();
            let done = SqliteStore::migrate_with(&self.path(), |raw| {
                // So small a cache that pages reach the log long before the commit.
                raw.execute_batch(small).expect("set");
                raw.progress_handler(every, Some(take)).expect("set");
            });
            done.expect("nothing stops it");
            taken.load(Ordering::Relaxed)
        }

        fn expect_image(&self, n: u64) -> Result<(), Wrong> {
            let home = self.home.path().join(format!("image-{n}"));
            let found = self.expect_either(&home.join("work.sqlite"), true);
            std::fs::remove_dir_all(home).expect("removed");
            found.map_err(|what| (n, format!("image {n} of a migration: {what}")))
        }
    }

    /// Copies database and log.
    fn image(from: &Path, to: &Path) {
        std::fs::create_dir(to).expect("made");
        for name in ["work.sqlite", "work.sqlite-wal"] {
            if from.join(name).exists() {
                std::fs::copy(from.join(name), to.join(name)).expect("copied");
            }
        }
    }
}
