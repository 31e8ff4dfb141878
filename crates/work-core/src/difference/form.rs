//! The canonical text form of a body: every field that its digest covers, as lines.
//!
//! Owns how a field becomes lines, so that two bodies of different digests never have the same form: each field has its
//! own line with its own label, and a value is written so that nothing of it is lost or looks like something else.

use crate::path::RelPath;
use crate::quote::Quotation;
use crate::report::Body;
use crate::show;
use crate::source::SourceVersion;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

/// A body as lines, each ended by a line feed. No quotations are no lines.
pub(super) fn text_form(body: &Body) -> String {
    let Body { quotations } = body;
    let mut form = String::new();
    for (n, quotation) in (1_usize..).zip(quotations) {
        if n > 1 {
            form.push('\n');
        }
        push(&mut form, "quotation", &n.to_string());
        push_quotation(&mut form, quotation);
    }
    form
}

/// What is read first stands first: where from, what it says; then what only a check needs.
///
/// The encoding stands in the dependencies, which have a digest of their own.
fn push_quotation(form: &mut String, quotation: &Quotation) {
    let Quotation {
        path,
        version,
        encoding: _,
        bytes,
        lines,
        heading,
        text,
        digest,
        normalised,
        before,
        after,
    } = quotation;
    push_path(form, path);
    push(form, "lines", &format!("{}-{}", lines.0, lines.1));
    for heading in heading {
        push(form, "heading", &exact(heading.as_bytes()));
    }
    // Each line feed begins one more line, so that a text which ends in one ends in an empty line here.
    for line in text.split('\n') {
        push(form, "|", &exact(line.as_bytes()));
    }
    push(form, "bytes", &format!("{}-{}", bytes.start, bytes.end));
    push(form, "digest", &digest.to_string());
    push(form, "normalised", &normalised.to_string());
    push(form, "before", &exact(before.as_bytes()));
    push(form, "after", &exact(after.as_bytes()));
    push_version(form, version);
}

fn push_path(form: &mut String, path: &RelPath) {
    push(form, "path", &exact(path.bytes()));
    if path.is_escaped() {
        push(form, "path_bytes", &STANDARD.encode(path.bytes()));
    }
}

fn push_version(form: &mut String, version: &SourceVersion) {
    let SourceVersion { digest, size, cut } = version;
    push(form, "source", &digest.to_string());
    push(form, "source_size", &size.to_string());
    push(form, "source_cut", if *cut { "yes" } else { "no" });
}

/// One line: a label, and a value if there is any.
fn push(form: &mut String, label: &str, value: &str) {
    form.push_str(label);
    if !value.is_empty() {
        form.push(' ');
        form.push_str(value);
    }
    form.push('\n');
}

/// A value on one line, from which its bytes could be had back.
///
/// A backslash is doubled. Hidden characters, white space that is neither a blank nor a tab, and any white space at the
/// end become `\u{N}`; bytes that are no text become `\xNN`.
fn exact(value: &[u8]) -> String {
    let end = value.trim_ascii_end().len();
    let mut shown = escaped(&value[..end], |c| matches!(c, ' ' | '\t'));
    shown.push_str(&escaped(&value[end..], |_| false));
    shown
}

/// A value with all written out that does not show itself, but for white space that is `plain`.
fn escaped(value: &[u8], plain: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(value.len());
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => shown.push_str("\\\\"),
                c if !plain(c) && (c.is_whitespace() || is_hidden(c)) => {
                    shown.extend(c.escape_unicode());
                }
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            write!(shown, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    shown
}

/// Whether a character does not show, or only changes the look of the one before it.
fn is_hidden(c: char) -> bool {
    show::is_hidden(c) || matches!(c, '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::Strategy;

    // spec: P2
    #[test]
    fn what_does_not_show_is_written_out_and_an_escape_is_no_escaped_character() {
        for (value, shown) in [
            ("plain  text", "plain  text"),
            ("\tindented\tby tabs", "\tindented\tby tabs"),
            ("a blank at the end ", "a blank at the end\\u{20}"),
            ("tabs at the end\t\t", "tabs at the end\\u{9}\\u{9}"),
            ("  ", "\\u{20}\\u{20}"),
            ("carriage return\r", "carriage return\\u{d}"),
            ("lone\rreturn", "lone\\u{d}return"),
            ("no\u{a0}break", "no\\u{a0}break"),
            ("wide\u{2003}", "wide\\u{2003}"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("zero\\u{200b}width", "zero\\\\u{200b}width"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("heart\u{2764}\u{fe0f}", "heart\u{2764}\\u{fe0f}"),
            ("line\u{2028}end\u{85}", "line\\u{2028}end\\u{85}"),
            ("C:\\new", "C:\\\\new"),
            ("日本語 Ελλάδα", "日本語 Ελλάδα"),
        ] {
            assert_eq!(exact(value.as_bytes()), shown);
        }
        assert_eq!(exact(b"a\xff\\xff"), "a\\xff\\\\xff");
    }

    proptest::proptest! {
        // spec: P2
        #[test]
        fn a_value_can_be_had_back_so_no_two_look_alike(value in value()) {
            proptest::prop_assert_eq!(back(&exact(&value)), value.clone());
            proptest::prop_assert!(!exact(&value).contains(['\n', '\r']));
        }
    }

    /// The bytes of which this was shown.
    fn back(mut shown: &str) -> Vec<u8> {
        let mut value = Vec::new();
        while let Some((plain, rest)) = shown.split_once('\\') {
            value.extend_from_slice(plain.as_bytes());
            let (kind, rest) = rest.split_at(1);
            shown = match kind {
                "u" => {
                    let (code, rest) = rest[1..].split_once('}').expect("a code point");
                    let code = u32::from_str_radix(code, 16).expect("a number");
                    let c = char::from_u32(code).expect("a character");
                    value.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    rest
                }
                "x" => {
                    value.push(u8::from_str_radix(&rest[..2], 16).expect("a byte"));
                    &rest[2..]
                }
                other => {
                    value.extend_from_slice(other.as_bytes());
                    rest
                }
            };
        }
        value.extend_from_slice(shown.as_bytes());
        value
    }

    /// A few things that look alike, or that an escape is made of.
    fn value() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 10] =
            [b"\\", b"\t", b"\\u{9}", b"u{9}", b" ", b"\\u{20}", b"\xff", b"\\xff", b"xff", b"\n"];
        proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..5)
            .prop_map(|pieces| pieces.concat())
    }
}
