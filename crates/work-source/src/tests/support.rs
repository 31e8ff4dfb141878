//! A folder in a temporary directory, grants for it, and probes that remember.

use crate::door::FolderDoor;
use crate::platform::Means;
use crate::seam::{Moment, Seam};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use work_core::folder::{Grant, GrantState, Hidden, IgnoreFiles, Rules};
use work_core::id::{BootId, GrantId, SiteId};
use work_core::limits::ScanLimits;
use work_core::path::{HostPath, RelPath};
use work_core::port::{Go, Ground, Place, Probe, Scanned, SourceDoor, Want, Watch};
use work_core::report::{ScanCounts, SkipReason};
use work_core::source::{Look, Seen};
use work_core::task::Progress;
use work_core::time::Timestamp;

pub(super) const BOOT: BootId = BootId::from_bytes([7; 16]);

/// Every way of going down and opening.
pub(super) const ALL_MEANS: [Means; 4] = Means::ALL;

/// A door with each of them.
pub(super) fn doors() -> impl Iterator<Item = FolderDoor> {
    FolderDoor::in_each_way(door)
}

pub(super) fn door() -> FolderDoor {
    FolderDoor::without_instance(BOOT)
}

/// A door in which `step` happens at each moment.
pub(super) fn door_with(step: impl Fn(Moment, &[u8]) + Send + Sync + 'static) -> FolderDoor {
    let mut door = door();
    door.seam = Seam { step: Some(Arc::new(step)) };
    door
}

/// A temporary directory to build in.
pub(super) struct Tree(tempfile::TempDir);

impl Tree {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(super) fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with the directories above it.
    pub(super) fn file(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    pub(super) fn directory(&self, name: impl AsRef<Path>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(&path).expect("a directory");
        path
    }

    pub(super) fn link(&self, to: impl AsRef<Path>, name: impl AsRef<Path>) {
        std::os::unix::fs::symlink(to, self.at(name)).expect("a link");
    }
}

pub(super) fn host(path: &Path) -> HostPath {
    HostPath::from_bytes(path.as_os_str().as_bytes())
}

pub(super) fn rel(name: impl AsRef<[u8]>) -> RelPath {
    RelPath::new(name.as_ref()).expect("a relative path")
}

pub(super) fn id(n: u8) -> GrantId {
    GrantId::from_bytes([n; 16])
}

/// An active grant with standard rules.
pub(super) fn grant(n: u8, root: &Path) -> Grant {
    let root = door().admit(&host(root)).expect("a directory that may be approved");
    Grant {
        id: id(n),
        site: SiteId::from_bytes([0; 16]),
        label: String::new(),
        identity: root.identity,
        root: root.path,
        rules: Rules::standard(),
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(i64::from(n)),
        since_look: 0,
        swept_at: None,
    }
}

pub(super) fn revoked(grant: Grant) -> Grant {
    Grant { state: GrantState::Revoked, ..grant }
}

/// Rules with these exclusions and all else as usual.
pub(super) fn rules(exclude: &[&str], hidden: Hidden, ignore_files: IgnoreFiles) -> Rules {
    Rules::new(Rules::EXTENSIONS, exclude, hidden, ignore_files).expect("sound rules")
}

/// What a probe was given: bytes and full size, by turn and path.
#[derive(Default)]
pub(super) struct Reads(pub(super) Mutex<ByPlace>);

type ByPlace = BTreeMap<(u64, RelPath), (Vec<u8>, u64)>;

impl Probe for Reads {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let mut reads = self.0.lock().expect("no panic");
        let before = reads.insert((place.turn, place.path), (bytes.to_vec(), full_size));
        assert!(before.is_none(), "a place came twice");
    }
}

impl Reads {
    pub(super) fn names(&self) -> Vec<String> {
        self.0.lock().expect("no panic").keys().map(|(_, path)| path.to_string()).collect()
    }

    pub(super) fn set(&self) -> BTreeSet<String> {
        self.names().into_iter().collect()
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        let reads = self.0.lock().expect("no panic");
        let found = reads.iter().find(|((_, path), _)| path.to_string() == name);
        found.map_or_else(|| panic!("{name} was not read"), |(_, (bytes, _))| bytes.clone())
    }
}

/// A watch that never says stop, and counts.
#[derive(Default)]
pub(super) struct On(pub(super) u64);

impl Watch for On {
    fn beat(&mut self, _: &Progress) -> Go {
        self.0 += 1;
        Go::On
    }
}

/// Scans with these limits all grants in their order.
pub(super) fn scan_within(
    door: &FolderDoor,
    grants: &[Grant],
    limits: ScanLimits,
) -> (Scanned, Arc<Reads>) {
    let scope: Vec<GrantId> = grants.iter().map(|grant| grant.id).collect();
    scan_of(door, grants, &scope, limits)
}

pub(super) fn scan_of(
    door: &FolderDoor,
    grants: &[Grant],
    scope: &[GrantId],
    limits: ScanLimits,
) -> (Scanned, Arc<Reads>) {
    let reads = Arc::new(Reads::default());
    let ground = Ground { grants, scope, limits };
    let probe: Arc<dyn Probe> = Arc::<Reads>::clone(&reads);
    (door.scan(ground, probe, &mut On::default()), reads)
}

pub(super) fn scan(door: &FolderDoor, grants: &[Grant]) -> (Scanned, Arc<Reads>) {
    scan_within(door, grants, ScanLimits::standard())
}

/// Looks at files through the grant with id 1.
pub(super) fn look(door: &FolderDoor, grants: &[Grant], names: &[&str]) -> Vec<Look> {
    let wants: Vec<Want> =
        names.iter().map(|name| Want { grant: id(1), path: rel(name), known: None }).collect();
    let ground = Ground { grants, scope: &[], limits: ScanLimits::standard() };
    door.look(ground, &wants, Arc::new(Reads::default()), &mut On::default())
}

/// What was seen and who decided, of one file.
pub(super) fn look_at(door: &FolderDoor, grants: &[Grant], name: &str) -> (Seen, GrantId) {
    match look(door, grants, &[name])[..] {
        [Look::Saw { seen, owner, .. }] => (seen, owner),
        ref other => panic!("{name}: {other:?}"),
    }
}

pub(super) fn bytes_of(bytes: &[u8]) -> Seen {
    Seen::Bytes(work_core::port::version_of(bytes, bytes.len() as u64))
}

/// The skips of a scan, as a list.
pub(super) fn skips(counts: &ScanCounts) -> Vec<(SkipReason, u64)> {
    counts.skipped.iter().map(|(reason, count)| (*reason, *count)).collect()
}
