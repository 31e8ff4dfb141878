//! Ids for people: by the first digits, as few as name one.

use crate::fault::{About, Ended, Fault};
use work_core::id::{IdKind, ResultId};
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
pub(crate) fn short(work: &Workspace, kind: IdKind, id: [u8; 16]) -> String {
    shortest(work, kind, &[id]).concat()
}

/// The same for each of a whole list, which is asked for at once.
pub(crate) fn shortest(work: &Workspace, kind: IdKind, ids: &[[u8; 16]]) -> Vec<String> {
    let whole = |_| ids.iter().map(|&id| ResultId::from_bytes(id).to_string()).collect();
    work.shortest(kind, ids).unwrap_or_else(whole)
}
