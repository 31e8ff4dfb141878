//! What the bytes of a file say as text.

/// How a file's text is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-8 behind a byte-order mark.
    Utf8Bom,
    /// UTF-16, the low byte first, behind a byte-order mark.
    Utf16Le,
    /// UTF-16, the high byte first, behind a byte-order mark.
    Utf16Be,
}

/// Bytes that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not text")]
pub struct NotText;

/// Decoded text.
#[derive(Clone, Debug)]
pub struct Text<'a>(std::borrow::Cow<'a, str>);

impl Text<'_> {
    /// Decodes a file.
    ///
    /// # Errors
    /// [`NotText`].
    pub fn decode(bytes: &[u8], _cut: bool) -> Result<Text<'_>, NotText> {
        std::str::from_utf8(bytes).map(|text| Text(text.into())).map_err(|_| NotText)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its encoding.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        Encoding::Utf8
    }
}
