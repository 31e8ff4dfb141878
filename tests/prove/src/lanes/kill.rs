//! Lane E: what the real binary acknowledged outlives being killed.
//!
//! The program itself, with real syncs, in instances of its own: a command is killed at a moment that the seed chooses,
//! by time or by what it has said, and what it had acknowledged until then is the oracle. `world` is one instance and
//! its rounds, `child` the program, `picture` what is stored, `told` what was acknowledged.

mod child;
mod picture;
mod told;
mod world;

use crate::seed::Seed;
use crate::{Ask, Counts, Finding, Lane, Outcome};
use child::Program;
use std::sync::Mutex;
use work_core::plant::Fault;
use world::World;

/// The lane.
pub const LANE: Lane = Lane {
    name: "kill",
    proves: "what the real binary acknowledged outlives being killed",
    share: 2,
    catches: &[Fault::AcknowledgedEarly],
    run,
};

/// Commands that are killed in CI, in instances of [`KILLS_OF_ONE`] each.
const KILLS: u64 = 300;

/// Commands that are killed in one instance.
const KILLS_OF_ONE: u64 = 12;

/// Instances at the same time. Most of the time goes into waiting for the disk.
const AT_ONCE: usize = 4;

fn run(ask: &Ask) -> Outcome {
    let Some(program) = Program::beside(ask.hunted()) else {
        let why = "the program `work` was not built beside this one".to_owned();
        return Outcome { skipped: Some(why), ..Outcome::default() };
    };
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| worlds(ask, &program, &tally));
        }
    });
    let tally = tally.into_inner().expect("no thread panicked");
    Outcome { counts: tally.counts, finding: tally.finding, skipped: None }
}

/// What all instances of a run came to.
#[derive(Debug, Default)]
struct Tally {
    counts: Counts,
    finding: Option<Finding>,
    /// Instances begun.
    begun: u64,
}

impl Tally {
    fn count(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }

    fn kills(&self) -> u64 {
        self.counts.get("kills").copied().unwrap_or(0)
    }

    /// Keeps the first thing wrong.
    fn wrong(&mut self, what: String, seed: u64) {
        let tries = self.kills();
        self.finding.get_or_insert(Finding { what, seed, tries });
    }
}

/// One instance after the other, until there were enough kills or something is wrong.
fn worlds(ask: &Ask, program: &Program, tally: &Mutex<Tally>) {
    let locked = || tally.lock().expect("no thread panicked");
    loop {
        let seed = {
            let mut tally = locked();
            let done = tally.begun * KILLS_OF_ONE;
            if tally.finding.is_some() || !ask.goes_on(done, KILLS) {
                return;
            }
            tally.begun += 1;
            ask.seed.wrapping_add(tally.begun - 1)
        };
        let mut world = World::new(Seed::new(seed), program, ask.hunted());
        let mut kills = 0;
        while kills < KILLS_OF_ONE && locked().finding.is_none() {
            let round = world.round();
            let mut tally = locked();
            match round {
                Ok(killed) => {
                    kills += u64::from(killed);
                    tally.count("kills", u64::from(killed));
                }
                Err(what) => {
                    tally.count("kills", 1);
                    tally.wrong(what, seed);
                }
            }
        }
        locked().count("instances", 1);
    }
}
