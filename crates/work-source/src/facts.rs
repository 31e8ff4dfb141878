//! What a file system says of an entry, and why one was not opened.
//!
//! Owns the words that the platforms share. Refuses to open anything. Start at [`Facts`].

use std::ops::ControlFlow;
use work_core::report::SkipReason;
use work_core::source::{Seen, Stamp};

/// Which file it is, within one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    /// The device number, or the volume.
    pub(crate) device: u64,
    /// The inode, or the file id.
    pub(crate) inode: u64,
}

/// What kind of entry it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, or another reparse point.
    Link,
    /// A FIFO, a socket, a device.
    Special,
}

/// Takes the name of an entry, its kind if the directory tells it, and its inode.
pub(crate) type Each<'a> = dyn FnMut(&[u8], Option<Kind>, u64) -> ControlFlow<()> + 'a;

/// What the file system says of one entry besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its kind.
    pub(crate) kind: Kind,
    /// Which one it is.
    pub(crate) id: FileId,
    /// The mount it lies in, or the device where mounts have no number.
    pub(crate) mount: u64,
    /// Names that it has.
    pub(crate) links: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// When its bytes changed, in nanoseconds since the epoch.
    pub(crate) modified_ns: i64,
    /// When anything of it changed.
    pub(crate) changed_ns: i64,
    /// When it was made, where the file system tells.
    pub(crate) born_ns: Option<i64>,
}

impl Facts {
    /// Whether both are the same file, unchanged as far as its times tell.
    pub(crate) fn is_same_moment(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.id == other.id
            && self.size == other.size
            && self.modified_ns == other.modified_ns
            && self.changed_ns == other.changed_ns
    }

    /// Whether both are the same directory in the same mount. One of them must be held: its inode is then nobody
    /// else's.
    pub(crate) fn is_same_directory(&self, other: &Self) -> bool {
        self.kind == Kind::Directory
            && other.kind == Kind::Directory
            && self.id == other.id
            && self.mount == other.mount
    }

    /// As an observation keeps them.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            device: self.id.device,
            inode: self.id.inode,
            size: self.size,
            modified_ns: self.modified_ns,
            changed_ns: self.changed_ns,
        }
    }
}

/// Why an entry was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The directory has no such name.
    Missing,
    /// A link stands there.
    Link,
    /// Something else stands where a directory was named.
    NotADirectory,
    /// A directory stands where a file was named.
    NotAFile,
    /// It is no regular file.
    Special,
    /// It belongs to the instance itself.
    OwnFile,
    /// It lies in another mount.
    OtherMount,
    /// It belongs to another grant.
    OtherGrant,
    /// Permission was refused, or the rules forbid it.
    Denied,
    /// It changed each time that it was read.
    Unstable,
    /// The file system failed.
    Failed,
}

impl Fault {
    /// As a scan counts it. What is gone since its directory was listed has changed.
    pub(crate) const fn skipped(self) -> SkipReason {
        match self {
            Self::Link => SkipReason::Link,
            Self::Special => SkipReason::Special,
            Self::OwnFile => SkipReason::OwnFile,
            Self::OtherMount => SkipReason::OtherMount,
            Self::OtherGrant => SkipReason::OtherGrant,
            Self::Denied => SkipReason::Denied,
            Self::Missing | Self::NotADirectory | Self::NotAFile | Self::Unstable => {
                SkipReason::Unstable
            }
            Self::Failed => SkipReason::Failed,
        }
    }

    /// As a look answers it.
    ///
    /// A file in the place of a directory on the way, or a directory in the place of the file, was seen by opening
    /// everything above it, and means that the file is gone.
    pub(crate) const fn seen(self) -> Seen {
        match self {
            Self::Missing | Self::NotADirectory | Self::NotAFile => Seen::Missing,
            Self::Link
            | Self::Special
            | Self::OwnFile
            | Self::OtherMount
            | Self::OtherGrant
            | Self::Denied => Seen::Denied,
            Self::Unstable => Seen::Unstable,
            Self::Failed => Seen::Unreachable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: Facts = Facts {
        kind: Kind::File,
        id: FileId { device: 1, inode: 2 },
        mount: 3,
        links: 1,
        size: 4,
        modified_ns: 5,
        changed_ns: 6,
        born_ns: None,
    };

    // spec: G2
    #[test]
    fn a_directory_is_the_same_only_in_the_same_mount() {
        let dir = Facts { kind: Kind::Directory, ..FACTS };
        assert!(dir.is_same_directory(&Facts { changed_ns: 9, links: 9, ..dir }));
        for other in [
            FACTS,
            Facts { kind: Kind::Link, ..dir },
            Facts { id: FileId { device: 1, inode: 9 }, ..dir },
            Facts { id: FileId { device: 9, inode: 2 }, ..dir },
            Facts { mount: 9, ..dir },
        ] {
            assert!(!dir.is_same_directory(&other), "{other:?}");
            assert!(!other.is_same_directory(&dir), "{other:?}");
        }
    }

    // spec: G4
    #[test]
    fn a_file_is_as_it_was_only_if_size_times_and_inode_are() {
        assert!(FACTS.is_same_moment(&FACTS));
        assert!(FACTS.is_same_moment(&Facts { links: 2, ..FACTS }));
        for other in [
            Facts { kind: Kind::Link, ..FACTS },
            Facts { id: FileId { device: 1, inode: 9 }, ..FACTS },
            Facts { id: FileId { device: 9, inode: 2 }, ..FACTS },
            Facts { size: 9, ..FACTS },
            Facts { modified_ns: 9, ..FACTS },
            Facts { changed_ns: 9, ..FACTS },
        ] {
            assert!(!FACTS.is_same_moment(&other), "{other:?}");
        }
    }
}
