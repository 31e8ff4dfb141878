//! `backup`: where a copy of the records may be kept. How it is made is the store's business.

use super::{Failure, Workspace, grants};
use crate::code::{Code, Coded};
use crate::folder::{Grant, Grants};
use crate::path::HostPath;
use crate::port::{AdmitRefusal, Root};

/// Why a backup may not be kept there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupRefusal {
    /// Approved folders are read, copied about and shared, and a backup holds what others withdrew.
    #[error("a backup is not kept in a folder that is or was approved")]
    InFolder,
    /// What happens to the instance happens to it, too.
    #[error("a backup is not kept in the directory of the instance")]
    InInstance,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for BackupRefusal {
    fn code(&self) -> Code {
        match self {
            Self::InFolder | Self::InInstance => Code::FolderRefused,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl Workspace {
    /// Whether a backup may be kept at `file`, a path without links. Revoked folders count like active ones.
    ///
    /// The directories above it are told from the roots of folders by what they are, and by their paths: a folder that
    /// is mounted elsewhere is the same, and so is one that is not there now.
    ///
    /// # Errors
    /// [`BackupRefusal`]: in a folder, in the instance's directory, or a failure.
    pub fn may_back_up_to(&self, file: &HostPath) -> Result<(), BackupRefusal> {
        let grants = self.read(|tx, _| grants(tx))?;
        if grants.around(file).next().is_some() {
            return Err(BackupRefusal::InFolder);
        }
        file.above().try_for_each(|above| expect_other(self.door.admit(&above), &grants))
    }
}

/// Refuses a directory that is a folder's root or the instance's. One that cannot be approved was never a root.
fn expect_other(above: Result<Root, AdmitRefusal>, grants: &Grants) -> Result<(), BackupRefusal> {
    match above {
        Ok(root) => {
            let is_root = |grant: &Grant| grant.identity.is_same(&root.identity);
            if grants.iter().any(is_root) { Err(BackupRefusal::InFolder) } else { Ok(()) }
        }
        Err(AdmitRefusal::Instance | AdmitRefusal::InsideInstance) => {
            Err(BackupRefusal::InInstance)
        }
        Err(
            AdmitRefusal::AroundInstance
            | AdmitRefusal::Absent
            | AdmitRefusal::NotADirectory
            | AdmitRefusal::NotReadable
            | AdmitRefusal::FilesystemRoot
            | AdmitRefusal::Unreachable,
        ) => Ok(()),
    }
}
