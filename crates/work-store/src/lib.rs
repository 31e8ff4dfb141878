//! The memory of maintained work on one machine.
//!
//! Owns this host's clock and randomness. Unix only for now.

pub mod clock;
pub mod ids;
