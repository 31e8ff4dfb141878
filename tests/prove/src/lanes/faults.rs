//! Lane D: no error of the disk is swallowed.

use crate::{Ask, Lane, Outcome};

/// The lane.
pub const LANE: Lane = Lane {
    name: "faults",
    proves: "no error of the disk is swallowed",
    share: 1,
    catches: &[],
    run,
};

fn run(_: &Ask) -> Outcome {
    Outcome { skipped: Some("not built".to_owned()), ..Outcome::default() }
}
