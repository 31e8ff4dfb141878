//! Lane J: what was withdrawn cannot be told from what never was.
//!
//! Two worlds run the same script with the same ids and the same clock. They differ in what a folder holds that is
//! withdrawn later: other names, other texts, other sizes, another number of files. From then on every request is put
//! to both, and must be answered alike to the byte. Approved again, each tells all that it told before.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a proof ends it")]

mod ids;
mod lived;
mod program;
mod questions;
mod script;
mod secret;
mod told;

use crate::seed::Seed;
use crate::{Ask, Counts, Finding, Lane, Outcome};
use lived::{Kept, Lived};
use script::{Script, Step, Withdrawal};
use std::path::Path;
use told::Told;
use work_core::path::HostPath;
use work_core::plant::Fault;
use work_core::result::ResultState;
use work_core::workspace::StateFilter;

/// The lane.
pub const LANE: Lane = Lane {
    name: "redaction",
    proves: "what was withdrawn cannot be told from what never was",
    share: 2,
    catches: &[
        Fault::RedactionCount,
        Fault::RedactionList,
        Fault::RedactionHistory,
        Fault::NestedGrant,
    ],
    run,
};

/// Pairs of worlds in a run of CI.
const PAIRS: u64 = 200;

/// One pair in so many keeps its records in SQLite.
const SQLITE: u64 = 10;

/// One pair in so many is told by the program, too.
const PROGRAM: u64 = 50;

fn run(ask: &Ask) -> Outcome {
    let program = program::program();
    let mut outcome = Outcome::default();
    if program.is_none() {
        outcome.skipped = Some("what the program prints: it is not beside this one".to_owned());
    }
    let mut done = 0;
    while ask.goes_on(done, PAIRS) {
        let seed = ask.seed.wrapping_add(done);
        done += 1;
        let counts = &mut outcome.counts;
        let compared = pair(seed, ask.hunted(), counts)
            .and_then(|()| printed(program.as_deref(), seed, ask.hunted(), counts));
        if let Err(what) = compared {
            outcome.finding = Some(Finding { what, seed, tries: done });
            break;
        }
    }
    outcome
}

/// Lives one pair of worlds and compares them.
fn pair(seed: u64, hunted: Option<Fault>, counts: &mut Counts) -> Result<(), String> {
    let mut random = Seed::new(seed);
    let script = Script::new(&mut random, hunted);
    let kept = if seed % SQLITE == 3 { Kept::InSqlite } else { Kept::InMemory };
    let seeds = [random.next_u64(), random.next_u64()].map(Seed::new);
    let mut world = 0;
    let mut worlds = seeds.map(|seed| {
        world += 1;
        Lived::new(world - 1, script.layout, seed, kept)
    });
    let pair = &mut worlds;
    count(counts, "pairs", 1);
    count(counts, "on SQLite", u64::from(kept == Kept::InSqlite));
    live(pair, &script.before, counts)?;
    let before = before(pair, counts)?;
    withdraw(pair, counts)?;
    compare(pair, Asks::Nothing, "withdrawn", counts)?;
    pair.iter().for_each(Lived::give_back);
    back(pair, &before, counts)?;
    pair.iter().for_each(Lived::withdraw);
    live(pair, &script.after, counts)?;
    compare(pair, Asks::Everything, "withdrawn again", counts)
}

/// What the program prints of two worlds, for a pair here and there.
fn printed(
    program: Option<&Path>,
    seed: u64,
    hunted: Option<Fault>,
    counts: &mut Counts,
) -> Result<(), String> {
    let Some(program) = program.filter(|_| seed % PROGRAM == 7) else { return Ok(()) };
    let runs = program::compare(program, seed, hunted)?;
    count(counts, "runs of the program compared", runs);
    Ok(())
}

/// Plays steps in both worlds. Whatever a step comes to, it comes to in both: the worlds are made so.
fn live(pair: &mut [Lived; 2], steps: &[Step], counts: &mut Counts) -> Result<(), String> {
    for step in steps {
        let [one, other] = pair.each_mut().map(|lived| lived.act(*step));
        if one != other {
            return Err(format!("{step:?} comes to {one:?} or {other:?}"));
        }
        count(counts, "steps", 1);
    }
    Ok(())
}

/// What each tells while everything may be seen. They must differ, or to compare them would prove nothing.
fn before(pair: &[Lived; 2], counts: &mut Counts) -> Result<[Told; 2], String> {
    // Lists are to know what showing finds out.
    pair.iter().for_each(Lived::look);
    let told = pair.each_ref().map(Lived::told);
    let differ = told[0].differences(&told[1]);
    count(counts, "answers that differed before", differ as u64);
    if differ > 10 { Ok(told) } else { Err("the worlds do not differ".to_owned()) }
}

/// Ends access to what differs, and sees that something is hidden by it.
fn withdraw(pair: &[Lived; 2], counts: &mut Counts) -> Result<(), String> {
    pair.iter().for_each(Lived::withdraw);
    let removed = StateFilter::Only(ResultState::AccessRemoved);
    let hidden = pair[0].work.list(removed, None).unwrap().results.len();
    count(counts, "hidden results", hidden as u64);
    if hidden > 0 { Ok(()) } else { Err("nothing is hidden".to_owned()) }
}

/// Whether requests are made, too, that could change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    Nothing,
    Everything,
}

/// Asks both for everything that is told.
fn compare(
    pair: &mut [Lived; 2],
    asks: Asks,
    when: &str,
    counts: &mut Counts,
) -> Result<(), String> {
    let files: Vec<HostPath> = pair.iter().flat_map(|lived| lived.secret.paths()).collect();
    let mask = |lived: &mut Lived| {
        let told = match asks {
            Asks::Nothing => lived.told_of_files(&files),
            Asks::Everything => lived.told_and_refused(&files),
        };
        told.masked(&lived.blind_fingerprints(), "a fingerprint of all that was searched")
    };
    let [one, other] = pair.each_mut().map(mask);
    count(counts, "answers compared", one.len() as u64);
    one.first_difference(&other).map_or(Ok(()), |what| Err(format!("{when}: {what}")))
}

/// Whether each tells again what it told before, but for the times of looks. A folder that was read through the one
/// around it has an approval of its own now: a file that went there is not found from outside any more.
fn back(pair: &[Lived; 2], before: &[Told; 2], counts: &mut Counts) -> Result<(), String> {
    for (lived, before) in pair.iter().zip(before) {
        let again = lived.told();
        count(counts, "answers brought back", again.len() as u64);
        let left_out: &[&str] = match lived.layout.withdrawal {
            Withdrawal::Hole => &["\"observed_at\"", "moved_to", "; the same version is now "],
            Withdrawal::Revoked(_) | Withdrawal::Excluded(..) => &["\"observed_at\""],
        };
        let [before, again] = [before.clone(), again].map(|told| told.without(left_out));
        if let Some(what) = before.first_difference(&again) {
            return Err(format!("approved again: {what}"));
        }
    }
    Ok(())
}

fn count(counts: &mut Counts, what: &'static str, more: u64) {
    *counts.entry(what).or_default() += more;
}
