//! Lane E: what the real binary acknowledged outlives being killed.

use crate::{Ask, Lane, Outcome};

/// The lane.
pub const LANE: Lane = Lane {
    name: "kill",
    proves: "what the real binary acknowledged outlives being killed",
    share: 2,
    catches: &[],
    run,
};

fn run(_: &Ask) -> Outcome {
    Outcome { skipped: Some("not built".to_owned()), ..Outcome::default() }
}
