//! Records as rows, and rows as records.
//!
//! Owns every number that stands for a variant. Columns are read in the order in which their statement names them. A
//! row that is not as it was written is [`StoreError::Damaged`], with two exceptions that fail closed: a source whose
//! place cannot be read belongs to no grant, so nobody gets to see or read it, and an observation that cannot be read
//! was never made. A grant is no exception: a revoked one makes a hole in the folder around it, and a hole that is not
//! known is open.

use rusqlite::Row;
use rusqlite::types::FromSql;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::folder::{Grant, GrantState, Hidden, IgnoreFiles, Rules};
use work_core::id::{
    ActId, BootId, GrantId, OwnerId, ProposalId, ResultId, RunId, SiteId, SourceId, TaskId,
    WorkerId, WorkspaceId,
};
use work_core::path::{HostPath, RelPath};
use work_core::port::{
    Asked, Document, Head, Kept, Observed, Quoted, Request, RequestKey, StoreError, Version,
};
use work_core::proposal::{Channel, Fingerprint, Proposal, ProposalKind, ProposalState};
use work_core::quote::Finding;
use work_core::redact::Sealed;
use work_core::result::{Cited, Origin, ResultKind, Revision, RevisionNo, WorkResult};
use work_core::source::{Observation, Seen, Source, SourceVersion, Stamp};
use work_core::task::{
    Failure, FailureReason, Fence, Lease, Progress, ReportRequest, Run, RunEnd, Success, Task,
    TaskKind, TaskState,
};
use work_core::time::{Anchor, Era, Timestamp};

/// A row on its way to a record.
type Read<T> = Result<T, StoreError>;

/// The columns of one row, taken from the left.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl<'r> Columns<'r> {
    /// The columns of `row`.
    pub(super) const fn of(row: &'r Row<'r>) -> Self {
        Self { row, next: 0 }
    }

    /// The next column.
    pub(super) fn take<T: FromSql>(&mut self) -> Read<T> {
        self.next += 1;
        self.row.get(self.next - 1).map_err(|_| StoreError::Damaged)
    }

    /// The next column as a count.
    pub(super) fn count(&mut self) -> Read<u64> {
        counted(self.take()?)
    }

    /// The next column as a count, if it has one.
    fn maybe_count(&mut self) -> Read<Option<u64>> {
        self.take::<Option<i64>>()?.map(counted).transpose()
    }

    /// The next column as a count that fits half as many bits.
    fn small(&mut self) -> Read<u32> {
        u32::try_from(self.take::<i64>()?).map_err(|_| StoreError::Damaged)
    }

    /// The next column as an id.
    pub(super) fn id<T>(&mut self, named: fn([u8; 16]) -> T) -> Read<T> {
        self.take().map(named)
    }

    /// The next column as an id, if it has one.
    fn maybe_id<T>(&mut self, named: fn([u8; 16]) -> T) -> Read<Option<T>> {
        Ok(self.take::<Option<_>>()?.map(named))
    }

    /// The next column as a digest.
    pub(super) fn digest(&mut self) -> Read<Digest> {
        self.take().map(Digest::from_bytes)
    }

    /// The next column as a digest, if it has one.
    fn maybe_digest(&mut self) -> Read<Option<Digest>> {
        Ok(self.take::<Option<_>>()?.map(Digest::from_bytes))
    }

    /// The next column as a moment.
    pub(super) fn at(&mut self) -> Read<Timestamp> {
        self.take().map(Timestamp::from_seconds)
    }

    /// The next column as a moment, if it has one.
    fn maybe_at(&mut self) -> Read<Option<Timestamp>> {
        Ok(self.take::<Option<_>>()?.map(Timestamp::from_seconds))
    }

    /// The next column as text.
    fn text(&mut self) -> Read<String> {
        String::from_utf8(self.take()?).map_err(|_| StoreError::Damaged)
    }

    /// The next column as the number of a revision.
    pub(super) fn revision(&mut self) -> Read<RevisionNo> {
        self.count().map(RevisionNo)
    }

    /// The next column as the version of the row.
    fn version(&mut self) -> Read<Version> {
        self.count().map(Version)
    }

    /// The next column as ids of grants.
    fn scope(&mut self) -> Read<Vec<GrantId>> {
        let bytes: Vec<u8> = self.take()?;
        let (ids, rest) = bytes.as_chunks::<16>();
        if rest.is_empty() {
            Ok(ids.iter().copied().map(GrantId::from_bytes).collect())
        } else {
            Err(StoreError::Damaged)
        }
    }

    /// The next three columns as a version of a file, if there is one.
    pub(super) fn maybe_source_version(&mut self) -> Read<Option<SourceVersion>> {
        let (digest, size, cut) = (self.maybe_digest()?, self.maybe_count()?, self.take()?);
        Ok(digest.zip(size).zip(cut).map(|((digest, size), cut)| SourceVersion {
            digest,
            size,
            cut,
        }))
    }
}

/// A number that SQLite keeps with a sign.
pub(super) fn kept(count: u64) -> Read<i64> {
    i64::try_from(count).map_err(|_| StoreError::Internal("a number too large to store"))
}

/// A number that records are compared with: what is beyond all that is kept is as the largest, which no record has.
pub(super) fn compared(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A number that was kept with a sign.
fn counted(kept: i64) -> Read<u64> {
    u64::try_from(kept).map_err(|_| StoreError::Damaged)
}

/// Ids, one after the other.
pub(super) fn joined<const N: usize>(ids: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    ids.into_iter().flatten().collect()
}

/// The head.
pub(super) fn head(row: &Row<'_>) -> Read<Head> {
    let mut c = Columns::of(row);
    Ok(Head {
        workspace: c.id(WorkspaceId::from_bytes)?,
        owner: c.id(OwnerId::from_bytes)?,
        site: c.id(SiteId::from_bytes)?,
        anchor: Anchor {
            latest_ms: c.take()?,
            boot: c.id(BootId::from_bytes)?,
            since_boot_ms: c.take()?,
            era: Era(c.count()?),
        },
        acts: c.count()?,
        chain: c.digest()?,
        access: c.count()?,
        looks: c.count()?,
        refresher: c.maybe_id(WorkerId::from_bytes)?.zip(c.maybe_at()?),
    })
}

/// Rules as they are kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptRules {
    extensions: Vec<String>,
    exclude: Vec<String>,
    hidden: Hidden,
    ignore_files: IgnoreFiles,
}

/// Rules as bytes.
pub(super) fn rules_bytes(rules: &Rules) -> Vec<u8> {
    json(&KeptRules {
        extensions: rules.extensions().to_vec(),
        exclude: rules.exclude().to_vec(),
        hidden: rules.hidden,
        ignore_files: rules.ignore_files,
    })
}

/// A record of texts and numbers as JSON.
pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts and numbers are always JSON")
}

/// Bytes as rules. Most grants have the standard ones, which are known by their bytes.
fn rules(bytes: &[u8]) -> Option<Rules> {
    static STANDARD: LazyLock<(Vec<u8>, Rules)> =
        LazyLock::new(|| (rules_bytes(&Rules::standard()), Rules::standard()));
    if bytes == STANDARD.0 {
        return Some(STANDARD.1.clone());
    }
    let kept: KeptRules = serde_json::from_slice(bytes).ok()?;
    Rules::new(kept.extensions, kept.exclude, kept.hidden, kept.ignore_files).ok()
}

/// A grant.
pub(super) fn grant(row: &Row<'_>) -> Read<Kept<Grant>> {
    let mut c = Columns::of(row);
    let value = Grant {
        id: c.id(GrantId::from_bytes)?,
        site: c.id(SiteId::from_bytes)?,
        root: HostPath::from_bytes(c.take::<Vec<u8>>()?),
        label: c.text()?,
        identity: serde_json::from_slice(&c.take::<Vec<u8>>()?).map_err(|_| StoreError::Damaged)?,
        rules: rules(&c.take::<Vec<u8>>()?).ok_or(StoreError::Damaged)?,
        state: if c.take()? { GrantState::Active } else { GrantState::Revoked },
        approved_at: c.at()?,
        since_look: c.count()?,
        swept_at: c.maybe_at()?,
    };
    Ok(Kept { version: c.version()?, value })
}

/// Whether a grant is in force, as it is kept.
pub(super) const fn active(state: GrantState) -> bool {
    match state {
        GrantState::Active => true,
        GrantState::Revoked => false,
    }
}

/// A source with its observation.
pub(super) fn observed(c: &mut Columns<'_>) -> Read<Observed> {
    let id = c.id(SourceId::from_bytes)?;
    let (grant, path) = (c.id(GrantId::from_bytes)?, RelPath::new(c.take::<Vec<u8>>()?));
    let source = match path {
        Ok(path) => Source { id, grant, path: Sealed::new(path) },
        Err(_) => nowhere(id),
    };
    Ok(Observed { source, observation: observation(c).unwrap_or_default() })
}

/// A source whose place cannot be read: under a grant that nobody has (spec W5).
fn nowhere(id: SourceId) -> Source {
    let path = RelPath::new("unknown").expect("one plain name");
    Source { id, grant: GrantId::from_bytes([0; 16]), path: Sealed::new(path) }
}

/// An observation, if there is one.
fn observation(c: &mut Columns<'_>) -> Read<Option<Kept<Observation>>> {
    let Some(no) = c.maybe_count()? else { return Ok(None) };
    let seen: i64 = c.take()?;
    let owner = c.id(GrantId::from_bytes)?;
    let version = c.maybe_source_version()?;
    let stamp = c.take::<Option<[u8; 40]>>()?.map(stamp);
    let seen = match (seen, version) {
        (0, Some(version)) => Seen::Bytes(version),
        (1, None) => Seen::Missing,
        (2, None) => Seen::Unstable,
        (3, None) => Seen::Unreachable,
        (4, None) => Seen::Denied,
        _ => return Err(StoreError::Damaged),
    };
    let value = Observation { no, seen, owner, stamp, looked_at: c.at()? };
    Ok(Some(Kept { version: c.version()?, value }))
}

/// What was seen, as it is kept: its number, and the version of the bytes if there were any.
pub(super) const fn seen_columns(seen: Seen) -> (i64, Option<SourceVersion>) {
    match seen {
        Seen::Bytes(version) => (0, Some(version)),
        Seen::Missing => (1, None),
        Seen::Unstable => (2, None),
        Seen::Unreachable => (3, None),
        Seen::Denied => (4, None),
    }
}

/// A stamp as bytes: numbers of a file system use all 64 bits, which an integer column has not.
pub(super) fn stamp_bytes(stamp: Stamp) -> Vec<u8> {
    let Stamp { device, inode, size, modified_ns, changed_ns } = stamp;
    joined([
        device.to_be_bytes(),
        inode.to_be_bytes(),
        size.to_be_bytes(),
        modified_ns.to_be_bytes(),
        changed_ns.to_be_bytes(),
    ])
}

/// Bytes as a stamp.
fn stamp(bytes: [u8; 40]) -> Stamp {
    let (words, _) = bytes.as_chunks::<8>();
    Stamp {
        device: u64::from_be_bytes(words[0]),
        inode: u64::from_be_bytes(words[1]),
        size: u64::from_be_bytes(words[2]),
        modified_ns: i64::from_be_bytes(words[3]),
        changed_ns: i64::from_be_bytes(words[4]),
    }
}

/// A result.
pub(super) fn result(c: &mut Columns<'_>) -> Read<Kept<WorkResult>> {
    let id = c.id(ResultId::from_bytes)?;
    let kind = match c.take::<i64>()? {
        0 => ResultKind::ExcerptReport,
        _ => return Err(StoreError::Damaged),
    };
    let value = WorkResult {
        id,
        kind,
        query: c.text()?,
        scope: c.scope()?,
        accepted: c.revision()?,
        created_at: c.at()?,
        updated_at: c.at()?,
    };
    Ok(Kept { version: c.version()?, value })
}

/// A kind of result, as it is kept.
pub(super) const fn result_kind(kind: ResultKind) -> i64 {
    match kind {
        ResultKind::ExcerptReport => 0,
    }
}

/// A quotation.
pub(super) fn quoted(c: &mut Columns<'_>) -> Read<Quoted> {
    let (result, n) = (c.id(ResultId::from_bytes)?, c.small()?);
    let version = c.maybe_source_version()?.ok_or(StoreError::Damaged)?;
    let (against, found, at_byte) = (c.maybe_digest()?, c.take()?, c.maybe_count()?);
    let found: Option<i64> = found;
    let finding = found.map(|found| finding(found, at_byte)).transpose()?;
    let observed = observed(c)?;
    let cited = Cited { n, source: observed.source.id, version };
    let finding = against.zip(finding).map(|(against, finding)| (against, Sealed::new(finding)));
    Ok(Quoted { result, cited, observed, finding })
}

/// A finding.
fn finding(found: i64, at_byte: Option<u64>) -> Read<Finding> {
    match (found, at_byte) {
        (0, None) => Ok(Finding::Intact),
        (1, Some(at)) => Ok(Finding::Moved(at)),
        (2, None) => Ok(Finding::Ambiguous),
        (3, None) => Ok(Finding::Cosmetic),
        (4, None) => Ok(Finding::Altered),
        (5, None) => Ok(Finding::BeyondLimit),
        (6, None) => Ok(Finding::Gone),
        _ => Err(StoreError::Damaged),
    }
}

/// A finding, as it is kept.
pub(super) const fn finding_columns(finding: Finding) -> (i64, Option<u64>) {
    match finding {
        Finding::Intact => (0, None),
        Finding::Moved(at) => (1, Some(at)),
        Finding::Ambiguous => (2, None),
        Finding::Cosmetic => (3, None),
        Finding::Altered => (4, None),
        Finding::BeyondLimit => (5, None),
        Finding::Gone => (6, None),
    }
}

/// A revision.
pub(super) fn revision(row: &Row<'_>) -> Read<Revision> {
    let mut c = Columns::of(row);
    Ok(Revision {
        result: c.id(ResultId::from_bytes)?,
        no: c.revision()?,
        body: c.digest()?,
        dependencies: c.digest()?,
        verification: c.digest()?,
        scan: c.digest()?,
        origin: origin(&mut c)?,
        created_at: c.at()?,
    })
}

/// How a revision came to be.
fn origin(c: &mut Columns<'_>) -> Read<Origin> {
    let run = c.maybe_id(TaskId::from_bytes)?.zip(c.maybe_count()?.map(Fence));
    let proposal = c.maybe_id(ProposalId::from_bytes)?;
    match (run, proposal, c.maybe_count()?.map(RevisionNo)) {
        (Some((task, fence)), None, None) => Ok(Origin::Published { task, fence }),
        (Some((task, fence)), Some(proposal), None) => {
            Ok(Origin::Repaired { task, fence, proposal })
        }
        (None, Some(proposal), Some(from)) => Ok(Origin::Restored { proposal, from }),
        _ => Err(StoreError::Damaged),
    }
}

/// A run, a proposal and an earlier revision: as far as a revision came of each.
pub(super) type OriginColumns = (Option<(TaskId, Fence)>, Option<ProposalId>, Option<RevisionNo>);

/// How a revision came to be, as it is kept.
pub(super) const fn origin_columns(origin: Origin) -> OriginColumns {
    match origin {
        Origin::Published { task, fence } => (Some((task, fence)), None, None),
        Origin::Repaired { task, fence, proposal } => (Some((task, fence)), Some(proposal), None),
        Origin::Restored { proposal, from } => (None, Some(proposal), Some(from)),
    }
}

/// A document of at most `each` bytes.
pub(super) fn document(c: &mut Columns<'_>, each: usize) -> Read<(Digest, Sealed<Document>)> {
    let (digest, codec, size, absent) = (c.digest()?, c.take::<i64>()?, c.count()?, c.take()?);
    let document = if absent {
        Document::Absent
    } else if size > each as u64 {
        Document::TooLong
    } else {
        let bytes: Vec<u8> = c.take()?;
        if codec != 0 || bytes.len() as u64 != size {
            return Err(StoreError::Damaged);
        }
        Document::Bytes(bytes)
    };
    Ok((digest, Sealed::new(document)))
}

/// A task.
pub(super) fn task(c: &mut Columns<'_>) -> Read<Asked> {
    let id = c.id(TaskId::from_bytes)?;
    let kind = match (c.take::<i64>()?, c.maybe_id(ResultId::from_bytes)?) {
        (0, None) => TaskKind::Report,
        (1, Some(result)) => TaskKind::Repair(result),
        _ => return Err(StoreError::Damaged),
    };
    let request = ReportRequest { query: c.text()?, scope: c.scope()? };
    let number = c.take()?;
    let (fence, attempts) = (Fence(c.count()?), c.small()?);
    let state = task_state(number, lease(c)?, outcome(c)?)?;
    let progress = c.maybe_count()?.zip(c.maybe_count()?);
    let (created_at, updated_at) = (c.at()?, c.at()?);
    let value = Task { id, kind, request, state, fence, attempts, created_at, updated_at };
    let progress = progress
        .map(|(files_read, of)| Sealed::new(Progress { files_read, of, ..Progress::default() }));
    Ok(Asked { task: Kept { version: c.version()?, value }, progress })
}

/// A lease, if there is one.
fn lease(c: &mut Columns<'_>) -> Read<Option<Lease>> {
    let holder = c.maybe_id(WorkerId::from_bytes)?;
    let (began, ends, era) = (c.maybe_at()?, c.maybe_at()?, c.maybe_count()?);
    let whole = holder.zip(began).zip(ends).zip(era);
    Ok(whole.map(|(((holder, began), ends), era)| Lease { holder, began, ends, era: Era(era) }))
}

/// What came of a task, as it is kept.
#[derive(Clone, Copy, Default)]
pub(super) struct OutcomeColumns {
    /// Its number.
    pub(super) outcome: Option<i64>,
    /// What was published.
    pub(super) published: Option<(ResultId, RevisionNo)>,
    /// What was proposed.
    pub(super) proposed: Option<ProposalId>,
    /// What was scanned before it failed.
    pub(super) scan: Option<Digest>,
}

/// The columns of what came of a task.
fn outcome(c: &mut Columns<'_>) -> Read<OutcomeColumns> {
    Ok(OutcomeColumns {
        outcome: c.take()?,
        published: c.maybe_id(ResultId::from_bytes)?.zip(c.maybe_count()?.map(RevisionNo)),
        proposed: c.maybe_id(ProposalId::from_bytes)?,
        scan: c.maybe_digest()?,
    })
}

/// Where a task stands.
fn task_state(number: i64, lease: Option<Lease>, came: OutcomeColumns) -> Read<TaskState> {
    match (number, lease, came.outcome) {
        (0, None, None) => Ok(TaskState::Queued),
        (1, Some(lease), None) => Ok(TaskState::Running(lease)),
        (2, None, Some(outcome)) => success(outcome, came).map(TaskState::Succeeded),
        (3, None, Some(outcome)) => {
            Ok(TaskState::Failed(Failure { why: failure_reason(outcome)?, scan: came.scan }))
        }
        (4, None, None) => Ok(TaskState::Cancelled),
        _ => Err(StoreError::Damaged),
    }
}

/// What came of a task that succeeded.
fn success(outcome: i64, came: OutcomeColumns) -> Read<Success> {
    match (outcome, came.published, came.proposed) {
        (0, Some((result, no)), None) => Ok(Success::Published(result, no)),
        (1, None, Some(proposal)) => Ok(Success::Proposed(proposal)),
        (2, None, None) => Ok(Success::NoChange),
        _ => Err(StoreError::Damaged),
    }
}

/// Why a task failed.
const fn failure_reason(outcome: i64) -> Read<FailureReason> {
    Ok(match outcome {
        0 => FailureReason::NoMatches,
        1 => FailureReason::NoSources,
        2 => FailureReason::Abandoned,
        3 => FailureReason::EvidenceUnavailable,
        4 => FailureReason::TooLarge,
        5 => FailureReason::Internal,
        6 => FailureReason::RefreshIncomplete,
        _ => return Err(StoreError::Damaged),
    })
}

/// Why a task failed, as it is kept.
const fn failure_number(why: FailureReason) -> i64 {
    match why {
        FailureReason::NoMatches => 0,
        FailureReason::NoSources => 1,
        FailureReason::Abandoned => 2,
        FailureReason::EvidenceUnavailable => 3,
        FailureReason::TooLarge => 4,
        FailureReason::Internal => 5,
        FailureReason::RefreshIncomplete => 6,
    }
}

/// Where a task stands, as it is kept.
pub(super) fn state_columns(state: TaskState) -> (i64, Option<Lease>, OutcomeColumns) {
    let none = OutcomeColumns::default();
    match state {
        TaskState::Queued => (0, None, none),
        TaskState::Running(lease) => (1, Some(lease), none),
        TaskState::Succeeded(success) => (2, None, success_columns(success)),
        TaskState::Failed(Failure { why, scan }) => {
            (3, None, OutcomeColumns { outcome: Some(failure_number(why)), scan, ..none })
        }
        TaskState::Cancelled => (4, None, none),
    }
}

/// What came of a task that succeeded, as it is kept.
fn success_columns(success: Success) -> OutcomeColumns {
    let none = OutcomeColumns::default();
    match success {
        Success::Published(result, no) => {
            OutcomeColumns { outcome: Some(0), published: Some((result, no)), ..none }
        }
        Success::Proposed(proposal) => {
            OutcomeColumns { outcome: Some(1), proposed: Some(proposal), ..none }
        }
        Success::NoChange => OutcomeColumns { outcome: Some(2), ..none },
    }
}

/// A run.
pub(super) fn run(row: &Row<'_>) -> Read<Kept<Run>> {
    let mut c = Columns::of(row);
    let (task, fence) = (c.id(TaskId::from_bytes)?, Fence(c.count()?));
    let value = Run {
        id: c.id(RunId::from_bytes)?,
        task,
        fence,
        worker: c.id(WorkerId::from_bytes)?,
        started_at: c.at()?,
        ended: c.maybe_at()?.zip(c.take::<Option<i64>>()?.map(run_end).transpose()?),
    };
    Ok(Kept { version: c.version()?, value })
}

/// How a run ended.
const fn run_end(number: i64) -> Read<RunEnd> {
    Ok(match number {
        0 => RunEnd::Finished,
        1 => RunEnd::Failed,
        2 => RunEnd::GaveBack,
        3 => RunEnd::Cancelled,
        4 => RunEnd::Silent,
        _ => return Err(StoreError::Damaged),
    })
}

/// How a run ended, as it is kept.
pub(super) const fn run_end_number(end: RunEnd) -> i64 {
    match end {
        RunEnd::Finished => 0,
        RunEnd::Failed => 1,
        RunEnd::GaveBack => 2,
        RunEnd::Cancelled => 3,
        RunEnd::Silent => 4,
    }
}

/// What a client key asked for.
pub(super) fn request(row: &Row<'_>) -> Read<Request> {
    let mut c = Columns::of(row);
    Ok(Request {
        key: RequestKey(c.digest()?),
        asks: c.digest()?,
        task: c.id(TaskId::from_bytes)?,
        created_at: c.at()?,
    })
}

/// A proposal.
pub(super) fn proposal(c: &mut Columns<'_>) -> Read<Kept<Proposal>> {
    let (id, result) = (c.id(ProposalId::from_bytes)?, c.id(ResultId::from_bytes)?);
    let (kind, state, base) = (c.take()?, c.take()?, c.revision()?);
    let run = c.maybe_id(TaskId::from_bytes)?.zip(c.maybe_count()?.map(Fence));
    let kind = proposal_kind(kind, run, c.maybe_count()?.map(RevisionNo))?;
    let (body, dependencies, verification) = (c.digest()?, c.digest()?, c.digest()?);
    let (scan, binding, fingerprint) = (c.digest()?, c.digest()?, Fingerprint(c.digest()?));
    let (created_at, expires_at, era) = (c.at()?, c.at()?, Era(c.count()?));
    let state = proposal_state(state, c.maybe_at()?, c.maybe_id(ProposalId::from_bytes)?)?;
    #[rustfmt::skip]
    let value = Proposal {
        id, result, kind, state, base, body, dependencies, verification, scan, binding, fingerprint,
        created_at, expires_at, era,
    };
    Ok(Kept { version: c.version()?, value })
}

/// What a proposal would do.
const fn proposal_kind(
    number: i64,
    run: Option<(TaskId, Fence)>,
    restores: Option<RevisionNo>,
) -> Read<ProposalKind> {
    match (number, run, restores) {
        (0, Some((task, fence)), None) => Ok(ProposalKind::Repair { task, fence }),
        (1, None, Some(no)) => Ok(ProposalKind::Restore(no)),
        _ => Err(StoreError::Damaged),
    }
}

/// What a proposal would do, as it is kept.
pub(super) const fn kind_columns(
    kind: ProposalKind,
) -> (i64, Option<(TaskId, Fence)>, Option<RevisionNo>) {
    match kind {
        ProposalKind::Repair { task, fence } => (0, Some((task, fence)), None),
        ProposalKind::Restore(no) => (1, None, Some(no)),
    }
}

/// Where a proposal stands.
const fn proposal_state(
    number: i64,
    ended: Option<Timestamp>,
    by: Option<ProposalId>,
) -> Read<ProposalState> {
    match (number, ended, by) {
        (0, None, None) => Ok(ProposalState::Pending),
        (1, Some(at), None) => Ok(ProposalState::Applied(at)),
        (2, Some(at), Some(by)) => Ok(ProposalState::Superseded(at, by)),
        (3, Some(at), None) => Ok(ProposalState::Dismissed(at)),
        (4, Some(at), None) => Ok(ProposalState::Expired(at)),
        _ => Err(StoreError::Damaged),
    }
}

/// Where a proposal stands, as it is kept.
pub(super) const fn proposal_state_columns(
    state: ProposalState,
) -> (i64, Option<Timestamp>, Option<ProposalId>) {
    match state {
        ProposalState::Pending => (0, None, None),
        ProposalState::Applied(at) => (1, Some(at), None),
        ProposalState::Superseded(at, by) => (2, Some(at), Some(by)),
        ProposalState::Dismissed(at) => (3, Some(at), None),
        ProposalState::Expired(at) => (4, Some(at), None),
    }
}

/// Where an approval came from, as it is kept.
pub(super) const fn channel_number(channel: Channel) -> i64 {
    match channel {
        Channel::Cli => 0,
        Channel::Http => 1,
        Channel::Library => 2,
    }
}

/// An event.
pub(super) fn event(row: &Row<'_>) -> Read<AuditEvent> {
    let mut c = Columns::of(row);
    Ok(AuditEvent {
        seq: c.count()?,
        act: c.id(ActId::from_bytes)?,
        at: c.at()?,
        subject: c.take()?,
        bytes: c.take()?,
        previous: c.digest()?,
        digest: c.digest()?,
    })
}
