//! SQLite keeps every promise of the suite that defines a correct store.

use std::sync::Arc;
use work_core::port::{Head, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::conformance::Opening;
use work_store::sqlite::SqliteStore;

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

fn fresh(opening: Opening) -> Box<dyn Store> {
    let Opening { workspace, owner, site, clock } = opening;
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = home.path().join("work.sqlite");
    SqliteStore::create(&path, &Head::new(workspace, owner, site, clock.reading()))
        .expect("created");
    let store = SqliteStore::open(&path, Arc::clone(&clock)).expect("opened");
    Box::new(Housed { store, _home: home })
}

work_core::conformance_suite!(fresh);

#[test]
fn every_step_of_a_small_world_leaves_what_the_rules_say() {
    work_core::testkit::conformance::transitions::run(&fresh, 500);
}
