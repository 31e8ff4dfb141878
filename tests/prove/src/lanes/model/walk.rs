//! A walk through one world, breadth first, by `stateright`.

use stateright::{Checker, HasDiscoveries, Model, Property};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use work_core::testkit::world::{Place, Setting, Step, World, Wrong};

/// The one property: what the world keeps as true says no.
const NOTHING_WRONG: &str = "nothing is wrong";

/// Visits between two looks at the time.
const GLANCE: u64 = 1024;

/// Where a walk ends if no state ends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// States that are gone on from.
    pub(super) visits: u64,
    /// The moment.
    pub(super) until: Option<Instant>,
    /// Threads. With one, the order is always the same.
    pub(super) threads: usize,
}

/// What a walk came to.
#[derive(Clone, Debug)]
pub(super) struct Walked {
    /// Different states.
    pub(super) states: u64,
    /// Steps that were tried, refused ones too.
    pub(super) steps: u64,
    /// Whether no state is left.
    pub(super) complete: bool,
    /// The places that were reached, as a set.
    pub(super) reached: u64,
    /// What is wrong, and how.
    pub(super) wrong: Option<Found>,
}

/// A state that must not be.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Why not.
    pub(super) what: Vec<Wrong>,
    /// The steps to it.
    pub(super) path: Vec<Step>,
    /// States that had been gone on from.
    pub(super) visits: u64,
}

/// A world as `stateright` sees it, and what is counted on the way.
struct Walk {
    setting: Setting,
    bounds: Bounds,
    visits: AtomicU64,
    steps: AtomicU64,
    reached: AtomicU64,
    is_over: AtomicBool,
    wrong_at: AtomicU64,
}

/// Walks through a world.
pub(super) fn walk(setting: Setting, bounds: Bounds) -> Walked {
    let threads = bounds.threads;
    let checker = Walk::new(setting, bounds)
        .checker()
        .threads(threads)
        .finish_when(HasDiscoveries::Any)
        .spawn_bfs()
        .join();
    let walk = checker.model();
    let wrong = checker.discovery(NOTHING_WRONG).map(|path| {
        let what = Wrong::ALL.iter().copied().filter(|how| path.last_state().is_wrong(*how));
        let what = what.collect();
        let path = path.into_actions();
        Found { what, path, visits: walk.wrong_at.load(Relaxed) }
    });
    Walked {
        states: checker.unique_state_count() as u64,
        steps: walk.steps.load(Relaxed),
        complete: !walk.is_over.load(Relaxed) && wrong.is_none(),
        reached: walk.reached.load(Relaxed),
        wrong,
    }
}

impl Walk {
    const fn new(setting: Setting, bounds: Bounds) -> Self {
        Self {
            setting,
            bounds,
            visits: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            reached: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            wrong_at: AtomicU64::new(u64::MAX),
        }
    }

    /// Counts a state that is gone on from; whether it still is.
    fn goes_on(&self) -> bool {
        let visits = self.visits.fetch_add(1, Relaxed);
        let late = || self.bounds.until.is_some_and(|until| Instant::now() >= until);
        if visits >= self.bounds.visits || (visits.is_multiple_of(GLANCE) && late()) {
            self.is_over.store(true, Relaxed);
        }
        !self.is_over.load(Relaxed)
    }

    /// Remembers that a place was reached.
    fn reach(&self, place: Place) {
        let bit = 1 << place as u32;
        if self.reached.load(Relaxed) & bit == 0 {
            self.reached.fetch_or(bit, Relaxed);
        }
    }
}

impl Model for Walk {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(&self.setting)]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if self.goes_on() {
            world.steps(&self.setting, steps);
            self.steps.fetch_add(steps.len() as u64, Relaxed);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let happened = world.step(step, &self.setting);
        [happened.place, happened.prepared].into_iter().flatten().for_each(|place| {
            self.reach(place);
        });
        let next = happened.next?.normal();
        if !next.is_sound() {
            self.wrong_at.fetch_min(self.visits.load(Relaxed), Relaxed);
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(NOTHING_WRONG, |_, world: &World| world.is_sound())]
    }
}
