//! What holds for every question: ceilings, prefixes.

use super::Make;
use super::desk::{Desk, nobody};
use crate::digest::Digest;
use crate::id::{GrantId, IdKind, IdPrefix, ProposalId, ResultId, SourceId, TaskId};
use crate::limits::Limits;
use crate::port::{
    Events, Proposals, Quotations, ReadTx, Results, Revisions, Sources, StoreError, Tasks,
};
use crate::result::RevisionNo;
use crate::task::{Fence, TaskKind};
use crate::time::{Era, Timestamp};

/// The first digits of an id.
fn prefix(id: &[u8; 16], digits: usize) -> IdPrefix {
    let text = TaskId::from_bytes(*id).to_string();
    text[..digits].parse().expect("digits of an id")
}

/// The ids of a kind that a store finds.
fn ids(desk: &Desk, of: IdKind, prefix: &IdPrefix, most: u32) -> Vec<[u8; 16]> {
    desk.ask(|tx| tx.ids(of, prefix, most)).expect("ids")
}

// spec: C3
pub(super) fn a_prefix_finds_the_ids_of_its_kind_in_order_and_bounded(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let mut all: Vec<[u8; 16]> = [0x00_u8, 0xff, 0x7f, 0x80]
        .map(|last| {
            let mut id = [0xab; 16];
            (id[2], id[15]) = (last, last);
            id
        })
        .into();
    for id in &all {
        let task = desk.a_task(vec![grant], TaskKind::Report);
        let task = crate::task::Task { id: TaskId::from_bytes(*id), ..task };
        desk.keep(vec![crate::port::Put::Task(crate::port::Change::New(task))]);
    }
    all.sort_unstable();
    let four = prefix(&all[0], 4);
    assert_eq!(ids(&desk, IdKind::Task, &four, 10), all);
    assert_eq!(ids(&desk, IdKind::Task, &four, 3), all[..3]);
    assert_eq!(ids(&desk, IdKind::Task, &prefix(&all[2], 5), 10), all[2..3]);
    assert_eq!(ids(&desk, IdKind::Task, &prefix(&all[3], 32), 10), all[3..]);
    assert!(ids(&desk, IdKind::Task, &prefix(&nobody(), 32), 10).is_empty());
    assert!(ids(&desk, IdKind::Result, &four, 10).is_empty());
}

// spec: C3
pub(super) fn every_kind_of_id_is_found_by_its_prefix(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let result = desk.report(grant, &[source]);
    let task = desk.queue(grant);
    let proposal = desk.propose_restore(result, 1).id;
    for (kind, id) in [
        (IdKind::Grant, grant.bytes()),
        (IdKind::Source, source.bytes()),
        (IdKind::Result, result.bytes()),
        (IdKind::Task, task.bytes()),
        (IdKind::Proposal, proposal.bytes()),
    ] {
        assert_eq!(ids(&desk, kind, &prefix(&id, 8), 10), [id], "{kind:?}");
        assert_eq!(ids(&desk, kind, &prefix(&id, 32), 10), [id], "{kind:?}");
    }
}

/// Whether a question was refused as a fault of the caller.
fn is_fault<T>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Internal(_)))
}

/// Whether each question that asks for so many rows is refused.
fn rows_refused(tx: &mut dyn ReadTx, most: u32) -> Vec<bool> {
    let grant = GrantId::from_bytes(nobody());
    let source = SourceId::from_bytes(nobody());
    let ending_after = Timestamp::from_seconds(0);
    let four = prefix(&nobody(), 4);
    vec![
        is_fault(tx.sources(Sources::Under { grant, after: None, most })),
        is_fault(tx.sources(Sources::CitedNow { after: None, most })),
        is_fault(tx.results(Results::Latest { before: None, most })),
        is_fault(tx.results(Results::CitingNow { source, most })),
        is_fault(tx.results(Results::CitingEver { source, most })),
        is_fault(tx.quotations(Quotations::All { after: None, most })),
        is_fault(tx.revisions(Revisions::LatestOf { results: &[], before: None, each: most })),
        is_fault(tx.tasks(Tasks::Latest { before: None, most })),
        is_fault(tx.tasks(Tasks::Open { most })),
        is_fault(tx.proposals(Proposals::Latest { before: None, most })),
        is_fault(tx.proposals(Proposals::LatestOf { results: &[], each: most })),
        is_fault(tx.proposals(Proposals::PendingRestores { era: Era(0), ending_after, most })),
        is_fault(tx.events(Events::After { seq: 0, most })),
        is_fault(tx.events(Events::LatestOf { subject: nobody(), most })),
        is_fault(tx.ids(IdKind::Task, &four, most)),
    ]
}

/// Whether each question that names so many keys is refused.
fn keys_refused(tx: &mut dyn ReadTx, count: usize) -> Vec<bool> {
    let result = ResultId::from_bytes(nobody());
    let place = (GrantId::from_bytes(nobody()), super::desk::path_of("a.md"));
    let results = vec![result; count];
    vec![
        is_fault(tx.sources(Sources::Ids(&vec![SourceId::from_bytes(nobody()); count]))),
        is_fault(tx.sources(Sources::At(&vec![place; count]))),
        is_fault(tx.results(Results::Ids(&results))),
        is_fault(tx.quotations(Quotations::Of(&results))),
        is_fault(tx.revisions(Revisions::Keys(&vec![(result, RevisionNo(1)); count]))),
        is_fault(tx.revisions(Revisions::LatestOf { results: &results, before: None, each: 1 })),
        is_fault(tx.documents(&vec![Digest::of(b"unknown"); count], 1)),
        is_fault(tx.tasks(Tasks::Ids(&vec![TaskId::from_bytes(nobody()); count]))),
        is_fault(tx.runs(&vec![(TaskId::from_bytes(nobody()), Fence(1)); count])),
        is_fault(tx.proposals(Proposals::Ids(&vec![ProposalId::from_bytes(nobody()); count]))),
        is_fault(tx.proposals(Proposals::LatestOf { results: &results, each: 1 })),
    ]
}

pub(super) fn a_page_and_one_more_may_be_asked_for_and_no_more(make: Make<'_>) {
    let desk = Desk::new(make);
    let most = Limits::standard().page + 1;
    let rows = |most| desk.ask(|tx| rows_refused(tx, most));
    assert_eq!(rows(most), [false; 15]);
    assert_eq!(rows(most + 1), [true; 15]);
    assert_eq!(rows(u32::MAX), [true; 15]);
    let count = usize::try_from(most).expect("a page fits");
    let keys = |count| desk.ask(|tx| keys_refused(tx, count));
    assert_eq!(keys(count), [false; 11]);
    assert_eq!(keys(count + 1), [true; 11]);
}
