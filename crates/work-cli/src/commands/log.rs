//! `work log`: what was done, in order.

use super::{DONE, minute};
use crate::args::Log;
use crate::call::Call;
use crate::ids::Digits;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use serde_json::Value;
use work_core::document::wire::{EventDoc, LogDoc};

/// Digits of an id that people see.
const ID: usize = 6;

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

/// The ids and numbers of an event but for the lease; of an id the first six digits, or all. The first word of what
/// happened names the first of them.
fn about(event: &EventDoc, digits: Digits) -> String {
    let subject = event.kind.as_deref().and_then(|kind| kind.split('_').next());
    let told = event.ids.iter().filter(|(name, _)| *name != "fence");
    let words = told.map(|(name, value)| {
        let value = shown(name, value, digits);
        if subject == Some(name) { value } else { format!("{name} {value}") }
    });
    words.collect::<Vec<_>>().join("  ")
}

/// An id by its first digits; a reason or a number as it is.
fn shown(name: &str, value: &Value, digits: Digits) -> String {
    match (value.as_str(), digits) {
        (None, _) => value.to_string(),
        (Some(id), Digits::Fewest) if name != "reason" => id.chars().take(ID).collect(),
        (Some(word), Digits::Fewest | Digits::All) => word.to_owned(),
    }
}
