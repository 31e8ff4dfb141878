//! What a viewer may see of each record: the only door to content.
//!
//! Stores hand content out [`Sealed`]. [`Access`] knows all grants, and what was seen of the sources at hand; it opens
//! a seal for who can name the sources that the content rests on, if none of them is denied or unreachable. Content
//! that rests on nothing stays shut. There is no permission cache: an `Access` is made for each answer.

use crate::digest::Digest;
use crate::document::wire::{FolderScanDoc, ScanDoc};
use crate::folder::{Approval, Grant, GrantState, Grants};
use crate::id::{GrantId, SourceId};
use crate::plant::{Fault, is_planted};
use crate::port::{Document, Kept, Known, Observed, Want};
use crate::proposal::Evidence;
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
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.state().as_str()
    }

    /// The state that a stub tells.
    #[must_use]
    pub const fn state(self) -> ResultState {
        match self {
            Self::EvidenceUnavailable => ResultState::EvidenceUnavailable,
            Self::AccessRemoved => ResultState::AccessRemoved,
        }
    }
}

/// Whether a source must be readable for what is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MustRead {
    /// Nothing but bytes will do.
    Yes,
    /// That it was missing can be bound too.
    No,
}

/// A fresh look, and the version of the stored observation that it started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshLook {
    /// The observation's version when the look began; `None` if there was none.
    pub from: Option<crate::port::Version>,
    /// The approvals of the source's grant and of the grant that decided, when the look began.
    pub under: [Option<Approval>; 2],
    /// What the door said.
    pub look: Look,
}

impl FreshLook {
    /// A look under these grants.
    #[must_use]
    pub fn new(
        from: Option<crate::port::Version>,
        look: Look,
        source: GrantId,
        grants: &Grants,
    ) -> Self {
        Self { from, under: under(look, source, grants), look }
    }

    /// The grants that it concerns: that of the source, and the one that decided.
    #[must_use]
    pub fn concerns(&self, source: GrantId) -> [GrantId; 2] {
        concerned(self.look, source)
    }

    /// Whether it was made under the approvals that these grants have: a folder that was withdrawn, or approved as
    /// another directory, since the look began is not what was looked at.
    #[must_use]
    pub fn holds(&self, source: &Source, grants: &Grants) -> bool {
        self.under == under(self.look, source.grant, grants)
    }
}

/// The approvals that count for a look.
fn under(look: Look, source: GrantId, grants: &Grants) -> [Option<Approval>; 2] {
    concerned(look, source).map(|grant| grants.approval(grant))
}

/// The source's grant and the grant that decided.
fn concerned(look: Look, source: GrantId) -> [GrantId; 2] {
    match look {
        Look::Saw { owner, .. } => [source, owner],
        Look::NotReached => [source; 2],
    }
}

/// What of this workspace may be seen, at one moment.
#[derive(Clone, Debug)]
pub struct Access {
    grants: Grants,
    roots: BTreeMap<GrantId, Reached>,
    seen: BTreeMap<SourceId, Sights>,
}

/// What counts of one source: what was seen, and beside it what is stored if that has moved since.
#[derive(Clone, Copy, Debug)]
struct Sights {
    first: Seen,
    beside: Option<Seen>,
}

impl Sights {
    const fn one(first: Seen) -> Self {
        Self { first, beside: None }
    }

    fn iter(self) -> impl Iterator<Item = Seen> {
        std::iter::once(self.first).chain(self.beside)
    }
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
    /// count, and the worse decides. A look made under another approval does not count. A look that did not reach its source makes it unreachable for this answer (spec
    /// O1), beside what is stored.
    pub fn learn(
        &mut self,
        source: &Source,
        kept: Option<&Kept<Observation>>,
        fresh: Option<&FreshLook>,
    ) {
        // Each is asked for only where it counts: an answer learns thousands of sources.
        let known = || kept.map(|kept| self.as_it_counts(source, &kept.value));
        let unknown = || self.as_permitted(source, Seen::Unreachable);
        let fresh = fresh.filter(|fresh| fresh.holds(source, &self.grants));
        let from_here = fresh.is_some_and(|fresh| fresh.from == kept.map(|kept| kept.version));
        let looked = fresh.map(|fresh| match fresh.look {
            Look::Saw { seen, owner, .. } => (self.as_owned(source, owner, seen), from_here),
            Look::NotReached if is_planted(Fault::UnreachedIsChecked) => {
                (known().unwrap_or_else(unknown), false)
            }
            Look::NotReached => (unknown(), false),
        });
        let seen = match looked {
            Some((first, true)) => Sights::one(first),
            Some((first, false)) => Sights { first, beside: known() },
            None => Sights::one(known().unwrap_or_else(unknown)),
        };
        self.seen.insert(source.id, seen);
    }

    /// All that counts of a source.
    fn sights(&self, source: SourceId) -> impl Iterator<Item = Seen> {
        self.seen.get(&source).into_iter().flat_map(|sights| sights.iter())
    }

    /// What is seen of a quotation's source as far as showing goes: the worst that counts, against the version cited.
    #[must_use]
    pub fn seen(&self, source: SourceId, cited: &SourceVersion) -> Seen {
        self.sights(source)
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

    /// What is seen of a source beside what an approval bound of it: its version, or that it was missing. `must_read`
    /// says whether nothing but bytes will do.
    #[must_use]
    pub fn beside(
        &self,
        source: SourceId,
        bound: Option<SourceVersion>,
        must_read: MustRead,
    ) -> Evidence {
        let one = |seen: Seen| match (seen, bound) {
            (Seen::Denied, _) => Evidence::Denied,
            (Seen::Unreachable, _) => Evidence::Unavailable,
            (Seen::Missing | Seen::Unstable, _) if must_read == MustRead::Yes => {
                Evidence::Unavailable
            }
            (Seen::Missing, None) => Evidence::AsBound,
            (Seen::Bytes(seen), Some(bound)) if seen == bound => Evidence::AsBound,
            _ if is_planted(Fault::ObservationBinding) => Evidence::AsBound,
            (Seen::Bytes(_) | Seen::Missing | Seen::Unstable, _) => Evidence::Moved,
        };
        self.sights(source).map(one).max().unwrap_or(Evidence::Unavailable)
    }

    /// What an approval binds of a source: its version, or that it is missing.
    ///
    /// # Errors
    /// [`Withheld`] when it is neither, or when not every look that counts says the same.
    pub fn to_bind(&self, source: SourceId) -> Result<Option<SourceVersion>, Withheld> {
        let one = |seen: Seen| match seen {
            Seen::Bytes(version) => Ok(Some(version)),
            Seen::Missing => Ok(None),
            Seen::Unstable | Seen::Unreachable => Err(Withheld::EvidenceUnavailable),
            Seen::Denied => Err(Withheld::AccessRemoved),
        };
        let bound = self.sights(source).map(one).collect::<Result<Vec<_>, _>>()?;
        match bound.as_slice() {
            [first, rest @ ..] if rest.iter().all(|next| next == first) => Ok(*first),
            _ => Err(Withheld::EvidenceUnavailable),
        }
    }

    /// Whether bodies that rest on these sources may be compared, and one of them restored: for that a missing or
    /// unstable source is as good as none (spec H2).
    ///
    /// # Errors
    /// [`Withheld`], the worst of them.
    pub fn comparable(&self, sources: impl IntoIterator<Item = SourceId>) -> Result<(), Withheld> {
        let unseen = Sights::one(Seen::Unreachable);
        let of = |source| self.seen.get(&source).map_or(unseen, |sights| *sights).iter();
        let why = |seen: Seen| match seen {
            Seen::Bytes(_) => None,
            Seen::Denied => Some(Withheld::AccessRemoved),
            Seen::Missing | Seen::Unstable | Seen::Unreachable => {
                Some(Withheld::EvidenceUnavailable)
            }
        };
        let mut sources = sources.into_iter().peekable();
        let nothing = sources.peek().is_none().then_some(Withheld::EvidenceUnavailable);
        let worst = sources.flat_map(of).filter_map(why).max();
        worst.or(nothing).map_or(Ok(()), Err)
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

    /// A scan record without what tells of folders that are not in force, hold one that was withdrawn since, or have
    /// other rules by now: their entries, and what holds for all.
    #[must_use]
    pub fn scan(&self, scan: ScanRecord) -> ScanDoc {
        let ScanRecord { elapsed_ms, limit, folders, left_out, rules } = scan;
        let all = folders.len();
        let shown = |folder: FolderScan| {
            let told = |grant: &&Grant| self.tells(grant, &left_out) && is_under(grant, &rules);
            let grant = self.grants.get(folder.grant).filter(told)?;
            let FolderScan { grant: id, reached, counts } = folder;
            Some(FolderScanDoc { folder: id, label: grant.label.clone(), reached, counts })
        };
        let folders: Vec<_> = folders.into_iter().filter_map(shown).collect();
        let whole = folders.len() == all;
        ScanDoc { elapsed_ms: whole.then_some(elapsed_ms), limit: limit.filter(|_| whole), folders }
    }

    /// Whether the counts of a folder's scan may be told: it is in force, and nothing inside it was withdrawn that the
    /// scan had not left out.
    fn tells(&self, grant: &Grant, left_out: &[(GrantId, GrantId)]) -> bool {
        let withdrawn = |inner: &Grant| {
            inner.state == GrantState::Revoked && !left_out.contains(&(grant.id, inner.id))
        };
        grant.state == GrantState::Active && !self.grants.inside(grant.id).any(withdrawn)
    }

    /// Whether a grant is in force.
    #[must_use]
    pub fn is_active(&self, grant: GrantId) -> bool {
        self.grants.get(grant).is_some_and(|grant| grant.state == GrantState::Active)
    }

    /// Why content that rests on `source` stays shut, if it does.
    fn withholds(&self, source: SourceId) -> Option<Withheld> {
        let why = |seen: Seen| match seen {
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

    /// Whether the owner withdrew a source: the grant through which it was cited, the deepest around its path, or the one
    /// that decided at its last look is revoked.
    #[must_use]
    pub fn is_withdrawn(&self, source: &Source, owner: Option<GrantId>) -> bool {
        let deepest = self.grants.deepest_around(source.grant, &source.path.0);
        let around = deepest.map(|(grant, _)| grant.id);
        [Some(source.grant), around, owner]
            .into_iter()
            .flatten()
            .any(|grant| !self.is_active(grant))
    }

    /// What was seen, unless the grant that decided is not in force.
    fn as_owned(&self, source: &Source, owner: GrantId, seen: Seen) -> Seen {
        if self.is_active(owner) {
            self.as_permitted(source, self.at_root(owner, seen))
        } else {
            Seen::Denied
        }
    }

    /// What was seen, unless the source's grant, or the deepest around its path, is not in force, forbids the name, or
    /// has another root now.
    fn as_permitted(&self, source: &Source, seen: Seen) -> Seen {
        let Some(deepest) = self.grants.permitting(source.grant, &source.path.0) else {
            return Seen::Denied;
        };
        self.at_root(deepest.id, self.at_root(source.grant, seen))
    }

    /// What was seen, unless the root of a grant is not there, or another, now.
    fn at_root(&self, grant: GrantId, seen: Seen) -> Seen {
        match self.roots.get(&grant) {
            Some(Reached::Denied) => Seen::Denied,
            Some(Reached::Unreachable) if seen != Seen::Denied => Seen::Unreachable,
            Some(Reached::Unreachable | Reached::Yes) | None => seen,
        }
    }
}

/// Whether a folder has the rules under which it was visited.
fn is_under(grant: &Grant, rules: &[(GrantId, Digest)]) -> bool {
    let then = rules.iter().find(|(folder, _)| *folder == grant.id);
    then.is_none_or(|(_, rules)| *rules == grant.rules.digest())
}

/// A document that scans are recorded in: its content is opened folder by folder, by [`Access::scan`].
pub(crate) fn scan_record(document: Sealed<Document>) -> Document {
    document.0
}

/// What a door is asked for, to look at a source and read it: the one use of a path that shows nothing to anybody.
#[must_use]
pub fn to_look_at(source: &Source) -> Want {
    Want { grant: source.grant, path: source.path.0.clone(), known: None }
}

/// The same, for a look that may trust what is stored of the source while the file's stamp stays.
#[must_use]
pub fn to_glance_at(observed: &Observed) -> Want {
    Want { known: observed.observation.as_ref().and_then(known), ..to_look_at(&observed.source) }
}

/// Whether a source may be looked at at all, by the names of paths: what lies in a folder that was withdrawn, or is
/// excluded, is not.
#[must_use]
pub fn may_look_at(source: &Source, grants: &Grants) -> bool {
    grants.permitting(source.grant, &source.path.0).is_some()
}

/// Which of two sources comes first: by grant, then by path.
pub(crate) fn by_place(one: &Source, next: &Source) -> std::cmp::Ordering {
    one.grant.cmp(&next.grant).then_with(|| one.path.0.cmp(&next.path.0))
}

/// What a stored observation lets a door trust.
fn known(kept: &Kept<Observation>) -> Option<Known> {
    let Observation { seen, owner, stamp, .. } = kept.value;
    match (seen, stamp) {
        (Seen::Bytes(version), Some(stamp)) => Some(Known { stamp, version, owner }),
        (Seen::Bytes(_), None)
        | (Seen::Missing | Seen::Unstable | Seen::Unreachable | Seen::Denied, _) => None,
    }
}

/// Opens what a store handed out, for the suite that tests stores and for the core's own checks of digests.
pub(crate) fn for_checking<T>(content: Sealed<T>) -> T {
    content.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{Hidden, IgnoreFiles, RootIdentity, Rules};
    use crate::id::{BootId, SiteId};
    use crate::path::{HostPath, RelPath};
    use crate::port::{Kept, Version};
    use crate::source::Stamp;
    use crate::time::Timestamp;

    const OUTER: GrantId = GrantId::from_bytes([1; 16]);
    const INNER: GrantId = GrantId::from_bytes([2; 16]);
    const NOBODY: GrantId = GrantId::from_bytes([9; 16]);
    const FILE: SourceId = SourceId::from_bytes([3; 16]);
    const OTHER: SourceId = SourceId::from_bytes([4; 16]);
    const AS_CITED: Seen = Seen::Bytes(CITED);
    const CITED: SourceVersion =
        SourceVersion { digest: Digest::from_bytes([5; 32]), size: 1, cut: false };
    const CHANGED: Seen = Seen::Bytes(SourceVersion { size: 2, ..CITED });

    /// A folder that was approved after look number 10.
    fn grant(id: GrantId, root: &str) -> Grant {
        let boot = BootId::from_bytes([0; 16]);
        Grant {
            id,
            site: SiteId::from_bytes([0; 16]),
            root: HostPath::from_bytes(root),
            label: root.into(),
            identity: RootIdentity { inode: 1, born_ns: None, filesystem: 1, device: 1, boot },
            rules: Rules::standard(),
            state: GrantState::Active,
            approved_at: Timestamp::from_seconds(0),
            since_look: 10,
            swept_at: None,
        }
    }

    /// Access under a folder and one inside it.
    fn access(change: impl FnOnce(&mut [Grant; 2])) -> Access {
        let mut grants = [grant(OUTER, "/docs"), grant(INNER, "/docs/team")];
        change(&mut grants);
        Access::new(Grants::new(grants.into()))
    }

    /// A source under the outer folder.
    fn source(path: &str) -> Source {
        let path = Sealed::new(RelPath::new(path).expect("a path"));
        Source { id: FILE, grant: OUTER, path }
    }

    /// A stored look with a number, at version 3.
    fn stored(no: u64, owner: GrantId, seen: Seen) -> Kept<Observation> {
        let looked_at = Timestamp::from_seconds(0);
        let value = Observation { no, seen, owner, stamp: None, looked_at };
        Kept { version: Version(3), value }
    }

    /// A fresh look that started from a version.
    fn fresh(from: Option<u64>, owner: GrantId, seen: Seen) -> FreshLook {
        let look = Look::Saw { seen, owner, stamp: None };
        FreshLook { from: from.map(Version), under: [None; 2], look }
    }

    /// A first look under the approvals of `access`.
    fn here(access: &Access, seen: Seen) -> FreshLook {
        FreshLook::new(None, fresh(None, OUTER, seen).look, OUTER, access.grants())
    }

    /// What is seen, and whether content shows.
    #[track_caller]
    fn check(
        mut access: Access,
        path: &str,
        stored: Option<&Kept<Observation>>,
        fresh: Option<&FreshLook>,
        expected: Seen,
    ) {
        let here =
            |fresh: &FreshLook| FreshLook::new(fresh.from, fresh.look, OUTER, access.grants());
        let fresh = fresh.map(here);
        access.learn(&source(path), stored, fresh.as_ref());
        assert_eq!(access.seen(FILE, &CITED), expected);
        let state = ResultState::of(&CITED, &expected);
        assert_eq!(access.state([(FILE, CITED)]), state);
        let opened = access.open(Sealed::new("text"), [FILE]);
        assert_eq!(opened.is_err(), state.hides());
        assert_eq!(
            opened.map_err(Withheld::state),
            if state.hides() { Err(state) } else { Ok("text") }
        );
    }

    /// Every kind of what may be seen.
    const ALL: [Seen; 6] =
        [AS_CITED, CHANGED, Seen::Missing, Seen::Unstable, Seen::Unreachable, Seen::Denied];

    // spec: O3
    #[test]
    fn an_observation_after_the_approval_counts() {
        for seen in ALL {
            check(access(|_| {}), "a.md", Some(&stored(11, OUTER, seen)), None, seen);
        }
    }

    // spec: O3
    #[test]
    fn an_observation_from_before_the_approval_does_not_count() {
        for seen in ALL {
            let old = stored(10, OUTER, seen);
            check(access(|_| {}), "a.md", Some(&old), None, Seen::Unreachable);
        }
        let inner_later = access(|[_, inner]| inner.since_look = 20);
        let old = stored(15, INNER, AS_CITED);
        check(inner_later, "team/a.md", Some(&old), None, Seen::Unreachable);
        let outer_later = access(|[outer, _]| outer.since_look = 20);
        check(outer_later, "team/a.md", Some(&old), None, Seen::Unreachable);
    }

    // spec: O3
    #[test]
    fn a_source_that_was_never_looked_at_is_unreachable() {
        check(access(|_| {}), "a.md", None, None, Seen::Unreachable);
    }

    #[test]
    fn a_fresh_look_from_the_stored_observation_counts_alone() {
        for seen in ALL {
            let worse = stored(11, OUTER, Seen::Denied);
            let look = fresh(Some(3), OUTER, seen);
            check(access(|_| {}), "a.md", Some(&worse), Some(&look), seen);
            check(access(|_| {}), "a.md", None, Some(&fresh(None, OUTER, seen)), seen);
        }
    }

    #[test]
    fn of_a_fresh_look_and_an_observation_that_has_moved_the_worse_counts() {
        for (kept, looked, worse) in [
            (Seen::Denied, AS_CITED, Seen::Denied),
            (AS_CITED, Seen::Denied, Seen::Denied),
            (Seen::Unreachable, CHANGED, Seen::Unreachable),
            (AS_CITED, CHANGED, CHANGED),
            (CHANGED, AS_CITED, CHANGED),
            (AS_CITED, AS_CITED, AS_CITED),
        ] {
            for from in [None, Some(2), Some(4)] {
                let look = fresh(from, OUTER, looked);
                check(access(|_| {}), "a.md", Some(&stored(11, OUTER, kept)), Some(&look), worse);
            }
        }
    }

    // spec: O3
    #[test]
    fn a_look_under_another_approval_does_not_count() {
        let before = access(|_| {});
        let look = Look::Saw { seen: AS_CITED, owner: OUTER, stamp: None };
        let fresh = FreshLook::new(None, look, OUTER, before.grants());
        let mut again = access(|[outer, _]| outer.since_look += 1);
        again.learn(&source("a.md"), None, Some(&fresh));
        assert_eq!(again.seen(FILE, &CITED), Seen::Unreachable);
        let mut same = before.clone();
        same.learn(&source("a.md"), None, Some(&fresh));
        assert_eq!(same.seen(FILE, &CITED), AS_CITED);
    }

    #[test]
    fn a_source_that_a_look_did_not_reach_is_unreachable_for_that_answer() {
        let look = FreshLook { from: Some(Version(3)), under: [None; 2], look: Look::NotReached };
        for seen in [AS_CITED, CHANGED, Seen::Missing, Seen::Unreachable] {
            let kept = stored(11, OUTER, seen);
            check(access(|_| {}), "a.md", Some(&kept), Some(&look), Seen::Unreachable);
        }
        let denied = stored(11, OUTER, Seen::Denied);
        check(access(|_| {}), "a.md", Some(&denied), Some(&look), Seen::Denied);
        check(access(|_| {}), "a.md", None, Some(&look), Seen::Unreachable);
    }

    // spec: I5
    #[test]
    fn a_revoked_folder_hides_whatever_was_seen() {
        for seen in ALL {
            let revoked = || access(|[outer, _]| outer.state = GrantState::Revoked);
            let kept = stored(11, OUTER, seen);
            check(revoked(), "a.md", Some(&kept), None, Seen::Denied);
            check(revoked(), "a.md", None, Some(&fresh(None, OUTER, seen)), Seen::Denied);
            check(revoked(), "team/a.md", Some(&stored(11, INNER, seen)), None, Seen::Denied);
        }
    }

    // spec: I3
    #[test]
    fn a_revoked_inner_folder_hides_by_its_path_and_by_the_look() {
        let revoked = || access(|[_, inner]| inner.state = GrantState::Revoked);
        let by_path = stored(11, OUTER, AS_CITED);
        check(revoked(), "team/a.md", Some(&by_path), None, Seen::Denied);
        check(revoked(), "team/a.md", None, Some(&fresh(None, OUTER, AS_CITED)), Seen::Denied);
        let by_look = stored(11, INNER, AS_CITED);
        check(revoked(), "moved/a.md", Some(&by_look), None, Seen::Denied);
        check(revoked(), "moved/a.md", None, Some(&fresh(None, INNER, AS_CITED)), Seen::Denied);
        check(revoked(), "teams/a.md", Some(&by_path), None, AS_CITED);
    }

    #[test]
    fn an_unknown_folder_hides() {
        let unknown = stored(11, NOBODY, AS_CITED);
        check(access(|_| {}), "a.md", Some(&unknown), None, Seen::Denied);
        check(access(|_| {}), "a.md", None, Some(&fresh(None, NOBODY, AS_CITED)), Seen::Denied);
        check(Access::new(Grants::default()), "a.md", Some(&unknown), None, Seen::Denied);
    }

    // spec: I4
    #[test]
    fn rules_given_later_hide_what_they_exclude() {
        let rules = || Rules::new(["md"], ["drafts"], Hidden::Skipped, IgnoreFiles::Honoured);
        let strict =
            || access(|grants| grants.iter_mut().for_each(|g| g.rules = rules().expect("sound")));
        for (path, expected) in [
            ("a.md", AS_CITED),
            ("drafts/a.md", Seen::Denied),
            ("a.txt", Seen::Denied),
            (".a.md", Seen::Denied),
            ("team/a.md", AS_CITED),
            ("team/drafts/a.md", Seen::Denied),
        ] {
            check(strict(), path, Some(&stored(11, OUTER, AS_CITED)), None, expected);
            check(strict(), path, None, Some(&fresh(None, OUTER, AS_CITED)), expected);
        }
        let never = access(|[outer, _]| outer.rules = rules().expect("sound"));
        check(never, "drafts/a.md", None, None, Seen::Denied);
    }

    // spec: R2
    #[test]
    fn content_that_rests_on_nothing_or_on_the_unknown_stays_shut() {
        let mut access = access(|_| {});
        let look = here(&access, AS_CITED);
        access.learn(&source("a.md"), None, Some(&look));
        let open = |rests_on: &[SourceId]| access.open(Sealed::new(1), rests_on.iter().copied());
        assert_eq!(open(&[]), Err(Withheld::EvidenceUnavailable));
        assert_eq!(open(&[OTHER]), Err(Withheld::EvidenceUnavailable));
        assert_eq!(open(&[FILE, OTHER]), Err(Withheld::EvidenceUnavailable));
        assert_eq!(open(&[FILE, FILE]), Ok(1));
        assert_eq!(access.state([]), ResultState::EvidenceUnavailable);
        assert_eq!(access.seen(OTHER, &CITED), Seen::Unreachable);
    }

    // spec: O3
    #[test]
    fn the_worst_source_decides_for_all_of_the_content() {
        for (one, other, expected) in [
            (AS_CITED, CHANGED, Ok(())),
            (AS_CITED, Seen::Unreachable, Err(Withheld::EvidenceUnavailable)),
            (Seen::Denied, Seen::Unreachable, Err(Withheld::AccessRemoved)),
            (Seen::Missing, Seen::Denied, Err(Withheld::AccessRemoved)),
        ] {
            let mut access = access(|_| {});
            let looks = [one, other].map(|seen| here(&access, seen));
            access.learn(&source("a.md"), None, Some(&looks[0]));
            let second = Source { id: OTHER, ..source("b.md") };
            access.learn(&second, None, Some(&looks[1]));
            assert_eq!(access.open(Sealed::new(()), [FILE, OTHER]), expected);
            let worst = access.state([(FILE, CITED), (OTHER, CITED)]);
            assert_eq!(worst.hides(), expected.is_err());
        }
    }

    // spec: J5
    #[test]
    fn progress_shows_while_every_folder_of_the_scope_is_in_force() {
        let progress = Progress { files_read: 1, of: 2, entries: 0 };
        let request = |scope| ReportRequest { query: "a".into(), scope };
        let opened =
            |access: &Access, scope| access.open_progress(Sealed::new(progress), &request(scope));
        let active = access(|_| {});
        assert_eq!(opened(&active, vec![OUTER, INNER]), Some(progress));
        assert_eq!(opened(&active, vec![OUTER, NOBODY]), None);
        let revoked = access(|[_, inner]| inner.state = GrantState::Revoked);
        assert_eq!(opened(&revoked, vec![OUTER]), Some(progress));
        assert_eq!(opened(&revoked, vec![OUTER, INNER]), None);
    }

    // spec: O2
    #[test]
    fn a_glance_knows_the_bytes_that_were_stamped_and_nothing_else() {
        let stamp = Stamp { device: 1, inode: 2, size: 3, modified_ns: 4, changed_ns: 5 };
        let known = |seen, stamp| {
            let Kept { value, version } = stored(11, INNER, seen);
            let observation = Some(Kept { value: Observation { stamp, ..value }, version });
            to_glance_at(&Observed { source: source("a.md"), observation })
        };
        let all = Known { stamp, version: CITED, owner: INNER };
        assert_eq!(known(AS_CITED, Some(stamp)).known, Some(all));
        let never = Observed { source: source("a.md"), observation: None };
        for want in [known(AS_CITED, None), known(Seen::Denied, None), to_glance_at(&never)] {
            assert_eq!(want, to_look_at(&source("a.md")));
        }
    }

    // spec: R1
    #[test]
    fn a_seal_shows_nothing() {
        assert_eq!(format!("{:?}", Sealed::new("secret")), "Sealed(..)");
        assert_eq!(to_look_at(&source("a.md")).path, RelPath::new("a.md").expect("a path"));
    }
}
