//! A workspace under test: does by hand what use cases do, and leaves room to do it wrongly.

use super::picture::Picture;
use super::{Make, Opening};
use crate::audit::EventKind;
use crate::digest::Digest;
use crate::folder::{Grant, GrantState, RootIdentity, Rules};
use crate::id::{
    ActId, BootId, GrantId, OwnerId, ProposalId, ResultId, RunId, SiteId, SourceId, TaskId,
    WorkerId, WorkspaceId,
};
use crate::limits::Limits;
use crate::path::{HostPath, RelPath};
use crate::port::{
    Act, Batch, Change, CommitError, Head, Kept, Note, Patience, Proposals, Put, ReadTx, Results,
    Store, Tasks, Version, fresh,
};
use crate::proposal::{Approval, Channel, Fingerprint, Proposal, ProposalKind, ProposalState};
use crate::result::{Cited, Origin, ResultKind, Revision, RevisionNo, WorkResult};
use crate::source::{Observation, Seen, SourceVersion};
use crate::task::{
    Ask, Fence, Outcome, ReportRequest, Run, RunEnd, Success, Task, TaskKind, TaskState, decide,
};
use crate::testkit::fakes::{CountingIds, FakeClock, half};
use crate::time::{Now, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// How long the suite waits for a lock that is free, and for an answer.
pub(super) const PATIENCE: Patience =
    Patience { lock: Duration::from_millis(50), whole: Duration::from_secs(30) };

/// One fresh workspace.
pub(super) struct Desk {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<FakeClock>,
    ids: CountingIds,
}

impl Desk {
    /// Opens a fresh store at noon of some day.
    pub(super) fn new(make: Make<'_>) -> Self {
        let clock = Arc::new(FakeClock::at(1_000_000));
        let store = make(Opening {
            workspace: WorkspaceId::from_bytes([0xa1; 16]),
            owner: OwnerId::from_bytes([0xa2; 16]),
            site: SiteId::from_bytes([0xa3; 16]),
            clock: Arc::clone(&clock) as _,
        });
        Self { store: Arc::from(store), clock, ids: CountingIds::new() }
    }

    /// An id of a kind.
    pub(super) fn id<T>(&self, named: fn([u8; 16]) -> T) -> T {
        fresh(&self.ids, named)
    }

    /// Asks a fresh snapshot.
    pub(super) fn ask<T>(&self, question: impl FnOnce(&mut dyn ReadTx) -> T) -> T {
        question(&mut *self.store.read(PATIENCE).expect("a snapshot"))
    }

    /// The head at the present time.
    pub(super) fn head(&self) -> Head {
        let (head, reading) = self.ask(|tx| tx.head()).expect("a head");
        head.at(reading).0
    }

    /// The present time.
    pub(super) fn now(&self) -> Now {
        self.head().anchor.now()
    }

    /// Lets seconds pass.
    pub(super) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// A sound batch of these changes and notes, with the counters that they move.
    pub(super) fn batch(&self, puts: Vec<Put>, notes: Vec<Note>) -> Batch {
        let mut head = self.head();
        head.access += u64::from(puts.iter().any(|put| matches!(put, Put::Grant(_))));
        head.looks += notes.iter().filter(|note| matches!(note, Note::Look(..))).count() as u64;
        if puts.is_empty() {
            return Batch { head, act: None, notes };
        }
        let kind = EventKind::Settled { act: ActId::from_bytes([0; 16]), done: true };
        let (head, event) = head.record(self.id(ActId::from_bytes), &kind);
        Batch { head, act: Some(Act { event, puts }), notes }
    }

    /// A batch that records an event and changes nothing.
    pub(super) fn event(&self, kind: &EventKind) -> Batch {
        let (head, event) = self.head().record(self.id(ActId::from_bytes), kind);
        Batch { head, act: Some(Act { event, puts: vec![] }), notes: vec![] }
    }

    /// Commits a batch.
    pub(super) fn send(&self, batch: &Batch) -> Result<(), CommitError> {
        self.store.write(PATIENCE).expect("the write lock").commit(batch)
    }

    /// Commits changes that are sound.
    #[track_caller]
    pub(super) fn keep(&self, puts: Vec<Put>) {
        self.send(&self.batch(puts, vec![])).expect("a sound act is written");
    }

    /// Commits notes that are sound.
    #[track_caller]
    pub(super) fn note(&self, notes: Vec<Note>) {
        self.send(&self.batch(vec![], notes)).expect("sound notes are written");
    }

    /// Commits a batch that must not be written, and sees that nothing of it was.
    #[track_caller]
    pub(super) fn refuse(&self, batch: &Batch) -> CommitError {
        let before = self.picture();
        let refusal = self.send(batch).expect_err("a batch that is not sound is refused");
        assert!(!matches!(refusal, CommitError::Unknown(_)), "a refusal leaves no doubt");
        assert_eq!(self.picture(), before, "a refused batch leaves nothing behind");
        refusal
    }

    /// Commits changes that must not be written.
    #[track_caller]
    pub(super) fn refuse_puts(&self, puts: Vec<Put>) -> CommitError {
        self.refuse(&self.batch(puts, vec![]))
    }

    /// Commits something decided on what has changed since, and is told so.
    #[track_caller]
    pub(super) fn overtaken(&self, puts: Vec<Put>, notes: Vec<Note>) {
        assert_eq!(self.refuse(&self.batch(puts, notes)), CommitError::Overtaken);
    }

    /// All that is kept.
    pub(super) fn picture(&self) -> Picture {
        self.ask(|tx| Picture::of(tx))
    }

    /// A grant that is approved now.
    pub(super) fn a_grant(&self, root: &str) -> Grant {
        let id = self.id(GrantId::from_bytes);
        let head = self.head();
        Grant {
            id,
            site: head.site,
            root: HostPath::from_bytes(root),
            label: root.trim_matches('/').to_owned(),
            identity: RootIdentity {
                inode: u64::from_be_bytes(id.bytes()[..8].try_into().expect("eight bytes")) >> 1,
                born_ns: Some(-7),
                filesystem: 9,
                device: 2,
                boot: BootId::from_bytes([4; 16]),
            },
            rules: Rules::standard(),
            state: GrantState::Active,
            approved_at: head.anchor.now().at,
            since_look: head.looks,
            swept_at: None,
        }
    }

    /// Approves a folder.
    pub(super) fn approve(&self, root: &str) -> GrantId {
        let grant = self.a_grant(root);
        self.keep(vec![Put::Grant(Change::New(grant.clone()))]);
        grant.id
    }

    /// The folder with this id.
    pub(super) fn folder(&self, id: GrantId) -> Kept<Grant> {
        let folders = self.ask(|tx| tx.folders()).expect("folders");
        folders.into_iter().find(|kept| kept.value.id == id).expect("a known folder")
    }

    /// Names a source.
    pub(super) fn source(&self, grant: GrantId, path: &str) -> SourceId {
        let id = self.id(SourceId::from_bytes);
        self.keep(vec![Put::Source { id, grant, path: path_of(path) }]);
        id
    }

    /// A look at a source that saw something, as the next one.
    pub(super) fn a_look(&self, owner: GrantId, seen: Seen) -> Observation {
        let head = self.head();
        Observation {
            no: head.looks + 1,
            seen,
            owner,
            stamp: None,
            looked_at: head.anchor.now().at,
        }
    }

    /// A task that asks for a report.
    pub(super) fn a_task(&self, scope: Vec<GrantId>, kind: TaskKind) -> Task {
        let at = self.now().at;
        Task {
            id: self.id(TaskId::from_bytes),
            kind,
            request: ReportRequest { query: "how long are backups kept".into(), scope },
            state: TaskState::Queued,
            fence: Fence(0),
            attempts: 0,
            created_at: at,
            updated_at: at,
        }
    }

    /// Asks for a report.
    pub(super) fn queue(&self, grant: GrantId) -> TaskId {
        let task = self.a_task(vec![grant], TaskKind::Report);
        self.keep(vec![Put::Task(Change::New(task.clone()))]);
        task.id
    }

    /// The task with this id.
    pub(super) fn task(&self, id: TaskId) -> Kept<Task> {
        let found = self.ask(|tx| tx.tasks(Tasks::Ids(&[id]))).expect("tasks");
        found.into_iter().next().expect("a known task").task
    }

    /// A task after what was asked of it.
    pub(super) fn moved(&self, task: &Task, ask: Ask) -> Task {
        let now = self.now();
        let transition = decide(task, ask, now, &Limits::standard()).expect("a sound transition");
        task.clone().after(transition, now)
    }

    /// The changes that begin a lease.
    pub(super) fn leasing(&self, id: TaskId) -> (Task, Vec<Put>) {
        let old = self.task(id);
        let worker = self.id(WorkerId::from_bytes);
        let task = self.moved(&old.value, Ask::Claim(worker));
        let run = Run {
            id: self.id(RunId::from_bytes),
            task: id,
            fence: task.fence,
            worker,
            started_at: self.now().at,
            ended: None,
        };
        let puts =
            vec![Put::Task(Change::From(old.version, task.clone())), Put::Run(Change::New(run))];
        (task, puts)
    }

    /// Leases a task.
    pub(super) fn claim(&self, id: TaskId) -> Task {
        let (task, puts) = self.leasing(id);
        self.keep(puts);
        task
    }

    /// The changes that end a lease.
    pub(super) fn ending(&self, id: TaskId, ask: Ask, how: RunEnd) -> Vec<Put> {
        let old = self.task(id);
        let task = self.moved(&old.value, ask);
        let at = self.now().at;
        let runs = self.ask(|tx| tx.runs(&[(id, old.value.fence)])).expect("runs");
        let open = runs.into_iter().filter(|kept| kept.value.ended.is_none());
        let ended = open.map(|kept| {
            let run = Run { ended: Some((at, how)), ..kept.value };
            Put::Run(Change::From(kept.version, run))
        });
        [Put::Task(Change::From(old.version, task))].into_iter().chain(ended).collect()
    }

    /// Four documents of one revision, told apart by a text.
    pub(super) fn documents(text: &str) -> ([Digest; 4], Vec<Put>) {
        let kinds = ["body", "dependencies", "verification", "scan"];
        let bytes = kinds.map(|kind| format!("{{\"{kind}\":\"{text}\"}}").into_bytes());
        let digests = [0, 1, 2, 3].map(|n: usize| Digest::tagged(kinds[n], &bytes[n]));
        let puts = digests.into_iter().zip(bytes);
        (digests, puts.map(|(digest, bytes)| Put::Document { digest, bytes }).collect())
    }

    /// The changes that publish a result of these sources under a lease.
    pub(super) fn publishing(&self, task: &Task, sources: &[SourceId]) -> (ResultId, Vec<Put>) {
        let id = self.id(ResultId::from_bytes);
        let at = self.now().at;
        let ([body, dependencies, verification, scan], mut puts) = Self::documents(&id.to_string());
        puts.push(Put::Result(Change::New(WorkResult {
            id,
            kind: ResultKind::ExcerptReport,
            query: task.request.query.clone(),
            scope: task.request.scope.clone(),
            accepted: RevisionNo::FIRST,
            created_at: at,
            updated_at: at,
        })));
        let origin = Origin::Published { task: task.id, fence: task.fence };
        let no = RevisionNo::FIRST;
        puts.push(Put::Revision(
            Revision {
                result: id,
                no,
                body,
                dependencies,
                verification,
                scan,
                origin,
                created_at: at,
            },
            cited(sources),
        ));
        let outcome = Outcome::Success(Success::Published(id, no));
        puts.extend(self.ending(task.id, Ask::Finish(task.fence, outcome), RunEnd::Finished));
        (id, puts)
    }

    /// Makes a report of these sources.
    pub(super) fn report(&self, grant: GrantId, sources: &[SourceId]) -> ResultId {
        let task = self.claim(self.queue(grant));
        let (result, puts) = self.publishing(&task, sources);
        self.keep(puts);
        result
    }

    /// The result with this id.
    pub(super) fn result(&self, id: ResultId) -> Kept<WorkResult> {
        let found = self.ask(|tx| tx.results(Results::Ids(&[id]))).expect("results");
        found.into_iter().next().expect("a known result")
    }

    /// A proposal with documents of its own, for one hour.
    pub(super) fn a_proposal(&self, result: ResultId, kind: ProposalKind) -> (Proposal, Vec<Put>) {
        let id = self.id(ProposalId::from_bytes);
        let now = self.now();
        let (content, mut puts) = self.proposed(result, kind, id);
        let bytes = format!("binding of {id}").into_bytes();
        let binding = Digest::tagged("binding", &bytes);
        puts.push(Put::Document { digest: binding, bytes });
        let [body, dependencies, verification, scan] = content;
        let proposal = Proposal {
            id,
            result,
            kind,
            state: ProposalState::Pending,
            base: self.result(result).value.accepted,
            body,
            dependencies,
            verification,
            scan,
            binding,
            fingerprint: Fingerprint(Digest::tagged("fingerprint", &id.bytes())),
            created_at: now.at,
            expires_at: now.at.plus(Duration::from_secs(3600)),
            era: now.era,
        };
        (proposal, puts)
    }

    /// What a proposal proposes: something new, or an earlier revision over again.
    fn proposed(
        &self,
        result: ResultId,
        kind: ProposalKind,
        id: ProposalId,
    ) -> ([Digest; 4], Vec<Put>) {
        match kind {
            ProposalKind::Repair { .. } => Self::documents(&id.to_string()),
            ProposalKind::Restore(no) => {
                let old = self.revision(result, no);
                ([old.body, old.dependencies, old.verification, old.scan], vec![])
            }
        }
    }

    /// The revision with this number.
    pub(super) fn revision(&self, result: ResultId, no: RevisionNo) -> Revision {
        let keys = [(result, no)];
        let found = self.ask(|tx| tx.revisions(crate::port::Revisions::Keys(&keys)));
        found.expect("revisions").into_iter().next().expect("a known revision")
    }

    /// Prepares a repair by a task of its own.
    pub(super) fn propose_repair(&self, result: ResultId) -> Proposal {
        let scope = self.result(result).value.scope;
        let task = self.a_task(scope, TaskKind::Repair(result));
        self.keep(vec![Put::Task(Change::New(task.clone()))]);
        let task = self.claim(task.id);
        let kind = ProposalKind::Repair { task: task.id, fence: task.fence };
        let (proposal, mut puts) = self.a_proposal(result, kind);
        puts.push(Put::Proposal(Change::New(proposal)));
        let outcome = Outcome::Success(Success::Proposed(proposal.id));
        puts.extend(self.ending(task.id, Ask::Finish(task.fence, outcome), RunEnd::Finished));
        self.keep(puts);
        proposal
    }

    /// Prepares a restore.
    pub(super) fn propose_restore(&self, result: ResultId, no: u64) -> Proposal {
        let kind = ProposalKind::Restore(RevisionNo(no));
        let (proposal, mut puts) = self.a_proposal(result, kind);
        puts.push(Put::Proposal(Change::New(proposal)));
        self.keep(puts);
        proposal
    }

    /// The proposal with this id.
    pub(super) fn proposal(&self, id: ProposalId) -> Kept<Proposal> {
        let found = self.ask(|tx| tx.proposals(Proposals::Ids(&[id]))).expect("proposals");
        found.into_iter().next().expect("a known proposal")
    }

    /// The change that ends a proposal.
    pub(super) fn closing(&self, id: ProposalId, state: ProposalState) -> Put {
        let old = self.proposal(id);
        Put::Proposal(Change::From(old.version, Proposal { state, ..old.value }))
    }

    /// The changes that apply a proposal, quoting these sources.
    pub(super) fn applying(&self, id: ProposalId, sources: &[SourceId]) -> Vec<Put> {
        let proposal = self.proposal(id).value;
        let result = self.result(proposal.result);
        let at = self.now().at;
        let no = RevisionNo(result.value.accepted.0 + 1);
        let origin = match proposal.kind {
            ProposalKind::Repair { task, fence } => Origin::Repaired { task, fence, proposal: id },
            ProposalKind::Restore(from) => Origin::Restored { proposal: id, from },
        };
        let Proposal { body, dependencies, verification, scan, fingerprint, .. } = proposal;
        let result_id = proposal.result;
        let revision = Revision {
            result: result_id,
            no,
            body,
            dependencies,
            verification,
            scan,
            origin,
            created_at: at,
        };
        let next = WorkResult { accepted: no, updated_at: at, ..result.value };
        vec![
            Put::Revision(revision, cited(sources)),
            Put::Result(Change::From(result.version, next)),
            self.closing(id, ProposalState::Applied(at)),
            Put::Approval(Approval { fingerprint, proposal: id, channel: Channel::Cli, at }),
        ]
    }

    /// Repairs a result so that it quotes these sources.
    pub(super) fn repair(&self, result: ResultId, sources: &[SourceId]) -> RevisionNo {
        let proposal = self.propose_repair(result);
        self.keep(self.applying(proposal.id, sources));
        self.result(result).value.accepted
    }
}

/// Quotations of these sources, numbered from 1, each of a version of its own.
pub(super) fn cited(sources: &[SourceId]) -> Vec<Cited> {
    let numbered = sources.iter().zip(1..);
    numbered.map(|(&source, n)| Cited { n, source, version: version(&source.bytes()) }).collect()
}

/// A version of a file of these bytes.
pub(super) fn version(bytes: &[u8]) -> SourceVersion {
    SourceVersion { digest: Digest::of(bytes), size: bytes.len() as u64, cut: false }
}

/// A path that is one.
pub(super) fn path_of(path: &str) -> RelPath {
    RelPath::new(path).expect("a path under a root")
}

/// An id that nothing has.
pub(super) fn nobody() -> [u8; 16] {
    half(&Digest::of(b"nobody"))
}

/// A moment some seconds after another.
pub(super) fn later(at: Timestamp, seconds: u64) -> Timestamp {
    at.plus(Duration::from_secs(seconds))
}

/// The version that comes after another.
pub(super) const fn next(version: Version) -> Version {
    Version(version.0 + 1)
}
