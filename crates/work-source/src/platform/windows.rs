//! Windows, by `cap-std`: the standard library opens nothing relative to a handle.

use crate::facts::{Each, Facts, Fault, FileId, Kind};
use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Metadata, OpenOptions};
use cap_std::time::SystemTime;
use std::fs::File;
use std::io::ErrorKind;
use std::os::windows::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};
use work_core::path::HostPath;

/// The attribute of links, junctions, mount points and placeholders.
const REPARSE_POINT: u32 = 0x400;

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

/// A directory. While it is held, Windows lets nobody rename it.
#[derive(Debug)]
pub(crate) struct Dir {
    dir: cap_std::fs::Dir,
    facts: Facts,
}

impl Dir {
    /// Opens the directory at an absolute path of this host. A reparse point as its last name is refused.
    pub(crate) fn root(path: &Path) -> Result<Self, Fault> {
        let found = std::fs::symlink_metadata(path).map_err(|error| fault(&error))?;
        if found.file_attributes() & REPARSE_POINT != 0 {
            return Err(Fault::Link);
        }
        if !found.is_dir() {
            return Err(Fault::NotADirectory);
        }
        let dir = cap_std::fs::Dir::open_ambient_dir(path, ambient_authority());
        Self::checked(dir.map_err(|error| fault(&error))?)
    }

    /// What is known of it.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Opens the directory `name` under it.
    pub(crate) fn step(&self, name: &[u8], _: Means) -> Result<Self, Fault> {
        match self.look_up(name)?.kind {
            Kind::Link => return Err(Fault::Link),
            Kind::File | Kind::Special => return Err(Fault::NotADirectory),
            Kind::Directory => {}
        }
        let dir = cap_fs_ext::DirExt::open_dir_nofollow(&self.dir, plain(name)?);
        let child = Self::checked(dir.map_err(|error| fault(&error))?)?;
        if child.facts.mount == self.facts.mount { Ok(child) } else { Err(Fault::OtherMount) }
    }

    /// Opens the directory above it; at the top, itself.
    pub(crate) fn parent(&self) -> Result<Self, Fault> {
        let dir = self.dir.open_parent_dir(ambient_authority());
        Self::checked(dir.map_err(|error| fault(&error))?)
    }

    /// Calls `each` with the name and the kind of each entry, until it says stop. Inodes are not told.
    pub(crate) fn list(&self, each: &mut Each<'_>) -> Result<(), Fault> {
        for entry in self.dir.entries().map_err(|error| fault(&error))? {
            let name = entry.map_err(|error| fault(&error))?.file_name();
            // A name that is not Unicode has bytes here that no path can be made of again, and so counts as failed.
            if each(name.as_encoded_bytes(), None, 0).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Looks at what `name` is now, without following it.
    pub(crate) fn look_up(&self, name: &[u8]) -> Result<Facts, Fault> {
        let found = self.dir.symlink_metadata(plain(name)?).map_err(|error| fault(&error))?;
        Ok(facts(&found))
    }

    /// Looks at `name` without opening it.
    pub(crate) fn see(&self, name: &[u8]) -> Result<Sight, Fault> {
        Ok(Sight { facts: self.look_up(name)? })
    }

    /// The id of its volume.
    pub(crate) fn filesystem(&self) -> Result<u64, Fault> {
        Ok(self.facts.id.device)
    }

    /// A handle with its facts.
    fn checked(dir: cap_std::fs::Dir) -> Result<Self, Fault> {
        let facts = facts(&dir.dir_metadata().map_err(|error| fault(&error))?);
        Ok(Self { dir, facts })
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
    pub(crate) fn open(
        &self,
        dir: &Dir,
        name: &[u8],
        _: &Tools,
        own: &dyn Fn(&Facts) -> bool,
    ) -> Result<File, Fault> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        let file = dir.dir.open_with(plain(name)?, &options).map_err(|error| fault(&error))?;
        let found = file.metadata().map(|found| facts(&found));
        if found.as_ref().is_ok_and(|found| found.id == self.facts.id) {
            return Ok(file.into_std());
        }
        if found.map_or(true, |found| own(&found)) {
            std::mem::forget(file);
        }
        Err(Fault::Unstable)
    }
}

/// Whether a directory that is held may be moved by others. No.
pub(crate) const HELD_MAY_MOVE: bool = false;

/// Whether a change of a file always moves its change time. No: its change time is its modification time.
pub(crate) const TELLS_EACH_CHANGE: bool = false;

/// The path as this system wants it. A path that is not Unicode leads nowhere.
pub(crate) fn native(path: &HostPath) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(path.bytes()).into_owned())
}

/// A path of this system as its bytes, if it is Unicode.
pub(crate) fn host_path(path: PathBuf) -> Option<HostPath> {
    path.into_os_string().into_string().ok().map(HostPath::from_bytes)
}

/// Reads at `offset`, as much as comes at once.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> std::io::Result<usize> {
    file.seek_read(into, offset)
}

/// A single name, and no stream, drive, or path in disguise.
fn plain(name: &[u8]) -> Result<&str, Fault> {
    let name = std::str::from_utf8(name).map_err(|_| Fault::Failed)?;
    if name.contains([':', '\\', '/']) { Err(Fault::Failed) } else { Ok(name) }
}

/// What the system says, in our words. It has no change time that can be asked for; the modification time stands in.
fn facts(found: &Metadata) -> Facts {
    let modified_ns = found.modified().map_or(0, nanoseconds);
    let kind = if cap_std::fs::MetadataExt::file_attributes(found) & REPARSE_POINT != 0 {
        Kind::Link
    } else if found.is_dir() {
        Kind::Directory
    } else if found.is_file() {
        Kind::File
    } else {
        Kind::Special
    };
    Facts {
        kind,
        id: FileId { device: found.dev(), inode: found.ino() },
        mount: found.dev(),
        links: found.nlink(),
        size: found.len(),
        modified_ns,
        changed_ns: modified_ns,
        born_ns: found.created().ok().map(nanoseconds),
    }
}

/// Nanoseconds since the epoch.
fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.into_std().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// What an error of the system means here.
fn fault(error: &std::io::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound => Fault::Missing,
        ErrorKind::NotADirectory => Fault::NotADirectory,
        ErrorKind::PermissionDenied => Fault::Denied,
        _ => Fault::Failed,
    }
}
