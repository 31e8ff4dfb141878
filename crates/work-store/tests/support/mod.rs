//! A workspace in a directory of its own, with a clock that stands still and ids that count up.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

pub mod schema_1;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use work_core::audit::EventKind;
use work_core::digest::Digest;
use work_core::folder::{Grant, GrantState, Hidden, IgnoreFiles, RootIdentity, Rules};
use work_core::id::*;
use work_core::path::{HostPath, RelPath};
use work_core::port::*;
use work_core::proposal::{Fingerprint, Proposal, ProposalKind, ProposalState};
use work_core::result::{Cited, Origin, ResultKind, Revision, RevisionNo, WorkResult};
use work_core::source::{Observation, Seen, SourceVersion};
use work_core::task::{Fence, Lease, ReportRequest, Run, Task, TaskKind, TaskState};
use work_core::time::{Era, Reading, Timestamp};
use work_store::sqlite::SqliteStore;

/// Enough for everything that is not about waiting.
pub const PATIENT: Patience =
    Patience { lock: Duration::from_secs(5), whole: Duration::from_secs(10) };
/// Not enough to wait for anybody.
pub const HASTY: Patience =
    Patience { lock: Duration::from_millis(20), whole: Duration::from_secs(10) };

/// The moment at which the clock stands.
pub const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// A clock that stands still.
pub struct Still;

impl Clock for Still {
    fn reading(&self) -> Reading {
        Reading {
            wall_ms: NOW.seconds() * 1000,
            boot: BootId::from_bytes([7; 16]),
            since_boot_ms: 5,
        }
    }
}

/// Ids that count up.
#[derive(Default)]
pub struct Counted(AtomicU64);

impl Ids for Counted {
    fn fresh(&self) -> [u8; 16] {
        let next = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        let mut id = [0xaa; 16];
        id[..8].copy_from_slice(&next.to_be_bytes());
        id
    }
}

/// A workspace of its own.
pub struct World {
    pub store: SqliteStore,
    pub path: PathBuf,
    pub ids: Counted,
    pub home: tempfile::TempDir,
}

/// The head of a new workspace.
pub fn new_head() -> Head {
    Head::new(
        WorkspaceId::from_bytes([1; 16]),
        OwnerId::from_bytes([2; 16]),
        SiteId::from_bytes([3; 16]),
        Still.reading(),
    )
}

/// Opens another store on the same file.
pub fn open(path: &std::path::Path) -> SqliteStore {
    SqliteStore::open(path, Arc::new(Still)).expect("a sound database")
}

impl World {
    /// An empty workspace.
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("work.sqlite");
        SqliteStore::create(&path, &new_head()).expect("room for a database");
        Self { store: open(&path), path, ids: Counted::default(), home }
    }

    /// A fresh id.
    pub fn id<T>(&self, named: fn([u8; 16]) -> T) -> T {
        named(self.ids.fresh())
    }

    /// A snapshot.
    pub fn read(&self) -> Box<dyn ReadTx + '_> {
        self.store.read(PATIENT).expect("a snapshot")
    }

    /// The head as it is.
    pub fn head(&self) -> Head {
        self.read().head().expect("a head").0
    }

    /// A batch that records `kind` with these changes, decided on the present head.
    pub fn batch(&self, kind: &EventKind, puts: Vec<Put>, notes: Vec<Note>) -> Batch {
        let (head, _) = self.head().at(Still.reading());
        let (head, event) = head.record(self.id(ActId::from_bytes), kind);
        Batch { head, act: Some(Act { event, puts }), notes }
    }

    /// Commits a batch.
    pub fn commit(&self, batch: &Batch) -> Result<(), CommitError> {
        self.store.write(PATIENT).expect("the lock").commit(batch)
    }

    /// Makes these changes as one act, whatever it is called.
    #[track_caller]
    pub fn put(&self, puts: Vec<Put>) {
        assert_eq!(self.try_put(puts), Ok(()));
    }

    /// Tries to make these changes as one act.
    pub fn try_put(&self, puts: Vec<Put>) -> Result<(), CommitError> {
        let kind = EventKind::TaskQueued { task: TaskId::from_bytes([0; 16]) };
        self.commit(&self.batch(&kind, puts, Vec::new()))
    }

    /// Notes this without an event.
    pub fn note(&self, notes: Vec<Note>) -> Result<(), CommitError> {
        self.commit(&Batch { head: self.head(), act: None, notes })
    }

    /// A connection that obeys no port.
    pub fn raw(&self) -> rusqlite::Connection {
        let raw = rusqlite::Connection::open(&self.path).expect("opens");
        raw.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON;")
            .expect("set");
        raw
    }

    /// A stored grant.
    pub fn grant(&self, root: &str) -> Grant {
        let grant = grant(self.id(GrantId::from_bytes), root);
        self.put(vec![Put::Grant(Change::New(grant.clone()))]);
        grant
    }

    /// A stored source.
    pub fn source(&self, grant: GrantId, path: &str) -> SourceId {
        let id = self.id(SourceId::from_bytes);
        self.put(vec![Put::Source { id, grant, path: rel(path) }]);
        id
    }

    /// A stored task that runs, with its run.
    pub fn running(&self, kind: TaskKind) -> Task {
        let task = Task { kind, ..running(self.id(TaskId::from_bytes)) };
        let run = run(self.id(RunId::from_bytes), task.id, task.fence);
        self.put(vec![Put::Task(Change::New(task.clone())), Put::Run(Change::New(run))]);
        task
    }

    /// A stored result whose first revision cites `cited`.
    pub fn result(&self, cited: Vec<Cited>) -> WorkResult {
        let task = self.running(TaskKind::Report);
        let result = result(self.id(ResultId::from_bytes), 1);
        let origin = Origin::Published { task: task.id, fence: task.fence };
        let mut puts = documents();
        puts.push(Put::Result(Change::New(result.clone())));
        puts.push(Put::Revision(revision(result.id, 1, origin), cited));
        self.put(puts);
        result
    }

    /// A stored pending repair of a result, at its first revision.
    pub fn repair(&self, result: ResultId) -> Proposal {
        let task = self.running(TaskKind::Repair(result));
        let id = self.id(ProposalId::from_bytes);
        let kind = ProposalKind::Repair { task: task.id, fence: task.fence };
        let proposal = proposal(id, result, kind);
        self.put(vec![Put::Proposal(Change::New(proposal))]);
        proposal
    }
}

/// A path under a root.
pub fn rel(path: &str) -> RelPath {
    RelPath::new(path).expect("a path")
}

/// A grant.
pub fn grant(id: GrantId, root: &str) -> Grant {
    Grant {
        id,
        site: SiteId::from_bytes([3; 16]),
        root: HostPath::from_bytes(root),
        label: format!("label of {root}"),
        identity: RootIdentity {
            inode: u64::MAX,
            born_ns: Some(-1),
            filesystem: u64::MAX - 1,
            device: 42,
            boot: BootId::from_bytes([9; 16]),
        },
        rules: Rules::new(["md", "txt"], ["drafts/", "*.tmp"], Hidden::Read, IgnoreFiles::Unheeded)
            .expect("sound rules"),
        state: GrantState::Active,
        approved_at: NOW,
        since_look: 3,
        swept_at: None,
    }
}

/// A version of a file.
pub fn version(n: u8) -> SourceVersion {
    SourceVersion { digest: Digest::of(&[n]), size: u64::from(n), cut: n % 2 == 1 }
}

/// A quotation.
pub fn cited(n: u32, source: SourceId) -> Cited {
    Cited { n, source, version: version(1) }
}

/// A look.
pub fn look(no: u64, seen: Seen, owner: GrantId) -> Observation {
    Observation { no, seen, owner, stamp: None, looked_at: NOW }
}

/// A result.
pub fn result(id: ResultId, accepted: u64) -> WorkResult {
    WorkResult {
        id,
        kind: ResultKind::ExcerptReport,
        query: "wie lange halten Sicherungen \u{0} é".into(),
        scope: vec![GrantId::from_bytes([4; 16]), GrantId::from_bytes([5; 16])],
        accepted: RevisionNo(accepted),
        created_at: NOW,
        updated_at: NOW,
    }
}

/// Digests of stored documents: body, dependencies, verification, scan, binding.
pub fn digests() -> [Digest; 5] {
    ["body", "dependencies", "verification", "scan", "binding"].map(|s| Digest::of(s.as_bytes()))
}

/// Those documents.
pub fn documents() -> Vec<Put> {
    ["body", "dependencies", "verification", "scan", "binding"]
        .map(|text| Put::Document {
            digest: Digest::of(text.as_bytes()),
            bytes: text.as_bytes().to_vec(),
        })
        .to_vec()
}

/// A revision of those documents.
pub fn revision(result: ResultId, no: u64, origin: Origin) -> Revision {
    let [body, dependencies, verification, scan, _] = digests();
    Revision {
        result,
        no: RevisionNo(no),
        body,
        dependencies,
        verification,
        scan,
        origin,
        created_at: NOW,
    }
}

/// A proposal of those documents.
pub fn proposal(id: ProposalId, result: ResultId, kind: ProposalKind) -> Proposal {
    let [body, dependencies, verification, scan, binding] = digests();
    Proposal {
        id,
        result,
        kind,
        state: ProposalState::Pending,
        base: RevisionNo(1),
        body,
        dependencies,
        verification,
        scan,
        binding,
        fingerprint: Fingerprint(Digest::of(&id.bytes())),
        created_at: NOW,
        expires_at: NOW.plus(Duration::from_secs(3600)),
        era: Era(0),
    }
}

/// A queued task.
pub fn queued(id: TaskId) -> Task {
    Task {
        id,
        kind: TaskKind::Report,
        request: ReportRequest {
            query: "how long are backups kept".into(),
            scope: vec![GrantId::from_bytes([4; 16])],
        },
        state: TaskState::Queued,
        fence: Fence(0),
        attempts: 0,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// A task that a worker has.
pub fn running(id: TaskId) -> Task {
    let lease = Lease {
        holder: WorkerId::from_bytes([6; 16]),
        began: NOW,
        ends: NOW.plus(Duration::from_secs(30)),
        era: Era(0),
    };
    Task { state: TaskState::Running(lease), fence: Fence(1), attempts: 1, ..queued(id) }
}

/// A run.
pub fn run(id: RunId, task: TaskId, fence: Fence) -> Run {
    Run { id, task, fence, worker: WorkerId::from_bytes([6; 16]), started_at: NOW, ended: None }
}

/// What makes each table, index and trigger of a file.
pub fn tables(path: &std::path::Path) -> Vec<String> {
    let raw = rusqlite::Connection::open(path).expect("opens");
    let mut all =
        raw.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").expect("sound");
    let rows = all.query_map([], |row| row.get(0)).expect("sound");
    rows.collect::<Result<_, _>>().expect("texts")
}

/// The records without their versions.
pub fn values<T>(kept: Vec<Kept<T>>) -> Vec<T> {
    kept.into_iter().map(|kept| kept.value).collect()
}
