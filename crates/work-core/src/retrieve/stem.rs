//! English words by their stems.
//!
//! Owns which words count as forms of one word, and how such forms begin. Refuses to know case and accents: it
//! takes folded words. The stems are those of Martin Porter, *An algorithm for suffix stripping* (1980), with the
//! departures of its author's own program.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

/// The stem of a folded word, which is the word itself unless it is written in English letters alone.
///
/// Words of one or two letters are their own stems, as in Porter's program.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Stemmer::new(Algorithm::Porter).stem(word)
    } else {
        Cow::Borrowed(word)
    }
}

/// What every word with this stem begins with.
///
/// The algorithm takes endings away, and what it puts in their place ends in `e`, `i` or `bl`: `hoping` has the
/// stem `hope`, `happy` has `happi`, `sensibility` has `sensibl`.
pub(super) fn beginning(stem: &str) -> &str {
    let shorter = stem.strip_suffix(['e', 'i']).unwrap_or(stem);
    let shorter = if shorter.ends_with("bl") { &shorter[..shorter.len() - 1] } else { shorter };
    if shorter.is_empty() { stem } else { shorter }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(word: &str, expected: &str) {
        assert_eq!(stem(word), expected);
        assert!(word.starts_with(beginning(expected)), "{word} does not begin like {expected}");
    }

    // spec: Q1
    #[test]
    fn forms_of_a_word_have_one_stem() {
        for word in ["keep", "keeps", "keeping"] {
            check(word, "keep");
        }
        for word in ["connect", "connected", "connecting", "connection", "connections"] {
            check(word, "connect");
        }
    }

    // spec: Q1
    #[test]
    fn a_stem_need_not_begin_its_words() {
        check("happy", "happi");
        check("flies", "fli");
        check("hoping", "hope");
        check("sensibility", "sensibl");
        check("sizing", "size");
        check("agreed", "agre");
    }

    // spec: Q1
    #[test]
    fn short_words_and_other_letters_are_their_own_stems() {
        check("us", "us");
        check("mp3s", "mp3s");
        check("élèves", "élèves");
    }

    proptest! {
        // spec: Q1
        #[test]
        fn every_word_begins_like_its_stem(start in "[a-z]{0,7}", ends in prop::collection::vec(prop::sample::select(ENDINGS.to_vec()), 0..3)) {
            let word = start + &ends.concat();
            let stem = stem(&word);
            prop_assert!(word.starts_with(beginning(&stem)), "{word} {stem}");
        }
    }

    const ENDINGS: [&str; 44] = [
        "s", "es", "ies", "sses", "ed", "eed", "ing", "y", "ational", "tional", "enci", "anci",
        "izer", "abli", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator",
        "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "bility", "logi",
        "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "e", "al", "ance", "able",
        "ible", "ll",
    ];
}
