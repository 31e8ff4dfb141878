//! Lane A: task, cancel and proposal machines are safe, and every state is reachable.
//!
//! Small worlds in which the real rules decide ([`work_core::testkit::world`]) are walked by `stateright`, breadth
//! first, until no state is new. Each state must be right by what the world itself keeps as true, and together the
//! worlds must reach every transition and every refusal.

mod walk;

use crate::{Ask, Counts, Finding, Lane, Outcome, Size};
use std::time::Duration;
use walk::{Bounds, Walked, walk};
use work_core::plant::Fault;
use work_core::testkit::world::Work::{Repair, Report};
use work_core::testkit::world::{Place, Setting};

/// The lane.
pub const LANE: Lane = Lane {
    name: "model",
    proves: "task, cancel and proposal machines are safe, and every state is reachable",
    share: 2,
    catches: &[
        Fault::SingleUse,
        Fault::FencingNumber,
        Fault::LeaseEnd,
        Fault::Cancellation,
        Fault::Expiry,
        Fault::BaseRevision,
        Fault::Supersede,
        Fault::Presented,
    ],
    run,
};

/// Seeds from here on name a world and how much of it is walked; smaller ones mean the whole walk.
const CASES: u32 = 40;

/// States of one world at most: what a machine of 16 GB holds.
const MOST: u64 = 25_000_000;

/// The worlds of every run.
fn small() -> Vec<Setting> {
    vec![
        Setting::new("queue", 2, &[Report, Report]).lasting(4, 1),
        Setting::new("restores", 0, &[]).proposing(3, 2).lasting(6, 2),
        Setting::new("desk", 2, &[Repair]).proposing(2, 2).lasting(3, 1),
        Setting::new("one worker", 1, &[Report, Repair]).proposing(1, 1).lasting(3, 0),
        short_scans(),
    ]
}

/// A world whose owner lowered the ceilings so far that a lease is longer than it may become by renewals. Nowhere else
/// is a renewal refused as one too many: a lease that lasts has not reached its last moment.
fn short_scans() -> Setting {
    let mut setting = Setting::new("short scans", 1, &[Report]).lasting(3, 0);
    setting.limits.scan.time = Duration::ZERO;
    setting
}

/// The worlds of a long run, which comes as far as its time allows.
fn large() -> Vec<Setting> {
    vec![
        Setting::new("slow desk", 2, &[Repair]).proposing(2, 2).lasting(4, 1),
        Setting::new("two repairs", 2, &[Repair, Repair]).proposing(2, 2).lasting(4, 0),
        Setting::new("three workers", 3, &[Report, Report]).lasting(8, 1),
        Setting::new("busy desk", 3, &[Repair, Repair]).proposing(3, 2).lasting(8, 1),
    ]
}

/// The worlds in which a fault is looked for: first the one where it hurts.
fn haunts(fault: Fault) -> Vec<Setting> {
    let of_proposals = [Fault::SingleUse, Fault::Expiry, Fault::Supersede, Fault::Presented];
    let first = if of_proposals.contains(&fault) {
        "restores"
    } else if fault == Fault::BaseRevision {
        "desk"
    } else {
        "queue"
    };
    let mut worlds = small();
    worlds.sort_by_key(|world| world.name != first);
    worlds
}

fn run(ask: &Ask) -> Outcome {
    match (ask.size, ask.seed >> CASES) {
        (Size::Hunt(fault), _) => whole(haunts(fault), ask, false),
        (Size::Ci, 0) => whole(small(), ask, true),
        (Size::Ci, world) => again(world, ask),
        (Size::Long(_), _) => whole(small().into_iter().chain(large()).collect(), ask, true),
    }
}

/// Walks these worlds. All of them together must reach every place, if that is asked.
fn whole(worlds: Vec<Setting>, ask: &Ask, everywhere: bool) -> Outcome {
    let mut all = Sum::default();
    for setting in worlds {
        let bounds = match ask.size {
            Size::Ci | Size::Hunt(_) => Bounds { visits: u64::MAX, until: None, threads: 1 },
            Size::Long(time) => Bounds {
                visits: MOST,
                until: Some(ask.begun + time),
                threads: std::thread::available_parallelism().map_or(1, usize::from),
            },
        };
        let name = setting.name;
        let walked = walk(setting, bounds);
        if let Some(finding) = all.add(name, walked) {
            return all.outcome(Some(finding));
        }
    }
    let unreached: Vec<_> = all.unreached().collect();
    let lost = (everywhere && !unreached.is_empty()).then(|| Finding {
        what: format!("never reached in any world: {}", unreached.join("; ")),
        seed: 1,
        tries: all.states,
    });
    all.outcome(lost)
}

/// Walks one world again, as far as a finding was.
fn again(world: u64, ask: &Ask) -> Outcome {
    let visits = ask.seed & ((1 << CASES) - 1);
    let mut worlds = small().into_iter().chain(large());
    let Some(setting) = usize::try_from(world - 1).ok().and_then(|n| worlds.nth(n)) else {
        return Outcome { skipped: Some("no world has this number".into()), ..Outcome::default() };
    };
    let mut all = Sum::default();
    let name = setting.name;
    let walked = walk(setting, Bounds { visits, until: None, threads: 1 });
    let finding = all.add(name, walked);
    all.outcome(finding)
}

/// The number of the world with this name, from 1.
fn number(name: &str) -> u64 {
    let at = small().iter().chain(&large()).position(|world| world.name == name);
    at.map_or(0, |at| at as u64 + 1)
}

/// What several walks came to.
#[derive(Default)]
struct Sum {
    worlds: u64,
    unfinished: u64,
    states: u64,
    steps: u64,
    reached: u64,
}

impl Sum {
    /// Adds a walk through the world with this name; what was wrong there.
    fn add(&mut self, name: &str, walked: Walked) -> Option<Finding> {
        self.worlds += 1;
        self.unfinished += u64::from(!walked.complete);
        let before = self.states;
        self.states += walked.states;
        self.steps += walked.steps;
        self.reached |= walked.reached;
        let found = walked.wrong?;
        let why: Vec<&str> = found.what.iter().map(|wrong| wrong.says()).collect();
        let path = found.path.iter().map(|step| format!("{step:?}")).collect::<Vec<_>>().join(", ");
        Some(Finding {
            what: format!("in world {name:?}: {}, after {path}", why.join("; ")),
            seed: (number(name) << CASES) + found.visits,
            tries: before + found.visits,
        })
    }

    fn unreached(&self) -> impl Iterator<Item = &'static str> {
        let missing = |place: &&Place| self.reached & (1 << **place as u32) == 0;
        Place::ALL.iter().filter(missing).map(|place| place.name())
    }

    fn outcome(self, finding: Option<Finding>) -> Outcome {
        let counts = Counts::from([
            ("worlds", self.worlds),
            ("worlds not walked to the end", self.unfinished),
            ("states", self.states),
            ("steps", self.steps),
            ("transitions and refusals reached", u64::from(self.reached.count_ones())),
        ]);
        Outcome { counts, finding, skipped: None }
    }
}
