//! A desk: an instance with an approved folder in a directory of its own, over the real door and the real store.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test fails it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_core::document::wire::{AppliedDoc, ProposalDoc, ResultDoc, TaskDoc};
use work_core::folder::{Grant, GrantState, Rules};
use work_core::id::{GrantId, ResultId, SiteId};
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet, Root};
use work_core::proposal::Channel;
use work_core::retrieve::Query;
use work_core::time::Timestamp;
use work_core::workspace::{Repaired, ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// A workspace in the instance at `home`, as an embedding program opens it.
///
/// # Panics
/// When it cannot be opened.
#[must_use]
pub fn open(home: &Path) -> Workspace {
    open_at(home, Arc::new(HostClock::new()))
}

/// The same under another clock.
///
/// # Panics
/// When it cannot be opened.
#[must_use]
pub fn open_at(home: &Path, clock: Arc<dyn Clock>) -> Workspace {
    let instance = Instance::open_or_create(home, &OsIds, clock.as_ref()).unwrap();
    let door = FolderDoor::guarding(OwnFiles::in_directory(home).unwrap(), clock.reading().boot);
    Workspace::new(Arc::new(instance.store(clock).unwrap()), Arc::new(door), Arc::new(OsIds))
}

/// An instance in `desk`, with the folder `docs` beside it approved.
pub struct Desk {
    directory: tempfile::TempDir,
    /// What a program that embeds the library holds.
    pub work: Workspace,
}

impl Desk {
    /// With these files.
    ///
    /// # Panics
    /// When it cannot be set up.
    #[must_use]
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::at(files, Arc::new(HostClock::new()))
    }

    /// The same under another clock.
    ///
    /// # Panics
    /// When it cannot be set up.
    #[must_use]
    pub fn at(files: &[(&str, &str)], clock: Arc<dyn Clock>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let work = open_at(&directory.path().join("desk"), clock);
        let desk = Self { directory, work };
        std::fs::create_dir(desk.docs()).unwrap();
        files.iter().for_each(|(name, text)| desk.write(name, text));
        desk.work.approve(&host(&desk.docs()), None, &mut Quiet).unwrap();
        desk
    }

    /// The instance's directory.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.directory.path().join("desk")
    }

    /// The approved folder.
    #[must_use]
    pub fn docs(&self) -> PathBuf {
        self.directory.path().join("docs")
    }

    /// Writes a file of the folder, with its directories.
    ///
    /// # Panics
    /// When it cannot.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.docs().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Makes a report of the folder.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn report(&self, query: &str) -> ResultDoc {
        let ask = ReportAsk::everywhere(Query::parse(query).unwrap());
        self.work.report(&ask, &mut Quiet).unwrap()
    }

    /// Queues a report of the folder.
    ///
    /// # Panics
    /// When it cannot be queued.
    #[must_use]
    pub fn ask(&self, query: &str) -> TaskDoc {
        self.work.ask(&ReportAsk::everywhere(Query::parse(query).unwrap())).unwrap()
    }

    /// A result with its sources looked at.
    ///
    /// # Panics
    /// When it cannot be shown.
    #[must_use]
    pub fn show(&self, result: ResultId) -> ResultDoc {
        self.work.show(result, None, &mut Quiet).unwrap()
    }

    /// A repair that waits for approval.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn repair(&self, result: ResultId) -> ProposalDoc {
        match self.work.repair(result, &mut Quiet).unwrap() {
            Repaired::Proposed(proposal) => *proposal,
            Repaired::NoChange(task) => panic!("no change: {task:?}"),
        }
    }

    /// Repairs a result and approves what is shown.
    ///
    /// # Panics
    /// When it cannot.
    pub fn repair_and_apply(&self, result: ResultId) -> AppliedDoc {
        let proposal = self.repair(result);
        let fingerprint = proposal.fingerprint.unwrap();
        self.work.apply(proposal.proposal_id, fingerprint, Channel::Library, &mut Quiet).unwrap()
    }
}

/// A path as the library names it.
#[must_use]
pub fn host(path: &Path) -> HostPath {
    HostPath::from_bytes(path.as_os_str().as_encoded_bytes())
}

/// A folder that is approved for one check, without an instance.
#[must_use]
pub fn folder(root: Root, rules: Rules) -> Grant {
    Grant {
        id: GrantId::from_bytes([1; 16]),
        site: SiteId::from_bytes([2; 16]),
        label: root.path.to_string(),
        root: root.path,
        identity: root.identity,
        rules,
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(0),
        since_look: 0,
        swept_at: None,
    }
}
