//! Whole workspaces under faults, from one seed, beside a plain model.
//!
//! A run drives the use cases of a [`Workspace`] over a store: approve, ask, work, refresh, check, repair, apply,
//! restore and all others. Between any two transactions of one request others act: other front ends and workers, whoever
//! edits, moves or takes away files, revokes a folder, sets a clock. Commits fail or are in doubt, actors vanish,
//! processes begin anew. Every commit is judged by the specification at the records of that moment, and every answer
//! must be what the model says. The same seed makes the same run, to the byte of its trace.
//!
//! For the author of a store: [`run`] one seed after another, as `examples/prove_store.rs` does. To read: `model` is
//! what there is and what may be seen, `law` which commits may be, `expect` what is answered; `disk` and `steps` are
//! what happens, `stage` is the scheduler.
//!
//! ```
//! use work_core::memory::MemoryStore;
//! use work_core::port::Store;
//! use work_core::testkit::conformance::Opening;
//! use work_core::testkit::simulation::{self, Fresh};
//!
//! fn fresh(o: Opening) -> Box<dyn Store> {
//!     Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
//! }
//!
//! let mut stores = Fresh(fresh);
//! let first = simulation::run(&mut stores, 7, 100).expect("the store is sound");
//! let again = simulation::run(&mut stores, 7, 100).expect("the store is sound");
//! assert_eq!(first.trace, again.trace);
//! ```

mod dice;
mod disk;
mod expect;
mod law;
mod model;
mod stage;
mod steps;

pub use stage::Tally;

use super::conformance::Opening;
use super::fakes::{CountingIds, FakeClock};
use crate::id::{OwnerId, SiteId, WorkspaceId};
use crate::limits::Limits;
use crate::memory::MemoryDoor;
use crate::port::{Clock, Store};
use crate::workspace::Workspace;
use dice::Dice;
use disk::Disk;
use model::{State, Time};
use stage::{Stage, StagedDoor, StagedStore};
use std::sync::Arc;

/// Where the stores of runs come from.
pub trait Stores {
    /// Opens a fresh, empty store.
    fn fresh(&mut self, opening: Opening) -> Box<dyn Store>;

    /// The process has ended: drops the store and opens it again, with the same records. A store that does not outlive
    /// its process goes on.
    fn again(&mut self, store: Box<dyn Store>, opening: Opening) -> Box<dyn Store> {
        let _ = opening;
        store
    }
}

/// Fresh stores, made by a function, that are not opened again.
pub struct Fresh<F>(pub F);

impl<F: FnMut(Opening) -> Box<dyn Store>> Stores for Fresh<F> {
    fn fresh(&mut self, opening: Opening) -> Box<dyn Store> {
        (self.0)(opening)
    }
}

/// A run in which everything was as the model says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What happened, line by line: each step, and for each answer the digest and the beginning of it.
    pub trace: String,
    /// How much of it.
    pub tally: Tally,
}

/// A run in which something was not as the model says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Broken {
    /// What.
    pub what: String,
    /// What happened up to there.
    pub trace: String,
    /// How much of it.
    pub tally: Tally,
}

/// Runs one seed for so many steps.
///
/// # Errors
/// [`Broken`] with the first thing that is not as the model says.
pub fn run(stores: &mut dyn Stores, seed: u64, steps: u32) -> Result<Run, Broken> {
    let mut theatre = Theatre::new(stores, seed, steps);
    while theatre.stage.play().left > 0 && theatre.stage.play().wrong.is_none() {
        let _: Option<()> = theatre.act(stores);
    }
    theatre.last_act();
    let mut play = theatre.stage.play();
    play.workspace = None;
    let (trace, tally) = (std::mem::take(&mut play.trace), play.told);
    match play.wrong.take() {
        None => Ok(Run { trace, tally }),
        Some(what) => Err(Broken { what, trace, tally }),
    }
}

/// A run under way.
struct Theatre {
    stage: Arc<Stage>,
    store: Option<Arc<StagedStore>>,
}

/// Seconds since the epoch at which a run begins.
const BEGINS: i64 = 1_000_000;

fn opening(clock: Arc<FakeClock>) -> Opening {
    Opening {
        workspace: WorkspaceId::from_bytes([1; 16]),
        owner: OwnerId::from_bytes([2; 16]),
        site: SiteId::from_bytes([3; 16]),
        clock,
    }
}

/// The limits of a run: small ones, so that they are met.
fn limits() -> Limits {
    let mut limits = Limits { queued: 4, pending_restores: 2, ..Limits::standard() };
    limits.scan.file_bytes = model::FILE_BYTES;
    limits
}

impl Theatre {
    fn new(stores: &mut dyn Stores, seed: u64, steps: u32) -> Self {
        let clock = Arc::new(FakeClock::at(BEGINS));
        let store = stores.fresh(opening(Arc::clone(&clock)));
        let door = Arc::new(MemoryDoor::new());
        let state = beginning(Disk::new(&door), &clock);
        let Opening { workspace, owner, .. } = opening(Arc::clone(&clock));
        let ports = (clock, door);
        let stage = Stage::new(Dice::new(seed), state, ports, limits(), (workspace, owner), steps);
        let mut theatre = Self { stage: Arc::new(stage), store: None };
        theatre.open(store, Arc::new(CountingIds::new()));
        theatre
    }

    /// A process begins: everything but the records, the files and the clock is new.
    fn open(&mut self, store: Box<dyn Store>, ids: Arc<CountingIds>) {
        let stage = Arc::clone(&self.stage);
        let store = Arc::new(StagedStore { store, stage: Arc::clone(&stage) });
        let door = Arc::new(StagedDoor(Arc::clone(&stage)));
        let work = Workspace::new(Arc::clone(&store) as Arc<dyn Store>, door, ids);
        let work = work.with_limits(limits());
        let mut play = stage.play();
        play.workers = (0..2).map(|_| work.new_worker()).collect();
        play.workspace = Some(work);
        self.store = Some(store);
    }

    /// One step with all that happens within it; then the process begins anew if it has ended.
    fn act(&mut self, stores: &mut dyn Stores) -> Option<()> {
        steps::take(&self.stage);
        if !std::mem::take(&mut self.stage.play().died) {
            return None;
        }
        self.stage.play().workspace = None;
        let store = Arc::into_inner(self.store.take()?).expect("nobody is on the stage").store;
        let store = stores.again(store, opening(Arc::clone(&self.stage.clock)));
        let begun = self.stage.play().told.crashes;
        self.open(store, Arc::new(CountingIds::from(begun << 32)));
        Some(())
    }

    /// At the end everything is asked for once more, with nobody else about.
    fn last_act(&self) {
        let (results, restored) = {
            let mut play = self.stage.play();
            play.left = 0;
            play.quiet = true;
            let results: Vec<_> = play.state.results.iter().collect();
            let ids: Vec<_> = results.iter().map(|(id, _)| **id).collect();
            let grown = results.iter().filter(|(_, result)| result.revisions.len() > 1);
            (ids, grown.map(|(id, _)| **id).collect::<Vec<_>>())
        };
        use steps::{Request, Step};
        let whole =
            [Request::Log, Request::Doctor, Request::List, Request::Tasks, Request::Proposals];
        let results = results.into_iter().map(Request::History);
        let first = restored.into_iter().map(|id| Request::Show(id, Some(1)));
        for request in whole.into_iter().chain(results).chain(first) {
            if self.stage.play().wrong.is_none() {
                steps::happen(&self.stage, Step::Ask(request));
            }
        }
    }
}

/// Nothing was ever approved.
fn beginning(disk: Disk, clock: &FakeClock) -> State {
    let read = clock.reading();
    State {
        disk,
        clock: read,
        time: Time { latest_ms: read.wall_ms, read, era: 0 },
        grants: Arc::default(),
        looks: 0,
        sources: Arc::default(),
        results: Arc::default(),
        proposals: Arc::default(),
        tasks: Arc::default(),
        asked: Arc::default(),
        prepared: Arc::default(),
    }
}
