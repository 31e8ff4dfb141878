//! A suite that never fails proves nothing: each planted store breaks one promise, and a named check must find it.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a fault is planted in one place and nowhere else"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::folder::{Grant, GrantState};
use work_core::id::{IdKind, IdPrefix, TaskId};
use work_core::limits::Limits;
use work_core::memory::MemoryStore;
use work_core::port::{
    Asked, Batch, Change, CommitError, Document, Events, Head, Kept, Note, Observed, Patience,
    Proposals, Put, Quotations, Quoted, ReadTx, Request, RequestKey, Results, Revisions, Sources,
    Store, StoreError, Tasks, Version, WriteTx,
};
use work_core::proposal::Proposal;
use work_core::redact::Sealed;
use work_core::result::{Revision, WorkResult};
use work_core::task::{Fence, Run};
use work_core::testkit::conformance::{Opening, check, names};
use work_core::time::{Reading, Timestamp};

/// What is wrong with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    AcknowledgesWithoutWriting,
    BadBatchMovesTheHead,
    ClockIsTheHeads,
    DocumentsOfAnyLength,
    DuplicateKeysOnce,
    EventsFromTheNumberOn,
    FindingsOfAnyRevision,
    FoldersWithoutRevoked,
    ForgetsEveryOldKey,
    KeysWithoutACeiling,
    LatestIncludesBefore,
    LockForMany,
    NotesLost,
    NotesOnTheirOwn,
    OpenNewestFirst,
    PendingRestoresThatEndNow,
    ProgressLost,
    PrefixBeyondMost,
    RenewalMovesTime,
    ResultsLowestIdFirst,
    RowsWithoutACeiling,
    SnapshotMoves,
    TimeNeverGoesBack,
    UnknownKeysFail,
    VersionsOfTasksUnchecked,
    AnyVersionOfALook,
    None,
}

/// Each fault with the check that must find it.
const PLANTED: [(Fault, &str); 26] = [
    (Fault::AcknowledgesWithoutWriting, "a_head_can_be_written_alone_and_reads_back"),
    (Fault::BadBatchMovesTheHead, "a_batch_whose_last_note_is_refused_leaves_nothing_behind"),
    (Fault::ClockIsTheHeads, "a_head_comes_with_the_clock_read_now"),
    (Fault::DocumentsOfAnyLength, "a_document_longer_than_asked_for_is_told_and_not_given"),
    (Fault::DuplicateKeysOnce, "tasks_answer_to_ids_in_the_order_asked"),
    (Fault::EventsFromTheNumberOn, "events_after_a_number_come_oldest_first_and_bounded"),
    (Fault::FindingsOfAnyRevision, "a_finding_about_an_earlier_revision_is_overtaken"),
    (Fault::FoldersWithoutRevoked, "folders_come_in_the_order_of_first_approval_revoked_ones_too"),
    (Fault::ForgetsEveryOldKey, "old_client_keys_are_forgotten_oldest_first_at_most_as_many"),
    (Fault::KeysWithoutACeiling, "a_page_and_one_more_may_be_asked_for_and_no_more"),
    (Fault::LatestIncludesBefore, "tasks_come_latest_asked_first_before_one_and_bounded"),
    (Fault::LockForMany, "the_write_lock_is_one_and_the_next_is_told_busy"),
    (Fault::NotesLost, "a_sweep_is_kept_and_leaves_the_version"),
    (Fault::NotesOnTheirOwn, "a_batch_whose_last_note_is_refused_leaves_nothing_behind"),
    (Fault::OpenNewestFirst, "open_tasks_come_oldest_first_queued_and_running_alike"),
    (Fault::PendingRestoresThatEndNow, "waiting_restores_come_first_to_end_first"),
    (Fault::ProgressLost, "a_renewal_keeps_progress_and_is_no_change_of_the_task"),
    (Fault::PrefixBeyondMost, "a_prefix_finds_the_ids_of_its_kind_in_order_and_bounded"),
    (Fault::RenewalMovesTime, "a_renewal_keeps_progress_and_is_no_change_of_the_task"),
    (Fault::ResultsLowestIdFirst, "results_come_latest_changed_first_and_highest_id_among_equals"),
    (Fault::RowsWithoutACeiling, "a_page_and_one_more_may_be_asked_for_and_no_more"),
    (Fault::SnapshotMoves, "a_snapshot_stays_of_one_moment_while_others_write"),
    (Fault::TimeNeverGoesBack, "time_goes_back_exactly_where_an_era_begins"),
    (Fault::UnknownKeysFail, "tasks_answer_to_ids_in_the_order_asked"),
    (Fault::VersionsOfTasksUnchecked, "of_two_claims_the_second_is_overtaken"),
    (Fault::AnyVersionOfALook, "a_look_at_what_has_been_looked_at_since_is_not_kept"),
];

/// Whether a check fails over a store with a fault.
fn fails(fault: Fault, name: &str) -> bool {
    let make = |o: Opening| -> Box<dyn Store> {
        let store = MemoryStore::new(o.workspace, o.owner, o.site, o.clock);
        Box::new(Planted { store: Arc::new(store), fault })
    };
    catch_unwind(AssertUnwindSafe(|| check(name, &make))).is_err()
}

#[test]
fn every_planted_fault_is_found_by_its_check() {
    std::panic::set_hook(Box::new(|_| {}));
    let missed: Vec<_> = PLANTED.into_iter().filter(|(fault, name)| !fails(*fault, name)).collect();
    let random = "random_work_leaves_what_it_leaves_in_memory";
    let blind = [Fault::ProgressLost, Fault::ResultsLowestIdFirst, Fault::LatestIncludesBefore]
        .map(|fault| (fault, fails(fault, random)));
    let innocent: Vec<_> = names().filter(|name| fails(Fault::None, name)).collect();
    drop(std::panic::take_hook());
    assert!(missed.is_empty(), "not found: {missed:?}");
    assert!(blind.iter().all(|(_, found)| *found), "not found by random work: {blind:?}");
    assert!(innocent.is_empty(), "the wrapper alone fails: {innocent:?}");
}

/// A store with a fault.
struct Planted {
    store: Arc<MemoryStore>,
    fault: Fault,
}

impl Store for Planted {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        let inner = self.store.read(patience)?;
        Ok(Box::new(Read { inner, store: &self.store, patience, fault: self.fault }))
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        let inner = match self.fault {
            Fault::LockForMany => None,
            _ => Some(self.store.write(patience)?),
        };
        let reads = Read {
            inner: self.store.read(patience)?,
            store: &self.store,
            patience,
            fault: self.fault,
        };
        Ok(Box::new(Write { inner, reads }))
    }
}

struct Write<'a> {
    inner: Option<Box<dyn WriteTx + 'a>>,
    reads: Read<'a>,
}

impl WriteTx for Write<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        &mut self.reads
    }

    fn commit(mut self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let (store, patience, fault) = (self.reads.store, self.reads.patience, self.reads.fault);
        let mut changed = batch.clone();
        self.reads.spoil(&mut changed);
        let write = match self.inner.take() {
            Some(write) => write,
            None => store.write(patience).map_err(CommitError::NotDone)?,
        };
        match fault {
            Fault::AcknowledgesWithoutWriting => Ok(()),
            Fault::TimeNeverGoesBack => {
                let (head, _) = self.reads.head().map_err(CommitError::NotDone)?;
                if changed.head.anchor.latest_ms < head.anchor.latest_ms {
                    return Err(CommitError::Overtaken);
                }
                write.commit(&changed)
            }
            Fault::NotesOnTheirOwn if batch.act.is_some() && !batch.notes.is_empty() => {
                let notes = Batch { act: None, ..changed.clone() };
                write.commit(&Batch { notes: vec![], ..changed })?;
                store.write(patience).map_err(CommitError::NotDone)?.commit(&notes)
            }
            Fault::BadBatchMovesTheHead => write.commit(&changed).inspect_err(|_| {
                let before =
                    store.read(patience).and_then(|mut tx| tx.head()).map(|(head, _)| head);
                let head = before.map(|head| Head {
                    access: head.access,
                    looks: head.looks,
                    refresher: Some((
                        work_core::id::WorkerId::from_bytes([9; 16]),
                        Timestamp::from_seconds(1),
                    )),
                    ..head
                });
                if let (Ok(head), Ok(write)) = (head, store.write(patience)) {
                    let _ = write.commit(&Batch { head, act: None, notes: vec![] });
                }
            }),
            _ => write.commit(&changed),
        }
    }
}

struct Read<'a> {
    inner: Box<dyn ReadTx + 'a>,
    store: &'a MemoryStore,
    patience: Patience,
    fault: Fault,
}

impl Read<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// The snapshot, or what is there now.
    fn tx(&mut self) -> &mut dyn ReadTx {
        if self.fault == Fault::SnapshotMoves {
            self.inner = self.store.read(self.patience).expect("a snapshot");
        }
        &mut *self.inner
    }

    /// As many rows as there may be, where the ceiling is forgotten.
    fn most(&self, most: u32) -> u32 {
        let ceiling = Limits::standard().page + 1;
        if self.has(Fault::RowsWithoutACeiling) { most.min(ceiling) } else { most }
    }

    /// Changes a batch as a careless store would.
    fn spoil(&mut self, batch: &mut Batch) {
        if self.has(Fault::NotesLost) {
            batch.notes.clear();
        }
        for put in batch.act.iter_mut().flat_map(|act| &mut act.puts) {
            match put {
                Put::Task(Change::From(version, task))
                    if self.fault == Fault::VersionsOfTasksUnchecked =>
                {
                    *version = self.version_of(task.id);
                    // Whatever the version was, the work is taken over.
                    if let Some(old) = self.task(task.id) {
                        *task = old;
                    }
                }
                Put::ForgetRequests { most, .. } if self.fault == Fault::ForgetsEveryOldKey => {
                    *most = u32::MAX;
                }
                _ => {}
            }
        }
        for note in &mut batch.notes {
            match note {
                Note::Finding { revision, result, .. }
                    if self.fault == Fault::FindingsOfAnyRevision =>
                {
                    let found = self.inner.results(Results::Ids(&[*result])).expect("results");
                    *revision = found[0].value.accepted;
                }
                Note::Look(source, change) if self.fault == Fault::AnyVersionOfALook => {
                    let found = self.inner.sources(Sources::Ids(&[*source])).expect("sources");
                    if let Some(old) = found.first().and_then(|one| one.observation.as_ref()) {
                        *change = Change::From(old.version, *change.value());
                    }
                }
                _ => {}
            }
        }
    }

    fn task(&mut self, id: TaskId) -> Option<work_core::task::Task> {
        let found = self.inner.tasks(Tasks::Ids(&[id])).expect("tasks");
        found.into_iter().next().map(|one| one.task.value)
    }

    fn version_of(&mut self, id: TaskId) -> Version {
        let found = self.inner.tasks(Tasks::Ids(&[id])).expect("tasks");
        found.first().map_or(Version(1), |one| one.task.version)
    }
}

impl ReadTx for Read<'_> {
    fn head(&mut self) -> Result<(Head, Reading), StoreError> {
        let (head, reading) = self.tx().head()?;
        if self.has(Fault::ClockIsTheHeads) {
            let (boot, since_boot_ms) = (head.anchor.boot, head.anchor.since_boot_ms);
            let wall_ms = head.anchor.latest_ms;
            return Ok((head, Reading { wall_ms, boot, since_boot_ms }));
        }
        Ok((head, reading))
    }

    fn folders(&mut self) -> Result<Vec<Kept<Grant>>, StoreError> {
        let mut all = self.tx().folders()?;
        if self.has(Fault::FoldersWithoutRevoked) {
            all.retain(|kept| kept.value.state == GrantState::Active);
        }
        Ok(all)
    }

    fn sources(&mut self, pick: Sources<'_>) -> Result<Vec<Observed>, StoreError> {
        let pick = match pick {
            Sources::Under { grant, after, most } => {
                Sources::Under { grant, after, most: self.most(most) }
            }
            Sources::CitedNow { after, most } => Sources::CitedNow { after, most: self.most(most) },
            Sources::Ids(_) | Sources::At(_) => pick,
        };
        self.tx().sources(pick)
    }

    fn results(&mut self, pick: Results<'_>) -> Result<Vec<Kept<WorkResult>>, StoreError> {
        let pick = match pick {
            Results::Latest { before, most } => Results::Latest { before, most: self.most(most) },
            _ => pick,
        };
        let mut all = self.tx().results(pick)?;
        if self.has(Fault::ResultsLowestIdFirst) && matches!(pick, Results::Latest { .. }) {
            all.sort_by_key(|kept| (std::cmp::Reverse(kept.value.updated_at), kept.value.id));
        }
        Ok(all)
    }

    fn quotations(&mut self, pick: Quotations<'_>) -> Result<Vec<Quoted>, StoreError> {
        self.tx().quotations(pick)
    }

    fn revisions(&mut self, pick: Revisions<'_>) -> Result<Vec<Revision>, StoreError> {
        self.tx().revisions(pick)
    }

    fn documents(
        &mut self,
        digests: &[Digest],
        each: usize,
    ) -> Result<Vec<(Digest, Sealed<Document>)>, StoreError> {
        let each = if self.has(Fault::DocumentsOfAnyLength) { usize::MAX } else { each };
        self.tx().documents(digests, each)
    }

    fn tasks(&mut self, pick: Tasks<'_>) -> Result<Vec<Asked>, StoreError> {
        let mut all = match pick {
            Tasks::Latest { before: Some(before), most }
                if self.has(Fault::LatestIncludesBefore) =>
            {
                let mut all = self.tx().tasks(Tasks::Ids(&[before]))?;
                all.extend(self.tx().tasks(pick)?);
                all.truncate(usize::try_from(most).expect("a count"));
                all
            }
            Tasks::Ids(ids) if self.has(Fault::KeysWithoutACeiling) => {
                let most = usize::try_from(Limits::standard().page).expect("a count");
                self.tx().tasks(Tasks::Ids(&ids[..ids.len().min(most)]))?
            }
            _ => self.tx().tasks(pick)?,
        };
        if let (Tasks::Ids(ids), Fault::UnknownKeysFail) = (pick, self.fault)
            && all.len() < ids.len()
        {
            return Err(StoreError::Damaged);
        }
        if matches!(pick, Tasks::Open { .. }) && self.has(Fault::OpenNewestFirst) {
            all.reverse();
        }
        if matches!(pick, Tasks::Ids(_)) && self.has(Fault::DuplicateKeysOnce) {
            let mut seen = std::collections::BTreeSet::new();
            all.retain(|one| seen.insert(one.task.value.id));
        }
        for one in &mut all {
            if self.has(Fault::ProgressLost) {
                one.progress = None;
            }
            if self.has(Fault::RenewalMovesTime) && one.progress.is_some() {
                one.task.value.updated_at = Timestamp::from_seconds(2_000_000);
            }
        }
        Ok(all)
    }

    fn runs(&mut self, keys: &[(TaskId, Fence)]) -> Result<Vec<Kept<Run>>, StoreError> {
        self.tx().runs(keys)
    }

    fn request(&mut self, key: &RequestKey) -> Result<Option<Request>, StoreError> {
        self.tx().request(key)
    }

    fn proposals(&mut self, pick: Proposals<'_>) -> Result<Vec<Kept<Proposal>>, StoreError> {
        let pick = match pick {
            Proposals::PendingRestores { era, ending_after, most }
                if self.has(Fault::PendingRestoresThatEndNow) =>
            {
                let ending_after = Timestamp::from_seconds(ending_after.seconds() - 1);
                Proposals::PendingRestores { era, ending_after, most }
            }
            _ => pick,
        };
        self.tx().proposals(pick)
    }

    fn events(&mut self, pick: Events) -> Result<Vec<AuditEvent>, StoreError> {
        let pick = match pick {
            Events::After { seq, most } if self.has(Fault::EventsFromTheNumberOn) => {
                Events::After { seq: seq.saturating_sub(1), most }
            }
            _ => pick,
        };
        self.tx().events(pick)
    }

    fn ids(
        &mut self,
        of: IdKind,
        prefix: &IdPrefix,
        most: u32,
    ) -> Result<Vec<[u8; 16]>, StoreError> {
        let most = if self.has(Fault::PrefixBeyondMost) { 1000 } else { most };
        self.tx().ids(of, prefix, most)
    }
}
