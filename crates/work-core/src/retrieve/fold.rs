//! Letters without case and accents, and what makes a word of them.
//!
//! Owns the folded form in which words are compared and the borders of words in running text. Refuses to know
//! stems, queries and the words of any language. Start at [`fold`].

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, is_combining_mark};

/// `text` in the form in which words are compared.
///
/// Compatibility forms become plain ones, capitals small, and the marks that a careless writer leaves out
/// vanish. Marks that make another letter (Kana, Thai, Indic vowels) stay.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Appends the folded form of `text` to `folded`.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    if text.is_ascii() {
        let start = folded.len();
        folded.push_str(text);
        folded[start..].make_ascii_lowercase();
    } else {
        for c in text.nfkd().filter(|&c| !vanishes(c)).flat_map(char::to_lowercase) {
            push(c, folded);
        }
    }
}

fn push(c: char, folded: &mut String) {
    match c {
        'ς' => folded.push('σ'),
        'ß' => folded.push_str("ss"),
        'æ' => folded.push_str("ae"),
        'œ' => folded.push_str("oe"),
        'þ' => folded.push_str("th"),
        'ø' => folded.push('o'),
        'ð' | 'đ' => folded.push('d'),
        'ħ' => folded.push('h'),
        'ı' => folded.push('i'),
        'ł' => folded.push('l'),
        '\u{2018}' | '\u{2019}' => folded.push('\''),
        '\u{201C}' | '\u{201D}' => folded.push('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => folded.push('-'),
        _ => attach(c, folded),
    }
}

/// Puts a mark or a part of a Hangul syllable back together with what stands before it.
fn attach(c: char, folded: &mut String) {
    let attaches =
        is_combining_mark(c) || matches!(c, '\u{1161}'..='\u{1175}' | '\u{11A8}'..='\u{11C2}');
    let whole =
        folded.chars().next_back().filter(|_| attaches).and_then(|before| compose(before, c));
    if whole.is_some() {
        folded.pop();
    }
    folded.push(whole.unwrap_or(c));
}

/// Marks that are written or left out without making another word, and characters that only shape the line.
fn vanishes(c: char) -> bool {
    is_accent(c) || joins(c)
}

fn is_accent(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
        | '\u{610}'..='\u{61A}' | '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}'
        | '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E4}' | '\u{6E7}' | '\u{6E8}' | '\u{6EA}'..='\u{6ED}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FE20}'..='\u{FE2F}')
}

/// Soft hyphens and joiners, which stand inside words and are not seen.
fn joins(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}')
}

/// Whether `c` can stand in a word.
pub(super) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric()
    } else {
        c.is_alphanumeric() || is_combining_mark(c) || joins(c)
    }
}

/// Whether `c` belongs to a script without spaces between words: Han, Kana or Thai.
pub(super) fn is_paired(c: char) -> bool {
    c >= '\u{E01}'
        && matches!(c,
        '\u{E01}'..='\u{E3A}' | '\u{E40}'..='\u{E4E}'
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}' | '\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}'
        | '\u{3041}'..='\u{3096}' | '\u{3099}' | '\u{309A}' | '\u{309D}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

/// Whether `c` continues the character before it, as the marks of Thai and the voicing of Kana do.
pub(super) fn is_attached(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || joins(c) || matches!(c, '\u{FF9E}' | '\u{FF9F}'))
}

/// Whether `c` can stand inside a word that is told by its spaces.
pub(super) fn is_spaced(c: char) -> bool {
    is_word(c) && !is_paired(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(fold(text), expected, "{text:?}");
    }

    // spec: Q1
    #[test]
    fn case_and_accents_fold_away_composed_or_not() {
        check("CAFÉ", "cafe");
        check("cafe\u{301}", "cafe");
        check("Straße STRASSE", "strasse strasse");
        check("Ångström Łódź Ærø", "angstrom lodz aero");
        check("İstanbul", "istanbul");
    }

    // spec: Q1
    #[test]
    fn greek_folds_its_accents_and_its_final_sigma() {
        check("ΟΔΥΣΣΕΎΣ", "οδυσσευσ");
        check("Οδυσσεύς", "οδυσσευσ");
    }

    // spec: Q1
    #[test]
    fn arabic_folds_its_vowels_and_its_stretching() {
        check("مُحَمَّد", "محمد");
        check("محـــمد", "محمد");
        check("أحمد", "احمد");
    }

    // spec: Q1
    #[test]
    fn cyrillic_and_hebrew_fold_their_marks() {
        check("Ёлка", "елка");
        check("שָׁלוֹם", "שלום");
    }

    // spec: Q1
    #[test]
    fn marks_that_make_another_letter_stay() {
        check("が", "が");
        check("か\u{3099}", "が");
        check("ｶﾞ", "ガ");
        check("น้ำ", "น\u{e49}\u{e4d}า");
        check("한", "한");
        check("\u{1112}\u{1161}\u{11ab}", "한");
    }

    // spec: Q1
    #[test]
    fn what_only_shapes_the_line_folds_away() {
        check("co\u{AD}operate", "cooperate");
        check("ﬁne ＡＢＣ x²", "fine abc x2");
        check("don\u{2019}t \u{201C}so\u{201D} 1\u{2013}2", "don't \"so\" 1-2");
    }

    proptest! {
        // spec: Q1
        #[test]
        fn folding_twice_changes_nothing_more(text in "[a-zA-Zà-üΑ-ωА-я\u{300}-\u{310}ぁ-ん가-힣]{0,20}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }
    }
}
