//! `status`: what needs somebody, with the cause and the next command.

use super::case;
use super::ledger::Scope;
use super::overview::{Concern, Overview, Tally};
use super::proposals::stored_now;
use super::survey::{Missing, Reading, Sweep};
use super::{Failure, Workspace, answer};
use crate::digest::Digest;
use crate::document::stored;
use crate::document::wire::{
    AttentionDoc, CountsDoc, QuotationsDoc, SourcesDoc, StatusDoc, WaitingDoc,
};
use crate::id::{ResultId, SourceId};
use crate::limits::Limits;
use crate::port::{Proposals, ReadTx, Results, Sources, StoreError, Watch};
use crate::proposal::{Proposal, ProposalState};
use crate::quote::Finding;
use crate::redact::{self, Access};
use crate::result::{Cited, ResultState, RevisionNo};
use std::collections::{BTreeMap, BTreeSet};

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
    let tells_end = pending.iter().any(|one| case::tells_expiry(one, stored, overview.now));
    let told = StatusDoc {
        counts: CountsDoc {
            sources_checked: overview.count(ResultState::SourcesChecked),
            stale: overview.count(ResultState::Stale),
            evidence_unavailable: overview.count(ResultState::EvidenceUnavailable),
            access_removed: overview.count(ResultState::AccessRemoved),
        },
        left_out: (concerns.len() - shown.len()) as u64,
        attention: shown,
        waiting: waiting(tx, overview, pending, limits)?,
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

/// Proposals that can be approved as far as their time and their base go, of visible results, and that rest on nothing
/// hidden.
fn waiting(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    mut pending: Vec<Proposal>,
    limits: &Limits,
) -> Result<Vec<WaitingDoc>, StoreError> {
    pending.retain(|one| one.lasts(overview.now));
    let results: BTreeSet<ResultId> = pending.iter().map(|one| one.result).collect();
    let results: Vec<ResultId> = results.into_iter().collect();
    let mut accepted: BTreeMap<ResultId, RevisionNo> = BTreeMap::new();
    for ids in results.chunks(limits.page as usize) {
        let found = tx.results(Results::Ids(ids))?.into_iter();
        accepted.extend(found.map(|kept| (kept.value.id, kept.value.accepted)));
    }
    let mut waiting: Vec<Proposal> =
        pending.into_iter().filter(|one| accepted.get(&one.result) == Some(&one.base)).collect();
    waiting.truncate(limits.list as usize);
    let rests_on = rests_on(tx, waiting.iter().map(|one| one.dependencies), limits)?;
    let access = access(tx, overview, rests_on.values().flatten(), limits)?;
    let is_visible = |one: &Proposal| {
        let cited = rests_on.get(&one.dependencies).map_or(&[][..], Vec::as_slice);
        !access.state(answer::pairs(cited)).hides()
    };
    Ok(waiting.into_iter().filter(is_visible).map(entry).collect())
}

/// The latest proposals in state pending, of visible results; the time of some may be past.
fn pending(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    limits: &Limits,
) -> Result<Vec<Proposal>, StoreError> {
    let (mut pending, mut before) = (Vec::new(), None);
    for _ in 0..PAGES {
        let page = tx.proposals(Proposals::Latest { before, most: limits.list })?;
        let Some(last) = page.last() else { break };
        before = Some(last.value.id);
        let waits = |one: &Proposal| {
            let visible = overview.states.get(&one.result).is_some_and(|state| !state.hides());
            visible && one.state == ProposalState::Pending
        };
        pending.extend(page.into_iter().map(|kept| kept.value).filter(waits));
    }
    Ok(pending)
}

/// What documents of dependencies name; one that cannot be read names nothing, and then rests on nothing visible.
fn rests_on(
    tx: &mut dyn ReadTx,
    dependencies: impl Iterator<Item = Digest>,
    limits: &Limits,
) -> Result<BTreeMap<Digest, Vec<Cited>>, StoreError> {
    let digests: Vec<Digest> = dependencies.collect();
    let documents = tx.documents(&digests, limits.dependency_bytes)?.into_iter();
    let read = |(digest, document)| {
        let document = redact::for_checking(document);
        Some((digest, stored::read_dependencies((digest, &document), limits)?.cited()))
    };
    Ok(documents.filter_map(read).collect())
}

/// Access that knows these sources too, as they are stored.
fn access<'c>(
    tx: &mut dyn ReadTx,
    overview: &Overview<'_>,
    cited: impl Iterator<Item = &'c Cited>,
    limits: &Limits,
) -> Result<Access, StoreError> {
    let more = cited.map(|one| one.source).filter(|source| !overview.ledger.has(*source));
    let more: Vec<SourceId> = more.collect::<BTreeSet<_>>().into_iter().collect();
    let mut access = overview.access.clone();
    for ids in more.chunks(limits.page as usize) {
        for observed in tx.sources(Sources::Ids(ids))? {
            access.learn(&observed.source, observed.observation.as_ref(), None);
        }
    }
    Ok(access)
}

fn entry(proposal: Proposal) -> WaitingDoc {
    WaitingDoc {
        proposal_id: proposal.id,
        kind: proposal.kind.as_str(),
        artifact_id: proposal.result,
        created_at: proposal.created_at,
        expires_at: proposal.expires_at,
    }
}
