//! A file layer of SQLite that records what is written and fails what it is told to.
//!
//! [`install`] puts it in front of the layer that SQLite comes with. From then on every database whose directory is
//! that of a [`Disk`](disk::Disk) lives in memory, and everything else goes where it always went: a program opens a
//! database in its own way and does not know. A disk writes down each operation that a power loss could undo
//! ([`record`]), and what a machine would find after one is made from that record ([`crash`]).
//!
//! Owns no opinion on what has to survive. This is the one crate with unsafe code: it speaks SQLite's C interface, in
//! `vfs` and `memory` alone.

pub mod crash;
pub mod disk;
mod locks;
mod memory;
pub mod record;
mod vfs;

/// Puts the layer in front of the one that SQLite comes with, for the whole process. Once is enough.
///
/// # Panics
/// When SQLite does not take it.
pub fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(vfs::register);
}

#[cfg(test)]
mod tests;
