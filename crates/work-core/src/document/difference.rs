//! The wire documents of a difference between two bodies (spec J6).
//!
//! Owns their fields. What they are taken from is [`difference`](crate::difference)'s.

use serde::Serialize;

/// The exact difference of two bodies, taken between their text forms: lines, with the words marked that changed inside
/// them. Every hidden character is written out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceDoc {
    /// A unified diff with three lines of context; empty only where nothing differs.
    pub unified: String,
    /// The same, hunk by hunk.
    pub hunks: Vec<HunkDoc>,
    /// `lines` where the bodies have more lines than are compared: then all of one is removed and all of the other added.
    pub limit: Option<&'static str>,
}

/// Neighbouring changes with up to three unchanged lines around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HunkDoc {
    /// Where it stands in the accepted body: its first line from 1, and how many. Of no lines, the line before.
    pub accepted: [u32; 2],
    /// Where it stands in the proposed body, likewise.
    pub proposed: [u32; 2],
    /// Its lines, in order.
    pub lines: Vec<LineDoc>,
}

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineDoc {
    /// `context`, `removed` or `added`.
    pub kind: &'static str,
    /// What it says; none for an empty line.
    pub words: Vec<WordsDoc>,
}

/// Neighbouring words of one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WordsDoc {
    /// The words, with the space between them.
    pub text: String,
    /// Whether they changed inside a line whose counterpart is shown too. A line without one has nothing marked.
    pub changed: bool,
}

impl LineDoc {
    /// The line without its marks.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.iter().map(|words| words.text.as_str()).collect()
    }
}
