//! An overview: everything in the scope of a survey as it is in one snapshot, with what the survey saw and found.
//!
//! What is told of all workspace comes from here. It counts no source that only results rest on which access was
//! withdrawn from, and tells changes only of what visible results quote (spec R3).

use super::answer;
use super::deliver::Roots;
use super::findings;
use super::ledger::{Ledger, Scope};
use super::rows::Numbered;
use super::survey::Survey;
use super::{Failure, Moment, Workspace};
use crate::document::wire::CauseDoc;
use crate::id::{ResultId, SourceId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::port::{Quoted, ReadTx, Results, StoreError};
use crate::quote::Finding;
use crate::redact::Access;
use crate::result::{ResultState, WorkResult};
use crate::source::Seen;
use crate::time::{Now, Timestamp};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

/// Everything in scope in one snapshot.
pub(super) struct Overview<'a> {
    pub(super) survey: &'a Survey,
    pub(super) ledger: Arc<Ledger>,
    pub(super) access: Access,
    pub(super) now: Now,
    /// What each result is worth.
    pub(super) states: BTreeMap<ResultId, ResultState>,
    /// In order.
    reached: Vec<SourceId>,
}

/// A result that is not as it was published, with what became of its quotations.
pub(super) struct Concern {
    pub(super) result: WorkResult,
    pub(super) state: ResultState,
    /// Nothing of a hidden result.
    pub(super) found: Numbered<Finding>,
}

/// What is counted of sources.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub(super) looked_at: u64,
    pub(super) changed: u64,
    pub(super) missing: u64,
    pub(super) unstable: u64,
    pub(super) not_looked_at: u64,
    pub(super) observed_at: Option<Timestamp>,
}

impl Workspace {
    /// Builds an answer from a survey, and hands it out only if what may be seen stays as it was meanwhile.
    pub(super) fn tell<T>(
        &self,
        (survey, scope): (&Survey, Scope<'_>),
        build: impl Fn(&mut dyn ReadTx, &Overview<'_>) -> Result<T, StoreError>,
    ) -> Result<T, Failure> {
        let concerned = survey.ledger.concerned();
        let told = self.deliver_at_roots(&concerned, |tx, moment, roots| {
            let overview = Overview::load(tx, moment, (survey, scope), (roots, &self.limits))?;
            build(tx, &overview).map(Ok::<T, Infallible>)
        })?;
        let Ok(told) = told;
        Ok(told)
    }
}

impl<'a> Overview<'a> {
    fn load(
        tx: &mut dyn ReadTx,
        moment: &Moment,
        (survey, scope): (&'a Survey, Scope<'_>),
        (roots, limits): (&Roots, &Limits),
    ) -> Result<Self, StoreError> {
        let ledger = if survey.ledger.stands(&moment.head) {
            Arc::clone(&survey.ledger)
        } else {
            Arc::new(Ledger::load(tx, &moment.head, scope, limits.page)?)
        };
        let access = ledger.access(&survey.looked, roots.clone());
        let states = ledger.states(&access);
        Ok(Self { survey, ledger, access, now: moment.now, states, reached: survey.reached() })
    }

    /// How many results are in a state.
    pub(super) fn count(&self, state: ResultState) -> u64 {
        self.states.values().filter(|one| **one == state).count() as u64
    }

    /// Whether all that hides a result is that sources of it were not looked at in time.
    pub(super) fn is_unreached(&self, result: ResultId) -> bool {
        let hides = |one: &&Quoted| {
            let seen = self.access.seen(one.cited.source, &one.cited.version);
            ResultState::of(&one.cited.version, &seen).hides()
        };
        let unreached = |one: &Quoted| !self.has_reached(one.cited.source);
        let unavailable = self.states.get(&result) == Some(&ResultState::EvidenceUnavailable);
        unavailable && self.ledger.of(result).iter().filter(hides).all(unreached)
    }

    /// What is counted of the sources of all that is not withdrawn.
    pub(super) fn tally(&self) -> Tally {
        let counts_all = is_planted(Fault::RedactionCount);
        self.tally_of(|_, state| state != ResultState::AccessRemoved || counts_all)
    }

    /// Whether the survey reached a source.
    fn has_reached(&self, source: SourceId) -> bool {
        self.reached.binary_search(&source).is_ok()
    }

    /// What is counted of the sources of the results that are not hidden, as far as they were reached.
    pub(super) fn tally_of_visible(&self) -> Tally {
        self.tally_of(|result, state| !state.hides() || self.is_unreached(result))
    }

    fn tally_of(&self, counts: impl Fn(ResultId, ResultState) -> bool) -> Tally {
        let mut seen: [Vec<SourceId>; 5] = Default::default();
        let [looked_at, not_looked_at, changed, missing, unstable] = &mut seen;
        let mut observed_at = None;
        for (one, state) in self.quoted().filter(|(one, state)| counts(one.result, *state)) {
            let source = one.cited.source;
            let reached = self.has_reached(source);
            if reached { &mut *looked_at } else { &mut *not_looked_at }.push(source);
            let at = if reached { Some(self.now.at) } else { self.ledger.last_look(&one.observed) };
            observed_at = observed_at.into_iter().chain(at).min();
            match self.access.seen(source, &one.cited.version) {
                _ if state.hides() => {}
                Seen::Bytes(seen) if seen == one.cited.version => {}
                Seen::Bytes(_) => changed.push(source),
                Seen::Missing => missing.push(source),
                Seen::Unstable => unstable.push(source),
                Seen::Unreachable | Seen::Denied => {}
            }
        }
        let [looked_at, not_looked_at, changed, missing, unstable] = seen.map(distinct);
        Tally { looked_at, changed, missing, unstable, not_looked_at, observed_at }
    }

    /// Every quotation with the state of its result.
    fn quoted(&self) -> impl Iterator<Item = (&Quoted, ResultState)> {
        let all = self.ledger.results().filter_map(|(id, all)| Some((all, *self.states.get(&id)?)));
        all.flat_map(|(all, state)| all.iter().map(move |one| (one, state)))
    }

    /// The results that are not as they were published, the worst first, then those of which worse became, then the
    /// latest changed.
    pub(super) fn concerns(
        &self,
        tx: &mut dyn ReadTx,
        limits: &Limits,
    ) -> Result<Vec<Concern>, StoreError> {
        let concerned =
            self.states.iter().filter(|(_, state)| **state != ResultState::SourcesChecked);
        let ids: Vec<ResultId> = concerned.map(|(id, _)| *id).collect();
        let mut concerns = Vec::new();
        for ids in ids.chunks(limits.page as usize) {
            let results = tx.results(Results::Ids(ids))?.into_iter();
            concerns.extend(results.filter_map(|kept| self.concern(kept.value)));
        }
        concerns.sort_by_key(|one| {
            let worst = one.found.values().copied().map(weight).max();
            Reverse((one.state, worst, one.result.updated_at, one.result.id))
        });
        Ok(concerns)
    }

    fn concern(&self, result: WorkResult) -> Option<Concern> {
        let state = *self.states.get(&result.id)?;
        let found = if state.hides() { BTreeMap::new() } else { self.found(&result) };
        Some(Concern { result, state, found })
    }

    /// What became of the quotations of a result.
    fn found(&self, result: &WorkResult) -> Numbered<Finding> {
        let quoted = self.ledger.of(result.id);
        // No body has this place, so that only what is kept counts.
        let which = self.survey.sought(result.id, result.accepted).unwrap_or(usize::MAX);
        findings::found(&self.access, which, quoted, &self.survey.findings)
    }

    /// Why a result is not as it was published; `None` of a hidden one.
    pub(super) fn causes(&self, concern: &Concern) -> Option<Vec<CauseDoc>> {
        let quoted = self.ledger.of(concern.result.id);
        let moved = &self.survey.findings.moved;
        let causes = || answer::causes(&self.access, quoted, &concern.found, moved);
        (!concern.state.hides()).then(causes)
    }

    /// The sources of which it could not be told what became of a quotation of a visible result, although they hold
    /// other bytes.
    pub(super) fn untold<'c>(
        &'c self,
        concern: &'c Concern,
    ) -> impl Iterator<Item = SourceId> + 'c {
        let untold = |one: &&Quoted| {
            let seen = self.access.seen(one.cited.source, &one.cited.version);
            matches!(seen, Seen::Bytes(seen) if seen != one.cited.version)
                && !concern.found.contains_key(&one.cited.n)
        };
        let quoted = if concern.state.hides() { &[] } else { self.ledger.of(concern.result.id) };
        quoted.iter().filter(untold).map(|one| one.cited.source)
    }
}

/// How many sources these are.
fn distinct(mut sources: Vec<SourceId>) -> u64 {
    sources.sort_unstable();
    sources.dedup();
    sources.len() as u64
}

/// How much a finding matters: the more, the less of the quotation is left.
const fn weight(finding: Finding) -> u8 {
    match finding {
        Finding::Intact => 0,
        Finding::Moved(_) => 1,
        Finding::Cosmetic => 2,
        Finding::Ambiguous => 3,
        Finding::BeyondLimit => 4,
        Finding::Altered => 5,
        Finding::Gone => 6,
    }
}
