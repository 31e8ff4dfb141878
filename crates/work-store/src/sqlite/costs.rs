//! What questions and batches cost, in steps of SQLite's machine: the same however much is stored.

use super::SqliteStore;
use super::read::Snapshot;
use super::write::Lock;
use crate::support::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work_core::audit::EventKind;
use work_core::id::{IdKind, ResultId, RunId, SourceId, TaskId};
use work_core::port::*;
use work_core::proposal::{Approval, Channel, Proposal, ProposalKind, ProposalState};
use work_core::result::{Origin, RevisionNo, WorkResult};

/// A workspace with this many results of four quotations each, and what one of them needs to grow.
fn world(results: usize) -> (World, SourceId, WorkResult, Proposal) {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    let mut puts = documents();
    for _ in 0..results {
        puts.extend(published(&world, source));
    }
    world.put(puts);
    let result = world.result(vec![cited(1, world.source(grant.id, "b"))]);
    let repair = world.repair(result.id);
    (world, source, result, repair)
}

/// What publishing a result puts.
fn published(world: &World, source: SourceId) -> Vec<Put> {
    let task = running(world.id(TaskId::from_bytes));
    let result = result(world.id(ResultId::from_bytes), 1);
    let origin = Origin::Published { task: task.id, fence: task.fence };
    let quotes = (1..=4).map(|n| cited(n, source)).collect();
    vec![
        Put::Task(Change::New(task.clone())),
        Put::Run(Change::New(run(world.id(RunId::from_bytes), task.id, task.fence))),
        Put::Result(Change::New(result.clone())),
        Put::Revision(revision(result.id, 1, origin), quotes),
    ]
}

/// What applying a repair puts.
fn applied(result: WorkResult, repair: Proposal, source: SourceId) -> Vec<Put> {
    let ProposalKind::Repair { task, fence } = repair.kind else { unreachable!("a repair") };
    let origin = Origin::Repaired { task, fence, proposal: repair.id };
    let (fingerprint, proposal) = (repair.fingerprint, repair.id);
    vec![
        Put::Revision(revision(result.id, 2, origin), vec![cited(1, source)]),
        Put::Result(Change::From(Version(1), WorkResult { accepted: RevisionNo(2), ..result })),
        Put::Proposal(Change::From(
            Version(1),
            Proposal { state: ProposalState::Applied(NOW), ..repair },
        )),
        Put::Approval(Approval { fingerprint, proposal, channel: Channel::Cli, at: NOW }),
    ]
}

/// Steps that `work` takes in a transaction on `store`.
fn steps(store: &SqliteStore, how: &'static str, work: impl FnOnce(Snapshot<'_>)) -> u64 {
    let mut snapshot =
        store.begin(&store.writer, how, PATIENT.lock, PATIENT).expect("a transaction");
    let taken = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&taken);
    let count = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        false
    };
    snapshot.link.connection.progress_handler(1, Some(count)).expect("a counter");
    work(snapshot);
    taken.load(Ordering::Relaxed)
}

/// Steps of a batch.
fn batch_steps(world: &World, puts: Vec<Put>) -> u64 {
    let kind = EventKind::TaskQueued { task: TaskId::from_bytes([0; 16]) };
    let batch = world.batch(&kind, puts, Vec::new());
    steps(&world.store, "BEGIN IMMEDIATE", |snapshot| {
        Box::new(Lock::new(snapshot)).commit(&batch).expect("written");
    })
}

/// Steps of a question.
fn question_steps(world: &World, ask: impl Fn(&mut dyn ReadTx)) -> u64 {
    steps(&world.store, "BEGIN", |mut snapshot| ask(&mut snapshot))
}

/// Everything that is asked and put in daily use, by name, with the steps that it takes among `results`.
fn costs(results: usize) -> Vec<(&'static str, u64)> {
    let (world, source, result, repair) = world(results);
    let latest = Results::Latest { before: None, most: 10 };
    let prefix = result.id.to_string()[..32].parse().expect("a prefix");
    let ask = |ask: &dyn Fn(&mut dyn ReadTx) -> bool| {
        question_steps(&world, |tx| assert!(ask(tx), "something is there"))
    };
    let ten = world.read().results(latest).expect("ten results");
    let ten: Vec<_> = ten.iter().map(|kept| (kept.value.id, kept.value.accepted)).collect();
    let ten_ids: Vec<_> = ten.iter().map(|&(id, _)| id).collect();
    let (of_ten, keys) = (Quotations::Of(&ten_ids), Revisions::Keys(&ten));
    let of = Quotations::Of(&[result.id]);
    let ids = Results::Ids(&[result.id]);
    let open = Tasks::Open { most: 2 };
    let citing = Results::CitingNow { source, most: 5 };
    let costs = vec![
        ("latest results", ask(&|tx| tx.results(latest).is_ok_and(|found| found.len() == 10))),
        ("one result", ask(&|tx| tx.results(ids).is_ok_and(|found| found.len() == 1))),
        ("its quotations", ask(&|tx| tx.quotations(of).is_ok_and(|found| found.len() == 1))),
        // The result made last has one quotation, the nine before it four each.
        ("quotations of ten", ask(&|tx| tx.quotations(of_ten).is_ok_and(|found| found.len() > 30))),
        ("revisions of ten", ask(&|tx| tx.revisions(keys).is_ok_and(|found| found.len() == 10))),
        ("open tasks", ask(&|tx| tx.tasks(open).is_ok_and(|found| found.len() == 2))),
        ("citing results", ask(&|tx| tx.results(citing).is_ok_and(|found| found.len() == 5))),
        (
            "an id by its beginning",
            ask(&|tx| tx.ids(IdKind::Result, &prefix, 2).is_ok_and(|found| found.len() == 1)),
        ),
    ];
    let publishing = batch_steps(&world, published(&world, source));
    let applying = batch_steps(&world, applied(result, repair, source));
    costs.into_iter().chain([("publishing", publishing), ("applying", applying)]).collect()
}

#[test]
fn nothing_in_daily_use_costs_more_when_more_is_stored() {
    let (few, many) = (costs(20), costs(400));
    for ((name, few), (_, many)) in few.iter().zip(&many) {
        assert!(*many <= few + few / 20, "{name}: {few} steps grew to {many}");
    }
    assert!(few.iter().all(|&(_, steps)| steps > 10), "steps are counted");
}
