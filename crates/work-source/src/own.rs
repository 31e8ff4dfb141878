//! The instance's own files, which are never opened for reading (spec G2a).
//!
//! Closing a descriptor of SQLite's shared memory drops the locks of this whole process, and a committed transaction
//! can vanish; a hard link under another name does the same. So own files are known by what they are, not by name, and
//! asked for anew, because SQLite makes and removes some of them as it likes.

use crate::facts::{Facts, Fault, FileId};
use crate::platform::Dir;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

/// Where the instance keeps its own files. Holds the directory itself, so that renaming it changes nothing.
#[derive(Debug)]
pub struct OwnFiles {
    directory: Dir,
}

/// The instance's directory could not be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the directory of the instance cannot be opened")]
pub struct NoInstance;

impl OwnFiles {
    /// Every entry, present and future, of the instance's directory at `path`.
    ///
    /// # Errors
    /// [`NoInstance`] when there is no directory that can be opened.
    pub fn in_directory(path: impl AsRef<Path>) -> Result<Self, NoInstance> {
        let path = std::fs::canonicalize(path).map_err(|_| NoInstance)?;
        Ok(Self { directory: Dir::root(&path).map_err(|_| NoInstance)? })
    }

    /// The directory.
    pub(crate) const fn directory(&self) -> &Dir {
        &self.directory
    }

    /// What is in the directory now. Looks at entries and opens none.
    pub(crate) fn now(&self) -> OwnSet {
        self.entries().map_or(OwnSet::Unknown, OwnSet::Known)
    }

    /// The identities of the entries. One that vanishes meanwhile is left out.
    fn entries(&self) -> Result<HashSet<FileId>, Fault> {
        let mut names = Vec::new();
        self.directory.list(&mut |name, _, _| {
            names.push(name.to_vec());
            ControlFlow::Continue(())
        })?;
        let mut found = HashSet::from([self.directory.facts().id]);
        for name in names {
            match self.directory.look_up(&name) {
                Ok(facts) => _ = found.insert(facts.id),
                Err(Fault::Missing) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(found)
    }
}

/// The own files at one moment.
#[derive(Clone, Debug)]
pub(crate) enum OwnSet {
    /// These, and the directory itself.
    Known(HashSet<FileId>),
    /// The directory cannot be listed: whatever has a second name may be one.
    Unknown,
}

impl OwnSet {
    /// A set without any, for a program that has no instance.
    pub(crate) fn none() -> Self {
        Self::Known(HashSet::new())
    }

    /// Whether an entry is, or may be, one of them.
    pub(crate) fn holds(&self, facts: &Facts) -> bool {
        match self {
            Self::Known(ids) => ids.contains(&facts.id),
            Self::Unknown => facts.links > 1,
        }
    }

    /// Whether an entry with this inode may be one of them; asked of a directory's listing, before a look.
    pub(crate) fn may_hold(&self, inode: u64) -> bool {
        match self {
            Self::Known(ids) => ids.iter().any(|id| id.inode == inode),
            Self::Unknown => false,
        }
    }
}
