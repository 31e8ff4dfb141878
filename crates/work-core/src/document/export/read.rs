//! Reading an export back, trusting nothing in it.
//!
//! What can be checked within the document is: each stored document has its digest, and what is shown is what is
//! stored. What nothing in it binds is left as it stands: notice, id, query, state, times and labels.

use super::{LogHeadDoc, QuotationDoc, RevisionDoc, SourceDoc, StoredDoc, StoredDocs};
use crate::code::{Code, Coded};
use crate::digest::Digest;
use crate::document::stored::{self, Dependencies, Form, Verification};
use crate::document::wire::Named;
use crate::id::{GrantId, ResultId};
use crate::limits::Limits;
use crate::port::Document;
use crate::quote::Quotation;
use crate::report::{Body, FolderScan, Reached, ScanCounts, ScanLimit, ScanRecord};
use crate::result::{ResultState, RevisionNo};
use crate::time::Timestamp;
use serde::Deserialize;
use std::collections::BTreeMap;

/// An export whose parts agree. That its files say so is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    artifact_id: ResultId,
    revision: RevisionNo,
    query: String,
    quotations: Vec<ExportedQuotation>,
}

/// One quotation of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedQuotation {
    /// Its number, from 1.
    pub n: u32,
    /// The label of the folder it is said to be from.
    pub label: String,
    /// The quotation, whose parts agree.
    pub quotation: Quotation,
}

impl Exported {
    /// The result it says it is of.
    #[must_use]
    pub const fn artifact_id(&self) -> ResultId {
        self.artifact_id
    }

    /// The revision it says it is.
    #[must_use]
    pub const fn revision(&self) -> RevisionNo {
        self.revision
    }

    /// The query it says that it answers.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Its quotations, in order; at least one.
    #[must_use]
    pub fn quotations(&self) -> &[ExportedQuotation] {
        &self.quotations
    }
}

/// Why bytes are no export that can be relied on to say one thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnExport {
    /// It is longer than an export may be.
    #[error("it has {bytes} bytes, and an export has at most {most}")]
    TooLong {
        /// What it has.
        bytes: usize,
        /// What it may have.
        most: usize,
    },
    /// It nests deeper than an export does.
    #[error("it nests deeper than {0} levels")]
    TooDeep(usize),
    /// It is no JSON, or not of this form.
    #[error("it is not of the form of an export: {0}")]
    Malformed(String),
    /// It does not say which document it is.
    #[error("it does not name itself as work.export/1")]
    Nameless,
    /// It says that it is another document.
    #[error("it is '{0}', not work.export/1")]
    Other(String),
    /// It says that it is an export of a version that this program does not know.
    #[error("it is '{0}', which a newer version of work wrote")]
    Newer(String),
    /// A stored document stands under a tag that this version does not know.
    #[error("its stored {} stands under the tag '{tag}', which this version does not know", name(*form))]
    UnknownTag {
        /// Which document.
        form: Form,
        /// The tag.
        tag: String,
    },
    /// A stored document does not have its digest.
    #[error("its stored {} does not have the digest that the revision names", name(*.0))]
    OtherDigest(Form),
    /// A stored document has its digest and cannot be read.
    #[error("its stored {} cannot be read", name(*.0))]
    Unreadable(Form),
    /// What is shown of a stored document is not what is stored.
    #[error("what it shows is not what its stored {} says", name(*.0))]
    ShownOtherwise(Form),
    /// The sources listed are not those that it rests on.
    #[error("the sources it lists are not those that it rests on")]
    OtherSources,
    /// A quotation is shown otherwise than it is stored.
    #[error("quotation {0} is not what its stored body says")]
    OtherQuotation(u32),
    /// A quotation's text, range and digests do not agree.
    #[error("text, range and digests of quotation {0} do not agree")]
    Disagrees(u32),
}

impl Coded for NotAnExport {
    fn code(&self) -> Code {
        // Whatever is wrong with it, it is the file that somebody named.
        Code::InvalidArgument
    }
}

/// A stored document by name.
const fn name(form: Form) -> &'static str {
    match form {
        Form::Body => "body",
        Form::Dependencies => "dependencies",
        Form::Verification => "verification",
        Form::Scan => "scan record",
        Form::Binding => "binding",
    }
}

/// Reads an export, bare or as the command line and the server wrap it.
///
/// # Errors
/// [`NotAnExport`]: the first thing that does not hold.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Exported, NotAnExport> {
    if bytes.len() > limits.export_bytes {
        return Err(NotAnExport::TooLong { bytes: bytes.len(), most: limits.export_bytes });
    }
    if stored::depth(bytes) > limits.json_depth {
        return Err(NotAnExport::TooDeep(limits.json_depth));
    }
    let export = parse(bytes)?;
    let body = check_stored(&export, limits)?;
    check_quotations(&export, body)
}

/// The document inside, once its name is known: what a newer one holds is not looked at.
fn parse(bytes: &[u8]) -> Result<ExportJson, NotAnExport> {
    check_name(json(bytes)?)?;
    match json::<Outer>(bytes)?.data {
        None => json(bytes),
        Some(inner) => {
            check_name(inner)?;
            Ok(json::<Wrapped>(bytes)?.data)
        }
    }
}

fn json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, NotAnExport> {
    serde_json::from_slice(bytes).map_err(|why| NotAnExport::Malformed(why.to_string()))
}

/// Tells an export of this version from a newer one and from everything else.
fn check_name(Name { schema }: Name) -> Result<(), NotAnExport> {
    let schema = schema.ok_or(NotAnExport::Nameless)?;
    if schema == super::ExportDoc::SCHEMA {
        return Ok(());
    }
    let version = schema.strip_prefix("work.export/").and_then(|version| version.parse().ok());
    match version {
        Some(2_u32..) => Err(NotAnExport::Newer(schema)),
        Some(..2) | None => Err(NotAnExport::Other(schema)),
    }
}

/// Checks each stored document, and what is shown of it; gives back the body and what it rests on.
fn check_stored(export: &ExportJson, limits: &Limits) -> Result<(Body, Dependencies), NotAnExport> {
    let ExportJson { revision, stored, .. } = export;
    let kept = document(Form::Dependencies, revision.dependencies, &stored.dependencies)?;
    let dependencies = stored::read_dependencies((revision.dependencies, &kept), limits)
        .ok_or(NotAnExport::Unreadable(Form::Dependencies))?;
    let kept = document(Form::Body, revision.body, &stored.body)?;
    let body = stored::read_body((revision.body, &kept), &dependencies, limits)
        .ok_or(NotAnExport::Unreadable(Form::Body))?;
    check_verification(export, limits)?;
    check_scan(export, limits)?;
    Ok((body, dependencies))
}

/// A stored document, if it has its digest under its tag.
fn document(form: Form, digest: Digest, stored: &StoredDoc) -> Result<Document, NotAnExport> {
    if stored.tag != form.tag() {
        return Err(NotAnExport::UnknownTag { form, tag: stored.tag.clone() });
    }
    if Digest::tagged(form.tag(), stored.text.as_bytes()) != digest {
        return Err(NotAnExport::OtherDigest(form));
    }
    Ok(Document::Bytes(stored.text.clone().into_bytes()))
}

fn check_verification(export: &ExportJson, limits: &Limits) -> Result<(), NotAnExport> {
    let digest = export.revision.verification;
    let stored = match &export.stored.verification {
        None => None,
        Some(stored) => {
            let kept = document(Form::Verification, digest, stored)?;
            let read = stored::read_verification((digest, &kept), limits)
                .filter(|check| check.dependencies == export.revision.dependencies);
            Some(read.ok_or(NotAnExport::Unreadable(Form::Verification))?)
        }
    };
    let shown = export.verification.as_ref().map(VerificationJson::as_stored);
    if shown == stored { Ok(()) } else { Err(NotAnExport::ShownOtherwise(Form::Verification)) }
}

/// A scan of which some folder was withdrawn is shown in part and without its stored record: nothing binds it then.
fn check_scan(export: &ExportJson, limits: &Limits) -> Result<(), NotAnExport> {
    let Some(stored) = &export.stored.scan else { return Ok(()) };
    let digest = export.revision.scan.ok_or(NotAnExport::OtherDigest(Form::Scan))?;
    let kept = document(Form::Scan, digest, stored)?;
    let scan =
        stored::read_scan((digest, &kept), limits).ok_or(NotAnExport::Unreadable(Form::Scan))?;
    let shows = export.scan.as_ref().is_some_and(|shown| shown.shows(&scan));
    if shows { Ok(()) } else { Err(NotAnExport::ShownOtherwise(Form::Scan)) }
}

/// Checks that sources and quotations are those stored, and that each quotation's parts agree.
fn check_quotations(
    export: &ExportJson,
    (body, dependencies): (Body, Dependencies),
) -> Result<Exported, NotAnExport> {
    // No stored document holds labels: those listed with the sources count, and must not contradict each other.
    let labels: BTreeMap<GrantId, String> =
        export.sources.iter().map(|source| (source.folder, source.label.clone())).collect();
    if export.sources != super::sources(&body, &dependencies, &labels) {
        return Err(NotAnExport::OtherSources);
    }
    let stored = super::quotations(&body, &dependencies, &labels);
    if stored.len() != export.quotations.len() {
        return Err(NotAnExport::ShownOtherwise(Form::Body));
    }
    let mut quotations = Vec::with_capacity(stored.len());
    for ((stored, shown), quotation) in
        stored.into_iter().zip(&export.quotations).zip(body.quotations)
    {
        if stored != *shown {
            return Err(NotAnExport::OtherQuotation(stored.n));
        }
        if !quotation.agrees() {
            return Err(NotAnExport::Disagrees(stored.n));
        }
        quotations.push(ExportedQuotation { n: stored.n, label: stored.label, quotation });
    }
    let ExportJson { artifact_id, query, revision, .. } = export;
    Ok(Exported {
        artifact_id: *artifact_id,
        revision: revision.no,
        query: query.clone(),
        quotations,
    })
}

/// What a document calls itself.
#[derive(Deserialize)]
struct Name {
    schema: Option<String>,
}

/// What a document calls that is in it, if one is.
#[derive(Deserialize)]
struct Outer {
    data: Option<Name>,
}

#[derive(Deserialize)]
struct Wrapped {
    data: ExportJson,
}

/// An export as far as this version knows it. A field that was added later is passed over.
#[derive(Deserialize)]
struct ExportJson {
    artifact_id: ResultId,
    query: String,
    revision: RevisionDoc,
    sources: Vec<SourceDoc>,
    quotations: Vec<QuotationDoc>,
    verification: Option<VerificationJson>,
    scan: Option<ScanJson>,
    stored: StoredDocs,
    #[serde(flatten)]
    _unbound: Unbound,
}

/// Fields that nothing in the document binds; they must be of their form.
#[derive(Deserialize)]
struct Unbound {
    #[serde(rename = "notice")]
    _notice: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "state")]
    _state: ResultState,
    #[serde(rename = "observed_at")]
    _observed_at: Option<Timestamp>,
    #[serde(rename = "log")]
    _log: LogHeadDoc,
}

#[derive(Deserialize)]
struct VerificationJson {
    method: String,
    checked_at: Timestamp,
    limits: Vec<String>,
    dependencies: Digest,
}

impl VerificationJson {
    fn as_stored(&self) -> Verification {
        let Self { method, checked_at, limits, dependencies } = self;
        Verification {
            method: method.clone(),
            checked_at: *checked_at,
            limits: limits.clone(),
            dependencies: *dependencies,
        }
    }
}

#[derive(Deserialize)]
struct ScanJson {
    elapsed_ms: Option<u64>,
    limit: Option<ScanLimit>,
    folders: Vec<FolderScanJson>,
}

#[derive(Deserialize)]
struct FolderScanJson {
    folder: GrantId,
    reached: Reached,
    #[serde(flatten)]
    counts: ScanCounts,
}

impl ScanJson {
    /// Whether it is all of this record that is shown.
    fn shows(&self, scan: &ScanRecord) -> bool {
        let ScanRecord { elapsed_ms, limit, folders, left_out: _, rules: _ } = scan;
        let shown = self.folders.iter().map(|folder| FolderScan {
            grant: folder.folder,
            reached: folder.reached,
            counts: folder.counts.clone(),
        });
        self.elapsed_ms == Some(*elapsed_ms)
            && self.limit == *limit
            && shown.eq(folders.iter().cloned())
    }
}
