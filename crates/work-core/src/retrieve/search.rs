//! Finds the words of a query in a text.
//!
//! Owns the fast pass over the bytes: where which term stands. Refuses to know passages, scores and what a term
//! means for either. Start at [`Finder::hits`].
//!
//! Words of ASCII letters alone are found by their beginnings: a few rare ones with vectorised patterns, many or
//! frequent ones by looking four letters up at every byte. Whoever begins right is then folded, stemmed and looked
//! up, once for many times. Words with other letters are found by the bytes of these letters, so that a text of ASCII
//! alone is never decoded.

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

    /// Whether all of it is known to be ASCII.
    pub(super) fn is_ascii(self) -> bool {
        self.ascii
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
            seen: vec![(0..0, None); SEEN].into(),
        };
        self.ascii.each(content.bytes, |start| search.take_ascii(start));
        if !content.ascii {
            search.take_others();
        }
        // The others follow in an order of their own: a stable sort merges the two.
        if !content.ascii {
            search.hits.sort();
        }
        search.hits
    }

    /// The term that a word of ASCII letters stands for.
    fn ascii_term(&self, word: &[u8]) -> Option<u16> {
        if !self.ascii.beginnings.begins(word) {
            return None;
        }
        self.term(std::str::from_utf8(&word.to_ascii_lowercase()).unwrap_or_default())
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
const SEEN: usize = 1_024;

struct Search<'a> {
    finder: &'a Finder,
    content: Content<'a>,
    hits: Vec<Hit>,
    seen: Box<[(Range<u32>, Option<u16>)]>,
}

impl Search<'_> {
    /// Looks at the ASCII word that begins at `start`. A word that goes on in other letters is left for later.
    fn take_ascii(&mut self, start: usize) {
        let bytes = self.content.bytes;
        let letters = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
        let word = start..start + letters.count();
        if !self.content.ascii && self.goes_on(&word) {
            return;
        }
        if let Some(term) = self.remembered(&word, Finder::ascii_term) {
            self.push(word, term);
        }
    }

    /// Whether an ASCII word is a part of one with other letters.
    fn goes_on(&self, word: &Range<usize>) -> bool {
        let bytes = self.content.bytes;
        let is_other = |at: Option<usize>| at.is_some_and(|at| bytes.get(at) >= Some(&0x80));
        let goes_on = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && is_spaced(c));
        (is_other(word.start.checked_sub(1)) && goes_on(self.content.before(word.start)))
            || (is_other(Some(word.end)) && goes_on(self.content.after(word.end)))
    }

    /// The term of a word, which is looked up unless it was seen not long ago.
    fn remembered(
        &mut self,
        word: &Range<usize>,
        look_up: impl FnOnce(&Finder, &[u8]) -> Option<u16>,
    ) -> Option<u16> {
        let Content { bytes, .. } = self.content;
        let letters = &bytes[word.clone()];
        let place = &mut self.seen[place_of(letters)];
        if bytes[place.0.start as usize..place.0.end as usize] != *letters {
            *place = (word.start as u32..word.end as u32, look_up(self.finder, letters));
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
        let look_up = |finder: &Finder, _: &[u8]| finder.term(&fold(&text[word.clone()]));
        if let Some(term) = self.remembered(&word, look_up) {
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

/// Where a word is remembered: a cheap mixture of its letters, of which the high bits depend on all.
fn place_of(word: &[u8]) -> usize {
    let mixed = word
        .iter()
        .fold(0_u32, |mixed, &byte| mixed.wrapping_mul(31).wrapping_add(byte.into()))
        .wrapping_mul(0x9E37_79B1);
    (mixed >> 16) as usize % SEEN
}

/// Finds where an ASCII word may begin like a term.
#[derive(Debug)]
struct Ascii {
    beginnings: Beginnings,
    openings: Openings,
    /// Each finds a few beginnings. None if there are too many.
    patterns: Vec<Regex>,
}

/// How many beginnings one pattern finds, and how many of their letters it looks at. The vectorised search tells
/// few literals with little else in between; two passes for two words each beat one for four.
const TOGETHER: usize = 2;
const LETTERS: usize = 4;
/// With more beginnings than this one look at every byte is faster than the passes of the patterns.
const PATTERN_MOST: usize = 8;
/// How many bytes are searched in the same way.
const PIECE: usize = 16_384;
/// Where a pattern stops more often than once in so many bytes, what follows is searched byte by byte.
const SPARSE: usize = 256;

impl Ascii {
    fn new<'f>(forms: impl Iterator<Item = &'f Form>) -> Self {
        let forms = forms.filter(|form| form.text().is_ascii());
        let all = shortest(forms.map(beginning_of).collect());
        let chunks = all.chunks(TOGETHER).filter(|_| all.len() <= PATTERN_MOST);
        let patterns: Option<Vec<Regex>> = chunks.map(pattern).collect();
        Self {
            beginnings: Beginnings::new(&all),
            openings: Openings::new(&all),
            patterns: patterns.unwrap_or_default(),
        }
    }

    /// Calls `take` with the beginning of each such word, in order, and of some others.
    fn each(&self, bytes: &[u8], mut take: impl FnMut(usize)) {
        let mut starts = Vec::new();
        let mut is_dense = false;
        let end = if self.beginnings.is_empty() { 0 } else { bytes.len() };
        for from in (0..end).step_by(PIECE) {
            let piece = from..end.min(from + PIECE);
            let stops = if is_dense || self.patterns.is_empty() {
                self.openings.find(bytes, piece, &mut starts)
            } else {
                self.search(bytes, piece, &mut starts)
            };
            is_dense = stops > PIECE / SPARSE;
            starts.drain(..).for_each(&mut take);
        }
    }

    /// Searches a piece with the patterns and says how often they stopped.
    fn search(&self, bytes: &[u8], piece: Range<usize>, starts: &mut Vec<usize>) -> usize {
        let reach = bytes.len().min(piece.end + LETTERS - 1);
        let mut stops = 0;
        for pattern in &self.patterns {
            let found = pattern.find_iter(&bytes[piece.start..reach]).inspect(|_| stops += 1);
            let found = found.map(|found| piece.start + found.start());
            starts.extend(found.filter(|&at| at < piece.end && begins_word(bytes, at)));
        }
        starts.sort_unstable();
        stops
    }
}

/// Finds where four letters stand at the beginning of a word as they do in a term, by one look at each byte.
///
/// Beginnings are put into groups. For each group five bits tell whether the last bytes disagree with it: as the
/// border of a word, then with one to four letters after it. All groups move on together, by a shift and an or for
/// each byte (Baeza-Yates and Gonnet, *A new approach to text searching*, 1992), however many words they stand for,
/// and nothing here branches. Letters of different words of a group mix: what is found is not yet a beginning.
#[derive(Debug)]
struct Openings {
    /// What a byte stops: for each step, from the lowest bits up, a bit for each group.
    stops: [u64; 256],
}

/// Five steps of so many bits fill a word but for its lowest bits.
const GROUPS: usize = 12;
const LOWEST: usize = 64 - GROUPS * (LETTERS + 1);
/// The last step with all groups stopped.
const NONE_LEFT: u64 = u64::MAX << (64 - GROUPS);
/// How many bytes are looked at before anything is done about them.
const STRETCH: usize = 256;

impl Openings {
    fn new(beginnings: &[&str]) -> Self {
        let mut openings = Self { stops: [u64::MAX << LOWEST; 256] };
        let borders = (0..=u8::MAX).filter(|byte| !byte.is_ascii_alphanumeric());
        borders.for_each(|byte| openings.stops[usize::from(byte)] <<= GROUPS);
        for (n, beginning) in beginnings.iter().enumerate() {
            let group = n * GROUPS / beginnings.len();
            openings.add(beginning.as_bytes(), group);
        }
        openings
    }

    fn add(&mut self, beginning: &[u8], group: usize) {
        for n in 0..LETTERS {
            let bit = 1 << (LOWEST + (n + 1) * GROUPS + group);
            match beginning.get(n) {
                Some(&byte) => {
                    self.stops[usize::from(byte.to_ascii_lowercase())] &= !bit;
                    self.stops[usize::from(byte.to_ascii_uppercase())] &= !bit;
                }
                None => self.stops.iter_mut().for_each(|stops| *stops &= !bit),
            }
        }
    }

    /// Adds the places in a piece to `starts` and says how many there are.
    fn find(&self, bytes: &[u8], piece: Range<usize>, starts: &mut Vec<usize>) -> usize {
        let before = piece.start.checked_sub(1).map_or(0, |before| bytes[before]);
        let mut state = self.step(u64::MAX << LOWEST, before);
        let reach = bytes.len().min(piece.end + LETTERS - 1);
        for from in (piece.start..reach).step_by(STRETCH) {
            let stretch = &bytes[from..reach.min(from + STRETCH)];
            state = self.find_in(state, stretch, from, starts);
        }
        let nothing = &[0; LETTERS][..piece.end + LETTERS - 1 - reach];
        self.find_in(state, nothing, reach, starts);
        starts.len()
    }

    fn step(&self, state: u64, byte: u8) -> u64 {
        state << GROUPS | self.stops[usize::from(byte)]
    }

    /// Looks at a stretch that begins at `from`, and says where its last bytes disagree.
    fn find_in(&self, mut state: u64, stretch: &[u8], from: usize, starts: &mut Vec<usize>) -> u64 {
        let mut ends = [0_u8; STRETCH];
        let (mut at, mut count) = (0_u8, 0_u8);
        for &byte in stretch {
            state = self.step(state, byte);
            ends[usize::from(count)] = at;
            count = count.wrapping_add(u8::from(state < NONE_LEFT));
            at = at.wrapping_add(1);
        }
        let ends = ends[..usize::from(count)].iter();
        starts.extend(ends.map(|&end| from + usize::from(end) + 1 - LETTERS));
        state
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `each` stops at, compared with a look at every place.
    #[track_caller]
    fn check(words: &[String], text: &str) {
        let forms: Vec<Form> = words.iter().cloned().map(Form::Stem).collect();
        let (ascii, bytes) = (Ascii::new(forms.iter()), text.as_bytes());
        let mut stops = Vec::new();
        ascii.each(bytes, |start| stops.push(start));
        assert!(stops.is_sorted_by(|before, after| before < after), "a word is looked at twice");
        assert!(stops.iter().all(|&start| begins_word(bytes, start)));
        let begins = |start: &usize| ascii.beginnings.begins(&bytes[*start..]);
        let found: Vec<usize> = stops.into_iter().filter(begins).collect();
        let places = (0..bytes.len()).filter(|&at| begins_word(bytes, at));
        assert_eq!(found, places.filter(begins).collect::<Vec<usize>>());
    }

    fn words(count: usize) -> Vec<String> {
        let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
        (0..count).map(|n| [n, n / 5, n / 11, n / 3].map(letter).iter().collect()).collect()
    }

    // spec: Q1
    #[test]
    fn each_word_is_looked_at_once_however_many_match_or_are_searched_for() {
        let dense = words(60).join(" ").repeat(200);
        let rare = format!("{}{dense}{}", "zz, ".repeat(PIECE), "-zz".repeat(PIECE));
        for count in [1, 2, 3, 8, 9, 60, 700] {
            check(&words(count), &dense);
            check(&words(count), &rare);
        }
    }

    // spec: Q1
    #[test]
    fn a_word_across_the_edge_of_a_piece_is_found() {
        for length in PIECE - 6..PIECE + 3 {
            for text in ["lamp", "Lamps lamp", "xlamp lam", "ox"] {
                let text = format!("{} {text}", "-".repeat(length));
                check(&["lamp".to_owned(), "ox".to_owned()], &text);
                check(&[words(30), vec!["lamp".to_owned(), "o".to_owned()]].concat(), &text);
            }
        }
    }
}
