//! Differences of bodies: exact, never empty for different digests, and readable.

use super::*;
use crate::digest::Digest;
use crate::document::stored;
use crate::limits::{DIFFERENCE_LINES, DIFFERENCE_WORD_BYTES, Limits};
use crate::path::RelPath;
use crate::quote::Quotation;
use crate::source::SourceVersion;
use crate::testkit::strategies;
use crate::text::Encoding;
use proptest::prelude::*;

fn path(name: &[u8]) -> RelPath {
    RelPath::new(name).expect("a path")
}

fn quotation() -> Quotation {
    Quotation {
        path: path(b"backups.md"),
        version: SourceVersion { digest: Digest::from_bytes([1; 32]), size: 59, cut: false },
        encoding: Encoding::Utf8,
        bytes: 11..46,
        lines: (3, 4),
        heading: vec!["Backups".into(), "Daily".into()],
        text: "Backups are kept for thirty days.\nThen erased.".into(),
        digest: Digest::from_bytes([2; 32]),
        normalised: Digest::from_bytes([3; 32]),
        before: "# Backups\n\n".into(),
        after: "\n\nAsk first.".into(),
    }
}

fn saying(text: &str) -> Body {
    Body { quotations: vec![Quotation { text: text.into(), ..quotation() }] }
}

/// What a form becomes by these hunks: context and removed lines must be the form's own.
fn applied(form: &str, difference: &DifferenceDoc) -> String {
    let old: Vec<&str> = form.lines().collect();
    let (mut at, mut new) = (0, Vec::new());
    for hunk in &difference.hunks {
        let [first, count] = hunk.accepted.map(|number| number as usize);
        let start = if count == 0 { first } else { first - 1 };
        new.extend(old[at..start].iter().map(ToString::to_string));
        assert_eq!(hunk.proposed[0] as usize, new.len() + usize::from(hunk.proposed[1] > 0));
        (at, _) = (start, ());
        let before = new.len();
        for line in &hunk.lines {
            if line.kind != "added" {
                assert_eq!(old[at], line.text());
                at += 1;
            }
            if line.kind != "removed" {
                new.push(line.text());
            }
        }
        assert_eq!([at - start, new.len() - before], [count, hunk.proposed[1] as usize]);
    }
    new.extend(old[at..].iter().map(ToString::to_string));
    new.iter().map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn check_exact(accepted: &Body, proposed: &Body) -> DifferenceDoc {
    let difference = between(accepted, proposed);
    assert_eq!(applied(&text_form(accepted), &difference), text_form(proposed));
    assert_eq!(difference.unified.is_empty(), difference.hunks.is_empty());
    let body = difference.unified.lines().skip(2).filter(|line| !line.starts_with("@@ "));
    let lines = difference.hunks.iter().flat_map(|hunk| &hunk.lines);
    assert!(body.eq(lines.map(|line| format!("{}{}", lines::sign(line.kind), line.text()))));
    difference
}

/// The lines of one kind, changed words in brackets.
fn marked(difference: &DifferenceDoc, kind: &str) -> Vec<String> {
    let mark = |words: &crate::document::difference::WordsDoc| match words.changed {
        true => format!("[{}]", words.text),
        false => words.text.clone(),
    };
    let lines = difference.hunks.iter().flat_map(|hunk| &hunk.lines);
    lines
        .filter(|line| line.kind == kind)
        .map(|line| line.words.iter().map(mark).collect())
        .collect()
}

// spec: P2
#[test]
fn a_change_of_any_field_of_the_digest_shows() {
    let base = quotation();
    let version = base.version;
    let other = Digest::from_bytes([9; 32]);
    for changed in [
        Quotation { path: path(b"backup.md"), ..base.clone() },
        Quotation { path: path(b"backups.md\xff"), ..base.clone() },
        Quotation { version: SourceVersion { digest: other, ..version }, ..base.clone() },
        Quotation { version: SourceVersion { size: 60, ..version }, ..base.clone() },
        Quotation { version: SourceVersion { cut: true, ..version }, ..base.clone() },
        Quotation { bytes: 10..46, ..base.clone() },
        Quotation { bytes: 11..47, ..base.clone() },
        Quotation { lines: (2, 4), ..base.clone() },
        Quotation { lines: (3, 5), ..base.clone() },
        Quotation { heading: vec!["Backups".into()], ..base.clone() },
        Quotation { heading: vec!["Backups\nDaily".into()], ..base.clone() },
        Quotation { heading: vec!["Backups".into(), "Daily ".into()], ..base.clone() },
        Quotation { text: base.text.clone() + "\n", ..base.clone() },
        Quotation { text: base.text.replace('\n', "\r\n"), ..base.clone() },
        Quotation { digest: other, ..base.clone() },
        Quotation { normalised: other, ..base.clone() },
        Quotation { before: "# Backups\n".into(), ..base.clone() },
        Quotation { after: "\n\nAsk first. ".into(), ..base.clone() },
    ] {
        let bodies = [base.clone(), changed].map(|quotation| Body { quotations: vec![quotation] });
        let difference = check_exact(&bodies[0], &bodies[1]);
        assert!(!difference.hunks.is_empty(), "{:?}", bodies[1]);
        assert_eq!(difference.limit, None);
    }
}

// spec: P2
#[test]
fn equal_bodies_have_an_empty_difference_and_the_encoding_is_not_the_bodys() {
    let utf16 = Quotation { encoding: Encoding::Utf16Le, ..quotation() };
    let bodies = [quotation(), utf16].map(|quotation| Body { quotations: vec![quotation] });
    let empty = DifferenceDoc { unified: String::new(), hunks: Vec::new(), limit: None };
    assert_eq!(between(&bodies[0], &bodies[0]), empty);
    assert_eq!(between(&bodies[0], &bodies[1]), empty);
}

// spec: P2
#[test]
fn the_words_that_changed_are_marked_inside_their_lines() {
    let proposed = saying("Backups are kept for ninety days.\nThen erased.");
    let difference = check_exact(&saying(&quotation().text), &proposed);
    assert_eq!(marked(&difference, "removed"), ["| Backups are kept for [thirty] days."]);
    assert_eq!(marked(&difference, "added"), ["| Backups are kept for [ninety] days."]);
}

// spec: P2
#[test]
fn a_line_that_has_no_counterpart_is_marked_as_a_whole_by_its_kind() {
    let proposed = saying("Backups are kept for thirty days.\nOn tape.\nThen erased.");
    let difference = check_exact(&saying(&quotation().text), &proposed);
    assert_eq!(marked(&difference, "removed"), [""; 0]);
    assert_eq!(marked(&difference, "added"), ["| On tape."]);
}

// spec: P2
#[test]
fn what_does_not_show_shows_in_a_difference() {
    let shown = |from: &str, to: &str| {
        let difference = check_exact(&saying(from), &saying(to));
        [marked(&difference, "removed"), marked(&difference, "added")].map(|lines| lines.join("\n"))
    };
    let plain = |text: &str| text.replace(['[', ']'], "");
    for (from, to, removed, added) in [
        ("one two", "one two\r", "| one two", "| one two\\u{d}"),
        ("one two", "one two ", "| one two", "| one two\\u{20}"),
        ("one two", "one\ttwo", "| one two", "| one\ttwo"),
        ("one two", "one\u{a0}two", "| one two", "| one\\u{a0}two"),
        ("one two", "one \u{202e}two", "| one two", "| one \\u{202e}two"),
        ("\u{202e}", "\\u{202e}", "| \\u{202e}", "| \\\\u{202e}"),
        ("one two", "one two\n", "", "|"),
    ] {
        let lines = shown(from, to);
        assert_eq!(
            lines.each_ref().map(|line| plain(line)),
            [removed, added],
            "{from:?} to {to:?}"
        );
    }
}

// spec: P2
#[test]
fn a_small_difference_reads_as_a_unified_diff() {
    let changed = Quotation {
        lines: (3, 5),
        text: "Backups are kept for ninety days.\nThen erased.\r\n".into(),
        bytes: 11..48,
        digest: Digest::from_bytes([4; 32]),
        ..quotation()
    };
    let bodies = [quotation(), changed].map(|quotation| Body { quotations: vec![quotation] });
    let expected = "\
--- accepted
+++ proposed
@@ -1,12 +1,13 @@
 quotation 1
 path backups.md
-lines 3-4
+lines 3-5
 heading Backups
 heading Daily
-| Backups are kept for thirty days.
-| Then erased.
-bytes 11-46
-digest 0202020202020202020202020202020202020202020202020202020202020202
+| Backups are kept for ninety days.
+| Then erased.\\u{d}
+|
+bytes 11-48
+digest 0404040404040404040404040404040404040404040404040404040404040404
 normalised 0303030303030303030303030303030303030303030303030303030303030303
 before # Backups\\u{a}\\u{a}
 after \\u{a}\\u{a}Ask first.
";
    let difference = check_exact(&bodies[0], &bodies[1]);
    assert_eq!(difference.unified, expected);
    assert_eq!(
        marked(&difference, "added")[1..4],
        ["| Backups are kept for [ninety] days.", "| Then erased.[\\u{d}]", "[|]"]
    );
}

// spec: P2
#[test]
fn a_body_of_nothing_has_no_lines() {
    let nothing = Body { quotations: Vec::new() };
    assert_eq!(text_form(&nothing), "");
    let difference = check_exact(&nothing, &saying("one"));
    assert_eq!((difference.hunks[0].accepted, difference.hunks[0].proposed), ([0, 0], [1, 14]));
    assert!(
        difference
            .unified
            .starts_with("--- accepted\n+++ proposed\n@@ -0,0 +1,14 @@\n+quotation 1\n")
    );
    check_exact(&saying("one"), &nothing);
}

// spec: P2
#[test]
fn what_is_too_long_to_compare_is_removed_and_added_whole_and_said_so() {
    let long = |last: &str| saying(&("\n".repeat(DIFFERENCE_LINES / 2) + last));
    let difference = check_exact(&long("a"), &long("b"));
    assert_eq!((difference.limit, difference.hunks.len()), (Some("lines"), 1));
    assert!(difference.hunks[0].lines.iter().all(|line| line.kind != "context"));
    assert_eq!(between(&long("a"), &long("a")).unified, "");
}

#[test]
fn words_of_a_long_change_are_not_compared_and_its_lines_are() {
    let long = |word: &str| saying(&format!("{word} ").repeat(DIFFERENCE_WORD_BYTES / 10));
    let difference = check_exact(&long("thirty"), &long("ninety"));
    assert_eq!(difference.limit, None);
    assert!(
        difference.hunks[0].lines.iter().flat_map(|line| &line.words).all(|words| !words.changed)
    );
}

proptest! {
    // spec: P2
    #[test]
    fn bodies_of_different_digests_never_have_one_form(
        one in strategies::body(),
        other in strategies::body(),
        field in 0..12_usize,
    ) {
        check_pair(&one, &other);
        if let Some(mixed) = mixed(&one, &other, field) {
            check_pair(&one, &mixed);
        }
    }
}

/// One body with one field of its first quotation, or its number of quotations, from another.
fn mixed(one: &Body, other: &Body, field: usize) -> Option<Body> {
    let theirs = other.quotations.first()?.clone();
    let mut mixed = one.clone();
    let mine = mixed.quotations.first_mut()?;
    match field {
        0 => mine.path = theirs.path,
        1 => mine.version = theirs.version,
        2 => mine.bytes = theirs.bytes,
        3 => mine.lines = theirs.lines,
        4 => mine.heading = theirs.heading,
        5 => mine.text = theirs.text,
        6 => mine.digest = theirs.digest,
        7 => mine.normalised = theirs.normalised,
        8 => mine.before = theirs.before,
        9 => mine.after = theirs.after,
        10 => mixed.quotations.reverse(),
        _ => mixed.quotations.push(theirs),
    }
    Some(mixed)
}

/// Their digests tell whether their difference is empty.
fn check_pair(one: &Body, other: &Body) {
    let limits = Limits::standard();
    let digest = |body| stored::write_body(body, &limits).expect("short enough").digest;
    let same = digest(one) == digest(other);
    let difference = check_exact(one, other);
    assert_eq!([text_form(one) == text_form(other), difference.hunks.is_empty()], [same; 2]);
}
