//! The place of the suite that defines a correct store, once the core has it.
//!
//! Until then each promise has its own test: `records`, `promises`, `transactions`, `files`.
