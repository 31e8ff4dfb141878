//! Rows: results with what their accepted revisions rest on, as lists show them.

use super::findings::{self, Findings};
use super::{answer, grants};
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies};
use crate::document::wire::{ResultDoc, ResultEntry, VerificationDoc};
use crate::folder::Grants;
use crate::id::{ResultId, SourceId};
use crate::limits::Limits;
use crate::plant::{Fault, is_planted};
use crate::port::{Document, Kept, Quotations, Quoted, ReadTx, Revisions, StoreError};
use crate::redact::{self, Access, Sealed};
use crate::result::{Cited, Revision, WorkResult};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// Something of quotations, by their numbers.
pub(super) type Numbered<T> = BTreeMap<u32, T>;

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

    /// The saved check of a revision, if it is of its own dependencies.
    fn verification(
        &self,
        revision: &Revision,
        access: &Access,
        rests_on: &[Cited],
        limits: &Limits,
    ) -> Option<VerificationDoc> {
        let sealed = self.documents.get(&revision.verification).cloned()?;
        let document = answer::opened(access, sealed, rests_on)?;
        stored::read_verification((revision.verification, &document), limits)
            .filter(|check| check.dependencies == revision.dependencies)
            .map(VerificationDoc::of)
    }

    /// What is known beside what is stored of each source: later looks at everything under its folder.
    pub(super) fn news(&self) -> News {
        let swept = |one: &Quoted| {
            let kept = one.observed.observation.as_ref()?.value.looked_at;
            let swept = self.grants.get(one.observed.source.grant)?.swept_at?;
            (swept > kept).then_some((one.cited.source, swept))
        };
        let reached = self.quoted.values().flatten().filter_map(swept).collect();
        News { reached, ..News::default() }
    }

    /// The quotations of the accepted revision of a result.
    pub(super) fn quoted(&self, result: ResultId) -> &[Quoted] {
        self.quoted.get(&result).map_or(&[], Vec::as_slice)
    }
}

/// A result as a list shows it, with what a look found out about it, which is body number `which` of that look.
pub(super) fn entry(
    rows: &Rows,
    result: &WorkResult,
    access: &Access,
    (which, news): (usize, &News),
    limits: &Limits,
) -> ResultEntry {
    let quoted = rows.quoted(result.id);
    let rests_on: Vec<Cited> = quoted.iter().map(|one| one.cited).collect();
    let state = access.state(answer::pairs(&rests_on));
    let shows = !state.hides() || is_planted(Fault::RedactionList);
    let revision = rows.revisions.get(&result.id).filter(|_| shows);
    let revision = revision.filter(|revision| rows.rests_on(revision, limits) == rests_on);
    let Some(revision) = revision else {
        return answer::stub(result, answer::unless_hidden(state)).into_entry();
    };
    let found = findings::found(access, which, quoted, &news.findings);
    let doc = ResultDoc {
        causes: Some(answer::causes(access, quoted, &found, &news.findings.moved)),
        observed_at: answer::oldest_look(quoted, &news.reached),
        verification: rows.verification(revision, access, &rests_on, limits),
        ..answer::visible(result, revision, state, access.grants())
    };
    doc.into_entry()
}

/// What a look found out: of quotations, and when it reached which source.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    pub(super) findings: Findings,
    pub(super) reached: BTreeMap<SourceId, Timestamp>,
}
