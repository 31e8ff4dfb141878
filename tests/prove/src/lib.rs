//! The proofs: lanes that try to break the product, and planted faults that show that they could.
//!
//! Each lane is one module under [`lanes`]; [`Lane`] is its shape. [`run`] goes through a lane as it is, then once for
//! each fault that the lane promises to catch, and writes what happened as evidence. How to replay a seed and how to
//! add a fault stands in `tests/README.md`.

pub mod evidence;
mod ground;
pub mod lanes;
mod run;
pub mod seed;

pub use run::{Told, run};

use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use work_core::plant::Fault;

/// How much a lane does.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// What every run of CI does: the same counts each time.
    Ci,
    /// As much as fits into this time, and at least as much as CI.
    Long(Duration),
    /// Until the planted fault is caught, and no more than CI does: the lane goes to where it hurts first.
    Hunt(Fault),
}

/// What a lane is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// How much.
    pub size: Size,
    /// Where everything random in it begins.
    pub seed: u64,
    /// When the lane began.
    pub begun: Instant,
}

impl Ask {
    /// Whether to go on after `done` of what CI does `ci` of.
    #[must_use]
    pub fn goes_on(&self, done: u64, ci: u64) -> bool {
        match self.size {
            Size::Ci | Size::Hunt(_) => done < ci,
            Size::Long(time) => done < ci || self.begun.elapsed() < time,
        }
    }

    /// The fault that is hunted, if one is.
    #[must_use]
    pub const fn hunted(&self) -> Option<Fault> {
        match self.size {
            Size::Hunt(fault) => Some(fault),
            Size::Ci | Size::Long(_) => None,
        }
    }
}

/// What a lane counted, by name.
pub type Counts = BTreeMap<&'static str, u64>;

/// What a lane found wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is not as it must be.
    pub what: String,
    /// The seed, or the number of the case, that shows it again: `work-prove LANE --seed N`.
    pub seed: u64,
    /// Cases up to and with this one.
    pub tries: u64,
}

/// What came of a lane.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What it did.
    pub counts: Counts,
    /// The first thing wrong, at which it ended.
    pub finding: Option<Finding>,
    /// Why it, or a part of it, could not run on this machine: said, and no proof.
    pub skipped: Option<String>,
}

/// One lane.
pub struct Lane {
    /// Its name, as the evidence has it.
    pub name: &'static str,
    /// What it proves, in one line.
    pub proves: &'static str,
    /// Its share of a long run, out of the sum of all.
    pub share: u32,
    /// The faults that it must catch.
    pub catches: &'static [Fault],
    /// Runs it. A panic is a finding too, without a seed of its own.
    pub run: fn(&Ask) -> Outcome,
}
