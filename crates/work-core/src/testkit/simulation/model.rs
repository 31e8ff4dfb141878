//! The model: the specification of a workspace as plainly as it can be written.
//!
//! A [`State`] is all there is at one moment: disk, clock, records. What a look sees, what may be seen of a source, and
//! what a result is worth follow from states by the functions here. `law` says how an event changes a state, `expect`
//! what a request is answered.

use super::disk::{self, Disk};
use crate::digest::Digest;
use crate::folder::RootIdentity;
use crate::id::{GrantId, ProposalId, ResultId, SourceId, TaskId};
use crate::proposal::Fingerprint;
use crate::quote::Quotation;
use crate::report::Reached;
use crate::result::ResultState;
use crate::source::{Seen, SourceVersion};
use crate::time::Reading;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of a file that are read in a run: few, so that files are cut.
pub(super) const FILE_BYTES: usize = 512;

/// Everything at one moment.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) disk: Disk,
    pub(super) clock: Reading,
    pub(super) time: Time,
    /// In the order of first approval.
    pub(super) grants: Arc<Vec<Grant>>,
    /// How many looks and approvals were kept.
    pub(super) looks: u64,
    pub(super) sources: Arc<BTreeMap<SourceId, Source>>,
    pub(super) results: Arc<BTreeMap<ResultId, WorkResult>>,
    pub(super) proposals: Arc<BTreeMap<ProposalId, Proposal>>,
    pub(super) tasks: Arc<BTreeMap<TaskId, Task>>,
    /// Tasks and proposals in the order in which they came.
    pub(super) asked: Arc<Vec<TaskId>>,
    pub(super) prepared: Arc<Vec<ProposalId>>,
}

/// The latest time acted on, and the clock it was read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) latest_ms: i64,
    pub(super) read: Reading,
    pub(super) era: u64,
}

/// A moment as decisions use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Now {
    pub(super) at: i64,
    pub(super) era: u64,
}

/// An approved folder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grant {
    pub(super) id: GrantId,
    pub(super) root: &'static str,
    pub(super) identity: RootIdentity,
    pub(super) active: bool,
    /// The end of the names of files that its rules exclude.
    pub(super) excludes: Option<String>,
    /// The number of its approval among looks and approvals.
    pub(super) approval: u64,
}

/// A cited file, with the latest look that was kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) grant: GrantId,
    /// Its absolute path.
    pub(super) place: String,
    pub(super) kept: Option<KeptLook>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeptLook {
    pub(super) no: u64,
    pub(super) owner: GrantId,
    pub(super) seen: Seen,
    /// How often the row was written.
    pub(super) version: u64,
}

#[derive(Clone, Debug)]
pub(super) struct WorkResult {
    pub(super) query: String,
    /// From the first on; the last one is accepted.
    pub(super) revisions: Vec<Arc<Content>>,
    pub(super) updated_at: i64,
}

/// What a revision or a proposal holds.
#[derive(Debug, PartialEq)]
pub(super) struct Content {
    pub(super) body: Digest,
    pub(super) dependencies: Digest,
    pub(super) verification: Digest,
    pub(super) scan: Digest,
    pub(super) quotes: Vec<(SourceId, Quotation)>,
}

#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) result: ResultId,
    /// The revision that it brings back; a repair brings none.
    pub(super) restores: Option<u64>,
    pub(super) base: u64,
    pub(super) content: Arc<Content>,
    /// What was seen of each source of both bodies: its version, or that it was missing.
    pub(super) bound: Arc<BTreeMap<SourceId, Option<SourceVersion>>>,
    pub(super) fingerprint: Fingerprint,
    pub(super) expires_at: i64,
    pub(super) era: u64,
    pub(super) end: Option<End>,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Applied,
    Superseded,
    Dismissed,
    Expired,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The result that it repairs; a report repairs none.
    pub(super) repairs: Option<ResultId>,
    pub(super) query: String,
    pub(super) scope: Vec<GrantId>,
    pub(super) stands: Stands,
    pub(super) fence: u64,
    pub(super) attempts: u32,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Queued,
    Running { began: i64, ends: i64, era: u64 },
    Succeeded,
    Failed,
    Cancelled,
}

impl Stands {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running { .. } => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether a worker holds it now.
    pub(super) fn is_held(self, now: Now) -> bool {
        matches!(self, Self::Running { ends, era, .. } if era == now.era && now.at < ends)
    }

    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running { .. })
    }
}

impl Time {
    /// The time at a reading: never earlier than before; another boot with an earlier wall clock begins an era.
    pub(super) fn at(self, read: Reading) -> Self {
        let same_boot = self.read.boot == read.boot;
        let passed = if same_boot { read.since_boot_ms - self.read.since_boot_ms } else { 0 };
        let latest_ms = (self.latest_ms + passed.max(0)).max(read.wall_ms);
        let turned_back = !same_boot && read.wall_ms < self.latest_ms;
        Self { latest_ms, read, era: self.era + u64::from(turned_back) }
    }

    pub(super) const fn now(self) -> Now {
        Now { at: self.latest_ms.div_euclid(1000), era: self.era }
    }
}

impl Proposal {
    /// Whether its hour is not over.
    pub(super) const fn lasts(&self, now: Now) -> bool {
        self.era == now.era && now.at < self.expires_at
    }

    pub(super) const fn word(&self, now: Now) -> &'static str {
        match self.end {
            None if self.lasts(now) => "pending",
            None | Some(End::Expired) => "expired",
            Some(End::Applied) => "applied",
            Some(End::Superseded) => "superseded",
            Some(End::Dismissed) => "dismissed",
        }
    }
}

impl WorkResult {
    pub(super) fn accepted(&self) -> &Arc<Content> {
        self.revisions.last().expect("a result has a revision")
    }

    pub(super) fn accepted_no(&self) -> u64 {
        self.revisions.len() as u64
    }

    pub(super) fn revision(&self, no: u64) -> Option<&Arc<Content>> {
        self.revisions.get(usize::try_from(no).ok()?.checked_sub(1)?)
    }
}

impl Content {
    /// Each source that it cites, with the version.
    pub(super) fn cited(&self) -> impl Iterator<Item = (SourceId, SourceVersion)> + '_ {
        self.quotes.iter().map(|(source, quotation)| (*source, quotation.version))
    }
}

impl State {
    pub(super) fn now(&self) -> Now {
        self.time.at(self.clock).now()
    }

    pub(super) fn grant(&self, id: GrantId) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.id == id)
    }

    pub(super) fn granted(&self, root: &str) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.root == root)
    }

    pub(super) fn is_active(&self, id: GrantId) -> bool {
        self.grant(id).is_some_and(|grant| grant.active)
    }

    /// Which approval a grant is under, if it is in force.
    fn approval(&self, id: GrantId) -> Option<u64> {
        self.grant(id).filter(|grant| grant.active).map(|grant| grant.approval)
    }

    /// The deepest grant around a source by its path.
    fn deepest(&self, source: &Source) -> GrantId {
        let above = self.grant(source.grant).map_or("", |grant| grant.root);
        let inner = self
            .grants
            .iter()
            .filter(|grant| grant.root.len() >= above.len() && is_below(&source.place, grant.root));
        inner.max_by_key(|grant| grant.root.len()).map_or(source.grant, |grant| grant.id)
    }

    /// Whether a grant's rules permit a file.
    fn permits(&self, id: GrantId, place: &str) -> bool {
        let excludes = |end: &String| place.ends_with(end.as_str());
        self.grant(id).is_some_and(|grant| !grant.excludes.as_ref().is_some_and(excludes))
    }

    /// Whether both the grant of a source and the deepest around it are in force, and permit it (spec I3, I4).
    pub(super) fn permitted(&self, source: &Source) -> bool {
        let deepest = self.deepest(source);
        self.is_active(source.grant)
            && self.is_active(deepest)
            && self.permits(deepest, &source.place)
    }

    /// What the root of a grant of this state is on a disk (spec I6).
    pub(super) fn root(&self, id: GrantId, disk: &Disk) -> Reached {
        let Some(grant) = self.grant(id).filter(|grant| grant.active) else {
            return Reached::Denied;
        };
        match (disk.trouble_down_to(grant.root), disk.folders.get(grant.root)) {
            (Some(disk::Trouble::Unreachable), _) | (None, None) => Reached::Unreachable,
            (None, Some(there)) if there.identity == grant.identity => Reached::Yes,
            (Some(_), _) | (None, Some(_)) => Reached::Denied,
        }
    }

    /// What a look at a place sees under the grants of this state, which grant decides, and whether it is slow (spec
    /// O1).
    pub(super) fn look(&self, through: GrantId, place: &str, disk: &Disk) -> (Seen, GrantId, bool) {
        match self.root(through, disk) {
            Reached::Yes => {}
            Reached::Unreachable => return (Seen::Unreachable, through, false),
            Reached::Denied => return (Seen::Denied, through, false),
        }
        let folder = disk::root_of(place);
        let there = disk.folders.get(folder);
        let by_identity = there
            .and_then(|there| self.grants.iter().find(|grant| grant.identity == there.identity));
        let owner = by_identity.map_or(through, |grant| grant.id);
        let is_root = self.grant(through).is_some_and(|grant| grant.root == folder);
        if !self.is_active(owner) {
            return (Seen::Denied, owner, false);
        }
        if let Some(trouble) = there.and_then(|there| there.trouble).filter(|_| !is_root) {
            return (seen(trouble), owner, false);
        }
        if !self.permits(owner, place) {
            return (Seen::Denied, owner, false);
        }
        match disk.files.get(place) {
            None => (Seen::Missing, owner, false),
            Some(disk::File { trouble: Some(trouble), .. }) => (seen(*trouble), owner, false),
            Some(file) => (Seen::Bytes(file.version), owner, file.slow),
        }
    }
}

fn seen(trouble: disk::Trouble) -> Seen {
    match trouble {
        disk::Trouble::Unreachable => Seen::Unreachable,
        disk::Trouble::Denied => Seen::Denied,
        disk::Trouble::Unstable => Seen::Unstable,
    }
}

fn is_below(place: &str, root: &str) -> bool {
    place.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
}

/// What is read of a file.
pub(super) fn read(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(FILE_BYTES)]
}

/// The version of a file.
pub(super) fn version(bytes: &[u8]) -> SourceVersion {
    let (digest, size) = (Digest::of(read(bytes)), bytes.len() as u64);
    SourceVersion { digest, size, cut: bytes.len() > FILE_BYTES }
}

/// One request's way through moments: when it read what to look at, when it looked, when it looked at the roots, when
/// it read what to answer. Undisturbed, all of them are one.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) began: &'a State,
    pub(super) looked: Option<&'a Disk>,
    pub(super) roots: Option<&'a Disk>,
    pub(super) told: &'a State,
}

impl<'a> View<'a> {
    /// Of one moment.
    pub(super) const fn of(state: &'a State) -> Self {
        Self { began: state, looked: Some(&state.disk), roots: Some(&state.disk), told: state }
    }

    /// Of one moment, by what is stored alone.
    pub(super) const fn stored(state: &'a State) -> Self {
        Self { began: state, looked: None, roots: None, told: state }
    }

    /// What counts of a source: a look under the approvals that still hold, and what is kept if that moved meanwhile;
    /// without a look, what is kept (spec O1, O3).
    pub(super) fn sights(&self, id: SourceId, scene: &Scene) -> Vec<Seen> {
        let Some(source) = self.told.sources.get(&id) else { return vec![Seen::Unreachable] };
        let kept = source.kept.map(|kept| self.kept(source, kept));
        let nothing = self.permit(source, Seen::Unreachable);
        let holds = |grants: [GrantId; 2]| {
            grants.iter().all(|&grant| self.began.approval(grant) == self.told.approval(grant))
        };
        let seen = self.looked.filter(|_| scene.reached.contains(&id));
        match seen.map(|disk| self.began.look(source.grant, &source.place, disk)) {
            Some((seen, owner, _)) if holds([source.grant, owner]) => {
                let before = self.began.sources.get(&id).and_then(|source| source.kept);
                let same = before.map(|kept| kept.version) == source.kept.map(|kept| kept.version);
                let fresh = self.owned(source, owner, seen);
                std::iter::once(fresh).chain(kept.filter(|_| !same)).collect()
            }
            None if scene.unreached.contains(&id) && holds([source.grant; 2]) => {
                std::iter::once(nothing).chain(kept).collect()
            }
            Some(_) | None => vec![kept.unwrap_or(nothing)],
        }
    }

    /// Whether a look reached a source, under the approvals that still hold.
    pub(super) fn reaches(&self, id: SourceId, scene: &Scene) -> bool {
        let source = self.told.sources.get(&id).zip(self.looked);
        source.is_some_and(|(source, disk)| {
            let (_, owner, _) = self.began.look(source.grant, &source.place, disk);
            let both = [source.grant, owner];
            let holds = both.iter().all(|&one| self.began.approval(one) == self.told.approval(one));
            holds && scene.reached.contains(&id)
        })
    }

    /// A kept look as it counts: not at all if a grant was approved after it.
    fn kept(&self, source: &Source, kept: KeptLook) -> Seen {
        let young =
            |grant: GrantId| self.told.grant(grant).is_some_and(|grant| kept.no > grant.approval);
        let counts = young(source.grant) && young(kept.owner);
        self.owned(source, kept.owner, if counts { kept.seen } else { Seen::Unreachable })
    }

    fn owned(&self, source: &Source, owner: GrantId, seen: Seen) -> Seen {
        if !self.told.is_active(owner) {
            return Seen::Denied;
        }
        self.permit(source, self.at_root(owner, seen))
    }

    fn permit(&self, source: &Source, seen: Seen) -> Seen {
        if !self.told.permitted(source) {
            return Seen::Denied;
        }
        self.at_root(self.told.deepest(source), self.at_root(source.grant, seen))
    }

    /// What lies under a root that is not the approved folder now is not seen.
    fn at_root(&self, grant: GrantId, seen: Seen) -> Seen {
        let looked_at = self.roots.filter(|_| self.began.is_active(grant));
        match looked_at.map(|disk| self.began.root(grant, disk)) {
            Some(Reached::Denied) => Seen::Denied,
            Some(Reached::Unreachable) if seen != Seen::Denied => Seen::Unreachable,
            Some(Reached::Unreachable | Reached::Yes) | None => seen,
        }
    }

    /// What a look at these sources, in the order of their ids, reaches: none from a slow one on.
    pub(super) fn scene(&self, all: impl IntoIterator<Item = SourceId>) -> Scene {
        let Some(disk) = self.looked else { return Scene::default() };
        let known = |id: &SourceId| self.began.sources.get(id);
        let sorted: BTreeSet<SourceId> = all.into_iter().filter(|id| known(id).is_some()).collect();
        let slow = |id: &SourceId| {
            known(id).is_some_and(|one| self.began.look(one.grant, &one.place, disk).2)
        };
        let reached: Vec<SourceId> = sorted.iter().copied().take_while(|id| !slow(id)).collect();
        let unreached = sorted.into_iter().skip(reached.len()).collect();
        Scene { reached, unreached }
    }

    /// What content is worth: the worst of its sources; without any it cannot be told (spec O3).
    pub(super) fn worth(&self, content: &Content, scene: &Scene) -> ResultState {
        let worst = |(source, cited): (SourceId, SourceVersion)| {
            self.sights(source, scene).iter().map(|seen| worth(seen, &cited)).max()
        };
        content.cited().filter_map(worst).max().unwrap_or(ResultState::EvidenceUnavailable)
    }
}

/// The sources that a request looks at, as far as time allows.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) reached: Vec<SourceId>,
    pub(super) unreached: Vec<SourceId>,
}

/// What a quotation is worth by what is seen of its source (spec O3).
pub(super) fn worth(seen: &Seen, cited: &SourceVersion) -> ResultState {
    match seen {
        Seen::Bytes(seen) if seen == cited => ResultState::SourcesChecked,
        Seen::Bytes(_) | Seen::Missing | Seen::Unstable => ResultState::Stale,
        Seen::Unreachable => ResultState::EvidenceUnavailable,
        Seen::Denied => ResultState::AccessRemoved,
    }
}

/// What became of a quotation in the bytes that are read of a file (spec O4), by the plainest search.
pub(super) fn finding(quotation: &Quotation, file: &[u8]) -> &'static str {
    let (bytes, wanted) = (read(file), quotation.text.as_bytes());
    let at = usize::try_from(quotation.bytes.start).expect("files are small");
    let places = bytes.windows(wanted.len()).filter(|window| *window == wanted).count();
    let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let here = bytes.get(at..).is_some_and(|rest| rest.starts_with(wanted));
    match places {
        _ if here => "intact",
        1 => "moved",
        2.. => "ambiguous",
        0 if plain(bytes).contains(&plain(wanted)) => "cosmetic",
        0 if file.len() > FILE_BYTES => "beyond_limit",
        0 => "altered",
    }
}
