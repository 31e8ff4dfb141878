//! What a viewer may see of each record: the only door to content.
//!
//! Stores hand content out [`Sealed`]. [`Access`] knows all grants, and what was seen of the sources at hand; it opens
//! a seal for who can name the sources that the content rests on, if none of them is denied or unreachable. Content
//! that rests on nothing stays shut. There is no permission cache: an `Access` is made for each answer.

use crate::document::wire::{FolderScanDoc, ScanDoc};
use crate::folder::{Grant, GrantState, Grants};
use crate::id::{GrantId, SourceId};
use crate::path::RelPath;
use crate::port::{Document, Kept, Want};
use crate::report::{FolderScan, Reached, ScanRecord};
use crate::result::ResultState;
use crate::source::{Look, Observation, Seen, Source, SourceVersion};
use crate::task::{Progress, ReportRequest};
use std::collections::BTreeMap;
use std::fmt;

/// Content that only this module opens.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed<T>(T);

impl<T> Sealed<T> {
    /// Seals what a store read.
    pub const fn new(content: T) -> Self {
        Self(content)
    }
}

impl<T> fmt::Debug for Sealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed(..)")
    }
}

/// Why content stays shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Withheld {
    /// A source could not be looked at, or the record of what it rests on cannot be read.
    #[error("a source could not be looked at")]
    EvidenceUnavailable,
    /// Access to a source was withdrawn.
    #[error("access to a source was withdrawn")]
    AccessRemoved,
}

impl Withheld {
    /// The state that a stub tells.
    #[must_use]
    pub const fn state(self) -> ResultState {
        match self {
            Self::EvidenceUnavailable => ResultState::EvidenceUnavailable,
            Self::AccessRemoved => ResultState::AccessRemoved,
        }
    }
}

/// A fresh look, and the version of the stored observation that it started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshLook {
    /// The observation's version when the look began; `None` if there was none.
    pub from: Option<crate::port::Version>,
    /// What the door said.
    pub look: Look,
}

/// What of this workspace may be seen, at one moment.
#[derive(Clone, Debug)]
pub struct Access {
    grants: Grants,
    roots: BTreeMap<GrantId, Reached>,
    seen: BTreeMap<SourceId, Vec<Seen>>,
}

impl Access {
    /// Access under these grants, with nothing seen yet.
    #[must_use]
    pub const fn new(grants: Grants) -> Self {
        Self { grants, roots: BTreeMap::new(), seen: BTreeMap::new() }
    }

    /// The same, with what the roots of some of them are now: what lies under one that is not the approved directory
    /// is not seen, whatever is stored.
    #[must_use]
    pub fn at_roots(self, roots: BTreeMap<GrantId, Reached>) -> Self {
        Self { roots, ..self }
    }

    /// The grants it was made with.
    #[must_use]
    pub const fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Takes in what is stored of a source and, where there is one, a fresh look at it.
    ///
    /// A fresh look that started from the stored observation counts alone. If the observation has moved since, both
    /// count, and the worse decides (for a look that did not reach its source, the stored observation does).
    pub fn learn(
        &mut self,
        source: &Source,
        kept: Option<&Kept<Observation>>,
        fresh: Option<&FreshLook>,
    ) {
        let known = kept.map(|kept| self.as_it_counts(source, &kept.value));
        let looked = fresh.and_then(|fresh| match fresh.look {
            Look::Saw { seen, owner, .. } => Some((self.as_owned(source, owner, seen), fresh.from)),
            Look::NotReached => None,
        });
        let seen = match (looked, known) {
            (Some((seen, from)), Some(_)) if from == kept.map(|kept| kept.version) => vec![seen],
            (Some((seen, _)), Some(known)) => vec![seen, known],
            (Some((seen, _)), None) => vec![seen],
            (None, Some(known)) => vec![known],
            (None, None) => vec![self.as_permitted(source, Seen::Unreachable)],
        };
        self.seen.insert(source.id, seen);
    }

    /// What is seen of a quotation's source as far as showing goes: the worst that counts, against the version cited.
    #[must_use]
    pub fn seen(&self, source: SourceId, cited: &SourceVersion) -> Seen {
        let all = self.seen.get(&source).map_or(&[][..], Vec::as_slice);
        all.iter()
            .copied()
            .max_by_key(|seen| ResultState::of(cited, seen))
            .unwrap_or(Seen::Unreachable)
    }

    /// The state of what rests on these sources: the worst of them; without any, it cannot be told.
    #[must_use]
    pub fn state(
        &self,
        rests_on: impl IntoIterator<Item = (SourceId, SourceVersion)>,
    ) -> ResultState {
        rests_on
            .into_iter()
            .map(|(source, cited)| ResultState::of(&cited, &self.seen(source, &cited)))
            .max()
            .unwrap_or(ResultState::EvidenceUnavailable)
    }

    /// Opens `content` if it rests on something and none of that is denied or unreachable.
    ///
    /// # Errors
    /// [`Withheld`] says why it stays shut.
    pub fn open<T>(
        &self,
        content: Sealed<T>,
        rests_on: impl IntoIterator<Item = SourceId>,
    ) -> Result<T, Withheld> {
        let mut rests_on = rests_on.into_iter().peekable();
        rests_on.peek().ok_or(Withheld::EvidenceUnavailable)?;
        let worst = rests_on.filter_map(|source| self.withholds(source)).max();
        worst.map_or(Ok(content.0), Err)
    }

    /// Opens what a task says of its scan, if every folder of its scope is in force.
    #[must_use]
    pub fn open_progress(
        &self,
        progress: Sealed<Progress>,
        request: &ReportRequest,
    ) -> Option<Progress> {
        request.scope.iter().all(|&grant| self.is_active(grant)).then_some(progress.0)
    }

    /// A scan record without what tells of folders that are not in force: their entries, and what holds for all.
    #[must_use]
    pub fn scan(&self, scan: ScanRecord) -> ScanDoc {
        let all = scan.folders.len();
        let shown = |folder: FolderScan| {
            let grant =
                self.grants.get(folder.grant).filter(|grant| grant.state == GrantState::Active)?;
            let FolderScan { grant: id, reached, counts } = folder;
            Some(FolderScanDoc { folder: id, label: grant.label.clone(), reached, counts })
        };
        let folders: Vec<_> = scan.folders.into_iter().filter_map(shown).collect();
        let whole = folders.len() == all;
        let elapsed_ms = whole.then_some(scan.elapsed_ms);
        ScanDoc { elapsed_ms, limit: scan.limit.filter(|_| whole), folders }
    }

    /// Whether a grant is in force.
    #[must_use]
    pub fn is_active(&self, grant: GrantId) -> bool {
        self.grants.get(grant).is_some_and(|grant| grant.state == GrantState::Active)
    }

    /// Why content that rests on `source` stays shut, if it does.
    fn withholds(&self, source: SourceId) -> Option<Withheld> {
        let why = |seen: &Seen| match seen {
            Seen::Denied => Some(Withheld::AccessRemoved),
            Seen::Unreachable => Some(Withheld::EvidenceUnavailable),
            Seen::Bytes(_) | Seen::Missing | Seen::Unstable => None,
        };
        match self.seen.get(&source) {
            Some(all) => all.iter().filter_map(why).max(),
            None => Some(Withheld::EvidenceUnavailable),
        }
    }

    /// A stored observation as it counts now: not at all if its owner was approved after it.
    fn as_it_counts(&self, source: &Source, kept: &Observation) -> Seen {
        let counts = [source.grant, kept.owner]
            .into_iter()
            .all(|grant| self.grants.get(grant).is_some_and(|grant| kept.no > grant.since_look));
        let seen = if counts { kept.seen } else { Seen::Unreachable };
        self.as_owned(source, kept.owner, seen)
    }

    /// What was seen, unless the grant that decided is not in force.
    fn as_owned(&self, source: &Source, owner: GrantId, seen: Seen) -> Seen {
        if self.is_active(owner) { self.as_permitted(source, seen) } else { Seen::Denied }
    }

    /// What was seen, unless the source's grant, or the deepest around its path, is not in force or forbids the name.
    fn as_permitted(&self, source: &Source, seen: Seen) -> Seen {
        let around = self.grants.deepest_around(source.grant, &source.path.0);
        let allowed = |(grant, below): (&Grant, RelPath)| {
            grant.state == GrantState::Active && grant.rules.permit_file(&below).is_ok()
        };
        if !self.is_active(source.grant) || !around.is_some_and(allowed) {
            return Seen::Denied;
        }
        match self.roots.get(&source.grant) {
            Some(Reached::Denied) => Seen::Denied,
            Some(Reached::Unreachable) if seen != Seen::Denied => Seen::Unreachable,
            Some(Reached::Unreachable | Reached::Yes) | None => seen,
        }
    }
}

/// A document that scans are recorded in: its content is opened folder by folder, by [`Access::scan`].
pub(crate) fn scan_record(document: Sealed<Document>) -> Document {
    document.0
}

/// What a door is asked for, to look at a source: the one use of a path that shows nothing to anybody.
#[must_use]
pub fn to_look_at(source: &Source) -> Want {
    Want { grant: source.grant, path: source.path.0.clone() }
}

/// Opens what a store handed out, for the suite that tests stores and for the core's own checks of digests.
pub(crate) fn for_checking<T>(content: Sealed<T>) -> T {
    content.0
}
