//! What the measures share: medians, ratios, and collections of judged questions.
//!
//! A measure prints a ratio beside a peer and what is promised. It asserts nothing about time: machines differ, and a
//! noisy one must not fail a build.

pub mod collection;
pub mod peers;

use std::time::{Duration, Instant};

/// The median of an odd number of runs, after one that does not count.
pub fn median(runs: usize, mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// How many times longer `mine` took than `peer`.
#[must_use]
pub fn ratio(mine: Duration, peer: Duration) -> f64 {
    mine.as_secs_f64() / peer.as_secs_f64()
}
