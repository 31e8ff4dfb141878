//! The one rule of schema 2 that was stricter once: time could not go back at all, not even where an era begins.
//!
//! Files that were made then get the present rule when they are opened for writing. Everything else in them is as it
//! is today, and older programs go on using them.

use super::create::TABLES;
use super::error::failure;
use super::pool::{Opener, Role};
use rusqlite::Connection;
use std::path::Path;
use work_core::port::StoreError;

/// The rule's name.
pub(super) const NAME: &str = "head_forward";

/// The present rule.
fn present() -> &'static str {
    let begin = TABLES.find("CREATE TRIGGER head_forward").expect("it is in the schema");
    let end = TABLES[begin..].find("END;").expect("a trigger ends");
    &TABLES[begin..begin + end + "END".len()]
}

/// The rule as it was.
pub(super) fn before() -> String {
    let (now, then) = (
        "(NEW.era, NEW.latest_ms) < (OLD.era, OLD.latest_ms)",
        "NEW.latest_ms < OLD.latest_ms OR NEW.era < OLD.era",
    );
    present().replace(now, then)
}

/// Whether a file has the rule as it was.
pub(super) fn is_needed(connection: &Connection) -> Result<bool, StoreError> {
    let rule = "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND sql = ?2";
    let mut rule = connection.prepare(rule).map_err(failure)?;
    rule.exists([NAME, &before()]).map_err(failure)
}

/// Puts the present rule in its place, unless another process has done it meanwhile.
pub(super) fn renew(path: &Path) -> Result<(), StoreError> {
    let link = Opener::new(path, Role::Writer).open()?;
    let run = |sql: &str| link.connection.execute_batch(sql).map_err(failure);
    run("BEGIN IMMEDIATE")?;
    if is_needed(&link.connection)? {
        run(&format!("DROP TRIGGER {NAME}; {};", present()))?;
    }
    run("COMMIT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{AsIs, Depth, SqliteStore};
    use crate::support::*;
    use std::sync::Arc;
    use work_core::port::*;
    use work_core::time::{Anchor, Era};

    /// A file that has the rule as it was.
    fn older() -> World {
        let world = World::new();
        let then = format!("DROP TRIGGER {NAME}; {};", before());
        world.raw().execute_batch(&then).expect("the rule as it was");
        world
    }

    /// Lets time go back into the next era.
    fn turn_back(store: &SqliteStore) -> Result<(), CommitError> {
        let mut tx = store.write(PATIENT).expect("the lock");
        let head = tx.reads().head().expect("a head").0;
        let latest_ms = head.anchor.latest_ms - 1;
        let anchor = Anchor { latest_ms, era: Era(head.anchor.era.0 + 1), ..head.anchor };
        tx.commit(&Batch { head: Head { anchor, ..head }, act: None, notes: Vec::new() })
    }

    // spec: T6
    #[test]
    fn a_file_with_the_stricter_rule_gets_the_present_one_when_it_is_opened() {
        let world = older();
        assert_eq!(turn_back(&world.store), Err(CommitError::Overtaken));
        let renewed = open(&world.path);
        assert_eq!(turn_back(&renewed), Ok(()));
        assert_eq!(renewed.inspect(Depth::Full).expect("looked at").faults, []);
        assert_eq!(is_needed(&world.raw()), Ok(false));
    }

    // spec: D4
    #[test]
    fn a_file_with_the_stricter_rule_is_sound_and_looking_at_it_leaves_it() {
        let world = older();
        let AsIs::Present(looked) = SqliteStore::look(&world.path, Arc::new(Still)).expect("ours")
        else {
            panic!("the present schema");
        };
        assert_eq!(looked.inspect(Depth::Full).expect("looked at").faults, []);
        assert_eq!(is_needed(&world.raw()), Ok(true));
    }
}
