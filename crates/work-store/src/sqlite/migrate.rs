//! Schema 1 becomes schema 2: in one transaction, or not at all.
//!
//! Owns what each old row turns into. The new tables are built beside the old ones, which go at the end; the number of
//! the schema is the last thing that is written. Everything comes out of the old rows and nothing out of a clock, so the
//! same file always becomes the same. What version 1 made was made in one era, the first; time goes on from its anchor.
//!
//! A repair that waits is bound anew to what version 2 binds, so the fingerprint that was shown applies nothing any
//! more. One that was made for a revision that is not accepted was superseded by the repair that is accepted in its
//! place; of several that wait for the same revision, the last one took the others' place. All others keep the
//! fingerprint that they ended with. It bound no source, and their binding says so.

#[cfg(test)]
mod faults;

use super::create::TABLES;
use super::error::failure;
use super::open::{self, SCHEMA, Standing};
use super::pool::{Opener, Role};
use super::rows::{Columns, kept};
use super::sql;
use rusqlite::{Connection, ErrorCode, Params, params};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use work_core::audit::{AuditEvent, EventKind};
use work_core::digest::Digest;
use work_core::document::stored::{self, Binding, BoundSource, Dependencies, Stored};
use work_core::id::{ActId, OwnerId, ProposalId, ResultId, SourceId, TaskId, WorkspaceId};
use work_core::limits::Limits;
use work_core::plant::{Fault, is_planted};
use work_core::port::{Document, StoreError};
use work_core::proposal::{Bound, Fingerprint, ProposalKind};
use work_core::result::RevisionNo;
use work_core::source::SourceVersion;
use work_core::task::Fence;
use work_core::time::Timestamp;

/// A step of the way.
type Step<T = ()> = Result<T, StoreError>;

/// What is taken as it is.
const COPIES: &str = include_str!("from_1.sql");

/// How long to wait for another process that may be doing the same.
const WAIT: Duration = Duration::from_secs(60);

/// The old tables.
const OLD: [&str; 11] = [
    "workspace",
    "folders",
    "sources",
    "looks",
    "documents",
    "results",
    "revisions",
    "tasks",
    "runs",
    "proposals",
    "events",
];

/// Repairs that have ended, in whatever way. `?1` is a binding of nothing.
const ENDED: &str = "INSERT INTO proposal (key, id, result, kind, state, base, task, fence, restores, body, \
    dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, \
    version) \
    SELECT key, id, result, 0, CASE state WHEN 1 THEN 1 WHEN 2 THEN 3 ELSE 4 END, base, task, fence, NULL, body, \
    dependencies, verification, scan, ?1, fingerprint, created_at, expires_at, 0, ended_at, NULL, 1 \
    FROM proposals WHERE state <> 0";

/// Repairs that waited for a revision that is not accepted any more: the one that became the next revision superseded
/// them, when it did.
const STALE: &str = "INSERT INTO proposal (key, id, result, kind, state, base, task, fence, restores, body, \
    dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, \
    version) \
    SELECT p.key, p.id, p.result, 0, 2, p.base, p.task, p.fence, NULL, p.body, p.dependencies, p.verification, \
    p.scan, ?1, p.fingerprint, p.created_at, p.expires_at, 0, next.created_at, next.proposal, 1 \
    FROM proposals p JOIN results r ON r.id = p.result \
    LEFT JOIN revisions next ON next.result = p.result AND next.no = p.base + 1 \
    WHERE p.state = 0 AND p.base <> r.accepted";

/// Repairs that waited for the accepted revision when a later one was made: that one superseded them.
const OVERTAKEN: &str = "INSERT INTO proposal (key, id, result, kind, state, base, task, fence, restores, body, \
    dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, \
    version) \
    SELECT p.key, p.id, p.result, 0, 2, p.base, p.task, p.fence, NULL, p.body, p.dependencies, p.verification, \
    p.scan, ?1, p.fingerprint, p.created_at, p.expires_at, 0, last.created_at, last.id, 1 \
    FROM proposals p JOIN results r ON r.id = p.result \
    JOIN proposals last ON last.key = (SELECT max(key) FROM proposals \
    WHERE result = p.result AND state = 0 AND base = p.base) \
    WHERE p.state = 0 AND p.base = r.accepted AND p.key < last.key";

/// Approvals: one for each repair that was applied.
const APPROVALS: &str = "INSERT INTO approval (fingerprint, proposal, channel, at) \
    SELECT fingerprint, id, channel, ended_at FROM proposals WHERE state = 1";

/// The last repair that waits for the accepted revision of each result, with that revision.
const WAITING: &str = "SELECT p.key, p.id, p.result, p.base, p.task, p.fence, p.body, p.dependencies, \
    p.verification, p.scan, p.created_at, p.expires_at, base.body, base.dependencies \
    FROM proposals p JOIN results r ON r.id = p.result \
    JOIN revisions base ON base.result = p.result AND base.no = p.base \
    WHERE p.state = 0 AND p.base = r.accepted AND NOT EXISTS (SELECT 1 FROM proposals later \
    WHERE later.result = p.result AND later.state = 0 AND later.base = p.base AND later.key > p.key) ORDER BY p.key";

const WAITING_INSERT: &str = "INSERT INTO proposal (key, id, result, kind, state, base, task, fence, restores, body, \
    dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, \
    version) VALUES (?1, ?2, ?3, 0, 0, ?4, ?5, ?6, NULL, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0, NULL, NULL, 1)";

/// References that lead nowhere.
const LOST: &str = "PRAGMA foreign_key_check";

/// Revisions that came of a repair which was not applied, or was for something else.
const UNAPPLIED: &str = "SELECT 1 FROM revision v JOIN proposal p ON p.id = v.proposal \
    WHERE p.state <> 1 OR p.result <> v.result OR p.base + 1 <> v.no OR p.body <> v.body";

/// Repairs that were applied and did not become a revision.
const UNBECOME: &str = "SELECT 1 FROM proposal p WHERE p.state = 1 \
    AND NOT EXISTS (SELECT 1 FROM revision v WHERE v.proposal = p.id)";

/// Brings the file at `path` to the schema of this version, unless another process has done it meanwhile.
pub(super) fn migrate(path: &Path) -> Step {
    let mut link = Opener::new(path, Role::Writer).open()?;
    let done = upgrade(&link.connection);
    if let Err(StoreError::Io(_) | StoreError::DiskFull) = done {
        link.give_up();
    }
    done
}

/// The same over a connection in whose way `with` has put something.
#[cfg(feature = "plant")]
pub(super) fn migrate_with(path: &Path, with: impl FnOnce(&mut Connection)) -> Step {
    let mut link = Opener::new(path, Role::Writer).open()?;
    with(&mut link.connection);
    upgrade(&link.connection)
}

/// The transaction. Foreign keys wait until its end, when all of them are checked at once; a result and its revision,
/// a repair and what it became name each other.
fn upgrade(connection: &Connection) -> Step {
    connection.busy_timeout(WAIT).map_err(failure)?;
    run(connection, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE;")?;
    match open::standing(connection)? {
        Standing::Present | Standing::Stricter => return run(connection, "ROLLBACK;"),
        Standing::Older => {}
    }
    run(connection, TABLES)?;
    run(connection, COPIES)?;
    let upgrade = Upgrade { connection, limits: limits() };
    upgrade.log()?;
    if is_planted(Fault::MigrationHalfway) {
        run(connection, "COMMIT; BEGIN IMMEDIATE;")?;
    }
    if !is_planted(Fault::MigrationStep) {
        upgrade.citations()?;
    }
    upgrade.proposals()?;
    OLD.iter().try_for_each(|table| run(connection, &format!("DROP TABLE {table};")))?;
    expect_whole(connection)?;
    run(connection, &format!("PRAGMA user_version = {SCHEMA};"))?;
    run(connection, "COMMIT;")
}

/// Statements of a transaction.
fn run(connection: &Connection, sql: &str) -> Step {
    connection.execute_batch(sql).map_err(broken)
}

/// What is stored may be longer than this program would write: whoever wrote it may have raised its limits.
fn limits() -> Limits {
    Limits { dependency_bytes: usize::MAX, binding_bytes: usize::MAX, ..Limits::standard() }
}

/// Refuses references that lead nowhere, and revisions that are not what was applied for them.
fn expect_whole(connection: &Connection) -> Step {
    [LOST, UNAPPLIED, UNBECOME].into_iter().try_for_each(|wrong| {
        let found = connection.prepare(wrong).and_then(|mut wrong| wrong.exists([]));
        if found.map_err(failure)? { Err(StoreError::Damaged) } else { Ok(()) }
    })
}

/// Why a statement failed. What breaks a rule of the new schema, or is not there, was no sound file of the old one.
fn broken(error: rusqlite::Error) -> StoreError {
    match (&error, error.sqlite_error_code()) {
        (rusqlite::Error::QueryReturnedNoRows | rusqlite::Error::SqlInputError { .. }, _)
        | (_, Some(ErrorCode::ConstraintViolation | ErrorCode::Unknown)) => StoreError::Damaged,
        _ => failure(error),
    }
}

/// What is worked out, row by row.
struct Upgrade<'c> {
    connection: &'c Connection,
    limits: Limits,
}

impl Upgrade<'_> {
    /// The log in its order, each event chained to the one before.
    fn log(&self) -> Step {
        let (mut acts, mut chain) = (0, AuditEvent::GENESIS);
        self.each("SELECT seq, act, at, bytes FROM events ORDER BY seq", |mut row| {
            let event = event(&mut row, chain)?;
            if event.seq != acts + 1 {
                return Err(StoreError::Damaged);
            }
            (acts, chain) = (event.seq, event.digest);
            self.keep(&event)
        })
    }

    /// An event, and the head that it leads to.
    fn keep(&self, event: &AuditEvent) -> Step {
        let AuditEvent { seq, act, at, subject, bytes, previous, digest } = event;
        let seq = kept(*seq)?;
        let (previous, digest) = (previous.bytes(), digest.bytes());
        let line = params![seq, act.bytes(), at.seconds(), subject, bytes, previous, digest];
        self.put(sql::EVENT_INSERT, line)?;
        self.put("UPDATE head SET acts = ?1, chain = ?2", params![seq, digest])
    }

    /// What every revision cites, and what the accepted ones quote.
    fn citations(&self) -> Step {
        let all = "SELECT v.result, v.no, r.accepted = v.no, v.dependencies FROM revisions v \
            JOIN results r ON r.id = v.result ORDER BY v.key";
        self.each(all, |mut row| {
            let (result, no): ([u8; 16], i64) = (row.take()?, row.take()?);
            let accepted: bool = row.take()?;
            for cited in self.dependencies(row.digest()?)?.cited() {
                let source = cited.source.bytes();
                self.put(sql::CITE_INSERT, params![source, result, no])?;
                if accepted {
                    let SourceVersion { digest, size, cut } = cited.version;
                    let size = kept(size)?;
                    let quoted = params![result, cited.n, source, digest.bytes(), size, cut];
                    self.put(sql::QUOTATION_INSERT, quoted)?;
                }
            }
            Ok(())
        })
    }

    /// Repairs, ended ones and those that wait, and the approvals of those that were applied.
    fn proposals(&self) -> Step {
        let nothing = self.binding(Vec::new())?;
        for ended in [ENDED, STALE, OVERTAKEN] {
            self.put(ended, [nothing.bytes()])?;
        }
        self.put(APPROVALS, [])?;
        let whose = self.whose()?;
        self.each(WAITING, |mut row| self.bind_anew(&Waiting::read(&mut row)?, whose))
    }

    /// Whose workspace it is.
    fn whose(&self) -> Step<(WorkspaceId, OwnerId)> {
        let head = "SELECT workspace, owner FROM head";
        let (workspace, owner) = self
            .connection
            .query_row(head, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(broken)?;
        Ok((WorkspaceId::from_bytes(workspace), OwnerId::from_bytes(owner)))
    }

    /// A repair that waits, under the fingerprint that version 2 gives it.
    fn bind_anew(&self, waiting: &Waiting, (workspace, owner): (WorkspaceId, OwnerId)) -> Step {
        let observed = self.observed(waiting)?;
        let binding = self.binding(observed.0.clone())?;
        let Fingerprint(fingerprint) = Bound {
            proposal: waiting.id,
            kind: ProposalKind::Repair { task: waiting.task, fence: waiting.fence },
            workspace,
            owner,
            result: waiting.result,
            base: waiting.base,
            base_body: waiting.base_body,
            body: waiting.body,
            dependencies: waiting.dependencies,
            verification: waiting.verification,
            scan: waiting.scan,
            observed: &observed,
            created_at: waiting.created_at,
            expires_at: waiting.expires_at,
        }
        .fingerprint();
        let columns = params![
            waiting.key,
            waiting.id.bytes(),
            waiting.result.bytes(),
            kept(waiting.base.0)?,
            waiting.task.bytes(),
            kept(waiting.fence.0)?,
            waiting.body.bytes(),
            waiting.dependencies.bytes(),
            waiting.verification.bytes(),
            waiting.scan.bytes(),
            binding.bytes(),
            fingerprint.bytes(),
            waiting.created_at.seconds(),
            waiting.expires_at.seconds(),
        ];
        self.put(WAITING_INSERT, columns)
    }

    /// What is bound of the sources of both bodies: of one that is proposed, the version that it was quoted from; of
    /// any other, the latest look. A source that was neither readable nor missing then is bound as the accepted
    /// revision quotes it, so that applying refuses anything else.
    fn observed(&self, waiting: &Waiting) -> Step<Binding> {
        let mut observed = BTreeMap::new();
        for (source, version) in self.dependencies(waiting.base_dependencies)?.rests_on() {
            observed.insert(source, self.looked(source)?.unwrap_or(Some(version)));
        }
        for (source, version) in self.dependencies(waiting.dependencies)?.rests_on() {
            observed.insert(source, Some(version));
        }
        let bound = |(source_id, version)| BoundSource { source_id, version };
        Ok(Binding(observed.into_iter().map(bound).collect()))
    }

    /// The version that the latest look found; nothing inside where it found the file missing, nothing at all where it
    /// found neither.
    fn looked(&self, source: SourceId) -> Step<Option<Option<SourceVersion>>> {
        let look = "SELECT seen, digest, size, cut FROM looks WHERE source = ?1";
        let mut statement = self.connection.prepare_cached(look).map_err(broken)?;
        let mut rows = statement.query([source.bytes()]).map_err(broken)?;
        let Some(row) = rows.next().map_err(broken)? else { return Ok(None) };
        let mut row = Columns::of(row);
        Ok(match row.take::<i64>()? {
            0 => Some(row.maybe_source_version()?),
            1 => Some(None),
            _ => None,
        })
    }

    /// The dependencies under a digest.
    fn dependencies(&self, digest: Digest) -> Step<Dependencies> {
        let stored = "SELECT bytes FROM documents WHERE digest = ?1";
        let mut statement = self.connection.prepare_cached(stored).map_err(broken)?;
        let bytes = statement.query_row([digest.bytes()], |row| row.get(0)).map_err(broken)?;
        stored::read_dependencies((digest, &Document::Bytes(bytes)), &self.limits)
            .ok_or(StoreError::Damaged)
    }

    /// Keeps what is bound of these sources.
    fn binding(&self, sources: Vec<BoundSource>) -> Step<Digest> {
        let written = stored::write_binding(&Binding(sources), &self.limits);
        let Stored { digest, bytes } = written.map_err(|_| StoreError::Damaged)?;
        let size = kept(bytes.len() as u64)?;
        self.put(sql::DOCUMENT_INSERT, params![digest.bytes(), size, bytes])?;
        Ok(digest)
    }

    /// Does something with every row.
    fn each(&self, sql: &str, mut with: impl FnMut(Columns<'_>) -> Step) -> Step {
        let mut statement = self.connection.prepare(sql).map_err(broken)?;
        let mut rows = statement.query([]).map_err(broken)?;
        while let Some(row) = rows.next().map_err(broken)? {
            with(Columns::of(row))?;
        }
        Ok(())
    }

    /// Changes rows.
    fn put(&self, sql: &str, params: impl Params) -> Step {
        let mut statement = self.connection.prepare_cached(sql).map_err(broken)?;
        statement.execute(params).map_err(broken).map(drop)
    }
}

/// A repair that waits for the accepted revision.
struct Waiting {
    key: i64,
    id: ProposalId,
    result: ResultId,
    base: RevisionNo,
    task: TaskId,
    fence: Fence,
    body: Digest,
    dependencies: Digest,
    verification: Digest,
    scan: Digest,
    created_at: Timestamp,
    expires_at: Timestamp,
    base_body: Digest,
    base_dependencies: Digest,
}

impl Waiting {
    /// From its columns.
    fn read(row: &mut Columns<'_>) -> Step<Self> {
        Ok(Self {
            key: row.take()?,
            id: row.id(ProposalId::from_bytes)?,
            result: row.id(ResultId::from_bytes)?,
            base: row.revision()?,
            task: row.id(TaskId::from_bytes)?,
            fence: Fence(row.count()?),
            body: row.digest()?,
            dependencies: row.digest()?,
            verification: row.digest()?,
            scan: row.digest()?,
            created_at: row.at()?,
            expires_at: row.at()?,
            base_body: row.digest()?,
            base_dependencies: row.digest()?,
        })
    }
}

/// The next event of the log, after the one with this digest. Its bytes stay.
fn event(row: &mut Columns<'_>, previous: Digest) -> Step<AuditEvent> {
    let (seq, act, at) = (row.count()?, row.id(ActId::from_bytes)?, row.at()?);
    let bytes: Vec<u8> = row.take()?;
    let kind: EventKind = serde_json::from_slice(&bytes).map_err(|_| StoreError::Damaged)?;
    let event =
        AuditEvent { seq, act, at, subject: kind.subject(), bytes, previous, digest: previous };
    Ok(AuditEvent { digest: event.computed(), ..event })
}
