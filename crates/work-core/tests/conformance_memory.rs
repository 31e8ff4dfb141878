//! The store in memory keeps every promise that a store makes.

use work_core::memory::MemoryStore;
use work_core::port::Store;
use work_core::testkit::conformance::Opening;

/// A fresh store in memory.
fn fresh(o: Opening) -> Box<dyn Store> {
    Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
}

work_core::conformance_suite!(fresh);
