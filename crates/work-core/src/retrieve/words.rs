//! Words in running text.
//!
//! Owns where words begin and end and the pairs of characters that stand for words in scripts without spaces.
//! Refuses to know which words matter. Start at [`words`].

use std::ops::Range;

use memchr::memchr2_iter;

use super::fold::{fold_into, is_attached, is_paired, is_spaced};

/// A stretch of letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// A word told by its spaces.
    Spaced(Range<usize>),
    /// A run of Han, Kana or Thai, in which no space tells the words.
    Paired(Range<usize>),
}

/// The words of `text` in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(|c| is_spaced(c) || is_paired(c))?;
        let word = word_at(text, start)?;
        from = word.range().end;
        Some(word)
    })
}

/// The word that begins at `start`, if a letter stands there.
pub(super) fn word_at(text: &str, start: usize) -> Option<Word> {
    let first = text[start..].chars().next()?;
    let end = |goes_on: fn(char) -> bool| {
        start + text[start..].find(|c| !goes_on(c)).unwrap_or(text.len() - start)
    };
    if is_paired(first) {
        Some(Word::Paired(start..end(|c| is_paired(c) || is_attached(c))))
    } else if is_spaced(first) {
        Some(Word::Spaced(start..end(is_spaced)))
    } else {
        None
    }
}

impl Word {
    /// Where it stands.
    pub(super) fn range(&self) -> &Range<usize> {
        match self {
            Self::Spaced(range) | Self::Paired(range) => range,
        }
    }
}

/// The characters of a run with the marks attached to each.
pub(super) fn characters(text: &str, run: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut from = run.start;
    std::iter::from_fn(move || {
        let rest = &text[from..run.end];
        let first = rest.chars().next()?;
        let attached = rest[first.len_utf8()..].find(|c| !is_attached(c));
        let character = from..from + attached.map_or(rest.len(), |end| first.len_utf8() + end);
        from = character.end;
        Some(character)
    })
}

/// What is compared of a run: each character with the next one, or the only one alone.
pub(super) fn pairs(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let characters: Vec<Range<usize>> = characters(text, run).collect();
    match &*characters {
        [single] => vec![single.clone()],
        several => several.windows(2).map(|pair| pair[0].start..pair[1].end).collect(),
    }
}

/// `text` as phrases are compared: folded, with one space for any white space.
pub(super) fn even(text: &str) -> String {
    let mut even = String::with_capacity(text.len());
    for (n, piece) in text.split(char::is_whitespace).filter(|piece| !piece.is_empty()).enumerate()
    {
        if n > 0 {
            even.push(' ');
        }
        fold_into(piece, &mut even);
    }
    even
}

/// Whether the even form `phrase` stands in the even form `text` as whole words.
pub(super) fn stands_in(phrase: &str, text: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let end = at + phrase.len();
        breaks(text[..at].chars().next_back(), phrase.chars().next())
            && breaks(phrase.chars().next_back(), text[end..].chars().next())
    })
}

/// Whether the even form `phrase` stands in a text of ASCII alone, which need not be even, as whole words.
pub(super) fn stands_in_ascii(phrase: &[u8], text: &[u8]) -> bool {
    let Some(&first) = phrase.first() else { return true };
    let breaks = |before: Option<&u8>, after: Option<&u8>| {
        !(before.is_some_and(u8::is_ascii_alphanumeric)
            && after.is_some_and(u8::is_ascii_alphanumeric))
    };
    memchr2_iter(first, first.to_ascii_uppercase(), text).any(|at| {
        breaks(at.checked_sub(1).map(|before| &text[before]), Some(&first))
            && after_phrase(phrase, &text[at..])
                .is_some_and(|after| breaks(phrase.last(), after.first()))
    })
}

/// What follows the even form `phrase` in a text of ASCII alone that begins with it.
fn after_phrase<'t>(phrase: &[u8], text: &'t [u8]) -> Option<&'t [u8]> {
    phrase.iter().try_fold(text, |rest, &expected| {
        let is_space = |byte: &&u8| char::from(**byte).is_whitespace();
        let length = match expected {
            b' ' => rest.iter().take_while(is_space).count(),
            _ => rest.first().map_or(0, |byte| (byte.to_ascii_lowercase() == expected).into()),
        };
        (length > 0).then(|| &rest[length..])
    })
}

/// Whether a word can end between two characters.
fn breaks(before: Option<char>, after: Option<char>) -> bool {
    !(before.is_some_and(is_spaced) && after.is_some_and(is_spaced))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = words(text).map(|word| &text[word.range().clone()]).collect();
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_pairs(text: &str, expected: &[&str]) {
        let found: Vec<&str> =
            pairs(text, 0..text.len()).into_iter().map(|pair| &text[pair]).collect();
        assert_eq!(found, expected);
    }

    // spec: Q1
    #[test]
    fn words_end_at_whatever_is_no_letter_or_digit() {
        check(
            "state-of-the-art, v1.2 snake_case",
            &["state", "of", "the", "art", "v1", "2", "snake", "case"],
        );
        check("", &[]);
        check(" -- ", &[]);
    }

    // spec: Q1
    #[test]
    fn marks_and_soft_hyphens_do_not_end_a_word() {
        check("cafe\u{301}s co\u{AD}op", &["cafe\u{301}s", "co\u{AD}op"]);
        check("مُحَمَّد", &["مُحَمَّد"]);
    }

    // spec: Q1
    #[test]
    fn a_script_without_spaces_is_a_run_of_its_own() {
        check("iPhoneを買う。test", &["iPhone", "を買う", "test"]);
        check("กินข้าว ok", &["กินข้าว", "ok"]);
    }

    // spec: Q1
    #[test]
    fn pairs_overlap_and_a_single_character_stands_alone() {
        check_pairs("東京都", &["東京", "京都"]);
        check_pairs("猫", &["猫"]);
        check_pairs("น้ำใจ", &["น้ำ", "ำใ", "ใจ"]);
    }

    // spec: Q1
    #[test]
    fn any_white_space_of_a_phrase_is_equal_to_any() {
        assert_eq!(even(" State\r\n of\u{A0}\tthe  Art "), "state of the art");
    }

    // spec: Q1
    #[test]
    fn a_phrase_stands_in_a_text_as_whole_words() {
        let stands_in = |phrase: &str, text: &str| {
            let found = super::stands_in(phrase, text);
            assert!(
                !text.is_ascii() || stands_in_ascii(phrase.as_bytes(), text.as_bytes()) == found
            );
            found
        };
        assert!(stands_in("the art", "state of the art."));
        assert!(!stands_in("the art", "the artist"));
        assert!(!stands_in("he art", "the art"));
        assert!(stands_in("京", "東京都"));
        assert!(stands_in("art", "artist of art"));
    }
}
