//! `work proposals`: what waits for approval, and what became of the rest.

use super::proposal::{kind, within};
use super::{BAD, DONE, DOUBTFUL, GOOD};
use crate::args::Proposals;
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use work_core::document::wire::{ProposalEntry, ProposalsDoc};
use work_core::id::IdKind;
use work_core::time::Timestamp;

pub(super) fn run(proposals: &Proposals, call: &Call) -> Answer {
    let opened = call.open()?;
    let document = opened.work.proposals(proposals.cursor.as_deref())?;
    let now = opened.now()?;
    call.out.document(&document, |document| table(&opened, document, now))?;
    say_what_follows(proposals, call, &opened, &document);
    Ok(DONE)
}

fn table(opened: &Opened, document: &ProposalsDoc, now: Timestamp) -> String {
    if document.proposals.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new(["PROPOSAL", "STATE", "KIND", "RESULT", "EXPIRES", "CAN BE APPLIED"]);
    let whole: Vec<_> = document.proposals.iter().map(|one| one.proposal_id.bytes()).collect();
    let ids = ids::shortest(opened, IdKind::Proposal, &whole);
    let whole: Vec<_> = document.proposals.iter().map(|one| one.artifact_id.bytes()).collect();
    let results = ids::shortest(opened, IdKind::Result, &whole);
    for ((one, id), result) in document.proposals.iter().zip(ids).zip(results) {
        let kind = kind(one.kind, one.restore_revision);
        let expires = expires(one, now);
        let cells = [id, one.state.to_owned(), kind, result, expires, can_apply(one)];
        table.row(cells, style(one.state));
    }
    table.text(output::width())
}

/// In how long it expires, while it waits.
fn expires(one: &ProposalEntry, now: Timestamp) -> String {
    let waits = one.expires_at.filter(|_| one.state == "pending");
    waits.map_or_else(|| "-".to_owned(), |at| within(now, at))
}

/// Whether it could be applied, as far as is known without a look, or why not.
fn can_apply(one: &ProposalEntry) -> String {
    match one.rejection_reason {
        None => "yes".to_owned(),
        Some(why) => format!("no: {why}"),
    }
}

fn style(state: &str) -> Style {
    match state {
        "applied" => GOOD,
        "pending" => DOUBTFUL,
        _ => BAD,
    }
}

fn say_what_follows(proposals: &Proposals, call: &Call, opened: &Opened, document: &ProposalsDoc) {
    let work = &call.out.program;
    let waits = document.proposals.iter().find(|one| one.state == "pending");
    let mut next = Vec::new();
    if let Some(waits) = waits {
        let id = ids::short(opened, IdKind::Proposal, waits.proposal_id.bytes());
        next.push((format!("{work} review {id}"), "see what it would change, and decide"));
    }
    if let Some(cursor) = &document.next {
        next.push((format!("{work} proposals --cursor {cursor}"), "see more"));
    }
    if document.proposals.is_empty() && document.next.is_none() && proposals.cursor.is_none() {
        call.out.note("Nothing to show.");
        next.push((format!("{work} list --state stale"), "see what may need a repair"));
    }
    call.out.next(&next);
}
