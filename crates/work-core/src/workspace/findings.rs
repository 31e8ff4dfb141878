//! Findings: what became of quotations in the bytes that a look saw, and where a missing file went.

use super::Workspace;
use super::looks::{Looked, Scene};
use super::rows::Numbered;
use crate::digest::Digest;
use crate::id::SourceId;
use crate::limits::Limits;
use crate::path::RelPath;
use crate::port::{Note, Observed, Place, Probe, Quoted, Watch};
use crate::quote::{Finding, Quotation};
use crate::redact::{self, Access};
use crate::result::{Cited, RevisionNo};
use crate::source::{Look, Seen};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Which quotation: of which of the bodies at hand, and its number in it.
pub(super) type Key = (usize, u32);

/// What a look found out beside what it saw.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    /// What became of quotations, with the digest of the bytes they were looked for in.
    pub(super) found: BTreeMap<Key, (Digest, Finding)>,
    /// Where the bytes of a missing file stand now, under the same grant.
    pub(super) moved: BTreeMap<SourceId, RelPath>,
}

/// Finds what became of quotations in the bytes of a look, on the door's threads.
pub(super) struct FindingProbe {
    /// By the number of the want: the quotations of that source.
    quotations: Vec<Vec<(Key, Quotation)>>,
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
        for (key, cited, quotation) in quotations {
            of.entry(cited.source).or_default().push((key, quotation));
        }
        let quotations = sources
            .iter()
            .map(|observed| of.remove(&observed.source.id).unwrap_or_default())
            .collect();
        Self { quotations, file_bytes: limits.scan.file_bytes, found: Mutex::default() }
    }

    /// What was found so far.
    pub(super) fn take(&self) -> BTreeMap<Key, (Digest, Finding)> {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
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
        _scene: &Scene,
        _looked: &[Looked],
        found: BTreeMap<Key, (Digest, Finding)>,
        _watch: &mut dyn Watch,
    ) -> Findings {
        Findings { found, moved: BTreeMap::new() }
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
