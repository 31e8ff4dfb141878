//! Looking one result up, and listing the latest 100, among 10 results and among 10,000.
//!
//! The peer is the small workspace: the cost should follow what is shown, not what is stored. Files are held in memory,
//! records in SQLite.

use std::sync::Arc;
use std::time::Duration;
use work_benches::{median, ratio};
use work_core::id::ResultId;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, StateFilter, Workspace};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

const RUNS: usize = 201;

fn main() {
    let [small, large] = [10, 10_000].map(times);
    for (what, small, large, promised) in [
        ("one result", small.0, large.0, 1.5),
        ("the latest 100", small.1, large.1, 1.5),
        ("the latest 10", small.2, large.2, 1.5),
    ] {
        say(&format!(
            "{what}: {large:.0?} among 10,000, {small:.0?} among 10, ratio {:.2} (promised: {promised})",
            ratio(large, small)
        ));
    }
}

/// Medians of showing one result, of listing the latest 100 and the latest 10, among `results`.
///
/// Among ten results a list of 100 shows ten: the ratio of the second says what showing ten times as many costs, and
/// that of the third what storing a thousand times as many does.
fn times(results: usize) -> (Duration, Duration, Duration) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (work, one) = filled(home.path(), results);
    let few =
        work.clone().with_limits(work_core::limits::Limits { list: 10, ..work.limits().clone() });
    let show = median(RUNS, || drop(work.show(one, None, &mut Quiet).expect("shown")));
    let list = median(RUNS, || drop(work.list(StateFilter::All, None).expect("a list")));
    let ten = median(RUNS, || drop(few.list(StateFilter::All, None).expect("a list")));
    (show, list, ten)
}

/// A workspace of so many reports, and the one in the middle.
fn filled(home: &std::path::Path, results: usize) -> (Workspace, ResultId) {
    let clock = Arc::new(HostClock::new());
    let instance =
        Instance::create(home.join("desk"), &OsIds, clock.as_ref()).expect("an instance");
    let door = MemoryDoor::new();
    for n in 0..20 {
        door.put(&format!("/notes/{n}.md"), format!("Backups number {n} are kept.\n"));
    }
    let store = Arc::new(instance.store(clock).expect("its records"));
    let work = Workspace::new(store, Arc::new(door), Arc::new(OsIds));
    work.approve(&HostPath::from_bytes("/notes"), None, &mut Quiet).expect("approved");
    let ask = ReportAsk::everywhere(Query::parse("backups kept").expect("a query"));
    let made: Vec<ResultId> = (0..results)
        .map(|_| work.report(&ask, &mut Quiet).expect("a report").artifact_id)
        .collect();
    (work, made[results / 2])
}

#[expect(clippy::print_stdout, reason = "a measure's output")]
fn say(text: &str) {
    println!("{text}");
}
