//! The memory of maintained work on one machine.
//!
//! Owns the instance directory ([`Instance`](instance::Instance)), its access token, the records in SQLite
//! ([`SqliteStore`](sqlite::SqliteStore)), and this host's clock and randomness. Refuses to know any rule: it keeps
//! what [`work_core::port`] says, and the schema says it once more. Unix only for now.

pub mod clock;
mod filesystem;
pub mod ids;
pub mod instance;
pub mod sqlite;
pub mod token;

#[cfg(test)]
extern crate self as work_store;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
