//! `refresh`: looks at everything that is quoted and tells which results are worth something else than before.

use super::ledger::Scope;
use super::overview::Overview;
use super::survey::{Missing, Reading, Sweep};
use super::{Failure, Workspace};
use crate::document::wire::{RefreshDoc, TurnedDoc};
use crate::id::ResultId;
use crate::limits::Limits;
use crate::port::{ReadTx, Results, StoreError, Watch};
use crate::result::ResultState;
use std::cmp::Reverse;

impl Workspace {
    /// Looks at every source that an accepted revision quotes, reading each byte again, and keeps what is new.
    ///
    /// It changes no result, revision, task, proposal or approval, and writes nothing if nothing changed.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer, or what was found could not be kept.
    pub fn refresh(&self, watch: &mut dyn Watch) -> Result<RefreshDoc, Failure> {
        self.refresh_as(Reading::Again, Sweep::Unkept, watch)
    }

    /// The same with another way to read, and perhaps for a worker at the interval.
    pub(super) fn refresh_as(
        &self,
        reading: Reading,
        sweep: Sweep,
        watch: &mut dyn Watch,
    ) -> Result<RefreshDoc, Failure> {
        let scope = Scope::Everything;
        let survey = self.survey(scope, reading, Missing::Left, watch)?;
        let told =
            self.tell((&survey, scope), |tx, overview| document(tx, overview, &self.limits))?;
        self.keep_survey(&survey, sweep)?;
        Ok(told)
    }
}

fn document(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    limits: &Limits,
) -> Result<RefreshDoc, StoreError> {
    let tally = overview.tally();
    let mut results = turned(tx, overview, limits)?;
    let all = results.len();
    results.truncate(limits.list as usize);
    Ok(RefreshDoc {
        looked_at: tally.looked_at,
        changed: tally.changed,
        missing: tally.missing,
        unstable: tally.unstable,
        not_looked_at: tally.not_looked_at,
        observed_at: tally.observed_at,
        left_out: (all - results.len()) as u64,
        results,
    })
}

/// The results that are worth something else than by what was stored before, the latest changed first.
fn turned(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    limits: &Limits,
) -> Result<Vec<TurnedDoc>, StoreError> {
    let before = overview.survey.before();
    let turned = |(id, state): &(&ResultId, &ResultState)| {
        before.get(*id).is_some_and(|before| before != *state) && !overview.is_unreached(**id)
    };
    let ids: Vec<ResultId> = overview.states.iter().filter(turned).map(|(id, _)| *id).collect();
    let mut results = Vec::new();
    for ids in ids.chunks(limits.page as usize) {
        results.extend(tx.results(Results::Ids(ids))?.into_iter().map(|kept| kept.value));
    }
    results.sort_by_key(|result| Reverse((result.updated_at, result.id)));
    let one = |id| Some(TurnedDoc { artifact_id: id, state: *overview.states.get(&id)? });
    Ok(results.into_iter().filter_map(|result| one(result.id)).collect())
}
