//! `revoke`: nothing from a folder is read or shown any more; nothing is deleted.

use super::{Decision, Failure, Workspace};
use crate::audit::EventKind;
use crate::code::{Code, Coded};
use crate::document::wire::{FolderDoc, GrantEntry};
use crate::folder::{Grant, GrantState};
use crate::id::GrantId;
use crate::path::HostPath;
use crate::port::{Change, Kept, Put};

/// What a folder is called: its id, or the path of its root, also when nothing is there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderName {
    /// Its id.
    Id(GrantId),
    /// Its root, absolute.
    Root(HostPath),
}

/// Why a folder is not revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevokeError {
    /// No folder of this name was ever approved.
    #[error("no folder of this name was approved")]
    Unknown,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for RevokeError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::NotFound,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Workspace {
    /// Ends a folder's approval. A folder that is revoked already is answered as it is.
    ///
    /// # Errors
    /// [`RevokeError`]: no such folder, or a failure.
    pub fn revoke(&self, folder: &FolderName) -> Result<FolderDoc, RevokeError> {
        self.act(
            |tx, _| tx.folders(),
            |folders, _| {
                let named = folders.into_iter().find(|kept| is(&kept.value, folder));
                named.map(decide).ok_or(RevokeError::Unknown)
            },
        )?
    }
}

fn is(grant: &Grant, name: &FolderName) -> bool {
    match name {
        FolderName::Id(id) => grant.id == *id,
        FolderName::Root(root) => grant.root == *root,
    }
}

/// What is written to revoke a grant.
fn decide(kept: Kept<Grant>) -> Decision<FolderDoc> {
    match kept.value.state {
        GrantState::Revoked => {
            let folder = GrantEntry::of(&kept.value);
            Decision::nothing(FolderDoc { folder, change: "unchanged", not_looked_at: 0 })
        }
        GrantState::Active => {
            let grant = Grant { state: GrantState::Revoked, ..kept.value };
            let answer =
                FolderDoc { folder: GrantEntry::of(&grant), change: "revoked", not_looked_at: 0 };
            let kind = EventKind::FolderRevoked { folder: grant.id };
            let decision =
                Decision::act(answer, kind, vec![Put::Grant(Change::From(kept.version, grant))]);
            Decision { access_moved: true, ..decision }
        }
    }
}
