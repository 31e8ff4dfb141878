//! Text in, passages out.

/// A passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its bytes in the file.
    pub range: std::ops::Range<u64>,
    /// Its lines.
    pub lines: (u32, u32),
    /// Its headings.
    pub heading: Vec<String>,
    /// Its text.
    pub text: String,
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
}
