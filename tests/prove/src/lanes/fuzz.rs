//! Lane G: no input panics, hangs or lies.
//!
//! Each target is one function that takes any bytes and panics where something is wrong; those of the core are the
//! very ones that coverage-guided fuzzing runs (`fuzz/`). Here the saved corpus goes through them, then inputs of our
//! own: near to known ones, made by a grammar, or any bytes at all.

mod files;
mod mutate;
mod seeds;
#[path = "../../../../fuzz/src/targets.rs"]
pub mod targets;

use crate::seed::Seed;
use crate::{Ask, Finding, Lane, Outcome};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use work_core::plant::Fault;

/// The lane.
pub const LANE: Lane = Lane {
    name: "fuzz",
    proves: "no input panics, hangs or lies",
    share: 2,
    catches: &[Fault::CanonicalSeparators, Fault::QueryPanic],
    run,
};

/// Rounds of a run of CI. In each, every target gets its cases.
const ROUNDS: u64 = 30;

/// One target.
struct Target {
    name: &'static str,
    takes: fn(&[u8]),
    /// Cases of a round.
    each: u64,
    /// What inputs are near to.
    known: Vec<Vec<u8>>,
    /// An input of its own grammar.
    makes: fn(&mut Seed, &[Vec<u8>]) -> Vec<u8>,
}

fn all() -> Vec<Target> {
    let corpus =
        |name, takes, each, makes| Target { name, takes, each, known: seeds::corpus(name), makes };
    let with = |target: Target, more: Vec<Vec<u8>>| Target {
        known: [target.known, more].concat(),
        ..target
    };
    vec![
        corpus("query", targets::query, 4_000, |seed, _| seeds::query(seed)),
        corpus("canonical", targets::canonical, 1_000, |seed, _| seeds::canonical(seed)),
        corpus("retrieve", targets::retrieve, 150, |seed, _| seeds::retrieve(seed)),
        corpus("finding", targets::finding, 250, |seed, _| seeds::finding(seed)),
        with(corpus("stored", targets::stored, 4_000, mutate::near), seeds::documents()),
        with(corpus("export", targets::export, 1_000, seeds::export), seeds::exports()),
        with(corpus("database", files::database, 12, files::damaged), files::present()),
        with(corpus("migration", files::database, 4, files::damaged), files::older()),
    ]
}

fn run(ask: &Ask) -> Outcome {
    let _quiet = Quiet::new();
    let mut outcome = Outcome::default();
    let targets = all();
    let mut tries = 0;
    for target in targets.iter().filter(|target| is_wanted(target, ask.hunted())) {
        for input in &target.known {
            tries += 1;
            if let Err(what) = once(target, input) {
                outcome.finding = Some(Finding { what, seed: ask.seed, tries });
                return outcome;
            }
        }
        outcome.counts.insert(target.name, target.known.len() as u64);
    }
    let mut round = 0;
    while outcome.finding.is_none() && ask.goes_on(round, ROUNDS) {
        for target in targets.iter().filter(|target| is_wanted(target, ask.hunted())) {
            outcome.finding =
                outcome.finding.or_else(|| cases(target, ask.seed, round, &mut tries));
            *outcome.counts.entry(target.name).or_default() += target.each;
        }
        round += 1;
    }
    outcome
}

/// Whether a target could show what is hunted.
fn is_wanted(target: &Target, hunted: Option<Fault>) -> bool {
    match hunted {
        Some(Fault::CanonicalSeparators) => target.name == "canonical",
        Some(Fault::QueryPanic) => target.name == "query",
        Some(_) | None => true,
    }
}

/// The cases of one target in one round. The first of the first round has the lane's own seed.
fn cases(target: &Target, first: u64, round: u64, tries: &mut u64) -> Option<Finding> {
    for case in 0..target.each {
        let seed = first.wrapping_add(round * target.each + case);
        *tries += 1;
        let input = input(target, &mut Seed::new(seed));
        if let Err(what) = once(target, &input) {
            return Some(Finding { what, seed, tries: *tries });
        }
    }
    None
}

fn input(target: &Target, seed: &mut Seed) -> Vec<u8> {
    match seed.below(8) {
        0 => mutate::any(seed),
        1..4 if !target.known.is_empty() => mutate::near(seed, &target.known),
        _ => (target.makes)(seed, &target.known),
    }
}

/// Lets a target take one input.
fn once(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.takes)(input))).map_err(|_| {
        let said = SAID.lock().unwrap_or_else(PoisonError::into_inner).take();
        let said = said.unwrap_or_else(|| "a panic".to_owned());
        let shown = input[..input.len().min(SHOWN)].escape_ascii();
        format!("{} takes {} bytes b\"{shown}\": {said}", target.name, input.len())
    })
}

/// Bytes of an input that a finding shows.
const SHOWN: usize = 400;

/// What the latest panic said.
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Panics are kept, and not printed, while this lives.
struct Quiet;

impl Quiet {
    fn new() -> Self {
        std::panic::set_hook(Box::new(|panic| {
            *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic.to_string());
        }));
        Self
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        drop(std::panic::take_hook());
    }
}
