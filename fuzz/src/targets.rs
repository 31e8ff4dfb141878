//! One function for each target: it takes any input, and panics where something is wrong.
//!
//! Coverage-guided fuzzing calls them, the tests of this package replay the corpus through them, and the proofs
//! (`tests/prove`, lane `fuzz`) take this very file in and feed it inputs of their own.

use std::fmt::Display;
use std::str::FromStr;
use work_core::canonical::Canonical;
use work_core::digest::Digest;
use work_core::document::export::{self, Exported};
use work_core::document::stored;
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::path::{HostPath, RelPath};
use work_core::port::{Document, Quiet, SourceDoor as _, version_of};
use work_core::quote::{Finding, Quotation};
use work_core::retrieve::{Bounds, Examined, Format, Query, Searcher};
use work_core::text::Encoding;
use work_core::time::Timestamp;
use work_core::verify;

/// A query that parses prints as something that parses to the same.
pub fn query(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(query) = Query::parse(&text) {
        let again = Query::parse(query.as_str()).expect("what a query prints parses");
        assert_eq!(again, query);
        let asked = text.trim();
        assert_eq!(query.as_str(), asked, "a query is kept as it was asked");
    }
}

/// Whatever a query finds in a file is in that file, at its place, within its bounds.
pub fn retrieve(input: &[u8]) {
    let (question, file) = split(input);
    let Ok(query) = Query::parse(&String::from_utf8_lossy(question)) else { return };
    for format in [Format::Markdown, Format::Plain] {
        quotations(&query, file, format);
    }
}

/// A quotation is intact in its own bytes, and a finding in any others is never a lie.
pub fn finding(input: &[u8]) {
    let (file, other) = split(input);
    let Ok(query) = Query::parse("backups kept days") else { return };
    for quotation in quotations(&query, file, Format::Markdown) {
        assert_eq!(Finding::of(&quotation, file, false), Finding::Intact);
        let found = places(other, file, &quotation);
        match Finding::of(&quotation, other, false) {
            Finding::Intact => assert!(found.contains(&quotation.bytes.start)),
            Finding::Moved(at) => assert_eq!(found, [at]),
            Finding::Ambiguous => assert!(found.len() > 1),
            Finding::Cosmetic | Finding::Altered | Finding::BeyondLimit | Finding::Gone => {
                assert!(found.is_empty(), "it is there, byte for byte");
            }
        }
    }
}

/// Two lists of fields never have one canonical form, and what is written of a digest or an id reads as it.
pub fn canonical(input: &[u8]) {
    let fields = Field::all(input);
    let digest = joined("fuzz/1", &fields);
    for other in others(&fields) {
        let same = joined("fuzz/1", &other) == digest;
        assert!(!same || other == fields, "{fields:?} and {other:?} have one digest");
    }
    let text = String::from_utf8_lossy(input);
    reads_as_written::<Digest>(&text);
    reads_as_written::<ResultId>(&text);
}

/// What reads as a `T` is what a `T` is written as.
fn reads_as_written<T: FromStr + Display>(text: &str) {
    if let Ok(read) = text.parse::<T>() {
        assert_eq!(read.to_string(), text);
    }
}

/// Bytes that somebody put into a database are read as a document or as nothing; a document that is read is written as
/// something that reads as the same.
pub fn stored(input: &[u8]) {
    let (limits, document) = (Limits::standard(), Document::Bytes(input.to_vec()));
    let keyed = |form: stored::Form| (Digest::tagged(form.tag(), input), &document);
    if let Some(dependencies) =
        stored::read_dependencies(keyed(stored::Form::Dependencies), &limits)
    {
        let again = reread(stored::write_dependencies(&dependencies, &limits));
        let again = again.map(|(key, kept)| stored::read_dependencies((key, &kept), &limits));
        assert!(again.is_none_or(|read| read.as_ref() == Some(&dependencies)));
        let _ = stored::read_body(keyed(stored::Form::Body), &dependencies, &limits);
    }
    if let Some(check) = stored::read_verification(keyed(stored::Form::Verification), &limits) {
        let again = reread(stored::write_verification(&check, &limits));
        let again = again.map(|(key, kept)| stored::read_verification((key, &kept), &limits));
        assert!(again.is_none_or(|read| read.as_ref() == Some(&check)));
    }
    if let Some(scan) = stored::read_scan(keyed(stored::Form::Scan), &limits) {
        let again = reread(stored::write_scan(&scan, &limits));
        let again = again.map(|(key, kept)| stored::read_scan((key, &kept), &limits));
        assert!(again.is_none_or(|read| read.as_ref() == Some(&scan)));
    }
    if let Some(binding) = stored::read_binding(keyed(stored::Form::Binding), &limits) {
        let again = reread(stored::write_binding(&binding, &limits));
        let again = again.map(|(key, kept)| stored::read_binding((key, &kept), &limits));
        assert!(again.is_none_or(|read| read.as_ref() == Some(&binding)));
    }
}

/// An export that reads agrees with itself: each of its quotations is intact in a file that holds it at its place, and
/// nothing is said to be intact where no file is.
pub fn export(input: &[u8]) {
    let Ok(exported) = export::read(input, &Limits::standard()) else { return };
    assert!(!exported.quotations().is_empty(), "an export quotes something");
    for one in exported.quotations() {
        if let Some(file) = file_with(&one.quotation) {
            assert_eq!(Finding::of(&one.quotation, &file, false), Finding::Intact, "{one:?}");
        }
    }
    assert!(!verified(&exported, &MemoryDoor::new().folder("/docs")), "nothing is there");
}

/// Whether an export is true of the folder `/docs`, under whatever label it uses.
fn verified(exported: &Exported, door: &MemoryDoor) -> bool {
    let root = door.admit(&HostPath::from_bytes("/docs")).expect("a folder");
    let grant = verify::grant(1, root, exported);
    let labels = exported.quotations().iter().map(|one| (one.label.clone(), grant.clone()));
    let labels: Vec<_> = labels.collect();
    verify::verify(door, &labels, exported, &Limits::standard(), &mut Quiet).passed
}

/// The longest file that is made for a quotation.
const FILE: u64 = 1 << 16;

/// A file that holds a quotation at its place, if it is UTF-8 and the place is near.
fn file_with(quotation: &Quotation) -> Option<Vec<u8>> {
    match quotation.encoding {
        Encoding::Utf8 => {}
        Encoding::Utf8Bom | Encoding::Utf16Le | Encoding::Utf16Be => return None,
    }
    let start =
        usize::try_from(quotation.bytes.start).ok().filter(|_| quotation.bytes.end < FILE)?;
    let mut file = vec![b' '; start];
    file.extend_from_slice(quotation.text.as_bytes());
    Some(file)
}

/// A document as it was written, under its digest.
fn reread(written: Result<stored::Stored, stored::TooLarge>) -> Option<(Digest, Document)> {
    written.ok().map(|stored::Stored { digest, bytes }| (digest, Document::Bytes(bytes)))
}

/// One field of canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Bytes(Vec<u8>),
    Text(String),
    Number(u64),
    At(i64),
    Nothing,
    Count(u32),
}

/// Fields that are read from one input at most.
const FIELDS: usize = 12;

impl Field {
    /// The fields that an input stands for: a kind, then a length or a value.
    fn all(input: &[u8]) -> Vec<Self> {
        let (mut rest, mut all) = (input, Vec::new());
        while let ([kind, length, after @ ..], true) = (rest, all.len() < FIELDS) {
            let (value, after) = after.split_at(after.len().min(usize::from(length % 24)));
            rest = after;
            let number =
                value.iter().fold(u64::from(*length), |all, byte| all << 8 | u64::from(*byte));
            all.push(match kind % 6 {
                0 => Self::Bytes(value.to_vec()),
                1 | 2 => Self::Text(String::from_utf8_lossy(value).into_owned()),
                3 => Self::Number(number),
                4 if number % 2 == 0 => Self::At(number.cast_signed()),
                4 => Self::Count(u32::from(*length)),
                _ => Self::Nothing,
            });
        }
        all
    }

    /// Adds it to canonical bytes.
    fn join(&self, to: Canonical) -> Canonical {
        match self {
            Self::Bytes(value) => to.bytes(value),
            Self::Text(value) => to.text(value),
            Self::Number(value) => to.number(*value),
            Self::At(value) => to.at(Timestamp::from_seconds(*value)),
            Self::Nothing => to.nothing(),
            Self::Count(value) => to.count(*value as usize),
        }
    }

    /// What it holds, if that may have any length.
    fn value(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(value) => Some(value),
            Self::Text(value) => Some(value.as_bytes()),
            Self::Number(_) | Self::At(_) | Self::Nothing | Self::Count(_) => None,
        }
    }

    /// The same kind with another value, if it can hold it.
    fn with(&self, value: Vec<u8>) -> Option<Self> {
        match self {
            Self::Bytes(_) => Some(Self::Bytes(value)),
            Self::Text(_) => String::from_utf8(value).ok().map(Self::Text),
            Self::Number(_) | Self::At(_) | Self::Nothing | Self::Count(_) => None,
        }
    }
}

fn joined(tag: &str, fields: &[Field]) -> Digest {
    fields.iter().fold(Canonical::new(tag), |to, field| field.join(to)).digest()
}

/// Letters that a careless writer could put between two fields.
const BETWEEN: &[u8] = b"\0\n ,:|Tbsnt0#";

/// Lists of fields near to one: a field less, twice, or in another place; a piece moved from one into the next; two
/// joined into one, with nothing or a letter between.
fn others(fields: &[Field]) -> Vec<Vec<Field>> {
    let mut all = Vec::new();
    for at in 0..fields.len() {
        let (before, after) = (&fields[..at], &fields[at + 1..]);
        all.push([before, after].concat());
        all.push([before, &[fields[at].clone(), fields[at].clone()], after].concat());
        let [next, rest @ ..] = after else { continue };
        all.push([before, &[next.clone(), fields[at].clone()], rest].concat());
        let (Some(one), Some(two)) = (fields[at].value(), next.value()) else { continue };
        let glued = std::iter::once(vec![]).chain(BETWEEN.iter().map(|letter| vec![*letter]));
        let glued = glued.filter_map(|between| fields[at].with([one, &between, two].concat()));
        all.extend(glued.map(|glued| [before, &[glued], rest].concat()));
        if let Some((last, shorter)) = one.split_last() {
            let pieces = (fields[at].with(shorter.to_vec()), next.with([&[*last], two].concat()));
            if let (Some(one), Some(two)) = pieces {
                all.push([before, &[one, two], rest].concat());
            }
        }
    }
    all
}

/// Everything that a report would quote of one file, checked against its bytes.
fn quotations(query: &Query, file: &[u8], format: Format) -> Vec<Quotation> {
    let bounds = Bounds::default();
    let searcher = Searcher::new(query, bounds);
    let Examined::Matches(found) = searcher.examine(file, false, format) else { return Vec::new() };
    let picks = searcher.rank(&[Examined::Matches(found)]);
    let keys: Vec<_> = picks.into_iter().map(|pick| pick.key).collect();
    assert!(!keys.is_empty() && keys.len() <= bounds.per_file, "{}", keys.len());
    let passages = searcher.quote(file, false, format, &keys);
    assert_eq!(passages.len(), keys.len(), "the same bytes give the passages that were ranked");
    let path = RelPath::new("a.md").expect("a name");
    let version = version_of(file, file.len() as u64);
    let quote = |passage: work_core::retrieve::Passage| {
        assert!(passage.text.chars().count() <= bounds.passage_chars && !passage.text.is_empty());
        let quoted = Quotation::from_bytes(path.clone(), version, file, passage);
        let quoted = quoted.expect("a passage is in its source");
        assert!(quoted.agrees() && quoted.is_of(file), "{quoted:?}");
        quoted
    };
    passages.into_iter().map(quote).collect()
}

/// Every place where another file holds the bytes of a quotation; in UTF-16 only between its units.
fn places(other: &[u8], file: &[u8], quotation: &Quotation) -> Vec<u64> {
    let unit = match quotation.encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => 1,
        Encoding::Utf16Le | Encoding::Utf16Be => 2,
    };
    let place = |at: u64| usize::try_from(at).expect("a place in a file");
    let wanted = &file[place(quotation.bytes.start)..place(quotation.bytes.end)];
    let windows = other.windows(wanted.len()).enumerate().filter(|(at, _)| at % unit == 0);
    windows.filter(|(_, piece)| *piece == wanted).map(|(at, _)| at as u64).collect()
}

/// The input before and after its first NUL.
fn split(input: &[u8]) -> (&[u8], &[u8]) {
    let at = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    (&input[..at], input.get(at + 1..).unwrap_or_default())
}
