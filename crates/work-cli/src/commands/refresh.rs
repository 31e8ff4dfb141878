//! `work refresh`: looks at every file that is quoted, and says which answers are worth something else than before.

use super::list::style;
use super::worker::turn;
use super::{DONE, IN_PART, count};
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use crate::wrap::wrapped;
use work_core::document::wire::RefreshDoc;
use work_core::id::IdKind;

pub(super) fn run(call: &Call) -> Answer {
    let opened = call.open()?;
    let mut line = call.looking();
    let document = opened.work.refresh(&mut line)?;
    drop(line);
    call.out.document(&document, |document| people(&opened, document))?;
    if !document.results.is_empty() {
        let status = format!("{} status", call.out.program);
        call.out.next(&[(status, "see what became of the quotations")]);
    }
    Ok(if document.not_looked_at > 0 { IN_PART } else { DONE })
}

fn people(opened: &Opened, document: &RefreshDoc) -> String {
    let mut text = turned(opened, document);
    if document.left_out > 0 {
        text.push_str(&format!("And {} more.\n", count(document.left_out, "result")));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text + &wrapped(&totals(document), output::width())
}

/// The results that are worth something else than before.
fn turned(opened: &Opened, document: &RefreshDoc) -> String {
    if document.results.is_empty() {
        return String::new();
    }
    let whole: Vec<_> = document.results.iter().map(|one| one.artifact_id.bytes()).collect();
    let mut table = Table::new(["RESULT", "STATE", "WHY"]);
    for (one, id) in document.results.iter().zip(ids::shortest(opened, IdKind::Result, &whole)) {
        let state = one.state.as_str().to_owned();
        table.row([id, state, turn(one.state).to_owned()], style(one.state));
    }
    table.text(output::width())
}

fn totals(document: &RefreshDoc) -> String {
    let RefreshDoc { looked_at, changed, missing, unstable, not_looked_at, .. } = document;
    let told = [
        (*changed, "changed"),
        (*missing, "missing"),
        (*unstable, "would not hold still"),
        (*not_looked_at, "not looked at in time"),
    ];
    let told = told.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}"));
    format!("Looked at {}{}.\n", count(*looked_at, "source"), told.collect::<String>())
}
