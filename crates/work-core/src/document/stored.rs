//! Stored documents: bodies, dependencies, verifications, scan records and bindings as JSON, written once.
//!
//! Owns their form and their digests, each under a tag with a version. A change of form is a new version beside the
//! old. Reading trusts nothing: what is malformed, oversized or too deep reads as nothing at all, and a document whose
//! bytes do not have the digest that it is kept under is malformed.

use crate::digest::Digest;
use crate::id::{GrantId, SourceId};
use crate::limits::Limits;
use crate::path::RelPath;
use crate::plant::{Fault, is_planted};
use crate::port::Document;
use crate::quote::Quotation;
use crate::report::{Body, FolderScan, Reached, ScanCounts, ScanLimit, ScanRecord};
use crate::result::Cited;
use crate::source::SourceVersion;
use crate::text::Encoding;
use crate::time::Timestamp;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Which kind of document: what its bytes are hashed under, and how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A report's body.
    Body,
    /// What a body rests on.
    Dependencies,
    /// What was checked.
    Verification,
    /// What was scanned.
    Scan,
    /// What was seen of the sources that an approval binds.
    Binding,
}

impl Form {
    /// The tag that its bytes are hashed under.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Body => "work.body/1",
            Self::Dependencies => "work.dependencies/1",
            Self::Verification => "work.verification/1",
            Self::Scan => "work.scan/1",
            Self::Binding => "work.binding/1",
        }
    }

    /// Bytes that it may have.
    #[must_use]
    pub const fn most(self, limits: &Limits) -> usize {
        match self {
            Self::Body => limits.body_bytes,
            Self::Dependencies => limits.dependency_bytes,
            Self::Verification => limits.verification_bytes,
            Self::Scan => limits.scan_bytes,
            Self::Binding => limits.binding_bytes,
        }
    }
}

/// A document with its digest, ready to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The digest of the bytes under the form's tag.
    pub digest: Digest,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A document that is longer than its form may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record of {bytes} bytes does not fit the limit of {most}")]
pub struct TooLarge {
    /// What it would have.
    pub bytes: usize,
    /// What it may have.
    pub most: usize,
}

/// Where each quotation of a body comes from, at the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies(pub Vec<Dependency>);

/// Where one quotation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    /// The quotation's number, from 1.
    pub n: u32,
    /// The source.
    pub source_id: SourceId,
    /// The grant.
    pub folder: GrantId,
    /// The version.
    pub version: SourceVersion,
    /// How the source's text is encoded.
    #[serde(with = "encoding")]
    pub encoding: Encoding,
}

impl Dependencies {
    /// What an index keeps of them.
    #[must_use]
    pub fn cited(&self) -> Vec<Cited> {
        self.0
            .iter()
            .map(|one| Cited { n: one.n, source: one.source_id, version: one.version })
            .collect()
    }

    /// Source and version of each.
    pub fn rests_on(&self) -> impl Iterator<Item = (SourceId, SourceVersion)> + '_ {
        self.0.iter().map(|one| (one.source_id, one.version))
    }
}

/// A saved record of a source check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verification {
    /// How it was checked.
    pub method: String,
    /// When.
    pub checked_at: Timestamp,
    /// What the check does not say, and which limits were raised for it.
    pub limits: Vec<String>,
    /// The digest of the dependencies that were checked.
    pub dependencies: Digest,
}

impl Verification {
    /// Each cited file was read again through the door, and the passages were found in those bytes.
    pub const METHOD: &'static str = "cited_sources_read_again";

    /// What a check of sources does not say.
    pub const LIMITS: [&'static str; 5] = [
        "The stored source versions matched when checked. This is no proof of any claim in them.",
        "Refreshing is a series of reads, not a snapshot of a file system.",
        "An approval binds recorded observations and stored revisions; it locks no file and proves no truth.",
        "Applying never touches a source file and sends nothing anywhere.",
        "At most 256 KiB of a file are read and hashed.",
    ];

    /// A check of `dependencies` at `now`, under these limits.
    #[must_use]
    pub fn new(dependencies: Digest, checked_at: Timestamp, limits: &Limits) -> Self {
        let raised = limits
            .raised()
            .into_iter()
            .map(|(name, number)| format!("Limit raised: {name} to {number}."));
        Self {
            method: Self::METHOD.to_owned(),
            checked_at,
            limits: Self::LIMITS.iter().map(ToString::to_string).chain(raised).collect(),
            dependencies,
        }
    }
}

/// What was seen of every source that an approval binds, in the order of their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding(pub Vec<BoundSource>);

/// What was seen of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundSource {
    /// The source.
    pub source_id: SourceId,
    /// Its version; `None` if it was missing. Nothing else can be bound.
    pub version: Option<SourceVersion>,
}

/// Writes a body.
///
/// # Errors
/// [`TooLarge`] when it does not fit.
pub fn write_body(body: &Body, limits: &Limits) -> Result<Stored, TooLarge> {
    let excerpts =
        (1..).zip(&body.quotations).map(|(n, quotation)| ExcerptJson::of(n, quotation)).collect();
    write(Form::Body, &BodyJson { excerpts }, limits)
}

/// Writes dependencies.
///
/// # Errors
/// [`TooLarge`] when they do not fit.
pub fn write_dependencies(
    dependencies: &Dependencies,
    limits: &Limits,
) -> Result<Stored, TooLarge> {
    write(Form::Dependencies, &DependenciesJson { sources: dependencies.0.clone() }, limits)
}

/// Writes a verification.
///
/// # Errors
/// [`TooLarge`] when it does not fit.
pub fn write_verification(
    verification: &Verification,
    limits: &Limits,
) -> Result<Stored, TooLarge> {
    write(Form::Verification, verification, limits)
}

/// Writes a scan record.
///
/// # Errors
/// [`TooLarge`] when it does not fit.
pub fn write_scan(scan: &ScanRecord, limits: &Limits) -> Result<Stored, TooLarge> {
    let ScanRecord { elapsed_ms, limit, folders, left_out, rules } = scan;
    let folders = folders.iter().map(FolderScanJson::of).collect();
    let (left_out, rules) = (left_out.clone(), rules.clone());
    let json = ScanJson { elapsed_ms: *elapsed_ms, limit: *limit, folders, left_out, rules };
    write(Form::Scan, &json, limits)
}

/// Writes what an approval binds.
///
/// # Errors
/// [`TooLarge`] when it does not fit.
pub fn write_binding(binding: &Binding, limits: &Limits) -> Result<Stored, TooLarge> {
    write(Form::Binding, &BindingJson { sources: binding.0.clone() }, limits)
}

/// Reads what an approval binds; `None` if it is unusable.
#[must_use]
pub fn read_binding(document: (Digest, &Document), limits: &Limits) -> Option<Binding> {
    let json: BindingJson = read(Form::Binding, document, limits)?;
    let ordered = json.sources.is_sorted_by(|one, next| one.source_id < next.source_id);
    (ordered && !json.sources.is_empty()).then_some(Binding(json.sources))
}

/// Reads a body with its dependencies; `None` if either is unusable or they do not belong together.
#[must_use]
pub fn read_body(
    body: (Digest, &Document),
    dependencies: &Dependencies,
    limits: &Limits,
) -> Option<Body> {
    let json: BodyJson = read(Form::Body, body, limits)?;
    let same_numbers = json.excerpts.len() == dependencies.0.len();
    let pairs = json.excerpts.into_iter().zip(&dependencies.0).zip(1..);
    let quotations = pairs.map(|((excerpt, dependency), n)| excerpt.into_quotation(n, dependency));
    let quotations = quotations.collect::<Option<Vec<_>>>()?;
    same_numbers.then_some(Body { quotations })
}

/// Reads dependencies; `None` if they are unusable.
#[must_use]
pub fn read_dependencies(document: (Digest, &Document), limits: &Limits) -> Option<Dependencies> {
    let json: DependenciesJson = read(Form::Dependencies, document, limits)?;
    let numbered = (1..).zip(&json.sources).all(|(n, one)| one.n == n);
    (numbered && !json.sources.is_empty()).then_some(Dependencies(json.sources))
}

/// Reads a verification; `None` if it is unusable.
#[must_use]
pub fn read_verification(document: (Digest, &Document), limits: &Limits) -> Option<Verification> {
    read(Form::Verification, document, limits)
}

/// Reads a scan record; `None` if it is unusable.
#[must_use]
pub fn read_scan(document: (Digest, &Document), limits: &Limits) -> Option<ScanRecord> {
    let json: ScanJson = read(Form::Scan, document, limits)?;
    let folders = json.folders.iter().cloned().map(FolderScanJson::into_scan).collect();
    let ScanJson { elapsed_ms, limit, left_out, rules, .. } = json;
    Some(ScanRecord { elapsed_ms, limit, folders, left_out, rules })
}

/// A value as bytes with their digest.
fn write<T: Serialize>(form: Form, value: &T, limits: &Limits) -> Result<Stored, TooLarge> {
    let bytes = serde_json::to_vec(value).expect("strings, numbers and lists are always JSON");
    let most = form.most(limits);
    if bytes.len() > most {
        return Err(TooLarge { bytes: bytes.len(), most });
    }
    Ok(Stored { digest: Digest::tagged(form.tag(), &bytes), bytes })
}

/// A value from bytes that have their digest, are short and shallow enough, and are what the form says.
fn read<T: for<'de> Deserialize<'de>>(
    form: Form,
    (digest, document): (Digest, &Document),
    limits: &Limits,
) -> Option<T> {
    match document {
        Document::Bytes(bytes) => {
            let sound = bytes.len() <= form.most(limits)
                && depth(bytes) <= limits.json_depth
                && (is_planted(Fault::StoredDigest) || Digest::tagged(form.tag(), bytes) == digest);
            if sound { serde_json::from_slice(bytes).ok() } else { None }
        }
        Document::TooLong | Document::Absent => None,
    }
}

/// How deep brackets nest in JSON, strings left out.
pub(super) fn depth(json: &[u8]) -> usize {
    let (mut now, mut most, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for &byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true | false, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => now += 1,
            (false, b']' | b'}') => now = now.saturating_sub(1),
            (true | false, _) => {}
        }
        most = most.max(now);
    }
    most
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyJson {
    excerpts: Vec<ExcerptJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DependenciesJson {
    sources: Vec<Dependency>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BindingJson {
    sources: Vec<BoundSource>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcerptJson {
    n: u32,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    version: SourceVersion,
    bytes: [u64; 2],
    lines: [u32; 2],
    heading: Vec<String>,
    text: String,
    digest: Digest,
    normalised: Digest,
    before: String,
    after: String,
}

impl ExcerptJson {
    fn of(n: u32, quotation: &Quotation) -> Self {
        let Quotation {
            path,
            version,
            encoding: _,
            bytes,
            lines,
            heading,
            text,
            digest,
            normalised,
            before,
            after,
        } = quotation;
        Self {
            n,
            path: path.to_string(),
            path_bytes: path.is_escaped().then(|| STANDARD.encode(path.bytes())),
            version: *version,
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

    fn into_quotation(self, n: u32, dependency: &Dependency) -> Option<Quotation> {
        let path = match &self.path_bytes {
            Some(bytes) => STANDARD.decode(bytes).ok()?,
            None => self.path.into_bytes(),
        };
        let sound =
            self.n == n && self.version == dependency.version && self.bytes[0] <= self.bytes[1];
        let path = RelPath::new(path).ok().filter(|_| sound)?;
        Some(Quotation {
            path,
            version: self.version,
            encoding: dependency.encoding,
            bytes: self.bytes[0]..self.bytes[1],
            lines: (self.lines[0], self.lines[1]),
            heading: self.heading,
            text: self.text,
            digest: self.digest,
            normalised: self.normalised,
            before: self.before,
            after: self.after,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScanJson {
    elapsed_ms: u64,
    limit: Option<ScanLimit>,
    folders: Vec<FolderScanJson>,
    left_out: Vec<(GrantId, GrantId)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<(GrantId, Digest)>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FolderScanJson {
    folder: GrantId,
    reached: Reached,
    counts: ScanCounts,
}

impl FolderScanJson {
    fn of(scan: &FolderScan) -> Self {
        let FolderScan { grant, reached, counts } = scan;
        Self { folder: *grant, reached: *reached, counts: counts.clone() }
    }

    fn into_scan(self) -> FolderScan {
        FolderScan { grant: self.folder, reached: self.reached, counts: self.counts }
    }
}

/// An encoding by its name.
mod encoding {
    use crate::text::Encoding;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(encoding: &Encoding, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(encoding.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Encoding, D::Error> {
        let name = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        name.parse().map_err(|_| D::Error::custom("unknown encoding"))
    }
}
