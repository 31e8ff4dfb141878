//! Ids that are the same in both worlds, however much one of them draws more.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use work_core::digest::Digest;
use work_core::folder::Grant;
use work_core::id::GrantId;
use work_core::memory::MemoryDoor;
use work_core::path::{HostPath, RelPath};
use work_core::port::{AdmitRefusal, Ground, Ids, Probe, Root, Scanned, SourceDoor, Want, Watch};
use work_core::report::Reached;
use work_core::source::Look;

/// Ids counted from the number of the step, so that a step which draws more in one world shifts nothing after it; those
/// of sources come from their places.
///
/// In use ids are random, and how many were drawn before shows in none. Counted ones would tell, and the worlds would
/// differ where no observer of random ones could see it.
#[derive(Debug, Default)]
pub(super) struct StepIds {
    next: AtomicU64,
    /// Ids of sources that are drawn before any other.
    sources: Mutex<VecDeque<[u8; 16]>>,
    /// Whether a search has visited the folders, so that what is looked at next is what it quotes.
    searched: AtomicBool,
    /// Whether the step may publish.
    publishes: AtomicBool,
}

/// Ids that one step may draw.
const STEP: u64 = 1 << 20;

impl StepIds {
    /// Begins a step.
    pub(super) fn begin(&self, step: u64, publishes: bool) {
        self.next.store(step * STEP, Ordering::Relaxed);
        self.publishes.store(publishes, Ordering::Relaxed);
        self.searched.store(false, Ordering::Relaxed);
        self.sources.lock().expect("sound").clear();
    }

    /// A scan was made.
    fn search(&self) {
        self.searched.store(self.publishes.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Files were looked at. The first look after a search is at what will be quoted: the next ids are for these, in the
    /// order of their places.
    fn look(&self, wants: &[Want]) {
        if !wants.is_empty() && self.searched.swap(false, Ordering::Relaxed) {
            let places: BTreeSet<_> = wants.iter().map(|want| (want.grant, &want.path)).collect();
            let ids = places.into_iter().map(|(grant, path)| of_place(grant, path));
            *self.sources.lock().expect("sound") = ids.collect();
        }
    }
}

impl Ids for StepIds {
    fn fresh(&self) -> [u8; 16] {
        let source = self.sources.lock().expect("sound").pop_front();
        source.unwrap_or_else(|| half(&self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes()))
    }
}

/// The id of the source at a place.
fn of_place(grant: GrantId, path: &RelPath) -> [u8; 16] {
    half(&[b"source", grant.bytes().as_slice(), path.bytes()].concat())
}

/// Half a digest.
fn half(bytes: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&Digest::of(bytes).bytes()[..16]);
    half
}

/// A door that tells the ids what is looked at.
#[derive(Debug)]
pub(super) struct Doorman {
    pub(super) door: Arc<MemoryDoor>,
    pub(super) ids: Arc<StepIds>,
}

impl SourceDoor for Doorman {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        self.door.admit(path)
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        self.door.roots(grants)
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        self.ids.search();
        self.door.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        self.ids.look(wants);
        self.door.look(ground, wants, probe, watch)
    }
}
