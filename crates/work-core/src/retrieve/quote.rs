//! Passages as a report quotes them: exact bytes, lines, headings and what stands around them.
//!
//! Owns what is worked out only for the few passages that win. Refuses to know scores.

use std::ops::Range;

use memchr::memchr_iter;

use super::layout::{Layout, Line};
use super::window::is_grapheme_edge;
use super::{Format, Passage};
use crate::text::Text;

/// The longest heading that is kept whole, in characters.
const HEADING_CHARS: usize = 200;

/// The passage at `range` of `text`, with up to `context` characters to either side.
pub(super) fn passage(
    text: &Text<'_>,
    layout: &Layout<'_>,
    format: Format,
    range: Range<usize>,
    context: usize,
) -> Passage {
    let all = text.as_str();
    Passage {
        range: text.file_range(range.clone()),
        lines: lines(all, &range),
        heading: match format {
            Format::Markdown => trail(all, layout, range.start),
            Format::Plain => Vec::new(),
        },
        text: all[range.clone()].to_owned(),
        before: all[start_of_context(all, range.start, context)..range.start].to_owned(),
        after: all[range.end..end_of_context(all, range.end, context)].to_owned(),
    }
}

fn lines(text: &str, range: &Range<usize>) -> (u32, u32) {
    let ends = |part: &str| memchr_iter(b'\n', part.as_bytes()).count() as u32;
    let first = 1 + ends(&text[..range.start]);
    (first, first + ends(&text[range.clone()]))
}

fn start_of_context(text: &str, at: usize, most: usize) -> usize {
    let starts = text[..at].char_indices().rev().take(most).map(|(start, _)| start);
    starts.filter(|&start| is_grapheme_edge(text, start)).last().unwrap_or(at)
}

fn end_of_context(text: &str, at: usize, most: usize) -> usize {
    let ends = text[at..].char_indices().take(most).map(|(start, c)| at + start + c.len_utf8());
    ends.filter(|&end| is_grapheme_edge(text, end)).last().unwrap_or(at)
}

/// The headings that the place `at` stands under, outermost first.
fn trail(text: &str, layout: &Layout<'_>, at: usize) -> Vec<String> {
    let mut trail: Vec<(u8, String)> = Vec::new();
    for (range, level) in layout.headings(0..at).filter(|(range, _)| range.end <= at) {
        trail.retain(|(above, _)| *above < level);
        trail.push((level, heading_text(&text[range])));
    }
    trail.into_iter().map(|(_, heading)| heading).filter(|heading| !heading.is_empty()).collect()
}

/// A heading without the marks that make it one.
fn heading_text(block: &str) -> String {
    let lines: Vec<&str> = block.lines().collect();
    let text = match (Line::of(lines[0].as_bytes(), Format::Markdown), &*lines) {
        (Line::Heading(_), [line, ..]) => without_marks(line.trim()).to_owned(),
        (_, [above @ .., _underline]) => {
            above.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
        }
        (_, []) => String::new(),
    };
    let end = end_of_context(&text, 0, HEADING_CHARS);
    text[..end].to_owned()
}

/// Takes away the marks before a heading, and those after it if a space sets them apart.
fn without_marks(line: &str) -> &str {
    let body = line.trim_start_matches('#').trim();
    let bare = body.trim_end_matches('#');
    if bare.is_empty() || bare.ends_with(char::is_whitespace) { bare.trim_end() } else { body }
}
