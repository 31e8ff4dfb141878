//! The lanes, each a module.

pub mod conformance;
pub mod crash;
pub mod database;
pub mod faults;
pub mod fuzz;
pub mod kill;
pub mod layout;
pub mod model;
pub mod race;
pub mod redaction;
pub mod simulation;

use crate::Lane;

/// All of them, in the order in which they run.
pub const ALL: [&Lane; 11] = [
    &model::LANE,
    &conformance::LANE,
    &simulation::LANE,
    &crash::LANE,
    &faults::LANE,
    &kill::LANE,
    &race::LANE,
    &fuzz::LANE,
    &layout::LANE,
    &redaction::LANE,
    &database::LANE,
];
