//! Documents as text for people: Markdown and plain text.
//!
//! Owns how a report reads. What comes from a source is shown line by line with every hidden character written out
//! ([`crate::show`]), so that no document moves a cursor, hides text, or ends a block that it stands in. Front
//! ends add what only they know: the next commands.

use crate::document::wire::{CauseDoc, ExcerptDoc, FolderScanDoc, ResultDoc, ScanDoc};
use crate::report::{Reached, SkipReason};
use crate::result::ResultState;
use crate::show;
use std::fmt::Write as _;

/// A result as Markdown: a heading, each quotation as a block quote under its place, what was scanned, what the check
/// does not say.
#[must_use]
pub fn markdown(result: &ResultDoc) -> String {
    let mut out = format!("# {}\n\n", escaped(&show::line(&result.query)));
    for excerpt in excerpts(result) {
        write!(out, "**{}. {}**", excerpt.n, code(&place(excerpt)))
            .expect("a string takes everything");
        out.push_str(
            &trail(excerpt).map(|trail| format!(" — {}", escaped(&trail))).unwrap_or_default(),
        );
        out.push_str(
            &finding(excerpt).map(|finding| format!(" — *{finding}*")).unwrap_or_default(),
        );
        out.push_str("\n\n");
        for line in show::lines(&excerpt.text) {
            out.push_str(if line.is_empty() { ">" } else { "> " });
            out.push_str(&line);
            out.push('\n');
        }
        out.push('\n');
    }
    for paragraph in about(result) {
        out.push_str(&paragraph);
        out.push_str("\n\n");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A result as plain text: the same, without marks.
#[must_use]
pub fn text(result: &ResultDoc) -> String {
    let mut out = format!("{}\n\n", show::line(&result.query));
    for excerpt in excerpts(result) {
        write!(out, "{}. {}", excerpt.n, place(excerpt)).expect("a string takes everything");
        out.push_str(&finding(excerpt).map(|finding| format!("  [{finding}]")).unwrap_or_default());
        out.push('\n');
        out.push_str(&trail(excerpt).map(|trail| format!("   {trail}\n")).unwrap_or_default());
        for line in show::lines(&excerpt.text) {
            out.push_str("   | ");
            out.push_str(&line);
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out.push('\n');
    }
    out.push_str(&about(result).join("\n"));
    out.push('\n');
    out
}

/// Where a quotation stands: label, path and lines.
#[must_use]
pub fn place(excerpt: &ExcerptDoc) -> String {
    let lines = match excerpt.lines {
        [first, last] if first == last => first.to_string(),
        [first, last] => format!("{first}-{last}"),
    };
    format!("{}/{}:{lines}", excerpt.label, excerpt.path.path)
}

/// What a scan visited and left out, in a sentence for each folder, and what ended it early.
#[must_use]
pub fn scanned(scan: &ScanDoc) -> Vec<String> {
    let mut sentences: Vec<String> = scan.folders.iter().map(folder_scanned).collect();
    if let Some(limit) = scan.limit {
        sentences.push(format!(
            "The scan ended early at its limit of {}: there may be more.",
            limit.as_str()
        ));
    }
    sentences
}

/// What was visited of one folder.
fn folder_scanned(folder: &FolderScanDoc) -> String {
    let counts = &folder.counts;
    match folder.reached {
        Reached::Unreachable => {
            return format!("Not scanned: {} could not be reached.", folder.label);
        }
        Reached::Denied => {
            return format!("Not scanned: {} may not be read as it is now.", folder.label);
        }
        Reached::Yes => {}
    }
    let mut said = format!("Scanned {}: read {}", folder.label, plural(counts.files_read, "file"));
    if counts.files_cut > 0 {
        write!(said, " ({} only at the beginning)", counts.files_cut)
            .expect("a string takes everything");
    }
    if counts.skipped.is_empty() {
        said.push_str(", skipped nothing.");
    } else {
        let skipped: u64 = counts.skipped.values().sum();
        let reasons = counts
            .skipped
            .iter()
            .map(|(reason, count)| format!("{count} {}", in_words(*reason, *count)));
        write!(said, ", skipped {skipped} ({}).", reasons.collect::<Vec<_>>().join(", "))
            .expect("a string takes everything");
    }
    said
}

/// What is said below the quotations.
fn about(result: &ResultDoc) -> Vec<String> {
    let mut said = vec![state(result)];
    said.extend(result.scan.as_ref().map(|scan| scanned(scan).join("\n")));
    said
}

/// What a result's state means, in words.
fn state(result: &ResultDoc) -> String {
    let checked = result.verification.as_ref().map(|verification| verification.checked_at);
    match (result.state, checked.max(result.observed_at)) {
        (ResultState::SourcesChecked, Some(at)) => {
            format!(
                "Sources checked: the stored source versions matched when checked, {at}.\nThis is no proof of the claims."
            )
        }
        (ResultState::SourcesChecked, None) => "Sources checked, but no record says when.".into(),
        (ResultState::Stale, at) => {
            let causes = result.causes.as_ref().map_or(0, Vec::len) as u64;
            let when = at.map(|at| format!(" Looked at {at}.")).unwrap_or_default();
            format!(
                "Stale: {} from a source that is no longer as cited.{when}",
                plural(causes, "quotation")
            )
        }
        (ResultState::EvidenceUnavailable, _) => {
            "Hidden: a source could not be looked at, or the record of it cannot be read. \
            Nothing that rests on it shows."
                .into()
        }
        (ResultState::AccessRemoved, _) => {
            "Hidden: a source may not be read now: its folder was withdrawn or replaced, or \
            a rule or a permission forbids it.\nNothing that rests on it shows."
                .into()
        }
    }
}

fn excerpts(result: &ResultDoc) -> &[ExcerptDoc] {
    result.body.as_ref().map_or(&[], |body| &body.excerpts)
}

/// The headings above a quotation.
fn trail(excerpt: &ExcerptDoc) -> Option<String> {
    let headings: Vec<String> = excerpt.heading.iter().map(|heading| show::line(heading)).collect();
    (!headings.is_empty()).then(|| headings.join(" › "))
}

/// Why a quotation's source is not as cited: the file, and what became of the passage.
#[must_use]
pub fn cause(cause: &CauseDoc) -> String {
    let became = match (cause.finding, cause.observed) {
        (Some(finding), _) => became(finding),
        (None, "unstable") => "the source would not hold still",
        (None, "missing") => "the source is missing",
        (None, _) => "the source changed, and it was not found out what became of the passage",
    };
    let now = cause.moved_to.as_ref().map(|to| format!("; the same version is now {to}"));
    format!("{}: {became}{}", cause.path.path, now.unwrap_or_default())
}

/// What became of a quotation, in words.
fn finding(excerpt: &ExcerptDoc) -> Option<&'static str> {
    excerpt.finding.map(became)
}

/// A finding in words.
fn became(finding: &str) -> &'static str {
    match finding {
        "intact" => "the source changed, this passage did not",
        "moved" => "the passage moved in its source",
        "ambiguous" => "the passage stands in its source more than once now",
        "cosmetic" => "only line ends or marks of the passage changed",
        "beyond_limit" => "not found in the part of the source that is read",
        "gone" => "the source is missing",
        _ => "the passage is no longer in its source",
    }
}

/// A reason to skip so many, in words.
const fn in_words(reason: SkipReason, count: u64) -> &'static str {
    match reason {
        SkipReason::Link if count == 1 => "link",
        SkipReason::OwnFile if count == 1 => "own file",
        SkipReason::Ignored => "ignored",
        SkipReason::Hidden => "hidden",
        SkipReason::Extension => "of another extension",
        SkipReason::NotText => "not text",
        SkipReason::Denied => "not permitted",
        SkipReason::Link => "links",
        SkipReason::Special => "special",
        SkipReason::OwnFile => "own files",
        SkipReason::OtherMount => "on another mount",
        SkipReason::OtherGrant => "of another folder",
        SkipReason::TooDeep => "too deep",
        SkipReason::Unstable => "changing",
        SkipReason::Failed => "unreadable",
    }
}

fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Text that Markdown and HTML leave as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '|' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// Text as inline code, whatever backticks it holds.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}
