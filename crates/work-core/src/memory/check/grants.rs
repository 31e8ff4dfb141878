//! Grants, sources and documents.

use super::{Checked, Draft, first, goes_on, must};
use crate::digest::Digest;
use crate::folder::{Grant, GrantState};
use crate::id::{GrantId, SourceId};
use crate::path::RelPath;
use crate::port::Change;
use crate::time::Now;
use std::sync::Arc;

impl Draft<'_> {
    /// Approves a folder, or changes its approval.
    pub(super) fn grant(&mut self, change: &Change<Grant>) -> Checked {
        let new = change.value();
        match self.tables.grants.replaced_by(&new.id, change)? {
            // An approval from before the owner set time back stays as it was when the folder is revoked.
            Some(old) if old.approved_at == new.approved_at => carries_on(old, new, self.now)?,
            Some(old) => {
                carries_on(old, new, self.now)?;
                self.past(new.approved_at)?;
            }
            None => {
                self.is_a_first_approval(new)?;
                self.past(new.approved_at)?;
            }
        }
        must(new.site == self.tables.head.site, "a folder of another site")?;
        must(new.since_look <= self.tables.head.looks, "an approval after looks to come")?;
        let labels = self.tables.grants.oldest_first().map(|kept| &kept.value);
        let taken = |other: &Grant| other.id != new.id && other.label == new.label;
        must(!labels.into_iter().any(taken), "two folders with one label")?;
        Arc::make_mut(&mut self.tables.grants).put(new.id, new.clone());
        Ok(())
    }

    /// Whether a grant may begin like this.
    fn is_a_first_approval(&self, new: &Grant) -> Checked {
        let roots =
            self.tables.grants.oldest_first().map(|kept| (kept.value.site, &kept.value.root));
        first(!roots.into_iter().any(|root| root == (new.site, &new.root)))?;
        must(self.tables.grants.len() < self.limits.folders, "more folders than there may be")?;
        must(new.state == GrantState::Active, "a folder that was revoked before it was approved")?;
        must(new.swept_at.is_none(), "a folder that was looked at before it was approved")
    }

    /// Names a source.
    pub(super) fn source(&mut self, id: SourceId, grant: GrantId, path: &RelPath) -> Checked {
        must(self.tables.grants.get(&grant).is_some(), "a source without its folder")?;
        let place = (grant, path.clone());
        first(!self.tables.sources.contains_key(&id) && !self.tables.places.contains_key(&place))?;
        Arc::make_mut(&mut self.tables.sources).insert(id, place.clone());
        Arc::make_mut(&mut self.tables.places).insert(place, id);
        Ok(())
    }

    /// Keeps a document. The same digest is the same bytes for ever.
    pub(super) fn document(&mut self, digest: Digest, bytes: &[u8]) -> Checked {
        match self.tables.documents.get(&digest) {
            Some(old) => must(**old == *bytes, "two documents under one digest"),
            None => {
                Arc::make_mut(&mut self.tables.documents).insert(digest, bytes.into());
                Ok(())
            }
        }
    }

    /// Whether all these documents are kept.
    pub(super) fn documents_exist(&self, digests: &[Digest]) -> Checked {
        let all = digests.iter().all(|digest| self.tables.documents.contains_key(digest));
        must(all, "a record without its documents")
    }

    /// Whether a query has a scope of known folders.
    pub(super) fn scope_exists(&self, query: &str, scope: &[GrantId]) -> Checked {
        must(!query.is_empty() && !scope.is_empty(), "a query without words or folders")?;
        let known = scope.iter().all(|grant| self.tables.grants.get(grant).is_some());
        must(known, "a scope of unknown folders")
    }
}

/// Whether a grant may become this: its root stays, its times do not go back. A later approval may forget
/// the sweep before it.
fn carries_on(old: &Grant, new: &Grant, now: Now) -> Checked {
    must((new.site, &new.root) == (old.site, &old.root), "a folder that moved")?;
    let on = goes_on(old.approved_at, new.approved_at, now);
    must(on, "an approval that went back in time")?;
    must(new.since_look >= old.since_look, "an approval that counts older looks")?;
    let forgotten = new.swept_at.is_none() && new.approved_at != old.approved_at;
    must(forgotten || new.swept_at >= old.swept_at, "a sweep that went back in time")
}
