//! `work log`: what was done, in order.

use super::{DONE, minute};
use crate::args::Log;
use crate::call::Call;
use crate::ids::Digits;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use work_core::document::wire::{EventDoc, LogDoc};

/// How many events the latest are.
const LATEST: u64 = 100;

pub(super) fn run(log: &Log, call: &Call) -> Answer {
    let opened = call.open()?;
    let after = match log.after {
        Some(after) => after,
        None => opened.work.events()?.saturating_sub(LATEST),
    };
    let document = opened.work.log(after)?;
    call.out.document(&document, |document| table(document, call.out.digits()))?;
    if let Some(next) = document.next {
        call.out.next(&[(format!("{} log --after {next}", call.out.program), "see more")]);
    } else if document.events.is_empty() {
        call.out.note("No event follows.");
    }
    Ok(DONE)
}

fn table(document: &LogDoc, digits: Digits) -> String {
    if document.events.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["#", "WHAT", "WHEN (UTC)", "ABOUT"]);
    for event in &document.events {
        let kind = event.kind.clone().unwrap_or_else(|| "unknown".to_owned());
        table.row(
            [event.seq.to_string(), kind, minute(Some(event.at)), about(event, digits)],
            Style::new(),
        );
    }
    table.text(output::width())
}

/// The ids and numbers of an event but for the lease; of an id the first six digits, or all.
fn about(event: &EventDoc, digits: Digits) -> String {
    let told = event.ids.iter().filter(|(name, _)| *name != "fence");
    let most = match digits {
        Digits::Fewest => 6,
        Digits::All => usize::MAX,
    };
    let words = told.map(|(name, value)| match value.as_str() {
        Some(id) => format!("{name} {}", id.chars().take(most).collect::<String>()),
        None => format!("{name} {value}"),
    });
    words.collect::<Vec<_>>().join("  ")
}
