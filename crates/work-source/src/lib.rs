//! The guarded door: the one way to bytes under an approved folder.
//!
//! [`FolderDoor`] keeps the contract of [`SourceDoor`](work_core::port::SourceDoor) on real folders. What it promises
//! is told by what it never does: it follows no link, enters no other mount, opens nothing but regular files, never
//! opens an instance's own file, reads no file whose owner's rules forbid it, takes no failed look for a missing file,
//! calls no probe after it has returned, and waits for no read that hangs.
//!
//! It knows no store, no query and no text. To read: `door` puts a call together; `scan` and `look` are the two ways of
//! working, on the caller's thread; `crew` is the threads of a call, `hands` those of a door; `walk` and `visit` are
//! what they do; `guard` is the one place where anything is opened, by means of `platform`.

mod admit;
mod crew;
mod door;
mod facts;
mod guard;
mod hands;
mod ignore_files;
mod look;
mod own;
mod platform;
mod read;
mod scan;
mod seam;
mod territory;
mod visit;
mod walk;

pub use door::FolderDoor;
pub use own::{NoInstance, OwnFiles};

#[cfg(all(test, target_os = "linux"))]
mod tests;
