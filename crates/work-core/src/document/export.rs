//! `work.export/1`: one revision of a result for a stranger, with all that it takes to check it again (spec X1).
//!
//! Owns the document and how it is read back ([`read()`]). It is made of content that somebody may see; who may is
//! [`redact`](crate::redact)'s to decide, before anything comes here. It is unsigned: whoever has it can change it, and
//! compute every digest in it anew. What it says of files, [`verify`](crate::verify::verify) compares with them.

mod read;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use read::{Exported, ExportedQuotation, NotAnExport, read};

use crate::digest::Digest;
use crate::document::stored::{Dependencies, Dependency, Form, Verification};
use crate::document::wire::{Named, PathDoc, ScanDoc, VerificationDoc};
use crate::id::{GrantId, ResultId, SourceId};
use crate::path::RelPath;
use crate::quote::Quotation;
use crate::report::Body;
use crate::result::{ResultState, Revision, RevisionNo, WorkResult};
use crate::source::SourceVersion;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What every export says of itself.
pub const NOTICE: &str = "This export is unsigned. It establishes no authenticity: anybody can have written or changed \
it. It is a copy of what one system recorded, and no verification on another system; `work verify` compares its \
quotations with the files that are there.";

/// One revision of a result, with its sources and its stored documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportDoc {
    /// `work.export/1`: the bare document names itself.
    pub schema: &'static str,
    /// That it is unsigned and establishes nothing.
    pub notice: String,
    /// The result's id.
    pub artifact_id: ResultId,
    /// What kind of answer: `excerpt_report`.
    pub kind: &'static str,
    /// The query that it answers.
    pub query: String,
    /// What it was worth when it was exported.
    pub state: ResultState,
    /// The oldest look that the state rests on.
    pub observed_at: Option<Timestamp>,
    /// The revision exported.
    pub revision: RevisionDoc,
    /// Each source that it quotes, once.
    pub sources: Vec<SourceDoc>,
    /// Its quotations, best first.
    pub quotations: Vec<QuotationDoc>,
    /// What was checked when it was published.
    pub verification: Option<VerificationDoc>,
    /// What was scanned for it; withdrawn folders are left out.
    pub scan: Option<ScanDoc>,
    /// The documents as stored, for whoever hashes them again.
    pub stored: StoredDocs,
    /// The head of the audit log when it was exported.
    pub log: LogHeadDoc,
}

/// A revision by the digests of its documents, each over the document's tag, one line feed and its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevisionDoc {
    /// Its number.
    pub no: RevisionNo,
    /// When it was made.
    pub created_at: Timestamp,
    /// The revision that this one brought back.
    pub restored_from: Option<RevisionNo>,
    /// The digest of the body.
    pub body: Digest,
    /// The digest of what it rests on.
    pub dependencies: Digest,
    /// The digest of what was checked.
    pub verification: Digest,
    /// The digest of what was scanned; `null` where the record of it is not told whole, since the digest would tell of
    /// the rest.
    pub scan: Option<Digest>,
}

/// One source of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceDoc {
    /// Its id.
    pub source_id: SourceId,
    /// The folder through which it was found.
    pub folder: GrantId,
    /// That folder's label.
    pub label: String,
    /// The file under that folder, what is not printable written out.
    pub path: String,
    /// The path's bytes in base64, where something had to be escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// The version quoted.
    pub version: SourceVersion,
    /// How the file's text is encoded.
    pub encoding: String,
}

/// One quotation of an export, with every field that is stored of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuotationDoc {
    /// Its number, from 1.
    pub n: u32,
    /// Its source.
    pub source_id: SourceId,
    /// The label of the folder through which it was found.
    pub label: String,
    /// The file under that folder, what is not printable written out.
    pub path: String,
    /// The path's bytes in base64, where something had to be escaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// The version quoted.
    pub version: SourceVersion,
    /// How the file's text is encoded.
    pub encoding: String,
    /// The first byte of the passage and the one after its last.
    pub bytes: [u64; 2],
    /// The first and the last line of the passage, from 1.
    pub lines: [u32; 2],
    /// The headings above it, the outermost first.
    pub heading: Vec<String>,
    /// What the bytes say.
    pub text: String,
    /// SHA-256 of the passage's bytes.
    pub digest: Digest,
    /// SHA-256 of the passage as UTF-8 without a mark and with LF for CRLF.
    pub normalised: Digest,
    /// Up to 32 characters before it.
    pub before: String,
    /// Up to 32 characters after it.
    pub after: String,
}

/// The documents of a revision as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredDocs {
    /// The body.
    pub body: StoredDoc,
    /// What it rests on.
    pub dependencies: StoredDoc,
    /// What was checked; `null` if that record cannot be read.
    pub verification: Option<StoredDoc>,
    /// What was scanned; `null` if that record cannot be read, or may not be seen whole.
    pub scan: Option<StoredDoc>,
}

/// One document as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredDoc {
    /// What it is hashed under.
    pub tag: String,
    /// Its text, byte for byte.
    pub text: String,
}

/// The head of an audit log: what to keep elsewhere, to notice later that its end was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogHeadDoc {
    /// Events in the log.
    pub events: u64,
    /// The digest of the last.
    pub chain: Digest,
}

/// What an export is made of, opened and read already.
#[derive(Clone, Debug)]
pub struct ExportParts<'a> {
    /// The result.
    pub result: &'a WorkResult,
    /// The revision.
    pub revision: &'a Revision,
    /// What the result is worth now.
    pub state: ResultState,
    /// The oldest look that the state rests on.
    pub observed_at: Option<Timestamp>,
    /// What the revision says.
    pub body: &'a Body,
    /// Where each of its quotations comes from.
    pub dependencies: &'a Dependencies,
    /// What was checked, if the record can be read.
    pub verification: Option<Verification>,
    /// What was scanned, as far as it may be seen.
    pub scan: Option<ScanDoc>,
    /// The documents as stored.
    pub texts: StoredTexts,
    /// The labels of folders, those of the dependencies at least.
    pub labels: &'a BTreeMap<GrantId, String>,
    /// Events in the audit log.
    pub events: u64,
    /// The digest of the last of them.
    pub chain: Digest,
}

/// The texts of a revision's documents as stored.
#[derive(Clone, Debug)]
pub struct StoredTexts {
    /// The body's.
    pub body: String,
    /// The dependencies'.
    pub dependencies: String,
    /// The verification's, if it is exported.
    pub verification: Option<String>,
    /// The scan record's, if it may be seen whole.
    pub scan: Option<String>,
}

impl ExportDoc {
    /// The export of these parts.
    #[must_use]
    pub fn new(parts: ExportParts<'_>) -> Self {
        let ExportParts { result, revision, texts, .. } = parts;
        Self {
            schema: Self::SCHEMA,
            notice: NOTICE.to_owned(),
            artifact_id: result.id,
            kind: result.kind.as_str(),
            query: result.query.clone(),
            state: parts.state,
            observed_at: parts.observed_at,
            revision: RevisionDoc::of(revision, &texts),
            sources: sources(parts.body, parts.dependencies, parts.labels),
            quotations: quotations(parts.body, parts.dependencies, parts.labels),
            verification: parts.verification.map(VerificationDoc::of),
            scan: parts.scan,
            stored: StoredDocs::of(texts),
            log: LogHeadDoc { events: parts.events, chain: parts.chain },
        }
    }
}

impl RevisionDoc {
    fn of(revision: &Revision, texts: &StoredTexts) -> Self {
        let Revision { result: _, no, body, dependencies, verification, scan, origin, created_at } =
            *revision;
        let restored_from = origin.restored_from();
        let scan = texts.scan.as_ref().map(|_| scan);
        Self { no, created_at, restored_from, body, dependencies, verification, scan }
    }
}

impl StoredDocs {
    fn of(texts: StoredTexts) -> Self {
        let doc = |form: Form, text| StoredDoc { tag: form.tag().to_owned(), text };
        Self {
            body: doc(Form::Body, texts.body),
            dependencies: doc(Form::Dependencies, texts.dependencies),
            verification: texts.verification.map(|text| doc(Form::Verification, text)),
            scan: texts.scan.map(|text| doc(Form::Scan, text)),
        }
    }
}

/// Each source and version that is quoted, once, in the order of the quotations.
fn sources(
    body: &Body,
    dependencies: &Dependencies,
    labels: &BTreeMap<GrantId, String>,
) -> Vec<SourceDoc> {
    let mut seen = BTreeSet::new();
    let pairs = body.quotations.iter().zip(&dependencies.0);
    let first = pairs.filter(|(_, one)| seen.insert((one.source_id, one.version)));
    first.map(|(quotation, one)| source(&quotation.path, one, labels)).collect()
}

fn source(path: &RelPath, from: &Dependency, labels: &BTreeMap<GrantId, String>) -> SourceDoc {
    let PathDoc { path, path_bytes } = PathDoc::of(path);
    let Dependency { n: _, source_id, folder, version, encoding } = *from;
    SourceDoc {
        source_id,
        folder,
        label: label(folder, labels),
        path,
        path_bytes,
        version,
        encoding: encoding.as_str().to_owned(),
    }
}

fn quotations(
    body: &Body,
    dependencies: &Dependencies,
    labels: &BTreeMap<GrantId, String>,
) -> Vec<QuotationDoc> {
    let pairs = body.quotations.iter().zip(&dependencies.0);
    pairs.map(|(quotation, from)| shown(quotation, from, labels)).collect()
}

/// A quotation as an export shows it.
fn shown(
    quotation: &Quotation,
    from: &Dependency,
    labels: &BTreeMap<GrantId, String>,
) -> QuotationDoc {
    let Quotation {
        path,
        version,
        encoding,
        bytes,
        lines,
        heading,
        text,
        digest,
        normalised,
        before,
        after,
    } = quotation;
    let PathDoc { path, path_bytes } = PathDoc::of(path);
    QuotationDoc {
        n: from.n,
        source_id: from.source_id,
        label: label(from.folder, labels),
        path,
        path_bytes,
        version: *version,
        encoding: encoding.as_str().to_owned(),
        bytes: [bytes.start, bytes.end],
        lines: [lines.0, lines.1],
        heading: heading.clone(),
        text: text.clone(),
        digest: *digest,
        normalised: *normalised,
        before: before.clone(),
        after: after.clone(),
    }
}

fn label(folder: GrantId, labels: &BTreeMap<GrantId, String>) -> String {
    labels.get(&folder).cloned().unwrap_or_default()
}
