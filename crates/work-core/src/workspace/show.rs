//! `show`: a result, with its sources looked at; what became of each quotation; or a stub.

use super::looks::{self, Looked};
use super::{Decision, Failure, Moment, Workspace, grants};
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies};
use crate::document::wire::{
    BodyDoc, CauseDoc, ExcerptDoc, PathDoc, ResultDoc, ResultEntry, VerificationDoc,
};
use crate::folder::{Grant, GrantState, Grants};
use crate::id::{GrantId, ResultId, SourceId};
use crate::limits::Limits;
use crate::port::{
    Document, Ground, Kept, Note, Observed, Place, Probe, Quotations, Quoted, ReadTx, Results,
    Revisions, Sources, StoreError, Watch,
};
use crate::quote::{Finding, Quotation};
use crate::redact::{self, Access, Sealed};
use crate::report::{Body, Reached};
use crate::result::{Cited, ResultState, Revision, RevisionNo, WorkResult};
use crate::source::{Look, Seen};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Why a result is not shown. A hidden one is shown, as a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShowError {
    /// There is no result of this id.
    #[error("there is no such result")]
    Unknown,
    /// The result has no revision of this number.
    #[error("the result has no revision {}", .0.0)]
    UnknownRevision(RevisionNo),
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ShowError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown | Self::UnknownRevision(_) => Code::NotFound,
            Self::Failed(cause) => cause.code(),
        }
    }
}

/// Results with what their accepted revisions rest on, read in one snapshot.
pub(super) struct Rows {
    grants: Grants,
    pub(super) results: Vec<WorkResult>,
    quoted: BTreeMap<ResultId, Vec<Quoted>>,
    revisions: BTreeMap<ResultId, Revision>,
    documents: BTreeMap<Digest, Sealed<Document>>,
}

impl Rows {
    /// Reads what a list shows of these results.
    pub(super) fn load(
        tx: &mut dyn ReadTx,
        results: Vec<Kept<WorkResult>>,
        limits: &Limits,
    ) -> Result<Self, StoreError> {
        let results: Vec<WorkResult> = results.into_iter().map(|kept| kept.value).collect();
        let ids: Vec<ResultId> = results.iter().map(|result| result.id).collect();
        let keys: Vec<_> = results.iter().map(|result| (result.id, result.accepted)).collect();
        let mut quoted: BTreeMap<ResultId, Vec<Quoted>> = BTreeMap::new();
        for one in tx.quotations(Quotations::Of(&ids))? {
            quoted.entry(one.result).or_default().push(one);
        }
        let revisions = tx.revisions(Revisions::Keys(&keys))?;
        let checks: Vec<Digest> = revisions.iter().map(|revision| revision.verification).collect();
        let rests_on: Vec<Digest> =
            revisions.iter().map(|revision| revision.dependencies).collect();
        let mut documents = tx.documents(&checks, limits.verification_bytes)?;
        documents.extend(tx.documents(&rests_on, limits.dependency_bytes)?);
        let documents = documents.into_iter().collect();
        let revisions = revisions.into_iter().map(|revision| (revision.result, revision)).collect();
        Ok(Self { grants: grants(tx)?, results, quoted, revisions, documents })
    }

    /// Access as it is stored: no fresh look at anything.
    pub(super) fn access(&self) -> Access {
        let mut access = Access::new(self.grants.clone());
        for quoted in self.quoted.values().flatten() {
            access.learn(&quoted.observed.source, quoted.observed.observation.as_ref(), None);
        }
        access
    }

    /// What the dependencies of a revision say that it rests on; nothing if they cannot be read.
    fn rests_on(&self, revision: &Revision, limits: &Limits) -> Vec<Cited> {
        let kept = self.documents.get(&revision.dependencies).cloned().map(redact::for_checking);
        let read = kept.and_then(|document| {
            stored::read_dependencies((revision.dependencies, &document), limits)
        });
        read.as_ref().map(Dependencies::cited).unwrap_or_default()
    }

    fn quoted(&self, result: ResultId) -> &[Quoted] {
        self.quoted.get(&result).map_or(&[], Vec::as_slice)
    }
}

/// A result as a list shows it.
pub(super) fn entry(
    rows: &Rows,
    result: &WorkResult,
    access: &Access,
    limits: &Limits,
) -> ResultEntry {
    let quoted = rows.quoted(result.id);
    let rests_on: Vec<Cited> = quoted.iter().map(|one| one.cited).collect();
    let state = access.state(pairs(&rests_on));
    let revision = rows.revisions.get(&result.id).filter(|_| !state.hides());
    let revision = revision.filter(|revision| rows.rests_on(revision, limits) == rests_on);
    let Some(revision) = revision else { return stub(result, unless_hidden(state)).into_entry() };
    let verification = rows.documents.get(&revision.verification).cloned();
    let verification = verification.and_then(|sealed| opened(access, sealed, &rests_on));
    let check = verification.and_then(|document| read_verification(revision, &document, limits));
    let doc = ResultDoc {
        causes: Some(causes(access, quoted, &BTreeMap::new())),
        observed_at: oldest_look(quoted, &BTreeMap::new()),
        verification: check,
        ..visible(result, revision, state, access.grants())
    };
    doc.into_entry()
}

/// One result with one revision and all that it rests on, read in one snapshot.
struct Loaded {
    grants: Grants,
    result: WorkResult,
    /// The revision asked for, or the accepted one in place of one that is missing.
    revision: Revision,
    /// The number asked for, if there is no such revision. Whether there is must not show of a hidden result.
    missing: Option<RevisionNo>,
    /// Quotations of the accepted revision.
    quoted: Vec<Quoted>,
    /// What the revision shown rests on; `None` if its record cannot be read.
    dependencies: Option<Dependencies>,
    /// The sources of both, with their observations.
    sources: Vec<Observed>,
    documents: BTreeMap<Digest, Sealed<Document>>,
}

impl Loaded {
    fn load(
        tx: &mut dyn ReadTx,
        id: ResultId,
        no: Option<RevisionNo>,
        limits: &Limits,
    ) -> Result<Result<Self, ShowError>, StoreError> {
        let Some(Kept { value: result, .. }) = tx.results(Results::Ids(&[id]))?.pop() else {
            return Ok(Err(ShowError::Unknown));
        };
        let no = no.unwrap_or(result.accepted);
        let found = tx.revisions(Revisions::Keys(&[(id, no), (id, result.accepted)]))?;
        let Some(&revision) = found.first() else {
            return Ok(Err(ShowError::UnknownRevision(no)));
        };
        let missing = Some(no).filter(|&no| revision.no != no);
        let documents = documents(tx, &revision, limits)?;
        let rests_on = documents.get(&revision.dependencies).cloned().map(redact::for_checking);
        let dependencies = rests_on.and_then(|document| {
            stored::read_dependencies((revision.dependencies, &document), limits)
        });
        let quoted = tx.quotations(Quotations::Of(&[id]))?;
        let ids = distinct(quoted.iter().map(|one| one.cited.source), dependencies.as_ref());
        let sources = tx.sources(Sources::Ids(&ids))?;
        let grants = grants(tx)?;
        Ok(Ok(Self { grants, result, revision, missing, quoted, dependencies, sources, documents }))
    }

    fn document(&self, digest: Digest) -> Option<Sealed<Document>> {
        self.documents.get(&digest).cloned()
    }

    /// The body, to compare its quotations with the bytes of a look. Shows nothing to anybody.
    fn body_to_compare(&self, limits: &Limits) -> Option<Body> {
        let document = redact::for_checking(self.document(self.revision.body)?);
        stored::read_body((self.revision.body, &document), self.dependencies.as_ref()?, limits)
    }

    /// What the accepted revision and the one shown rest on.
    fn rests_on(&self) -> (Vec<Cited>, Vec<Cited>) {
        let accepted = self.quoted.iter().map(|one| one.cited).collect();
        (accepted, self.dependencies.as_ref().map(Dependencies::cited).unwrap_or_default())
    }

    /// The grants in force that decide about its sources: those through which they were cited, and those inside.
    fn concerned(&self) -> Vec<Grant> {
        let cited: BTreeSet<GrantId> =
            self.sources.iter().map(|observed| observed.source.grant).collect();
        let inside =
            cited.iter().flat_map(|&outer| self.grants.inside(outer)).map(|inner| inner.id);
        let all: BTreeSet<GrantId> = cited.iter().copied().chain(inside).collect();
        let concerned = self.grants.iter().filter(|grant| all.contains(&grant.id));
        concerned.filter(|grant| grant.state == GrantState::Active).cloned().collect()
    }
}

/// The documents of a revision, none longer than its form may be.
fn documents(
    tx: &mut dyn ReadTx,
    revision: &Revision,
    limits: &Limits,
) -> Result<BTreeMap<Digest, Sealed<Document>>, StoreError> {
    let mut all = BTreeMap::new();
    for (digest, most) in [
        (revision.body, limits.body_bytes),
        (revision.dependencies, limits.dependency_bytes),
        (revision.verification, limits.verification_bytes),
        (revision.scan, limits.scan_bytes),
    ] {
        all.extend(tx.documents(&[digest], most)?);
    }
    Ok(all)
}

impl Workspace {
    /// One result, the accepted revision or another. Its sources are looked at first, and what the look says new is
    /// kept. A result that must not be seen is answered as a stub: id, query and state.
    ///
    /// # Errors
    /// [`ShowError`]: no such result or revision, or a failure.
    pub fn show(
        &self,
        id: ResultId,
        revision: Option<RevisionNo>,
        watch: &mut dyn Watch,
    ) -> Result<ResultDoc, ShowError> {
        let loaded = self.read(|tx, _| Loaded::load(tx, id, revision, &self.limits))??;
        let probe = Arc::new(FindingProbe::new(&loaded, &self.limits));
        let ground =
            Ground { grants: loaded.grants.as_slice(), scope: &[], limits: self.looking() };
        let looked =
            looks::look(self.door.as_ref(), ground, loaded.sources.clone(), probe.clone(), watch);
        let findings = probe.take();
        let shown = self.deliver_at_roots(&loaded.concerned(), |tx, moment, roots| {
            let loaded = match Loaded::load(tx, id, revision, &self.limits)? {
                Ok(loaded) => loaded,
                Err(gone) => return Ok(Err(gone)),
            };
            Ok(document(&loaded, &looked, &findings, roots, moment.now.at, &self.limits))
        })??;
        self.keep(&loaded, &looked, &findings);
        Ok(shown)
    }

    /// Keeps what a look said new. If it cannot be kept, the answer stands all the same.
    fn keep(&self, loaded: &Loaded, looked: &[Looked], findings: &Findings) {
        let accepted = loaded.revision.no == loaded.result.accepted;
        // A look that is not kept is looked again.
        let _: Result<Result<(), std::convert::Infallible>, Failure> = self.act(
            |tx, _| Ok((looks::stored(tx, looked)?, grants(tx)?)),
            |(stored, grants), moment| {
                let noted = looks::notes(looked, &stored, &grants, moment);
                let mut notes = noted.notes;
                if accepted {
                    notes.extend(finding_notes(loaded, looked, findings));
                }
                let nothing = Decision::nothing(());
                Ok(Decision {
                    notes,
                    looks: noted.count,
                    access_moved: noted.access_moved,
                    ..nothing
                })
            },
        );
    }

    /// As `deliver`, and looks again at the roots of the folders concerned.
    fn deliver_at_roots<T, R>(
        &self,
        concerned: &[Grant],
        mut build: impl FnMut(&mut dyn ReadTx, &Moment, &Roots) -> Result<Result<T, R>, StoreError>,
    ) -> Result<Result<T, R>, Failure> {
        let look = || {
            concerned
                .iter()
                .map(|grant| grant.id)
                .zip(self.door.roots(concerned))
                .collect::<Roots>()
        };
        let mut roots = look();
        for _ in 0..2 {
            let answer = self.deliver(|tx, moment| build(tx, moment, &roots))?;
            let again = look();
            if again == roots {
                return Ok(answer);
            }
            roots = again;
        }
        Err(Failure::Store(StoreError::Busy))
    }
}

/// What the roots of folders are at one moment.
pub(crate) type Roots = BTreeMap<GrantId, Reached>;

/// What became of quotations, by number, with the digest of the bytes they were looked for in.
type Findings = BTreeMap<u32, (Digest, Finding)>;

/// Finds what became of quotations in the bytes of a look, on the door's threads.
struct FindingProbe {
    /// By the number of the want: the quotations of that source.
    quotations: Vec<Vec<(u32, Quotation)>>,
    file_bytes: usize,
    found: Mutex<Findings>,
}

impl FindingProbe {
    fn new(loaded: &Loaded, limits: &Limits) -> Self {
        let body = loaded.body_to_compare(limits);
        let quotations = body.map(|body| body.quotations).unwrap_or_default();
        let dependencies = loaded.dependencies.iter().flat_map(|dependencies| &dependencies.0);
        let all: Vec<_> = dependencies.zip(quotations).collect();
        let of = |source: SourceId| {
            let mine = all.iter().filter(|(dependency, _)| dependency.source_id == source);
            mine.map(|(dependency, quotation)| (dependency.n, quotation.clone())).collect()
        };
        let quotations = loaded.sources.iter().map(|observed| of(observed.source.id)).collect();
        Self { quotations, file_bytes: limits.scan.file_bytes, found: Mutex::default() }
    }

    fn take(&self) -> Findings {
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
            .map(|(n, quotation)| (*n, (version.digest, Finding::of(quotation, bytes, cut))))
            .collect();
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(found);
    }
}

/// The answer: a stub if anything that it rests on must not be seen.
fn document(
    loaded: &Loaded,
    looked: &[Looked],
    findings: &Findings,
    roots: &Roots,
    now: Timestamp,
    limits: &Limits,
) -> Result<ResultDoc, ShowError> {
    let access = access(loaded, looked, roots);
    let (accepted, own) = loaded.rests_on();
    let current = access.state(pairs(&accepted));
    let state = access.state(pairs(&own));
    let worst = current.max(state);
    let hidden = current.hides() || state.hides();
    let shown =
        if hidden { None } else { whole(loaded, &access, &own, findings, looked, now, limits) };
    let stub = || stub(&loaded.result, unless_hidden(worst));
    match loaded.missing.filter(|_| !hidden) {
        Some(missing) => Err(ShowError::UnknownRevision(missing)),
        None => Ok(shown.map_or_else(stub, |doc| ResultDoc { state, ..doc })),
    }
}

/// The answer with its content, if every document of it can be opened and read.
fn whole(
    loaded: &Loaded,
    access: &Access,
    own: &[Cited],
    findings: &Findings,
    looked: &[Looked],
    now: Timestamp,
    limits: &Limits,
) -> Option<ResultDoc> {
    let Loaded { revision, result, .. } = loaded;
    let open = |digest| opened(access, loaded.document(digest)?, own);
    let dependencies = loaded.dependencies.as_ref()?;
    let body = stored::read_body((revision.body, &open(revision.body)?), dependencies, limits)?;
    let scan = open(revision.scan)
        .and_then(|document| stored::read_scan((revision.scan, &document), limits));
    let check = open(revision.verification)
        .and_then(|document| read_verification(revision, &document, limits));
    let quoted = quoted_of(loaded, dependencies);
    let found = found(access, &quoted, findings);
    let fresh: BTreeMap<SourceId, Timestamp> =
        looked.iter().filter_map(|one| reached(one, now)).collect();
    Some(ResultDoc {
        causes: Some(causes(access, &quoted, &found)),
        observed_at: oldest_look(&quoted, &fresh),
        body: Some(body_document(body, dependencies, access.grants(), &found)),
        scan: scan.map(|scan| access.scan(scan)),
        verification: check,
        ..visible(result, revision, ResultState::SourcesChecked, access.grants())
    })
}

/// The dependencies of the revision shown, as quotations with what is known of their sources.
fn quoted_of(loaded: &Loaded, dependencies: &Dependencies) -> Vec<Quoted> {
    let observed =
        |source| loaded.sources.iter().find(|observed| observed.source.id == source).cloned();
    let accepted = loaded.revision.no == loaded.result.accepted;
    let finding = |n| {
        let kept = loaded.quoted.iter().find(|one| accepted && one.cited.n == n);
        kept.and_then(|one| one.finding.clone())
    };
    let one = |cited: Cited| {
        let observed = observed(cited.source)?;
        Some(Quoted { result: loaded.result.id, cited, observed, finding: finding(cited.n) })
    };
    dependencies.cited().into_iter().filter_map(one).collect()
}

/// Access with what the look saw.
fn access(loaded: &Loaded, looked: &[Looked], roots: &Roots) -> Access {
    let mut access = Access::new(loaded.grants.clone()).at_roots(roots.clone());
    for observed in &loaded.sources {
        let fresh =
            looked.iter().find(|one| one.source.id == observed.source.id).map(|one| &one.fresh);
        access.learn(&observed.source, observed.observation.as_ref(), fresh);
    }
    access
}

/// The findings that hold, by number: from this look, or kept for the bytes that are seen now.
fn found(access: &Access, quoted: &[Quoted], fresh: &Findings) -> BTreeMap<u32, Finding> {
    let one = |one: &Quoted| {
        let Cited { n, source, version } = one.cited;
        let finding = match access.seen(source, &version) {
            Seen::Bytes(seen) if seen == version => None,
            Seen::Bytes(seen) => {
                let looked = fresh
                    .get(&n)
                    .filter(|(against, _)| *against == seen.digest)
                    .map(|(_, finding)| *finding);
                let kept = || one.finding.clone().filter(|(against, _)| *against == seen.digest);
                looked.or_else(|| kept().and_then(|(_, sealed)| access.open(sealed, [source]).ok()))
            }
            Seen::Missing => Some(Finding::Gone),
            Seen::Unstable | Seen::Unreachable | Seen::Denied => None,
        };
        finding.map(|finding| (n, finding))
    };
    quoted.iter().filter_map(one).collect()
}

/// One cause for each quotation of a source that is not as cited.
fn causes(access: &Access, quoted: &[Quoted], found: &BTreeMap<u32, Finding>) -> Vec<CauseDoc> {
    let one = |one: &Quoted| {
        let Cited { n, source, version } = one.cited;
        let observed = match access.seen(source, &version) {
            Seen::Bytes(seen) if seen == version => None,
            Seen::Bytes(_) => Some("changed"),
            Seen::Missing => Some("missing"),
            Seen::Unstable => Some("unstable"),
            Seen::Unreachable | Seen::Denied => None,
        }?;
        let path = access.open(one.observed.source.path.clone(), [source]).ok()?;
        let kept = || stored_finding(access, one);
        let finding = found.get(&n).copied().or_else(kept).map(Finding::as_str);
        Some(CauseDoc {
            source_id: source,
            path: PathDoc::of(&path),
            observed,
            excerpt: n,
            finding,
            moved_to: None,
        })
    };
    quoted.iter().filter_map(one).collect()
}

/// A finding that is kept, if it was made against the bytes that were seen last.
fn stored_finding(access: &Access, one: &Quoted) -> Option<Finding> {
    match access.seen(one.cited.source, &one.cited.version) {
        Seen::Missing => Some(Finding::Gone),
        Seen::Bytes(seen) => {
            let (_, sealed) = one.finding.clone().filter(|(against, _)| *against == seen.digest)?;
            access.open(sealed, [one.cited.source]).ok()
        }
        Seen::Unstable | Seen::Unreachable | Seen::Denied => None,
    }
}

fn body_document(
    body: Body,
    dependencies: &Dependencies,
    grants: &Grants,
    found: &BTreeMap<u32, Finding>,
) -> BodyDoc {
    let label = |folder| grants.get(folder).map(|grant| grant.label.clone()).unwrap_or_default();
    let pairs = body.quotations.into_iter().zip(&dependencies.0);
    let excerpts = pairs.map(|(quotation, dependency)| ExcerptDoc {
        n: dependency.n,
        source_id: dependency.source_id,
        folder: dependency.folder,
        label: label(dependency.folder),
        path: PathDoc::of(&quotation.path),
        version: quotation.version,
        encoding: quotation.encoding.as_str(),
        bytes: [quotation.bytes.start, quotation.bytes.end],
        lines: [quotation.lines.0, quotation.lines.1],
        heading: quotation.heading,
        text: quotation.text,
        digest: quotation.digest,
        finding: found.get(&dependency.n).copied().map(Finding::as_str),
    });
    BodyDoc { excerpts: excerpts.collect() }
}

/// A result whose content shows, without the content yet.
fn visible(
    result: &WorkResult,
    revision: &Revision,
    state: ResultState,
    grants: &Grants,
) -> ResultDoc {
    let active =
        |id: &&GrantId| grants.get(**id).is_some_and(|grant| grant.state == GrantState::Active);
    ResultDoc {
        folders: Some(result.scope.iter().filter(active).copied().collect()),
        revision: Some(revision.no),
        restored_from: revision.origin.restored_from(),
        created_at: Some(result.created_at),
        updated_at: Some(result.updated_at),
        ..stub(result, state)
    }
}

/// What is left of a result that must not be seen: that it is there, what was asked, and its state.
fn stub(result: &WorkResult, state: ResultState) -> ResultDoc {
    ResultDoc {
        artifact_id: result.id,
        kind: result.kind.as_str(),
        query: result.query.clone(),
        folders: None,
        state,
        causes: None,
        observed_at: None,
        revision: None,
        restored_from: None,
        created_at: None,
        updated_at: None,
        body: None,
        scan: None,
        verification: None,
    }
}

/// The state of a stub: what cannot be read though nothing hides it is unavailable too.
fn unless_hidden(state: ResultState) -> ResultState {
    state.max(ResultState::EvidenceUnavailable)
}

fn read_verification(
    revision: &Revision,
    document: &Document,
    limits: &Limits,
) -> Option<VerificationDoc> {
    let check = stored::read_verification((revision.verification, document), limits)
        .filter(|check| check.dependencies == revision.dependencies)?;
    Some(VerificationDoc::of(check))
}

fn opened(access: &Access, sealed: Sealed<Document>, rests_on: &[Cited]) -> Option<Document> {
    access.open(sealed, rests_on.iter().map(|cited| cited.source)).ok()
}

fn pairs(cited: &[Cited]) -> impl Iterator<Item = (SourceId, crate::source::SourceVersion)> + '_ {
    cited.iter().map(|one| (one.source, one.version))
}

/// The sources of both, each once, in the order of their ids.
fn distinct(quoted: impl Iterator<Item = SourceId>, own: Option<&Dependencies>) -> Vec<SourceId> {
    let own = own.into_iter().flat_map(Dependencies::rests_on).map(|(source, _)| source);
    let all: BTreeSet<SourceId> = quoted.chain(own).collect();
    all.into_iter().collect()
}

/// When a source was reached by this look.
fn reached(one: &Looked, now: Timestamp) -> Option<(SourceId, Timestamp)> {
    match one.fresh.look {
        Look::Saw { .. } => Some((one.source.id, now)),
        Look::NotReached => None,
    }
}

/// The oldest look that quotations rest on.
fn oldest_look(quoted: &[Quoted], fresh: &BTreeMap<SourceId, Timestamp>) -> Option<Timestamp> {
    let one = |one: &Quoted| {
        let kept = one.observed.observation.as_ref().map(|kept| kept.value.looked_at);
        fresh.get(&one.cited.source).copied().or(kept)
    };
    quoted.iter().filter_map(one).min()
}

/// Findings that say something else than what is kept.
fn finding_notes(loaded: &Loaded, looked: &[Looked], findings: &Findings) -> Vec<Note> {
    let saw = |source: SourceId| {
        looked.iter().any(|one| {
            one.source.id == source && reached(one, Timestamp::from_seconds(0)).is_some()
        })
    };
    let news = |one: &Quoted| {
        let (against, finding) = *findings.get(&one.cited.n)?;
        let kept =
            one.finding.clone().map(|(against, sealed)| (against, redact::for_checking(sealed)));
        let new = kept != Some((against, finding)) && saw(one.cited.source);
        new.then_some(Note::Finding {
            result: one.result,
            revision: loaded.revision.no,
            n: one.cited.n,
            against,
            finding,
        })
    };
    loaded.quoted.iter().filter_map(news).collect()
}
