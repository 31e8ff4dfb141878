//! `work status`: which answers need somebody, why, and what to do about each.

use super::attention::{self, Block};
use super::{DONE, count, minute};
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use crate::wrap::wrapped;
use anstyle::Style;
use work_core::document::wire::{AttentionDoc, StatusDoc, WaitingDoc};
use work_core::id::IdKind;
use work_core::workspace::Reading;

pub(super) fn run(call: &Call) -> Answer {
    let opened = call.open()?;
    let mut line = call.looking();
    let document = opened.work.status(Reading::Trusting, &mut line)?;
    drop(line);
    let sources = &document.sources;
    let looked_at = count(sources.looked_at, "source");
    call.out.detail(|| format!("Looked at {looked_at}, {} changed", sources.changed));
    let program = call.out.program.to_string();
    call.out.document(&document, |document| people(&opened, &program, document))?;
    say_what_follows(call, &opened, &document);
    Ok(DONE)
}

fn people(opened: &Opened, program: &str, document: &StatusDoc) -> String {
    let blocks: Vec<Block<'_>> = document.attention.iter().map(block).collect();
    let mut parts = vec![attention::text(opened, program, &blocks)];
    if document.left_out > 0 {
        parts.push(format!("And {} more.\n", count(document.left_out, "result")));
    }
    parts.push(waiting(opened, &document.waiting));
    parts.push(wrapped(&totals(document), output::width()));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn block(one: &AttentionDoc) -> Block<'_> {
    Block {
        id: one.artifact_id,
        state: one.state,
        query: &one.query,
        causes: one.causes.as_ref().map(|causes| causes.iter().collect()),
        next: Some(&one.next),
    }
}

/// Proposals that wait for somebody's word.
fn waiting(opened: &Opened, waiting: &[WaitingDoc]) -> String {
    if waiting.is_empty() {
        return String::new();
    }
    let proposals: Vec<_> = waiting.iter().map(|one| one.proposal_id.bytes()).collect();
    let results: Vec<_> = waiting.iter().map(|one| one.artifact_id.bytes()).collect();
    let proposals = ids::shortest(opened, IdKind::Proposal, &proposals);
    let results = ids::shortest(opened, IdKind::Result, &results);
    let mut table = Table::new(["WAITS", "KIND", "RESULT", "EXPIRES (UTC)"]);
    for ((one, proposal), result) in waiting.iter().zip(proposals).zip(results) {
        let expires = minute(Some(one.expires_at));
        table.row([proposal, one.kind.to_owned(), result, expires], Style::new());
    }
    table.text(output::width())
}

/// One line over everything.
fn totals(document: &StatusDoc) -> String {
    let counts = &document.counts;
    let states = [
        ("sources_checked", counts.sources_checked),
        ("stale", counts.stale),
        ("evidence_unavailable", counts.evidence_unavailable),
        ("access_removed", counts.access_removed),
    ];
    let all = states.iter().map(|(_, n)| n).sum();
    if all == 0 {
        return String::new();
    }
    let some = states.iter().filter(|(_, n)| *n > 0).map(|(state, n)| format!("{n} {state}"));
    let some = some.collect::<Vec<_>>().join(", ");
    let quotations = &document.quotations;
    let mut line = format!(
        "{}: {some}. {} of {} affected.",
        count(all, "result"),
        quotations.affected,
        count(quotations.affected + quotations.intact, "quotation"),
    );
    if document.sources.not_looked_at > 0 {
        let sources = count(document.sources.not_looked_at, "source");
        line.push_str(&format!(" Not looked at in time: {sources}."));
    }
    if document.waiting_left_out > 0 {
        line.push_str(&format!(" {} more wait for your word.", document.waiting_left_out));
    }
    line + "\n"
}

fn say_what_follows(call: &Call, opened: &Opened, document: &StatusDoc) {
    let work = &call.out.program;
    let counts = &document.counts;
    let hidden = counts.evidence_unavailable + counts.access_removed;
    if counts.sources_checked + counts.stale + hidden == 0 {
        call.out.note("Nothing is kept yet.");
        call.out.next(&[(format!("{work} report QUERY"), "make a report")]);
    } else if let Some(one) = document.waiting.first() {
        let id = ids::short(opened, IdKind::Proposal, one.proposal_id.bytes());
        call.out.next(&[(format!("{work} review {id}"), "see what waits for your word")]);
    }
}
