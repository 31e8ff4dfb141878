//! Linux: `O_PATH`, `openat2`, `statx`.

use crate::facts::{Each, Facts, Fault, FileId, Kind};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags, Statx, StatxFlags, StatxTimestamp,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::DecInt;
use std::ffi::OsStr;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use work_core::path::HostPath;
use work_core::plant::{Fault as Planted, is_planted};

/// How names are gone down by and files are opened on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Means {
    /// How one name under a handle becomes a handle.
    pub(crate) step: Step,
    /// How a file that was looked at is opened for reading.
    pub(crate) reopen: Reopen,
}

/// How one name under a handle becomes a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The kernel refuses links and mounts.
    Openat2,
    /// What was opened is looked at, and links and mounts are refused then.
    Openat,
}

/// How a file that was looked at is opened for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reopen {
    /// Through `/proc/self/fd`, so that it is that same object.
    Object,
    /// By its name again, for want of `/proc`, and then compared.
    Name,
}

impl Means {
    /// Every way there is.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) const ALL: [Self; 4] = [
        Self { step: Step::Openat2, reopen: Reopen::Object },
        Self { step: Step::Openat, reopen: Reopen::Object },
        Self { step: Step::Openat2, reopen: Reopen::Name },
        Self { step: Step::Openat, reopen: Reopen::Name },
    ];

    /// The best that this host has.
    pub(crate) fn of_this_host() -> Self {
        let step = match openat2(CWD, c".".to_bytes(), OFlags::DIRECTORY) {
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Step::Openat,
            Ok(_) | Err(_) => Step::Openat2,
        };
        let reopen = if has_proc() { Reopen::Object } else { Reopen::Name };
        Self { step, reopen }
    }
}

/// Whether `/proc/self/fd` is what it says, by the magic number of procfs, and lets a handle be opened again: a process
/// that may not be inspected cannot do it.
fn has_proc() -> bool {
    let is_proc =
        rustix::fs::statfs("/proc/self/fd").is_ok_and(|found| found.f_type as u64 == 0x9fa0);
    let top = || rustix::fs::openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    is_proc
        && top().is_ok_and(|top| {
            own_handles().is_ok_and(|own| open_again(&own, &top, OFlags::DIRECTORY).is_ok())
        })
}

/// The directory of this process's handles.
fn own_handles() -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::openat(CWD, "/proc/self/fd", flags, Mode::empty()))
}

/// Opens for reading what a handle holds.
fn open_again(own: &OwnedFd, held: &OwnedFd, more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = reading() | more;
    let number = DecInt::from_fd(held);
    retry_on_intr(|| rustix::fs::openat(own, number.as_c_str(), flags, Mode::empty()))
}

/// How a file is opened: never waiting for whoever holds the other end of a FIFO that was put in its place.
fn reading() -> OFlags {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if is_planted(Planted::BlockingOpen) { flags - OFlags::NONBLOCK } else { flags }
}

/// The means of one call, with what it opens once for all its files.
///
/// Kept no longer than a call, so that a process forked from this one takes no handle of its parent for one of its
/// own: none of a call's threads lives on in it.
#[derive(Debug)]
pub(crate) struct Tools {
    /// The means.
    pub(crate) means: Means,
    own_handles: Option<OwnedFd>,
}

impl Tools {
    /// These means, made ready.
    pub(crate) fn new(means: Means) -> Self {
        let own_handles = match means.reopen {
            Reopen::Object => own_handles().ok(),
            Reopen::Name => None,
        };
        Self { means, own_handles }
    }

    /// Opens for reading what a handle holds.
    fn open_again(&self, held: &OwnedFd) -> Result<OwnedFd, Errno> {
        match &self.own_handles {
            Some(own) => open_again(own, held, OFlags::empty()),
            None => open_again(&own_handles()?, held, OFlags::empty()),
        }
    }
}

/// A directory, opened so that it can be gone into but not listed.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
    facts: Facts,
}

impl Dir {
    /// Opens the directory at an absolute path of this host. A link as its last name is not followed.
    ///
    /// It is first opened in the usual way, because `O_PATH` does not bring in what is mounted when it is asked for.
    pub(crate) fn root(path: &Path) -> Result<Self, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        drop(rustix::fs::openat(CWD, path, flags, Mode::empty()));
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()));
        Self::checked(fd.map_err(fault)?)
    }

    /// What is known of it.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Opens the directory `name` under it.
    pub(crate) fn step(&self, name: &[u8], means: Means) -> Result<Self, Fault> {
        let child = Self::checked(self.open_beneath(name, OFlags::DIRECTORY, means.step)?)?;
        if child.facts.mount == self.facts.mount { Ok(child) } else { Err(Fault::OtherMount) }
    }

    /// Opens the directory above it; at the top, itself.
    pub(crate) fn parent(&self) -> Result<Self, Fault> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, "..", flags, Mode::empty()));
        Self::checked(fd.map_err(fault)?)
    }

    /// Calls `each` with the name, the kind if it is told, and the inode of each entry, until it says stop.
    pub(crate) fn list(&self, each: &mut Each<'_>) -> Result<(), Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, ".", flags, Mode::empty()));
        let mut buffer = [MaybeUninit::<u8>::uninit(); 32 * 1024];
        let mut entries = RawDir::new(fd.map_err(fault)?, &mut buffer);
        while let Some(entry) = entries.next() {
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
        facts(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Takes hold of `name`, one name, without following it or opening it for reading. It may be another mount's: the
    /// facts tell, where the kernel tells mounts (5.8 and later); before, those of one device look alike.
    pub(crate) fn see(&self, name: &[u8]) -> Result<Sight, Fault> {
        let fd = self.open_beneath(name, OFlags::empty(), Step::Openat)?;
        let facts = facts(&fd, b"", AtFlags::EMPTY_PATH)?;
        Ok(Sight { fd, facts })
    }

    /// The id of its file system. Some derive it from the device number, which another boot may number otherwise.
    pub(crate) fn filesystem(&self) -> Result<u64, Fault> {
        rustix::fs::fstatvfs(&self.fd).map(|found| found.f_fsid).map_err(fault)
    }

    /// A handle to a directory with its facts; anything else is refused.
    fn checked(fd: OwnedFd) -> Result<Self, Fault> {
        let facts = facts(&fd, b"", AtFlags::EMPTY_PATH)?;
        match facts.kind {
            Kind::Directory => Ok(Self { fd, facts }),
            Kind::Link => Err(Fault::Link),
            Kind::File | Kind::Special => Err(Fault::NotADirectory),
        }
    }

    /// A handle to `name` that can neither read nor list.
    fn open_beneath(&self, name: &[u8], more: OFlags, step: Step) -> Result<OwnedFd, Fault> {
        if is_planted(Planted::Containment) {
            return rustix::fs::openat(&self.fd, name, OFlags::PATH, Mode::empty()).map_err(fault);
        }
        match step {
            Step::Openat2 => openat2(&self.fd, name, OFlags::PATH | more),
            // Without `O_DIRECTORY`, which would answer a link as "not a directory".
            Step::Openat => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))
            }
        }
        .map_err(fault)
    }
}

/// Something that is held but not open for reading.
#[derive(Debug)]
pub(crate) struct Sight {
    fd: OwnedFd,
    /// What it is.
    pub(crate) facts: Facts,
}

impl Sight {
    /// Opens it for reading. `own` tells the instance's own files.
    pub(crate) fn open(
        &self,
        dir: &Dir,
        name: &[u8],
        tools: &Tools,
        own: &dyn Fn(&Facts) -> bool,
    ) -> Result<File, Fault> {
        match tools.means.reopen {
            Reopen::Object => tools.open_again(&self.fd).map(File::from).map_err(fault),
            Reopen::Name => {
                let flags = reading() | OFlags::NOFOLLOW;
                let fd = retry_on_intr(|| rustix::fs::openat(&dir.fd, name, flags, Mode::empty()))
                    .map_err(fault)?;
                self.same_or_kept(fd, own)
            }
        }
    }

    /// The file, if it is the one that was looked at.
    ///
    /// If another one was swapped in and is one of SQLite's, closing it would drop the locks: it stays open for good.
    fn same_or_kept(&self, fd: OwnedFd, own: &dyn Fn(&Facts) -> bool) -> Result<File, Fault> {
        let found = facts(&fd, b"", AtFlags::EMPTY_PATH);
        if found.is_ok_and(|found| found.id == self.facts.id) || is_planted(Planted::SwappedFile) {
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

/// `openat2` that crosses nothing. A rename that races it is asked again, a few times.
fn openat2<Fd: AsFd>(dir: Fd, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    let ask =
        || rustix::fs::openat2(dir.as_fd(), name, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
    (0..8)
        .map(|_| ask())
        .find(|answer| !matches!(answer, Err(Errno::AGAIN | Errno::INTR)))
        .unwrap_or(Err(Errno::AGAIN))
}

/// What `name` under `dir` is.
fn facts<Fd: AsFd>(dir: Fd, name: &[u8], flags: AtFlags) -> Result<Facts, Fault> {
    let asked = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
    let found =
        retry_on_intr(|| rustix::fs::statx(dir.as_fd(), name, flags, asked)).map_err(fault)?;
    let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
    let has = |flag: StatxFlags| found.stx_mask & flag.bits() != 0;
    Ok(Facts {
        kind: kind(&found),
        id: FileId { device, inode: found.stx_ino },
        mount: if has(StatxFlags::MNT_ID) { found.stx_mnt_id } else { device },
        links: found.stx_nlink.into(),
        size: found.stx_size,
        modified_ns: nanoseconds(found.stx_mtime),
        changed_ns: nanoseconds(found.stx_ctime),
        born_ns: has(StatxFlags::BTIME).then(|| nanoseconds(found.stx_btime)),
    })
}

/// The kind of what was found.
fn kind(found: &Statx) -> Kind {
    told(FileType::from_raw_mode(found.stx_mode.into())).unwrap_or(Kind::Special)
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
fn nanoseconds(time: StatxTimestamp) -> i64 {
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.into())
}

/// What an error of the system means here.
fn fault(errno: Errno) -> Fault {
    match errno {
        Errno::NOENT => Fault::Missing,
        Errno::LOOP => Fault::Link,
        Errno::NOTDIR => Fault::NotADirectory,
        Errno::XDEV => Fault::OtherMount,
        Errno::ACCESS | Errno::PERM => Fault::Denied,
        Errno::AGAIN => Fault::Unstable,
        // A socket, or a device without one behind it.
        Errno::NXIO => Fault::Special,
        _ => Fault::Failed,
    }
}

/// Reads at `offset`, as much as comes at once.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}
