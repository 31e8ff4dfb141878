//! Unix without `O_PATH`: names are looked up, opened and compared.

use crate::facts::{Each, Facts, Fault, FileId, Kind};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use work_core::path::HostPath;

/// There is one way here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means;

impl Means {
    /// Every way there is.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) const ALL: [Self; 1] = [Self];

    /// The best that this host has.
    pub(crate) const fn of_this_host() -> Self {
        Self
    }
}

/// The means of one call. Nothing is opened for all its files here.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The means.
    pub(crate) means: Means,
}

impl Tools {
    /// These means, made ready.
    pub(crate) const fn new(means: Means) -> Self {
        Self { means }
    }
}

/// A directory.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
    facts: Facts,
}

impl Dir {
    /// Opens the directory at an absolute path of this host. A link as its last name is not followed.
    pub(crate) fn root(path: &Path) -> Result<Self, Fault> {
        Self::open(CWD, path.as_os_str().as_bytes())
    }

    /// What is known of it.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Opens the directory `name` under it.
    pub(crate) fn step(&self, name: &[u8], _: Means) -> Result<Self, Fault> {
        let child = Self::open(&self.fd, name)?;
        if child.facts.mount == self.facts.mount { Ok(child) } else { Err(Fault::OtherMount) }
    }

    /// Opens the directory above it; at the top, itself.
    pub(crate) fn parent(&self) -> Result<Self, Fault> {
        Self::open(&self.fd, b"..")
    }

    /// Calls `each` with the name, the kind if it is told, and the inode of each entry, until it says stop.
    pub(crate) fn list(&self, each: &mut Each<'_>) -> Result<(), Fault> {
        for entry in rustix::fs::Dir::read_from(&self.fd).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name().to_bytes();
            if name != b"."
                && name != b".."
                && each(name, told(entry.file_type()), entry.ino()).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Looks at what `name` is now, without following it.
    pub(crate) fn look_up(&self, name: &[u8]) -> Result<Facts, Fault> {
        look_up(&self.fd, name)
    }

    /// Looks at `name` without opening it.
    pub(crate) fn see(&self, name: &[u8]) -> Result<Sight, Fault> {
        Ok(Sight { facts: self.look_up(name)? })
    }

    /// The id of its file system.
    pub(crate) fn filesystem(&self) -> Result<u64, Fault> {
        rustix::fs::fstatvfs(&self.fd).map(|found| found.f_fsid).map_err(fault)
    }

    /// Looks first, so that a link is told from a file.
    fn open<Fd: AsFd>(dir: Fd, name: &[u8]) -> Result<Self, Fault> {
        match look_up(&dir, name)?.kind {
            Kind::Link => return Err(Fault::Link),
            Kind::File | Kind::Special => return Err(Fault::NotADirectory),
            Kind::Directory => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(dir.as_fd(), name, flags, Mode::empty()))
            .map_err(fault)?;
        let facts = facts(&rustix::fs::fstat(&fd).map_err(fault)?);
        Ok(Self { fd, facts })
    }
}

/// Something that was looked at.
#[derive(Debug)]
pub(crate) struct Sight {
    /// What it is.
    pub(crate) facts: Facts,
}

impl Sight {
    /// Opens it for reading, if it is still there. `own` tells the instance's own files.
    ///
    /// If another one was swapped in and is one of SQLite's, closing it would drop the locks: it stays open for good.
    pub(crate) fn open(
        &self,
        dir: &Dir,
        name: &[u8],
        _: &Tools,
        own: &dyn Fn(&Facts) -> bool,
    ) -> Result<File, Fault> {
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&dir.fd, name, flags, Mode::empty()))
            .map_err(fault)?;
        let found = rustix::fs::fstat(&fd).map(|found| facts(&found));
        if found.is_ok_and(|found| found.id == self.facts.id) {
            return Ok(File::from(fd));
        }
        if found.map_or(true, |found| own(&found)) {
            std::mem::forget(fd);
        }
        Err(Fault::Unstable)
    }
}

/// Whether a directory that is held may be moved by others. Yes.
pub(crate) const HELD_MAY_MOVE: bool = true;

/// Whether a change of a file always moves its change time. Yes.
pub(crate) const TELLS_EACH_CHANGE: bool = true;

/// The path as this system wants it.
pub(crate) fn native(path: &HostPath) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path.bytes()))
}

/// A path of this system as its bytes.
pub(crate) fn host_path(path: PathBuf) -> Option<HostPath> {
    Some(HostPath::from_bytes(path.into_os_string().into_vec()))
}

/// Reads at `offset`, as much as comes at once.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

/// What `name` under `dir` is.
fn look_up<Fd: AsFd>(dir: Fd, name: &[u8]) -> Result<Facts, Fault> {
    let found = retry_on_intr(|| rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW));
    found.map(|found| facts(&found)).map_err(fault)
}

/// What the system says, in our words.
#[allow(clippy::unnecessary_cast, reason = "the types of these fields differ between systems")]
fn facts(found: &Stat) -> Facts {
    let device = found.st_dev as u64;
    Facts {
        kind: told(FileType::from_raw_mode(found.st_mode as _)).unwrap_or(Kind::Special),
        id: FileId { device, inode: found.st_ino as u64 },
        mount: device,
        links: found.st_nlink as u64,
        size: found.st_size as u64,
        modified_ns: nanoseconds(found.st_mtime as i64, found.st_mtime_nsec as i64),
        changed_ns: nanoseconds(found.st_ctime as i64, found.st_ctime_nsec as i64),
        born_ns: born(found),
    }
}

/// When it was made.
#[cfg(target_vendor = "apple")]
fn born(found: &Stat) -> Option<i64> {
    Some(nanoseconds(found.st_birthtime, found.st_birthtime_nsec))
}

/// When it was made, which is not asked here.
#[cfg(not(target_vendor = "apple"))]
fn born(_: &Stat) -> Option<i64> {
    None
}

/// The kind of an entry, if it is known.
fn told(kind: FileType) -> Option<Kind> {
    match kind {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Link),
        FileType::Unknown => None,
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => {
            Some(Kind::Special)
        }
    }
}

/// Nanoseconds since the epoch, at the ends of time cut off.
const fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// What an error of the system means here.
fn fault(errno: Errno) -> Fault {
    match errno {
        Errno::NOENT => Fault::Missing,
        Errno::LOOP => Fault::Link,
        Errno::NOTDIR => Fault::NotADirectory,
        Errno::ACCESS | Errno::PERM => Fault::Denied,
        Errno::AGAIN => Fault::Unstable,
        // A socket, or a device without one behind it.
        Errno::NXIO | Errno::OPNOTSUPP => Fault::Special,
        _ => Fault::Failed,
    }
}
