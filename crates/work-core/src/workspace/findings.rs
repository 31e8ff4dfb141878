//! Findings: what became of quotations in the bytes that a look saw, and where a missing file went.

use super::Workspace;
use super::looks::{Looked, Scene};
use super::rows::Numbered;
use crate::digest::Digest;
use crate::folder::Grants;
use crate::id::{GrantId, SourceId};
use crate::limits::{Limits, ScanLimits};
use crate::moved;
use crate::path::RelPath;
use crate::port::{Note, Observed, Place, Probe, Quoted, Watch};
use crate::quote::{Finding, Quotation};
use crate::redact::{self, Access};
use crate::result::{Cited, RevisionNo};
use crate::source::{Look, Seen, SourceVersion};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Which quotation: of which of the bodies at hand, and its number in it.
pub(super) type Key = (usize, u32);

/// What a look found out beside what it saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// What became of quotations, with the digest of the bytes they were looked for in.
    pub(super) found: BTreeMap<Key, (Digest, Finding)>,
    /// Where the cited version of a missing file stands now, under the same grant.
    pub(super) moved: BTreeMap<(SourceId, SourceVersion), RelPath>,
}

/// What a probe found, and the versions that the quotations at hand cite.
pub(super) struct Probed {
    pub(super) found: BTreeMap<Key, (Digest, Finding)>,
    pub(super) cited: BTreeSet<(SourceId, SourceVersion)>,
}

/// Finds what became of quotations in the bytes of a look, on the door's threads.
pub(super) struct FindingProbe {
    /// By the number of the want: the quotations of that source.
    quotations: Vec<Vec<(Key, Quotation)>>,
    cited: BTreeSet<(SourceId, SourceVersion)>,
    file_bytes: usize,
    found: Mutex<BTreeMap<Key, (Digest, Finding)>>,
}

impl FindingProbe {
    /// Looks for these quotations, each of one of `sources`, which are looked at in this order.
    pub(super) fn new(
        sources: &[Observed],
        quotations: impl IntoIterator<Item = (Key, Cited, Quotation)>,
        limits: &Limits,
    ) -> Self {
        let mut of: BTreeMap<SourceId, Vec<(Key, Quotation)>> = BTreeMap::new();
        let mut all = BTreeSet::new();
        for (key, cited, quotation) in quotations {
            all.insert((cited.source, cited.version));
            of.entry(cited.source).or_default().push((key, quotation));
        }
        let quotations = sources
            .iter()
            .map(|observed| of.remove(&observed.source.id).unwrap_or_default())
            .collect();
        let file_bytes = limits.scan.file_bytes;
        Self { quotations, cited: all, file_bytes, found: Mutex::default() }
    }

    /// What was found so far.
    pub(super) fn take(&self) -> Probed {
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Probed { found: std::mem::take(&mut *found), cited: self.cited.clone() }
    }
}

impl Probe for FindingProbe {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, place: Place, bytes: &[u8], full_size: u64) {
        let quotations =
            usize::try_from(place.turn).ok().and_then(|turn| self.quotations.get(turn));
        let version = crate::port::version_of(bytes, full_size);
        let changed =
            quotations.into_iter().flatten().filter(|(_, quotation)| quotation.version != version);
        let cut = full_size > self.file_bytes as u64;
        let found: Vec<_> = changed
            .map(|(key, quotation)| (*key, (version.digest, Finding::of(quotation, bytes, cut))))
            .collect();
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(found);
    }
}

impl Workspace {
    /// What a look found out of these sources: what its probe found, and where the bytes of missing files went.
    pub(super) fn findings(
        &self,
        scene: &Scene,
        looked: &[Looked],
        probed: Probed,
        watch: &mut dyn Watch,
    ) -> Findings {
        let Probed { found, cited } = probed;
        let moved = self.moved(&scene.grants, looked, &cited, self.looking(), watch);
        Findings { found, moved }
    }

    /// Where the cited versions of files that a look found missing stand now. Only the ground of the grant through
    /// which a file was cited is searched, and only if that grant decided about it: another one is another permission.
    pub(super) fn moved(
        &self,
        grants: &Grants,
        looked: &[Looked],
        cited: &BTreeSet<(SourceId, SourceVersion)>,
        limits: ScanLimits,
        watch: &mut dyn Watch,
    ) -> BTreeMap<(SourceId, SourceVersion), RelPath> {
        let missing = |one: &&Looked| matches!(one.fresh.look, Look::Saw { seen: Seen::Missing, owner, .. } if owner == one.source.grant);
        let missing: BTreeMap<SourceId, GrantId> =
            looked.iter().filter(missing).map(|one| (one.source.id, one.source.grant)).collect();
        let lost = |&(source, version): &(SourceId, SourceVersion)| {
            Some(((source, version), (*missing.get(&source)?, version)))
        };
        let lost: BTreeMap<_, moved::Lost> = cited.iter().filter_map(lost).collect();
        let wanted = lost.values().copied().collect();
        let found = moved::find(self.door.as_ref(), grants.as_slice(), &wanted, limits, watch);
        let place = |(cited, lost)| Some((cited, found.get(&lost)?.clone()));
        lost.into_iter().filter_map(place).collect()
    }
}

/// The findings that hold of the quotations of body number `which`, by their number: from this look, or kept for the
/// bytes that are seen now.
pub(super) fn found(
    access: &Access,
    which: usize,
    quoted: &[Quoted],
    fresh: &Findings,
) -> Numbered<Finding> {
    let one = |one: &Quoted| {
        let Cited { n, source, version } = one.cited;
        let finding = match access.seen(source, &version) {
            Seen::Bytes(seen) if seen == version => None,
            Seen::Bytes(seen) => {
                let here = |against: Digest| against == seen.digest;
                let looked = fresh.found.get(&(which, n)).filter(|(against, _)| here(*against));
                let kept = || one.finding.clone().filter(|(against, _)| here(*against));
                looked
                    .map(|(_, finding)| *finding)
                    .or_else(|| kept().and_then(|(_, sealed)| access.open(sealed, [source]).ok()))
            }
            Seen::Missing => Some(Finding::Gone),
            Seen::Unstable | Seen::Unreachable | Seen::Denied => None,
        };
        finding.map(|finding| (n, finding))
    };
    quoted.iter().filter_map(one).collect()
}

/// Findings about the accepted quotations of one result that say something else than what is kept.
pub(super) fn notes(
    which: usize,
    accepted: RevisionNo,
    quoted: &[Quoted],
    looked: &BTreeMap<SourceId, &Looked>,
    fresh: &Findings,
) -> Vec<Note> {
    let saw = |source: &SourceId| {
        let look = looked.get(source).map(|one| one.fresh.look);
        matches!(look, Some(Look::Saw { .. }))
    };
    let news = |one: &Quoted| {
        let (against, finding) = *fresh.found.get(&(which, one.cited.n))?;
        let kept =
            one.finding.clone().map(|(against, sealed)| (against, redact::for_checking(sealed)));
        let new = kept != Some((against, finding)) && saw(&one.cited.source);
        new.then_some(Note::Finding {
            result: one.result,
            revision: accepted,
            n: one.cited.n,
            against,
            finding,
        })
    };
    quoted.iter().filter_map(news).collect()
}
