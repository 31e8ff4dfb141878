//! `folders`: what is and was approved, and whether it is there.

use super::{Failure, Workspace, grants};
use crate::document::wire::{FoldersDoc, GrantEntry};

impl Workspace {
    /// All folders, revoked ones too, in the order of their first approval, with what their roots are now.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn folders(&self) -> Result<FoldersDoc, Failure> {
        let all = self.read(|tx, _| grants(tx))?;
        let roots = self.door.roots(all.as_slice());
        let entry =
            |(grant, reached)| GrantEntry { reached: Some(reached), ..GrantEntry::of(grant) };
        Ok(FoldersDoc { folders: all.iter().zip(roots).map(entry).collect() })
    }
}
