//! The simulation runs over the store in memory, and would notice a store that is not sound.

use work_core::memory::MemoryStore;
use work_core::port::{Batch, CommitError, Patience, ReadTx, Store, StoreError, WriteTx};
use work_core::testkit::conformance::Opening;
use work_core::testkit::simulation::{self, Fresh};

fn in_memory(o: Opening) -> Box<dyn Store> {
    Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
}

#[test]
fn the_store_in_memory_keeps_what_the_model_says() {
    for seed in 0..3 {
        if let Err(broken) = simulation::run(&mut Fresh(in_memory), seed, 120) {
            panic!("seed {seed}: {broken}\n{}", broken.trace);
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_run_and_another_another() {
    let run = |seed| simulation::run(&mut Fresh(in_memory), seed, 60).expect("it is sound");
    assert_eq!(run(4), run(4));
    assert_ne!(run(4).trace, run(5).trace);
}

/// A store that says that a batch is written, and forgets the notes in it.
struct Forgetful(MemoryStore);

struct ForgetfulWrite<'a>(Box<dyn WriteTx + 'a>);

impl Store for Forgetful {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.0.read(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        Ok(Box::new(ForgetfulWrite(self.0.write(patience)?)))
    }
}

impl WriteTx for ForgetfulWrite<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.0.reads()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        self.0.commit(&Batch { notes: Vec::new(), ..batch.clone() })
    }
}

#[test]
fn a_store_that_forgets_what_was_seen_is_found_out() {
    let forgetful = |o: Opening| -> Box<dyn Store> {
        Box::new(Forgetful(MemoryStore::new(o.workspace, o.owner, o.site, o.clock)))
    };
    let sound = (0..10).all(|seed| simulation::run(&mut Fresh(forgetful), seed, 120).is_ok());
    assert!(!sound, "a store that forgets passes");
}
