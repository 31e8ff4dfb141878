//! One workspace with everything that a test can turn: its clock, its files, its store's faults.

use crate::holes::Holes;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work_core::digest::Digest;
use work_core::document::wire::{AppliedDoc, FolderDoc, ProposalDoc, ResultDoc, TaskDoc};
use work_core::folder::{Grant, Hidden, IgnoreFiles, Rules};
use work_core::id::{GrantId, OwnerId, ProposalId, ResultId, SiteId, TaskId, WorkspaceId};
use work_core::limits::Limits;
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::{
    AdmitRefusal, Batch, CommitError, Go, Ground, Patience, Pause, Probe, Proposals, Quiet,
    Quotations, ReadTx, Results, Revisions, Root, Scanned, SourceDoor, Store, StoreError, Want,
    Watch, WriteTx,
};
use work_core::proposal::{Channel, Proposal, ProposalState};
use work_core::redact::Withheld;
use work_core::report::Reached;
use work_core::result::RevisionNo;
use work_core::retrieve::Query;
use work_core::source::Look;
use work_core::task::Progress;
use work_core::testkit::fakes::{CountingIds, FakeClock, Faulty};
use work_core::workspace::{
    ApplyError, FolderName, Repaired, ReportAsk, Restore, RestoreError, Workspace,
};

pub(crate) struct World {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) door: Arc<MemoryDoor>,
    pub(crate) store: Arc<Faulty<MemoryStore>>,
    recorder: Arc<Recorder>,
    pub(crate) work: Workspace,
}

/// The file that most reports of these tests quote.
pub(crate) const FILE: &str = "/handbook/it/backups.md";

pub(crate) const BACKUPS: &str =
    "# Backups\n\nBackups are kept for 35 days.\n\nRestores are tried each month.\n";

/// Another file that says something on backups, once it is there.
pub(crate) const ELSEWHERE: &str = "/handbook/z.md";

/// What happens to a file.
pub(crate) type Trouble = fn(&World, &str);

/// Something that happens to a file, and whether what rests on it is unavailable then, or access to it is removed.
pub(crate) const TROUBLES: &[(&str, Trouble, Withheld)] = &[
    ("missing", |world, file| world.door.remove(file), Withheld::EvidenceUnavailable),
    ("unstable", |world, file| world.door.make_unstable(file), Withheld::EvidenceUnavailable),
    ("unreachable", |world, file| world.door.make_unreachable(file), Withheld::EvidenceUnavailable),
    ("denied", |world, file| world.door.deny(file), Withheld::AccessRemoved),
    (
        "excluded",
        |world, file| {
            let name = file.rsplit('/').next().expect("a name");
            world.change_rules("/handbook", &[name]);
        },
        Withheld::AccessRemoved,
    ),
];

impl World {
    /// An empty workspace, and files that nobody approved yet.
    pub(crate) fn empty() -> Self {
        Self::over(Arc::new(files()))
    }

    /// The handbook, approved, through a door with which something can happen.
    pub(crate) fn with_meanwhile() -> (Self, Arc<Meanwhile>) {
        let door = Arc::new(files());
        let outer = Arc::new(Meanwhile::new(door.clone()));
        let world = Self::behind(door, outer.clone());
        world.approve("/handbook");
        (world, outer)
    }

    /// The same with the handbook approved.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        world.approve("/handbook");
        world
    }

    pub(crate) fn over(door: Arc<MemoryDoor>) -> Self {
        Self::behind(door.clone(), door)
    }

    /// A workspace that looks through `outer`, a door of a test's own around `door`.
    pub(crate) fn behind(door: Arc<MemoryDoor>, outer: Arc<dyn SourceDoor>) -> Self {
        Self::built(door, outer, Limits::standard())
    }

    /// A workspace of whose store one question may ask no more than these limits say.
    pub(crate) fn small(door: Arc<MemoryDoor>, limits: Limits) -> Self {
        Self::built(door.clone(), door, limits.clone()).limited(limits)
    }

    fn built(door: Arc<MemoryDoor>, outer: Arc<dyn SourceDoor>, limits: Limits) -> Self {
        let clock = Arc::new(FakeClock::at(1_000_000));
        let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
        let store = MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), clock.clone())
            .with_limits(limits);
        let store = Arc::new(Faulty::new(store));
        let recorder = Arc::new(Recorder {
            store: store.clone(),
            batches: Mutex::default(),
            lost: Mutex::default(),
        });
        let work = Workspace::new(recorder.clone(), outer, Arc::new(CountingIds::new()));
        Self { clock, door, store, recorder, work }
    }

    /// Another process over the same records, which looks through a door of its own.
    pub(crate) fn other_process(&self, door: Arc<dyn SourceDoor>, first_id: u64) -> Workspace {
        Workspace::new(self.recorder.clone(), door, Arc::new(CountingIds::from(first_id)))
    }

    /// What was handed to the store since this was asked last, whatever became of it.
    pub(crate) fn written(&self) -> Vec<Batch> {
        std::mem::take(&mut *self.recorder.batches.lock().expect("sound"))
    }

    /// Lets the workspace find a document no more, which stays in [`World::store`].
    pub(crate) fn lose(&self, document: Digest) {
        self.recorder.lost.lock().expect("sound").insert(document);
    }

    /// Every record that an approval could change, with its version: results, their revisions and quotations,
    /// proposals.
    pub(crate) fn records(&self) -> String {
        let mut tx = self.snapshot();
        let results = tx.results(Results::Latest { before: None, most: 100 }).expect("results");
        let ids: Vec<ResultId> = results.iter().map(|kept| kept.value.id).collect();
        let revisions = Revisions::LatestOf { results: &ids, before: None, each: 100 };
        let revisions = tx.revisions(revisions).expect("revisions");
        let quoted = tx.quotations(Quotations::Of(&ids)).expect("quotations");
        let cited: Vec<_> = quoted.iter().map(|one| (one.result, one.cited)).collect();
        let latest = Proposals::Latest { before: None, most: 100 };
        let proposals = tx.proposals(latest).expect("proposals");
        format!("{results:#?}\n{revisions:#?}\n{cited:#?}\n{proposals:#?}")
    }

    pub(crate) fn snapshot(&self) -> Box<dyn ReadTx + '_> {
        self.store.read(PATIENCE).expect("a snapshot")
    }

    /// A proposal as it is stored.
    pub(crate) fn stored(&self, id: ProposalId) -> Proposal {
        let found = self.snapshot().proposals(Proposals::Ids(&[id])).expect("proposals");
        found.first().expect("a proposal").value
    }

    pub(crate) fn state(&self, id: ProposalId) -> ProposalState {
        self.stored(id).state
    }

    pub(crate) fn limited(self, limits: Limits) -> Self {
        Self { work: self.work.with_limits(limits), ..self }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) fn approve(&self, path: &str) -> FolderDoc {
        self.work.approve(&HostPath::from_bytes(path), None, &mut Quiet).expect("approved")
    }

    pub(crate) fn grant(&self, path: &str) -> GrantId {
        let folders = self.work.folders().expect("folders").folders;
        folders.iter().find(|folder| folder.path == path).expect("approved").folder
    }

    pub(crate) fn revoke(&self, path: &str) -> FolderDoc {
        self.work.revoke(&FolderName::Root(HostPath::from_bytes(path))).expect("revoked")
    }

    pub(crate) fn ask(&self, query: &str) -> TaskId {
        self.work.ask(&ask(query)).expect("queued").task_id
    }

    pub(crate) fn report(&self, query: &str) -> ResultDoc {
        self.work.report(&ask(query), &mut Quiet).expect("a report")
    }

    pub(crate) fn show(&self, result: ResultId) -> ResultDoc {
        self.work.show(result, None, &mut Quiet).expect("shown")
    }

    pub(crate) fn task(&self, task: TaskId) -> TaskDoc {
        self.work.task(task).expect("a task")
    }

    pub(crate) fn events(&self) -> u64 {
        self.work.events().expect("a number")
    }

    /// The kinds of the events after number `after`.
    pub(crate) fn kinds_after(&self, after: u64) -> Vec<String> {
        let events = self.work.log(after).expect("a log").events;
        events.into_iter().map(|event| event.kind.expect("known")).collect()
    }

    /// A report on backups whose file says something else by now.
    pub(crate) fn stale(&self) -> ResultDoc {
        let report = self.report("backups");
        self.edit("90");
        report
    }

    /// Backups are kept for another number of days from now on.
    pub(crate) fn edit(&self, days: &str) {
        self.door.put(FILE, BACKUPS.replace("35", days));
    }

    /// A result whose first revision quotes [`FILE`], which says nothing of the kind any more, and whose second, the
    /// accepted one, quotes [`ELSEWHERE`].
    pub(crate) fn moved_on(&self) -> ResultId {
        let result = self.report("backups").artifact_id;
        self.door.put(FILE, "Nothing of the kind.\n");
        self.door.put(ELSEWHERE, "Backups elsewhere.\n");
        self.mend(result);
        result
    }

    /// A result with two revisions: backups are kept for 35 days, and for 90, which the file says now.
    pub(crate) fn mended(&self) -> ResultId {
        let result = self.stale().artifact_id;
        self.mend(result);
        result
    }

    pub(crate) fn change_rules(&self, path: &str, exclude: &[&str]) -> FolderDoc {
        let standard = Rules::standard();
        let rules =
            Rules::new(standard.extensions(), exclude, Hidden::Skipped, IgnoreFiles::Honoured);
        let path = HostPath::from_bytes(path);
        self.work.approve(&path, Some(&rules.expect("sound")), &mut Quiet).expect("approved")
    }

    /// The proposal that a repair comes to.
    pub(crate) fn repair(&self, result: ResultId) -> ProposalDoc {
        match self.work.repair(result, &mut Quiet).expect("repaired") {
            Repaired::Proposed(proposal) => *proposal,
            Repaired::NoChange(task) => panic!("nothing changed: {task:?}"),
        }
    }

    /// Repairs a result and applies the proposal.
    pub(crate) fn mend(&self, result: ResultId) -> AppliedDoc {
        self.apply(&self.repair(result)).expect("applied")
    }

    pub(crate) fn restore(&self, result: ResultId, no: u64) -> Result<Restore, RestoreError> {
        self.work.restore(result, RevisionNo(no), &mut Quiet)
    }

    pub(crate) fn proposal(&self, id: ProposalId) -> ProposalDoc {
        self.work.proposal(id, &mut Quiet).expect("a proposal")
    }

    /// Approves a proposal as it was shown.
    pub(crate) fn apply(&self, shown: &ProposalDoc) -> Result<AppliedDoc, ApplyError> {
        let presented = shown.fingerprint.expect("visible");
        self.work.apply(shown.proposal_id, presented, Channel::Library, &mut Quiet)
    }

    /// The word for where a proposal stands and the reason why it could not be applied, in the list of proposals.
    pub(crate) fn listed(&self, id: ProposalId) -> Option<(&'static str, Option<&'static str>)> {
        let listed = self.work.proposals(None).expect("a list").proposals;
        let one = listed.into_iter().find(|one| one.proposal_id == id)?;
        Some((one.state, one.rejection_reason))
    }
}

pub(crate) const PATIENCE: Patience =
    Patience { lock: Duration::from_secs(1), whole: Duration::from_secs(3) };

/// A store that remembers what it was given to write, whose lock is waited for, and which finds some documents no more.
struct Recorder {
    store: Arc<Faulty<MemoryStore>>,
    batches: Mutex<Vec<Batch>>,
    lost: Mutex<BTreeSet<Digest>>,
}

impl Recorder {
    fn snapshot(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        let lost = self.lost.lock().expect("sound").clone();
        Ok(Box::new(Holes { inner: self.store.read(patience)?, lost }))
    }
}

impl Store for Recorder {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.snapshot(patience)
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        loop {
            match self.store.write(patience) {
                Err(StoreError::Busy) => std::thread::yield_now(),
                Err(why) => return Err(why),
                Ok(write) => {
                    let reads = self.snapshot(patience)?;
                    return Ok(Box::new(Recorded { write, reads, batches: &self.batches }));
                }
            }
        }
    }
}

struct Recorded<'a> {
    write: Box<dyn WriteTx + 'a>,
    /// Taken under the lock, so that it is the one that a commit comes to.
    reads: Box<dyn ReadTx + 'a>,
    batches: &'a Mutex<Vec<Batch>>,
}

impl WriteTx for Recorded<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.reads.as_mut()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let Self { write, reads, batches } = *self;
        drop(reads);
        batches.lock().expect("sound").push(batch.clone());
        write.commit(batch)
    }
}

/// Waits for nothing, and goes on.
pub(crate) struct AtOnce;

impl Pause for AtOnce {
    fn pause(&self, _: Duration) -> Go {
        Go::On
    }
}

/// The files of these tests, the same in each door.
pub(crate) fn files() -> MemoryDoor {
    MemoryDoor::new()
        .file(FILE, BACKUPS)
        .file("/handbook/people/leave.md", "# Leave\n\nUnused leave is kept until March.\n")
        .file("/notes/old.md", "Old backups were kept on tape.\n")
}

pub(crate) fn ask(query: &str) -> ReportAsk {
    ReportAsk::everywhere(Query::parse(query).expect("a query"))
}

/// The texts that a report quotes.
pub(crate) fn texts(report: &ResultDoc) -> Vec<&str> {
    report
        .body
        .iter()
        .flat_map(|body| &body.excerpts)
        .map(|excerpt| excerpt.text.as_str())
        .collect()
}

/// What became of each quotation.
pub(crate) fn findings(report: &ResultDoc) -> Vec<Option<&'static str>> {
    report.body.iter().flat_map(|body| &body.excerpts).map(|excerpt| excerpt.finding).collect()
}

/// Does something at the first beat of a scan, while the lease is held and no transaction is open.
pub(crate) struct AtFirstBeat<F>(pub(crate) Option<F>);

impl<F: FnOnce()> Watch for AtFirstBeat<F> {
    fn beat(&mut self, _: &Progress) -> Go {
        if let Some(happen) = self.0.take() {
            happen();
        }
        Go::On
    }
}

/// A door with which something happens once a number of looks are done.
pub(crate) struct Meanwhile {
    door: Arc<MemoryDoor>,
    happen: Mutex<Option<(u32, Happening)>>,
}

type Happening = Box<dyn FnOnce() + Send>;

impl Meanwhile {
    pub(crate) fn new(door: Arc<MemoryDoor>) -> Self {
        Self { door, happen: Mutex::default() }
    }

    /// Lets something happen right after the look of this number from now, before anybody hears of it.
    pub(crate) fn after_looks(&self, looks: u32, happen: impl FnOnce() + Send + 'static) {
        *self.happen.lock().expect("sound") = Some((looks, Box::new(happen)));
    }

    fn due(&self) -> Option<Happening> {
        let mut waits = self.happen.lock().expect("sound");
        let (left, happen) = waits.take()?;
        match left {
            0 | 1 => Some(happen),
            more => {
                *waits = Some((more - 1, happen));
                None
            }
        }
    }
}

impl SourceDoor for Meanwhile {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        self.door.admit(path)
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        self.door.roots(grants)
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        self.door.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        let looks = self.door.look(ground, wants, probe, watch);
        if let Some(happen) = self.due() {
            happen();
        }
        looks
    }
}
