//! `work-prove ci`, `work-prove long`, or `work-prove LANE [--seed N]`: runs the proofs and writes the evidence.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use work_core::plant::Fault;
use work_prove::lanes::ALL;
use work_prove::{Lane, Size, Told, run};

/// The seed of every run of CI. A long run begins at the time, and says where.
const SEED: u64 = 1;

/// Minutes of a long run, if `PROVE_MINUTES` says nothing else.
const MINUTES: u64 = 60;

const USAGE: &str =
    "usage: work-prove ci | long | LANE [--seed N]   (PROVE_MINUTES: time of a long run)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let sound = match words.as_slice() {
        ["ci"] => all(|_| Size::Ci, SEED),
        ["long"] => all(long, fresh_seed()),
        [name] => one(name, SEED),
        [name, "--seed", seed] => seed.parse().ok().and_then(|seed| one(name, seed)),
        _ => None,
    };
    match sound {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            say(USAGE);
            say(&format!("lanes: {}", ALL.map(|lane| lane.name).join(" ")));
            ExitCode::from(2)
        }
    }
}

/// A lane's part of a long run.
fn long(lane: &Lane) -> Size {
    let minutes = std::env::var("PROVE_MINUTES").ok().and_then(|given| given.parse().ok());
    let seconds = minutes.unwrap_or(MINUTES) * 60;
    let shares: u32 = ALL.iter().map(|lane| lane.share).sum();
    Size::Long(Duration::from_secs(seconds * u64::from(lane.share) / u64::from(shares)))
}

/// A seed that no run before had.
fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(SEED, |since| since.as_secs())
}

fn all(size: impl Fn(&Lane) -> Size, seed: u64) -> Option<bool> {
    let told: Vec<Told> = ALL.iter().map(|lane| told(lane, size(lane), seed)).collect();
    let planted = told.iter().flat_map(|one| &one.evidence.planted);
    let (all, caught) =
        planted.fold((0, 0), |(all, caught), one| (all + 1, caught + u32::from(one.caught)));
    let sound = told.iter().filter(|one| one.is_sound()).count();
    let unhunted = unhunted();
    if !unhunted.is_empty() {
        say(&format!("no lane hunts {}", unhunted.join(" ")));
    }
    say(&format!("{sound} of {} lanes sound, {caught} of {all} planted faults caught", told.len()));
    Some(sound == told.len() && unhunted.is_empty())
}

/// Faults that no lane promises to catch.
fn unhunted() -> Vec<&'static str> {
    let hunted = |fault: &&Fault| ALL.iter().any(|lane| lane.catches.contains(fault));
    Fault::ALL.iter().filter(|fault| !hunted(fault)).map(|fault| fault.name()).collect()
}

fn one(name: &str, seed: u64) -> Option<bool> {
    let lane = ALL.iter().find(|lane| lane.name == name)?;
    Some(told(lane, Size::Ci, seed).is_sound())
}

/// Runs a lane, says what came of it, and writes the evidence.
fn told(lane: &Lane, size: Size, seed: u64) -> Told {
    say(&format!("== {}: {} (seed {seed})", lane.name, lane.proves));
    let told = run(lane, size, seed);
    let counts: Vec<String> =
        told.evidence.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    say(&format!("   {} in {} s", counts.join(", "), told.evidence.seconds));
    if let Some(why) = &told.evidence.skipped {
        say(&format!("   skipped: {why}"));
    }
    for one in &told.evidence.planted {
        let what = if one.caught { "caught" } else { "NOT CAUGHT" };
        say(&format!("   {}: {what} after {} tries", one.name, one.tries));
    }
    if let Some(finding) = &told.finding {
        let (name, seed, tries) = (lane.name, finding.seed, finding.tries);
        say(&format!("   WRONG after {tries} tries: {}", finding.what));
        say(&format!("   again: work-prove {name} --seed {seed}"));
    }
    if let Err(error) = told.evidence.write(&target()) {
        say(&format!("   the evidence could not be written: {error}"));
    }
    told
}

/// The build directory: where this program lies, two levels up.
fn target() -> std::path::PathBuf {
    let here = std::env::current_exe().ok();
    let target = here.as_deref().and_then(Path::parent).and_then(Path::parent);
    target.unwrap_or(Path::new("target")).to_owned()
}

#[expect(clippy::print_stdout, reason = "what the program is for")]
fn say(text: &str) {
    println!("{text}");
}
