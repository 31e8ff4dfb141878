//! The thirteen questions.
//!
//! Owns which statement answers which pick, and that a question cannot ask for more than the store's ceiling. What is
//! asked of several records is the same cached statement again for each: within one process that costs less than a
//! statement that takes a list apart.

use super::error::failure;
use super::open;
use super::pool::Opener;
use super::rows::{self, Columns, compared, kept};
use super::sql;
use r2d2::PooledConnection;
use rusqlite::{Params, Row, params};
use std::time::Instant;
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::folder::Grant;
use work_core::id::{IdKind, IdPrefix, ProposalId, TaskId};
use work_core::port::{
    Asked, Clock, Document, Events, Head, Kept, Observed, Proposals, Quotations, Quoted, ReadTx,
    Request, RequestKey, Results, Revisions, Sources, StoreError, Tasks,
};
use work_core::proposal::Proposal;
use work_core::redact::Sealed;
use work_core::result::{Revision, WorkResult};
use work_core::task::{Fence, Run};
use work_core::time::Reading;

/// One transaction's view. Dropping it ends the transaction and changes nothing.
pub(super) struct Snapshot<'s> {
    pub(super) link: PooledConnection<Opener>,
    /// When it has lasted as long as it may.
    pub(super) end: Instant,
    clock: &'s dyn Clock,
    most: usize,
}

impl<'s> Snapshot<'s> {
    /// Begins a transaction and pins what it sees by a first read.
    pub(super) fn begin(
        link: PooledConnection<Opener>,
        how: &'static str,
        end: Instant,
        clock: &'s dyn Clock,
        most: usize,
    ) -> Result<Self, StoreError> {
        let snapshot = Self { link, end, clock, most };
        let mut begin = snapshot.link.connection.prepare_cached(how).map_err(failure)?;
        begin.execute([]).map_err(failure)?;
        drop(begin);
        let schema = snapshot.all(sql::USER_VERSION, [], |row| Columns::of(row).take())?;
        open::known(*schema.first().ok_or(StoreError::Damaged)?)?;
        Ok(snapshot)
    }

    /// Every row that a statement finds.
    fn all<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.link.connection.prepare_cached(sql).map_err(failure)?;
        let mut rows = statement.query(params).map_err(failure)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failure)? {
            found.push(read(row)?);
        }
        Ok(found)
    }

    /// Every row that a statement finds for each of some ids, in their order.
    fn of_each<K, P: Params, T>(
        &self,
        sql: &'static str,
        ids: &[K],
        params: impl Fn(&K) -> P,
        read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.within(ids.len())?;
        let mut statement = self.link.connection.prepare_cached(sql).map_err(failure)?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let mut rows = statement.query(params(id)).map_err(failure)?;
            while let Some(row) = rows.next().map_err(failure)? {
                found.push(read(&mut Columns::of(row))?);
            }
        }
        Ok(found)
    }

    /// The rows that one statement finds for each of some keys.
    fn each<K, T>(
        &self,
        keys: &[K],
        rows: impl Fn(&K) -> Result<Vec<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.within(keys.len())?;
        let mut found = Vec::new();
        for key in keys {
            found.extend(rows(key)?);
            self.within(found.len())?;
        }
        Ok(found)
    }

    /// Refuses a question that asks for too much at once.
    fn within(&self, asked: usize) -> Result<(), StoreError> {
        if asked <= self.most {
            Ok(())
        } else {
            Err(StoreError::Internal("too much asked at once"))
        }
    }

    /// `asked` as a statement takes it.
    fn most(&self, asked: u32) -> Result<i64, StoreError> {
        self.within(asked as usize)?;
        Ok(i64::from(asked))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        self.link.rest();
    }
}

/// A row as a record that is read column by column.
fn by<T>(
    read: impl Fn(&mut Columns<'_>) -> Result<T, StoreError>,
) -> impl Fn(&Row<'_>) -> Result<T, StoreError> {
    move |row| read(&mut Columns::of(row))
}

impl ReadTx for Snapshot<'_> {
    fn head(&mut self) -> Result<(Head, Reading), StoreError> {
        let head = self.all(sql::HEAD, [], rows::head)?.pop().ok_or(StoreError::Damaged)?;
        Ok((head, self.clock.reading()))
    }

    fn folders(&mut self) -> Result<Vec<Kept<Grant>>, StoreError> {
        self.all(sql::FOLDERS, [], rows::grant)
    }

    fn sources(&mut self, pick: Sources<'_>) -> Result<Vec<Observed>, StoreError> {
        match pick {
            Sources::Ids(ids) => self.of_each(sql::SOURCE, ids, |id| [id.bytes()], rows::observed),
            Sources::At(places) => self.each(places, |(grant, path)| {
                let at = params![grant.bytes(), path.bytes()];
                self.all(sql::SOURCES_AT, at, by(rows::observed))
            }),
            Sources::Under { grant, after, most } => {
                let after = after.map_or(&[][..], |path| path.bytes());
                let under = params![grant.bytes(), after, self.most(most)?];
                self.all(sql::SOURCES_UNDER, under, by(rows::observed))
            }
            Sources::CitedNow { after, most } => {
                let after = after.map_or(Vec::new(), |id| id.bytes().to_vec());
                let cited = params![after, self.most(most)?];
                self.all(sql::SOURCES_CITED_NOW, cited, by(rows::observed))
            }
        }
    }

    fn results(&mut self, pick: Results<'_>) -> Result<Vec<Kept<WorkResult>>, StoreError> {
        match pick {
            Results::Ids(ids) => self.of_each(sql::RESULT, ids, |id| [id.bytes()], rows::result),
            Results::Latest { before, most } => {
                // Nothing set is before everything: the end of time, with more than any id.
                let (at, id) = before.map_or((i64::MAX, vec![0xff; 17]), |(at, id)| {
                    (at.seconds(), id.bytes().to_vec())
                });
                let latest = params![at, id, self.most(most)?];
                self.all(sql::RESULTS_LATEST, latest, by(rows::result))
            }
            Results::CitingNow { source, most } => {
                let citing = params![source.bytes(), self.most(most)?];
                self.all(sql::RESULTS_CITING_NOW, citing, by(rows::result))
            }
            Results::CitingEver { source, most } => {
                let citing = params![source.bytes(), self.most(most)?];
                self.all(sql::RESULTS_CITING_EVER, citing, by(rows::result))
            }
        }
    }

    fn quotations(&mut self, pick: Quotations<'_>) -> Result<Vec<Quoted>, StoreError> {
        match pick {
            Quotations::Of(ids) => {
                self.of_each(sql::QUOTATIONS_OF, ids, |id| [id.bytes()], rows::quoted)
            }
            Quotations::All { after, most } => {
                let after = after.map_or(Vec::new(), |id| id.bytes().to_vec());
                let page = params![after, self.most(most)?];
                self.all(sql::QUOTATIONS_ALL, page, by(rows::quoted))
            }
        }
    }

    fn revisions(&mut self, pick: Revisions<'_>) -> Result<Vec<Revision>, StoreError> {
        match pick {
            Revisions::Keys(keys) => self.each(keys, |(result, no)| {
                let key = params![result.bytes(), compared(no.0)];
                self.all(sql::REVISIONS_KEYS, key, rows::revision)
            }),
            Revisions::LatestOf { results, before, each } => {
                let below = before.map_or(i64::MAX, |no| compared(no.0));
                let each = self.most(each)?;
                self.each(results, |result| {
                    let latest = params![result.bytes(), below, each];
                    self.all(sql::REVISIONS_LATEST_OF, latest, rows::revision)
                })
            }
        }
    }

    fn documents(
        &mut self,
        digests: &[Digest],
        each: usize,
    ) -> Result<Vec<(Digest, Sealed<Document>)>, StoreError> {
        let most = i64::try_from(each).unwrap_or(i64::MAX);
        let asked = |digest: &Digest| (*digest.bytes(), most);
        self.of_each(sql::DOCUMENT, digests, asked, |columns| rows::document(columns, each))
    }

    fn tasks(&mut self, pick: Tasks<'_>) -> Result<Vec<Asked>, StoreError> {
        match pick {
            Tasks::Ids(ids) => self.of_each(sql::TASK, ids, |id| [id.bytes()], rows::task),
            Tasks::Latest { before, most } => {
                let latest = params![before.map(TaskId::bytes), self.most(most)?];
                self.all(sql::TASKS_LATEST, latest, by(rows::task))
            }
            Tasks::Open { most } => self.all(sql::TASKS_OPEN, [self.most(most)?], by(rows::task)),
        }
    }

    fn runs(&mut self, keys: &[(TaskId, Fence)]) -> Result<Vec<Kept<Run>>, StoreError> {
        self.each(keys, |(task, fence)| {
            self.all(sql::RUNS, params![task.bytes(), kept(fence.0)?], rows::run)
        })
    }

    fn request(&mut self, key: &RequestKey) -> Result<Option<Request>, StoreError> {
        Ok(self.all(sql::REQUEST, [key.0.bytes()], rows::request)?.pop())
    }

    fn proposals(&mut self, pick: Proposals<'_>) -> Result<Vec<Kept<Proposal>>, StoreError> {
        match pick {
            Proposals::Ids(ids) => {
                self.of_each(sql::PROPOSAL, ids, |id| [id.bytes()], rows::proposal)
            }
            Proposals::Latest { before, most } => {
                let latest = params![before.map(ProposalId::bytes), self.most(most)?];
                self.all(sql::PROPOSALS_LATEST, latest, by(rows::proposal))
            }
            Proposals::LatestOf { results, each } => {
                let each = self.most(each)?;
                self.each(results, |result| {
                    let latest = params![result.bytes(), each];
                    self.all(sql::PROPOSALS_LATEST_OF, latest, by(rows::proposal))
                })
            }
            Proposals::PendingOf(result) => {
                self.all(sql::PROPOSALS_PENDING_OF, [result.bytes()], by(rows::proposal))
            }
            Proposals::PendingRestores { era, ending_after, most } => {
                let pending = params![kept(era.0)?, ending_after.seconds(), self.most(most)?];
                self.all(sql::PROPOSALS_PENDING_RESTORES, pending, by(rows::proposal))
            }
        }
    }

    fn events(&mut self, pick: Events) -> Result<Vec<AuditEvent>, StoreError> {
        match pick {
            Events::Act(act) => self.all(sql::EVENTS_ACT, [act.bytes()], rows::event),
            Events::After { seq, most } => {
                let after = params![compared(seq), self.most(most)?];
                self.all(sql::EVENTS_AFTER, after, rows::event)
            }
            Events::LatestOf { subject, most } => {
                let latest = params![subject, self.most(most)?];
                self.all(sql::EVENTS_LATEST_OF, latest, rows::event)
            }
        }
    }

    fn ids(
        &mut self,
        of: IdKind,
        prefix: &IdPrefix,
        most: u32,
    ) -> Result<Vec<[u8; 16]>, StoreError> {
        let statement = match of {
            IdKind::Grant => sql::IDS_GRANT,
            IdKind::Source => sql::IDS_SOURCE,
            IdKind::Result => sql::IDS_RESULT,
            IdKind::Task => sql::IDS_TASK,
            IdKind::Proposal => sql::IDS_PROPOSAL,
        };
        let (low, high) = prefix.bounds();
        let bounds = params![low, high, self.most(most)?];
        self.all(statement, bounds, |row| Columns::of(row).take())
    }
}
