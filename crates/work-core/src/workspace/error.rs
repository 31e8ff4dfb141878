//! What can go wrong in any use case.

use crate::code::{Code, Coded};
use crate::id::ActId;
use crate::port::StoreError;

/// Something broke, or was too busy. What the rules refuse is told by each use case's own error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record changed while it was being decided on; nothing was written.
    #[error("a record changed meanwhile, and nothing was written")]
    Overtaken,
    /// A write failed, and it is settled that nothing was written.
    #[error("nothing was written: {0}")]
    Lost(#[source] StoreError),
    /// A write may have happened, and it could not be settled.
    #[error("{cause}, and it is not known whether act {act} was written")]
    UnknownOutcome {
        /// What to look for in the log.
        act: ActId,
        /// Why the write failed.
        cause: StoreError,
    },
}

impl Coded for Failure {
    fn code(&self) -> Code {
        match self {
            Self::Store(cause) => cause.code(),
            Self::Overtaken => Code::Busy,
            Self::Lost(cause) => cause.code(),
            Self::UnknownOutcome { .. } => Code::UnknownOutcome,
        }
    }
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            Self::Busy | Self::TooSlow => Code::Busy,
            Self::DiskFull => Code::DiskFull,
            Self::ReadOnly => Code::ReadOnly,
            Self::NetworkFilesystem => Code::NetworkFilesystem,
            Self::Damaged => Code::StoreDamaged,
            Self::Newer => Code::StoreNewer,
            Self::Foreign => Code::StoreForeign,
            Self::Io(_) | Self::Internal(_) => Code::Internal,
        }
    }
}
