//! One workspace with everything that a test can turn: its clock, its files, its store's faults.

use std::sync::Arc;
use std::time::Duration;
use work_core::document::wire::{FolderDoc, ResultDoc, TaskDoc};
use work_core::id::{GrantId, OwnerId, ResultId, SiteId, TaskId, WorkspaceId};
use work_core::limits::Limits;
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::{Go, Quiet, SourceDoor, Watch};
use work_core::retrieve::Query;
use work_core::task::Progress;
use work_core::testkit::fakes::{CountingIds, FakeClock, Faulty};
use work_core::workspace::{FolderName, ReportAsk, Workspace};

pub(crate) struct World {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) door: Arc<MemoryDoor>,
    pub(crate) store: Arc<Faulty<MemoryStore>>,
    pub(crate) work: Workspace,
}

pub(crate) const BACKUPS: &str =
    "# Backups\n\nBackups are kept for 35 days.\n\nRestores are tried each month.\n";

impl World {
    /// An empty workspace, and files that nobody approved yet.
    pub(crate) fn empty() -> Self {
        let door = MemoryDoor::new()
            .file("/handbook/it/backups.md", BACKUPS)
            .file("/handbook/people/leave.md", "# Leave\n\nUnused leave is kept until March.\n")
            .file("/notes/old.md", "Old backups were kept on tape.\n");
        Self::over(Arc::new(door))
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
        let clock = Arc::new(FakeClock::at(1_000_000));
        let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
        let store = MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), clock.clone());
        let store = Arc::new(Faulty::new(store));
        let work = Workspace::new(store.clone(), outer, Arc::new(CountingIds::new()));
        Self { clock, door, store, work }
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
