//! Quotations: exact passages, tied to the bytes they came from, and what became of them in other bytes.
//!
//! Owns the one way to make a quotation, which takes it from the bytes and checks it against them, and the finding: an
//! exact search, never a fuzzy one. Refuses to know where bytes come from.

use crate::digest::Digest;
use crate::path::RelPath;
use crate::plant::{Fault, is_planted};
use crate::retrieve::Passage;
use crate::source::SourceVersion;
use crate::text::{Encoding, Text};
use std::ops::Range;

/// An exact passage of one version of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// The file, under the root of the grant that was searched.
    pub path: RelPath,
    /// Its bytes, all of them that were read.
    pub version: SourceVersion,
    /// How its text is encoded.
    pub encoding: Encoding,
    /// The passage's bytes in the file.
    pub bytes: Range<u64>,
    /// Its first and last line, from 1, both included.
    pub lines: (u32, u32),
    /// The headings above it, the outermost first.
    pub heading: Vec<String>,
    /// The passage: what the bytes say.
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

/// A passage that is not in the bytes it is said to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a passage is not in its source")]
pub struct NotInSource;

impl Quotation {
    /// Quotes `passage` from `file`, the bytes of one moment, of which `version` tells.
    ///
    /// # Errors
    /// [`NotInSource`] when `version` is not of these bytes, or the passage's text is not what they say at its place.
    pub fn from_bytes(
        path: RelPath,
        version: SourceVersion,
        file: &[u8],
        passage: Passage,
    ) -> Result<Self, NotInSource> {
        let text = Text::decode(file, version.cut).map_err(|_| NotInSource)?;
        let bytes = slice(file, &passage.range).ok_or(NotInSource)?;
        let says = decoded(bytes, text.encoding());
        if bytes.is_empty()
            || Digest::of(file) != version.digest
            || says.as_deref() != Some(&*passage.text)
        {
            return Err(NotInSource);
        }
        Ok(Self {
            path,
            version,
            encoding: text.encoding(),
            bytes: passage.range.start
                ..passage.range.end + u64::from(is_planted(Fault::QuotationExact)),
            lines: passage.lines,
            heading: passage.heading,
            digest: Digest::of(bytes),
            normalised: Digest::of(normal(&passage.text).as_bytes()),
            text: passage.text,
            before: passage.before,
            after: passage.after,
        })
    }
}

impl Quotation {
    /// Whether its parts agree: the text's bytes in its encoding fill the range and have the digests. Says nothing of
    /// any file.
    #[must_use]
    pub fn agrees(&self) -> bool {
        let bytes = encoded(&self.text, self.encoding);
        let end = self.bytes.start.checked_add(bytes.len() as u64);
        !bytes.is_empty()
            && end == Some(self.bytes.end)
            && self.bytes.end <= self.version.size
            && Digest::of(&bytes) == self.digest
            && Digest::of(normal(&self.text).as_bytes()) == self.normalised
            && self.lines.0 >= 1
            && self.lines.1.checked_sub(self.lines.0) == u32::try_from(feeds(&self.text)).ok()
    }

    /// Whether it is all true of `file`, the bytes that it was taken from: version, encoding, place, text, lines and
    /// what stands around it. Headings are not looked for.
    #[must_use]
    pub fn is_of(&self, file: &[u8]) -> bool {
        let text = Text::decode(file, self.version.cut).ok();
        let text = text.filter(|text| text.encoding() == self.encoding);
        let around = text.as_ref().and_then(|text| {
            let range = text.text_range(self.bytes.clone())?;
            let all = text.as_str();
            Some((&all[..range.start], &all[range.clone()], &all[range.end..]))
        });
        Digest::of(file) == self.version.digest
            && around.is_some_and(|(before, passage, after)| {
                passage == self.text
                    && before.ends_with(&self.before)
                    && after.starts_with(&self.after)
                    && self.lines.0.checked_sub(1) == u32::try_from(feeds(before)).ok()
            })
    }
}

/// Line feeds in a text.
fn feeds(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// What became of a quotation in bytes that are not those it was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    /// The same bytes at the same place.
    Intact,
    /// The same bytes, once, beginning at this byte.
    Moved(u64),
    /// The same bytes, more than once, elsewhere.
    Ambiguous,
    /// Equal when line ends and marks are normalised.
    Cosmetic,
    /// Not found.
    Altered,
    /// Not found in the part that was read of a longer file.
    BeyondLimit,
    /// The file is missing.
    Gone,
}

impl Finding {
    /// The word for it on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Moved(_) => "moved",
            Self::Ambiguous => "ambiguous",
            Self::Cosmetic => "cosmetic",
            Self::Altered => "altered",
            Self::BeyondLimit => "beyond_limit",
            Self::Gone => "gone",
        }
    }

    /// What became of `quotation` in `file`, of which everything was read unless `cut`.
    #[must_use]
    pub fn of(quotation: &Quotation, file: &[u8], cut: bool) -> Self {
        let here = slice(file, &quotation.bytes)
            .is_some_and(|bytes| Digest::of(bytes) == quotation.digest);
        let wanted = encoded(&quotation.text, quotation.encoding);
        let mut places = places(file, &wanted, quotation.encoding);
        match (here, places.next(), places.next()) {
            (true, ..) => Self::Intact,
            (false, Some(_), _) if is_planted(Fault::FindingLoose) => Self::Intact,
            (false, Some(at), None) => Self::Moved(at as u64),
            (false, Some(_), Some(_)) => Self::Ambiguous,
            (false, None, _) if reads_the_same(quotation, file, cut) => Self::Cosmetic,
            (false, None, _) if cut => Self::BeyondLimit,
            (false, None, _) => Self::Altered,
        }
    }
}

/// Where `wanted` stands in `file`, overlapping places too; in UTF-16 only between its units.
fn places<'a>(
    file: &'a [u8],
    wanted: &'a [u8],
    encoding: Encoding,
) -> impl Iterator<Item = usize> + 'a {
    let unit = match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => 1,
        Encoding::Utf16Le | Encoding::Utf16Be => 2,
    };
    let next = move |from: usize| Some(from + memchr::memmem::find(file.get(from..)?, wanted)?);
    std::iter::successors(next(0), move |at| next(at + 1)).filter(move |at| at % unit == 0)
}

/// Whether `file` says what the quotation says, whatever its line ends, its mark and its encoding.
fn reads_the_same(quotation: &Quotation, file: &[u8], cut: bool) -> bool {
    let Ok(text) = Text::decode(file, cut) else { return false };
    memchr::memmem::find(normal(text.as_str()).as_bytes(), normal(&quotation.text).as_bytes())
        .is_some()
}

/// LF for CRLF.
fn normal(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The bytes of a range, if the file has them.
fn slice<'a>(file: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    file.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

/// What bytes without a mark say in an encoding.
fn decoded(bytes: &[u8], encoding: Encoding) -> Option<String> {
    let units = |one: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks_exact(2);
        let whole = pairs.remainder().is_empty();
        let units: Vec<u16> = pairs.map(|pair| one([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok().filter(|_| whole)
    };
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => String::from_utf8(bytes.to_vec()).ok(),
        Encoding::Utf16Le => units(u16::from_le_bytes),
        Encoding::Utf16Be => units(u16::from_be_bytes),
    }
}

/// Text as bytes in an encoding, without a mark.
fn encoded(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => text.as_bytes().to_vec(),
        Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = b"# Backups\n\nKept for thirty days.\nThen erased.\n\nAsk first.\n";
    const TEXT: &str = "Kept for thirty days.\nThen erased.\n";

    /// The version of a file that was read whole.
    fn version(file: &[u8]) -> SourceVersion {
        crate::port::version_of(file, file.len() as u64)
    }

    /// A passage of this text at this place.
    fn passage(range: Range<u64>, text: &str) -> Passage {
        Passage {
            range,
            lines: (3, 4),
            heading: vec!["Backups".into()],
            text: text.into(),
            before: "Backups\n\n".into(),
            after: "\nAsk first.".into(),
        }
    }

    /// The passage of a file that says this.
    fn quote(file: &[u8], text: &str) -> Quotation {
        let start = memchr::memmem::find(file, text.as_bytes()).expect("in the file") as u64;
        let passage = passage(start..start + text.len() as u64, text);
        let path = RelPath::new("a.md").expect("a path");
        Quotation::from_bytes(path, version(file), file, passage).expect("a quotation")
    }

    // spec: Q4
    #[test]
    fn a_quotation_keeps_its_place_and_its_two_digests() {
        let quotation = quote(FILE, TEXT);
        assert_eq!(quotation.bytes, 11..46);
        assert_eq!(quotation.digest, Digest::of(TEXT.as_bytes()));
        assert_eq!(quotation.normalised, quotation.digest);
        assert_eq!(quotation.version, version(FILE));
        let windows = b"one\r\ntwo\r\n";
        let quotation = quote(windows, "one\r\ntwo\r\n");
        assert_eq!(quotation.digest, Digest::of(windows));
        assert_eq!(quotation.normalised, Digest::of(b"one\ntwo\n"));
    }

    // spec: Q4
    #[test]
    fn what_is_not_in_its_bytes_is_no_quotation() {
        let other = SourceVersion { digest: Digest::of(b"other"), ..version(FILE) };
        let end = FILE.len() as u64;
        for (version, file, passage) in [
            (other, FILE, passage(11..46, TEXT)),
            (version(FILE), FILE, passage(10..45, TEXT)),
            (version(FILE), FILE, passage(11..45, TEXT)),
            (version(FILE), FILE, passage(11..46, "Kept for thirty days.\nThen erasad.\n")),
            (version(FILE), FILE, passage(end..end + 35, TEXT)),
            (version(FILE), FILE, passage(u64::MAX - 1..u64::MAX, TEXT)),
            (version(b"\xff\xfe\x00"), b"\xff\xfe\x00", passage(0..1, "\u{ff}")),
            (version("é".as_bytes()), "é".as_bytes(), passage(0..1, "é")),
        ] {
            let path = RelPath::new("a.md").expect("a path");
            let quoted = Quotation::from_bytes(path, version, file, passage.clone());
            assert_eq!(quoted, Err(NotInSource), "{passage:?}");
        }
    }

    // spec: Q4
    #[test]
    fn a_passage_of_nothing_is_no_quotation() {
        let path = RelPath::new("a.md").expect("a path");
        assert_eq!(
            Quotation::from_bytes(path, version(FILE), FILE, passage(3..3, "")),
            Err(NotInSource)
        );
    }

    // spec: O4
    #[test]
    fn places_that_overlap_are_two_places() {
        let repeated = quote(b"-- aba\n", "aba");
        assert_eq!(Finding::of(&repeated, b"ababa\n", false), Finding::Ambiguous);
        assert_eq!(Finding::of(&repeated, b"aba ab\n", false), Finding::Moved(0));
    }

    // spec: O4
    #[test]
    fn a_passage_in_utf_16_is_found_between_units_only() {
        let file = b"\xff\xfe\x01\x01";
        let path = RelPath::new("a.txt").expect("a path");
        let quotation = Quotation::from_bytes(path, version(file), file, passage(2..4, "\u{101}"))
            .expect("in it");
        assert_eq!(quotation.encoding, Encoding::Utf16Le);
        assert_eq!(Finding::of(&quotation, file, false), Finding::Intact);
        assert_eq!(Finding::of(&quotation, b"\xff\xfe\x41\x00\x01\x01", false), Finding::Moved(4));
        assert_eq!(Finding::of(&quotation, b"\xff\xfe\x00\x01\x01\x00", false), Finding::Altered);
    }

    #[track_caller]
    fn check(file: &[u8], cut: bool, expected: Finding) {
        let found = Finding::of(&quote(FILE, TEXT), file, cut);
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(file));
    }

    /// The file with something before it and after it.
    fn between(before: &str, after: &str) -> Vec<u8> {
        [before.as_bytes(), FILE, after.as_bytes()].concat()
    }

    // spec: O4
    #[test]
    fn the_same_bytes_at_the_same_place_are_intact() {
        check(FILE, false, Finding::Intact);
        check(&between("", "More.\n"), false, Finding::Intact);
        check(&between("", TEXT), false, Finding::Intact);
        check(&between("", "More.\n"), true, Finding::Intact);
    }

    // spec: O4
    #[test]
    fn the_same_bytes_once_elsewhere_have_moved() {
        check(&between("New.\n", ""), false, Finding::Moved(16));
        check(TEXT.as_bytes(), false, Finding::Moved(0));
        check(&between("\u{feff}", ""), false, Finding::Moved(14));
        check(&between("New.\n", ""), true, Finding::Moved(16));
    }

    // spec: O4
    #[test]
    fn the_same_bytes_more_than_once_elsewhere_are_ambiguous() {
        check(&between("New.\n", TEXT), false, Finding::Ambiguous);
        check(&between(TEXT, TEXT), true, Finding::Ambiguous);
    }

    // spec: O4
    #[test]
    fn other_line_ends_are_cosmetic() {
        let windows = String::from_utf8_lossy(FILE).replace('\n', "\r\n");
        check(windows.as_bytes(), false, Finding::Cosmetic);
        check(windows.as_bytes(), true, Finding::Cosmetic);
        let back = quote(windows.as_bytes(), &TEXT.replace('\n', "\r\n"));
        assert_eq!(Finding::of(&back, FILE, false), Finding::Cosmetic);
    }

    // spec: O4
    #[test]
    fn one_other_character_is_altered_and_never_nearly_the_same() {
        let year = String::from_utf8_lossy(FILE).replace("thirty", "forty");
        check(year.as_bytes(), false, Finding::Altered);
        let case = String::from_utf8_lossy(FILE).replace("Kept", "kept");
        check(case.as_bytes(), false, Finding::Altered);
        check(b"", false, Finding::Altered);
        check(b"\xff\xff", false, Finding::Altered);
    }

    // spec: O4
    #[test]
    fn what_is_not_in_the_part_that_was_read_is_beyond_the_limit() {
        check(&FILE[..20], true, Finding::BeyondLimit);
        check(b"", true, Finding::BeyondLimit);
    }

    #[test]
    fn every_finding_has_a_word_of_its_own() {
        let all = [
            Finding::Intact,
            Finding::Moved(1),
            Finding::Ambiguous,
            Finding::Cosmetic,
            Finding::Altered,
            Finding::BeyondLimit,
            Finding::Gone,
        ];
        let words = all.map(Finding::as_str);
        assert_eq!(
            words,
            ["intact", "moved", "ambiguous", "cosmetic", "altered", "beyond_limit", "gone"]
        );
    }
}
