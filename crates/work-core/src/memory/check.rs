//! Which batch is sound, and the tables after it.
//!
//! Owns every refusal of the store in memory. What two callers can race into (a version, a number, a name taken
//! meanwhile) is [`CommitError::Overtaken`]; what no correct caller would ask is a fault and says which. Each change is
//! checked where it stands, and once more against the tables as the whole batch leaves them.

mod grants;
mod head;
mod notes;
mod proposals;
mod results;
mod tasks;

use super::tables::Tables;
use crate::limits::Limits;
use crate::port::{Act, Batch, CommitError, Put, StoreError};
use crate::time::{Now, Timestamp};
use std::sync::Arc;

/// What a check says.
type Checked<T = ()> = Result<T, CommitError>;

/// The tables after `batch`.
pub(super) fn after(was: &Tables, batch: &Batch, limits: &Limits) -> Checked<Tables> {
    head::check(was, batch)?;
    let now = batch.head.anchor.now();
    let tables = Tables { head: batch.head.clone(), ..was.clone() };
    let mut draft = Draft { was, tables, now, limits };
    if let Some(act) = &batch.act {
        draft.act(act)?;
    }
    for note in &batch.notes {
        draft.note(note)?;
    }
    Ok(draft.tables)
}

/// The tables on their way from one moment to the next.
struct Draft<'a> {
    was: &'a Tables,
    tables: Tables,
    now: Now,
    limits: &'a Limits,
}

impl Draft<'_> {
    /// Makes the changes of an act in their order, then asks whether they fit together.
    fn act(&mut self, act: &Act) -> Checked {
        Arc::make_mut(&mut self.tables.events).push(Arc::new(act.event.clone()));
        for put in &act.puts {
            self.put(put)?;
        }
        for put in &act.puts {
            self.fits(put)?;
        }
        Ok(())
    }

    /// Makes one change, if what it names is there and what it replaces is as it was.
    fn put(&mut self, put: &Put) -> Checked {
        match put {
            Put::Grant(change) => self.grant(change),
            Put::Source { id, grant, path } => self.source(*id, *grant, path),
            Put::Document { digest, bytes } => self.document(*digest, bytes),
            Put::Result(change) => self.result(change),
            Put::Revision(revision, cited) => self.revision(revision, cited),
            Put::Task(change) => self.task(change),
            Put::Run(change) => self.run(change),
            Put::Request(request) => self.request(request),
            Put::ForgetRequests { before, most } => self.forget_requests(*before, *most),
            Put::Proposal(change) => self.proposal(change),
            Put::Approval(approval) => self.approval(approval),
        }
    }

    /// Whether a change fits what the whole act leaves behind.
    fn fits(&mut self, put: &Put) -> Checked {
        match put {
            Put::Result(change) => self.result_fits(change.value()),
            Put::Revision(revision, _) => self.revision_fits(revision),
            Put::Task(change) => self.task_fits(change.value()),
            Put::Run(change) => self.run_fits(change.value()),
            Put::Proposal(change) => self.proposal_fits(change.value()),
            Put::Approval(approval) => self.approval_fits(approval),
            Put::Grant(_)
            | Put::Source { .. }
            | Put::Document { .. }
            | Put::Request(_)
            | Put::ForgetRequests { .. } => Ok(()),
        }
    }

    /// Whether a moment may be written down: nothing happens in the future.
    fn past(&self, at: Timestamp) -> Checked {
        must(at <= self.now.at, "a record from the future")
    }
}

/// Whether a record goes on in time from what it was. What it was may lie in the future only where the owner set time
/// back since; then it goes on from now.
fn goes_on(was: Timestamp, becomes: Timestamp, now: Now) -> bool {
    was <= becomes || was > now.at
}

/// Refuses what no correct caller asks.
fn must(holds: bool, why: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(CommitError::NotDone(StoreError::Internal(why))) }
}

/// Refuses what a caller asks that another one was faster than.
fn first(holds: bool) -> Checked {
    if holds { Ok(()) } else { Err(CommitError::Overtaken) }
}
