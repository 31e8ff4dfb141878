//! Text read from the bytes of a file, and the way back to those bytes.
//!
//! Owns what counts as text and which bytes of the file a piece of text came from. Refuses to know what the
//! text says, where the file lives and how much of it was read. Start at [`Text::decode`].

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

/// How the characters of a file are written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8 without a byte-order mark.
    Utf8,
    /// UTF-8 after a byte-order mark.
    Utf8Bom,
    /// UTF-16, low byte first, after a byte-order mark.
    Utf16Le,
    /// UTF-16, high byte first, after a byte-order mark.
    Utf16Be,
}

impl Encoding {
    /// Every encoding there is.
    pub const ALL: [Self; 4] = [Self::Utf8, Self::Utf8Bom, Self::Utf16Le, Self::Utf16Be];

    /// The name under which records keep it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf8Bom => "utf-8-bom",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
        }
    }

    /// The bytes that stand before the text.
    const fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => &[],
            Self::Utf8Bom => &[0xEF, 0xBB, 0xBF],
            Self::Utf16Le => &[0xFF, 0xFE],
            Self::Utf16Be => &[0xFE, 0xFF],
        }
    }

    fn of(bytes: &[u8]) -> Self {
        let marked = [Self::Utf8Bom, Self::Utf16Le, Self::Utf16Be];
        marked.into_iter().find(|encoding| bytes.starts_with(encoding.mark())).unwrap_or(Self::Utf8)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no [`Encoding`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown encoding {0:?}")]
pub struct UnknownEncoding(
    /// The name as it was given.
    pub String,
);

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|encoding| encoding.as_str() == name);
        known.ok_or_else(|| UnknownEncoding(name.to_owned()))
    }
}

/// Why bytes are not text. Offsets count bytes of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotText {
    /// A NUL, which text never holds.
    #[error("a NUL at byte {at}")]
    Nul {
        /// Where it stands.
        at: u64,
    },
    /// A sequence that its encoding does not know.
    #[error("malformed {encoding} at byte {at}")]
    Malformed {
        /// The encoding the bytes begin with.
        encoding: Encoding,
        /// Where the sequence begins.
        at: u64,
    },
}

/// The text of a file without its byte-order mark.
///
/// Offsets in the text count bytes of UTF-8, as in any `str`.
///
/// ```
/// # use work_core::text::Text;
/// let text = Text::decode(b"\xEF\xBB\xBFkept", false)?;
/// assert_eq!(text.as_str(), "kept");
/// assert_eq!(text.file_range(0..4), 3..7);
/// # Ok::<(), work_core::text::NotText>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    text: Cow<'a, str>,
    encoding: Encoding,
}

impl Text<'_> {
    /// Reads `bytes` as text: UTF-8 with or without a byte-order mark, or UTF-16 with one.
    ///
    /// `cut` says that the file is longer than these bytes; a sequence broken by their end is then left out.
    ///
    /// # Errors
    /// [`NotText::Nul`] for a NUL in any encoding, [`NotText::Malformed`] for what the encoding does not know.
    pub fn decode(bytes: &[u8], cut: bool) -> Result<Text<'_>, NotText> {
        let encoding = Encoding::of(bytes);
        let body = &bytes[encoding.mark().len()..];
        let text = match encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => Cow::Borrowed(utf8(body, cut, encoding)?),
            Encoding::Utf16Le => Cow::Owned(utf16(body, cut, encoding, u16::from_le_bytes)?),
            Encoding::Utf16Be => Cow::Owned(utf16(body, cut, encoding, u16::from_be_bytes)?),
        };
        Ok(Text { text, encoding })
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How the file writes it.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The bytes of the file that hold `range` of the text.
    ///
    /// An offset inside a character counts as its beginning, one past the end as the end.
    pub fn file_range(&self, range: Range<usize>) -> Range<u64> {
        self.file_offset(range.start)..self.file_offset(range.end)
    }

    /// The part of the text that `range` of the file's bytes holds.
    ///
    /// Nothing if an end of the range lies in the byte-order mark, past the text or inside a character.
    pub fn text_range(&self, range: Range<u64>) -> Option<Range<usize>> {
        let (start, end) = (self.text_offset(range.start)?, self.text_offset(range.end)?);
        (start <= end).then_some(start..end)
    }

    fn file_offset(&self, offset: usize) -> u64 {
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let bytes = match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => before.len(),
            Encoding::Utf16Le | Encoding::Utf16Be => 2 * before.encode_utf16().count(),
        };
        (self.encoding.mark().len() + bytes) as u64
    }

    fn text_offset(&self, at: u64) -> Option<usize> {
        let body = usize::try_from(at).ok()?.checked_sub(self.encoding.mark().len())?;
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => self.text.is_char_boundary(body).then_some(body),
            Encoding::Utf16Le | Encoding::Utf16Be => self.offset_of_units(body),
        }
    }

    fn offset_of_units(&self, bytes: usize) -> Option<usize> {
        let mut seen = 0;
        let ends = self.text.char_indices().map(|(at, c)| (at + c.len_utf8(), 2 * c.len_utf16()));
        let mut offsets = std::iter::once((0, 0)).chain(ends);
        offsets.find_map(|(offset, width)| {
            seen += width;
            (seen == bytes).then_some(offset)
        })
    }
}

fn utf8(body: &[u8], cut: bool, encoding: Encoding) -> Result<&str, NotText> {
    let at = |offset: usize| (encoding.mark().len() + offset) as u64;
    if let Some(nul) = memchr::memchr(0, body) {
        return Err(NotText::Nul { at: at(nul) });
    }
    match std::str::from_utf8(body) {
        Ok(text) => Ok(text),
        Err(broken) if cut && broken.error_len().is_none() => Ok(valid_start(body)),
        Err(broken) => Err(NotText::Malformed { encoding, at: at(broken.valid_up_to()) }),
    }
}

fn valid_start(body: &[u8]) -> &str {
    body.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// A NUL counts here too: such bytes are UTF-32 or no text at all.
fn utf16(
    body: &[u8],
    cut: bool,
    encoding: Encoding,
    unit: fn([u8; 2]) -> u16,
) -> Result<String, NotText> {
    let (pairs, rest) = body.as_chunks::<2>();
    let mut text = String::with_capacity(body.len());
    let mut at = encoding.mark().len() as u64;
    let last_unit = at + body.len() as u64 - rest.len() as u64 - 2;
    for decoded in char::decode_utf16(pairs.iter().copied().map(unit)) {
        match decoded {
            Ok('\0') => return Err(NotText::Nul { at }),
            Ok(c) => text.push(c),
            Err(half) if cut && at == last_unit && half.unpaired_surrogate() < 0xDC00 => {
                return Ok(text);
            }
            Err(_) => return Err(NotText::Malformed { encoding, at }),
        }
        at += text.chars().next_back().map_or(0, |c| 2 * c.len_utf16() as u64);
    }
    if rest.is_empty() || cut { Ok(text) } else { Err(NotText::Malformed { encoding, at }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHOLE: bool = false;
    const CUT: bool = true;

    fn write(text: &str, encoding: Encoding) -> Vec<u8> {
        let units = |to_bytes: fn(u16) -> [u8; 2]| {
            text.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>()
        };
        let body = match encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => text.as_bytes().to_vec(),
            Encoding::Utf16Le => units(u16::to_le_bytes),
            Encoding::Utf16Be => units(u16::to_be_bytes),
        };
        [encoding.mark().to_vec(), body].concat()
    }

    #[track_caller]
    fn check(bytes: &[u8], cut: bool, expected: Result<(&str, Encoding), NotText>) {
        let found = Text::decode(bytes, cut);
        let found = found.as_ref().map(|text| (text.as_str(), text.encoding())).map_err(|why| *why);
        assert_eq!(found, expected, "{bytes:x?} cut: {cut}");
    }

    fn malformed(encoding: Encoding, at: u64) -> Result<(&'static str, Encoding), NotText> {
        Err(NotText::Malformed { encoding, at })
    }

    // spec: G5
    #[test]
    fn an_empty_file_is_text() {
        check(b"", WHOLE, Ok(("", Encoding::Utf8)));
        check(b"\xEF\xBB\xBF", WHOLE, Ok(("", Encoding::Utf8Bom)));
        check(b"\xFF\xFE", WHOLE, Ok(("", Encoding::Utf16Le)));
    }

    // spec: G5
    #[test]
    fn a_nul_is_not_text() {
        check(b"a\0b", WHOLE, Err(NotText::Nul { at: 1 }));
        check(b"\xEF\xBB\xBFa\0", CUT, Err(NotText::Nul { at: 4 }));
        check(b"\xFF\xFE\0\0a\0\0\0", WHOLE, Err(NotText::Nul { at: 2 }));
    }

    // spec: G5
    #[test]
    fn utf_16_needs_its_mark() {
        check(b"\xFE\xFF\0a", WHOLE, Ok(("a", Encoding::Utf16Be)));
        check(b"\0a\0b", WHOLE, Err(NotText::Nul { at: 0 }));
    }

    // spec: G5
    #[test]
    fn a_sequence_broken_by_the_cut_is_left_out() {
        check("a\u{20AC}".as_bytes().split_at(3).0, CUT, Ok(("a", Encoding::Utf8)));
        check(b"\xFF\xFEa\0b", CUT, Ok(("a", Encoding::Utf16Le)));
        check(b"\xFF\xFEa\0\x3D\xD8", CUT, Ok(("a", Encoding::Utf16Le)));
        check(b"\xFF\xFEa\0\x3D\xD8\x00", CUT, Ok(("a", Encoding::Utf16Le)));
    }

    // spec: G5
    #[test]
    fn a_sequence_broken_without_a_cut_is_not_text() {
        check("a\u{20AC}".as_bytes().split_at(3).0, WHOLE, malformed(Encoding::Utf8, 1));
        check(b"\xFF\xFEa\0b", WHOLE, malformed(Encoding::Utf16Le, 4));
        check(b"\xFF\xFEa\0\x3D\xD8", WHOLE, malformed(Encoding::Utf16Le, 4));
    }

    // spec: G5
    #[test]
    fn a_cut_excuses_only_the_end() {
        check(b"a\xFFb", CUT, malformed(Encoding::Utf8, 1));
        check(b"\xFF\xFE\x3D\xD8a\0", CUT, malformed(Encoding::Utf16Le, 2));
        check(b"\xFF\xFEa\0\x00\xDC", CUT, malformed(Encoding::Utf16Le, 4));
    }

    #[test]
    fn every_encoding_is_parsed_from_its_name() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.as_str().parse(), Ok(encoding));
        }
        assert_eq!("latin-1".parse::<Encoding>(), Err(UnknownEncoding("latin-1".to_owned())));
    }

    #[test]
    fn a_range_inside_a_character_has_no_text() {
        let bytes = write("a\u{1F600}b", Encoding::Utf16Le);
        let text = Text::decode(&bytes, WHOLE).unwrap();
        assert_eq!(text.text_range(2..4), Some(0..1));
        assert_eq!(text.text_range(4..6), None);
        assert_eq!(text.text_range(0..4), None);
        assert_eq!(text.text_range(2..12), None);
    }

    fn encoding() -> impl Strategy<Value = Encoding> {
        prop::sample::select(Encoding::ALL.to_vec())
    }

    proptest! {
        // spec: G5
        #[test]
        fn text_survives_every_encoding(text in "[^\0\u{FEFF}]{0,40}", encoding in encoding()) {
            let bytes = write(&text, encoding);
            let read = Text::decode(&bytes, WHOLE).unwrap();
            prop_assert_eq!((read.as_str(), read.encoding()), (&*text, encoding));
        }

        // spec: G5
        #[test]
        fn a_range_of_text_is_found_in_the_bytes_and_back(text in "[^\0\u{FEFF}]{0,20}", encoding in encoding(), a: usize, b: usize) {
            let edges: Vec<usize> = (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
            let (a, b) = (edges[a % edges.len()], edges[b % edges.len()]);
            let range = a.min(b)..a.max(b);
            let bytes = write(&text, encoding);
            let read = Text::decode(&bytes, WHOLE).unwrap();
            let of_file = read.file_range(range.clone());
            prop_assert_eq!(read.text_range(of_file.clone()), Some(range.clone()));
            let piece = [encoding.mark(), &bytes[of_file.start as usize..of_file.end as usize]].concat();
            let piece = Text::decode(&piece, WHOLE).unwrap();
            prop_assert_eq!(piece.as_str(), &text[range]);
        }

        // spec: G5
        #[test]
        fn a_cut_anywhere_leaves_a_beginning_of_the_text(text in "[^\0\u{FEFF}]{0,20}", encoding in encoding(), at: usize) {
            let bytes = write(&text, encoding);
            let mark = encoding.mark().len();
            let at = mark + at % (bytes.len() - mark + 1);
            let part = Text::decode(&bytes[..at], CUT).unwrap();
            prop_assert!(text.starts_with(part.as_str()));
        }
    }
}
