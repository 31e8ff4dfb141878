//! `work doctor`: whether the instance and its records are sound, and what to do where they are not.

use super::{BAD, DONE, DOUBTFUL, GOOD};
use crate::call::Call;
use crate::fault::Ended;
use crate::hint::Program;
use crate::open::{Opened, shown};
use crate::output::Answer;
use anstyle::Style;
use work_core::document::wire::{DoctorDoc, FindingDoc};
use work_core::port::StoreError;
use work_core::show;
use work_core::workspace::Failure;
use work_store::sqlite::{Depth, Fault};

/// Exit codes (spec C7).
const FOUND: u8 = 1;
const DAMAGED: u8 = 15;

const RESTORE: &str =
    "keep a copy of the instance directory and go back to a backup that this command finds sound";

pub(super) fn run(call: &Call) -> Answer {
    let opened = call.open()?;
    let document = checked(call, &opened)?;
    call.out.document(&document, people)?;
    let damaged = document.findings.iter().any(|finding| finding.severity == "damage");
    Ok(match (document.ok, damaged) {
        (true, _) => DONE,
        (false, true) => DAMAGED,
        (false, false) => FOUND,
    })
}

/// What the file, the records and the directory show.
fn checked(call: &Call, opened: &Opened) -> Result<DoctorDoc, Ended> {
    let file = opened.store.inspect(Depth::Full).map_err(Failure::from)?;
    let mut document = match opened.work.doctor() {
        Ok(document) => document,
        Err(Failure::Store(StoreError::Damaged)) => unreadable(),
        Err(failure) => return Err(failure.into()),
    };
    for finding in file.faults.iter().map(of_file) {
        if document.findings.iter().all(|known| known.code != finding.code) {
            document.findings.push(finding);
        }
    }
    document.findings.extend(of_directory(opened, &call.out.program)?);
    document.ok = document.findings.iter().all(|finding| finding.severity == "note");
    Ok(document)
}

fn unreadable() -> DoctorDoc {
    let what = "records cannot be read as they were written".to_owned();
    DoctorDoc {
        ok: false,
        findings: vec![finding("records_unreadable", "damage", what, RESTORE)],
        events: None,
        chain: None,
    }
}

fn finding(
    code: &'static str,
    severity: &'static str,
    what: String,
    next: impl Into<String>,
) -> FindingDoc {
    FindingDoc { code, severity, what, next: next.into() }
}

/// What is wrong with the file.
fn of_file(fault: &Fault) -> FindingDoc {
    let (code, what) = match fault {
        Fault::Broken { places } => {
            ("file_broken", format!("the file is broken in {places} places"))
        }
        Fault::Dangling { table, rows } => {
            ("reference_dangling", format!("{rows} rows of {table} refer to what is not there"))
        }
        Fault::Numbering { results } => {
            ("numbering_broken", format!("revisions of {results} results have a gap"))
        }
        Fault::Citations { results } => (
            "index_differs",
            format!("the quotations of {results} results are indexed otherwise than written"),
        ),
        Fault::Schema { name } => {
            ("schema_broken", format!("{name} of the schema is missing or another"))
        }
        Fault::Stranger { name } => {
            ("schema_stranger", format!("{name} does not belong to the schema"))
        }
    };
    finding(code, "damage", what, RESTORE)
}

/// What is wrong with the directory and the token, and what is still to do.
fn of_directory(opened: &Opened, work: &Program) -> Result<Vec<FindingDoc>, Ended> {
    let mut found = Vec::new();
    for path in opened.instance.tightened() {
        let what = format!("other users could use {} until now", shown(path));
        let next = format!(
            "it is closed now; if they may have read the token, replace it: {work} init --new-token"
        );
        found.push(finding("was_exposed", "warning", what, next));
    }
    for exposed in opened.instance.exposed()? {
        let what =
            format!("other users can use {} (mode {:o})", shown(&exposed.path), exposed.mode);
        let next = format!(
            "chmod {:o} {}",
            exposed.expected,
            crate::hint::quoted(&exposed.path.to_string_lossy())
        );
        found.push(finding("exposed", "warning", what, next));
    }
    if let Err(error) = opened.instance.token() {
        let next = format!("make a new one: {work} init --new-token");
        found.push(finding("token_unreadable", "warning", error.to_string(), next));
    }
    if opened.work.folders()?.folders.is_empty() {
        let next = format!("approve one: {work} approve DIR");
        found.push(finding(
            "setup_incomplete",
            "note",
            "no folder is approved yet".to_owned(),
            next,
        ));
    }
    Ok(found)
}

/// Findings for people, and one line at the end.
fn people(document: &DoctorDoc) -> String {
    let mut text = String::new();
    for FindingDoc { code, severity, what, next } in &document.findings {
        let style = style(severity);
        let (what, next) = (show::line(what), show::line(next));
        text.push_str(&format!("{style}{severity}{style:#} {code}: {what}\n  next: {next}\n"));
    }
    let (style, word) = if document.ok { (GOOD, "ok") } else { (BAD, "not ok") };
    text.push_str(&format!("{style}{word}{style:#}\n"));
    if let (Some(events), Some(chain)) = (document.events, &document.chain) {
        text.push_str(&format!("{events} events in the log; the last is\n  {chain}\n"));
    }
    text
}

fn style(severity: &str) -> Style {
    match severity {
        "damage" => BAD,
        "warning" => DOUBTFUL,
        _ => Style::new(),
    }
}
