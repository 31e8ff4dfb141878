//! Lane K: a damaged, newer or foreign file is refused and untouched, and a migration is all or nothing.
//!
//! `original` is a small instance in which something of everything has happened, and what it answers; `damage` changes
//! bytes of its file; `verdict` says whether what the product makes of that is in order. `foreign` has the files that
//! are no database of this program at all, and `migration` stops one at every step.

mod answers;
mod damage;
mod foreign;
mod migration;
mod original;
mod rows;
mod verdict;

use crate::seed::Seed;
use crate::{Ask, Counts, Finding, Lane, Outcome};
use original::Original;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use work_core::plant::Fault;

/// The lane.
pub const LANE: Lane = Lane {
    name: "database",
    proves: "a damaged, newer or foreign file is refused and untouched",
    share: 2,
    catches: &[
        Fault::MigrationStep,
        Fault::MigrationHalfway,
        Fault::NewerDatabase,
        Fault::StoredDigest,
    ],
    run,
};

/// Damaged files in CI.
const DAMAGED: u64 = 2000;

/// At the same time.
const AT_ONCE: usize = 2;

/// What a part of the lane found wrong: the case that shows it again, and what.
type Wrong = (u64, String);

fn run(ask: &Ask) -> Outcome {
    let mut done = Outcome::default();
    let parts: &[Part] = match ask.hunted() {
        Some(Fault::MigrationStep | Fault::MigrationHalfway) => &[migration::run],
        Some(Fault::NewerDatabase) => &[foreign::run],
        Some(_) => &[damaged],
        None => &[foreign::run, migration::run, damaged],
    };
    for part in parts {
        let wrong = part(ask, &mut done.counts);
        let tries = done.counts.values().sum();
        done.finding = wrong.err().map(|(seed, what)| Finding { what, seed, tries });
        if done.finding.is_some() {
            break;
        }
    }
    if done.finding.is_none() && !cfg!(feature = "plant") {
        done.skipped = Some("migrations are stopped in builds that can plant faults alone".into());
    }
    done
}

/// A part of the lane.
type Part = fn(&Ask, &mut Counts) -> Result<(), Wrong>;

/// Damages one file after the other.
fn damaged(ask: &Ask, counts: &mut Counts) -> Result<(), Wrong> {
    let original = Original::new();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let found: Mutex<Vec<Wrong>> = Mutex::default();
    let tallies: Mutex<Vec<Counts>> = Mutex::default();
    std::thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                let mut tally = Counts::default();
                let mut bench = verdict::Bench::new(&original);
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if stop.load(Ordering::Relaxed) || !ask.goes_on(n, DAMAGED) {
                        break;
                    }
                    let case = ask.seed.wrapping_add(n);
                    let damage = match ask.hunted() {
                        Some(_) => damage::of_text(n, &original.file),
                        None => damage::of(case, &mut Seed::new(case), &original.file),
                    };
                    *tally.entry("damaged files").or_default() += 1;
                    match bench.judge(&damage) {
                        Ok(verdict) => *tally.entry(verdict.name()).or_default() += 1,
                        Err(what) => {
                            stop.store(true, Ordering::Relaxed);
                            found.lock().expect("no panic").push((case, what));
                        }
                    }
                }
                tallies.lock().expect("no panic").push(tally);
            });
        }
    });
    for (what, count) in tallies.into_inner().expect("no panic").into_iter().flatten() {
        *counts.entry(what).or_default() += count;
    }
    let first = found.into_inner().expect("no panic").into_iter().min();
    first.map_or(Ok(()), Err)
}
