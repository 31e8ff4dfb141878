//! Notes: looks, findings, sweeps and renewals.

use super::tasks::stays_itself;
use super::{Checked, Draft, first, goes_on, must};
use crate::digest::Digest;
use crate::id::{GrantId, ResultId, SourceId};
use crate::port::{Change, Note, Version};
use crate::quote::Finding;
use crate::result::RevisionNo;
use crate::source::{Observation, Seen};
use crate::task::{Lease, Progress, Task, TaskState};
use crate::time::Timestamp;
use std::sync::Arc;

impl Draft<'_> {
    /// Takes one note.
    pub(super) fn note(&mut self, note: &Note) -> Checked {
        match note {
            Note::Look(source, change) => self.look(*source, change),
            Note::Finding { result, revision, n, against, finding } => {
                self.finding((*result, *revision), *n, (*against, *finding))
            }
            Note::Swept(grant, at) => self.swept(*grant, *at),
            Note::Renewal(version, task, progress) => self.renewal(*version, task, *progress),
        }
    }

    /// Keeps the latest look at a source.
    fn look(&mut self, source: SourceId, change: &Change<Observation>) -> Checked {
        let new = change.value();
        must(self.tables.sources.contains_key(&source), "a look at an unknown source")?;
        must(self.tables.grants.get(&new.owner).is_some(), "a look under an unknown folder")?;
        must(new.no <= self.tables.head.looks, "a look that was not counted")?;
        let bytes = matches!(new.seen, Seen::Bytes(_));
        must(bytes || new.stamp.is_none(), "a stamp of a file without bytes")?;
        self.past(new.looked_at)?;
        let old = self.tables.observations.replaced_by(&source, change)?;
        self.counts(old, new)?;
        Arc::make_mut(&mut self.tables.observations).put(source, *new);
        Ok(())
    }

    /// Whether a look that says something new has a new number, and no look goes back.
    fn counts(&self, old: Option<&Observation>, new: &Observation) -> Checked {
        let is_news = old.is_none_or(|old| (old.seen, old.owner) != (new.seen, new.owner));
        must(!is_news || new.no > self.was.head.looks, "a look that differs and was not counted")?;
        let on = old
            .is_none_or(|old| old.no <= new.no && goes_on(old.looked_at, new.looked_at, self.now));
        must(on, "a look that went back")
    }

    /// Keeps what became of an accepted quotation.
    fn finding(
        &mut self,
        (result, revision): (ResultId, RevisionNo),
        n: u32,
        found: (Digest, Finding),
    ) -> Checked {
        let accepted = self.tables.results.value(&result).map(|result| result.accepted);
        must(accepted.is_some(), "a finding about an unknown result")?;
        first(accepted == Some(revision))?;
        match Arc::make_mut(&mut self.tables.quotations).get_mut(&(result, n)) {
            Some(row) => row.finding = Some(found),
            None => return must(false, "a finding about an unknown quotation"),
        }
        Ok(())
    }

    /// Keeps when everything under a grant was last looked at.
    fn swept(&mut self, grant: GrantId, at: Timestamp) -> Checked {
        self.past(at)?;
        let old = self.tables.grants.value(&grant).map(|grant| grant.swept_at);
        must(old.is_some(), "a sweep of an unknown folder")?;
        first(old.flatten().is_none_or(|old| goes_on(old, at, self.now)))?;
        let grants = Arc::make_mut(&mut self.tables.grants);
        grants.touch(&grant, |grant| grant.swept_at = Some(at));
        Ok(())
    }

    /// Carries a lease on, and keeps how far the work has come.
    fn renewal(&mut self, version: Version, new: &Task, progress: Progress) -> Checked {
        let change = Change::From(version, new.clone());
        let Some(old) = self.tables.tasks.replaced_by(&new.id, &change)? else { return Ok(()) };
        stays_itself(old, new, self.now)?;
        let same =
            (new.fence, new.attempts, new.updated_at) == (old.fence, old.attempts, old.updated_at);
        let carried = match (old.state, new.state) {
            (TaskState::Running(was), TaskState::Running(lease)) => {
                was.lasts(self.now) && lease.lasts(self.now) && carries_on(was, lease)
            }
            _ => false,
        };
        must(same && carried, "a renewal that is none")?;
        Arc::make_mut(&mut self.tables.tasks).put(new.id, new.clone());
        Arc::make_mut(&mut self.tables.progress).insert(new.id, progress);
        Ok(())
    }
}

/// Whether it is the same lease and does not end earlier.
fn carries_on(was: Lease, lease: Lease) -> bool {
    Lease { ends: was.ends, ..lease } == was && lease.ends >= was.ends
}
