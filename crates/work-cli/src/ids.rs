//! Ids for people: by the first digits, as few as name one.

use crate::fault::{About, Ended, Fault};
use std::fmt::Display;
use work_core::id::{IdKind, IdPrefix};
use work_core::workspace::Workspace;

/// The id that `digits` stand for.
///
/// # Errors
/// [`Ended`] when they stand for none or for several.
pub(crate) fn find<T>(
    work: &Workspace,
    kind: IdKind,
    digits: &str,
    named: fn([u8; 16]) -> T,
) -> Result<T, Ended> {
    work.find(kind, digits, named)
        .map_err(|error| Fault::from(error).named(digits).about(about(kind)).into())
}

const fn about(kind: IdKind) -> About {
    match kind {
        IdKind::Grant => About::Folder,
        IdKind::Source | IdKind::Result | IdKind::Proposal => About::Result,
        IdKind::Task => About::Task,
    }
}

/// The fewest digits that name `id` now: all of them where that cannot be told.
pub(crate) fn short(work: &Workspace, kind: IdKind, id: impl Display) -> String {
    let id = id.to_string();
    let names = |digits: &&str| work.find(kind, digits, std::convert::identity).is_ok();
    let lengths = (IdPrefix::SHORTEST..id.len()).map(|length| &id[..length]);
    lengths.into_iter().find(names).map(str::to_owned).unwrap_or(id)
}
