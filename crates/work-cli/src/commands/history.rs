//! `work history`: the revisions of a result, the latest first.

use super::{DONE, hidden, list, minute, proposal};
use crate::args::History;
use crate::call::Call;
use crate::ids::{self, Digits};
use crate::output::{self, Answer};
use crate::table::Table;
use work_core::document::wire::{HistoryDoc, RevisionEntry};
use work_core::id::IdKind;
use work_core::result::RevisionNo;

/// Digits of a body's digest that people see.
const DIGEST: usize = 12;

pub(super) fn run(history: &History, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find_result(&opened, &history.result)?;
    let mut line = call.looking();
    let document = opened.work.history(id, history.cursor.as_deref(), &mut line)?;
    drop(line);
    call.out.detail(|| format!("Result: {id}"));
    call.out.document(&document, |document| text(document, call.out.digits()))?;
    let result = ids::short(&opened, IdKind::Result, id.bytes());
    say_what_follows(history, call, &result, &document);
    Ok(DONE)
}

fn text(document: &HistoryDoc, digits: Digits) -> String {
    let Some(revisions) = &document.revisions else {
        return hidden(document.state.as_str()).to_owned();
    };
    let mut table = Table::new(["REVISION", "STATE", "ACCEPTED (UTC)", "BODY", "RESTORED FROM"]);
    for revision in revisions {
        table.row(cells(revision, digits), list::style(revision.state));
    }
    table.text(output::width())
}

fn cells(revision: &RevisionEntry, digits: Digits) -> [String; 5] {
    let most = match digits {
        Digits::Fewest => DIGEST,
        Digits::All => usize::MAX,
    };
    let body = revision.digest.map(|digest| digest.to_string().chars().take(most).collect());
    let from = revision.restored_from.map(|RevisionNo(no)| no.to_string());
    let unknown = || "-".to_owned();
    [
        revision.revision.0.to_string(),
        revision.state.as_str().to_owned(),
        minute(revision.created_at),
        body.unwrap_or_else(unknown),
        from.unwrap_or_else(unknown),
    ]
}

fn say_what_follows(history: &History, call: &Call, result: &str, document: &HistoryDoc) {
    let work = &call.out.program;
    let mut next = Vec::new();
    match &document.revisions {
        None => next.push((format!("{work} folders"), "see which folders are approved")),
        Some(revisions) => {
            // The first of the latest is the accepted one, which there is nothing to compare with.
            let accepted = usize::from(history.cursor.is_none());
            if let Some(RevisionEntry { revision: RevisionNo(no), .. }) = revisions.get(accepted) {
                next.push((
                    format!("{work} compare {result} {no}"),
                    "see how it differs from what is accepted",
                ));
            }
        }
    }
    if let Some(cursor) = &document.next {
        next.push((format!("{work} history {result} --cursor {cursor}"), "see earlier ones"));
    }
    call.out.next(&next);
}
