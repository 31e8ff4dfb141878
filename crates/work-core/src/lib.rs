//! The rules of maintained work: answers that stay tied to the exact bytes they came from.
//!
//! Values in, values out. This crate opens no file, reads no clock, draws no random number, starts no thread and waits
//! for nothing; what it needs of the world it asks for through [`port`].
//!
//! To read: [`folder`] and [`source`] are what is watched, [`retrieve`] and [`quote`] find and pin passages,
//! [`result`] and [`report`] are what is kept, [`task`] is who works on it, [`redact`] is who may see it.

pub mod audit;
pub mod canonical;
pub mod code;
pub mod difference;
pub mod digest;
pub mod document;
pub mod folder;
pub mod id;
pub mod limits;
pub mod memory;
pub mod moved;
pub mod path;
#[doc(hidden)]
pub mod plant;
pub mod port;
pub mod proposal;
pub mod quote;
pub mod redact;
pub mod report;
pub mod result;
pub mod retrieve;
pub mod show;
pub mod source;
pub mod task;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod text;
pub mod time;
pub mod verify;
pub mod workspace;
