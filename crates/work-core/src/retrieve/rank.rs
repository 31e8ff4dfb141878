//! What a passage is worth, and which passages make the report.
//!
//! Owns the formula and the order. Refuses to know texts: it sees counts alone. Start at [`pick`].
//!
//! The formula is BM25 (Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, *Okapi at TREC-3*, 1994) with its
//! usual constants. A passage is judged by itself and by its file, whose scores are added (Callan, *Passage-level
//! evidence in document retrieval*, 1994); a further passage of the same file has to do without the file's share,
//! since that was spent on the first. Words near each other add to it as in Büttcher, Clarke and Lushman, *Term
//! proximity scoring for ad-hoc retrieval on very large text collections*, 2006. A word in a heading counts as
//! further occurrences, as in Robertson, Zaragoza and Taylor, *Simple BM25 extension to multiple weighted fields*,
//! 2004.

use std::sync::Arc;

use super::passage::{Candidate, Counts, FileMatches, Occurrence};
use super::query::{Role, Term};
use super::{Bounds, Examined, PassageKey, Pick};

/// How soon further occurrences of a word stop to matter.
const K1: f64 = 1.2;
/// How much a long text is held against its counts.
const B: f64 = 0.75;
/// The length in characters of a passage that is neither long nor short.
const USUAL_PASSAGE: f64 = 600.0;
/// As how many occurrences a word in a heading counts.
const HEADING: f64 = 1.0;
/// How much better a second passage of a file must be than the first of another.
const TWICE: f64 = 2.0;

/// What the files read say about the words of a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statistics {
    /// What finding each term is worth.
    weights: Vec<f64>,
    /// The mean length of a file in bytes.
    usual_file: f64,
}

impl Statistics {
    fn of(terms: &[Term], files: &[Examined]) -> Self {
        let counts: Vec<&Counts> = files.iter().filter_map(Examined::counts).collect();
        let mut files_with = vec![0_u32; terms.len()];
        counts
            .iter()
            .flat_map(|counts| &counts.terms)
            .for_each(|&(term, _)| files_with[usize::from(term)] += 1);
        let bytes: u64 = counts.iter().map(|counts| u64::from(counts.bytes)).sum();
        let weight = |(term, with): (&Term, u32)| {
            rarity(counts.len() as f64, with.into()) * asked(term.role)
        };
        Self {
            weights: terms.iter().zip(files_with).map(weight).collect(),
            usual_file: (bytes as f64 / counts.len().max(1) as f64).max(1.0),
        }
    }

    /// What a passage is worth by itself.
    fn of_passage(&self, file: &FileMatches, candidate: &Candidate) -> f64 {
        let weight = |term: u16| self.weights[usize::from(term)];
        of_passage(candidate.characters, file.occurrences(candidate), weight)
    }

    /// What a whole file is worth.
    fn of_file(&self, counts: &Counts) -> f64 {
        let length = f64::from(counts.bytes) / self.usual_file;
        let terms = counts.terms.iter();
        terms
            .map(|&(term, count)| self.weights[usize::from(term)] * saturated(count.into(), length))
            .sum()
    }
}

/// How telling a term is that `with` of `files` files have.
fn rarity(files: f64, with: f64) -> f64 {
    (1.0 + (files - with + 0.5) / (with + 0.5)).ln()
}

fn asked(role: Role) -> f64 {
    match role {
        Role::Wanted(times) => times.into(),
        Role::Excluded => 0.0,
    }
}

/// What `count` occurrences are worth in a text of `length` times the usual length.
fn saturated(count: f64, length: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

fn of_passage(characters: u32, occurrences: &[Occurrence], weight: impl Fn(u16) -> f64) -> f64 {
    let length = f64::from(characters) / USUAL_PASSAGE;
    let worth = |occurrence: &Occurrence| {
        let heading = if occurrence.in_heading { HEADING } else { 0.0 };
        let counted = saturated(f64::from(occurrence.count) + heading, length);
        weight(occurrence.term) * (counted + saturated(occurrence.closeness.into(), length))
    };
    occurrences.iter().map(worth).sum()
}

/// What a passage is worth while nobody knows how rare its words are.
pub(super) fn rough(characters: u32, occurrences: &[Occurrence]) -> f64 {
    of_passage(characters, occurrences, |_| 1.0)
}

/// The passages of a file, best first, at most `most`, each with what it is worth by itself.
pub(super) fn best<'f>(
    statistics: &Statistics,
    file: &'f FileMatches,
    most: usize,
) -> Vec<(f64, &'f Candidate)> {
    let worth = |candidate| (statistics.of_passage(file, candidate), candidate);
    let mut best: Vec<(f64, &Candidate)> = file.candidates.iter().map(worth).collect();
    best.sort_by(|(a, first), (b, second)| {
        b.total_cmp(a).then(first.range.start.cmp(&second.range.start))
    });
    best.truncate(most);
    best
}

/// The passages for a report, best first.
pub(super) fn pick(terms: &[Term], bounds: &Bounds, files: &[Examined]) -> Vec<Pick> {
    let statistics = Arc::new(Statistics::of(terms, files));
    let (mut firsts, mut others) = (Vec::new(), Vec::new());
    for (file, found) in matching(files) {
        let mut picks = picks_of(&statistics, file, found, bounds.per_file);
        if let Some(mut first) = picks.next() {
            first.score += statistics.of_file(&found.counts);
            firsts.push(first);
        }
        others.extend(picks);
    }
    merged(in_order(firsts), in_order(others), bounds.passages)
}

fn matching(files: &[Examined]) -> impl Iterator<Item = (usize, &FileMatches)> {
    files.iter().enumerate().filter_map(|(file, examined)| Some((file, examined.matches()?)))
}

fn picks_of<'f>(
    statistics: &'f Arc<Statistics>,
    file: usize,
    found: &'f FileMatches,
    most: usize,
) -> impl Iterator<Item = Pick> + 'f {
    best(statistics, found, most).into_iter().map(move |(score, candidate)| {
        let (range, statistics) = (candidate.range.clone(), Arc::clone(statistics));
        Pick { file, score, key: PassageKey { range, statistics } }
    })
}

fn in_order(mut picks: Vec<Pick>) -> Vec<Pick> {
    picks.sort_by(|a, b| {
        let place = |pick: &Pick| (pick.file, pick.key.range.start);
        b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
    });
    picks
}

/// First passages come first, unless a further passage of a file already there is worth twice as much.
fn merged(firsts: Vec<Pick>, others: Vec<Pick>, most: usize) -> Vec<Pick> {
    let mut taken: Vec<Pick> = Vec::with_capacity(most);
    let (mut firsts, mut others) = (firsts.into_iter().peekable(), others);
    while taken.len() < most {
        let other =
            others.iter().position(|other| taken.iter().any(|pick| pick.file == other.file));
        let is_worth_it =
            |at: &usize| firsts.peek().is_none_or(|first| others[*at].score >= TWICE * first.score);
        match other.filter(is_worth_it) {
            Some(at) => taken.push(others.remove(at)),
            None => match firsts.next() {
                Some(first) => taken.push(first),
                None => break,
            },
        }
    }
    taken
}
