//! Where a missing file went: the same version at another path of its grant (spec O4).
//!
//! Owns the one search for it. It is by size and then by digest, never by likeness: a file that was changed while it
//! was moved is not found. It opens nothing but files of the sizes that are missed.

use crate::folder::Grant;
use crate::id::GrantId;
use crate::limits::ScanLimits;
use crate::path::RelPath;
use crate::port::{Ground, Place, Probe, SourceDoor, Watch, version_of};
use crate::source::SourceVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A version, and the grant under which it was cited.
pub type Lost = (GrantId, SourceVersion);

/// Finds each of `lost` again under its own grant, at the first path in the order of a visit that holds it.
///
/// What is not found within `limits` is left out: it may still be there. Nothing lost costs nothing.
pub fn find(
    door: &dyn SourceDoor,
    grants: &[Grant],
    lost: &BTreeSet<Lost>,
    limits: ScanLimits,
    watch: &mut dyn Watch,
) -> BTreeMap<Lost, RelPath> {
    let misses = |grant: &&Grant| lost.iter().any(|(folder, _)| *folder == grant.id);
    let scope: Vec<GrantId> = grants.iter().filter(misses).map(|grant| grant.id).collect();
    if scope.is_empty() {
        return BTreeMap::new();
    }
    // The limit of files is one of reading, and it counts candidates. Here hardly any of them are opened.
    let files = usize::try_from(limits.entries).unwrap_or(usize::MAX);
    let ground = Ground { grants, scope: &scope, limits: ScanLimits { files, ..limits } };
    let probe = Arc::new(MovedProbe { lost: lost.clone(), found: Mutex::default() });
    door.scan(ground, probe.clone(), watch);
    std::mem::take(&mut *probe.found()).into_iter().map(|(lost, (_, path))| (lost, path)).collect()
}

/// Opens files of the sizes that are missed, and keeps where each version stands first.
struct MovedProbe {
    lost: BTreeSet<Lost>,
    found: Mutex<BTreeMap<Lost, (u64, RelPath)>>,
}

impl MovedProbe {
    /// What was found so far, also after a panic elsewhere.
    fn found(&self) -> MutexGuard<'_, BTreeMap<Lost, (u64, RelPath)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Probe for MovedProbe {
    fn wants(&self, place: &Place, size: u64) -> bool {
        self.lost.iter().any(|(grant, version)| *grant == place.grant && version.size == size)
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let key = (place.grant, version_of(bytes, full_size));
        if !self.lost.contains(&key) {
            return;
        }
        // Threads come in any order; the turn does not.
        let mut found = self.found();
        let first = found.get(&key).is_none_or(|(turn, _)| place.turn < *turn);
        if first {
            found.insert(key, (place.turn, place.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{GrantState, Rules};
    use crate::id::SiteId;
    use crate::memory::MemoryDoor;
    use crate::path::HostPath;
    use crate::port::{AdmitRefusal, Go, Quiet, Root, Scanned, Want};
    use crate::report::Reached;
    use crate::source::Look;
    use crate::task::Progress;
    use crate::time::Timestamp;
    use std::sync::atomic::{AtomicU32, Ordering};

    const KEPT: &str = "Backups are kept for 35 days.\n";

    fn grant(door: &MemoryDoor, n: u8, root: &str) -> Grant {
        let root = door.admit(&HostPath::from_bytes(root)).expect("a folder");
        Grant {
            id: id(n),
            site: SiteId::from_bytes([0; 16]),
            root: root.path,
            label: n.to_string(),
            identity: root.identity,
            rules: Rules::standard(),
            state: GrantState::Active,
            approved_at: Timestamp::from_seconds(0),
            since_look: 0,
            swept_at: None,
        }
    }

    const fn id(n: u8) -> GrantId {
        GrantId::from_bytes([n; 16])
    }

    fn lost(n: u8, text: &str) -> Lost {
        (id(n), version_of(text.as_bytes(), text.len() as u64))
    }

    fn look_for(door: &dyn SourceDoor, grants: &[Grant], wanted: &[Lost]) -> Vec<String> {
        let wanted: BTreeSet<Lost> = wanted.iter().copied().collect();
        let limits = ScanLimits { files: 1, ..ScanLimits::standard() };
        let found = find(door, grants, &wanted, limits, &mut Quiet);
        found.iter().map(|((grant, _), path)| format!("{} {path}", grant.bytes()[0])).collect()
    }

    // spec: O4
    #[test]
    fn the_same_version_is_found_at_another_path_however_many_files_come_before() {
        let door = MemoryDoor::new()
            .file("/a/1.md", "other")
            .file("/a/2.md", "another")
            .file("/a/old/kept.md", KEPT);
        let grants = [grant(&door, 1, "/a")];
        assert_eq!(look_for(&door, &grants, &[lost(1, KEPT)]), ["1 old/kept.md"]);
        assert_eq!(look_for(&door, &grants, &[lost(1, "gone for good")]), [""; 0]);
    }

    // spec: O4
    #[test]
    fn the_same_bytes_under_another_folder_are_not_the_moved_file() {
        let door = MemoryDoor::new().file("/a/x.md", "one").file("/b/kept.md", KEPT);
        let grants = [grant(&door, 1, "/a"), grant(&door, 2, "/b")];
        assert_eq!(look_for(&door, &grants, &[lost(1, KEPT)]), [""; 0]);
        assert_eq!(
            look_for(&door, &grants, &[lost(1, KEPT), lost(2, KEPT), lost(1, "one")]),
            ["1 x.md", "2 kept.md"]
        );
    }

    // spec: O4
    #[test]
    fn equal_size_is_not_equal_and_a_longer_file_is_another_version() {
        let size = ScanLimits::standard().file_bytes;
        let long = "a".repeat(size + 1);
        let door = MemoryDoor::new()
            .file("/a/1.md", KEPT.to_uppercase())
            .file("/a/2.md", long.clone() + "b")
            .file("/a/3.md", long.clone());
        let grants = [grant(&door, 1, "/a")];
        let cut = (id(1), version_of(&long.as_bytes()[..size], size as u64 + 1));
        assert_eq!(look_for(&door, &grants, &[lost(1, KEPT), cut]), ["1 3.md"]);
    }

    // spec: O4
    #[test]
    fn of_several_the_first_in_the_order_of_a_visit_is_named() {
        let door = MemoryDoor::new().file("/a/b/1.md", KEPT).file("/a/c.md", KEPT);
        let grants = [grant(&door, 1, "/a")];
        assert_eq!(look_for(&door, &grants, &[lost(1, KEPT)]), ["1 b/1.md"]);
        let probe = MovedProbe { lost: [lost(1, KEPT)].into(), found: Mutex::default() };
        for (turn, path) in [(2, "third"), (0, "first"), (1, "second")] {
            let path = RelPath::new(path).expect("a path");
            let place = Place { turn, grant: id(1), path };
            probe.file(place, KEPT.as_bytes(), KEPT.len() as u64);
        }
        assert_eq!(probe.found()[&lost(1, KEPT)].1, RelPath::new("first").expect("a path"));
    }

    /// A door that counts scans, and in them the files that were opened.
    struct Counting {
        door: MemoryDoor,
        scans: AtomicU32,
        opened: Arc<AtomicU32>,
    }

    struct Opened(Arc<dyn Probe>, Arc<AtomicU32>);

    impl Probe for Opened {
        fn wants(&self, place: &Place, size: u64) -> bool {
            self.0.wants(place, size)
        }

        fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.file(place, bytes, full_size);
        }
    }

    impl SourceDoor for Counting {
        fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
            self.door.admit(path)
        }

        fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
            self.door.roots(grants)
        }

        fn scan(
            &self,
            ground: Ground<'_>,
            probe: Arc<dyn Probe>,
            watch: &mut dyn Watch,
        ) -> Scanned {
            self.scans.fetch_add(1, Ordering::Relaxed);
            self.door.scan(ground, Arc::new(Opened(probe, self.opened.clone())), watch)
        }

        fn look(
            &self,
            ground: Ground<'_>,
            wants: &[Want],
            probe: Arc<dyn Probe>,
            watch: &mut dyn Watch,
        ) -> Vec<Look> {
            self.door.look(ground, wants, probe, watch)
        }
    }

    // spec: O4
    #[test]
    fn nothing_is_scanned_for_nothing_and_nothing_opened_of_another_size() {
        let files = MemoryDoor::new()
            .file("/a/1.md", "another size")
            .file("/a/kept.md", KEPT)
            .file("/b/1.md", KEPT);
        let grants = [grant(&files, 1, "/a"), grant(&files, 2, "/b")];
        let door = Counting { door: files, scans: AtomicU32::new(0), opened: Arc::default() };
        let count = || (door.scans.load(Ordering::Relaxed), door.opened.load(Ordering::Relaxed));
        assert_eq!(look_for(&door, &grants, &[]), [""; 0]);
        assert_eq!(look_for(&door, &grants, &[lost(3, KEPT)]), [""; 0]);
        assert_eq!(count(), (0, 0));
        assert_eq!(look_for(&door, &grants, &[lost(1, KEPT)]), ["1 kept.md"]);
        assert_eq!(count(), (1, 1));
    }

    /// Stops at the first beat.
    struct StopAtOnce;

    impl Watch for StopAtOnce {
        fn beat(&mut self, _: &Progress) -> Go {
            Go::Stop
        }
    }

    // spec: O4
    #[test]
    fn a_search_that_is_stopped_tells_what_it_has_found() {
        let door = MemoryDoor::new().file("/a/1.md", KEPT).file("/a/2.md", "one");
        let grants = [grant(&door, 1, "/a")];
        let wanted = [lost(1, KEPT), lost(1, "one")].into();
        let found = find(&door, &grants, &wanted, ScanLimits::standard(), &mut StopAtOnce);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), [lost(1, KEPT)]);
    }
}
