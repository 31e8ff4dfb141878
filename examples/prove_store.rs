//! Your own store, under faults: the suite asks for each promise alone, this asks for all of them at once.
//!
//! The store here keeps everything in memory and counts what it was asked to write. The simulation drives a whole
//! workspace over it: workers that pause, files that change, folders that are revoked, commits in doubt, processes that
//! begin anew. It compares every answer with a plain model, and tells the first one that is wrong.
//!
//! `cargo run -p work-examples --example prove_store`

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work_core::memory::MemoryStore;
use work_core::port::{Batch, CommitError, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::conformance::{self, Opening};
use work_core::testkit::simulation::{self, Broken, Stores, Tally};

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

/// Where the stores come from. One that keeps its records in a file would open it again in `again`.
struct Factory {
    commits: Arc<AtomicU64>,
}

impl Stores for Factory {
    fn fresh(&mut self, opening: Opening) -> Box<dyn Store> {
        let Opening { workspace, owner, site, clock } = opening;
        let records = MemoryStore::new(workspace, owner, site, clock);
        Box::new(Counting { records, commits: self.commits.clone() })
    }
}

/// The suite, then some seeds of the simulation: what these did, and the commits that the store counted.
pub(crate) fn prove(seeds: u64) -> Result<(Tally, u64), Broken> {
    let commits = Arc::new(AtomicU64::new(0));
    let counter = commits.clone();
    conformance::run(&move |opening| Factory { commits: counter.clone() }.fresh(opening));
    let mut all = Tally::default();
    for seed in 0..seeds {
        all += simulation::run(&mut Factory { commits: commits.clone() }, seed, 200)?.tally;
    }
    Ok((all, commits.load(Ordering::Relaxed)))
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (Tally { requests, faults, crashes, .. }, commits) = prove(10)?;
    println!("{requests} requests answered rightly through {faults} faults and {crashes} crashes");
    println!("{commits} commits in all");
    Ok(())
}
