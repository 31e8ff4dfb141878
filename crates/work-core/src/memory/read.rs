//! Answers from one snapshot in memory.

use super::tables::{Rows, Tables};
use crate::audit::AuditEvent;
use crate::digest::Digest;
use crate::folder::Grant;
use crate::id::{GrantId, IdKind, IdPrefix, ResultId, SourceId, TaskId};
use crate::limits::Limits;
use crate::path::RelPath;
use crate::port::{
    Asked, Clock, Document, Events, Head, Kept, Observed, Proposals, Quotations, Quoted, ReadTx,
    Request, RequestKey, Results, Revisions, Sources, StoreError, Tasks,
};
use crate::proposal::{Proposal, ProposalKind, ProposalState};
use crate::redact::Sealed;
use crate::result::{Revision, RevisionNo, WorkResult};
use crate::task::{Fence, Run};
use crate::time::{Era, Reading, Timestamp};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

/// One moment of a store, with its clock and its ceilings.
pub(super) struct Snapshot<'a> {
    tables: Arc<Tables>,
    clock: &'a dyn Clock,
    limits: &'a Limits,
}

impl<'a> Snapshot<'a> {
    /// This moment.
    pub(super) fn new(tables: Arc<Tables>, clock: &'a dyn Clock, limits: &'a Limits) -> Self {
        Self { tables, clock, limits }
    }

    /// What was kept at this moment.
    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }

    /// `most` as a count, if one question may ask for as many.
    fn most(&self, most: u32) -> Result<usize, StoreError> {
        if most > self.limits.page.saturating_add(1) {
            return Err(StoreError::Internal("a question asks for too many rows"));
        }
        Ok(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// These keys, if one question may name as many.
    fn keys<'k, K>(&self, keys: &'k [K]) -> Result<std::slice::Iter<'k, K>, StoreError> {
        match u32::try_from(keys.len()) {
            Ok(count) if self.most(count).is_ok() => Ok(keys.iter()),
            Ok(_) | Err(_) => Err(StoreError::Internal("a question names too many keys")),
        }
    }

    /// The rows under these keys.
    fn picked<K: Copy + Ord, V: Clone>(
        &self,
        rows: &Rows<K, V>,
        keys: &[K],
    ) -> Result<Vec<Kept<V>>, StoreError> {
        Ok(self.keys(keys)?.filter_map(|key| rows.get(key)).cloned().collect())
    }

    /// Those sources, in their order.
    fn observed(&self, sources: impl Iterator<Item = SourceId>) -> Vec<Observed> {
        sources.filter_map(|source| self.tables.observed(source)).collect()
    }

    /// Sources of one grant in the order of their paths.
    fn under(&self, grant: GrantId, after: Option<&RelPath>, most: usize) -> Vec<Observed> {
        let places = self
            .tables
            .places
            .iter()
            .filter(|((of, path), _)| *of == grant && after.is_none_or(|after| path > after));
        self.observed(places.map(|(_, source)| *source).take(most))
    }

    /// Sources that accepted revisions quote, in the order of their ids.
    fn cited_now(&self, after: Option<SourceId>, most: usize) -> Vec<Observed> {
        let cited: BTreeSet<SourceId> =
            self.tables.quotations.values().map(|row| row.cited.source).collect();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.observed(cited.range((from, Bound::Unbounded)).copied().take(most))
    }

    /// Results, the latest changed first.
    fn latest(&self, before: Option<(Timestamp, ResultId)>, most: usize) -> Vec<Kept<WorkResult>> {
        let place = |kept: &Kept<WorkResult>| (kept.value.updated_at, kept.value.id);
        let all = self.tables.results.oldest_first();
        let mut rows: Vec<_> =
            all.filter(|kept| before.is_none_or(|before| place(kept) < before)).collect();
        rows.sort_by_key(|kept| Reverse(place(kept)));
        rows.into_iter().take(most).cloned().collect()
    }

    /// These results, in the order of their ids.
    fn by_id(&self, results: &BTreeSet<ResultId>, most: usize) -> Vec<Kept<WorkResult>> {
        let rows = results.iter().filter_map(|result| self.tables.results.get(result));
        rows.take(most).cloned().collect()
    }

    /// The latest revisions of one result below a number.
    fn latest_of(
        &self,
        result: ResultId,
        before: Option<RevisionNo>,
        each: usize,
    ) -> impl Iterator<Item = Revision> {
        let rows = self.tables.revisions_of(result).rev().map(|(revision, _)| *revision);
        rows.filter(move |revision| before.is_none_or(|before| revision.no < before)).take(each)
    }

    /// The latest proposals of one result.
    fn proposals_of(&self, result: ResultId, each: usize) -> impl Iterator<Item = &Kept<Proposal>> {
        let latest = self.tables.proposals.latest_before(None);
        latest.filter(move |kept| kept.value.result == result).take(each)
    }

    /// Proposals of one result that wait, the repair first.
    fn pending_of(&self, result: ResultId) -> Vec<Kept<Proposal>> {
        let mut rows: Vec<_> = self
            .tables
            .proposals
            .oldest_first()
            .filter(|kept| kept.value.result == result && is_pending(&kept.value))
            .cloned()
            .collect();
        rows.sort_by_key(|kept| is_restore(&kept.value));
        rows
    }

    /// Restores that wait in one era, the first to end first.
    fn pending_restores(&self, era: Era, after: Timestamp, most: usize) -> Vec<Kept<Proposal>> {
        let waits = |proposal: &Proposal| {
            is_pending(proposal) && is_restore(proposal) && proposal.era == era
        };
        let mut rows: Vec<_> = self
            .tables
            .proposals
            .oldest_first()
            .filter(|kept| waits(&kept.value) && kept.value.expires_at > after)
            .cloned()
            .collect();
        rows.sort_by_key(|kept| kept.value.expires_at);
        rows.truncate(most);
        rows
    }

    /// Every id of a kind, in order.
    fn all_ids(&self, of: IdKind) -> Vec<[u8; 16]> {
        match of {
            IdKind::Grant => self.tables.grants.keys().map(|id| id.bytes()).collect(),
            IdKind::Source => self.tables.sources.keys().map(|id| id.bytes()).collect(),
            IdKind::Result => self.tables.results.keys().map(|id| id.bytes()).collect(),
            IdKind::Task => self.tables.tasks.keys().map(|id| id.bytes()).collect(),
            IdKind::Proposal => self.tables.proposals.keys().map(|id| id.bytes()).collect(),
        }
    }
}

impl ReadTx for Snapshot<'_> {
    fn head(&mut self) -> Result<(Head, Reading), StoreError> {
        Ok((self.tables.head.clone(), self.clock.reading()))
    }

    fn folders(&mut self) -> Result<Vec<Kept<Grant>>, StoreError> {
        Ok(self.tables.grants.oldest_first().cloned().collect())
    }

    fn sources(&mut self, pick: Sources<'_>) -> Result<Vec<Observed>, StoreError> {
        Ok(match pick {
            Sources::Ids(ids) => self.observed(self.keys(ids)?.copied()),
            Sources::At(places) => {
                let found = self.keys(places)?.filter_map(|place| self.tables.places.get(place));
                self.observed(found.copied())
            }
            Sources::Under { grant, after, most } => self.under(grant, after, self.most(most)?),
            Sources::CitedNow { after, most } => self.cited_now(after, self.most(most)?),
        })
    }

    fn results(&mut self, pick: Results<'_>) -> Result<Vec<Kept<WorkResult>>, StoreError> {
        Ok(match pick {
            Results::Ids(ids) => self.picked(&self.tables.results, ids)?,
            Results::Latest { before, most } => self.latest(before, self.most(most)?),
            Results::CitingNow { source, most } => {
                let rows = self.tables.quotations.iter();
                let citing = rows.filter(|(_, row)| row.cited.source == source);
                self.by_id(&citing.map(|((result, _), _)| *result).collect(), self.most(most)?)
            }
            Results::CitingEver { source, most } => {
                let rows = self.tables.revisions.iter();
                let citing = rows.filter(|(_, (_, all))| all.iter().any(|c| c.source == source));
                self.by_id(&citing.map(|((result, _), _)| *result).collect(), self.most(most)?)
            }
        })
    }

    fn quotations(&mut self, pick: Quotations<'_>) -> Result<Vec<Quoted>, StoreError> {
        Ok(match pick {
            Quotations::Of(results) => self
                .keys(results)?
                .flat_map(|&of| self.tables.quotations_of(of).map(move |row| (of, row)))
                .filter_map(|(result, row)| self.tables.quoted(result, row))
                .collect(),
            Quotations::All { after, most } => {
                let from = after.map_or(Bound::Unbounded, |id| Bound::Excluded((id, u32::MAX)));
                let rows = self.tables.quotations.range((from, Bound::Unbounded));
                rows.filter_map(|((result, _), row)| self.tables.quoted(*result, row))
                    .take(self.most(most)?)
                    .collect()
            }
        })
    }

    fn revisions(&mut self, pick: Revisions<'_>) -> Result<Vec<Revision>, StoreError> {
        Ok(match pick {
            Revisions::Keys(keys) => {
                let found = self.keys(keys)?.filter_map(|key| self.tables.revisions.get(key));
                found.map(|(revision, _)| *revision).collect()
            }
            Revisions::LatestOf { results, before, each } => {
                let each = self.most(each)?;
                self.keys(results)?.flat_map(|&of| self.latest_of(of, before, each)).collect()
            }
        })
    }

    fn documents(
        &mut self,
        digests: &[Digest],
        each: usize,
    ) -> Result<Vec<(Digest, Sealed<Document>)>, StoreError> {
        let document = |bytes: &Arc<[u8]>| {
            if bytes.len() > each { Document::TooLong } else { Document::Bytes(bytes.to_vec()) }
        };
        let found = self.keys(digests)?.filter_map(|digest| {
            self.tables.documents.get(digest).map(|bytes| (*digest, Sealed::new(document(bytes))))
        });
        Ok(found.collect())
    }

    fn tasks(&mut self, pick: Tasks<'_>) -> Result<Vec<Asked>, StoreError> {
        let tables = &self.tables;
        let asked = |kept| tables.asked(kept);
        Ok(match pick {
            Tasks::Ids(ids) => {
                self.keys(ids)?.filter_map(|id| tables.tasks.get(id)).map(asked).collect()
            }
            Tasks::Latest { before, most } => {
                tables.tasks.latest_before(before).take(self.most(most)?).map(asked).collect()
            }
            Tasks::Open { most } => {
                let open = tables.tasks.oldest_first().filter(|kept| kept.value.is_open());
                open.take(self.most(most)?).map(asked).collect()
            }
        })
    }

    fn runs(&mut self, keys: &[(TaskId, Fence)]) -> Result<Vec<Kept<Run>>, StoreError> {
        self.picked(&self.tables.runs, keys)
    }

    fn request(&mut self, key: &RequestKey) -> Result<Option<Request>, StoreError> {
        Ok(self.tables.requests.get(key).copied())
    }

    fn proposals(&mut self, pick: Proposals<'_>) -> Result<Vec<Kept<Proposal>>, StoreError> {
        let rows = &self.tables.proposals;
        Ok(match pick {
            Proposals::Ids(ids) => self.picked(rows, ids)?,
            Proposals::Latest { before, most } => {
                rows.latest_before(before).take(self.most(most)?).cloned().collect()
            }
            Proposals::LatestOf { results, each } => {
                let each = self.most(each)?;
                self.keys(results)?.flat_map(|&of| self.proposals_of(of, each)).cloned().collect()
            }
            Proposals::PendingOf(result) => self.pending_of(result),
            Proposals::PendingRestores { era, ending_after, most } => {
                self.pending_restores(era, ending_after, self.most(most)?)
            }
        })
    }

    fn events(&mut self, pick: Events) -> Result<Vec<AuditEvent>, StoreError> {
        let events = self.tables.events.iter().map(|event| &**event);
        Ok(match pick {
            Events::Act(act) => events.filter(|event| event.act == act).cloned().collect(),
            Events::After { seq, most } => {
                let rest = events.skip(usize::try_from(seq).unwrap_or(usize::MAX));
                rest.take(self.most(most)?).cloned().collect()
            }
            Events::LatestOf { subject, most } => {
                let about = events.rev().filter(|event| event.subject == Some(subject));
                about.take(self.most(most)?).cloned().collect()
            }
        })
    }

    fn ids(
        &mut self,
        of: IdKind,
        prefix: &IdPrefix,
        most: u32,
    ) -> Result<Vec<[u8; 16]>, StoreError> {
        let (low, high) = prefix.bounds();
        let within = |id: &[u8; 16]| (low..=high).contains(id);
        Ok(self.all_ids(of).into_iter().filter(within).take(self.most(most)?).collect())
    }
}

/// Whether a proposal waits.
fn is_pending(proposal: &Proposal) -> bool {
    proposal.state == ProposalState::Pending
}

/// Whether a proposal would bring a revision back.
fn is_restore(proposal: &Proposal) -> bool {
    matches!(proposal.kind, ProposalKind::Restore(_))
}
