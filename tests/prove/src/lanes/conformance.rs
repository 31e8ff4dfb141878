//! Lane A2: every store does what the machines say.
//!
//! Stories of [`work_core::testkit::conformance::transitions`] on SQLite, each on a database of its own, beside the
//! store in memory. A story is its seed: it says the same steps on every machine.
#![expect(clippy::unwrap_used, reason = "without a directory for a database there is no proof")]

use crate::{Ask, Counts, Finding, Lane, Outcome, Size};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use work_core::plant::Fault;
use work_core::port::{Head, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::conformance::Opening;
use work_core::testkit::conformance::transitions::{Played, play};
use work_store::sqlite::SqliteStore;

/// The lane.
pub const LANE: Lane = Lane {
    name: "conformance",
    proves: "every store does what the machines say",
    share: 1,
    catches: &[Fault::RowVersion, Fault::AuditTogether, Fault::RepeatedRequest],
    run,
};

/// Different transitions of a run of CI.
const CI: u64 = 20_000;

fn run(ask: &Ask) -> Outcome {
    let (mut done, mut sum, mut stories) = (BTreeSet::new(), Played::default(), 0);
    let finding = loop {
        if !ask.goes_on(sum.transitions, CI) {
            break None;
        }
        let seed = ask.seed.wrapping_add(stories);
        match play(&fresh, seed, &mut done) {
            Ok(played) => sum = added(sum, played),
            Err(wrong) => {
                let tries = sum.steps + wrong.steps + 1;
                break Some(Finding { what: wrong.what, seed, tries });
            }
        }
        stories += 1;
        if matches!(ask.size, Size::Hunt(_)) && stories >= STORIES_OF_A_HUNT {
            break None;
        }
    };
    let counts = Counts::from([
        ("transitions", sum.transitions),
        ("steps", sum.steps),
        ("refused by the rules", sum.refused),
        ("late writes refused", sum.late),
        ("stories", stories),
    ]);
    Outcome { counts, finding, skipped: None }
}

/// Stories in which a planted fault is looked for.
const STORIES_OF_A_HUNT: u64 = 20;

/// Both together.
const fn added(sum: Played, more: Played) -> Played {
    Played {
        transitions: sum.transitions + more.transitions,
        steps: sum.steps + more.steps,
        refused: sum.refused + more.refused,
        late: sum.late + more.late,
    }
}

/// A store with the directory that it lives in.
struct Housed {
    store: SqliteStore,
    _home: tempfile::TempDir,
}

impl Store for Housed {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.store.read(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        self.store.write(patience)
    }
}

/// A fresh database, in memory where the system has a directory there: what a sync does is another lane's matter.
fn fresh(opening: Opening) -> Box<dyn Store> {
    let Opening { workspace, owner, site, clock } = opening;
    let shared = Path::new("/dev/shm");
    let home = tempfile::tempdir_in(shared).or_else(|_| tempfile::tempdir()).unwrap();
    let path = home.path().join("work.sqlite");
    SqliteStore::create(&path, &Head::new(workspace, owner, site, clock.reading())).unwrap();
    let store = SqliteStore::open(&path, Arc::clone(&clock)).unwrap();
    Box::new(Housed { store, _home: home })
}
