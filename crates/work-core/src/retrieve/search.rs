//! Finds the words of a query in a text.
//!
//! Owns the fast pass over the bytes: where which term stands. Refuses to know passages, scores and what a term
//! means for either. Start at [`Finder::hits`].
//!
//! Words of ASCII letters alone are found by their beginnings: a few with one vectorised pattern, many by walking
//! from word to word. Whoever begins right is then folded, stemmed and looked up. Words with other letters are found
//! by the bytes of these letters, so that a text of ASCII alone is never decoded.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use unicode_normalization::UnicodeNormalization;

use super::common::is_common;
use super::fold::{fold, fold_into, is_spaced};
use super::query::{Form, Term};
use super::stem::{beginning, stem};
use super::words::{Word, characters, word_at};

/// A text as bytes that are known to be UTF-8.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    bytes: &'a [u8],
    ascii: bool,
}

impl<'a> Content<'a> {
    /// Bytes as text, if each of them is an ASCII character other than NUL.
    pub(super) fn plain(bytes: &'a [u8]) -> Option<Self> {
        let is_plain =
            |block: &[u8]| block.iter().fold(0, |most, byte| byte.wrapping_sub(1).max(most)) < 0x7F;
        bytes.chunks(4_096).all(is_plain).then_some(Self { bytes, ascii: true })
    }

    /// Any text.
    pub(super) fn of(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), ascii: false }
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The text of a range that begins and ends between characters.
    pub(super) fn text(self, range: Range<usize>) -> &'a str {
        std::str::from_utf8(&self.bytes[range]).unwrap_or_default()
    }

    /// How many characters a range holds.
    pub(super) fn characters(self, range: Range<usize>) -> usize {
        if self.ascii {
            range.len()
        } else {
            self.bytes[range].iter().filter(|&&byte| !is_inside(byte)).count()
        }
    }

    fn after(self, at: usize) -> Option<char> {
        let end = (at + 4).min(self.bytes.len());
        first_char(&self.bytes[at..end])
    }

    fn before(self, at: usize) -> Option<char> {
        let start =
            (at.saturating_sub(4)..at).rev().find(|&start| !is_inside(self.bytes[start]))?;
        first_char(&self.bytes[start..at])
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    bytes.utf8_chunks().next()?.valid().chars().next()
}

/// Whether `byte` continues a character of UTF-8.
fn is_inside(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Where a term stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// Its first byte.
    pub(super) start: u32,
    /// The byte after its last.
    pub(super) end: u32,
    /// The number of the term in the query.
    pub(super) term: u16,
}

impl Hit {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Knows the terms of one query. Shared by all threads.
#[derive(Debug)]
pub(super) struct Finder {
    terms: BTreeMap<Form, u16>,
    ascii: Ascii,
    firsts: Vec<char>,
    may_begin: OnceLock<Vec<u64>>,
    has_single: bool,
    has_pairs: bool,
}

impl Finder {
    pub(super) fn new(terms: &[Term]) -> Self {
        let forms = terms.iter().map(|term| &term.form);
        let numbered: BTreeMap<Form, u16> = forms.clone().cloned().zip(0..).collect();
        let mut firsts: Vec<char> = forms.clone().flat_map(|form| firsts_of(form.text())).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let is_single = |form: &Form| {
            is_pair(form) && characters(form.text(), 0..form.text().len()).count() == 1
        };
        Self {
            has_single: forms.clone().any(is_single),
            has_pairs: forms.clone().any(|form| is_pair(form) && !is_single(form)),
            ascii: Ascii::new(forms),
            terms: numbered,
            firsts,
            may_begin: OnceLock::new(),
        }
    }

    /// Every place where a term stands, in order.
    pub(super) fn hits(&self, content: Content<'_>) -> Vec<Hit> {
        let mut search = Search {
            finder: self,
            content,
            hits: Vec::new(),
            seen: [const { (0..0, None) }; SEEN],
        };
        self.ascii.each(content.bytes, |start| search.take_ascii(start));
        if !content.ascii {
            search.take_others();
        }
        if !(content.ascii && self.ascii.is_ordered()) {
            search.hits.sort_unstable();
        }
        search.hits
    }

    /// The term that a folded word stands for.
    fn term(&self, folded: &str) -> Option<u16> {
        let form = if is_common(folded) {
            Form::Exact(folded.to_owned())
        } else {
            Form::Stem(stem(folded).into_owned())
        };
        self.terms.get(&form).copied()
    }

    /// Whether a folded word that begins with `c` can be a term. Asked for every word that is not ASCII.
    fn may_begin(&self, c: char) -> bool {
        let table = self.may_begin.get_or_init(|| self.beginnings());
        table.get(c as usize / 64).is_none_or(|bits| bits >> (c as usize % 64) & 1 == 1)
    }

    fn beginnings(&self) -> Vec<u64> {
        let mut table = vec![0; 0x1_0000 / 64];
        let mut folded = String::new();
        for c in ('\0'..='\u{FFFF}').filter(|&c| !is_own_form(c)) {
            folded.clear();
            fold_into(c.encode_utf8(&mut [0; 4]), &mut folded);
            let begins =
                folded.chars().next().is_none_or(|first| self.firsts.binary_search(&first).is_ok());
            table[c as usize / 64] |= u64::from(begins) << (c as usize % 64);
        }
        for first in
            self.firsts.iter().map(|&first| first as usize).filter(|&first| first < 0x1_0000)
        {
            table[first / 64] |= 1 << (first % 64);
        }
        table
    }
}

/// The character that `folded` begins with, whole and without what is attached to it.
fn firsts_of(folded: &str) -> impl Iterator<Item = char> {
    folded.chars().take(1).chain(folded.nfd().take(1))
}

/// Whether `c` is one of the many Han and Hangul characters that fold to themselves.
fn is_own_form(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A000}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7A3}')
}

fn is_pair(form: &Form) -> bool {
    match form {
        Form::Pair(_) => true,
        Form::Stem(_) | Form::Exact(_) => false,
    }
}

/// How many words of a text are remembered, so that a frequent one is not stemmed each time.
const SEEN: usize = 128;

struct Search<'a> {
    finder: &'a Finder,
    content: Content<'a>,
    hits: Vec<Hit>,
    seen: [(Range<usize>, Option<u16>); SEEN],
}

impl Search<'_> {
    /// Looks at the ASCII word that begins at `start`. A word that goes on in other letters is left for later.
    fn take_ascii(&mut self, start: usize) {
        let bytes = self.content.bytes;
        let length = bytes[start..].iter().position(|byte| !byte.is_ascii_alphanumeric());
        let word = start..length.map_or(bytes.len(), |length| start + length);
        let goes_on = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && is_spaced(c));
        if !self.content.ascii
            && (goes_on(self.content.before(start)) || goes_on(self.content.after(word.end)))
        {
            return;
        }
        if let Some(term) = self.remembered(&word) {
            self.push(word, term);
        }
    }

    fn remembered(&mut self, word: &Range<usize>) -> Option<u16> {
        let bytes = self.content.bytes;
        let place = &mut self.seen[place_of(&bytes[word.clone()])];
        if bytes[place.0.clone()] != bytes[word.clone()] {
            let folded = bytes[word.clone()].to_ascii_lowercase();
            *place =
                (word.clone(), self.finder.term(std::str::from_utf8(&folded).unwrap_or_default()));
        }
        place.1
    }

    /// Looks at the words that hold a letter other than ASCII.
    fn take_others(&mut self) {
        let text = self.content.text(0..self.content.bytes.len());
        let mut from = 0;
        while let Some(at) = next_other(text.as_bytes(), from) {
            let ascii_before = text.as_bytes()[from..at]
                .iter()
                .rev()
                .take_while(|b| b.is_ascii_alphanumeric())
                .count();
            from = match word_at(text, at) {
                Some(Word::Paired(run)) => self.take_run(text, run),
                Some(Word::Spaced(word)) => self.take_spaced(text, at - ascii_before..word.end),
                None => at + text[at..].chars().next().map_or(1, char::len_utf8),
            };
        }
    }

    fn take_spaced(&mut self, text: &str, word: Range<usize>) -> usize {
        let end = word.end;
        let first = text[word.clone()].chars().next();
        if !first.is_some_and(|first| self.finder.may_begin(first)) {
            return end;
        }
        if let Some(term) = self.finder.term(&fold(&text[word.clone()])) {
            self.push(word, term);
        }
        end
    }

    fn take_run(&mut self, text: &str, run: Range<usize>) -> usize {
        let end = run.end;
        if self.finder.has_single || self.finder.has_pairs {
            let mut from = run.start;
            while let Some(skipped) = text[from..end].find(|c| self.finder.may_begin(c)) {
                from = self.take_pair(text, from + skipped, end);
            }
        }
        end
    }

    /// Looks at the character at `at`, alone and with the one after it, and says where to go on.
    fn take_pair(&mut self, text: &str, at: usize, end: usize) -> usize {
        let mut following = characters(text, at..end);
        let first = following.next().unwrap_or(at..end);
        let pair = following.next().map(|second| at..second.end);
        if self.finder.has_single {
            self.take_form(text, first.clone());
        }
        if let Some(pair) = pair.filter(|_| self.finder.has_pairs) {
            self.take_form(text, pair);
        }
        first.end
    }

    fn take_form(&mut self, text: &str, range: Range<usize>) {
        if let Some(&term) = self.finder.terms.get(&Form::Pair(fold(&text[range.clone()]))) {
            self.push(range, term);
        }
    }

    fn push(&mut self, range: Range<usize>, term: u16) {
        self.hits.push(Hit { start: range.start as u32, end: range.end as u32, term });
    }
}

/// The first byte from `from` on that is not ASCII, looking at whole blocks while nothing is there.
fn next_other(bytes: &[u8], from: usize) -> Option<usize> {
    let blocks = bytes[from..].chunks(64).take_while(|block| block.is_ascii()).count();
    let start = from + 64 * blocks;
    let other = bytes.get(start..)?.iter().position(|byte| !byte.is_ascii())?;
    Some(start + other)
}

/// Where a word is remembered: a cheap mixture of its length and letters.
fn place_of(word: &[u8]) -> usize {
    word.iter().fold(word.len(), |mixed, &byte| mixed.wrapping_mul(31).wrapping_add(byte.into()))
        % SEEN
}

/// Finds where an ASCII word begins like a term.
#[derive(Debug)]
struct Ascii {
    beginnings: Beginnings,
    /// Each finds a few beginnings. None if there are too many.
    patterns: Vec<Regex>,
}

/// How many beginnings one pattern finds, and how many of their letters it looks at. The vectorised search tells
/// few literals with little else in between; two passes for two words each beat one for four, and ten words take a
/// third of the time that one pattern for all of them takes.
const TOGETHER: usize = 2;
const LETTERS: usize = 4;
/// With more beginnings than this a walk from word to word is faster.
const PATTERN_MOST: usize = 24;

impl Ascii {
    fn new<'f>(forms: impl Iterator<Item = &'f Form>) -> Self {
        let forms = forms.filter(|form| form.text().is_ascii());
        let all = shortest(forms.map(beginning_of).collect());
        let chunks = all.chunks(TOGETHER).filter(|_| all.len() <= PATTERN_MOST);
        let patterns: Option<Vec<Regex>> = chunks.map(pattern).collect();
        Self { beginnings: Beginnings::new(&all), patterns: patterns.unwrap_or_default() }
    }

    /// Calls `take` with the beginning of each such word, in order within a pattern.
    fn each(&self, bytes: &[u8], mut take: impl FnMut(usize)) {
        for pattern in &self.patterns {
            let starts = pattern.find_iter(bytes).map(|found| found.start());
            let starts = starts.filter(|&start| begins_word(bytes, start));
            starts.filter(|&start| self.beginnings.begins(&bytes[start..])).for_each(&mut take);
        }
        if self.patterns.is_empty() && !self.beginnings.is_empty() {
            self.beginnings.each(bytes, &mut take);
        }
    }

    /// Whether `each` keeps the order of the text.
    fn is_ordered(&self) -> bool {
        self.patterns.len() < 2
    }
}

fn beginning_of(form: &Form) -> &str {
    match form {
        Form::Stem(stem) => beginning(stem),
        Form::Exact(word) | Form::Pair(word) => word,
    }
}

/// Leaves out whatever begins with another of the beginnings.
fn shortest(mut beginnings: Vec<&str>) -> Vec<&str> {
    beginnings.sort_unstable();
    beginnings.dedup_by(|longer, shorter| longer.starts_with(*shorter));
    beginnings
}

/// The beginnings are letters and digits, so nothing in them needs escaping.
fn pattern(beginnings: &[&str]) -> Option<Regex> {
    let starts: Vec<&str> =
        beginnings.iter().map(|start| &start[..start.len().min(LETTERS)]).collect();
    RegexBuilder::new(&starts.join("|")).case_insensitive(true).unicode(false).build().ok()
}

fn begins_word(bytes: &[u8], start: usize) -> bool {
    start == 0 || !bytes[start - 1].is_ascii_alphanumeric()
}

/// Beginnings in lists by their first two letters, five bits of each, which do away with case.
#[derive(Debug)]
struct Beginnings {
    lists: Vec<Vec<Vec<u8>>>,
    used: [u64; 16],
}

impl Beginnings {
    fn new(beginnings: &[&str]) -> Self {
        let mut lists = Self { lists: vec![Vec::new(); 1_024], used: [0; 16] };
        for beginning in beginnings.iter().map(|beginning| beginning.as_bytes()) {
            match *beginning {
                [] => {}
                [only] => (0..32).for_each(|second| lists.add(slot(only, second), beginning)),
                [first, second, ..] => lists.add(slot(first, second), beginning),
            }
        }
        lists
    }

    fn is_empty(&self) -> bool {
        self.used == [0; 16]
    }

    fn add(&mut self, slot: usize, beginning: &[u8]) {
        self.used[slot / 64] |= 1 << (slot % 64);
        self.lists[slot].push(beginning.to_vec());
    }

    fn each(&self, bytes: &[u8], take: &mut impl FnMut(usize)) {
        let mut inside = false;
        for (at, &byte) in bytes.iter().enumerate() {
            let is_letter = byte.is_ascii_alphanumeric();
            if is_letter && !inside && self.begins(&bytes[at..]) {
                take(at);
            }
            inside = is_letter;
        }
    }

    fn begins(&self, rest: &[u8]) -> bool {
        let slot = slot(rest[0], rest.get(1).copied().unwrap_or(0));
        let begins = |beginning: &Vec<u8>| {
            rest.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
        };
        self.used[slot / 64] >> (slot % 64) & 1 == 1 && self.lists[slot].iter().any(begins)
    }
}

fn slot(first: u8, second: u8) -> usize {
    usize::from(first & 31) << 5 | usize::from(second & 31)
}
