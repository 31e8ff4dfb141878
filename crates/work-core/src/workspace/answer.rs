//! Parts of answers: what documents show of results and quotations, made from what access opens.

use super::rows::Numbered;
use crate::document::stored::Dependencies;
use crate::document::wire::{BodyDoc, CauseDoc, ExcerptDoc, PathDoc, ResultDoc};
use crate::folder::{GrantState, Grants};
use crate::id::{GrantId, SourceId};
use crate::path::RelPath;
use crate::port::{Document, Quoted};
use crate::quote::Finding;
use crate::redact::{Access, Sealed};
use crate::report::Body;
use crate::result::{Cited, ResultState, Revision, WorkResult};
use crate::source::{Seen, SourceVersion};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// One cause for each quotation of a source that is not as cited, with what became of it, and where the bytes of a
/// missing file stand now.
pub(super) fn causes(
    access: &Access,
    quoted: &[Quoted],
    found: &Numbered<Finding>,
    moved: &BTreeMap<(SourceId, SourceVersion), RelPath>,
) -> Vec<CauseDoc> {
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
        let moved = moved.get(&(source, version)).filter(|moved| {
            let grant = one.observed.source.grant;
            observed == "missing" && access.grants().permitting(grant, moved).is_some()
        });
        let moved = moved.map(PathDoc::of);
        Some(CauseDoc {
            source_id: source,
            path: PathDoc::of(&path),
            observed,
            excerpt: n,
            finding: found.get(&n).copied().map(Finding::as_str),
            moved_to: moved.as_ref().map(|moved| moved.path.clone()),
            moved_to_bytes: moved.and_then(|moved| moved.path_bytes),
        })
    };
    quoted.iter().filter_map(one).collect()
}

/// A body as documents show it, each quotation with what became of it.
pub(super) fn body(
    body: Body,
    dependencies: &Dependencies,
    grants: &Grants,
    found: &Numbered<Finding>,
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
pub(super) fn visible(
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
pub(super) fn stub(result: &WorkResult, state: ResultState) -> ResultDoc {
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

/// The worst of a result's accepted revision and another one. Of a hidden result only the accepted one counts: the other
/// would tell that it is there.
pub(super) fn worst(accepted: ResultState, other: ResultState) -> ResultState {
    if accepted.hides() { accepted } else { accepted.max(other) }
}

/// The state of a stub: what cannot be read though nothing hides it is unavailable too.
pub(super) fn unless_hidden(state: ResultState) -> ResultState {
    state.max(ResultState::EvidenceUnavailable)
}

/// Opens a document for somebody who may see all that it rests on.
pub(super) fn opened(
    access: &Access,
    sealed: Sealed<Document>,
    rests_on: &[Cited],
) -> Option<Document> {
    access.open(sealed, rests_on.iter().map(|cited| cited.source)).ok()
}

/// Source and version of each.
pub(super) fn pairs(cited: &[Cited]) -> impl Iterator<Item = (SourceId, SourceVersion)> + '_ {
    cited.iter().map(|one| (one.source, one.version))
}

/// The oldest look that quotations rest on.
pub(super) fn oldest_look(
    quoted: &[Quoted],
    fresh: &BTreeMap<SourceId, Timestamp>,
) -> Option<Timestamp> {
    let one = |one: &Quoted| {
        let kept = one.observed.observation.as_ref().map(|kept| kept.value.looked_at);
        fresh.get(&one.cited.source).copied().or(kept)
    };
    quoted.iter().filter_map(one).min()
}
