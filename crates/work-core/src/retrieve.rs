//! Text in, passages out: which parts of some files answer a query.
//!
//! Owns queries, the passages of a text and their ranking. Refuses to know folders, paths, threads and time: whoever
//! reads the files hands in their bytes. Start at [`Searcher`].
//!
//! The work has three steps. [`Searcher::examine`] looks at each file once, from any thread; it makes one pass over
//! the bytes for all words and looks closer only where one stands. [`Searcher::rank`] compares what was found.
//! [`Searcher::quote`] reads a file that won once more and gives its passages in full. A line ends with LF or CRLF.

mod common;
mod fold;
mod layout;
mod passage;
mod query;
mod quote;
mod rank;
mod search;
mod stem;
mod window;
mod words;

use std::ops::Range;
use std::sync::Arc;

use crate::text::Text;
use layout::Layout;
use passage::{Collector, Demands, counts};
use rank::Statistics;
use search::{Content, Finder, Hit};

pub use passage::{Counts, FileMatches};
pub use query::{InvalidQuery, LeftOut, QUERY_CHARS, Query};

/// How a text shows its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Headings, lists, tables, fenced code and front matter.
    Markdown,
    /// Paragraphs between blank lines.
    Plain,
}

impl Format {
    /// The format of a file by the extension of its name.
    pub fn of_name(name: &[u8]) -> Self {
        let extension = name.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        let is_markdown =
            |known: &&[u8]| extension.eq_ignore_ascii_case(known) && extension.len() < name.len();
        let known: [&[u8]; 3] = [b"md", b"markdown", b"mdx"];
        if known.iter().any(is_markdown) { Self::Markdown } else { Self::Plain }
    }
}

/// How much a report may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Passages in a report.
    pub passages: usize,
    /// Passages of one file.
    pub per_file: usize,
    /// Characters in a passage.
    pub passage_chars: usize,
    /// Characters kept before and after a passage.
    pub context_chars: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { passages: 6, per_file: 3, passage_chars: 1_200, context_chars: 32 }
    }
}

/// A query made ready to be searched for. One serves all threads.
#[derive(Debug)]
pub struct Searcher {
    query: Query,
    bounds: Bounds,
    finder: Finder,
}

/// What a look at one file found.
#[derive(Debug, Clone, PartialEq)]
pub enum Examined {
    /// The bytes are no text.
    NotText,
    /// Nothing in it matches. Its counts still say how rare a word is.
    Nothing(Counts),
    /// Passages that match.
    Matches(FileMatches),
}

impl Examined {
    fn counts(&self) -> Option<&Counts> {
        match self {
            Self::NotText => None,
            Self::Nothing(counts) => Some(counts),
            Self::Matches(found) => Some(&found.counts),
        }
    }

    fn matches(&self) -> Option<&FileMatches> {
        match self {
            Self::NotText | Self::Nothing(_) => None,
            Self::Matches(found) => Some(found),
        }
    }
}

/// Which passage of a file was picked, and by which statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageKey {
    range: Range<u32>,
    statistics: Arc<Statistics>,
}

/// A passage for a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// The number of its file in the order of the visit.
    pub file: usize,
    /// Which passage of the file.
    pub key: PassageKey,
    /// What it is worth, for comparison within one ranking.
    pub score: f64,
}

/// An exact quotation from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The bytes of the file.
    pub range: Range<u64>,
    /// Its first and last line, counted from one.
    pub lines: (u32, u32),
    /// The headings it stands under, outermost first.
    pub heading: Vec<String>,
    /// What the bytes say.
    pub text: String,
    /// What stands before it.
    pub before: String,
    /// What stands after it.
    pub after: String,
}

impl Searcher {
    /// Makes `query` ready.
    pub fn new(query: &Query, bounds: Bounds) -> Self {
        Self { query: query.clone(), bounds, finder: Finder::new(&query.terms) }
    }

    /// Looks for the query in the bytes of a file. `cut` says that the file is longer.
    pub fn examine(&self, bytes: &[u8], cut: bool, format: Format) -> Examined {
        if let Some(content) = Content::plain(bytes) {
            return self.find(content, format);
        }
        match Text::decode(bytes, cut) {
            Ok(text) => self.find(Content::of(text.as_str()), format),
            Err(_) => Examined::NotText,
        }
    }

    /// The passages for a report, best first, from what was found in `files` in the order of the visit.
    ///
    /// A second passage of a file comes after every file has given one, unless it is worth twice as much as the one
    /// it comes before. Equal scores go by the order of the visit, then by position.
    pub fn rank(&self, files: &[Examined]) -> Vec<Pick> {
        rank::pick(&self.query.terms, &self.bounds, files)
    }

    /// The passages of a file in full, best first and at most as many as `keys`, which are all its picks.
    ///
    /// The same bytes give the passages that were ranked. Other bytes give the best they have, judged by the same
    /// statistics: none, if nothing in them matches.
    pub fn quote(
        &self,
        bytes: &[u8],
        cut: bool,
        format: Format,
        keys: &[PassageKey],
    ) -> Vec<Passage> {
        let (Some(first), Ok(text)) = (keys.first(), Text::decode(bytes, cut)) else {
            return Vec::new();
        };
        let content = Content::of(text.as_str());
        let found = self.find(content, format);
        let best = found
            .matches()
            .map_or_else(Vec::new, |found| rank::best(&first.statistics, found, keys.len()));
        let layout = self.layout(content, format);
        let ranges =
            best.into_iter().map(|(_, found)| found.range.start as usize..found.range.end as usize);
        ranges
            .map(|range| quote::passage(&text, &layout, format, range, self.bounds.context_chars))
            .collect()
    }

    /// A block is followed far enough to fill a passage of the widest characters.
    fn layout<'a>(&self, content: Content<'a>, format: Format) -> Layout<'a> {
        Layout::new(content.bytes(), format, 4 * self.bounds.passage_chars)
    }

    fn find(&self, content: Content<'_>, format: Format) -> Examined {
        let (wanted, excluded) = self.parted(self.finder.hits(content));
        let Query { terms, required, forbidden, .. } = &self.query;
        let nothing = || Examined::Nothing(counts(content.bytes().len(), &wanted, terms.len()));
        if wanted.is_empty() {
            return nothing();
        }
        let demands = Demands { required, forbidden, excluded: &excluded };
        let layout = self.layout(content, format);
        let collector = Collector::new(content, &layout, demands, &self.bounds, terms.len());
        collector.collect(&wanted).map_or_else(nothing, Examined::Matches)
    }

    fn parted(&self, hits: Vec<Hit>) -> (Vec<Hit>, Vec<Hit>) {
        let is_wanted =
            |hit: &Hit| self.query.terms[usize::from(hit.term)].role != query::Role::Excluded;
        if self.query.terms.iter().all(|term| term.role != query::Role::Excluded) {
            return (hits, Vec::new());
        }
        hits.into_iter().partition(is_wanted)
    }
}

#[cfg(test)]
mod tests;
