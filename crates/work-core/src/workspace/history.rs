//! `history`: the revisions of a result, and one of them.

use super::list::ListError;
use super::looks::{NoProbe, Scene};
use super::show::ShowError;
use super::{Failure, Workspace, answer};
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies};
use crate::document::wire::{HistoryDoc, RevisionDoc, RevisionEntry};
use crate::id::{ResultId, RunId, SourceId, TaskId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::port::{Kept, Quotations, ReadTx, Results, Revisions, StoreError, Watch};
use crate::redact::{self, Access};
use crate::result::{Cited, Origin, ResultState, Revision, RevisionNo, WorkResult};
use crate::task::{Fence, Run};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why there is no history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// There is no result of this id.
    #[error("there is no such result")]
    Unknown,
    /// The cursor is of another list, or none.
    #[error("this cursor does not belong to this list")]
    InvalidCursor,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for HistoryError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::InvalidCursor => Code::InvalidCursor,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl From<ListError> for HistoryError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::InvalidCursor => Self::InvalidCursor,
            ListError::Failed(cause) => Self::Failed(cause),
        }
    }
}

/// Revisions of one result with what each rests on, read in one snapshot.
struct Past {
    result: WorkResult,
    /// What the accepted revision rests on.
    accepted: Vec<Cited>,
    /// The latest first, and one more if more follow.
    revisions: Vec<Revision>,
    rests_on: BTreeMap<Digest, Dependencies>,
    runs: Runs,
    scene: Scene,
}

/// Runs by the lease that they had.
type Runs = BTreeMap<(TaskId, Fence), RunId>;

impl Past {
    fn load(
        tx: &mut dyn ReadTx,
        id: ResultId,
        before: Option<RevisionNo>,
        limits: &Limits,
    ) -> Result<Option<Self>, StoreError> {
        let Some(Kept { value: result, .. }) = tx.results(Results::Ids(&[id]))?.pop() else {
            return Ok(None);
        };
        let each = limits.list + 1;
        let revisions = tx.revisions(Revisions::LatestOf { results: &[id], before, each })?;
        let digests: Vec<Digest> = revisions.iter().map(|one| one.dependencies).collect();
        let documents = tx.documents(&digests, limits.dependency_bytes)?;
        let read = |(digest, sealed)| {
            let document = redact::for_checking(sealed);
            Some((digest, stored::read_dependencies((digest, &document), limits)?))
        };
        let rests_on: BTreeMap<Digest, Dependencies> =
            documents.into_iter().filter_map(read).collect();
        let quoted = tx.quotations(Quotations::Of(&[id]))?;
        let accepted: Vec<Cited> = quoted.iter().map(|one| one.cited).collect();
        let of = |all: &Dependencies| all.rests_on().map(|(source, _)| source).collect::<Vec<_>>();
        let sources: Vec<SourceId> =
            accepted.iter().map(|one| one.source).chain(rests_on.values().flat_map(of)).collect();
        let (runs, scene) = (runs(tx, &revisions)?, Scene::load(tx, sources)?);
        Ok(Some(Self { result, accepted, revisions, rests_on, runs, scene }))
    }

    /// What a revision is worth; without a record of what it rests on, that cannot be told.
    fn state(&self, revision: &Revision, access: &Access) -> ResultState {
        let rests_on = self.rests_on.get(&revision.dependencies);
        access.state(rests_on.into_iter().flat_map(Dependencies::rests_on))
    }

    fn document(&self, access: &Access, limits: &Limits) -> HistoryDoc {
        let state = access.state(answer::pairs(&self.accepted));
        let most = limits.list as usize;
        let listed = &self.revisions[..self.revisions.len().min(most)];
        let entries = listed.iter().map(|revision| {
            let run = lease(revision.origin).and_then(|lease| self.runs.get(&lease).copied());
            entry(revision, self.state(revision, access), run)
        });
        let more = listed.last().filter(|_| self.revisions.len() > most);
        let visible = !state.hides();
        HistoryDoc {
            artifact_id: self.result.id,
            state,
            revisions: visible.then(|| entries.collect()),
            total: visible.then_some(self.result.accepted.0),
            next: more.filter(|_| visible).map(|last| write_cursor(self.result.id, last.no)),
        }
    }
}

/// The runs that made these revisions.
fn runs(tx: &mut dyn ReadTx, revisions: &[Revision]) -> Result<Runs, StoreError> {
    let leases: Vec<_> = revisions.iter().filter_map(|one| lease(one.origin)).collect();
    let runs = tx.runs(&leases)?;
    let by_lease = |kept: Kept<Run>| ((kept.value.task, kept.value.fence), kept.value.id);
    Ok(runs.into_iter().map(by_lease).collect())
}

/// The lease of the run that made a revision, if one did.
const fn lease(origin: Origin) -> Option<(TaskId, Fence)> {
    match origin {
        Origin::Published { task, fence } | Origin::Repaired { task, fence, .. } => {
            Some((task, fence))
        }
        Origin::Restored { .. } => None,
    }
}

/// A revision in a history; of one that must not be seen, its number and why.
fn entry(revision: &Revision, state: ResultState, run: Option<RunId>) -> RevisionEntry {
    let visible = !state.hides() || is_planted(Fault::RedactionHistory);
    RevisionEntry {
        revision: revision.no,
        created_at: visible.then_some(revision.created_at),
        digest: visible.then_some(revision.body),
        run: run.filter(|_| visible),
        restored_from: revision.origin.restored_from().filter(|_| visible),
        state,
    }
}

impl Workspace {
    /// The revisions of a result, the latest first, 100 at a time; `cursor` is the `next` of the history before. The
    /// sources of all of them are looked at first. Of a hidden result it tells no revision.
    ///
    /// # Errors
    /// [`HistoryError`]: no such result, a cursor of another list, or a failure.
    pub fn history(
        &self,
        id: ResultId,
        cursor: Option<&str>,
        watch: &mut dyn Watch,
    ) -> Result<HistoryDoc, HistoryError> {
        let before = cursor.map(|cursor| read_cursor(id, cursor)).transpose()?;
        let past = self.read(|tx, _| Past::load(tx, id, before, &self.limits))?;
        let past = past.ok_or(HistoryError::Unknown)?;
        let looked = past.scene.look(self, Arc::new(NoProbe), watch);
        let shown = self.deliver_at_roots(&past.scene.concerned(), |tx, _, roots| {
            let Some(past) = Past::load(tx, id, before, &self.limits)? else {
                return Ok(Err(HistoryError::Unknown));
            };
            Ok(Ok(past.document(&past.scene.access(&looked, roots), &self.limits)))
        })??;
        self.keep(&looked, Vec::new());
        Ok(shown)
    }

    /// One revision of a result. Its sources, and those of the accepted one, are looked at first. One that must not be
    /// seen tells its result and why.
    ///
    /// # Errors
    /// [`ShowError`]: no such result or revision, or a failure.
    pub fn revision(
        &self,
        id: ResultId,
        no: RevisionNo,
        watch: &mut dyn Watch,
    ) -> Result<RevisionDoc, ShowError> {
        let shown = self.show(id, Some(no), watch)?;
        let made = self.read(|tx, _| {
            let found = tx.revisions(Revisions::Keys(&[(id, no)]))?.pop();
            let run = runs(tx, found.as_slice())?.into_values().next();
            Ok(found.map(|revision| (revision, run)))
        })?;
        let visible = made.filter(|_| shown.body.is_some());
        Ok(RevisionDoc {
            artifact_id: id,
            revision: shown.revision,
            state: shown.state,
            created_at: visible.map(|(revision, _)| revision.created_at),
            digest: visible.map(|(revision, _)| revision.body),
            run: visible.and_then(|(_, run)| run),
            restored_from: shown.restored_from,
            body: shown.body,
            scan: shown.scan,
            verification: shown.verification,
        })
    }
}

/// The cursor of a history: `history.RESULT.NUMBER`.
fn write_cursor(result: ResultId, last: RevisionNo) -> String {
    format!("history.{result}.{}", last.0)
}

fn read_cursor(result: ResultId, cursor: &str) -> Result<RevisionNo, ListError> {
    let last = cursor.strip_prefix(&format!("history.{result}."));
    let no = last.and_then(|last| last.parse().ok()).map(RevisionNo);
    no.ok_or(ListError::InvalidCursor)
}
