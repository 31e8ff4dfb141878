//! Lane B: whole workspaces keep their promises under faults.

use crate::{Ask, Lane, Outcome};

/// The lane.
pub const LANE: Lane = Lane {
    name: "simulation",
    proves: "whole workspaces keep their promises under faults",
    share: 4,
    catches: &[],
    run,
};

fn run(_: &Ask) -> Outcome {
    Outcome { skipped: Some("not built".to_owned()), ..Outcome::default() }
}
