//! `status`: what needs somebody, with the cause and the next command.

use super::case::{self, Case};
use super::deliver::Roots;
use super::ledger::Scope;
use super::overview::{Concern, Overview, Tally};
use super::proposals::stored_now;
use super::survey::{Missing, Reading, Sweep};
use super::{Failure, Workspace};
use crate::document::wire::{
    AttentionDoc, CountsDoc, QuotationsDoc, SourcesDoc, StatusDoc, WaitingDoc,
};
use crate::limits::Limits;
use crate::port::{Kept, Proposals, ReadTx, StoreError, Watch};
use crate::proposal::{Proposal, ProposalState};
use crate::quote::Finding;
use crate::result::ResultState;

/// Lists' worth of proposals among which those that wait are looked for, the latest made first. A proposal waits for an
/// hour, so one that still waits is older than these only if as many were made since; it can be reviewed all the same.
const PAGES: u32 = 5;

impl Workspace {
    /// What needs somebody: looks at every source that is quoted, and keeps what is new. If it cannot be kept, the answer
    /// stands all the same.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn status(&self, reading: Reading, watch: &mut dyn Watch) -> Result<StatusDoc, Failure> {
        let scope = Scope::Everything;
        let survey = self.survey(scope, reading, Missing::Searched, watch)?;
        let (told, tells_end) =
            self.tell((&survey, scope), |tx, overview| document(tx, overview, &self.limits))?;
        let _: Result<(), Failure> = self.keep_survey(&survey, Sweep::Unkept);
        if tells_end {
            self.keep_time()?;
        }
        Ok(told)
    }
}

/// The answer, and whether it leaves out a proposal as ended which by the time that is stored has not.
fn document(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    limits: &Limits,
) -> Result<(StatusDoc, bool), StoreError> {
    let concerns = overview.concerns(tx, limits)?;
    let shown: Vec<AttentionDoc> =
        concerns.iter().take(limits.list as usize).map(|one| attention(overview, one)).collect();
    let Tally { looked_at, changed, not_looked_at, observed_at, .. } = overview.tally();
    let pending = pending(tx, overview, limits)?;
    let stored = stored_now(tx)?;
    let tells_end = pending.iter().any(|one| case::tells_expiry(&one.value, stored, overview.now));
    let (waiting, waiting_left_out) = waiting(tx, overview, pending, limits)?;
    let told = StatusDoc {
        counts: CountsDoc {
            sources_checked: overview.count(ResultState::SourcesChecked),
            stale: overview.count(ResultState::Stale),
            evidence_unavailable: overview.count(ResultState::EvidenceUnavailable),
            access_removed: overview.count(ResultState::AccessRemoved),
        },
        left_out: (concerns.len() - shown.len()) as u64,
        attention: shown,
        waiting,
        waiting_left_out,
        sources: SourcesDoc { looked_at, changed, not_looked_at },
        quotations: quotations(overview, &concerns),
        observed_at,
    };
    Ok((told, tells_end))
}

fn attention(overview: &Overview<'_>, concern: &Concern) -> AttentionDoc {
    AttentionDoc {
        artifact_id: concern.result.id,
        query: concern.result.query.clone(),
        state: concern.state,
        causes: overview.causes(concern),
        next: next(overview, concern),
    }
}

/// The command that goes on from here.
fn next(overview: &Overview<'_>, concern: &Concern) -> String {
    let id = concern.result.id;
    match concern.state {
        ResultState::SourcesChecked => format!("work show {id}"),
        ResultState::Stale => format!("work repair {id}"),
        ResultState::EvidenceUnavailable if overview.is_unreached(id) => "work refresh".to_owned(),
        // It shows which folder does not answer, or was withdrawn and can be approved again.
        ResultState::EvidenceUnavailable | ResultState::AccessRemoved => "work folders".to_owned(),
    }
}

/// What became of the quotations of visible results.
fn quotations(overview: &Overview<'_>, concerns: &[Concern]) -> QuotationsDoc {
    let checked = overview.states.iter().filter(|(_, one)| **one == ResultState::SourcesChecked);
    let mut counts = QuotationsDoc { affected: 0, intact: 0 };
    counts.intact += checked.map(|(id, _)| overview.ledger.of(*id).len() as u64).sum::<u64>();
    for concern in concerns.iter().filter(|one| !one.state.hides()) {
        for one in overview.ledger.of(concern.result.id) {
            match concern.found.get(&one.cited.n) {
                Some(Finding::Intact) => counts.intact += 1,
                Some(
                    Finding::Moved(_)
                    | Finding::Ambiguous
                    | Finding::Cosmetic
                    | Finding::Altered
                    | Finding::BeyondLimit
                    | Finding::Gone,
                ) => counts.affected += 1,
                None => {
                    let seen = overview.access.seen(one.cited.source, &one.cited.version);
                    let state = ResultState::of(&one.cited.version, &seen);
                    counts.intact += u64::from(state == ResultState::SourcesChecked);
                }
            }
        }
    }
    counts
}

/// Proposals that can be approved as far as their time and their base go, and that may be seen, with what the survey saw:
/// as many as a list shows, and how many more there are.
fn waiting(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    mut pending: Vec<Kept<Proposal>>,
    limits: &Limits,
) -> Result<(Vec<WaitingDoc>, u64), StoreError> {
    pending.retain(|one| one.value.lasts(overview.now));
    let mut waiting: Vec<WaitingDoc> = Vec::new();
    // As many as a list of proposals: no question asks for more than a store answers at once.
    for some in pending.chunks(limits.list as usize) {
        let cases = Case::all(tx, some.to_vec(), limits)?;
        let Some(first) = cases.first() else { continue };
        let access = first.scene.access(&overview.survey.looked, &Roots::new());
        let waits = cases.iter().filter(|case| case.waits(&access));
        waiting.extend(waits.map(|case| entry(&case.proposal.value)));
    }
    let all = waiting.len();
    waiting.truncate(limits.list as usize);
    let left_out = (all - waiting.len()) as u64;
    Ok((waiting, left_out))
}

/// The latest proposals in state pending, of visible results; the time of some may be past.
fn pending(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    limits: &Limits,
) -> Result<Vec<Kept<Proposal>>, StoreError> {
    let (mut pending, mut before) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = tx.proposals(Proposals::Latest { before, most: limits.list })?;
        let Some(last) = page.last() else { break };
        before = Some(last.value.id);
        let waits = |one: &Proposal| {
            let visible = overview.states.get(&one.result).is_some_and(|state| !state.hides());
            visible && one.state == ProposalState::Pending
        };
        pending.extend(page.into_iter().filter(|kept| waits(&kept.value)));
    }
    Ok(pending)
}

fn entry(proposal: &Proposal) -> WaitingDoc {
    WaitingDoc {
        proposal_id: proposal.id,
        kind: proposal.kind.as_str(),
        artifact_id: proposal.result,
        created_at: proposal.created_at,
        expires_at: proposal.expires_at,
    }
}
