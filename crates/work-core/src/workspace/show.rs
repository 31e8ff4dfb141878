//! `show`: a result, with its sources looked at; what became of each quotation; or a stub.

use super::deliver::Roots;
use super::findings::{self, FindingProbe};
use super::looks::{self, Looked, Scene};
use super::rows::News;
use super::sheet::{Content, Sheet};
use super::{Failure, Workspace, answer};
use crate::code::{Code, Coded};
use crate::document::wire::{ResultDoc, VerificationDoc};
use crate::id::ResultId;
use crate::limits::Limits;
use crate::port::{Kept, Quotations, Quoted, ReadTx, Results, Revisions, StoreError, Watch};
use crate::redact::Access;
use crate::result::{Cited, ResultState, Revision, RevisionNo, WorkResult};
use std::sync::Arc;

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

/// One result with one revision and all that it rests on, read in one snapshot.
pub(super) struct Loaded {
    pub(super) result: WorkResult,
    /// The revision asked for, or the accepted one in place of one that is missing.
    pub(super) revision: Revision,
    /// The number asked for, if there is no such revision. Whether there is must not show of a hidden result.
    pub(super) missing: Option<RevisionNo>,
    /// Quotations of the accepted revision.
    quoted: Vec<Quoted>,
    /// The revision shown.
    pub(super) sheet: Sheet,
    /// The sources of both.
    pub(super) scene: Scene,
}

impl Loaded {
    pub(super) fn load(
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
        let sheet = Sheet::load(tx, Content::from(&revision), limits)?;
        let quoted = tx.quotations(Quotations::Of(&[id]))?;
        let own = sheet.cited().into_iter().map(|cited| cited.source);
        let all: Vec<_> = quoted.iter().map(|one| one.cited.source).chain(own).collect();
        let scene = Scene::load(tx, all)?;
        Ok(Ok(Self { result, revision, missing, quoted, sheet, scene }))
    }

    /// Whether the accepted revision is shown.
    fn is_accepted(&self) -> bool {
        self.revision.no == self.result.accepted
    }

    /// What of its quotations is to be looked for in the bytes of a look.
    fn probe(&self, limits: &Limits) -> FindingProbe {
        let quotations = self.sheet.quotations(limits).into_iter();
        let quotations = quotations.map(|(cited, quotation)| ((0, cited.n), cited, quotation));
        FindingProbe::new(&self.scene.sources, quotations, limits)
    }

    /// What the revision shown is worth, and the worst of it and of the accepted one; of a hidden result, what the
    /// accepted one is worth.
    pub(super) fn states(&self, access: &Access) -> (ResultState, ResultState) {
        let accepted: Vec<Cited> = self.quoted.iter().map(|one| one.cited).collect();
        let own = access.state(answer::pairs(&self.sheet.cited()));
        (own, answer::worst(access.state(answer::pairs(&accepted)), own))
    }

    /// The quotations of the revision shown, with what is known of their sources.
    pub(super) fn shown(&self) -> Vec<Quoted> {
        let finding = |n| {
            let kept = self.quoted.iter().find(|one| self.is_accepted() && one.cited.n == n);
            kept.and_then(|one| one.finding.clone())
        };
        let one = |cited: Cited| {
            let observed = self.scene.observed(cited.source)?.clone();
            Some(Quoted { result: self.result.id, cited, observed, finding: finding(cited.n) })
        };
        self.sheet.cited().into_iter().filter_map(one).collect()
    }
}

impl Workspace {
    /// One result, the accepted revision or another. Its sources are looked at first, read again to the byte, and what
    /// the look says new is kept. A result that must not be seen is answered as a stub: id, query and state.
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
        let probe = Arc::new(loaded.probe(&self.limits));
        let looked = loaded.scene.look(self, probe.clone(), watch);
        let findings = self.findings(&loaded.scene, &looked, probe.take(), watch);
        let shown = self.deliver_at_roots(&loaded.scene.concerned(), |tx, moment, roots| {
            let loaded = match Loaded::load(tx, id, revision, &self.limits)? {
                Ok(loaded) => loaded,
                Err(gone) => return Ok(Err(gone)),
            };
            let reached = looks::reached(&looked, moment.now.at);
            let news = News { findings: findings.clone(), reached };
            Ok(document(&loaded, &looked, &news, roots, &self.limits))
        })??;
        let notes = if loaded.is_accepted() {
            let by_source = looks::by_source(&looked);
            findings::notes(0, loaded.revision.no, &loaded.quoted, &by_source, &findings)
        } else {
            Vec::new()
        };
        self.keep(&looked, notes);
        Ok(shown)
    }
}

/// The answer: a stub if anything that it rests on must not be seen.
fn document(
    loaded: &Loaded,
    looked: &[Looked],
    news: &News,
    roots: &Roots,
    limits: &Limits,
) -> Result<ResultDoc, ShowError> {
    let access = loaded.scene.access(looked, roots);
    let (state, worst) = loaded.states(&access);
    let hidden = worst.hides();
    let shown = if hidden { None } else { whole(loaded, &access, news, state, limits) };
    let stub = || answer::stub(&loaded.result, answer::unless_hidden(worst));
    match loaded.missing.filter(|_| !hidden) {
        Some(missing) => Err(ShowError::UnknownRevision(missing)),
        None => Ok(shown.unwrap_or_else(stub)),
    }
}

/// The answer with its content, if every document of it can be opened and read.
fn whole(
    loaded: &Loaded,
    access: &Access,
    news: &News,
    state: ResultState,
    limits: &Limits,
) -> Option<ResultDoc> {
    let opened = loaded.sheet.open(access, limits)?;
    let quoted = loaded.shown();
    let found = findings::found(access, 0, &quoted, &news.findings);
    Some(ResultDoc {
        causes: Some(answer::causes(access, &quoted, &found, &news.findings.moved)),
        observed_at: answer::oldest_look(&quoted, &news.reached),
        body: Some(opened.body(access, &found)),
        scan: opened.scan(access),
        verification: opened.verification.map(VerificationDoc::of),
        ..answer::visible(&loaded.result, &loaded.revision, state, access.grants())
    })
}
