//! `work-prove ci`, `work-prove long`, or `work-prove LANE [--seed N]`: runs the proofs and writes the evidence.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use work_core::plant::Fault;
use work_prove::evidence::Evidence;
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
        ["ci"] => Some(summed(&beside_each_other())),
        ["long"] => Some(summed(&one_after_another())),
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

/// What came of one lane.
#[derive(Clone, Copy, Default)]
struct Sum {
    sound: bool,
    planted: usize,
    caught: usize,
}

/// Every lane for its share of the time, from a seed that no run before had.
fn one_after_another() -> Vec<Sum> {
    let seed = fresh_seed();
    let sum = |told: Told| {
        let planted = &told.evidence.planted;
        let caught = planted.iter().filter(|one| one.caught).count();
        Sum { sound: told.is_sound(), planted: planted.len(), caught }
    };
    ALL.iter().map(|lane| sum(told(lane, long(lane), seed))).collect()
}

/// Every lane as CI runs it, each in a process of its own: a planted fault is one for a whole process, and most lanes keep
/// one core busy. What a lane says is told when it ends.
fn beside_each_other() -> Vec<Sum> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (next, sums) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(lane) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let sum = in_a_process(lane).unwrap_or_else(|error| {
                say(&format!("== {}: could not be run: {error}", lane.name));
                Sum::default()
            });
            sums.lock().unwrap_or_else(PoisonError::into_inner).push(sum);
        }
    };
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    sums.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one lane in a process of its own.
fn in_a_process(lane: &Lane) -> std::io::Result<Sum> {
    let ran = Command::new(std::env::current_exe()?)
        .arg(lane.name)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    say(String::from_utf8_lossy(&ran.stdout).trim_end());
    let told = std::fs::read(Evidence::path(&target(), lane.name))?;
    let told: serde_json::Value = serde_json::from_slice(&told)?;
    let planted = told["planted"].as_array().map_or(&[][..], Vec::as_slice);
    let caught = planted.iter().filter(|one| one["caught"] == true).count();
    Ok(Sum { sound: ran.status.success(), planted: planted.len(), caught })
}

/// Says what came of all of them, and whether all is as it must be.
fn summed(sums: &[Sum]) -> bool {
    let sound = sums.iter().filter(|sum| sum.sound).count();
    let planted: usize = sums.iter().map(|sum| sum.planted).sum();
    let caught: usize = sums.iter().map(|sum| sum.caught).sum();
    let unhunted = unhunted();
    if !unhunted.is_empty() {
        say(&format!("no lane hunts {}", unhunted.join(" ")));
    }
    say(&format!(
        "{sound} of {} lanes sound, {caught} of {planted} planted faults caught",
        ALL.len()
    ));
    sound == ALL.len() && caught == planted && unhunted.is_empty()
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
