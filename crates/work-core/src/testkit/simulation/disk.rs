//! What stands on the disk of a run: three folders, one of them inside another, and a few small files.
//!
//! Each change is made twice, here and behind the [`MemoryDoor`] that the workspace looks through. A text names the
//! folder that it was written in, as `zqA`, `zqI` or `zqB`, and so does the name of each file: where such a mark shows
//! that must not, something leaks.

use super::model;
use crate::folder::RootIdentity;
use crate::memory::MemoryDoor;
use crate::path::HostPath;
use crate::port::SourceDoor;
use crate::source::SourceVersion;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The folders: `IN` lies inside `OUTER`.
pub(super) const OUTER: &str = "/a";
/// See [`OUTER`].
pub(super) const IN: &str = "/a/in";
/// A folder of its own.
pub(super) const OTHER: &str = "/b";
/// All of them.
pub(super) const ROOTS: [&str; 3] = [OUTER, IN, OTHER];

/// Places for files.
pub(super) const PLACES: [&str; 9] = [
    "/a/zqA-1.md",
    "/a/zqA-2.md",
    "/a/zqA-3.md",
    "/a/in/zqI-1.md",
    "/a/in/zqI-2.md",
    "/a/in/zqI-3.md",
    "/b/zqB-1.md",
    "/b/zqB-2.md",
    "/b/zqB-3.md",
];

/// Words that texts hold and queries ask for.
pub(super) const WORDS: [&str; 4] = ["ginger", "walnut", "copper", "velvet"];

/// How long a slow file takes to read: longer than any look may.
const SLOW: Duration = Duration::from_secs(40);

/// What is wrong with a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It fails as a dead mount does.
    Unreachable,
    /// This user may not open it.
    Denied,
    /// It changes while it is read.
    Unstable,
}

/// A file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct File {
    pub(super) bytes: Arc<[u8]>,
    /// Which bytes these are, as far as they are read.
    pub(super) version: SourceVersion,
    pub(super) trouble: Option<Trouble>,
    pub(super) slow: bool,
}

/// A folder that is there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Folder {
    pub(super) identity: RootIdentity,
    pub(super) trouble: Option<Trouble>,
}

/// Folders and files by their absolute paths, and what was taken away.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Disk {
    pub(super) folders: BTreeMap<&'static str, Folder>,
    pub(super) files: Arc<BTreeMap<&'static str, File>>,
    away: BTreeMap<&'static str, (Folder, BTreeMap<&'static str, File>)>,
}

/// A change of the disk.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write(&'static str, String),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Trouble(&'static str, Trouble),
    Heal(&'static str),
    Slow(&'static str),
    TakeAway(&'static str),
    Replace(&'static str),
    BringBack(&'static str),
}

/// The folder that a place is in.
pub(super) fn root_of(place: &str) -> &'static str {
    let inside = |root: &&str| place.strip_prefix(*root).is_some_and(|rest| rest.starts_with('/'));
    ROOTS.into_iter().filter(inside).max_by_key(|root| root.len()).expect("in a folder")
}

/// The mark that texts and names of a folder bear.
pub(super) fn mark(root: &str) -> &'static str {
    match root {
        IN => "zqI",
        OTHER => "zqB",
        _ => "zqA",
    }
}

impl Disk {
    /// The folders, empty.
    pub(super) fn new(door: &MemoryDoor) -> Self {
        let mut disk = Self::default();
        for root in ROOTS {
            door.replace_folder(root);
            disk.folders.insert(root, there(door, root));
        }
        disk
    }

    /// Whether a change can be made now.
    pub(super) fn allows(&self, change: &Change) -> bool {
        let stands = |place: &str| self.files.contains_key(place);
        let is_there = |root: &str| self.folders.contains_key(root);
        match change {
            Change::Write(place, _) => is_there(root_of(place)),
            Change::Remove(place) | Change::Slow(place) => stands(place),
            Change::Rename(from, to) => stands(from) && from != to && root_of(from) == root_of(to),
            Change::Trouble(at, trouble) => {
                stands(at) || is_there(at) && *trouble != Trouble::Unstable
            }
            Change::Heal(at) => stands(at) || is_there(at),
            Change::TakeAway(root) | Change::Replace(root) => {
                let sound = is_there(root) && self.trouble_down_to(root).is_none();
                *root != OUTER && sound && !self.away.contains_key(root)
            }
            Change::BringBack(root) => self.away.contains_key(root),
        }
    }

    /// Makes it, here and behind the door.
    pub(super) fn make(&mut self, change: Change, door: &MemoryDoor) {
        let files = Arc::make_mut(&mut self.files);
        match change {
            Change::Write(place, text) => {
                door.put(place, text.clone());
                let version = model::version(text.as_bytes());
                let new = File { bytes: [].into(), version, trouble: None, slow: false };
                let file = files.entry(place).or_insert(new);
                (file.bytes, file.version) = (text.into_bytes().into(), version);
            }
            Change::Remove(place) => {
                door.remove(place);
                files.remove(place);
            }
            Change::Rename(from, to) => {
                door.rename(from, to);
                let moved = files.remove(from).expect("it stands");
                files.insert(to, moved);
            }
            Change::Trouble(at, trouble) => self.trouble(at, Some(trouble), door),
            Change::Heal(at) => self.trouble(at, None, door),
            Change::Slow(place) => {
                door.slow_down(place, SLOW);
                files.get_mut(place).expect("it stands").slow = true;
            }
            Change::TakeAway(root) => self.take_away(root, door),
            Change::Replace(root) => {
                self.take_away(root, door);
                door.replace_folder(root);
                self.folders.insert(root, there(door, root));
            }
            Change::BringBack(root) => self.bring_back(root, door),
        }
    }

    fn trouble(&mut self, at: &'static str, trouble: Option<Trouble>, door: &MemoryDoor) {
        match trouble {
            None => {
                door.heal(at);
                door.slow_down(at, Duration::ZERO);
            }
            Some(Trouble::Unreachable) => door.make_unreachable(at),
            Some(Trouble::Denied) => door.deny(at),
            Some(Trouble::Unstable) => door.make_unstable(at),
        }
        if let Some(folder) = self.folders.get_mut(at) {
            folder.trouble = trouble;
        } else if let Some(file) = Arc::make_mut(&mut self.files).get_mut(at) {
            file.trouble = trouble;
            file.slow &= trouble.is_some();
        }
    }

    fn take_away(&mut self, root: &'static str, door: &MemoryDoor) {
        let folder = self.folders.remove(root).expect("it is there");
        let all = std::mem::take(Arc::make_mut(&mut self.files));
        let (gone, rest) = all.into_iter().partition(|(place, _)| root_of(place) == root);
        self.files = Arc::new(rest);
        self.away.insert(root, (folder, gone));
        door.rename(root, &away(root));
    }

    fn bring_back(&mut self, root: &'static str, door: &MemoryDoor) {
        let (folder, back) = self.away.remove(root).expect("it is away");
        let files = Arc::make_mut(&mut self.files);
        files.retain(|place, _| root_of(place) != root);
        files.extend(back);
        self.folders.insert(root, folder);
        door.rename(&away(root), root);
    }

    /// What is wrong with a folder, or the first above it.
    pub(super) fn trouble_down_to(&self, root: &str) -> Option<Trouble> {
        let above = (root == IN).then(|| self.folders.get(OUTER)?.trouble).flatten();
        above.or_else(|| self.folders.get(root)?.trouble)
    }
}

/// Where a folder is put that is taken away.
fn away(root: &str) -> String {
    format!("/away{root}")
}

/// A folder as it is there now.
fn there(door: &MemoryDoor, root: &str) -> Folder {
    let admitted = door.admit(&HostPath::from_bytes(root)).expect("it was made just now");
    Folder { identity: admitted.identity, trouble: None }
}
