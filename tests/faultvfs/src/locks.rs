//! Who holds which lock: of files, as SQLite has five levels of, and of shared memory, which has eight locks.
//!
//! All connections are in one process here, so a table for each file is enough.

use std::collections::{BTreeMap, BTreeSet};

/// One open file of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder(pub(crate) u64);

/// How much of a file a connection has locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    None,
    Shared,
    Reserved,
    Pending,
    Exclusive,
}

/// Somebody else holds what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// The locks of one file.
#[derive(Debug, Default)]
pub(crate) struct FileLocks(BTreeMap<Holder, Level>);

impl FileLocks {
    fn of(&self, holder: Holder) -> Level {
        self.0.get(&holder).copied().unwrap_or_default()
    }

    /// The most that anybody else holds.
    fn of_others(&self, holder: Holder) -> Level {
        let others = self.0.iter().filter(|(other, _)| **other != holder);
        others.map(|(_, level)| *level).max().unwrap_or_default()
    }

    /// Takes a higher lock. Whoever waits for the whole file keeps new readers away.
    pub(crate) fn raise(&mut self, holder: Holder, to: Level) -> Result<(), Busy> {
        if self.of(holder) >= to {
            return Ok(());
        }
        let others = self.of_others(holder);
        let free = match to {
            Level::None => true,
            Level::Shared => others < Level::Pending,
            Level::Reserved | Level::Pending => others < Level::Reserved,
            Level::Exclusive => others == Level::None,
        };
        if free {
            self.0.insert(holder, to);
            return Ok(());
        }
        if to == Level::Exclusive && others < Level::Reserved {
            self.0.insert(holder, Level::Pending);
        }
        Err(Busy)
    }

    /// Goes down to a lower lock.
    pub(crate) fn lower(&mut self, holder: Holder, to: Level) {
        if to == Level::None {
            self.0.remove(&holder);
        } else {
            self.0.insert(holder, to);
        }
    }

    /// Whether anybody is about to write.
    pub(crate) fn is_reserved(&self) -> bool {
        self.0.values().any(|level| *level >= Level::Reserved)
    }
}

/// One lock of shared memory.
#[derive(Debug, Default)]
struct Slot {
    shared: BTreeSet<Holder>,
    exclusive: Option<Holder>,
}

/// The locks of one file's shared memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryLocks([Slot; 8]);

impl MemoryLocks {
    /// Takes locks for reading, all of them or none.
    pub(crate) fn share(
        &mut self,
        holder: Holder,
        slots: std::ops::Range<usize>,
    ) -> Result<(), Busy> {
        let slots = &mut self.0[slots];
        if slots.iter().any(|slot| slot.exclusive.is_some_and(|other| other != holder)) {
            return Err(Busy);
        }
        for slot in slots {
            slot.shared.insert(holder);
        }
        Ok(())
    }

    /// Takes locks for writing, all of them or none.
    pub(crate) fn exclude(
        &mut self,
        holder: Holder,
        slots: std::ops::Range<usize>,
    ) -> Result<(), Busy> {
        let slots = &mut self.0[slots];
        let held = |slot: &Slot| {
            let others = slot.shared.iter().any(|other| *other != holder);
            others || slot.exclusive.is_some_and(|other| other != holder)
        };
        if slots.iter().any(held) {
            return Err(Busy);
        }
        slots.iter_mut().for_each(|slot| slot.exclusive = Some(holder));
        Ok(())
    }

    /// Lets go of locks.
    pub(crate) fn free(&mut self, holder: Holder, slots: std::ops::Range<usize>) {
        for slot in &mut self.0[slots] {
            slot.shared.remove(&holder);
            slot.exclusive = slot.exclusive.filter(|other| *other != holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: Holder = Holder(1);
    const BEA: Holder = Holder(2);

    #[test]
    fn one_writes_while_others_read_and_nobody_begins_to_read_before_the_whole_file_is_had() {
        let mut locks = FileLocks::default();
        assert_eq!(locks.raise(ANN, Level::Shared), Ok(()));
        assert_eq!(locks.raise(BEA, Level::Shared), Ok(()));
        assert_eq!(locks.raise(ANN, Level::Reserved), Ok(()));
        assert_eq!(locks.raise(BEA, Level::Reserved), Err(Busy));
        assert_eq!(locks.raise(ANN, Level::Exclusive), Err(Busy), "Bea reads");
        locks.lower(BEA, Level::None);
        assert_eq!(locks.raise(BEA, Level::Shared), Err(Busy), "Ann waits");
        assert_eq!(locks.raise(ANN, Level::Exclusive), Ok(()));
    }

    #[test]
    fn a_lock_of_memory_is_shared_or_had_alone() {
        let mut locks = MemoryLocks::default();
        assert_eq!(locks.share(ANN, 3..4), Ok(()));
        assert_eq!(locks.share(BEA, 3..4), Ok(()));
        assert_eq!(locks.exclude(ANN, 3..5), Err(Busy));
        locks.free(BEA, 3..4);
        assert_eq!(locks.exclude(ANN, 3..5), Ok(()));
        assert_eq!(locks.share(BEA, 4..5), Err(Busy));
    }
}
