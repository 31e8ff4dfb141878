//! Looking one result up, and listing the latest, among 10,000 results and among a few.
//!
//! The peer is the small workspace: the cost should follow what is shown, not what is stored. Files are held in memory,
//! records in SQLite.

use std::sync::Arc;
use std::time::Duration;
use work_benches::{median, ratio};
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, StateFilter, Workspace};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

const RUNS: usize = 201;

fn main() {
    let [ten, hundred, large] = [10, 100, 10_000].map(times);
    for (what, large, small, among) in [
        ("one result", large.one, ten.one, 10),
        ("the latest 10", large.ten, ten.ten, 10),
        ("the latest 100", large.hundred, hundred.hundred, 100),
    ] {
        say(&format!(
            "{what}: {large:.0?} among 10,000, {small:.0?} among {among}, ratio {:.2} (promised: 1.5)",
            ratio(large, small)
        ));
    }
}

/// Medians among so many results. A list shows no more than there is, so each is compared with a workspace that fills it.
struct Times {
    one: Duration,
    ten: Duration,
    hundred: Duration,
}

fn times(results: usize) -> Times {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (work, one) = filled(home.path(), results);
    let few = work.clone().with_limits(Limits { list: 10, ..work.limits().clone() });
    Times {
        one: median(RUNS, || drop(work.show(one, None, &mut Quiet).expect("shown"))),
        ten: median(RUNS, || drop(few.list(StateFilter::All, None).expect("a list"))),
        hundred: median(RUNS, || drop(work.list(StateFilter::All, None).expect("a list"))),
    }
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
