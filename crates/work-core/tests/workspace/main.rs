//! The use cases through their public door, over the strict store and a door in memory.

mod applying;
mod asking;
mod comparing;
mod doubt;
mod hiding;
mod histories;
mod listing;
mod racing;
mod repairing;
mod restoring;
mod running;
mod showing;
mod world;
mod worlds;
