//! `folders`: what is and was approved.

use super::{Failure, Workspace, grants};
use crate::document::wire::{FoldersDoc, GrantEntry};
use crate::port::StoreError;

impl Workspace {
    /// All folders, revoked ones too, in the order of their first approval.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn folders(&self) -> Result<FoldersDoc, Failure> {
        self.read(|tx, _| {
            let folders = grants(tx)?.iter().map(GrantEntry::of).collect();
            Ok::<_, StoreError>(FoldersDoc { folders })
        })
    }
}
