//! What each fuzz target does with an input. Tests replay the corpus through the same functions.
//!
//! Run one with `cargo fuzz run -s none --features fuzzing TARGET`; put an input that failed into `corpus/TARGET`.

use work_core::digest::Digest;
use work_core::document::stored;
use work_core::limits::Limits;
use work_core::path::RelPath;
use work_core::port::{Document, version_of};
use work_core::quote::{Finding, Quotation};
use work_core::retrieve::{Bounds, Examined, Format, Query, Searcher};

/// A query that parses prints as something that parses to the same.
pub fn query(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(query) = Query::parse(&text) {
        let again = Query::parse(query.as_str()).expect("what a query prints parses");
        assert_eq!(again.as_str(), query.as_str());
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
        match Finding::of(&quotation, other, false) {
            Finding::Intact => {
                assert_eq!(piece(other, quotation.bytes.start, &quotation), Some(quotation.digest))
            }
            Finding::Moved(at) => assert_eq!(piece(other, at, &quotation), Some(quotation.digest)),
            Finding::Ambiguous
            | Finding::Cosmetic
            | Finding::Altered
            | Finding::BeyondLimit
            | Finding::Gone => {}
        }
    }
}

/// Bytes that somebody put into a database are read as a document or as nothing.
pub fn stored(input: &[u8]) {
    let (limits, document) = (Limits::standard(), Document::Bytes(input.to_vec()));
    let keyed = |form: stored::Form| (Digest::tagged(form.tag(), input), &document);
    let rests_on = stored::read_dependencies(keyed(stored::Form::Dependencies), &limits);
    if let Some(dependencies) = rests_on {
        let _ = stored::read_body(keyed(stored::Form::Body), &dependencies, &limits);
    }
    let _ = stored::read_verification(keyed(stored::Form::Verification), &limits);
    let _ = stored::read_scan(keyed(stored::Form::Scan), &limits);
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
        Quotation::from_bytes(path.clone(), version, file, passage)
            .expect("a passage is in its source")
    };
    passages.into_iter().map(quote).collect()
}

fn piece(file: &[u8], at: u64, quotation: &Quotation) -> Option<Digest> {
    let length = usize::try_from(quotation.bytes.end - quotation.bytes.start).ok()?;
    let at = usize::try_from(at).ok()?;
    file.get(at..at.checked_add(length)?).map(Digest::of)
}

/// The input before and after its first NUL.
fn split(input: &[u8]) -> (&[u8], &[u8]) {
    let at = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    (&input[..at], input.get(at + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn replay(target: &str, run: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut inputs: Vec<_> = std::fs::read_dir(folder)
            .expect("a corpus")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        inputs.sort();
        assert!(!inputs.is_empty(), "an empty corpus proves nothing");
        for input in inputs {
            run(&std::fs::read(&input).expect("an input"));
        }
    }

    #[test]
    fn the_corpus_of_queries_parses_and_prints() {
        replay("query", super::query);
    }

    #[test]
    fn the_corpus_of_files_is_quoted_exactly() {
        replay("retrieve", super::retrieve);
    }

    #[test]
    fn the_corpus_of_changed_files_gives_true_findings() {
        replay("finding", super::finding);
    }

    #[test]
    fn the_corpus_of_stored_documents_is_read_or_refused() {
        replay("stored", super::stored);
    }
}
