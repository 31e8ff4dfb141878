//! Your own store: keep the records where you like, and let our suite show that it is correct.
//!
//! This one keeps everything in memory and counts what it was asked to write. A real one answers the questions of
//! `ReadTx` from its own tables; the suite is the same.
//!
//! `cargo run -p work-examples --example own_store`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work_core::memory::MemoryStore;
use work_core::port::{Batch, CommitError, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::conformance::{self, Opening, transitions};

/// A store that counts its commits.
struct Counting {
    records: MemoryStore,
    commits: Arc<AtomicU64>,
}

impl Store for Counting {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.records.read(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        Ok(Box::new(CountingWrite { write: self.records.write(patience)?, commits: &self.commits }))
    }
}

/// The write lock of a store that counts.
struct CountingWrite<'a> {
    write: Box<dyn WriteTx + 'a>,
    commits: &'a AtomicU64,
}

impl WriteTx for CountingWrite<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.write.reads()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        self.write.commit(batch)?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Transitions of tasks and proposals that are done on the store.
const TRANSITIONS: u64 = 500;

/// Runs the whole suite on the store, then steps of a small world in which the real rules decide: how many promises were
/// asked, and how many commits that took.
pub(crate) fn prove() -> (usize, u64) {
    let commits = Arc::new(AtomicU64::new(0));
    let counter = commits.clone();
    let make = move |opening: Opening| -> Box<dyn Store> {
        let Opening { workspace, owner, site, clock } = opening;
        let records = MemoryStore::new(workspace, owner, site, clock);
        Box::new(Counting { records, commits: counter.clone() })
    };
    conformance::run(&make);
    transitions::run(&make, TRANSITIONS);
    (conformance::names().count(), commits.load(Ordering::Relaxed))
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (promises, commits) = prove();
    println!("{promises} promises and {TRANSITIONS} transitions kept, in {commits} commits");
    Ok(())
}
