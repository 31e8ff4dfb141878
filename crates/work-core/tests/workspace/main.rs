//! The use cases through their public door, over the strict store and a door in memory.

mod asking;
mod backing_up;
mod checking;
mod checkup;
mod clock;
mod doubt;
mod hiding;
mod listing;
mod racing;
mod refreshing;
mod running;
mod showing;
mod status;
mod world;
