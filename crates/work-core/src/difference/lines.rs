//! Comparison of forms line by line, and of changed lines word by word.

use super::CONTEXT;
use crate::document::difference::{HunkDoc, LineDoc, WordsDoc};
use crate::limits::DIFFERENCE_WORD_BYTES;
use similar::{Algorithm, ChangeTag, DiffOp, DiffTag, InlineChange, InlineChangeOptions, TextDiff};

/// The share of words that must have stayed for a change of lines to be shown word by word.
const ALIKE: f32 = 0.25;

/// The hunks in which forms differ.
pub(super) fn compared(accepted: &[&str], proposed: &[&str]) -> Vec<HunkDoc> {
    // Patience first pairs the lines that each form has once, such as digests, and so keeps quotations together.
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(accepted, proposed);
    diff.grouped_ops(CONTEXT).iter().map(|ops| hunk(&diff, ops)).collect()
}

/// All of one form removed and all of the other added.
pub(super) fn replaced(accepted: &[&str], proposed: &[&str]) -> Vec<HunkDoc> {
    let whole = |kind: &'static str| move |line: &&str| LineDoc { kind, words: plain(line) };
    let lines = accepted.iter().map(whole("removed")).chain(proposed.iter().map(whole("added")));
    vec![HunkDoc {
        accepted: place(0, accepted.len()),
        proposed: place(0, proposed.len()),
        lines: lines.collect(),
    }]
}

/// What a unified diff writes before a line of this kind.
pub(super) fn sign(kind: &str) -> char {
    match kind {
        "removed" => '-',
        "added" => '+',
        _ => ' ',
    }
}

type Lines<'a> = TextDiff<'a, 'a, str>;

fn hunk(diff: &Lines<'_>, ops: &[DiffOp]) -> HunkDoc {
    let starts = ops.first().map(|op| (op.old_range().start, op.new_range().start));
    let (accepted, proposed) = starts.unwrap_or_default();
    let count = |length: fn(&DiffOp) -> usize| ops.iter().map(length).sum();
    HunkDoc {
        accepted: place(accepted, count(|op| op.old_range().len())),
        proposed: place(proposed, count(|op| op.new_range().len())),
        lines: ops.iter().flat_map(|op| lines(diff, op)).collect(),
    }
}

/// First line and count as a unified diff has them: from 1, but the line before where there are none.
fn place(start: usize, count: usize) -> [u32; 2] {
    let first = if count == 0 { start } else { start + 1 };
    [first, count].map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// The lines of one step of a comparison, the words marked where lines took the place of lines.
fn lines(diff: &Lines<'_>, op: &DiffOp) -> Vec<LineDoc> {
    if op.tag() == DiffTag::Replace && bytes(diff, op) <= DIFFERENCE_WORD_BYTES {
        let mut options = InlineChangeOptions::new();
        options.min_ratio(ALIKE).semantic_cleanup(true);
        let changes = diff.iter_inline_changes_with_options_deadline(op, options, None);
        return changes
            .map(|change| LineDoc { kind: kind(change.tag()), words: words(&change) })
            .collect();
    }
    let changes = diff.iter_changes(op);
    changes
        .map(|change| LineDoc { kind: kind(change.tag()), words: plain(change.value()) })
        .collect()
}

/// How much text one step of a comparison concerns.
fn bytes(diff: &Lines<'_>, op: &DiffOp) -> usize {
    let old = op.old_range().filter_map(|at| diff.old_slice(at));
    old.chain(op.new_range().filter_map(|at| diff.new_slice(at))).map(str::len).sum()
}

const fn kind(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "context",
        ChangeTag::Delete => "removed",
        ChangeTag::Insert => "added",
    }
}

/// A line with nothing marked.
fn plain(line: &str) -> Vec<WordsDoc> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let words = (!text.is_empty()).then(|| WordsDoc { text: text.to_owned(), changed: false });
    words.into_iter().collect()
}

/// A line with its changed words marked; neighbours that are marked alike stand together.
fn words(change: &InlineChange<'_, str>) -> Vec<WordsDoc> {
    let mut words: Vec<WordsDoc> = Vec::new();
    for &(changed, text) in change.values() {
        let text = text.strip_suffix('\n').unwrap_or(text);
        match words.last_mut().filter(|last| last.changed == changed) {
            Some(last) => last.text.push_str(text),
            None => words.push(WordsDoc { text: text.to_owned(), changed }),
        }
    }
    words.retain(|words| !words.text.is_empty());
    words
}
