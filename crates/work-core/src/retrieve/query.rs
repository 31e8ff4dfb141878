//! What somebody searches for.
//!
//! Owns the language of queries: words, `"phrases"`, `-exclusions`, and which words search for nothing. Refuses
//! to know files and scores. Start at [`Query::parse`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::plant::{Fault, is_planted};
use thiserror::Error;

use super::common::{is_common, is_contraction};
use super::fold::{fold, is_word};
use super::stem::stem;
use super::words::{Word, even, pairs, words};

/// The longest query in characters.
pub const QUERY_CHARS: usize = crate::limits::Limits::standard().query_characters;

/// Why a query cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidQuery {
    /// Nothing is left after trimming.
    #[error("the query is empty")]
    Empty,
    /// It is longer than a query may be.
    #[error("the query has {characters} characters, at most {most} are searched for")]
    TooLong {
        /// Its characters after trimming.
        characters: usize,
        /// The ceiling.
        most: usize,
    },
    /// Something stands there, and none of it can be searched for.
    #[error("nothing to search for: {0}")]
    NothingToSearch(LeftOut),
}

/// What a query holds that searches for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LeftOut {
    /// No letter and no digit.
    #[error("only punctuation")]
    Punctuation,
    /// Function words, which match only inside a quoted phrase. At most eight are told.
    #[error("only common words ({})", .0.join(", "))]
    CommonWords(Vec<String>),
    /// What must not appear, with nothing that should.
    #[error("only exclusions")]
    Exclusions,
}

/// A parsed query.
///
/// ```
/// # use work_core::retrieve::Query;
/// let query = Query::parse(r#"  backups "off site" -tape "#)?;
/// assert_eq!(query.as_str(), r#"backups "off site" -tape"#);
/// assert!(Query::parse("what is the").is_err());
/// # Ok::<(), work_core::retrieve::InvalidQuery>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    text: String,
    pub(super) terms: Vec<Term>,
    pub(super) required: Vec<String>,
    pub(super) forbidden: Vec<String>,
}

/// A word of a query, or a pair of characters that stands for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// What the folded words of a text are compared with.
    pub(super) form: Form,
    /// What a passage with this term is worth.
    pub(super) role: Role,
}

/// How a word of a text is compared with a term.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Form {
    /// By its stem.
    Stem(String),
    /// As it is, for function words, which have no stem worth comparing.
    Exact(String),
    /// As two characters, or one, within a run of Han, Kana or Thai.
    Pair(String),
}

/// What finding a term means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It was asked for this many times.
    Wanted(u32),
    /// It must not appear.
    Excluded,
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`InvalidQuery`] says what is wrong with it.
    pub fn parse(query: &str) -> Result<Self, InvalidQuery> {
        let text = query.trim();
        match text.chars().count() {
            0 => return Err(InvalidQuery::Empty),
            characters if characters > QUERY_CHARS => {
                return Err(InvalidQuery::TooLong { characters, most: QUERY_CHARS });
            }
            _ => {}
        }
        let most = if is_planted(Fault::QueryPanic) { QUERY_CHARS } else { text.len() };
        let text = &text[..text.len().min(most)];
        let mut parsed = Parsed::default();
        clauses(text).for_each(|clause| parsed.take(clause));
        parsed.finish(text)
    }

    /// The query as it was asked, without white space around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A piece of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause<'a> {
    Loose(&'a str),
    Phrase(&'a str),
    Without(&'a str),
}

/// Splits a query at its white space and quotes. An unclosed quote ends with the query.
fn clauses(text: &str) -> impl Iterator<Item = Clause<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let without =
            rest.strip_prefix('-').filter(|named| named.starts_with(|c| c == '"' || is_word(c)));
        let body = without.unwrap_or(rest);
        let (piece, quoted, after) = match body.strip_prefix('"') {
            Some(open) => quoted(open),
            None => loose(body),
        };
        rest = after;
        let clause = match (without, quoted) {
            (Some(_), _) => Clause::Without(piece),
            (None, true) => Clause::Phrase(piece),
            (None, false) => Clause::Loose(piece),
        };
        (!body.is_empty()).then_some(clause)
    })
}

fn quoted(open: &str) -> (&str, bool, &str) {
    let (phrase, after) = open.split_once('"').unwrap_or((open, ""));
    (phrase, true, after)
}

fn loose(body: &str) -> (&str, bool, &str) {
    let end = body.find(|c: char| c == '"' || c.is_whitespace()).unwrap_or(body.len());
    (&body[..end], false, &body[end..])
}

#[derive(Default)]
struct Parsed {
    terms: Vec<Term>,
    known: BTreeMap<Form, usize>,
    required: Vec<String>,
    forbidden: Vec<String>,
    common: Vec<String>,
}

impl Parsed {
    fn take(&mut self, clause: Clause<'_>) {
        match clause {
            Clause::Loose(piece) => {
                for form in self.telling_forms(piece) {
                    self.add(form, Role::Wanted(1));
                }
            }
            Clause::Phrase(piece) => self.require(piece),
            Clause::Without(piece) => self.forbid(piece),
        }
    }

    /// A phrase is found by its telling words. One made of function words is found by the longest of them.
    fn require(&mut self, piece: &str) {
        let mut forms = self.telling_forms(piece);
        if forms.is_empty() {
            forms.extend(forms_of(piece).into_iter().rev().max_by_key(|form| form.text().len()));
        }
        if !forms.is_empty() {
            self.required.push(even(piece));
        }
        forms.into_iter().for_each(|form| self.add(form, Role::Wanted(1)));
    }

    /// One word is excluded by its stem, several are as a phrase.
    fn forbid(&mut self, piece: &str) {
        match &*forms_of(piece) {
            [] => {}
            [form] if words(piece).count() == 1 => self.add(form.clone(), Role::Excluded),
            _ => self.forbidden.push(even(piece)),
        }
    }

    /// The forms of `piece` that may match alone. The others are noted.
    fn telling_forms(&mut self, piece: &str) -> Vec<Form> {
        let forms = forms_of(piece);
        let (telling, common): (Vec<Form>, Vec<Form>) =
            forms.into_iter().partition(|form| match form {
                Form::Stem(_) | Form::Pair(_) => true,
                Form::Exact(_) => false,
            });
        self.common.extend(common.iter().map(|form| form.text().to_owned()));
        telling
    }

    fn add(&mut self, form: Form, role: Role) {
        match self.known.entry(form) {
            Entry::Vacant(free) => {
                self.terms.push(Term { form: free.key().clone(), role });
                free.insert(self.terms.len() - 1);
            }
            Entry::Occupied(taken) => {
                let term = &mut self.terms[*taken.get()];
                term.role = term.role.and(role);
            }
        }
    }

    fn finish(self, text: &str) -> Result<Query, InvalidQuery> {
        if self.terms.iter().any(|term| term.role != Role::Excluded) {
            let Self { terms, required, forbidden, .. } = self;
            return Ok(Query { text: text.to_owned(), terms, required, forbidden });
        }
        Err(InvalidQuery::NothingToSearch(self.left_out()))
    }

    fn left_out(mut self) -> LeftOut {
        self.common.truncate(8);
        if !self.common.is_empty() {
            LeftOut::CommonWords(self.common)
        } else if !self.terms.is_empty() || !self.forbidden.is_empty() {
            LeftOut::Exclusions
        } else {
            LeftOut::Punctuation
        }
    }
}

impl Role {
    /// What a term means that stands in a query twice. An exclusion wins.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Wanted(a), Self::Wanted(b)) => Self::Wanted(a + b),
            (Self::Excluded, Self::Wanted(_) | Self::Excluded)
            | (Self::Wanted(_), Self::Excluded) => Self::Excluded,
        }
    }
}

impl Form {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Stem(text) | Self::Exact(text) | Self::Pair(text) => text,
        }
    }
}

fn forms_of(piece: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for word in words(piece) {
        match word {
            Word::Spaced(range) => {
                let contracted =
                    piece[..range.start].ends_with(['\'', '\u{2019}']) && range.start > 1;
                forms.push(form_of(&fold(&piece[range]), contracted));
            }
            Word::Paired(run) => {
                forms.extend(
                    pairs(piece, run).into_iter().map(|pair| Form::Pair(fold(&piece[pair]))),
                );
            }
        }
    }
    forms.retain(|form| !form.text().is_empty());
    forms
}

fn form_of(folded: &str, contracted: bool) -> Form {
    if is_common(folded) || (contracted && is_contraction(folded)) {
        Form::Exact(folded.to_owned())
    } else {
        Form::Stem(stem(folded).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(
        query: &str,
        wanted: &[&str],
        excluded: &[&str],
        required: &[&str],
        forbidden: &[&str],
    ) {
        let query = Query::parse(query).unwrap();
        let of = |keep: fn(&Role) -> bool| -> Vec<&str> {
            query
                .terms
                .iter()
                .filter(|term| keep(&term.role))
                .map(|term| term.form.text())
                .collect()
        };
        assert_eq!(of(|role| *role != Role::Excluded), wanted, "wanted of {query:?}");
        assert_eq!(of(|role| *role == Role::Excluded), excluded, "excluded of {query:?}");
        assert_eq!(query.required, required, "required of {query:?}");
        assert_eq!(query.forbidden, forbidden, "forbidden of {query:?}");
    }

    #[track_caller]
    fn check_refused(query: &str, expected: LeftOut) {
        assert_eq!(Query::parse(query), Err(InvalidQuery::NothingToSearch(expected)), "{query}");
    }

    // spec: Q1
    #[test]
    fn any_word_may_match_by_its_stem() {
        check("Keeping Cafés", &["keep", "cafe"], &[], &[], &[]);
        check("max_size", &["max", "size"], &[], &[], &[]);
    }

    // spec: Q1
    #[test]
    fn function_words_never_match_alone() {
        check("what is the retention of logs", &["retent", "log"], &[], &[], &[]);
        check("don't the dog's bone", &["don", "dog", "bone"], &[], &[], &[]);
    }

    // spec: Q1
    #[test]
    fn a_phrase_is_required_and_its_words_are_searched() {
        check(
            "\"State of  the Art\" lamp",
            &["state", "art", "lamp"],
            &[],
            &["state of the art"],
            &[],
        );
        check("a\"b c\"d", &["b", "c", "d"], &[], &["b c"], &[]);
    }

    // spec: Q1
    #[test]
    fn a_phrase_of_function_words_is_something_to_search() {
        check("\"to be or not to be\"", &["not"], &[], &["to be or not to be"], &[]);
    }

    // spec: Q1
    #[test]
    fn an_unclosed_quote_ends_with_the_query() {
        check("lamp \"oil and wick", &["lamp", "oil", "wick"], &[], &["oil and wick"], &[]);
        check("lamp -\"oil wick", &["lamp"], &[], &[], &["oil wick"]);
    }

    // spec: Q1
    #[test]
    fn a_minus_excludes_a_word_or_a_phrase() {
        check(
            "lamp -oils -\"of wicks\" -e-mail",
            &["lamp"],
            &["oil"],
            &[],
            &["of wicks", "e-mail"],
        );
        check("lamp -the", &["lamp"], &["the"], &[], &[]);
        check("lamp -\"oil\"", &["lamp"], &["oil"], &[], &[]);
    }

    // spec: Q1
    #[test]
    fn a_minus_inside_a_word_or_before_none_excludes_nothing() {
        check("off-site - --verify", &["site", "verifi"], &[], &[], &[]);
    }

    // spec: Q1
    #[test]
    fn an_exclusion_wins_over_the_same_word() {
        check("lamps oil -lamp", &["oil"], &["lamp"], &[], &[]);
        check_refused("lamps -lamp", LeftOut::Exclusions);
    }

    // spec: Q1
    #[test]
    fn han_kana_and_thai_are_searched_by_pairs() {
        check("東京都 猫", &["東京", "京都", "猫"], &[], &[], &[]);
        check("-猫 犬", &["犬"], &["猫"], &[], &[]);
    }

    // spec: Q1
    #[test]
    fn nothing_left_to_search_for_is_refused_with_the_reason() {
        check_refused(
            "what is the",
            LeftOut::CommonWords(["what", "is", "the"].map(str::to_owned).to_vec()),
        );
        check_refused("-lamp", LeftOut::Exclusions);
        check_refused("?! \"--\" \"", LeftOut::Punctuation);
        assert_eq!(Query::parse(" \n"), Err(InvalidQuery::Empty));
    }

    // spec: Q1
    #[test]
    fn a_query_has_at_most_four_thousand_characters() {
        assert!(Query::parse(&"é".repeat(QUERY_CHARS)).is_ok());
        let too_long = InvalidQuery::TooLong { characters: 4_001, most: 4_000 };
        assert_eq!(Query::parse(&"é".repeat(QUERY_CHARS + 1)), Err(too_long));
    }

    // spec: Q1
    #[test]
    fn a_word_asked_for_twice_counts_twice() {
        let query = Query::parse("lamp oil lamps").unwrap();
        assert_eq!(query.terms[0].role, Role::Wanted(2));
    }

    proptest! {
        // spec: Q1
        #[test]
        fn any_text_is_a_query_or_refused(text in "\\PC{0,60}") {
            if let Ok(query) = Query::parse(&text) {
                prop_assert_eq!(query.as_str(), text.trim());
                prop_assert_eq!(&Query::parse(query.as_str()), &Ok(query.clone()));
            }
        }
    }
}
