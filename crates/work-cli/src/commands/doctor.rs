//! `work doctor`: whether the instance and its records are sound, and what to do where they are not.

use super::accept_clock::{self, Said};
use super::{BAD, DONE, DOUBTFUL, GOOD, init};
use crate::args::Doctor;
use crate::call::Call;
use crate::fault::Ended;
use crate::hint::{Program, quoted_path};
use crate::open::{locked, readable, shown};
use crate::output::{self, Answer};
use crate::wrap::{hanging, wrapped};
use anstyle::Style;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use work_core::code::{Code, Coded as _};
use work_core::document::wire::{DoctorDoc, FindingDoc};
use work_core::port::{Clock as _, StoreError};
use work_core::show;
use work_core::workspace::{Failure, Workspace};
use work_source::FolderDoor;
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError};
use work_store::sqlite::{AsIs, Depth, Fault, SqliteStore};

/// Exit codes (spec C7).
const FOUND: u8 = 1;
const DAMAGED: u8 = 15;

const RESTORE: &str =
    "keep a copy of the instance directory and go back to a backup that this command finds sound";

const OTHER: &str = "rely on another backup; nothing should be made of this file";

pub(super) fn run(doctor: &Doctor, call: &Call) -> Answer {
    if doctor.accept_clock && accept_clock::run(doctor, call)? == Said::No {
        return Ok(DONE);
    }
    let document = match &doctor.file {
        Some(file) => of_named(file)?,
        None => checked(call)?,
    };
    call.out.document(&document, people)?;
    let damaged = document.findings.iter().any(|finding| finding.severity == "damage");
    Ok(match (document.ok, damaged) {
        (true, _) => DONE,
        (false, true) => DAMAGED,
        (false, false) => FOUND,
    })
}

/// What the file, the records and the directory show. The directory is looked at first, as it is: opening the records
/// may be what fails.
fn checked(call: &Call) -> Result<DoctorDoc, Ended> {
    let instance = readable(Instance::open_as_is(&call.home()?.path))?;
    let directory = of_directory(&instance, &call.out.program)?;
    let mut document = match locked(instance.dir()) {
        Some((path, _)) => only(denied(&path)),
        None => match of_records(call, &instance) {
            Err(Ended::Fault(fault)) if fault.code == Code::StoreDamaged => only(of_store()),
            records => records?,
        },
    };
    document.findings.extend(directory);
    Ok(judged(document))
}

fn denied(path: &Path) -> FindingDoc {
    let what = format!("{} cannot be read: permission denied", shown(path));
    let next = format!("chmod 600 {}", quoted_path(path));
    finding("permission_denied", "warning", what, next)
}

/// What the records of the instance show.
fn of_records(call: &Call, instance: &Instance) -> Result<DoctorDoc, Ended> {
    call.out.detail(|| format!("Instance: {}", shown(instance.dir())));
    let clock = Arc::new(HostClock::new());
    let store = match instance.look(clock).map_err(Failure::from)? {
        AsIs::Present(store) => store,
        AsIs::Older => return Ok(only(older("every other command brings it up to date"))),
    };
    let (mut document, work) = of_workspace(store)?;
    match work.folders() {
        Ok(folders) if folders.folders.is_empty() => {
            let next = format!("approve one: {} approve DIR", call.out.program);
            let what = "no folder is approved yet".to_owned();
            document.findings.push(finding("setup_incomplete", "note", what, next));
        }
        // That records cannot be read is found already.
        Ok(_) | Err(Failure::Store(StoreError::Damaged)) => {}
        Err(failure) => return Err(failure.into()),
    }
    Ok(document)
}

/// What a file shows that somebody named, a backup or a database.
fn of_named(file: &Path) -> Result<DoctorDoc, Ended> {
    let found = file.metadata().map_err(|error| init::unreadable(file, &error))?;
    let mut document = match SqliteStore::open_as_is(file, Arc::new(HostClock::new())) {
        Ok(AsIs::Present(store)) => of_workspace(store)?.0,
        Ok(AsIs::Older) => only(older("an instance made of it has the present one")),
        Err(cause @ (StoreError::Damaged | StoreError::Foreign | StoreError::Newer)) => {
            let code = Failure::Store(cause).code().as_str();
            only(finding(code, "damage", cause.to_string(), OTHER))
        }
        Err(cause) => return Err(Failure::Store(cause).into()),
    };
    for finding in document.findings.iter_mut().filter(|one| one.severity == "damage") {
        finding.next = OTHER.to_owned();
    }
    document.findings.extend(of_mode(file, &found));
    Ok(judged(document))
}

/// What file and records of a store show, and the use cases over it, for who wants to know more. No source is looked at.
fn of_workspace(store: SqliteStore) -> Result<(DoctorDoc, Workspace), Ended> {
    let store = Arc::new(store);
    let file = store.inspect(Depth::Full);
    let door = Arc::new(FolderDoor::without_instance(HostClock::new().reading().boot));
    let work = Workspace::new(store, door, Arc::new(OsIds));
    let mut document = match work.doctor() {
        Ok(document) => document,
        Err(Failure::Store(StoreError::Damaged)) => only(unreadable()),
        Err(failure) => return Err(failure.into()),
    };
    let file = match file {
        Ok(file) => file.faults.iter().map(of_file).collect(),
        Err(StoreError::Damaged) => vec![of_store()],
        Err(failure) => return Err(Failure::from(failure).into()),
    };
    for finding in file {
        if document.findings.iter().all(|known| known.code != finding.code) {
            document.findings.push(finding);
        }
    }
    Ok((judged(document), work))
}

/// A file that other users can use.
fn of_mode(file: &Path, found: &Metadata) -> Option<FindingDoc> {
    let mode = found.permissions().mode() & 0o777;
    let what = format!("other users can use {} (mode {mode:o})", shown(file));
    let next = format!("chmod {:o} {}", mode & 0o600, quoted_path(file));
    (mode & 0o077 != 0).then(|| finding("exposed", "warning", what, next))
}

/// A database of the schema before, of which no more is looked at.
fn older(next: &str) -> FindingDoc {
    let what = "the database has the schema before the present one, and was not looked into";
    finding("schema_older", "note", what.to_owned(), next)
}

/// The document with its verdict.
fn judged(document: DoctorDoc) -> DoctorDoc {
    let ok = document.findings.iter().all(|finding| finding.severity == "note");
    DoctorDoc { ok, ..document }
}

/// One finding, where nothing else could be found out.
fn only(finding: FindingDoc) -> DoctorDoc {
    DoctorDoc { ok: false, findings: vec![finding], events: None, chain: None }
}

fn of_store() -> FindingDoc {
    finding("store_damaged", "damage", StoreError::Damaged.to_string(), RESTORE)
}

fn unreadable() -> FindingDoc {
    let what = "records cannot be read as they were written".to_owned();
    finding("records_unreadable", "damage", what, RESTORE)
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

/// What is wrong with the directory and the token.
fn of_directory(instance: &Instance, work: &Program) -> Result<Vec<FindingDoc>, Ended> {
    let mut found = Vec::new();
    for exposed in instance.exposed()? {
        let what =
            format!("other users can use {} (mode {:o})", shown(&exposed.path), exposed.mode);
        let next = format!(
            "chmod {:o} {}; if they may have read the token, replace it: {work} init --new-token",
            exposed.mode & exposed.expected,
            quoted_path(&exposed.path)
        );
        found.push(finding("exposed", "warning", what, next));
    }
    match instance.token() {
        Ok(_) => {}
        Err(InstanceError::Io { path, source }) if source.kind() == ErrorKind::PermissionDenied => {
            let what = format!("{} cannot be read: permission denied", shown(&path));
            let next = format!("chmod 600 {}", quoted_path(&path));
            found.push(finding("token_unreadable", "warning", what, next));
        }
        Err(error) => {
            let next = format!("make a new one: {work} init --new-token");
            found.push(finding("token_unreadable", "warning", error.to_string(), next));
        }
    }
    Ok(found)
}

/// Findings for people, and one line at the end.
fn people(document: &DoctorDoc) -> String {
    let (mut text, width) = (String::new(), output::width());
    for FindingDoc { code, severity, what, next } in &document.findings {
        let style = style(severity);
        let (what, next) = (show::line(what), show::line(next));
        let found = format!("{style}{severity}{style:#} {code}: {what}\n");
        text.push_str(&wrapped(&found, width));
        text.push_str(&hanging("  next: ", &next, width));
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
