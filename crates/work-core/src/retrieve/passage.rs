//! The passages of one text that a report could quote, with what their scores are made of.
//!
//! Owns which passages match, what is counted in them, and which of them can be left out before anybody knows how
//! rare a word is. Refuses to know other files and scores in the end. Start at [`Collector::collect`].

use std::ops::Range;

use memchr::memmem;

use super::Bounds;
use super::layout::{Block, Layout};
use super::rank;
use super::search::{Content, Hit};
use super::window::windows;
use super::words::{even, stands_in, stands_in_ascii};

/// A passage that matches.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    /// Where it stands in the text.
    pub(super) range: Range<u32>,
    /// Its length in characters.
    pub(super) characters: u32,
    /// Its part of the file's occurrences.
    occurrences: Range<u32>,
}

/// What one term does for one passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Occurrence {
    /// The number of the term in the query.
    pub(super) term: u16,
    /// How often the passage has it, up to 255.
    pub(super) count: u8,
    /// Whether a heading above the passage has it.
    pub(super) in_heading: bool,
    /// How near it stands to other terms: the sum of 1 / distance² over its neighbours, distances in words.
    pub(super) closeness: f32,
}

/// How long a file is and how often it has which term.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub(super) bytes: u32,
    pub(super) terms: Box<[(u16, u32)]>,
}

/// What is kept of a file that matches: a few kilobytes, however many passages match.
#[derive(Debug, Clone, PartialEq)]
pub struct FileMatches {
    pub(super) counts: Counts,
    pub(super) candidates: Box<[Candidate]>,
    occurrences: Box<[Occurrence]>,
}

impl FileMatches {
    pub(super) fn occurrences(&self, candidate: &Candidate) -> &[Occurrence] {
        &self.occurrences[candidate.occurrences.start as usize..candidate.occurrences.end as usize]
    }
}

/// What a passage must hold and must not hold as a whole. Phrases are in their even form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demands<'a> {
    /// Phrases that must appear.
    pub(super) required: &'a [String],
    /// Phrases that must not appear.
    pub(super) forbidden: &'a [String],
    /// Words that must not appear, where they stand.
    pub(super) excluded: &'a [Hit],
}

impl Demands<'_> {
    /// Whether a passage meets them together with the heading right above it, if the query names a word of that.
    fn are_met(
        &self,
        content: Content<'_>,
        window: &Range<usize>,
        lead: Option<&Range<usize>>,
    ) -> bool {
        let parts = || lead.into_iter().chain([window]);
        if parts().any(|part| self.excludes(part)) {
            return false;
        }
        if self.required.is_empty() && self.forbidden.is_empty() {
            return true;
        }
        let texts: Vec<Wording<'_>> = parts().map(|part| Wording::of(content, part)).collect();
        let stands = |phrase: &String| texts.iter().any(|text| text.has(phrase));
        self.required.iter().all(stands) && !self.forbidden.iter().any(stands)
    }

    /// Whether a text has each required phrase somewhere, or might have it.
    fn may_be_met(&self, content: Content<'_>) -> bool {
        let bytes = content.bytes();
        !content.is_ascii()
            || self.required.iter().all(|phrase| stands_in_ascii(phrase.as_bytes(), bytes))
    }

    fn excludes(&self, part: &Range<usize>) -> bool {
        let next = self.excluded.partition_point(|hit| (hit.start as usize) < part.start);
        self.excluded.get(next).is_some_and(|hit| hit.range().end <= part.end)
    }
}

/// A text in which phrases are looked for.
enum Wording<'a> {
    /// As it is.
    Ascii(&'a [u8]),
    /// In its even form.
    Even(String),
}

impl<'a> Wording<'a> {
    fn of(content: Content<'a>, part: &Range<usize>) -> Self {
        let bytes = &content.bytes()[part.clone()];
        if content.is_ascii() || bytes.is_ascii() {
            Self::Ascii(bytes)
        } else {
            Self::Even(even(content.text(part.clone())))
        }
    }

    fn has(&self, phrase: &str) -> bool {
        match self {
            Self::Ascii(bytes) => stands_in_ascii(phrase.as_bytes(), bytes),
            Self::Even(text) => stands_in(phrase, text),
        }
    }
}

/// What is quoted for a hit, and the heading with words of the query that stands right above it.
struct Part {
    lead: Option<Range<usize>>,
    block: Range<usize>,
}

/// A heading with words of the query, and how deep it is.
#[derive(Debug)]
struct Above {
    level: u8,
    terms: Vec<u16>,
}

/// Collects the passages of one text.
pub(super) struct Collector<'a> {
    content: Content<'a>,
    layout: &'a Layout<'a>,
    demands: Demands<'a>,
    bounds: &'a Bounds,
    above: Vec<Above>,
    /// Up to where headings were looked for.
    looked: usize,
    candidates: Vec<Candidate>,
    occurrences: Vec<Occurrence>,
    /// For each term, one more than its place among the occurrences of the passage at hand.
    places: Vec<u16>,
}

impl<'a> Collector<'a> {
    /// Prepares for a text, where the query has `terms` terms.
    pub(super) fn new(
        content: Content<'a>,
        layout: &'a Layout<'a>,
        demands: Demands<'a>,
        bounds: &'a Bounds,
        terms: usize,
    ) -> Self {
        let (above, candidates, occurrences) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            content,
            layout,
            demands,
            bounds,
            above,
            looked: 0,
            candidates,
            occurrences,
            places: vec![0; terms],
        }
    }

    /// The passages around `hits`, which are in order and wanted, as far as they can still win.
    pub(super) fn collect(mut self, hits: &[Hit]) -> Option<FileMatches> {
        if !self.demands.may_be_met(self.content) {
            return None;
        }
        let (mut rest, mut floor) = (hits, 0);
        while let Some(hit) = rest.first() {
            let block = self.layout.block(hit.start as usize, floor);
            let Part { lead, block } = self.below_heading(block, rest);
            let inside = rest.partition_point(|hit| (hit.start as usize) < block.end).max(1);
            let (of_part, after) = rest.split_at(inside);
            let of_block =
                &of_part[of_part.partition_point(|hit| (hit.start as usize) < block.start)..];
            for window in
                windows(self.content, self.layout, block, of_block, self.bounds.passage_chars)
            {
                floor = window.end;
                self.add(window, of_block, lead.as_ref());
            }
            rest = after;
        }
        (!self.candidates.is_empty()).then(|| self.finish(hits))
    }

    /// The block to quote for a hit: under a heading with words of the query that is the block below it, and the
    /// heading counts for whatever stands below. A heading with nothing below it is quoted itself.
    fn below_heading(&mut self, block: Block, hits: &[Hit]) -> Part {
        let Block { range, heading } = block;
        self.leave_headings(range.start);
        let Some(level) = heading else { return Part { lead: None, block: range } };
        self.above.retain(|above| above.level < level);
        let of_heading = hits.iter().take_while(|hit| (hit.start as usize) < range.end);
        self.above.push(Above { level, terms: of_heading.map(|hit| hit.term).collect() });
        self.looked = range.end;
        match self.layout.block_after(range.end).filter(|next| self.fits(next, hits)) {
            Some(next) => Part { lead: Some(range), block: next.range },
            None => Part { lead: None, block: range },
        }
    }

    /// Whether there is a place at which to cut a block that a heading leads to: it is short, or has a hit itself.
    fn fits(&self, block: &Block, hits: &[Hit]) -> bool {
        let short = self.content.characters(block.range.clone()) <= self.bounds.passage_chars;
        let next = hits.partition_point(|hit| (hit.start as usize) < block.range.start);
        short || hits.get(next).is_some_and(|hit| (hit.start as usize) < block.range.end)
    }

    /// Forgets the headings whose part of the text ends before `at`.
    fn leave_headings(&mut self, at: usize) {
        while !self.above.is_empty() && self.looked < at {
            let Some(found) = memmem::find(&self.content.bytes()[self.looked..at], b"\n#") else {
                break;
            };
            let block = self.layout.block(self.looked + found + 1, 0);
            self.above.retain(|above| block.heading.is_none_or(|level| above.level < level));
            self.looked = block.range.end.max(self.looked + found + 1);
        }
        self.looked = self.looked.max(at);
    }

    fn add(&mut self, window: Range<usize>, hits: &[Hit], lead: Option<&Range<usize>>) {
        let from = hits.partition_point(|hit| (hit.start as usize) < window.start);
        let inside = hits[from..].iter().take_while(|hit| (hit.start as usize) < window.end);
        let inside = inside.filter(|hit| hit.range().end <= window.end);
        let first = self.occurrences.len();
        self.count(first, inside);
        self.count_headings(first);
        if self.occurrences.len() > first && self.demands.are_met(self.content, &window, lead) {
            self.candidates.push(Candidate {
                range: window.start as u32..window.end as u32,
                characters: self.content.characters(window) as u32,
                occurrences: first as u32..self.occurrences.len() as u32,
            });
        } else {
            self.occurrences.truncate(first);
        }
        self.places.fill(0);
    }

    fn count<'h>(&mut self, first: usize, hits: impl Iterator<Item = &'h Hit>) {
        let mut before: Option<Hit> = None;
        for &hit in hits {
            let at = self.place(first, hit.term);
            self.occurrences[at].count = self.occurrences[at].count.saturating_add(1);
            if let Some(before) = before.filter(|before| before.term != hit.term) {
                let near = nearness(before, hit);
                let other = self.place(first, before.term);
                self.occurrences[at].closeness += near;
                self.occurrences[other].closeness += near;
            }
            before = Some(hit);
        }
    }

    fn count_headings(&mut self, first: usize) {
        let above = std::mem::take(&mut self.above);
        for &term in above.iter().flat_map(|above| &above.terms) {
            let at = self.place(first, term);
            self.occurrences[at].in_heading = true;
        }
        self.above = above;
    }

    /// Where the passage at hand, whose occurrences begin at `first`, counts `term`.
    fn place(&mut self, first: usize, term: u16) -> usize {
        let place = &mut self.places[usize::from(term)];
        if *place == 0 {
            self.occurrences.push(Occurrence { term, count: 0, in_heading: false, closeness: 0.0 });
            *place = (self.occurrences.len() - first) as u16;
        }
        first + usize::from(*place) - 1
    }

    fn finish(self, hits: &[Hit]) -> FileMatches {
        let counts = counts(self.content.bytes().len(), hits, self.places.len());
        let all = FileMatches {
            counts,
            candidates: self.candidates.into_boxed_slice(),
            occurrences: self.occurrences.into_boxed_slice(),
        };
        only_winners(all, self.bounds.per_file)
    }
}

/// What two neighbours add to each other's closeness. Six characters count as a word.
fn nearness(before: Hit, hit: Hit) -> f32 {
    let words = 1.0 + hit.start.saturating_sub(before.end) as f32 / 6.0;
    1.0 / (words * words)
}

/// Counts the terms of a whole text.
pub(super) fn counts(bytes: usize, hits: &[Hit], terms: usize) -> Counts {
    let mut counted = vec![0; if hits.is_empty() { 0 } else { terms }];
    hits.iter().for_each(|hit| counted[usize::from(hit.term)] += 1);
    let terms = (0..).zip(counted).filter(|(_, count)| *count > 0).collect();
    Counts { bytes: bytes as u32, terms }
}

/// How many passages of a file are kept at most, and how many occurrences beyond the first few passages.
const KEPT: usize = 24;
const KEPT_OCCURRENCES: usize = 512;

/// Leaves out the passages that cannot win, whatever the words turn out to be worth.
///
/// A passage is out when as many as a file may give have all its terms and are better with all terms worth the same.
/// Of what remains, the best by that measure stay.
fn only_winners(all: FileMatches, per_file: usize) -> FileMatches {
    let mut order: Vec<(f64, &Candidate)> = all
        .candidates
        .iter()
        .map(|candidate| (rank::rough(candidate.characters, all.occurrences(candidate)), candidate))
        .collect();
    order.sort_by(|(a, first), (b, second)| {
        b.total_cmp(a).then(first.range.start.cmp(&second.range.start))
    });
    let mut kept = Kept { per_file, ..Kept::default() };
    for (_, candidate) in order {
        if kept.is_full() {
            break;
        }
        kept.offer(candidate, all.occurrences(candidate));
    }
    FileMatches {
        counts: all.counts,
        candidates: kept.candidates.into(),
        occurrences: kept.occurrences.into(),
    }
}

#[derive(Default)]
struct Kept {
    /// How many passages a file may give.
    per_file: usize,
    candidates: Vec<Candidate>,
    occurrences: Vec<Occurrence>,
    /// The terms of each passage that is kept, as bits. Terms of a long query share them.
    terms: Vec<u64>,
}

impl Kept {
    fn is_full(&self) -> bool {
        let (candidates, occurrences) = (self.candidates.len(), self.occurrences.len());
        candidates >= self.per_file && (candidates >= KEPT || occurrences >= KEPT_OCCURRENCES)
    }

    fn offer(&mut self, candidate: &Candidate, occurrences: &[Occurrence]) {
        let terms =
            occurrences.iter().fold(0, |bits, occurrence| bits | 1_u64 << (occurrence.term % 64));
        let better = self.terms.iter().filter(|&&kept| kept & terms == terms).count();
        if better < self.per_file {
            let first = self.occurrences.len() as u32;
            self.occurrences.extend_from_slice(occurrences);
            let occurrences = first..self.occurrences.len() as u32;
            self.candidates.push(Candidate { occurrences, ..candidate.clone() });
            self.terms.push(terms);
        }
    }
}
