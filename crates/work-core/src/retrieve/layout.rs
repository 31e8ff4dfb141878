//! Where the paragraphs, lists, tables and code blocks of a text begin and end.
//!
//! Owns the shape of a document as its lines show it. Refuses to know queries: it looks only around the place it
//! is asked about, so that a text is never split as a whole. Start at [`Layout::block`].
//!
//! A line ends with LF or CRLF. A lone CR is white space within a line.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use super::Format;

/// What one line is, told from its own characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing but white space, or the marks of a quotation with nothing in it.
    Blank,
    /// `# A heading` of this level.
    Heading(u8),
    /// `===` or `---`, which makes a heading of the lines above it.
    Underline(u8),
    /// The beginning of an item of a list.
    Item,
    /// A row of a table.
    Row,
    /// Something that belongs to the item above it, or code.
    Indented,
    /// Anything else.
    Text,
}

impl Line {
    /// Reads a line without its end.
    pub(super) fn of(line: &[u8], format: Format) -> Self {
        match format {
            Format::Markdown => Self::of_markdown(line),
            Format::Plain if is_blank(line) => Self::Blank,
            Format::Plain => Self::Text,
        }
    }

    fn of_markdown(line: &[u8]) -> Self {
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let body = &line[indent..];
        match body {
            [] => Self::Blank,
            [b'#', ..] if indent < 4 => heading_level(body).map_or(Self::Text, Self::Heading),
            [b'=', ..] if indent < 4 && is_run(body, b'=') => Self::Underline(1),
            [b'-', ..] if indent < 4 && is_run(body, b'-') => Self::Underline(2),
            [b'-' | b'*' | b'+', b' ' | b'\t', ..] => Self::Item,
            [b'0'..=b'9', ..] if is_numbered(body) => Self::Item,
            [b'|', ..] => Self::Row,
            [b'>', ..] if body.iter().all(|byte| matches!(byte, b'>' | b' ' | b'\t' | b'\r')) => {
                Self::Blank
            }
            [first, ..] if (*first <= b' ' || !first.is_ascii()) && is_blank(body) => Self::Blank,
            _ if indent >= 2 || line[0] == b'\t' => Self::Indented,
            _ => Self::Text,
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|first| {
        (*first < b' ' || !first.is_ascii())
            && std::str::from_utf8(line).is_ok_and(|line| line.trim().is_empty())
    })
}

fn heading_level(body: &[u8]) -> Option<u8> {
    let marks = body.iter().take_while(|&&byte| byte == b'#').count();
    let closed = body.get(marks).is_none_or(u8::is_ascii_whitespace);
    u8::try_from(marks).ok().filter(|level| *level <= 6 && closed)
}

fn is_run(body: &[u8], mark: u8) -> bool {
    let body = body.trim_ascii_end();
    body.len() >= 3 && body.iter().all(|&byte| byte == mark)
}

/// At most three digits: a year that begins a wrapped line is no item.
fn is_numbered(body: &[u8]) -> bool {
    let digits = body.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits <= 3 && matches!(body[digits..], [b'.' | b')', b' ' | b'\t', ..])
}

/// A stretch of lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// From the beginning of the first line to the end of the last, without its line end.
    pub(super) range: Range<usize>,
    /// Its level, if the block is a heading.
    pub(super) heading: Option<u8>,
}

/// A text and its blocks that are not read by line: fenced code and front matter.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    bytes: &'a [u8],
    format: Format,
    reach: usize,
    verbatim: Vec<Range<usize>>,
}

impl<'a> Layout<'a> {
    /// Prepares to look at `bytes`. A block is followed for at most `reach` bytes to either side.
    pub(super) fn new(bytes: &'a [u8], format: Format, reach: usize) -> Self {
        let verbatim = match format {
            Format::Markdown => verbatim(bytes),
            Format::Plain => Vec::new(),
        };
        Self { bytes, format, reach, verbatim }
    }

    /// The block around `at`, not reaching back before `floor`.
    pub(super) fn block(&self, at: usize, floor: usize) -> Block {
        if let Some(code) = self.verbatim_at(at) {
            return Block { range: code.start.max(floor)..code.end, heading: None };
        }
        let line = self.line_at(at);
        if let Line::Heading(level) = self.kind(&line) {
            return Block { range: line, heading: Some(level) };
        }
        let start = self.first_line(line.clone(), floor);
        let (end, underline) = self.last_line(line);
        Block { range: start.max(floor.min(at))..end, heading: underline }
    }

    /// The block that follows a heading, if it is no heading itself.
    pub(super) fn block_after(&self, end: usize) -> Option<Block> {
        let mut line = self.next_line(end)?;
        while self.kind(&line) == Line::Blank {
            line = self.next_line(line.end)?;
        }
        Some(self.block(line.start, line.start)).filter(|block| block.heading.is_none())
    }

    /// The headings that begin in `range`, each with its level.
    pub(super) fn headings(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, u8)> {
        let mut next = Some(range.start);
        std::iter::from_fn(move || {
            while let Some(from) = next.filter(|&from| from < range.end) {
                let block = match self.verbatim_at(from) {
                    Some(code) => Block { range: code.clone(), heading: None },
                    None => self.heading_line(from),
                };
                next = self.next_line(block.range.end).map(|line| line.start);
                if let Some(level) = block.heading {
                    return Some((block.range, level));
                }
            }
            None
        })
    }

    /// The line at `from`, which may be the first of a heading that is underlined.
    fn heading_line(&self, from: usize) -> Block {
        let line = self.line_at(from);
        match self.kind(&line) {
            Line::Heading(level) => Block { range: line, heading: Some(level) },
            Line::Text => {
                let (end, heading) = self.last_line(line.clone());
                Block { range: line.start..end, heading }
            }
            Line::Blank | Line::Underline(_) | Line::Item | Line::Row | Line::Indented => {
                Block { range: line, heading: None }
            }
        }
    }

    /// The line around `at` without its end.
    pub(super) fn line_at(&self, at: usize) -> Range<usize> {
        line_at(self.bytes, at)
    }

    /// The line after the one that ends at `end`.
    pub(super) fn next_line(&self, end: usize) -> Option<Range<usize>> {
        let start = match self.bytes[end..] {
            [b'\n', ..] => end + 1,
            [b'\r', b'\n', ..] => end + 2,
            _ => return None,
        };
        let end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |at| start + at);
        Some(without_return(self.bytes, start..end))
    }

    /// The line before the one that begins at `start`.
    pub(super) fn previous_line(&self, start: usize) -> Option<Range<usize>> {
        let end = start.checked_sub(1)?;
        if self.bytes[end] != b'\n' {
            return Some(self.line_at(end));
        }
        let start = memrchr(b'\n', &self.bytes[..end]).map_or(0, |before| before + 1);
        Some(without_return(self.bytes, start..end))
    }

    fn kind(&self, line: &Range<usize>) -> Line {
        Line::of(&self.bytes[line.clone()], self.format)
    }

    pub(super) fn is_blank(&self, line: &Range<usize>) -> bool {
        self.kind(line) == Line::Blank
    }

    fn verbatim_at(&self, at: usize) -> Option<&Range<usize>> {
        let next = self.verbatim.partition_point(|code| code.end < at);
        self.verbatim.get(next).filter(|code| code.contains(&at) || code.end == at)
    }

    /// Where the block begins whose line `line` is.
    fn first_line(&self, line: Range<usize>, floor: usize) -> usize {
        let (mut first, mut below) = (line.start, self.kind(&line));
        let mut gap = false;
        let mut next = self.previous_line(first);
        while let Some(above) =
            next.filter(|above| above.start >= floor && line.start - above.start <= self.reach)
        {
            let kind = self.kind(&above);
            if self.verbatim_at(above.start).is_some()
                || (kind != Line::Blank && !joins(kind, below, gap))
            {
                break;
            }
            if kind == Line::Blank {
                gap = true;
            } else {
                (first, below, gap) = (above.start, kind, false);
            }
            if gap && !may_be_loose(below) {
                break;
            }
            next = self.previous_line(above.start);
        }
        first
    }

    /// Where the block ends whose line `line` is, and the level of the underline that makes it a heading.
    fn last_line(&self, line: Range<usize>) -> (usize, Option<u8>) {
        let (mut last, mut above) = (line.end, self.kind(&line));
        let mut gap = false;
        let mut next = self.next_line(last);
        while let Some(below) = next.filter(|below| below.end - line.end <= self.reach) {
            let kind = self.kind(&below);
            if let (Line::Underline(level), Line::Text, false) = (kind, above, gap) {
                return (below.end, Some(level));
            }
            if self.verbatim_at(below.start).is_some()
                || (kind != Line::Blank && !joins(above, kind, gap))
            {
                break;
            }
            if kind == Line::Blank {
                gap = true;
            } else {
                (last, above, gap) = (below.end, kind, false);
            }
            if gap && !may_go_on_loose(above) {
                break;
            }
            next = self.next_line(below.end);
        }
        (last, None)
    }
}

/// Whether two lines belong to one block, with or without blank lines between them.
fn joins(above: Line, below: Line, gap: bool) -> bool {
    match (above, below) {
        (Line::Item | Line::Indented, Line::Item) => true,
        (Line::Item | Line::Indented, Line::Indented) => true,
        (Line::Item | Line::Indented | Line::Text, Line::Text) => !gap,
        (Line::Text, Line::Indented) => !gap,
        (Line::Row, Line::Row) => !gap,
        (Line::Text, Line::Item | Line::Row) | (Line::Item | Line::Indented, Line::Row) => false,
        (Line::Row, Line::Text | Line::Item | Line::Indented) => false,
        (Line::Blank | Line::Heading(_) | Line::Underline(_), _) => false,
        (_, Line::Blank | Line::Heading(_) | Line::Underline(_)) => false,
    }
}

/// Whether a block may have blank lines above a line like this.
fn may_be_loose(below: Line) -> bool {
    matches!(below, Line::Item | Line::Indented)
}

/// Whether a block may go on after blank lines below a line like this.
fn may_go_on_loose(above: Line) -> bool {
    matches!(above, Line::Item | Line::Indented)
}

/// The front matter and the fenced code of a Markdown text, in order.
fn verbatim(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = front_matter(bytes).into_iter().collect();
    let mut open: Option<(usize, Fence)> = None;
    for (line, fence) in fences(bytes, found.first().map_or(0, |matter| matter.end)) {
        match open {
            Some((start, opening)) if fence.closes(opening) => {
                found.push(start..line.end);
                open = None;
            }
            Some(_) => {}
            None if fence.opens() => open = Some((line.start, fence)),
            None => {}
        }
    }
    found.extend(open.map(|(start, _)| start..bytes.len()));
    found
}

/// A line of back quotes or tildes.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
    /// Whether anything stands after the marks.
    bare: bool,
    /// Whether a back quote stands after the marks, which makes them code within a line.
    broken: bool,
}

impl Fence {
    fn of(body: &[u8]) -> Option<Self> {
        let mark = *body.first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = body.iter().take_while(|&&byte| byte == mark).count();
        let info = body[length..].trim_ascii();
        let broken = mark == b'`' && memchr(b'`', info).is_some();
        (length >= 3).then_some(Self { mark, length, bare: info.is_empty(), broken })
    }

    fn opens(self) -> bool {
        !self.broken
    }

    fn closes(self, opening: Self) -> bool {
        self.bare && self.mark == opening.mark && self.length >= opening.length
    }
}

/// The lines from `from` on that begin with a fence, indented or quoted as they may be.
fn fences(bytes: &[u8], from: usize) -> Vec<(Range<usize>, Fence)> {
    let mut lines: Vec<(Range<usize>, Fence)> = Vec::new();
    for marks in [b"```", b"~~~"] {
        let mut searched = from;
        while let Some(found) = memmem::find(&bytes[searched..], marks) {
            let line = line_at(bytes, searched + found);
            searched = line.end;
            lines.extend(fence_at(bytes, &line).map(|fence| (line, fence)));
        }
    }
    lines.sort_unstable_by_key(|(line, _)| line.start);
    lines
}

fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    without_return(bytes, start..end)
}

fn without_return(bytes: &[u8], line: Range<usize>) -> Range<usize> {
    let is_crlf = bytes[line.clone()].ends_with(b"\r");
    line.start..line.end - usize::from(is_crlf)
}

fn fence_at(bytes: &[u8], line: &Range<usize>) -> Option<Fence> {
    let text = &bytes[line.clone()];
    let indent = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    Fence::of(&text[indent..])
}

/// What stands between two lines `---` or `+++` at the very beginning.
fn front_matter(bytes: &[u8]) -> Option<Range<usize>> {
    let first = line_at(bytes, 0);
    let mark = bytes[first.clone()].trim_ascii_end();
    if !matches!(mark, b"---" | b"+++") {
        return None;
    }
    let closing = [b"\n", mark].concat();
    let mut ends = memmem::find_iter(&bytes[first.end..], &closing)
        .map(|at| line_at(bytes, first.end + at + 1));
    ends.find(|line| bytes[line.clone()].trim_ascii_end() == mark).map(|line| 0..line.end)
}
