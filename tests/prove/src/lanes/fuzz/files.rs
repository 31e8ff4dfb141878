//! Bytes as a database: refused and untouched, or opened.

use crate::seed::Seed;
use std::path::Path;
use std::sync::Arc;
use work_core::port::{Clock as _, StoreError};
use work_core::testkit::fakes::{CountingIds, FakeClock};
use work_store::instance::{DATABASE, Instance};
use work_store::sqlite::{AsIs, Depth, SqliteStore};

/// A file of schema 1, as it is shipped.
const SCHEMA_1: &[u8] =
    include_bytes!("../../../../../crates/work-store/tests/data/schema-1.sqlite");

/// Bytes as a database: looked at first, which leaves them as they are, then opened, which may change them only if they
/// are ours.
pub(super) fn database(input: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE);
    std::fs::write(&path, input).expect("a file");
    let clock = Arc::new(FakeClock::at(2_000_000_000));
    if let Ok(AsIs::Present(store)) = SqliteStore::open_as_is(&path, clock.clone()) {
        let _ = store.inspect(Depth::Full);
    }
    expect_as_it_was(&path, input, "looked at");
    match SqliteStore::open(&path, clock) {
        Ok(store) => drop(store.inspect(Depth::Full)),
        Err(StoreError::Foreign | StoreError::Newer | StoreError::Damaged) => {
            expect_as_it_was(&path, input, "refused");
        }
        Err(_) => expect_as_it_was(&path, input, "not opened"),
    }
}

fn expect_as_it_was(path: &Path, input: &[u8], what: &str) {
    let now = std::fs::read(path).expect("a file");
    assert!(now == input, "a file that was {what} is not what it was");
}

/// A database of the present schema with nothing in it, and one of schema 1.
pub(super) fn present() -> Vec<Vec<u8>> {
    let directory = tempfile::tempdir().expect("a directory");
    let home = directory.path().join("desk");
    let clock = FakeClock::at(1_000);
    let _ = clock.reading();
    drop(Instance::create(&home, &CountingIds::new(), &clock).expect("an instance"));
    vec![std::fs::read(home.join(DATABASE)).expect("a database")]
}

/// The shipped file of schema 1.
pub(super) fn older() -> Vec<Vec<u8>> {
    vec![SCHEMA_1.to_vec()]
}

/// A database with some bytes changed, one page mostly.
pub(super) fn damaged(seed: &mut Seed, known: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seed.one_of(known).clone();
    let page = 4096 * seed.below(input.len().div_ceil(4096));
    let within = if seed.once_in(2) { 128 } else { 4096 };
    for _ in 0..1_usize << seed.below(5) {
        let at = (page + seed.below(within)).min(input.len() - 1);
        input[at] =
            *seed.one_of(&[0, 1, 0x7f, 0x80, 0xff, input[at] ^ 1, input[at].wrapping_add(1)]);
    }
    if seed.once_in(8) {
        input.truncate(seed.below(input.len()));
    }
    input
}
