//! Cuts what is quoted out of a block.
//!
//! Owns where a passage of limited length begins and ends. Refuses to know what its words are worth. Start at
//! [`windows`].
//!
//! A block that fits is taken whole. Of a longer one as many words of the query are taken together as fit, with
//! whole lines around them; of a line that is longer itself, with whole words around them.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

use super::layout::Layout;
use super::search::{Content, Hit};

/// The passages of `block` that hold `hits`, in order, each with at most `limit` characters.
pub(super) fn windows(
    content: Content<'_>,
    layout: &Layout<'_>,
    block: Range<usize>,
    hits: &[Hit],
    limit: usize,
) -> Vec<Range<usize>> {
    if block.len() <= limit || content.characters(block.clone()) <= limit {
        return vec![without_blank_lines(layout, block)];
    }
    let mut cutter = Cutter { content, layout, limit, line: 0..0, is_long: false };
    let cores: Vec<Core> = hits.iter().filter_map(|hit| cutter.core(hit.range(), &block)).collect();
    cutter.spread(&block, &cores)
}

/// What a passage must hold of a block for one word of the query: its line, or the word alone in a longer line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    range: Range<usize>,
    /// The line that is longer than a passage.
    within: Option<Range<usize>>,
}

struct Cutter<'a> {
    content: Content<'a>,
    layout: &'a Layout<'a>,
    limit: usize,
    /// The line looked at last, so that a long one is measured once.
    line: Range<usize>,
    is_long: bool,
}

impl Cutter<'_> {
    fn core(&mut self, word: Range<usize>, block: &Range<usize>) -> Option<Core> {
        if !(self.line.start <= word.start && word.end <= self.line.end) {
            let line = self.layout.line_at(word.start);
            self.line = line.start.max(block.start)..line.end.min(block.end);
            self.is_long = self.is_longer(self.line.clone());
        }
        match self.is_long {
            false => Some(Core { range: self.line.clone(), within: None }),
            true if self.is_longer(word.clone()) => None,
            true => Some(Core { range: word, within: Some(self.line.clone()) }),
        }
    }

    fn is_longer(&self, range: Range<usize>) -> bool {
        range.len() > self.limit && self.content.characters(range) > self.limit
    }

    /// Takes neighbouring cores together while they fit, and widens what was taken.
    fn spread(&self, block: &Range<usize>, cores: &[Core]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut floor, mut from) = (block.start, 0);
        while let Some(first) = cores.get(from) {
            let (taken, next) = self.gather(first, &cores[from + 1..]);
            from += 1 + next;
            let ceiling = cores.get(from).map_or(block.end, |core| core.range.start);
            if let Some(window) = self.widen(first, taken, floor, ceiling, block) {
                floor = window.end;
                found.push(window);
            }
        }
        found
    }

    fn gather(&self, first: &Core, others: &[Core]) -> (Range<usize>, usize) {
        let mut taken = first.range.clone();
        let mut length = self.content.characters(taken.clone());
        let fitting = others.iter().take_while(|core| {
            let grown = taken.end..core.range.end.max(taken.end);
            length += self.content.characters(grown.clone());
            let fits = length <= self.limit && core.within == first.within;
            if fits {
                taken.end = grown.end;
            }
            fits
        });
        let count = fitting.count();
        (taken, count)
    }

    fn widen(
        &self,
        first: &Core,
        taken: Range<usize>,
        floor: usize,
        ceiling: usize,
        block: &Range<usize>,
    ) -> Option<Range<usize>> {
        let spare = self.limit.checked_sub(self.content.characters(taken.clone()))?;
        match &first.within {
            Some(line) => {
                self.widen_in_line(taken, line.start.max(floor)..line.end.min(ceiling), spare)
            }
            None => Some(self.widen_by_lines(
                taken,
                block.start.max(floor)..block.end.min(ceiling),
                spare,
            )),
        }
    }

    /// Adds whole lines: before, for half of what is spare, then after, then before again.
    fn widen_by_lines(
        &self,
        taken: Range<usize>,
        within: Range<usize>,
        spare: usize,
    ) -> Range<usize> {
        let mut left = spare;
        let start = self.lines_before(taken.start, within.start, spare / 2, &mut left);
        let end = self.lines_after(taken.end, within.end, &mut left);
        let all = left;
        let start = self.lines_before(start, within.start, all, &mut left);
        without_blank_lines(self.layout, start..end)
    }

    fn lines_before(
        &self,
        mut start: usize,
        floor: usize,
        budget: usize,
        left: &mut usize,
    ) -> usize {
        let least = *left - budget.min(*left);
        while let Some(line) = self.layout.previous_line(start).filter(|line| line.start >= floor) {
            let cost = self.content.characters(line.start..start);
            if *left < least + cost {
                break;
            }
            *left -= cost;
            start = line.start;
        }
        start
    }

    fn lines_after(&self, mut end: usize, ceiling: usize, left: &mut usize) -> usize {
        while let Some(line) = self.layout.next_line(end).filter(|line| line.end <= ceiling) {
            let cost = self.content.characters(end..line.end);
            if *left < cost {
                break;
            }
            *left -= cost;
            end = line.end;
        }
        end
    }

    /// Adds characters to either side and draws back to where a word begins or ends.
    fn widen_in_line(
        &self,
        taken: Range<usize>,
        within: Range<usize>,
        spare: usize,
    ) -> Option<Range<usize>> {
        let text = self.content.text(within.clone());
        let before = text.get(..taken.start.checked_sub(within.start)?)?;
        let after = text.get(taken.end - within.start..)?;
        let bytes = if self.content.is_ascii() { ascii_bytes } else { bytes };
        let (half, (ahead, _)) = (spare / 2, bytes(after, spare, End::First));
        let (back, bytes_before) =
            bytes(before, half.max(spare - ahead.min(spare - half)), End::Last);
        let start = taken.start - bytes_before;
        let end = taken.end + bytes(after, spare - back, End::First).1;
        let local = start - within.start..end - within.start;
        let local = drawn_back(text, local, taken.start - within.start..taken.end - within.start)?;
        Some(within.start + local.start..within.start + local.end)
    }
}

/// At which end of a text something is taken.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

/// How many characters there are to take if at most `most` are wanted, and how many bytes they have.
fn bytes(text: &str, most: usize, end: End) -> (usize, usize) {
    let add = |(count, bytes): (usize, usize), c: char| (count + 1, bytes + c.len_utf8());
    match end {
        End::First => text.chars().take(most).fold((0, 0), add),
        End::Last => text.chars().rev().take(most).fold((0, 0), add),
    }
}

/// The same for a text of ASCII alone.
fn ascii_bytes(text: &str, most: usize, _: End) -> (usize, usize) {
    (text.len().min(most), text.len().min(most))
}

/// The largest part of `range` around `kept` that begins and ends at the edge of a word, or else of a grapheme.
fn drawn_back(text: &str, range: Range<usize>, kept: Range<usize>) -> Option<Range<usize>> {
    let start = edge(
        text,
        (range.start..=kept.start).filter(|&at| text.is_char_boundary(at)),
        |before, after| {
            before.is_none_or(char::is_whitespace) && !after.is_some_and(char::is_whitespace)
        },
    )?;
    let end = edge(
        text,
        (kept.end..=range.end).rev().filter(|&at| text.is_char_boundary(at)),
        |before, after| {
            after.is_none_or(char::is_whitespace) && !before.is_some_and(char::is_whitespace)
        },
    )?;
    Some(start..end)
}

/// How many characters are given up for a word's edge. Scripts without spaces have few of them.
const NEARBY: usize = 64;

/// The first of `places` where two words part, or else where two graphemes do.
fn edge(
    text: &str,
    places: impl Iterator<Item = usize> + Clone,
    parts: impl Fn(Option<char>, Option<char>) -> bool,
) -> Option<usize> {
    let is_edge = |&at: &usize| parts(text[..at].chars().next_back(), text[at..].chars().next());
    let mut words =
        places.clone().take(NEARBY).filter(is_edge).filter(|&at| is_grapheme_edge(text, at));
    words.next().or_else(|| places.clone().find(|&at| is_grapheme_edge(text, at)))
}

/// Whether no grapheme of `text` goes across `at`.
pub(super) fn is_grapheme_edge(text: &str, at: usize) -> bool {
    // ASCII knows one grapheme of two characters.
    if let Some((&[before, after], _)) =
        at.checked_sub(1).and_then(|before| text.as_bytes()[before..].split_first_chunk())
        && before.is_ascii()
        && after.is_ascii()
    {
        return [before, after] != *b"\r\n";
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let whole: Result<bool, GraphemeIncomplete> = cursor.is_boundary(text, 0);
    whole.unwrap_or(false)
}

/// `range`, which begins and ends with lines, without the blank ones at its ends.
fn without_blank_lines(layout: &Layout<'_>, range: Range<usize>) -> Range<usize> {
    let mut first = layout.line_at(range.start);
    while layout.is_blank(&first) && first.end < range.end {
        let Some(next) = layout.next_line(first.end) else { break };
        first = next;
    }
    let mut last = layout.line_at(range.end);
    while layout.is_blank(&last) && last.start > first.start {
        let Some(previous) = layout.previous_line(last.start) else { break };
        last = previous;
    }
    first.start.max(range.start)..last.end.min(range.end)
}
