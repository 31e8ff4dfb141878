//! A survey: one look at everything that is quoted, and what became of the quotations.
//!
//! The sources are looked at once, outside any transaction, those looked at longest ago first. Only what changed since a
//! finding was kept is looked at again, with the quotations at hand. What is new is kept in one commit, if anything
//! is (spec O5). Answers are built from it by [`overview`](super::overview).

use super::findings::{self, FindingProbe, Findings, Key};
use super::ledger::{Ledger, Scope};
use super::looks::{self, Looked, NoProbe};
use super::{Decision, Failure, Moment, Workspace, grants};
use crate::digest::Digest;
use crate::document::stored;
use crate::folder::Grants;
use crate::id::{GrantId, ResultId, SourceId};
use crate::limits::{Limits, ScanLimits};
use crate::port::{
    Document, Ground, Kept, Note, Observed, Quoted, ReadTx, Results, Revisions, StoreError, Watch,
};
use crate::quote::Quotation;
use crate::redact::{self, Sealed};
use crate::result::{Cited, ResultState, Revision, RevisionNo};
use crate::source::{Look, Observation, Seen};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// How a look reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Every byte again.
    Again,
    /// Only files that may have changed: one whose device, inode, size and times are those that it was hashed under is
    /// trusted to hold the same bytes. What this does not notice stands at [`Known`](crate::port::Known).
    Trusting,
}

/// What becomes of missing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Their folders are searched for where they went.
    Searched,
    /// They are missing.
    Left,
}

/// Whether a survey keeps the time of a look that said nothing new, as one row for each folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    /// It does, as the look at the interval.
    Kept,
    /// It does not: a look that says nothing new writes nothing.
    Unkept,
}

/// Bodies that are held at once to look for their quotations.
const BODIES: usize = 64;

/// A body whose quotations were looked for.
struct Sought {
    result: ResultId,
    accepted: RevisionNo,
    quotations: Vec<(Cited, Quotation)>,
}

/// What was looked at and found.
pub(super) struct Survey {
    pub(super) ledger: Arc<Ledger>,
    /// In the order of the look.
    pub(super) looked: Vec<Looked>,
    /// The accepted revisions whose quotations were looked for, with their place among the findings.
    sought: BTreeMap<ResultId, (usize, RevisionNo)>,
    pub(super) findings: Findings,
    reading: Reading,
}

impl Workspace {
    /// Looks at what the results of `scope` quote.
    pub(super) fn survey(
        &self,
        scope: Scope<'_>,
        reading: Reading,
        missing: Missing,
        watch: &mut dyn Watch,
    ) -> Result<Survey, Failure> {
        let (ledger, began) = self.read(|tx, moment| {
            let ledger = Ledger::load(tx, &moment.head, scope, self.limits.page)?;
            Ok((Arc::new(ledger), moment.head.anchor.latest_ms))
        })?;
        let sources = ledger.in_order();
        let ground = ground(&ledger.grants, self.looking());
        let door = self.door.as_ref();
        let looked = looks::look_as(door, ground, (sources, reading), Arc::new(NoProbe), watch);
        let findings = Findings::default();
        let sought = BTreeMap::new();
        let mut survey = Survey { ledger, looked, sought, findings, reading };
        self.look_for_quotations(&mut survey, began, watch)?;
        if missing == Missing::Searched {
            survey.findings.moved = self.where_files_went(&survey, began, watch)?;
        }
        Ok(survey)
    }

    /// Looks again at sources that hold other bytes than those that findings are kept for, with the quotations at hand.
    fn look_for_quotations(
        &self,
        survey: &mut Survey,
        began: i64,
        watch: &mut dyn Watch,
    ) -> Result<(), Failure> {
        let unknown = survey.unknown();
        if unknown.is_empty() {
            return Ok(());
        }
        let results: BTreeSet<ResultId> = unknown.iter().map(|one| one.result).collect();
        let cited: BTreeSet<(ResultId, u32)> =
            unknown.iter().map(|one| (one.result, one.cited.n)).collect();
        let sources: BTreeMap<SourceId, &Observed> =
            unknown.iter().map(|one| (one.cited.source, &one.observed)).collect();
        let sources: Vec<Observed> = sources.into_values().cloned().collect();
        let mut sought = BTreeMap::new();
        let mut quotations: Vec<(Key, Cited, Quotation)> = Vec::new();
        for body in self.bodies(&results.into_iter().collect::<Vec<_>>())? {
            let which = sought.len();
            sought.insert(body.result, (which, body.accepted));
            let wanted = body
                .quotations
                .into_iter()
                .filter(|(one, _)| cited.contains(&(body.result, one.n)));
            quotations.extend(wanted.map(|(one, quotation)| ((which, one.n), one, quotation)));
        }
        let probe = Arc::new(FindingProbe::new(&sources, quotations, &self.limits));
        let ground = ground(&survey.ledger.grants, self.left(began)?);
        let again = looks::look(self.door.as_ref(), ground, sources, probe.clone(), watch);
        survey.see_again(again);
        survey.findings.found = probe.take().found;
        survey.sought = sought;
        Ok(())
    }

    /// The bodies of the accepted revisions of these results, a few at a time, each time in a snapshot of its own. One
    /// that cannot be read is left out.
    fn bodies(&self, results: &[ResultId]) -> Result<Vec<Sought>, Failure> {
        let mut all = Vec::new();
        for some in results.chunks(BODIES) {
            all.extend(self.read(|tx, _| bodies(tx, some, &self.limits))?);
        }
        Ok(all)
    }

    /// Where the cited versions of missing files stand now.
    fn where_files_went(
        &self,
        survey: &Survey,
        began: i64,
        watch: &mut dyn Watch,
    ) -> Result<BTreeMap<(SourceId, crate::source::SourceVersion), crate::path::RelPath>, Failure>
    {
        let is_missing =
            |one: &Looked| matches!(one.fresh.look, Look::Saw { seen: Seen::Missing, .. });
        if !survey.looked.iter().any(is_missing) {
            return Ok(BTreeMap::new());
        }
        let cited = survey.ledger.quoted().iter();
        let cited = cited.map(|one| (one.cited.source, one.cited.version)).collect();
        let limits = self.left(began)?;
        Ok(self.moved(&survey.ledger.grants, &survey.looked, &cited, limits, watch))
    }

    /// The ceilings of a look that began at this moment, in milliseconds, with the time that is left of its budget.
    fn left(&self, began: i64) -> Result<ScanLimits, Failure> {
        let now = self.read(|_, moment| Ok(moment.head.anchor.latest_ms))?;
        let passed = Duration::from_millis(u64::try_from(now - began).unwrap_or(0));
        let limits = self.looking();
        Ok(ScanLimits { time: limits.time.saturating_sub(passed), ..limits })
    }

    /// Keeps what a survey found, in one commit, and takes no lock if that is nothing.
    pub(super) fn keep_survey(&self, survey: &Survey, sweep: Sweep) -> Result<(), Failure> {
        let Some(news) = survey.news(sweep) else { return Ok(()) };
        let page = self.limits.page;
        let kept: Result<(), Infallible> = self.act(
            |tx, _| Here::load(tx, &news, page),
            |here, moment| Ok(news.decide(&here, moment)),
        )?;
        let Ok(()) = kept;
        Ok(())
    }
}

impl Survey {
    /// What each result was worth by what was stored before the look.
    pub(super) fn before(&self) -> BTreeMap<ResultId, ResultState> {
        self.ledger.states(&self.ledger.access(&[], BTreeMap::new()))
    }

    /// The sources that were reached, in the order of their ids.
    pub(super) fn reached(&self) -> Vec<SourceId> {
        let reached = |one: &&Looked| matches!(one.fresh.look, Look::Saw { .. });
        let mut reached: Vec<SourceId> =
            self.looked.iter().filter(reached).map(|one| one.source.id).collect();
        reached.sort_unstable();
        reached
    }

    /// The place of the findings about an accepted revision, if its quotations were looked for.
    pub(super) fn sought(&self, result: ResultId, accepted: RevisionNo) -> Option<usize> {
        self.sought.get(&result).filter(|(_, no)| *no == accepted).map(|(which, _)| *which)
    }

    /// Quotations of sources that hold other bytes than cited, of which no finding is kept for the bytes that were seen.
    fn unknown(&self) -> Vec<&Quoted> {
        let looked = looks::by_source(&self.looked);
        let is_unknown =
            |one: &&Quoted| match looked.get(&one.cited.source).map(|one| one.fresh.look) {
                Some(Look::Saw { seen: Seen::Bytes(seen), .. }) => {
                    let kept = one.finding.as_ref().map(|(against, _)| *against);
                    seen != one.cited.version && kept != Some(seen.digest)
                }
                Some(Look::Saw { .. } | Look::NotReached) | None => false,
            };
        self.ledger.quoted().iter().filter(is_unknown).collect()
    }

    /// Takes in a second look; what it did not reach stays as it was seen first.
    fn see_again(&mut self, again: Vec<Looked>) {
        let mut again: BTreeMap<SourceId, Looked> = again
            .into_iter()
            .filter(|one| matches!(one.fresh.look, Look::Saw { .. }))
            .map(|one| (one.source.id, one))
            .collect();
        for one in &mut self.looked {
            if let Some(newer) = again.remove(&one.source.id) {
                *one = newer;
            }
        }
    }

    /// What of it is worth keeping.
    fn news(&self, sweep: Sweep) -> Option<News<'_>> {
        let kept = |one: &Looked| self.ledger.observation(one.source.id);
        let grants = &self.ledger.grants;
        let swept = match sweep {
            Sweep::Kept => self.said_nothing_new(&kept),
            Sweep::Unkept => BTreeSet::new(),
        };
        let was_cut = self.looked.iter().any(|one| one.fresh.look == Look::NotReached);
        let (mut looked, mut restamped) = (Vec::new(), Vec::new());
        for one in &self.looked {
            let kept = kept(one);
            let moves_on = was_cut && !swept.contains(&one.source.grant);
            if looks::says_new(one, kept, grants) {
                looked.push(one.clone());
            } else if (moves_on || self.was_touched(one, kept))
                && looks::says_same(one, kept, grants)
            {
                restamped.push(one.clone());
            }
        }
        let findings = self.finding_notes();
        let is_nothing =
            looked.is_empty() && restamped.is_empty() && swept.is_empty() && findings.is_empty();
        (!is_nothing).then_some(News { looked, restamped, swept, findings, grants })
    }

    /// The folders of which every source was reached and said what is stored.
    fn said_nothing_new<'a>(
        &self,
        kept: &impl Fn(&Looked) -> Option<&'a Kept<Observation>>,
    ) -> BTreeSet<GrantId> {
        let same = |one: &&Looked| looks::says_same(one, kept(one), &self.ledger.grants);
        let grants = |all: &mut dyn Iterator<Item = &Looked>| {
            all.map(|one| one.source.grant).collect::<BTreeSet<_>>()
        };
        let others = grants(&mut self.looked.iter().filter(|one| !same(one)));
        &grants(&mut self.looked.iter()) - &others
    }

    /// Whether a look that trusts found a file that holds the same bytes under another stamp: kept, so that the next one
    /// need not read it. (A look that was cut keeps all that it reached, so that the next one goes on from there.)
    fn was_touched(&self, one: &Looked, kept: Option<&Kept<Observation>>) -> bool {
        let stamp = match one.fresh.look {
            Look::Saw { stamp, .. } => stamp,
            Look::NotReached => None,
        };
        let is_other = stamp.is_some() && kept.and_then(|kept| kept.value.stamp) != stamp;
        is_other && self.reading == Reading::Trusting
    }

    /// Findings that say something else than what is kept.
    fn finding_notes(&self) -> Vec<(ResultId, RevisionNo, Note)> {
        if self.sought.is_empty() {
            return Vec::new();
        }
        let looked = looks::by_source(&self.looked);
        let of = |(&result, &(which, accepted)): (&ResultId, &(usize, RevisionNo))| {
            let quoted = self.ledger.of(result);
            let notes = findings::notes(which, accepted, quoted, &looked, &self.findings);
            notes.into_iter().map(move |note| (result, accepted, note)).collect::<Vec<_>>()
        };
        self.sought.iter().flat_map(of).collect()
    }
}

/// What of a survey is worth keeping.
struct News<'a> {
    /// Looks that say something new.
    looked: Vec<Looked>,
    /// Looks that say the same, with another time or stamp.
    restamped: Vec<Looked>,
    /// Folders of which every source said the same.
    swept: BTreeSet<GrantId>,
    findings: Vec<(ResultId, RevisionNo, Note)>,
    /// The approvals under which all this was seen.
    grants: &'a Grants,
}

/// What is stored now of what a survey saw.
struct Here {
    grants: Grants,
    stored: looks::Stored,
    accepted: BTreeMap<ResultId, RevisionNo>,
}

impl Here {
    fn load(tx: &mut dyn ReadTx, news: &News<'_>, page: u32) -> Result<Self, StoreError> {
        let mut stored = looks::stored_in_pages(tx, &news.looked, page)?;
        stored.extend(looks::stored_in_pages(tx, &news.restamped, page)?);
        let results: BTreeSet<ResultId> = news.findings.iter().map(|(id, ..)| *id).collect();
        let mut accepted = BTreeMap::new();
        for ids in results.into_iter().collect::<Vec<_>>().chunks(page as usize) {
            let found = tx.results(Results::Ids(ids))?.into_iter();
            accepted.extend(found.map(|kept| (kept.value.id, kept.value.accepted)));
        }
        Ok(Self { grants: grants(tx)?, stored, accepted })
    }
}

impl News<'_> {
    /// What is written of it over what is stored now.
    fn decide(&self, here: &Here, moment: &Moment) -> Decision<()> {
        let looks::Noted { mut notes, count, access_moved } =
            looks::notes(&self.looked, &here.stored, &here.grants, moment);
        notes.extend(self.restamped.iter().filter_map(|one| {
            let kept = here.stored.get(&one.source.id).and_then(Option::as_ref);
            looks::restamp(one, kept, &here.grants, moment)
        }));
        let still = |result, accepted| here.accepted.get(result) == Some(accepted);
        let findings = self.findings.iter().filter(|(id, accepted, _)| still(id, accepted));
        notes.extend(findings.map(|(_, _, note)| note.clone()));
        let same = |grant: &&GrantId| {
            let approval = here.grants.approval(**grant);
            approval.is_some() && approval == self.grants.approval(**grant)
        };
        let swept = self.swept.iter().filter(same);
        notes.extend(swept.map(|grant| Note::Swept(*grant, moment.now.at)));
        Decision { notes, looks: count, access_moved, ..Decision::nothing(()) }
    }
}

/// Where a look goes.
fn ground(grants: &Grants, limits: ScanLimits) -> Ground<'_> {
    Ground { grants: grants.as_slice(), scope: &[], limits }
}

/// The bodies of the accepted revisions of these results, in three questions for all.
fn bodies(
    tx: &mut dyn ReadTx,
    results: &[ResultId],
    limits: &Limits,
) -> Result<Vec<Sought>, StoreError> {
    let results = tx.results(Results::Ids(results))?.into_iter();
    let keys: Vec<_> = results.map(|kept| (kept.value.id, kept.value.accepted)).collect();
    let revisions = tx.revisions(Revisions::Keys(&keys))?;
    let dependencies: Vec<Digest> = revisions.iter().map(|one| one.dependencies).collect();
    let bodies: Vec<Digest> = revisions.iter().map(|one| one.body).collect();
    let mut documents: BTreeMap<_, _> =
        tx.documents(&dependencies, limits.dependency_bytes)?.into_iter().collect();
    documents.extend(tx.documents(&bodies, limits.body_bytes)?);
    Ok(revisions.iter().filter_map(|revision| sought(revision, &documents, limits)).collect())
}

/// One body, if it can be read.
fn sought(
    revision: &Revision,
    documents: &BTreeMap<Digest, Sealed<Document>>,
    limits: &Limits,
) -> Option<Sought> {
    let document = |digest| documents.get(&digest).cloned().map(redact::for_checking);
    let (rests_on, body) = (document(revision.dependencies)?, document(revision.body)?);
    let rests_on = stored::read_dependencies((revision.dependencies, &rests_on), limits)?;
    let body = stored::read_body((revision.body, &body), &rests_on, limits)?;
    let quotations = rests_on.cited().into_iter().zip(body.quotations).collect();
    Some(Sought { result: revision.result, accepted: revision.no, quotations })
}
