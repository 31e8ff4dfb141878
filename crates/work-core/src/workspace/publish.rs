//! Making a report of a leased task: scan, rank, read the winners once more, publish.

use super::looks::{self, Looked};
use super::repair::{self, Repair};
use super::run::{Leased, held};
use super::search::{self, QuoteProbe, SearchProbe, Visited};
use super::sheet::Content;
use super::{Decision, Failure, Moment, Workspace, grants};
use crate::audit::EventKind;
use crate::document::stored::{self, Dependencies, Dependency, Stored, TooLarge, Verification};
use crate::folder::Grants;
use crate::id::{GrantId, ResultId, SourceId};
use crate::limits::Limits;
use crate::path::RelPath;
use crate::port::{Change, Ground, Observed, Put, Scanned, Sources, Version, Want, Watch};
use crate::quote::Quotation;
use crate::redact::{FreshLook, Sealed};
use crate::report::{Body, FolderScan, Reached, ScanRecord, SkipReason};
use crate::result::{Origin, ResultKind, Revision, RevisionNo, WorkResult};
use crate::retrieve::{Bounds, Examined, Query, Searcher};
use crate::source::{Look, Seen, Source};
use crate::task::{
    self, Ask, FailureReason, Outcome, Refusal, ReportRequest, RunEnd, Success, Task,
};
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often the ranking is done again because a file that won could not be quoted.
const ROUNDS: u32 = 3;

/// What a search came to.
pub(super) enum Found {
    /// Quotations, each with the file it is from.
    Answer(Box<Answer>),
    /// The same, with a look at what the accepted revision rests on: the next revision of a result.
    Repair(Box<Repair>),
    /// None.
    Nothing(FailureReason, Option<ScanRecord>),
}

/// Quotations with the looks that they were taken from.
pub(super) struct Answer {
    pub(super) scan: ScanRecord,
    pub(super) quotations: Vec<(GrantId, Quotation)>,
    pub(super) looks: BTreeMap<Place, FreshLook>,
}

/// A file: the grant through which it was found, and its path under it.
pub(super) type Place = (GrantId, RelPath);

/// Searches the folders of a task. No transaction is open meanwhile.
pub(super) fn search(
    work: &Workspace,
    task: &Task,
    all: &Grants,
    watch: &mut dyn Watch,
) -> Result<Found, Failure> {
    let Ok(query) = Query::parse(&task.request.query) else {
        return Ok(Found::Nothing(FailureReason::Internal, None));
    };
    let limits = work.limits.as_ref();
    let searcher = Arc::new(Searcher::new(&query, bounds(limits)));
    let probe = Arc::new(SearchProbe::new(searcher.clone(), limits.scan.file_bytes));
    let ground = Ground { grants: all.as_slice(), scope: &task.request.scope, limits: limits.scan };
    let scanned = work.door.scan(ground, probe.clone(), watch);
    let (places, examined) = probe.take().into_iter().unzip();
    let files = Files { places, examined };
    let scan = record(scanned, &files, all);
    if scan.folders.iter().all(|folder| folder.reached != Reached::Yes) {
        return Ok(Found::Nothing(FailureReason::NoSources, Some(scan)));
    }
    quote(work, all, searcher, files, scan, watch)
}

fn bounds(limits: &Limits) -> Bounds {
    Bounds {
        passages: limits.passages,
        per_file: limits.passages_per_file,
        passage_chars: limits.passage_characters,
        context_chars: limits.context_characters,
    }
}

/// The scan's record: what the door counted, with what turned out not to be text.
fn record(scanned: Scanned, files: &Files, all: &Grants) -> ScanRecord {
    let mut folders = scanned.folders;
    for read in files.places.iter().zip(&files.examined) {
        if let (Visited { place, cut }, Examined::NotText) = read
            && let Some(folder) = folders.iter_mut().find(|folder| folder.grant == place.grant)
        {
            let counts = &mut folder.counts;
            counts.skip(SkipReason::NotText);
            counts.files_read = counts.files_read.saturating_sub(1);
            counts.files_cut = counts.files_cut.saturating_sub(u64::from(*cut));
        }
    }
    let inside = |folder: &FolderScan| {
        let outer = folder.grant;
        all.inside(outer).map(move |inner| (outer, inner.id)).collect::<Vec<_>>()
    };
    let left_out = folders.iter().flat_map(inside).collect();
    let rules = |folder: &FolderScan| Some((folder.grant, all.get(folder.grant)?.rules.digest()));
    let rules = folders.iter().filter_map(rules).collect();
    let elapsed_ms = u64::try_from(scanned.elapsed.as_millis()).unwrap_or(u64::MAX);
    ScanRecord { elapsed_ms, limit: scanned.limit, folders, left_out, rules }
}

/// The files of a scan that were read, in the order of the visit, and what was found in each.
struct Files {
    places: Vec<Visited>,
    examined: Vec<Examined>,
}

impl Files {
    fn without(self, gone: &[Place]) -> Self {
        let stays = |place: &crate::port::Place| {
            !gone.iter().any(|(grant, path)| *grant == place.grant && *path == place.path)
        };
        let pairs =
            self.places.into_iter().zip(self.examined).filter(|(visited, _)| stays(&visited.place));
        let (places, examined) = pairs.unzip();
        Self { places, examined }
    }
}

impl Workspace {
    /// The versions of the stored observations of places that are cited already.
    fn observed(&self, wants: &[Want]) -> Result<BTreeMap<Want, Version>, Failure> {
        let places: Vec<_> = wants.iter().map(|want| (want.grant, want.path.clone())).collect();
        let known = self.read(|tx, _| tx.sources(Sources::At(&places)))?;
        let version = |one: Observed| {
            Some((crate::redact::to_look_at(&one.source), one.observation?.version))
        };
        Ok(known.into_iter().filter_map(version).collect())
    }
}

/// Ranks what was found and quotes the winners from one more read; a file that cannot be quoted any more makes room.
fn quote(
    work: &Workspace,
    grants: &Grants,
    searcher: Arc<Searcher>,
    mut files: Files,
    scan: ScanRecord,
    watch: &mut dyn Watch,
) -> Result<Found, Failure> {
    let ground = Ground { grants: grants.as_slice(), scope: &[], limits: work.looking() };
    for _ in 0..ROUNDS {
        let chosen = search::by_file(searcher.rank(&files.examined), &files.places);
        if chosen.is_empty() {
            return Ok(Found::Nothing(FailureReason::NoMatches, Some(scan)));
        }
        let wants: Vec<_> = chosen
            .iter()
            .map(|one| Want { grant: one.grant, path: one.path.clone(), known: None })
            .collect();
        let probe = Arc::new(QuoteProbe::new(searcher.clone(), chosen));
        let from = work.observed(&wants)?;
        let looks = work.door.look(ground, &wants, probe.clone(), watch);
        match gather(&probe, &looks) {
            Gathered::All(quotations) => {
                let looks = wants.into_iter().zip(looks).map(|(want, look)| {
                    let fresh = FreshLook::new(from.get(&want).copied(), look, want.grant, grants);
                    ((want.grant, want.path), fresh)
                });
                let looks = looks.collect();
                return Ok(Found::Answer(Box::new(Answer { scan, quotations, looks })));
            }
            Gathered::Short(gone) => files = files.without(&gone),
            Gathered::Wrong => return Ok(Found::Nothing(FailureReason::Internal, Some(scan))),
        }
    }
    Ok(Found::Nothing(FailureReason::EvidenceUnavailable, Some(scan)))
}

/// What one more read of the winners gave.
enum Gathered {
    /// Every passage, in the order of the ranks.
    All(Vec<(GrantId, Quotation)>),
    /// These files did not give what they had promised.
    Short(Vec<Place>),
    /// A passage was not in its bytes: a fault of ours, and never a result.
    Wrong,
}

fn gather(probe: &QuoteProbe, looks: &[Look]) -> Gathered {
    let mut quoted = probe.take();
    let (mut ranked, mut short) = (BTreeMap::new(), Vec::new());
    for ((turn, chosen), look) in (0..).zip(probe.chosen()).zip(looks) {
        let read = matches!(look, Look::Saw { seen: Seen::Bytes(_), .. });
        match quoted.remove(&turn).filter(|_| read) {
            Some(Err(_)) => return Gathered::Wrong,
            Some(Ok(quotations)) if quotations.len() == chosen.keys.len() => {
                ranked
                    .extend(quotations.into_iter().map(|(rank, one)| (rank, (chosen.grant, one))));
            }
            Some(Ok(_)) | None => short.push((chosen.grant, chosen.path.clone())),
        }
    }
    if short.is_empty() {
        Gathered::All(ranked.into_values().collect())
    } else {
        Gathered::Short(short)
    }
}

/// What came of publishing.
pub(super) enum Published {
    /// The task has ended.
    Yes,
    /// The lease is lost.
    Refused(Refusal),
    /// A folder that was read has been withdrawn or approved anew meanwhile: it has to be searched again.
    Moved,
}

impl From<Result<(), Refusal>> for Published {
    fn from(ended: Result<(), Refusal>) -> Self {
        match ended {
            Ok(()) => Self::Yes,
            Err(why) => Self::Refused(why),
        }
    }
}

/// Publishes what was found, if the lease still holds: result, revision, documents, looks, the task's end, all in one
/// transaction.
pub(super) fn publish(
    work: &Workspace,
    leased: &Leased,
    found: Found,
) -> Result<Published, Failure> {
    match found {
        Found::Nothing(why, scan) => Ok(fail(work, leased, why, scan.as_ref())?.into()),
        Found::Answer(answer) => publish_answer(work, leased, *answer),
        Found::Repair(repair) => repair::publish(work, leased, &repair),
    }
}

/// Ends the task without a result.
fn fail(
    work: &Workspace,
    leased: &Leased,
    why: FailureReason,
    scan: Option<&ScanRecord>,
) -> Result<Result<(), Refusal>, Failure> {
    let (id, fence) = (leased.task.id, leased.fence);
    let scan = scan.and_then(|scan| stored::write_scan(scan, &work.limits).ok());
    let failure = task::Failure { why, scan: scan.as_ref().map(|scan| scan.digest) };
    work.act(
        |tx, _| held(tx, id, fence),
        |held, moment| {
            let ask = Ask::Finish(fence, Outcome::Failure(failure));
            let puts = held.moved(ask, RunEnd::Failed, moment, &work.limits)?;
            let puts = scan.map(put).into_iter().chain(puts).collect();
            Ok(Decision::act((), EventKind::TaskFailed { task: id, fence: fence.0 }, puts))
        },
    )
}

/// Saves the result.
fn publish_answer(work: &Workspace, leased: &Leased, answer: Answer) -> Result<Published, Failure> {
    let Leased { task, fence } = leased;
    let places = answer.places();
    let new: Vec<SourceId> = places.iter().map(|_| work.fresh(SourceId::from_bytes)).collect();
    let result = work.fresh(ResultId::from_bytes);
    let (answer, limits) = (&answer, work.limits.as_ref());
    let published = work.act(
        |tx, _| Ok((held(tx, task.id, *fence)?, tx.sources(Sources::At(&places))?, grants(tx)?)),
        |(held, known, grants), moment| {
            let cited = CitedSources::new(&places, &new, known);
            let written = answer.write(&cited, moment, limits)?;
            let success = Success::Published(result, RevisionNo::FIRST);
            let finish = Ask::Finish(*fence, Outcome::Success(success));
            let end = held.moved(finish, RunEnd::Finished, moment, limits)?;
            let looked = cited.looked(&answer.looks);
            if !looked.iter().all(|one| one.fresh.holds(&one.source, &grants)) {
                return Err(NotPublished::Moved);
            }
            let noted = looks::notes(&looked, &cited.observed, &grants, moment);
            let mut puts = cited.puts;
            puts.extend(written.documents.into_iter().map(put));
            puts.push(Put::Result(Change::New(record_of(result, &task.request, moment))));
            let revision = first_revision(result, written.content, leased, moment.now.at);
            puts.push(Put::Revision(revision, written.dependencies.cited()));
            puts.extend(end);
            let kind = EventKind::ResultPublished {
                result,
                revision: RevisionNo::FIRST,
                task: task.id,
                fence: fence.0,
            };
            let decision = Decision::act((), kind, puts);
            Ok(Decision { notes: noted.notes, looks: noted.count, ..decision })
        },
    )?;
    ended(work, leased, published, &answer.scan)
}

/// What came of publishing; a task whose work cannot be kept ends without it.
pub(super) fn ended(
    work: &Workspace,
    leased: &Leased,
    published: Result<(), NotPublished>,
    scan: &ScanRecord,
) -> Result<Published, Failure> {
    let why = match published {
        Ok(()) => return Ok(Published::Yes),
        Err(NotPublished::Refused(why)) => return Ok(Published::Refused(why)),
        Err(NotPublished::Moved) => return Ok(Published::Moved),
        Err(NotPublished::Unavailable) => FailureReason::EvidenceUnavailable,
        Err(NotPublished::NotReached) => FailureReason::RefreshIncomplete,
        Err(NotPublished::TooLarge) => FailureReason::TooLarge,
    };
    Ok(fail(work, leased, why, Some(scan))?.into())
}

/// Why an answer is not published.
pub(super) enum NotPublished {
    Refused(Refusal),
    /// A folder that was read has been withdrawn or approved anew meanwhile, or what it is the next revision of.
    Moved,
    /// A source that it would bind cannot be relied on.
    Unavailable,
    /// One was not looked at in time.
    NotReached,
    TooLarge,
}

impl From<Refusal> for NotPublished {
    fn from(why: Refusal) -> Self {
        Self::Refused(why)
    }
}

impl From<TooLarge> for NotPublished {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

fn record_of(id: ResultId, request: &ReportRequest, moment: &Moment) -> WorkResult {
    WorkResult {
        id,
        kind: ResultKind::ExcerptReport,
        query: request.query.clone(),
        scope: request.scope.clone(),
        accepted: RevisionNo::FIRST,
        created_at: moment.now.at,
        updated_at: moment.now.at,
    }
}

/// What an answer says and rests on, ready to be kept.
pub(super) struct Written {
    pub(super) body: Body,
    pub(super) dependencies: Dependencies,
    pub(super) content: Content,
    pub(super) documents: [Stored; 4],
}

impl Answer {
    /// The files that it quotes.
    pub(super) fn places(&self) -> Vec<Place> {
        self.looks.keys().cloned().collect()
    }

    /// The documents of it, with a check of what it rests on, at this moment.
    pub(super) fn write(
        &self,
        cited: &CitedSources,
        moment: &Moment,
        limits: &Limits,
    ) -> Result<Written, TooLarge> {
        let quotations = self.quotations.iter().map(|(_, quotation)| quotation.clone()).collect();
        let numbered = (1..).zip(&self.quotations);
        let dependencies =
            Dependencies(numbered.filter_map(|(n, one)| cited.dependency(n, one)).collect());
        let body = Body { quotations };
        let said = stored::write_body(&body, limits)?;
        let rests_on = stored::write_dependencies(&dependencies, limits)?;
        let check = Verification::new(rests_on.digest, moment.now.at, limits);
        let check = stored::write_verification(&check, limits)?;
        let scan = stored::write_scan(&self.scan, limits)?;
        let content = Content {
            body: said.digest,
            dependencies: rests_on.digest,
            verification: check.digest,
            scan: scan.digest,
        };
        Ok(Written { body, dependencies, content, documents: [said, rests_on, check, scan] })
    }
}

/// The first revision of a result.
fn first_revision(result: ResultId, content: Content, leased: &Leased, at: Timestamp) -> Revision {
    let Content { body, dependencies, verification, scan } = content;
    Revision {
        result,
        no: RevisionNo::FIRST,
        body,
        dependencies,
        verification,
        scan,
        origin: Origin::Published { task: leased.task.id, fence: leased.fence },
        created_at: at,
    }
}

/// A document to be kept.
pub(super) fn put(stored: Stored) -> Put {
    Put::Document { digest: stored.digest, bytes: stored.bytes }
}

/// The sources of an answer: those that are known, and those that are new.
pub(super) struct CitedSources {
    at: BTreeMap<Place, SourceId>,
    /// What is stored of each.
    pub(super) observed: looks::Stored,
    /// Those that are new, to be kept.
    pub(super) puts: Vec<Put>,
}

impl CitedSources {
    pub(super) fn new(places: &[Place], new: &[SourceId], known: Vec<Observed>) -> Self {
        let known: BTreeMap<_, _> = known
            .into_iter()
            .map(|observed| {
                let want = crate::redact::to_look_at(&observed.source);
                ((want.grant, want.path), (observed.source.id, observed.observation))
            })
            .collect();
        let mut all = Self { at: BTreeMap::new(), observed: BTreeMap::new(), puts: Vec::new() };
        for (place, new) in places.iter().zip(new) {
            let (id, observation) = known.get(place).cloned().unwrap_or_else(|| {
                let (grant, path) = place.clone();
                all.puts.push(Put::Source { id: *new, grant, path });
                (*new, None)
            });
            all.at.insert(place.clone(), id);
            all.observed.insert(id, observation);
        }
        all
    }

    fn dependency(&self, n: u32, (grant, quotation): &(GrantId, Quotation)) -> Option<Dependency> {
        let source_id = *self.at.get(&(*grant, quotation.path.clone()))?;
        let (version, encoding) = (quotation.version, quotation.encoding);
        Some(Dependency { n, source_id, folder: *grant, version, encoding })
    }

    /// The looks that the quotations were taken from.
    pub(super) fn looked(&self, looks: &BTreeMap<(GrantId, RelPath), FreshLook>) -> Vec<Looked> {
        let one = |((grant, path), fresh): (&(GrantId, RelPath), &FreshLook)| {
            let id = *self.at.get(&(*grant, path.clone()))?;
            let source = Source { id, grant: *grant, path: Sealed::new(path.clone()) };
            Some(Looked { source, fresh: *fresh })
        };
        looks.iter().filter_map(one).collect()
    }
}
