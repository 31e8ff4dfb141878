//! The use cases through their public door, over the strict store and a door in memory.

mod applying;
mod asking;
mod backing_up;
mod checking;
mod checkup;
mod clock;
mod comparing;
mod doubt;
mod hiding;
mod histories;
mod holes;
mod listing;
mod racing;
mod refreshing;
mod repairing;
mod restoring;
mod running;
mod showing;
mod status;
mod world;
mod worlds;
