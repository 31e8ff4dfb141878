//! A file system in memory: folders and files by their names, each with an identity.

use crate::folder::RootIdentity;
use crate::id::BootId;
use crate::source::Stamp;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

/// A path from the top. Ordered name by name, which is the order of a visit.
pub(super) type Names = Vec<Vec<u8>>;

/// All folders and files.
#[derive(Debug, Default)]
pub(super) struct Files {
    nodes: BTreeMap<Names, Node>,
    clock: u64,
}

/// One folder or file.
#[derive(Clone, Debug)]
pub(super) struct Node {
    inode: u64,
    pub(super) kind: Kind,
    pub(super) trouble: Option<Trouble>,
    pub(super) takes: Duration,
    pub(super) age: Age,
}

/// Whether a node changed so lately that another change could bear the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Its stamp may be trusted.
    Settled,
    /// It may not.
    Young,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A folder; what is in it stands under its names.
    Folder,
    /// A file, with the moment of its last change by the door's own count.
    File { bytes: Arc<[u8]>, changed: u64 },
}

/// What is wrong with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It fails as a dead mount does.
    Unreachable,
    /// This user may not open it.
    Denied,
    /// It changes while it is read.
    Unstable,
}

/// The bytes of one moment of a file.
pub(super) struct Copy {
    pub(super) bytes: Arc<[u8]>,
    pub(super) stamp: Stamp,
}

impl Files {
    /// What is at a path.
    pub(super) fn get(&self, at: &[Vec<u8>]) -> Option<&Node> {
        self.nodes.get(at)
    }

    /// The first node after `last` in the order of a visit, if it lies under `root`.
    pub(super) fn next_under(&self, root: &Names, last: &Names) -> Option<(&Names, &Node)> {
        let mut rest = self.nodes.range((Bound::Excluded(last.clone()), Bound::Unbounded));
        rest.next().filter(|(at, _)| at.starts_with(root))
    }

    /// The first trouble from the top down to a path, itself included.
    pub(super) fn trouble_on_the_way(&self, at: &Names) -> Option<Trouble> {
        (1..=at.len()).find_map(|count| self.nodes.get(&at[..count])?.trouble)
    }

    /// Makes a folder, and those above it, where there is none.
    pub(super) fn make_folder(&mut self, at: &Names) {
        for count in 1..=at.len() {
            let above = &at[..count];
            if self.nodes.get(above).is_none_or(|node| !matches!(node.kind, Kind::Folder)) {
                let node = self.fresh(Kind::Folder);
                self.nodes.insert(above.to_vec(), node);
            }
        }
    }

    /// Writes a file.
    pub(super) fn put(&mut self, at: &Names, bytes: Vec<u8>) {
        let Some((_, above)) = at.split_last() else { return };
        self.make_folder(&above.to_vec());
        self.clock += 1;
        let kind = Kind::File { bytes: bytes.into(), changed: self.clock };
        match self.nodes.get_mut(at) {
            Some(node) if matches!(node.kind, Kind::File { .. }) => node.kind = kind,
            Some(_) | None => {
                self.remove(at);
                let node = self.fresh(kind);
                self.nodes.insert(at.clone(), node);
            }
        }
    }

    /// Removes a node with all that is in it.
    pub(super) fn remove(&mut self, at: &Names) {
        self.nodes.retain(|node, _| !node.starts_with(at));
    }

    /// Moves a node with all that is in it.
    pub(super) fn rename(&mut self, from: &Names, to: &Names) {
        let (moved, rest): (BTreeMap<_, _>, _) =
            std::mem::take(&mut self.nodes).into_iter().partition(|(at, _)| at.starts_with(from));
        self.nodes = rest;
        self.remove(to);
        self.make_folder(&to[..to.len().saturating_sub(1)].to_vec());
        let renamed = moved.into_iter().map(|(at, node)| ([to, &at[from.len()..]].concat(), node));
        self.nodes.extend(renamed);
    }

    /// Says what is wrong with a node.
    pub(super) fn trouble(&mut self, at: &Names, trouble: Option<Trouble>) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.trouble = trouble;
        }
    }

    /// Says whether a node's stamp may be trusted.
    pub(super) fn age(&mut self, at: &Names, age: Age) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.age = age;
        }
    }

    /// Says how long a read takes.
    pub(super) fn slow_down(&mut self, at: &Names, takes: Duration) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.takes = takes;
        }
    }

    /// A node with an identity of its own.
    fn fresh(&mut self, kind: Kind) -> Node {
        self.clock += 1;
        Node { inode: self.clock, kind, trouble: None, takes: Duration::ZERO, age: Age::Settled }
    }
}

impl Node {
    /// What makes it the same folder as before.
    pub(super) fn identity(&self) -> RootIdentity {
        let boot = BootId::from_bytes([0; 16]);
        RootIdentity { inode: self.inode, born_ns: None, filesystem: 0, device: 0, boot }
    }

    /// Whether it is the folder with that identity.
    pub(super) fn is(&self, identity: &RootIdentity) -> bool {
        matches!(self.kind, Kind::Folder) && self.identity().is_same(identity)
    }

    /// Its bytes and stamp, if it is a file.
    pub(super) fn copy(&self) -> Option<Copy> {
        let Kind::File { bytes, changed } = &self.kind else { return None };
        let time = i64::try_from(*changed).unwrap_or(i64::MAX);
        let stamp = Stamp {
            device: 0,
            inode: self.inode,
            size: bytes.len() as u64,
            modified_ns: time,
            changed_ns: time,
        };
        Some(Copy { bytes: Arc::clone(bytes), stamp })
    }
}
