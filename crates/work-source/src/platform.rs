//! What the door needs of an operating system: directory handles, names under them, and the facts of each.
//!
//! One module for each system, all with the same few functions and no trait. What each gives:
//!
//! - **Linux** (4.11 or newer): steps by `openat2` with `RESOLVE_BENEATH`, `NO_SYMLINKS`, `NO_MAGICLINKS` and `NO_XDEV`
//!   where the kernel has it, else by `openat` with `O_NOFOLLOW`; files are looked at through `O_PATH` and then that
//!   same object is opened through `/proc/self/fd`. Mounts are told apart by mount id (bind mounts too) from Linux 5.8,
//!   by device before.
//! - **Other Unix**: no `O_PATH`. A name is looked up, opened and compared; an own file that was swapped in between is
//!   found afterwards, and its handle is then kept open for good, because closing it is what would do harm. Mounts are
//!   told apart by device.
//! - **Windows**: `cap-std`. Reparse points are refused, names that are not valid Unicode are counted as failed, a
//!   file's identity is its volume and file id, and its change time is its modification time, which anybody can set
//!   back: so no stamp is trusted there.

#[cfg(target_os = "linux")]
#[path = "platform/linux.rs"]
mod host;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "platform/unix.rs"]
mod host;
#[cfg(windows)]
#[path = "platform/windows.rs"]
mod host;

pub(crate) use host::*;
