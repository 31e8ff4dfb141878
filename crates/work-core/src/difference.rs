//! The exact difference of two bodies, for whoever is to approve one in place of the other.
//!
//! Owns the text form in which bodies are compared ([`text_form`]) and the comparison, by lines, with the words marked
//! that changed inside them ([`between`]). Bodies of different digests have different forms, so their difference is
//! never empty. Refuses to judge a difference, and to read a clock: its work is bounded by limits on what is compared.

mod form;
mod lines;
#[cfg(test)]
mod tests;

use crate::document::difference::{DifferenceDoc, HunkDoc};
use crate::report::Body;
use std::fmt::Write as _;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The canonical text form of `body`: every field that its digest covers, one to a line, each line ended by a line
/// feed. Two bodies have one form only if they have one digest.
#[must_use]
pub fn text_form(body: &Body) -> String {
    form::text_form(body)
}

/// The exact difference of two bodies. Empty only if they have one digest.
///
/// Applying its hunks to the form of `accepted` gives the form of `proposed`. Where both have more than
/// [`DIFFERENCE_LINES`](crate::limits::DIFFERENCE_LINES) together, all of one is removed and all of the other added, and
/// [`limit`](DifferenceDoc::limit) says so.
#[must_use]
pub fn between(accepted: &Body, proposed: &Body) -> DifferenceDoc {
    let forms = [text_form(accepted), text_form(proposed)];
    let [accepted, proposed] = [&forms[0], &forms[1]].map(|form| split(form));
    let lines = accepted.len() + proposed.len();
    let (hunks, limit) = if forms[0] == forms[1] {
        (Vec::new(), None)
    } else if lines > crate::limits::DIFFERENCE_LINES {
        (lines::replaced(&accepted, &proposed), Some("lines"))
    } else {
        (lines::compared(&accepted, &proposed), None)
    };
    DifferenceDoc { unified: unified(&hunks), hunks, limit }
}

/// A form as its lines, each with its line feed.
fn split(form: &str) -> Vec<&str> {
    form.split_inclusive('\n').collect()
}

/// Hunks as a unified diff.
fn unified(hunks: &[HunkDoc]) -> String {
    if hunks.is_empty() {
        return String::new();
    }
    let mut out = String::from("--- accepted\n+++ proposed\n");
    for HunkDoc { accepted, proposed, lines } in hunks {
        let [[from, removed], [to, added]] = [accepted, proposed];
        writeln!(out, "@@ -{from},{removed} +{to},{added} @@").expect("a string takes everything");
        for line in lines {
            out.push(lines::sign(line.kind));
            out.push_str(&line.text());
            out.push('\n');
        }
    }
    out
}
