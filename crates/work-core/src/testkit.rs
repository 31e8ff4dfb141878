//! What defines a correct store, and what tests of the rules need: for authors of stores and of embedding programs.
//!
//! [`conformance`] is the suite that every store passes, [`fakes`] are clocks, ids and faults that a test sets,
//! [`simulation`] runs whole workspaces under faults beside a model, [`strategies`] generate values for property tests,
//! [`world`] is a small world in which the real rules decide. Nothing here is part of a program in use.

pub mod conformance;
pub mod fakes;
pub mod simulation;
pub mod strategies;
pub mod world;
