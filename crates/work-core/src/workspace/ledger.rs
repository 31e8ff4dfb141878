//! The ledger: what accepted revisions quote, as read in one snapshot.
//!
//! All of it is read in pages, each row already joined to what is known of its source; nothing is asked for each
//! result or source.

use super::deliver::Roots;
use super::grants;
use super::looks::{self, Looked};
use crate::folder::{Grant, Grants};
use crate::id::{GrantId, ResultId, SourceId};
use crate::path::HostPath;
use crate::port::{Head, Kept, Observed, Quotations, Quoted, ReadTx, Sources, StoreError};
use crate::redact::{self, Access};
use crate::result::ResultState;
use crate::source::Observation;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Which results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope<'a> {
    /// All.
    Everything,
    /// Those that quote one of these files now.
    Quoting(&'a [HostPath]),
}

/// Quotations with all grants.
pub(super) struct Ledger {
    pub(super) grants: Grants,
    /// The counters of the head when it was read: while they stand, it does.
    read_at: Counters,
    /// By result, then by number.
    quoted: Vec<Quoted>,
    /// Quotations of results that are out of scope, likewise.
    others: Vec<Quoted>,
    /// Each source once, with the place of a quotation of it.
    sources: BTreeMap<SourceId, usize>,
}

/// What moves when a result, a folder or an observation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counters {
    acts: u64,
    looks: u64,
    access: u64,
}

impl From<&Head> for Counters {
    fn from(head: &Head) -> Self {
        Self { acts: head.acts, looks: head.looks, access: head.access }
    }
}

impl Ledger {
    /// Whether it would read the same now.
    pub(super) fn stands(&self, head: &Head) -> bool {
        self.read_at == Counters::from(head)
    }

    /// Reads it, in pages of as many rows.
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        head: &Head,
        scope: Scope<'_>,
        page: u32,
    ) -> Result<Self, StoreError> {
        let (grants, mut quoted) = (grants(tx)?, all(tx, page)?);
        let mut others = Vec::new();
        if let Scope::Quoting(files) = scope {
            let named = named(tx, &grants, files, page)?;
            let quoting: BTreeSet<ResultId> = quoted
                .iter()
                .filter(|one| named.contains(&one.cited.source))
                .map(|one| one.result)
                .collect();
            (quoted, others) = quoted.into_iter().partition(|one| quoting.contains(&one.result));
        }
        let sources = quoted.iter().enumerate().map(|(at, one)| (one.cited.source, at)).collect();
        Ok(Self { grants, read_at: Counters::from(head), quoted, others, sources })
    }

    /// Every quotation, by result, then by number.
    pub(super) fn quoted(&self) -> &[Quoted] {
        &self.quoted
    }

    /// Each result with its quotations.
    pub(super) fn results(&self) -> impl Iterator<Item = (ResultId, &[Quoted])> {
        self.quoted.chunk_by(|one, next| one.result == next.result).map(|all| (all[0].result, all))
    }

    /// The quotations of one result.
    pub(super) fn of(&self, result: ResultId) -> &[Quoted] {
        let first = self.quoted.partition_point(|one| one.result < result);
        let rest = &self.quoted[first..];
        &rest[..rest.partition_point(|one| one.result == result)]
    }

    /// Each source once, in the order of their ids.
    fn sources(&self) -> impl Iterator<Item = &Observed> {
        self.sources.values().map(|&at| &self.quoted[at].observed)
    }

    /// What is stored of a source.
    pub(super) fn observation(&self, source: SourceId) -> Option<&Kept<Observation>> {
        self.quoted[*self.sources.get(&source)?].observed.observation.as_ref()
    }

    /// The sources that may be looked at, those looked at longest ago first, and those never looked at first of all;
    /// among equals by folder and path, so that a door goes down to each directory once.
    pub(super) fn in_order(&self) -> Vec<Observed> {
        let mut sources: Vec<(Option<Timestamp>, &Observed)> = self
            .sources()
            .filter(|observed| redact::may_look_at(&observed.source, &self.grants))
            .map(|observed| (self.last_look(observed), observed))
            .collect();
        sources.sort_unstable_by(|(at, one), (later, next)| {
            at.cmp(later).then_with(|| redact::by_place(&one.source, &next.source))
        });
        sources.into_iter().map(|(_, observed)| observed.clone()).collect()
    }

    /// When a source was last looked at: by itself, or with everything under its folder. A look from before the
    /// folder's approval is none.
    pub(super) fn last_look(&self, observed: &Observed) -> Option<Timestamp> {
        let kept = observed.observation.as_ref().map(|kept| kept.value);
        let kept = kept.filter(|kept| looks::counts(&observed.source, kept, &self.grants))?;
        let swept = self.grants.get(observed.source.grant).and_then(|grant| grant.swept_at);
        Some(swept.map_or(kept.looked_at, |swept| kept.looked_at.max(swept)))
    }

    /// The grants in force that decide about the sources.
    pub(super) fn concerned(&self) -> Vec<Grant> {
        let cited: BTreeSet<GrantId> =
            self.quoted.iter().map(|one| one.observed.source.grant).collect();
        looks::concerned(&self.grants, &cited)
    }

    /// Access to what rests on the sources, with what a look saw and what the roots are now.
    pub(super) fn access(&self, looked: &[Looked], roots: Roots) -> Access {
        let looked = looks::by_source(looked);
        let mut access = Access::new(self.grants.clone()).at_roots(roots);
        for Observed { source, observation } in self.sources() {
            let fresh = looked.get(&source.id).map(|one| &one.fresh);
            access.learn(source, observation.as_ref(), fresh);
        }
        access
    }

    /// What each result is worth.
    pub(super) fn states(&self, access: &Access) -> BTreeMap<ResultId, ResultState> {
        let pairs = |all: &[Quoted]| {
            access.state(all.iter().map(|one| (one.cited.source, one.cited.version)))
        };
        self.results().map(|(id, all)| (id, pairs(all))).collect()
    }
}

impl Ledger {
    /// How many results, in scope or not, are hidden by something else than the owner's own word: a folder that is not
    /// there or was replaced, a rule, a permission. Those out of scope by what is stored alone: what was seen just now
    /// of a source that a hidden result in scope happens to share with them would tell that it does.
    pub(super) fn hidden_against_the_owners_will(&self, access: &Access) -> u64 {
        let stored = self.others_as_stored();
        let others = self.others.chunk_by(|one, next| one.result == next.result);
        let all = self.results().map(|(_, all)| (all, access));
        let is_hidden = |(all, access): &(&[Quoted], &Access)| {
            let rests_on = all.iter().map(|one| (one.cited.source, one.cited.version));
            access.state(rests_on).hides()
        };
        let is_withdrawn = |one: &Quoted| {
            let owner = one.observed.observation.as_ref().map(|kept| kept.value.owner);
            access.is_withdrawn(&one.observed.source, owner)
        };
        let all = all.chain(others.map(|all| (all, &stored)));
        all.filter(|one| is_hidden(one) && !one.0.iter().any(is_withdrawn)).count() as u64
    }

    /// Access to what the results out of scope rest on, for whoever did not look.
    fn others_as_stored(&self) -> Access {
        let mut access = Access::new(self.grants.clone());
        for Observed { source, observation } in self.others.iter().map(|one| &one.observed) {
            access.learn(source, observation.as_ref(), None);
        }
        access
    }
}

/// Every quotation of an accepted revision. The last result of a full page may come short, and is asked for by itself.
fn all(tx: &mut dyn ReadTx, page: u32) -> Result<Vec<Quoted>, StoreError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let mut rows = tx.quotations(Quotations::All { after, most: page })?;
        let is_full = rows.len() >= page as usize;
        let Some(last) = rows.last().map(|one| one.result).filter(|_| is_full) else {
            all.append(&mut rows);
            return Ok(all);
        };
        rows.retain(|one| one.result != last);
        all.append(&mut rows);
        all.append(&mut tx.quotations(Quotations::Of(&[last]))?);
        after = Some(last);
    }
}

/// The sources at the places of these files, through whichever folders lie around them. A file in none is passed over.
fn named(
    tx: &mut dyn ReadTx,
    grants: &Grants,
    files: &[HostPath],
    page: u32,
) -> Result<BTreeSet<SourceId>, StoreError> {
    let places = files.iter().flat_map(|file| grants.around(file));
    let places: Vec<_> = places.map(|(grant, path)| (grant.id, path)).collect();
    let mut named = BTreeSet::new();
    for places in places.chunks(page as usize) {
        named.extend(tx.sources(Sources::At(places))?.iter().map(|found| found.source.id));
    }
    Ok(named)
}
