//! The tables of a store in memory: shared when a snapshot is taken, copied when a write touches them.
//!
//! Owns how records lie in memory. Refuses to know which changes are sound: that is [`check`](super::check)'s.

use crate::audit::AuditEvent;
use crate::digest::Digest;
use crate::folder::Grant;
use crate::id::{GrantId, ProposalId, ResultId, SourceId, TaskId};
use crate::path::RelPath;
use crate::port::{Asked, Change, CommitError, Head, Kept, Observed, Quoted, Version};
use crate::port::{Request, RequestKey};
use crate::proposal::{Approval, Fingerprint, Proposal};
use crate::quote::Finding;
use crate::redact::Sealed;
use crate::result::{Cited, Revision, RevisionNo, WorkResult};
use crate::source::{Observation, Source};
use crate::task::{Fence, Progress, Run, Task};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Everything that one workspace keeps, at one moment.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) head: Head,
    pub(super) grants: Arc<Rows<GrantId, Grant>>,
    pub(super) sources: Arc<BTreeMap<SourceId, (GrantId, RelPath)>>,
    pub(super) places: Arc<BTreeMap<(GrantId, RelPath), SourceId>>,
    pub(super) observations: Arc<Rows<SourceId, Observation>>,
    pub(super) documents: Arc<BTreeMap<Digest, Arc<[u8]>>>,
    pub(super) results: Arc<Rows<ResultId, WorkResult>>,
    pub(super) revisions: Arc<BTreeMap<(ResultId, RevisionNo), Revised>>,
    pub(super) quotations: Arc<BTreeMap<(ResultId, u32), Accepted>>,
    pub(super) tasks: Arc<Rows<TaskId, Task>>,
    pub(super) progress: Arc<BTreeMap<TaskId, Progress>>,
    pub(super) runs: Arc<Rows<(TaskId, Fence), Run>>,
    pub(super) requests: Arc<BTreeMap<RequestKey, Request>>,
    pub(super) proposals: Arc<Rows<ProposalId, Proposal>>,
    pub(super) approvals: Arc<BTreeMap<Fingerprint, Approval>>,
    pub(super) events: Arc<Vec<Arc<AuditEvent>>>,
}

/// A revision with what it cites.
pub(super) type Revised = (Revision, Arc<[Cited]>);

/// A quotation of an accepted revision, with the latest finding and the bytes that it was found against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted {
    pub(super) cited: Cited,
    pub(super) finding: Option<(Digest, Finding)>,
}

impl Tables {
    /// A workspace in which nothing has happened.
    pub(super) fn new(head: Head) -> Self {
        Self {
            head,
            grants: Arc::default(),
            sources: Arc::default(),
            places: Arc::default(),
            observations: Arc::default(),
            documents: Arc::default(),
            results: Arc::default(),
            revisions: Arc::default(),
            quotations: Arc::default(),
            tasks: Arc::default(),
            progress: Arc::default(),
            runs: Arc::default(),
            requests: Arc::default(),
            proposals: Arc::default(),
            approvals: Arc::default(),
            events: Arc::default(),
        }
    }

    /// A source with its observation.
    pub(super) fn observed(&self, id: SourceId) -> Option<Observed> {
        let (grant, path) = self.sources.get(&id)?;
        let source = Source { id, grant: *grant, path: Sealed::new(path.clone()) };
        Some(Observed { source, observation: self.observations.get(&id).cloned() })
    }

    /// A quotation with all that is known of its source.
    pub(super) fn quoted(&self, result: ResultId, row: &Accepted) -> Option<Quoted> {
        Some(Quoted {
            result,
            cited: row.cited,
            observed: self.observed(row.cited.source)?,
            finding: row.finding.map(|(against, finding)| (against, Sealed::new(finding))),
        })
    }

    /// A task with its progress.
    pub(super) fn asked(&self, task: &Kept<Task>) -> Asked {
        let progress = self.progress.get(&task.value.id).copied().map(Sealed::new);
        Asked { task: task.clone(), progress }
    }

    /// The revisions of a result, the first first.
    pub(super) fn revisions_of(
        &self,
        result: ResultId,
    ) -> impl DoubleEndedIterator<Item = &Revised> {
        let all: RangeInclusive<_> = (result, RevisionNo(0))..=(result, RevisionNo(u64::MAX));
        self.revisions.range(all).map(|(_, row)| row)
    }

    /// The accepted quotations of a result, by number.
    pub(super) fn quotations_of(&self, result: ResultId) -> impl Iterator<Item = &Accepted> {
        self.quotations.range((result, 0)..=(result, u32::MAX)).map(|(_, row)| row)
    }
}

/// Rows with their versions, by key, and the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Rows<K, V> {
    rows: BTreeMap<K, Row<V>>,
    order: Vec<K>,
}

#[derive(Clone, Debug)]
struct Row<V> {
    place: usize,
    kept: Kept<V>,
}

impl<K, V> Default for Rows<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), order: Vec::new() }
    }
}

impl<K: Copy + Ord, V> Rows<K, V> {
    /// The row under a key.
    pub(super) fn get(&self, key: &K) -> Option<&Kept<V>> {
        self.rows.get(key).map(|row| &row.kept)
    }

    /// The record under a key.
    pub(super) fn value(&self, key: &K) -> Option<&V> {
        self.get(key).map(|kept| &kept.value)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// All keys in their own order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.rows.keys()
    }

    /// All rows in the order in which they came.
    pub(super) fn oldest_first(&self) -> impl DoubleEndedIterator<Item = &Kept<V>> {
        self.order.iter().filter_map(|key| self.get(key))
    }

    /// The rows that came before `before`, the latest first; none if it is not there.
    pub(super) fn latest_before(&self, before: Option<K>) -> impl Iterator<Item = &Kept<V>> {
        let end = match before {
            Some(key) => self.rows.get(&key).map_or(0, |row| row.place),
            None => self.order.len(),
        };
        self.order[..end].iter().rev().filter_map(|key| self.get(key))
    }

    /// The record that `change` takes the place of, if it finds the version it was decided on.
    pub(super) fn replaced_by(
        &self,
        key: &K,
        change: &Change<V>,
    ) -> Result<Option<&V>, CommitError> {
        match (self.get(key), change) {
            (None, Change::New(_)) => Ok(None),
            (Some(old), Change::From(version, _)) if old.version == *version => {
                Ok(Some(&old.value))
            }
            (Some(_) | None, Change::New(_) | Change::From(..)) => Err(CommitError::Overtaken),
        }
    }

    /// Puts a record under its key: a new row with version 1, or the old one with its version grown by one.
    pub(super) fn put(&mut self, key: K, value: V) {
        if let Some(row) = self.rows.get_mut(&key) {
            row.kept = Kept { version: Version(row.kept.version.0 + 1), value };
        } else {
            let kept = Kept { version: Version(1), value };
            self.rows.insert(key, Row { place: self.order.len(), kept });
            self.order.push(key);
        }
    }

    /// Changes a record and leaves its version.
    pub(super) fn touch(&mut self, key: &K, change: impl FnOnce(&mut V)) {
        if let Some(row) = self.rows.get_mut(key) {
            change(&mut row.kept.value);
        }
    }
}
