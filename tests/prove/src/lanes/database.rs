//! Lane K: a damaged, newer or foreign file is refused and untouched.

use crate::{Ask, Lane, Outcome};

/// The lane.
pub const LANE: Lane = Lane {
    name: "database",
    proves: "a damaged, newer or foreign file is refused and untouched",
    share: 2,
    catches: &[],
    run,
};

fn run(_: &Ask) -> Outcome {
    Outcome { skipped: Some("not built".to_owned()), ..Outcome::default() }
}
