//! What the rules ask of the world: synchronous, object-safe, in domain words. Nothing here decides anything.
//!
//! A store answers questions ([`ReadTx`]) and takes one kind of write ([`Batch`]). A door ([`SourceDoor`]) is the one
//! way to bytes under a grant. The rest are small: clocks, ids, a pause, a watch.
//!
//! Every answer is bounded by its pick. What a key does not find is left out and is no error. Keys answer in the order
//! asked, a key that is asked twice twice, everything else in the order its pick names. A list that goes on from
//! (`before`, `after`) a task or proposal that is not there is empty. No transaction is open while a door is called.

use crate::audit::{AuditEvent, EventKind};
use crate::digest::Digest;
use crate::folder::{Grant, RootIdentity};
use crate::id::{
    ActId, GrantId, IdKind, IdPrefix, OwnerId, ProposalId, ResultId, SiteId, SourceId, TaskId,
    WorkerId, WorkspaceId,
};
use crate::limits::ScanLimits;
use crate::path::{HostPath, RelPath};
use crate::proposal::{Approval, Proposal};
use crate::quote::Finding;
use crate::redact::Sealed;
use crate::report::{FolderScan, Reached, ScanLimit};
use crate::result::{Cited, Revision, RevisionNo, WorkResult};
use crate::source::{Look, Observation, Source, SourceVersion, Stamp};
use crate::task::{Fence, Progress, Run, Task};
use crate::time::{Anchor, Now, Reading, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for the write lock, and how long the transaction may last in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the lock.
    pub lock: Duration,
    /// In all.
    pub whole: Duration,
}

/// The records of one workspace. Workspace, owner and site are fixed when it is opened, never by a call.
pub trait Store: Send + Sync {
    /// Opens one snapshot: all its answers are of one moment, whatever commits meanwhile.
    ///
    /// # Errors
    /// [`StoreError`] when no snapshot can be had in time or at all.
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError>;

    /// Takes the workspace's one write lock now, or is [`StoreError::Busy`] after `patience.lock`. Dropping it changes
    /// nothing.
    ///
    /// # Errors
    /// [`StoreError`] when the lock cannot be had in time or at all.
    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError>;
}

/// Questions to one snapshot. Each pick is one statement, served by an index, and knows no rule.
///
/// # Errors
/// Each question fails as a [`StoreError`]; a question that names more keys, or asks for more rows, than one
/// [`page`](crate::limits::Limits::page) and one more is [`StoreError::Internal`], which is a fault of the caller.
#[expect(clippy::missing_errors_doc, reason = "said once, for all questions")]
pub trait ReadTx {
    /// The remembered time, the audit tail and the counters, with the clock that counts for this store read now.
    fn head(&mut self) -> Result<(Head, Reading), StoreError>;

    /// All grants, revoked ones too, in the order in which they were first approved. A record that cannot be read is
    /// [`StoreError::Damaged`]: it may be a hole in another folder, and a hole that is not known is open.
    fn folders(&mut self) -> Result<Vec<Kept<Grant>>, StoreError>;

    /// Sources with their latest observation, if they were ever looked at.
    fn sources(&mut self, pick: Sources<'_>) -> Result<Vec<Observed>, StoreError>;

    /// Results without their bodies.
    fn results(&mut self, pick: Results<'_>) -> Result<Vec<Kept<WorkResult>>, StoreError>;

    /// Quotations of accepted revisions, each with its source, observation and finding; by result as picked, then by
    /// number.
    fn quotations(&mut self, pick: Quotations<'_>) -> Result<Vec<Quoted>, StoreError>;

    /// Revisions as digests of their documents.
    fn revisions(&mut self, pick: Revisions<'_>) -> Result<Vec<Revision>, StoreError>;

    /// Stored bytes as stored. Longer than `each` bytes comes back as [`Document::TooLong`] without being loaded.
    fn documents(
        &mut self,
        digests: &[Digest],
        each: usize,
    ) -> Result<Vec<(Digest, Sealed<Document>)>, StoreError>;

    /// Tasks, each with the progress of its present lease.
    fn tasks(&mut self, pick: Tasks<'_>) -> Result<Vec<Asked>, StoreError>;

    /// Leased attempts.
    fn runs(&mut self, keys: &[(TaskId, Fence)]) -> Result<Vec<Kept<Run>>, StoreError>;

    /// What a client key asked for. Whether it still counts is the rules' question.
    fn request(&mut self, key: &RequestKey) -> Result<Option<Request>, StoreError>;

    /// Proposals as digests of their documents.
    fn proposals(&mut self, pick: Proposals<'_>) -> Result<Vec<Kept<Proposal>>, StoreError>;

    /// Audit events, oldest first but for [`Events::LatestOf`], newest first.
    fn events(&mut self, pick: Events) -> Result<Vec<AuditEvent>, StoreError>;

    /// Ids of one kind that begin with `prefix`, in order, at most `most`.
    fn ids(
        &mut self,
        of: IdKind,
        prefix: &IdPrefix,
        most: u32,
    ) -> Result<Vec<[u8; 16]>, StoreError>;
}

/// The write lock. It lends its questions instead of inheriting them, so that a wrapper is two methods.
pub trait WriteTx {
    /// The snapshot under the lock. Nobody else writes while it lives.
    fn reads(&mut self) -> &mut dyn ReadTx;

    /// Writes all of `batch`, durably, or nothing; ends the transaction either way.
    ///
    /// The store checks by itself that each change finds the version it was decided on, that numbers have no gap, that
    /// the event follows the last one, that time goes back only where an era begins, that counters never do, and that
    /// what is final stays. The
    /// changes are made in the order in which they stand, notes last. A record stands after those it names, but for a
    /// circle: a result before its revision, and a proposal that is superseded before the one that takes its place.
    ///
    /// # Errors
    /// [`CommitError::NotDone`] and [`CommitError::Overtaken`] changed nothing. After [`CommitError::Unknown`] only a
    /// later committed write can tell: `Workspace` settles it.
    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError>;
}

/// Why a store does not answer. Holds no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else holds the write lock. Trying again can help.
    #[error("the database is busy")]
    Busy,
    /// The transaction lasted as long as it may. Trying again can help.
    #[error("the database did not answer in time")]
    TooSlow,
    /// There is no room for the write.
    #[error("the disk is full")]
    DiskFull,
    /// The database may not be written.
    #[error("the database cannot be written")]
    ReadOnly,
    /// It lies on a network file system, where locks are not what they seem.
    #[error("the database lies on a network file system")]
    NetworkFilesystem,
    /// It is not as it was written.
    #[error("the database is damaged")]
    Damaged,
    /// A newer version of this program wrote it.
    #[error("the database has a newer schema than this program knows")]
    Newer,
    /// It belongs to something else.
    #[error("the file is no database of this program")]
    Foreign,
    /// The file system refused; the text names the operation, never a path.
    #[error("the database could not be read or written: {0}")]
    Io(&'static str),
    /// A fault of this program.
    #[error("a fault in this program: {0}")]
    Internal(&'static str),
}

/// What became of a batch that was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Nothing was written.
    #[error("nothing was written")]
    NotDone(#[source] StoreError),
    /// Nothing was written: a row had changed since it was read, or a rule of the store was broken.
    #[error("nothing was written: a record had changed meanwhile")]
    Overtaken,
    /// It may have been written. Nothing is retried before it is settled.
    #[error("it is not known whether it was written")]
    Unknown(#[source] StoreError),
}

/// A row's own count of changes, 1 when it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// A record with the version that a change of it must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    /// The version.
    pub version: Version,
    /// The record.
    pub value: T,
}

/// A workspace's one row: read first and written by every batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Which workspace.
    pub workspace: WorkspaceId,
    /// Whose.
    pub owner: OwnerId,
    /// The site of this instance.
    pub site: SiteId,
    /// The latest time acted on.
    pub anchor: Anchor,
    /// Events in the log.
    pub acts: u64,
    /// The digest of the last of them.
    pub chain: Digest,
    /// Grows with each approval, revocation and change of rules, and with a look that hides or shows something.
    pub access: u64,
    /// Grows with every approval and with every saved observation that differs from the one before.
    pub looks: u64,
    /// The one worker that looks at the interval, and until when.
    pub refresher: Option<(WorkerId, Timestamp)>,
}

impl Head {
    /// The head of a workspace in which nothing has happened.
    #[must_use]
    pub const fn new(
        workspace: WorkspaceId,
        owner: OwnerId,
        site: SiteId,
        reading: Reading,
    ) -> Self {
        Self {
            workspace,
            owner,
            site,
            anchor: Anchor::new(reading),
            acts: 0,
            chain: AuditEvent::GENESIS,
            access: 0,
            looks: 0,
            refresher: None,
        }
    }

    /// This head with its time advanced by `reading`, and that time.
    #[must_use]
    pub fn at(self, reading: Reading) -> (Self, Now) {
        let anchor = self.anchor.advance(reading);
        (Self { anchor, ..self }, anchor.now())
    }

    /// The event that records `kind` as the next act, and the head after it.
    #[must_use]
    pub fn record(self, act: ActId, kind: &EventKind) -> (Self, AuditEvent) {
        let event = AuditEvent::following(self.acts, self.chain, act, self.anchor.now().at, kind);
        (Self { acts: event.seq, chain: event.digest, ..self }, event)
    }
}

/// A source with its latest observation.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The source.
    pub source: Source,
    /// The observation, if it was ever looked at.
    pub observation: Option<Kept<Observation>>,
}

/// A quotation of an accepted revision, joined to what is known of its source.
#[derive(Clone, Debug)]
pub struct Quoted {
    /// Whose.
    pub result: ResultId,
    /// Its number and what it cites.
    pub cited: Cited,
    /// The source and its observation.
    pub observed: Observed,
    /// The latest finding, with the digest of the bytes it was found against; void for any other bytes.
    pub finding: Option<(Digest, Sealed<Finding>)>,
}

/// A task with the progress of its present lease.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The task.
    pub task: Kept<Task>,
    /// How far it has come; erased when the lease or the task ends.
    pub progress: Option<Sealed<Progress>>,
}

/// Bytes written once: a body, dependencies, a verification, a scan record, a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The bytes as stored.
    Bytes(Vec<u8>),
    /// More than was asked for.
    TooLong,
    /// Nothing is kept under the digest any more but the digest.
    Absent,
}

/// A client key, as its digest. The key's text is never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub Digest);

/// What a client key asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The key.
    pub key: RequestKey,
    /// The digest of what was asked, in canonical bytes.
    pub asks: Digest,
    /// The task that came of it.
    pub task: TaskId,
    /// When.
    pub created_at: Timestamp,
}

/// Which sources.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// These.
    Ids(&'a [SourceId]),
    /// Those at these places.
    At(&'a [(GrantId, RelPath)]),
    /// Those under one grant, by path, after `after`.
    Under {
        /// The grant through which they were cited.
        grant: GrantId,
        /// The path of the last one had.
        after: Option<&'a RelPath>,
        /// How many.
        most: u32,
    },
    /// Those that accepted revisions quote, by id, after `after`.
    CitedNow {
        /// The last one had.
        after: Option<SourceId>,
        /// How many.
        most: u32,
    },
}

/// Which results.
#[derive(Clone, Copy, Debug)]
pub enum Results<'a> {
    /// These.
    Ids(&'a [ResultId]),
    /// The latest changed first; among equals the highest id first.
    Latest {
        /// Those after this one in that order.
        before: Option<(Timestamp, ResultId)>,
        /// How many.
        most: u32,
    },
    /// Those whose accepted revision quotes a source, by id.
    CitingNow {
        /// The source.
        source: SourceId,
        /// How many.
        most: u32,
    },
    /// Those of which some revision ever quoted a source, by id.
    CitingEver {
        /// The source.
        source: SourceId,
        /// How many.
        most: u32,
    },
}

/// Which quotations.
#[derive(Clone, Copy, Debug)]
pub enum Quotations<'a> {
    /// Those of these results.
    Of(&'a [ResultId]),
    /// All, by result id, after `after`; `most` counts quotations, and the last result may come short: ask again from
    /// the result before it.
    All {
        /// The last result had in full.
        after: Option<ResultId>,
        /// How many.
        most: u32,
    },
}

/// Which revisions.
#[derive(Clone, Copy, Debug)]
pub enum Revisions<'a> {
    /// These.
    Keys(&'a [(ResultId, RevisionNo)]),
    /// The latest of each of these results, the highest number first.
    LatestOf {
        /// The results.
        results: &'a [ResultId],
        /// Those below this number.
        before: Option<RevisionNo>,
        /// How many of each.
        each: u32,
    },
}

/// Which tasks.
#[derive(Clone, Copy, Debug)]
pub enum Tasks<'a> {
    /// These.
    Ids(&'a [TaskId]),
    /// The latest asked first.
    Latest {
        /// Those asked before this one.
        before: Option<TaskId>,
        /// How many.
        most: u32,
    },
    /// Those queued or running, the oldest first.
    Open {
        /// How many.
        most: u32,
    },
}

/// Which proposals.
#[derive(Clone, Copy, Debug)]
pub enum Proposals<'a> {
    /// These.
    Ids(&'a [ProposalId]),
    /// The latest made first.
    Latest {
        /// Those made before this one.
        before: Option<ProposalId>,
        /// How many.
        most: u32,
    },
    /// The latest of each of these results, the latest first.
    LatestOf {
        /// The results.
        results: &'a [ResultId],
        /// How many of each.
        each: u32,
    },
    /// Those of a result in state pending, the repair first.
    PendingOf(ResultId),
    /// Restores in state pending of one era that end after a moment, the first to end first.
    PendingRestores {
        /// The era.
        era: crate::time::Era,
        /// The moment, excluded.
        ending_after: Timestamp,
        /// How many.
        most: u32,
    },
}

/// Which events.
#[derive(Clone, Copy, Debug)]
pub enum Events {
    /// The one of an act.
    Act(ActId),
    /// Those after a number, in order.
    After {
        /// The number.
        seq: u64,
        /// How many.
        most: u32,
    },
    /// The latest about a subject, newest first.
    LatestOf {
        /// The subject.
        subject: [u8; 16],
        /// How many.
        most: u32,
    },
}

/// A record that is new or takes another's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// Nothing was there. The row gets version 1.
    New(T),
    /// In place of the row with this version, or the batch is [`CommitError::Overtaken`]. The version grows by one.
    From(Version, T),
}

impl<T> Change<T> {
    /// The record as it will be.
    pub const fn value(&self) -> &T {
        match self {
            Self::New(value) | Self::From(_, value) => value,
        }
    }
}

/// One change of an act.
#[derive(Clone, Debug)]
pub enum Put {
    /// A grant.
    Grant(Change<Grant>),
    /// A source that no record cited before.
    Source {
        /// Its id.
        id: SourceId,
        /// Its grant.
        grant: GrantId,
        /// Its path.
        path: RelPath,
    },
    /// A document under its digest; the same one again changes nothing.
    Document {
        /// The digest.
        digest: Digest,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A result.
    Result(Change<WorkResult>),
    /// The next revision of a result, with what it cites. Its quotations take the place of those of the revision
    /// before once the result names it as accepted, which the same batch does.
    Revision(Revision, Vec<Cited>),
    /// A task. Its progress is erased.
    Task(Change<Task>),
    /// A run.
    Run(Change<Run>),
    /// What a client key asked for; takes the place of an older request under the same key.
    Request(Request),
    /// Forgets requests made before a moment, the oldest first.
    ForgetRequests {
        /// The moment, excluded.
        before: Timestamp,
        /// How many at most.
        most: u32,
    },
    /// A proposal.
    Proposal(Change<Proposal>),
    /// The single use of a fingerprint.
    Approval(Approval),
}

/// What is written without an event, because it decides nothing.
#[derive(Clone, Debug)]
pub enum Note {
    /// The latest look at a source.
    Look(SourceId, Change<Observation>),
    /// What became of an accepted quotation in the bytes with this digest. The batch is [`CommitError::Overtaken`] if
    /// another revision is accepted by now: the same number is another quotation in it.
    Finding {
        /// The result.
        result: ResultId,
        /// The accepted revision whose quotation was looked for.
        revision: RevisionNo,
        /// The quotation's number.
        n: u32,
        /// The digest of the bytes.
        against: Digest,
        /// What became of it.
        finding: Finding,
    },
    /// A look covered every source of a grant and found nothing new. The grant's version stays.
    Swept(GrantId, Timestamp),
    /// In place of the task with this version, the task with its lease renewed, and how far it has come. The version
    /// grows by one.
    Renewal(Version, Task, Progress),
}

/// What happened, and the changes that it made. A change has no place to stand without its event.
#[derive(Clone, Debug)]
pub struct Act {
    /// The event, which follows the last one of the head that the batch was decided on.
    pub event: AuditEvent,
    /// The changes, in the order in which they are made.
    pub puts: Vec<Put>,
}

/// One write: all of it or nothing.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The head as it will be.
    pub head: Head,
    /// What happened, if anything did.
    pub act: Option<Act>,
    /// What was noted.
    pub notes: Vec<Note>,
}

/// The one way to bytes under a grant. The implementation owns its threads and its clock.
///
/// Grants are given all, revoked ones too, because who owns a file is decided at each look: going down by handles,
/// wherever a component is the root of another grant (by identity), that grant's state and rules decide from there on.
/// Links are not followed, other mounts not entered, only regular files opened, the instance's own files never.
pub trait SourceDoor: Send + Sync {
    /// Opens a directory that a person named and tells what it really is.
    ///
    /// # Errors
    /// [`AdmitRefusal`] says why it cannot be approved.
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal>;

    /// Whether each root is still the directory that was approved; one answer for each grant. Opens no file.
    fn roots(&self, grants: &[Grant]) -> Vec<Reached>;

    /// Visits what each grant of `ground.scope` owns: one file from each in turn; within one, directory by directory,
    /// entries in the order of the bytes of their names. What another grant owns is left out.
    ///
    /// Calls `probe.file` once for each candidate that was read, from several threads, in any order.
    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned;

    /// Looks at named files, reading each whole up to `ground.limits.file_bytes`, within `ground.limits.time`.
    ///
    /// A want with [`Known`] is gone down to and opened like any other, by the same rules, so that what may not be read
    /// is `Denied`. If its bytes are then [known](Known::stands) they are not read, and `probe.file` does not get them.
    ///
    /// A stamp is told only with bytes, and only if a later look may trust it: if the file had last changed at least
    /// two ticks of the clock that stamps it before the read began, so that no later change can bear the same time. A
    /// younger file is read again by the next look.
    ///
    /// One answer for each want, in their order. A failed look is never [`Seen::Missing`](crate::source::Seen): that is said
    /// only after the directory that should hold the file was opened and has none. `probe.file` gets the bytes of
    /// which the answer tells the version, once for each file that `probe.wants`; what it does not want is answered
    /// without bytes, as [`Look::NotReached`].
    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look>;
}

/// What a door works on.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// All grants, revoked ones too.
    pub grants: &'a [Grant],
    /// Those that a scan visits, in the order in which they take turns. A look does not use it.
    pub scope: &'a [GrantId],
    /// The ceilings.
    pub limits: ScanLimits,
}

/// A directory that may be approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its path, absolute and without links, as the platform tells it.
    pub path: HostPath,
    /// What it is.
    pub identity: RootIdentity,
}

/// Why a directory cannot be approved (spec I2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmitRefusal {
    /// There is nothing at the path.
    #[error("it does not exist")]
    Absent,
    /// It is a file or something else.
    #[error("it is not a directory")]
    NotADirectory,
    /// This user may not list it.
    #[error("it cannot be read by this user")]
    NotReadable,
    /// It is the root of the file system.
    #[error("it is the root of the file system")]
    FilesystemRoot,
    /// It holds this instance's own files.
    #[error("it is the directory of this instance")]
    Instance,
    /// It lies inside the instance's directory.
    #[error("it lies inside the directory of this instance")]
    InsideInstance,
    /// It lies around the instance's directory.
    #[error("it lies around the directory of this instance")]
    AroundInstance,
    /// The file system failed or hangs.
    #[error("the file system does not answer for it")]
    Unreachable,
}

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Want {
    /// The grant through which it was cited.
    pub grant: GrantId,
    /// Its path under that grant's root.
    pub path: RelPath,
    /// What an earlier look saw of it, if that may be trusted while the file's stamp stays; nothing, and it is read.
    pub known: Option<Known>,
}

/// What an earlier look saw of a file, to be trusted while the file's stamp stays.
///
/// Any write, truncation, replacement or change of permission by way of the file system moves the change time, which
/// no program can set back. What is not noticed: bytes written through a shared memory mapping before the system
/// stamps them; bytes changed beneath the file system, as on a raw device; a change that is stamped as the one before
/// because the host's clock was set back, or because the file system's clock ticks more slowly than the door allows
/// for. An operation whose answer must not rest on that asks without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Known {
    /// The stamp that the look told.
    pub stamp: Stamp,
    /// The version that it told, read under the same ceiling for a file's bytes.
    pub version: SourceVersion,
    /// The grant that decided.
    pub owner: GrantId,
}

impl Known {
    /// Whether this is known of the file that has this stamp, lies under this grant, and is read up to `file_bytes`.
    #[must_use]
    pub fn stands(&self, stamp: Stamp, owner: GrantId, file_bytes: usize) -> bool {
        let is_cut = stamp.size > file_bytes as u64;
        self.stamp == stamp && self.owner == owner && self.version.cut == is_cut
    }
}

/// What a scan visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// One for each grant of the scope, in its order.
    pub folders: Vec<FolderScan>,
    /// What ended it early: the first limit that did. Depth is told if nothing else is.
    pub limit: Option<ScanLimit>,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether the watch said stop.
    pub stopped: bool,
}

/// Where a file stands in a scan or among wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its turn in the order of the visit, over all folders; for a look, the number of the want from 0.
    pub turn: u64,
    /// The grant that is visited, or through which it was cited.
    pub grant: GrantId,
    /// Its path under that grant's root.
    pub path: RelPath,
}

/// What the rules do with a file; runs on the door's threads, in any order, and keeps its own findings by place.
///
/// Shared and owned, so that a thread stuck in a dead mount can be left behind when the time is up.
pub trait Probe: Send + Sync {
    /// Whether to open it at all, given its full size in bytes.
    fn wants(&self, place: &Place, size: u64) -> bool;

    /// The bytes of one moment of one file, at most the limit of them, and the file's full size.
    fn file(&self, place: Place, bytes: &[u8], full_size: u64);
}

/// Progress out, permission to go on in.
///
/// The door calls it from the caller's thread at least four times a second, also while a read hangs. Leases are
/// renewed and cancellations noticed here. After [`Go::Stop`] the door returns at once.
pub trait Watch {
    /// One beat.
    fn beat(&mut self, progress: &Progress) -> Go;
}

/// The watch of somebody who neither looks nor stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Watch for Quiet {
    fn beat(&mut self, _: &Progress) -> Go {
        Go::On
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// Go on.
    On,
    /// Return as soon as possible.
    Stop,
}

/// The clocks of this host, given to a store when it is opened; a shared server answers with its own instead.
pub trait Clock: Send + Sync {
    /// Wall clock, boot, and time since boot with sleep included.
    fn reading(&self) -> Reading;
}

/// Names for new things: 128 random bits, never a time, so that short prefixes tell them apart.
pub trait Ids: Send + Sync {
    /// Never the same twice.
    fn fresh(&self) -> [u8; 16];
}

/// How a worker waits between tasks: a condition variable in a program, a step of the clock in a simulation.
pub trait Pause {
    /// Returns after `most`, when there may be work, or when the worker is to end.
    fn pause(&self, most: Duration) -> Go;
}

/// Waits for nothing: whoever would have to wait ends instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPause;

impl Pause for NoPause {
    fn pause(&self, _: Duration) -> Go {
        Go::Stop
    }
}

/// A version that a file of these bytes has.
#[must_use]
pub fn version_of(bytes: &[u8], full_size: u64) -> SourceVersion {
    SourceVersion {
        digest: Digest::of(bytes),
        size: full_size,
        cut: full_size > bytes.len() as u64,
    }
}

/// A name for a new thing.
pub(crate) fn fresh<T>(ids: &dyn Ids, named: fn([u8; 16]) -> T) -> T {
    named(ids.fresh())
}
