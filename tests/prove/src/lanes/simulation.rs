//! Lane B: whole workspaces keep their promises under faults.
//!
//! The runs themselves are [`work_core::testkit::simulation`]; here are the stores that they run over, and how many.
#![expect(clippy::unwrap_used, reason = "what goes wrong here is a finding")]

use crate::{Ask, Counts, Finding, Lane, Outcome, Size};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use work_core::memory::MemoryStore;
use work_core::plant::Fault;
use work_core::port::{Clock, Head, Store};
use work_core::testkit::conformance::Opening;
use work_core::testkit::simulation::{self, Fresh, Run, Stores, Tally};
use work_store::sqlite::SqliteStore;

/// The lane.
pub const LANE: Lane = Lane {
    name: "simulation",
    proves: "whole workspaces keep their promises under faults",
    share: 4,
    catches: &[
        Fault::QuotationExact,
        Fault::FindingLoose,
        Fault::TimeBack,
        Fault::BodyBinding,
        Fault::ObservationBinding,
        Fault::DoubtIsNo,
        Fault::FailedIsMissing,
        Fault::ChangedIsChecked,
        Fault::UnreachedIsChecked,
        Fault::LostRevision,
    ],
    run,
};

/// Runs of CI.
const RUNS: u64 = 4_000;

/// Steps of each.
const STEPS: u32 = 200;

/// One seed in so many is run over SQLite too.
const ON_DISK: u64 = 50;

/// One seed in so many is run twice; in a long run, each is.
const TWICE: u64 = 20;

fn run(ask: &Ask) -> Outcome {
    let mut outcome = Outcome::default();
    let (mut done, mut twice, mut on_disk, mut all) = (0, 0, 0, Tally::default());
    let each = match ask.size {
        Size::Ci | Size::Hunt(_) => TWICE,
        Size::Long(_) => 1,
    };
    while ask.goes_on(done, RUNS) {
        let seed = ask.seed.wrapping_add(done);
        let hunts = ask.hunted().is_some();
        let again =
            Again { twice: done % each == 0 && !hunts, on_disk: done % ON_DISK == 0 && !hunts };
        done += 1;
        match one(seed, again) {
            Ok(run) => all += run.tally,
            Err(what) => {
                outcome.finding = Some(Finding { what, seed, tries: done });
                break;
            }
        }
        twice += u64::from(again.twice);
        on_disk += u64::from(again.on_disk);
    }
    outcome.counts = counts([done, twice, on_disk], all);
    outcome
}

fn counts([seeds, twice, on_disk]: [u64; 3], all: Tally) -> Counts {
    let Tally { steps, requests, disturbed, commits, faults, crashes } = all;
    Counts::from([
        ("seeds", seeds),
        ("seeds run twice", twice),
        ("seeds run over SQLite", on_disk),
        ("steps", steps),
        ("requests", requests),
        ("requests others acted within", disturbed),
        ("commits", commits),
        ("commits and reads that failed", faults),
        ("crashes", crashes),
    ])
}

/// How else a seed is run.
#[derive(Clone, Copy)]
struct Again {
    twice: bool,
    on_disk: bool,
}

/// One seed, and the same again, and over SQLite, if asked: the same run, to the byte.
fn one(seed: u64, again: Again) -> Result<Run, String> {
    let first = in_memory(seed)?;
    if again.twice {
        same(&first, &in_memory(seed)?, "the same seed made another run")?;
    }
    if again.on_disk {
        let disk = simulation::run(&mut OnDisk::new(), seed, STEPS).map_err(told)?;
        same(&first, &disk, "the same seed made another run over SQLite")?;
    }
    Ok(first)
}

fn in_memory(seed: u64) -> Result<Run, String> {
    let store = |o: Opening| -> Box<dyn Store> {
        Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
    };
    simulation::run(&mut Fresh(store), seed, STEPS).map_err(told)
}

/// Whether two runs are the same; if not, where they part.
fn same(first: &Run, again: &Run, what: &str) -> Result<(), String> {
    let parts = first.trace.lines().zip(again.trace.lines()).find(|(one, other)| one != other);
    match parts {
        Some((one, other)) => Err(format!("{what}:\n{one}\n{other}")),
        None if first.trace == again.trace => Ok(()),
        None => Err(format!("{what}: one ended before the other")),
    }
}

/// What is wrong, with the end of what happened.
fn told(broken: simulation::Broken) -> String {
    let lines: Vec<&str> = broken.trace.lines().collect();
    let end = lines[lines.len().saturating_sub(30)..].join("\n");
    format!("{}\n{end}", broken.what)
}

/// A database in a directory of its own: in memory where the system has such a place, since nothing is cut off here.
struct OnDisk {
    directory: tempfile::TempDir,
}

impl OnDisk {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        Self { directory: tempfile::tempdir_in(place).unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("work.sqlite")
    }

    fn open(&self, clock: Arc<dyn Clock>) -> Box<dyn Store> {
        Box::new(SqliteStore::open(&self.path(), clock).unwrap())
    }
}

impl Stores for OnDisk {
    fn fresh(&mut self, opening: Opening) -> Box<dyn Store> {
        let Opening { workspace, owner, site, clock } = opening;
        let head = Head::new(workspace, owner, site, clock.reading());
        SqliteStore::create(&self.path(), &head).unwrap();
        self.open(clock)
    }

    fn again(&mut self, store: Box<dyn Store>, opening: Opening) -> Box<dyn Store> {
        drop(store);
        self.open(opening.clock)
    }
}
