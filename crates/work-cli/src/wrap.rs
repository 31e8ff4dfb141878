//! Long lines on a terminal.
//!
//! A passage is printed as the file has it, and a line of prose may be a paragraph long. On a terminal it goes on below
//! under the marks that it begins with; in a pipe nothing is broken, so that what was quoted is what is there.

use textwrap::{Options, WordSplitter, fill};

/// `text` with no line wider than `width`, if there is one.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for line in text.lines() {
        out.push_str(&one(line, width));
        out.push('\n');
    }
    out
}

/// `text` in lines that begin with `first`, then with as much space, none wider than `width`, if there is one.
pub(crate) fn hanging(first: &str, text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return format!("{first}{text}\n") };
    let rest = " ".repeat(textwrap::core::display_width(first));
    let options = Options::new(width).initial_indent(first).subsequent_indent(&rest);
    fill(text, options.word_splitter(WordSplitter::NoHyphenation)) + "\n"
}

fn one(line: &str, width: usize) -> String {
    let (marks, rest) = line.split_at(marks(line));
    let options = Options::new(width).initial_indent(marks).subsequent_indent(marks);
    let whole = textwrap::core::display_width(line) <= width;
    if whole {
        line.to_owned()
    } else {
        fill(rest, options.word_splitter(WordSplitter::NoHyphenation))
    }
}

/// How many bytes of a line are the marks of a quotation and the space around them.
fn marks(line: &str) -> usize {
    line.find(|c| !matches!(c, '>' | '|' | ' '))
        .filter(|&at| line[..at].contains(['>', '|']))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_quotation_goes_on_under_its_mark() {
        assert_eq!(wrapped("> one two three\n", Some(9)), "> one two\n> three\n");
        assert_eq!(wrapped("   | one two\n", Some(9)), "   | one\n   | two\n");
    }

    #[test]
    fn what_hangs_goes_on_where_it_began() {
        assert_eq!(hanging(" 1  ", "one two three", Some(12)), " 1  one two\n    three\n");
        assert_eq!(hanging(" 1  ", "one two three", None), " 1  one two three\n");
    }

    #[test]
    fn a_line_that_fits_stays_as_it_is() {
        assert_eq!(wrapped(">     code  x\n\n> b\n", Some(20)), ">     code  x\n\n> b\n");
        assert_eq!(wrapped("日本語の文\n", Some(10)), "日本語の文\n");
    }

    #[test]
    fn without_a_terminal_nothing_is_broken() {
        let long = format!("> {}\n", "word ".repeat(100));
        assert_eq!(wrapped(&long, None), long);
    }
}
