//! Quotations: exact passages, tied to the bytes they came from, and what became of them in other bytes.
//!
//! Owns the one way to make a quotation, which takes it from the bytes and checks it against them, and the finding: an
//! exact search, never a fuzzy one. Refuses to know where bytes come from.

use crate::digest::Digest;
use crate::path::RelPath;
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
        if Digest::of(file) != version.digest
            || decoded(bytes, text.encoding()).as_deref() != Some(&*passage.text)
        {
            return Err(NotInSource);
        }
        Ok(Self {
            path,
            version,
            encoding: text.encoding(),
            bytes: passage.range,
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
        let mut places = memchr::memmem::find_iter(file, &wanted);
        match (here, places.next(), places.next()) {
            (true, ..) => Self::Intact,
            (false, Some(at), None) => Self::Moved(at as u64),
            (false, Some(_), Some(_)) => Self::Ambiguous,
            (false, None, _) if reads_the_same(quotation, file, cut) => Self::Cosmetic,
            (false, None, _) if cut => Self::BeyondLimit,
            (false, None, _) => Self::Altered,
        }
    }
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
