//! Running a lane: as it is, then with each of its faults.

use crate::evidence::{Evidence, Planted};
use crate::{Ask, Finding, Lane, Outcome, Size};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use work_core::plant::Fault;

/// What came of a lane and of its faults.
#[derive(Debug)]
pub struct Told {
    /// What is written down.
    pub evidence: Evidence,
    /// What the lane found wrong with nothing planted.
    pub finding: Option<Finding>,
}

impl Told {
    /// Whether nothing is wrong and every fault was caught.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.finding.is_none() && self.evidence.planted.iter().all(|one| one.caught)
    }
}

/// Runs a lane, then hunts each of its faults if this build can plant them.
#[must_use]
pub fn run(lane: &Lane, size: Size, seed: u64) -> Told {
    let begun = Instant::now();
    let Outcome { counts, finding, skipped } = once(lane, &Ask { size, seed, begun });
    let planted = lane.catches.iter().filter_map(|&fault| hunt(lane, fault, seed)).collect();
    let (lane, seeds, seconds) = (lane.name, vec![seed], begun.elapsed().as_secs());
    Told { evidence: Evidence { lane, counts, seeds, seconds, planted, skipped }, finding }
}

/// Runs a lane once. A panic is a finding.
fn once(lane: &Lane, ask: &Ask) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| (lane.run)(ask))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        let finding = Finding { what: said.to_owned(), seed: ask.seed, tries: 1 };
        Outcome { finding: Some(finding), ..Outcome::default() }
    })
}

/// Plants a fault and runs the lane until it sees it.
#[cfg(feature = "plant")]
fn hunt(lane: &Lane, fault: Fault, seed: u64) -> Option<Planted> {
    work_core::plant::plant(Some(fault));
    let outcome = once(lane, &Ask { size: Size::Hunt(fault), seed, begun: Instant::now() });
    work_core::plant::plant(None);
    let tries = outcome.finding.as_ref().map_or(0, |finding| finding.tries);
    Some(Planted { name: fault.name(), caught: outcome.finding.is_some(), tries })
}

/// Nothing can be planted in this build.
#[cfg(not(feature = "plant"))]
fn hunt(_: &Lane, _: Fault, _: u64) -> Option<Planted> {
    None
}
