//! The program as people and scripts meet it: real processes on real files.
//!
//! `desk` is what every test works on. Nothing here waits for a time to pass: what another process does is waited for
//! by asking the records for a condition, a counted number of times.

mod backup;
mod clock;
mod desk;
mod documents;
mod exporting;
mod faults;
mod gate;
mod gates;
mod help;
mod journey;
mod parallel;
#[cfg(not(feature = "plant"))]
mod planted;
mod proposals;
mod refusals;
mod restoring;
mod revoked;
mod schema;
mod signals;
mod terminal;
