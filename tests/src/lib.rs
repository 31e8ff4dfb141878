//! Journeys over crates and rules about the repository. What belongs to one crate is tested there.

pub mod desk;
