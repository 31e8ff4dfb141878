//! `export`: one revision for somebody else, with what is needed to check it without this database.

use super::looks::{self, Looked, Scene};
use super::rows::News;
use super::show::{Loaded, ShowError};
use super::{Failure, Moment, Workspace, answer};
use crate::code::{Code, Coded};
use crate::document::export::{ExportDoc, ExportParts, StoredTexts};
use crate::id::{GrantId, ResultId};
use crate::limits::Limits;
use crate::port::Watch;
use crate::redact::{Access, Withheld};
use crate::result::{ResultState, RevisionNo};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why nothing was exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The result or the revision cannot be shown.
    #[error(transparent)]
    Show(#[from] ShowError),
    /// It must not be seen.
    #[error(transparent)]
    Withheld(Withheld),
    /// Not every source could be looked at in time.
    #[error("not every source could be looked at in time")]
    RefreshIncomplete,
    /// Something broke.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl Coded for ExportError {
    fn code(&self) -> Code {
        match self {
            Self::Show(cause) => cause.code(),
            Self::Withheld(Withheld::AccessRemoved) => Code::AccessRemoved,
            Self::Withheld(Withheld::EvidenceUnavailable) => Code::EvidenceUnavailable,
            Self::RefreshIncomplete => Code::RefreshIncomplete,
            Self::Failed(cause) => cause.code(),
        }
    }
}

impl ExportError {
    /// The same, or that a look did not reach what is said to be unavailable: of that nothing can be said yet.
    fn unless_reached(self, scene: &Scene, looked: &[Looked]) -> Self {
        let unavailable = self == Self::Withheld(Withheld::EvidenceUnavailable);
        if unavailable && !scene.was_reached(looked) { Self::RefreshIncomplete } else { self }
    }
}

impl Workspace {
    /// Whether the accepted revision of a result may be seen: its sources are looked at first.
    pub(super) fn expect_visible(
        &self,
        id: ResultId,
        watch: &mut dyn Watch,
    ) -> Result<(), ExportError> {
        let loaded = self.read(|tx, _| Loaded::load(tx, id, None, &self.limits))??;
        let looked = loaded.scene.look(self, Arc::new(looks::NoProbe), watch);
        let visible = self.deliver_at_roots(&loaded.scene.concerned(), |tx, _, roots| {
            let loaded = match Loaded::load(tx, id, None, &self.limits)? {
                Ok(loaded) => loaded,
                Err(gone) => return Ok(Err(ExportError::Show(gone))),
            };
            let state = loaded.visible_state(&loaded.scene.access(&looked, roots));
            Ok(state.map_err(|why| why.unless_reached(&loaded.scene, &looked)))
        })?;
        self.keep(&looked, Vec::new());
        visible.map(drop)
    }

    /// One revision of a result, the accepted one or another, as a document that [`crate::verify`] checks anywhere. Its
    /// sources are looked at first, read again to the byte.
    ///
    /// # Errors
    /// [`ExportError`]: no such result or revision, one that must not be seen, or a failure.
    pub fn export(
        &self,
        id: ResultId,
        revision: Option<RevisionNo>,
        watch: &mut dyn Watch,
    ) -> Result<ExportDoc, ExportError> {
        let loaded = self.read(|tx, _| Loaded::load(tx, id, revision, &self.limits))??;
        let looked = loaded.scene.look(self, Arc::new(looks::NoProbe), watch);
        let exported =
            self.deliver_at_roots(&loaded.scene.concerned(), |tx, moment, roots| {
                let loaded = match Loaded::load(tx, id, revision, &self.limits)? {
                    Ok(loaded) => loaded,
                    Err(gone) => return Ok(Err(ExportError::Show(gone))),
                };
                let access = loaded.scene.access(&looked, roots);
                let reached = looks::reached(&looked, moment.now.at);
                let news = News { reached, ..News::default() };
                let exported = document(&loaded, &access, &news, moment, &self.limits);
                Ok(exported.map_err(|why| why.unless_reached(&loaded.scene, &looked)))
            })??;
        self.keep(&looked, Vec::new());
        Ok(exported)
    }
}

/// The export, if all that it rests on may be seen and read.
fn document(
    loaded: &Loaded,
    access: &Access,
    news: &News,
    moment: &Moment,
    limits: &Limits,
) -> Result<ExportDoc, ExportError> {
    let state = loaded.visible_state(access)?;
    let unavailable = ExportError::Withheld(Withheld::EvidenceUnavailable);
    let opened = loaded.sheet.open(access, limits).ok_or(unavailable)?;
    let scan = opened.scan(access);
    let whole = scan.as_ref().is_some_and(|scan| scan.elapsed_ms.is_some());
    let [body, dependencies, verification, scan_text] = loaded.sheet.texts(access);
    let texts = StoredTexts {
        body: body.ok_or(unavailable)?,
        dependencies: dependencies.ok_or(unavailable)?,
        verification: verification.filter(|_| opened.verification.is_some()),
        scan: scan_text.filter(|_| whole),
    };
    let labels: BTreeMap<GrantId, String> =
        access.grants().iter().map(|grant| (grant.id, grant.label.clone())).collect();
    Ok(ExportDoc::new(ExportParts {
        result: &loaded.result,
        revision: &loaded.revision,
        state,
        observed_at: answer::oldest_look(&loaded.shown(), &news.reached),
        body: &opened.body,
        dependencies: &opened.dependencies,
        verification: opened.verification,
        scan,
        texts,
        labels: &labels,
        events: moment.head.acts,
        chain: moment.head.chain,
    }))
}

impl Loaded {
    /// What the revision is worth, if it and the accepted one may be seen and it is there.
    fn visible_state(&self, access: &Access) -> Result<ResultState, ExportError> {
        let (own, worst) = self.states(access);
        match (worst, self.missing) {
            (ResultState::AccessRemoved, _) => Err(ExportError::Withheld(Withheld::AccessRemoved)),
            (ResultState::EvidenceUnavailable, _) => {
                Err(ExportError::Withheld(Withheld::EvidenceUnavailable))
            }
            (ResultState::SourcesChecked | ResultState::Stale, Some(missing)) => {
                Err(ShowError::UnknownRevision(missing).into())
            }
            (ResultState::SourcesChecked | ResultState::Stale, None) => Ok(own),
        }
    }
}
