//! Ids by their first digits.

use super::{Failure, Workspace};
use crate::code::{Code, Coded};
use crate::id::{IdKind, IdPrefix, NotAPrefix};

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
                let candidates =
                    several.iter().map(|&id| crate::id::ResultId::from_bytes(id).to_string());
                Err(FindError::Ambiguous(candidates.collect()))
            }
        }
    }
}
