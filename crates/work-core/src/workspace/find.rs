//! Ids by their first digits.

use super::{Failure, Workspace};
use crate::code::{Code, Coded};
use crate::id::{IdKind, IdPrefix, NotAPrefix, ResultId};
use crate::port::{ReadTx, StoreError};

/// Why nothing was found by a prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing begins with it.
    #[error("there is nothing of this name")]
    Unknown,
    /// More than one id begins with it: the first of them, in order.
    #[error("{} ids begin with these digits", .0.len())]
    Ambiguous(Vec<String>),
    /// It can be the beginning of no id.
    #[error(transparent)]
    NotAPrefix(#[from] NotAPrefix),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for FindError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::Ambiguous(_) => Code::AmbiguousId,
            Self::NotAPrefix(_) => Code::InvalidArgument,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Workspace {
    /// The one id of a kind that begins with `prefix`, four digits at least.
    ///
    /// # Errors
    /// [`FindError`]: none, more than one, no prefix of an id, or a failure.
    pub fn find<T>(
        &self,
        kind: IdKind,
        prefix: &str,
        named: fn([u8; 16]) -> T,
    ) -> Result<T, FindError> {
        let prefix: IdPrefix = prefix.parse()?;
        let found = self.read(|tx, _| tx.ids(kind, &prefix, self.limits.candidates))?;
        match found.as_slice() {
            [] => Err(FindError::Unknown),
            [one] => Ok(named(*one)),
            several => {
                let candidates = several.iter().map(|&id| digits(id));
                Err(FindError::Ambiguous(candidates.collect()))
            }
        }
    }

    /// The fewest digits that name each of `ids` now, four at least: one snapshot for a whole list, in its order.
    ///
    /// An id that is not in the store is given whole.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn shortest(&self, kind: IdKind, ids: &[[u8; 16]]) -> Result<Vec<String>, Failure> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.read(|tx, _| ids.iter().map(|&id| shortest(tx, kind, id)).collect())
    }
}

/// The fewest digits that only `id` begins with.
fn shortest(tx: &mut dyn ReadTx, kind: IdKind, id: [u8; 16]) -> Result<String, StoreError> {
    let whole = digits(id);
    for length in IdPrefix::SHORTEST..whole.len() {
        let prefix = whole[..length].parse().expect("the first digits of an id");
        match tx.ids(kind, &prefix, 2)?.as_slice() {
            [one] if *one == id => return Ok(whole[..length].to_owned()),
            [] | [_] => break,
            [_, _, ..] => {}
        }
    }
    Ok(whole)
}

/// All digits of an id: they are the same for every kind.
fn digits(id: [u8; 16]) -> String {
    ResultId::from_bytes(id).to_string()
}
