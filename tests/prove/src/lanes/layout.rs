//! Lane I: a scan survives any folder.
//!
//! `museum` has a room for each specimen and its expected verdict; `trees` are random, against a plain reference.

mod museum;
mod trees;

use crate::{Ask, Counts, Finding, Lane, Outcome};
use work_core::plant::Fault;

/// The lane.
pub const LANE: Lane = Lane {
    name: "layout",
    proves: "a scan survives any folder",
    share: 1,
    catches: &[Fault::LossyName, Fault::BlockingOpen, Fault::EntryLimit],
    run,
};

/// Random trees of CI; each is its own seed.
const TREES: u64 = 500;

fn run(ask: &Ask) -> Outcome {
    let mut counts = Counts::new();
    let (specimens, skipped) = match museum::visit() {
        Ok(seen) => seen,
        Err(what) => return found(counts, what, ask.seed, 1),
    };
    counts.insert("specimens", specimens);
    let mut done = 0;
    while ask.goes_on(done, TREES) {
        let seed = ask.seed.wrapping_add(done);
        done += 1;
        if let Err(what) = trees::compare(seed) {
            return found(counts, what, seed, done);
        }
    }
    counts.insert("trees", done);
    Outcome { counts, finding: None, skipped }
}

fn found(counts: Counts, what: String, seed: u64, tries: u64) -> Outcome {
    Outcome { counts, finding: Some(Finding { what, seed, tries }), ..Outcome::default() }
}
