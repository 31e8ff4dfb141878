//! The one kind of write.
//!
//! Owns that a batch is made as a whole on the records that it was decided on, or not at all, and what an error of a
//! commit means. Every change of a row says which version it found; one that changes any other number of rows than one
//! ends the batch. What is never changed, erased or turned back is refused once more by the schema.

use super::error::{failure, in_doubt, undone};
use super::read::Snapshot;
use super::rows::{self, OriginColumns, OutcomeColumns, joined, kept};
use super::sql;
use rusqlite::{Connection, Params, ToSql, params, params_from_iter};
use std::time::Instant;
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::folder::Grant;
use work_core::id::{GrantId, ProposalId, ResultId, SourceId, TaskId};
use work_core::plant::{Fault, is_planted};
use work_core::port::{
    Act, Batch, Change, CommitError, Head, Note, Put, ReadTx, Request, StoreError, Version, WriteTx,
};
use work_core::proposal::{Approval, Proposal};
use work_core::quote::Finding;
use work_core::result::{Cited, Revision, RevisionNo, WorkResult};
use work_core::source::{Observation, SourceVersion};
use work_core::task::{Fence, Lease, Progress, Run, Task};
use work_core::time::Timestamp;

/// A step of a batch.
type Step = Result<(), CommitError>;

/// A value of a column.
type Column = Box<dyn ToSql>;

/// The write lock of one file.
pub(super) struct Lock<'s>(Snapshot<'s>);

impl<'s> Lock<'s> {
    /// The lock that a snapshot took when it began.
    pub(super) const fn new(snapshot: Snapshot<'s>) -> Self {
        Self(snapshot)
    }

    /// Makes the changes last.
    ///
    /// From here on nothing interrupts: a commit that was cut short would be in doubt.
    fn make_last(&mut self) -> Step {
        if Instant::now() >= self.0.end {
            return Err(CommitError::NotDone(StoreError::TooSlow));
        }
        let connection = &mut self.0.link.connection;
        connection
            .progress_handler(0, None::<fn() -> bool>)
            .map_err(|error| CommitError::NotDone(failure(error)))?;
        let committed = connection.prepare_cached("COMMIT").and_then(|mut end| end.execute([]));
        if is_planted(Fault::SwallowedError) {
            return Ok(());
        }
        committed.map(drop).map_err(|error| in_doubt(error, !connection.is_autocommit()))
    }
}

impl WriteTx for Lock<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        &mut self.0
    }

    fn commit(mut self: Box<Self>, batch: &Batch) -> Step {
        let done = Changes(&self.0.link.connection).make(batch).and_then(|()| self.make_last());
        if let Err(CommitError::NotDone(_) | CommitError::Unknown(_)) = done {
            self.0.link.give_up();
        }
        done
    }
}

/// The changes of one transaction.
struct Changes<'c>(&'c Connection);

impl Changes<'_> {
    /// All of a batch.
    fn make(&self, batch: &Batch) -> Step {
        match &batch.act {
            Some(act) => self.act(&batch.head, act)?,
            None => self.head(&batch.head, batch.head.acts, &batch.head.chain)?,
        }
        batch.notes.iter().try_for_each(|note| self.note(note))
    }

    /// An event, the head that it leads to, and what was done.
    fn act(&self, head: &Head, Act { event, puts }: &Act) -> Step {
        let acts = event.seq.checked_sub(1).ok_or(CommitError::Overtaken)?;
        let follows = event.follows(acts, &event.previous);
        if !follows || head.acts != event.seq || head.chain != event.digest {
            return Err(CommitError::Overtaken);
        }
        if !is_planted(Fault::AuditTogether) {
            self.event(event)?;
            self.head(head, acts, &event.previous)?;
        }
        puts.iter().try_for_each(|put| self.put(put))?;
        puts.iter().try_for_each(|put| self.cites(put))
    }

    /// What a put revision cites, when everything else is there.
    fn cites(&self, put: &Put) -> Step {
        if let Put::Revision(revision, cited) = put {
            self.quotations(revision, cited)?;
        }
        Ok(())
    }

    /// One change of an act.
    fn put(&self, put: &Put) -> Step {
        match put {
            Put::Grant(change) => self.grant(change),
            Put::Source { id, grant, path } => {
                self.one(sql::SOURCE_INSERT, params![id.bytes(), grant.bytes(), path.bytes()])
            }
            Put::Document { digest, bytes } => self.document(digest, bytes),
            Put::Result(change) => self.result(change),
            Put::Revision(revision, _) => self.revision(revision),
            Put::Task(change) => self.task(change, None),
            Put::Run(change) => self.run(change),
            Put::Request(request) => self.request(request),
            Put::ForgetRequests { before, most } => {
                self.some(sql::REQUESTS_FORGET, params![before.seconds(), most]).map(drop)
            }
            Put::Proposal(change) => self.proposal(change),
            Put::Approval(approval) => self.approval(approval),
        }
    }

    /// One note.
    fn note(&self, note: &Note) -> Step {
        match note {
            Note::Look(source, change) => self.look(*source, change),
            Note::Finding { result, revision, n, against, finding } => {
                self.finding((*result, *revision, *n), against, *finding)
            }
            Note::Swept(grant, at) => self.swept(*grant, *at),
            Note::Renewal(version, task, progress) => {
                self.task(&Change::From(*version, task.clone()), Some(progress))
            }
        }
    }

    /// The head, from the tail of the log that the batch was decided on.
    fn head(&self, head: &Head, acts: u64, chain: &Digest) -> Step {
        let Head { workspace, owner, site, anchor, .. } = head;
        let changed = params![
            anchor.latest_ms,
            anchor.boot.bytes(),
            anchor.since_boot_ms,
            number(anchor.era.0)?,
            number(head.acts)?,
            head.chain.bytes(),
            number(head.access)?,
            number(head.looks)?,
            head.refresher.map(|(worker, _)| worker.bytes()),
            head.refresher.map(|(_, until)| until.seconds()),
            workspace.bytes(),
            owner.bytes(),
            site.bytes(),
            number(acts)?,
            chain.bytes(),
        ];
        self.one(sql::HEAD_UPDATE, changed)
    }

    /// The next line of the log.
    fn event(&self, event: &AuditEvent) -> Step {
        let AuditEvent { seq, act, at, subject, bytes, previous, digest } = event;
        let line = params![
            number(*seq)?,
            act.bytes(),
            at.seconds(),
            subject,
            bytes,
            previous.bytes(),
            digest.bytes(),
        ];
        self.one(sql::EVENT_INSERT, line)
    }

    /// A grant.
    fn grant(&self, change: &Change<Grant>) -> Step {
        let grant = change.value();
        let columns: Vec<Column> = vec![
            Box::new(grant.id.bytes()),
            Box::new(grant.site.bytes()),
            Box::new(grant.root.bytes().to_vec()),
            Box::new(grant.label.clone().into_bytes()),
            Box::new(rows::json(&grant.identity)),
            Box::new(rows::rules_bytes(&grant.rules)),
            Box::new(rows::active(grant.state)),
            Box::new(grant.approved_at.seconds()),
            Box::new(number(grant.since_look)?),
            Box::new(grant.swept_at.map(Timestamp::seconds)),
        ];
        self.change(change, sql::FOLDER_INSERT, sql::FOLDER_UPDATE, columns)
    }

    /// A look that covered every source of a grant.
    fn swept(&self, grant: GrantId, at: Timestamp) -> Step {
        self.one(sql::FOLDER_SWEPT, params![grant.bytes(), at.seconds()])
    }

    /// A document; the same one again changes nothing.
    fn document(&self, digest: &Digest, bytes: &[u8]) -> Step {
        let size = number(bytes.len() as u64)?;
        self.some(sql::DOCUMENT_INSERT, params![digest.bytes(), size, bytes]).map(drop)
    }

    /// A result.
    fn result(&self, change: &Change<WorkResult>) -> Step {
        let result = change.value();
        let columns: Vec<Column> = vec![
            Box::new(result.id.bytes()),
            Box::new(rows::result_kind(result.kind)),
            Box::new(result.query.clone().into_bytes()),
            Box::new(scope(&result.scope)),
            Box::new(number(result.accepted.0)?),
            Box::new(result.created_at.seconds()),
            Box::new(result.updated_at.seconds()),
        ];
        self.change(change, sql::RESULT_INSERT, sql::RESULT_UPDATE, columns)
    }

    /// The next revision of a result.
    fn revision(&self, revision: &Revision) -> Step {
        let (run, proposal, from): OriginColumns = rows::origin_columns(revision.origin);
        let columns = params![
            revision.result.bytes(),
            number(revision.no.0)?,
            revision.body.bytes(),
            revision.dependencies.bytes(),
            revision.verification.bytes(),
            revision.scan.bytes(),
            run.map(|(task, _)| task.bytes()),
            fence(run)?,
            proposal.map(ProposalId::bytes),
            revision_number(from)?,
            revision.created_at.seconds(),
        ];
        self.one(sql::REVISION_INSERT, columns)
    }

    /// What a revision cites: for ever in the index of who ever cited, and as the result's quotations if it accepts
    /// this revision now.
    fn quotations(&self, revision: &Revision, cited: &[Cited]) -> Step {
        let key = (revision.result, number(revision.no.0)?);
        for Cited { source, .. } in cited {
            let cite = params![source.bytes(), key.0.bytes(), key.1];
            self.some(sql::CITE_INSERT, cite)?;
        }
        if self.accepts(key)? {
            self.some(sql::QUOTATIONS_DELETE, [key.0.bytes()])?;
            cited.iter().try_for_each(|cited| self.quotation(key.0, cited))?;
        }
        Ok(())
    }

    /// Whether a result accepts a revision.
    fn accepts(&self, (result, no): (ResultId, i64)) -> Result<bool, CommitError> {
        let mut statement = self.0.prepare_cached(sql::RESULT_ACCEPTS).map_err(undone)?;
        statement.exists(params![result.bytes(), no]).map_err(undone)
    }

    /// A quotation of an accepted revision.
    fn quotation(&self, result: ResultId, cited: &Cited) -> Step {
        let Cited { n, source, version: SourceVersion { digest, size, cut } } = cited;
        let columns =
            params![result.bytes(), n, source.bytes(), digest.bytes(), number(*size)?, cut];
        self.one(sql::QUOTATION_INSERT, columns)
    }

    /// What became of a quotation.
    fn finding(
        &self,
        (result, revision, n): (ResultId, RevisionNo, u32),
        against: &Digest,
        finding: Finding,
    ) -> Step {
        let (found, at_byte) = rows::finding_columns(finding);
        let at_byte = at_byte.map(number).transpose()?;
        let accepted = number(revision.0)?;
        let columns = params![result.bytes(), n, against.bytes(), found, at_byte, accepted];
        self.one(sql::QUOTATION_FOUND, columns)
    }

    /// A task, with the progress of its lease.
    fn task(&self, change: &Change<Task>, progress: Option<&Progress>) -> Step {
        let task = change.value();
        let (state, lease, came) = rows::state_columns(task.state);
        let repairs = match task.kind {
            work_core::task::TaskKind::Report => None,
            work_core::task::TaskKind::Repair(result) => Some(result),
        };
        let mut columns: Vec<Column> = vec![
            Box::new(task.id.bytes()),
            Box::new(i64::from(repairs.is_some())),
            Box::new(repairs.map(ResultId::bytes)),
            Box::new(task.request.query.clone().into_bytes()),
            Box::new(scope(&task.request.scope)),
            Box::new(state),
            Box::new(number(task.fence.0)?),
            Box::new(task.attempts),
        ];
        columns.extend(lease_columns(lease)?);
        columns.extend(outcome_columns(came)?);
        let progress = progress
            .map(|progress| Ok((number(progress.files_read)?, number(progress.of)?)))
            .transpose()?;
        columns.push(Box::new(task.created_at.seconds()));
        columns.push(Box::new(task.updated_at.seconds()));
        columns.push(Box::new(progress.map(|(read, _)| read)));
        columns.push(Box::new(progress.map(|(_, of)| of)));
        self.change(change, sql::TASK_INSERT, sql::TASK_UPDATE, columns)
    }

    /// A run.
    fn run(&self, change: &Change<Run>) -> Step {
        let run = change.value();
        let columns: Vec<Column> = vec![
            Box::new(run.id.bytes()),
            Box::new(run.task.bytes()),
            Box::new(number(run.fence.0)?),
            Box::new(run.worker.bytes()),
            Box::new(run.started_at.seconds()),
            Box::new(run.ended.map(|(at, _)| at.seconds())),
            Box::new(run.ended.map(|(_, end)| rows::run_end_number(end))),
        ];
        self.change(change, sql::RUN_INSERT, sql::RUN_UPDATE, columns)
    }

    /// What a client key asked for.
    fn request(&self, request: &Request) -> Step {
        let Request { key, asks, task, created_at } = request;
        let columns = params![key.0.bytes(), asks.bytes(), task.bytes(), created_at.seconds()];
        self.one(sql::REQUEST_PUT, columns)
    }

    /// A proposal.
    fn proposal(&self, change: &Change<Proposal>) -> Step {
        let proposal = change.value();
        let (kind, run, restores) = rows::kind_columns(proposal.kind);
        let (state, ended_at, by) = rows::proposal_state_columns(proposal.state);
        let columns: Vec<Column> = vec![
            Box::new(proposal.id.bytes()),
            Box::new(proposal.result.bytes()),
            Box::new(kind),
            Box::new(state),
            Box::new(number(proposal.base.0)?),
            Box::new(run.map(|(task, _)| task.bytes())),
            Box::new(fence(run)?),
            Box::new(revision_number(restores)?),
            Box::new(*proposal.body.bytes()),
            Box::new(*proposal.dependencies.bytes()),
            Box::new(*proposal.verification.bytes()),
            Box::new(*proposal.scan.bytes()),
            Box::new(*proposal.binding.bytes()),
            Box::new(*proposal.fingerprint.0.bytes()),
            Box::new(proposal.created_at.seconds()),
            Box::new(proposal.expires_at.seconds()),
            Box::new(number(proposal.era.0)?),
            Box::new(ended_at.map(Timestamp::seconds)),
            Box::new(by.map(ProposalId::bytes)),
        ];
        self.change(change, sql::PROPOSAL_INSERT, sql::PROPOSAL_UPDATE, columns)
    }

    /// The single use of a fingerprint.
    fn approval(&self, approval: &Approval) -> Step {
        let Approval { fingerprint, proposal, channel, at } = approval;
        let columns = params![
            fingerprint.0.bytes(),
            proposal.bytes(),
            rows::channel_number(*channel),
            at.seconds(),
        ];
        self.one(sql::APPROVAL_INSERT, columns)
    }

    /// The latest look at a source.
    fn look(&self, source: SourceId, change: &Change<Observation>) -> Step {
        let look = change.value();
        let (seen, version) = rows::seen_columns(look.seen);
        let columns: Vec<Column> = vec![
            Box::new(source.bytes()),
            Box::new(number(look.no)?),
            Box::new(seen),
            Box::new(look.owner.bytes()),
            Box::new(version.map(|version| *version.digest.bytes())),
            Box::new(version.map(|version| number(version.size)).transpose()?),
            Box::new(version.map(|version| version.cut)),
            Box::new(look.stamp.map(rows::stamp_bytes)),
            Box::new(look.looked_at.seconds()),
        ];
        self.change(change, sql::OBSERVATION_INSERT, sql::OBSERVATION_UPDATE, columns)
    }

    /// A row that is new, or takes the place of the one with its version. An update ends with that version.
    fn change<T>(
        &self,
        change: &Change<T>,
        insert: &'static str,
        update: &'static str,
        mut columns: Vec<Column>,
    ) -> Step {
        match change {
            Change::New(_) => self.one(insert, params_from_iter(columns)),
            Change::From(Version(version), _) => {
                columns.push(Box::new(number(*version)?));
                if is_planted(Fault::RowVersion) {
                    let any = update.replace("AND version =", "AND 0 <>");
                    return self.one(&any, params_from_iter(columns));
                }
                self.one(update, params_from_iter(columns))
            }
        }
    }

    /// A change of exactly one row.
    fn one(&self, sql: &str, params: impl Params) -> Step {
        match self.some(sql, params)? {
            1 => Ok(()),
            _ => Err(CommitError::Overtaken),
        }
    }

    /// A change of any number of rows.
    fn some(&self, sql: &str, params: impl Params) -> Result<usize, CommitError> {
        self.0.prepare_cached(sql).map_err(undone)?.execute(params).map_err(undone)
    }
}

/// A number as a column.
fn number(count: u64) -> Result<i64, CommitError> {
    kept(count).map_err(CommitError::NotDone)
}

/// The lease of a run as a column.
fn fence(run: Option<(TaskId, Fence)>) -> Result<Option<i64>, CommitError> {
    run.map(|(_, fence)| number(fence.0)).transpose()
}

/// The number of a revision as a column.
fn revision_number(no: Option<RevisionNo>) -> Result<Option<i64>, CommitError> {
    no.map(|no| number(no.0)).transpose()
}

/// Grants as a column.
fn scope(grants: &[GrantId]) -> Vec<u8> {
    joined(grants.iter().map(|grant| grant.bytes()))
}

/// A lease as columns.
fn lease_columns(lease: Option<Lease>) -> Result<[Column; 4], CommitError> {
    Ok([
        Box::new(lease.map(|lease| lease.holder.bytes())),
        Box::new(lease.map(|lease| lease.began.seconds())),
        Box::new(lease.map(|lease| lease.ends.seconds())),
        Box::new(lease.map(|lease| number(lease.era.0)).transpose()?),
    ])
}

/// What came of a task as columns.
fn outcome_columns(came: OutcomeColumns) -> Result<[Column; 5], CommitError> {
    Ok([
        Box::new(came.outcome),
        Box::new(came.published.map(|(result, _)| result.bytes())),
        Box::new(revision_number(came.published.map(|(_, no)| no))?),
        Box::new(came.proposed.map(ProposalId::bytes)),
        Box::new(came.scan.map(|scan| *scan.bytes())),
    ])
}
