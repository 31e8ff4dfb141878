//! Lane C: every command is all or nothing after a crash at any write.

use crate::{Ask, Lane, Outcome};

/// The lane.
pub const LANE: Lane = Lane {
    name: "crash",
    proves: "every command is all or nothing after a crash at any write",
    share: 3,
    catches: &[],
    run,
};

fn run(_: &Ask) -> Outcome {
    Outcome { skipped: Some("not built".to_owned()), ..Outcome::default() }
}
