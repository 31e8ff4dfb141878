//! A difference for people: the exact unified text, in colours where they are on.
//!
//! Nothing is added, wrapped or cut: without its colours it is the text of the document, to the byte. A word that
//! changed inside a line is bold and underlined, so that it shows without green and red, too.

use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use work_core::document::difference::{DifferenceDoc, HunkDoc, LineDoc};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const PLACE: Style = AnsiColor::Cyan.on_default();

/// The unified text of a difference, painted.
pub(crate) fn painted(difference: &DifferenceDoc) -> String {
    if difference.hunks.is_empty() {
        return String::new();
    }
    let mut out = format!("{REMOVED}--- accepted{REMOVED:#}\n{ADDED}+++ proposed{ADDED:#}\n");
    for HunkDoc { accepted: [from, removed], proposed: [to, added], lines } in &difference.hunks {
        writeln!(out, "{PLACE}@@ -{from},{removed} +{to},{added} @@{PLACE:#}")
            .expect("a string takes everything");
        for line in lines {
            push(&mut out, line);
        }
    }
    out
}

fn push(out: &mut String, line: &LineDoc) {
    let (sign, style) = match line.kind {
        "removed" => ('-', REMOVED),
        "added" => ('+', ADDED),
        _ => (' ', Style::new()),
    };
    write!(out, "{style}{sign}{style:#}").expect("a string takes everything");
    for words in &line.words {
        let style = if words.changed { style.bold().underline() } else { style };
        write!(out, "{style}{}{style:#}", words.text).expect("a string takes everything");
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use work_core::document::difference::WordsDoc;

    fn line(kind: &'static str, words: &[(&str, bool)]) -> LineDoc {
        let words = words.iter().map(|&(text, changed)| WordsDoc { text: text.into(), changed });
        LineDoc { kind, words: words.collect() }
    }

    fn difference() -> DifferenceDoc {
        let lines = vec![
            line("context", &[("path a.md", false)]),
            line("removed", &[("kept for ", false), ("35", true), (" days", false)]),
            line("added", &[("kept for ", false), ("40", true), (" days", false)]),
            line("context", &[]),
        ];
        let unified = "--- accepted\n+++ proposed\n@@ -1,3 +1,3 @@\n path a.md\n\
            -kept for 35 days\n+kept for 40 days\n \n";
        let hunks = vec![HunkDoc { accepted: [1, 3], proposed: [1, 3], lines }];
        DifferenceDoc { unified: unified.to_owned(), hunks, limit: None }
    }

    // spec: P2
    #[test]
    fn without_colours_it_is_the_unified_text_to_the_byte() {
        let painted = painted(&difference());
        let plain = anstream::adapter::strip_str(&painted).to_string();
        assert_eq!(plain, difference().unified);
    }

    // spec: P2
    #[test]
    fn a_changed_word_shows_by_more_than_its_colour() {
        let painted = painted(&difference());
        let marked = |style: Style, word: &str| format!("{style}{word}{style:#}");
        assert!(painted.contains(&marked(REMOVED.bold().underline(), "35")), "{painted:?}");
        assert!(painted.contains(&marked(ADDED.bold().underline(), "40")), "{painted:?}");
        assert!(painted.contains(&marked(ADDED, " days")), "{painted:?}");
    }

    #[test]
    fn no_difference_is_no_text() {
        let none = DifferenceDoc { unified: String::new(), hunks: Vec::new(), limit: None };
        assert_eq!(painted(&none), "");
    }
}
