//! A guarded door over files that a program holds itself.
//!
//! Owns a small file system in memory and answers for it as a real door does: grants by identity, rules, ceilings.
//! Refuses to read a clock, so its time is what files are said to take. To read: [`MemoryDoor`], then `files` for
//! what it holds, `visit` for a scan and `glance` for a look.

mod files;
mod glance;
mod visit;

use crate::folder::{Grant, GrantState};
use crate::path::HostPath;
use crate::port::{AdmitRefusal, Ground, Probe, Root, Scanned, SourceDoor, Want, Watch};
use crate::report::Reached;
use crate::source::Look;
use files::{Age, Files, Kind, Names, Trouble};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A [`SourceDoor`] over files held in memory.
///
/// Everything runs on the caller's thread, in the order of the visit, and the watch is asked after each file. Files may
/// change between two calls and, from a probe or a watch, during one. Ignore files are files like others here.
///
/// ```
/// use work_core::memory::MemoryDoor;
/// use work_core::path::HostPath;
/// use work_core::port::SourceDoor;
///
/// let door = MemoryDoor::new().file("/handbook/leave.md", "Twenty-five days a year.\n");
/// let root = door.admit(&HostPath::from_bytes("/handbook"))?;
/// assert_eq!(root.path.last_name(), b"handbook");
///
/// door.remove("/handbook");
/// assert!(door.admit(&root.path).is_err());
/// # Ok::<(), work_core::port::AdmitRefusal>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryDoor(Mutex<Files>);

impl MemoryDoor {
    /// A door with nothing behind it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This door with a folder at `path`, and those above it.
    #[must_use]
    pub fn folder(self, path: &str) -> Self {
        self.files().make_folder(&names(path));
        self
    }

    /// This door with a file at `path`, and the folders above it.
    #[must_use]
    pub fn file(self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(path, bytes);
        self
    }

    /// Writes a file, and makes the folders above it. A file that was there keeps its inode and gets a new change time.
    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files().put(&names(path), bytes.into());
    }

    /// The same for a path whose names are no text.
    pub fn put_at(&self, path: &HostPath, bytes: impl Into<Vec<u8>>) {
        self.files().put(&names_of(path), bytes.into());
    }

    /// Removes what is at `path`, with all that is in it.
    pub fn remove(&self, path: &str) {
        self.files().remove(&names(path));
    }

    /// Moves what is at `from`, with all that is in it, in place of what is at `to`. It stays the same thing.
    pub fn rename(&self, from: &str, to: &str) {
        self.files().rename(&names(from), &names(to));
    }

    /// Puts an empty folder of its own identity in the place of what is at `path`.
    pub fn replace_folder(&self, path: &str) {
        let mut files = self.files();
        files.remove(&names(path));
        files.make_folder(&names(path));
    }

    /// Makes a folder or a file fail as a dead mount does, until it is [healed](Self::heal).
    pub fn make_unreachable(&self, path: &str) {
        self.files().trouble(&names(path), Some(Trouble::Unreachable));
    }

    /// Closes a folder or a file to this user, until it is [healed](Self::heal).
    pub fn deny(&self, path: &str) {
        self.files().trouble(&names(path), Some(Trouble::Denied));
    }

    /// Makes a file change while it is read, each time, until it is [healed](Self::heal).
    pub fn make_unstable(&self, path: &str) {
        self.files().trouble(&names(path), Some(Trouble::Unstable));
    }

    /// Lets a file count as changed just now, so that no look tells a stamp of it, until it is [healed](Self::heal).
    /// Without this, each write has a time of its own and its file counts as settled at once.
    pub fn make_young(&self, path: &str) {
        self.files().age(&names(path), Age::Young);
    }

    /// Ends what is wrong with a folder or a file, and lets a file's last change be long ago.
    pub fn heal(&self, path: &str) {
        let mut files = self.files();
        files.trouble(&names(path), None);
        files.age(&names(path), Age::Settled);
    }

    /// Lets each read of a file take as long, by this door's own time.
    pub fn slow_down(&self, path: &str, takes: Duration) {
        self.files().slow_down(&names(path), takes);
    }

    /// The files, for one step. Never held while a probe or a watch is called.
    fn files(&self) -> MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SourceDoor for MemoryDoor {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        let at = names_of(path);
        if at.is_empty() {
            return Err(AdmitRefusal::FilesystemRoot);
        }
        let files = self.files();
        let node = match (files.trouble_on_the_way(&at), files.get(&at)) {
            (Some(Trouble::Unreachable), _) => return Err(AdmitRefusal::Unreachable),
            (Some(Trouble::Denied | Trouble::Unstable), _) => {
                return Err(AdmitRefusal::NotReadable);
            }
            (None, None) => return Err(AdmitRefusal::Absent),
            (None, Some(node)) => node,
        };
        match node.kind {
            Kind::File { .. } => Err(AdmitRefusal::NotADirectory),
            Kind::Folder => {
                let path = HostPath::from_bytes([b"/", at.join(&b'/').as_slice()].concat());
                Ok(Root { path, identity: node.identity() })
            }
        }
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        let files = self.files();
        grants.iter().map(|grant| reached(&files, grant)).collect()
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        visit::scan(self, ground, &*probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        glance::look(self, ground, wants, &*probe, watch)
    }
}

/// Whether a grant is in force and its root the folder that was approved.
fn reached(files: &Files, grant: &Grant) -> Reached {
    let at = names_of(&grant.root);
    match (grant.state, files.trouble_on_the_way(&at), files.get(&at)) {
        (GrantState::Revoked, ..) => Reached::Denied,
        (GrantState::Active, Some(Trouble::Unreachable), _) => Reached::Unreachable,
        (GrantState::Active, Some(Trouble::Denied | Trouble::Unstable), _) => Reached::Denied,
        (GrantState::Active, None, None) => Reached::Unreachable,
        (GrantState::Active, None, Some(node)) if node.is(&grant.identity) => Reached::Yes,
        (GrantState::Active, None, Some(_)) => Reached::Denied,
    }
}

/// The grant whose root a folder is, if it is one.
fn rooted_at<'a>(grants: &'a [Grant], node: &files::Node) -> Option<&'a Grant> {
    grants.iter().find(|grant| node.is(&grant.identity))
}

/// The names of a path that a program wrote; `.` and `..` mean nothing here and are left out.
fn names(path: &str) -> Names {
    names_of(&HostPath::from_bytes(path))
}

/// The names of a path.
fn names_of(path: &HostPath) -> Names {
    path.names().filter(|name| !matches!(*name, b"." | b"..")).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests;
