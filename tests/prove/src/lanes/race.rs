//! Lane F: nothing outside an approved folder is ever read.
//!
//! Rounds of three kinds of race against the real door, in each way in which it can go down and open: an adversary that
//! acts at the exact moment between look and open (`stepped`), one that exchanges without a pause (`bout`), and one
//! that rewrites what is read (`torn`). `judge` says what may come of it.

mod alarm;
mod bout;
mod judge;
mod stage;
mod stepped;
mod torn;

use crate::{Ask, Counts, Finding, Lane, Outcome, ground};
use bout::Bout;
use judge::Tally;
use stage::{Stage, Thing};
use std::time::Duration;
use torn::Pool;
use work_core::plant::Fault;
use work_source::FolderDoor;

/// The lane.
pub const LANE: Lane = Lane {
    name: "race",
    proves: "nothing outside an approved folder is ever read",
    share: 2,
    catches: &[Fault::SwappedFile, Fault::TornRead, Fault::Containment, Fault::OwnFile],
    run,
};

/// Rounds of CI; a round is its own seed.
const ROUNDS: u64 = 56;

/// Rounds in which a torn read is hunted: reader and writer have to run at the same moment, which a busy machine seldom
/// lets them.
const PATIENT: u64 = 4 * ROUNDS;

/// Cases of a round in which the adversary acts between look and open: 48 opens each.
const CASES: u64 = 50;

/// Opens of each bout of a round.
const BOUT: u64 = 1664;

/// Opens of a round while files are rewritten.
const TORN: u64 = 1024;

/// Rounds after which files are exchanged with the instance's own where they are opened by their names: each of them
/// that is opened then stays open for good, and this process may not run out of handles.
const SELDOM: u64 = 25;

/// What all rounds use.
struct Arena {
    stage: Stage,
    pool: Pool,
    doors: Vec<FolderDoor>,
    tally: Tally,
}

fn run(ask: &Ask) -> Outcome {
    let mut arena = Arena::build();
    let mut done = 0;
    let mut finding = None;
    let rounds = if ask.hunted() == Some(Fault::TornRead) { PATIENT } else { ROUNDS };
    while finding.is_none() && ask.goes_on(done, rounds) {
        let seed = ask.seed.wrapping_add(done);
        let verdict = match ask.hunted() {
            Some(Fault::TornRead) => arena.torn(seed),
            Some(_) => arena.stepped(seed, true),
            None => arena.round(seed),
        };
        finding = verdict.err().map(|what| Finding { what, seed, tries: arena.tally.opens });
        done += 1;
    }
    let silent = "this system tells nobody of opens, so only what was read is known";
    let skipped = arena.stage.alarm.is_none().then(|| silent.to_owned());
    Outcome { counts: arena.counts(done), finding, skipped }
}

impl Arena {
    fn build() -> Self {
        let stage = Stage::build();
        let doors = ground::doors(&stage.instance(), Duration::from_secs(20));
        Self { stage, pool: Pool::build(), doors, tally: Tally::default() }
    }

    /// One round. Each round is another way's turn in what is long.
    fn round(&mut self, seed: u64) -> Result<(), String> {
        self.stepped(seed, seed.is_multiple_of(SELDOM))?;
        let door = &self.doors[way(seed, self.doors.len())];
        for bout in Bout::ALL {
            let seldom = bout == Bout::Own && ground::opens_by_name(door);
            let opens = if seldom { BOUT / 50 } else { BOUT };
            bout::fight(&self.stage, door, bout, (seed, opens), &mut self.tally)?;
        }
        self.torn(seed)
    }

    /// Cases of exchanges between look and open, in each way.
    fn stepped(&mut self, seed: u64, with_own: bool) -> Result<(), String> {
        for case in 0..CASES {
            let door = &self.doors[way(case, self.doors.len())];
            let things: Vec<Thing> = Thing::ALL
                .into_iter()
                .filter(|thing| with_own || !thing.is_own_file() || !ground::opens_by_name(door))
                .collect();
            let seed = seed.wrapping_mul(CASES).wrapping_add(case);
            stepped::case(&self.stage, door, &things, seed, &mut self.tally)?;
        }
        Ok(())
    }

    /// Reads of files that are rewritten.
    fn torn(&mut self, seed: u64) -> Result<(), String> {
        let door = &self.doors[way(seed, self.doors.len())];
        self.pool.fight(door, (seed, TORN), &mut self.tally)
    }

    fn counts(&self, rounds: u64) -> Counts {
        let Tally { opens, attacks, given, denied, missing, unstable, held_up } = self.tally;
        Counts::from([
            ("rounds", rounds),
            ("opens", opens),
            ("attacks meanwhile", attacks),
            ("files given", given),
            ("files denied", denied),
            ("files missing", missing),
            ("files unstable", unstable),
            ("mixtures under a held-up write", held_up),
        ])
    }
}

/// Which way's turn it is.
fn way(turn: u64, ways: usize) -> usize {
    usize::try_from(turn).unwrap_or(0) % ways
}
