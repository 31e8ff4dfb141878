//! Ids for people: by the first digits, as few as name one.

use crate::fault::{About, Ended, Fault};
use crate::open::Opened;
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
        IdKind::Source | IdKind::Result => About::Result,
        IdKind::Task => About::Task,
        IdKind::Proposal => About::Proposal,
    }
}

/// How much of an id people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// As few as name one now.
    Fewest,
    /// All of them.
    All,
}

/// The digits that name `id`: all of them where the fewest cannot be told.
pub(crate) fn short(opened: &Opened, kind: IdKind, id: [u8; 16]) -> String {
    shortest(opened, kind, &[id]).concat()
}

/// The same for each of a whole list, which is asked for at once.
pub(crate) fn shortest(opened: &Opened, kind: IdKind, ids: &[[u8; 16]]) -> Vec<String> {
    let whole = || ids.iter().map(|&id| ResultId::from_bytes(id).to_string()).collect();
    match opened.digits {
        Digits::All => whole(),
        Digits::Fewest => opened.work.shortest(kind, ids).unwrap_or_else(|_| whole()),
    }
}
