//! Text from sources as people may see it.
//!
//! Owns which characters are hidden and how they are made visible, for terminals, files and pages alike. Nothing that
//! stands in a source moves a cursor, turns the order of reading round, or hides between two letters.

/// Whether a character does something other than show itself: control, format, bidirectional and invisible characters,
/// line and paragraph separators, and private or unassigned space used for tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// One line of text with every hidden character written out as `\u{N}`; a tab becomes a space.
#[must_use]
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => shown.push(' '),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Text of several lines, each as [`line()`] shows it; a CRLF ends a line as an LF does.
#[must_use]
pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: Q9
    #[test]
    fn escapes_bidirectional_and_invisible_characters_are_written_out() {
        for (text, shown) in [
            ("plain text", "plain text"),
            ("tab\there", "tab here"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("lone\rreturn", "lone\\u{d}return"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            ("日本語 Ελλάδα", "日本語 Ελλάδα"),
        ] {
            assert_eq!(line(text), shown);
        }
    }

    #[test]
    fn both_line_ends_end_a_line() {
        assert_eq!(lines("a\r\nb\nc"), ["a", "b", "c"]);
    }
}
