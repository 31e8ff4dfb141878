//! `work verify`: the quotations of an export against the files that are here, without an instance.

use super::{ATTENTION, BAD, DONE, DOUBTFUL, GOOD};
use crate::args::Verify;
use crate::call::Call;
use crate::fault::{About, Ended, Fault};
use crate::hint;
use crate::open::{host_path, shown};
use crate::output::{self, Answer};
use crate::progress::Work;
use crate::table::Table;
use crate::wrap::wrapped;
use anstyle::Style;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use work_core::code::Code;
use work_core::document::export::{self, Exported};
use work_core::document::wire::{VerdictDoc, VerifyDoc};
use work_core::folder::Grant;
use work_core::limits::Limits;
use work_core::port::{Clock as _, SourceDoor as _};
use work_core::quote::Finding;
use work_core::verify;
use work_core::{path, show};
use work_source::FolderDoor;
use work_store::clock::HostClock;

/// Said under every answer: what it means, and what it does not.
const MEANING: &str = "This compares quotations with the files that are here now. The export is unsigned: nothing \
    here shows who made it, when, or that it was not changed since.";

const INTACT: &str = Finding::Intact.as_str();

pub(super) fn run(verify: &Verify, call: &Call) -> Answer {
    let limits = Limits::standard();
    let named = |fault: Fault| fault.named(&shown(&verify.file));
    let bytes = read(&verify.file, limits.export_bytes).map_err(named)?;
    let exported = export::read(&bytes, &limits).map_err(|error| named(error.into()))?;
    let door = FolderDoor::without_instance(HostClock::new().reading().boot);
    let grants = grants(call, verify, &exported, &door)?;
    let mut line = call.line(Work::Look("Looking at files"));
    let document = verify::verify(&door, &grants, &exported, &limits, &mut line);
    drop(line);
    call.out.document(&document, |document| people(document, &exported))?;
    if verify.folder.is_empty() && !document.passed {
        call.out.note("Compared with the current directory; name another with --folder DIR.");
    }
    say_what_is_missing(call, &exported, &grants);
    Ok(if document.passed { DONE } else { ATTENTION })
}

/// The file, no longer than an export may be.
fn read(file: &Path, most: usize) -> Result<Vec<u8>, Fault> {
    let source: io::Result<Box<dyn Read>> = match file {
        file if file == Path::new("-") => Ok(Box::new(io::stdin().lock())),
        file => File::open(file).map(|file| Box::new(file) as _),
    };
    let mut bytes = Vec::new();
    source
        .and_then(|source| source.take(most as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| not_an_export(format!("it cannot be read: {error}")))?;
    if bytes.len() > most {
        return Err(not_an_export(format!("it has more than {most} bytes, which no export has")));
    }
    Ok(bytes)
}

fn not_an_export(message: String) -> Fault {
    Fault::new(Code::InvalidArgument, message).about(About::ExportFile)
}

/// The labels of an export, each once, in order.
fn labels(exported: &Exported) -> BTreeSet<&str> {
    exported.quotations().iter().map(|one| one.label.as_str()).collect()
}

/// The directory named for each label.
fn grants(
    call: &Call,
    verify: &Verify,
    exported: &Exported,
    door: &FolderDoor,
) -> Result<Vec<(String, Grant)>, Ended> {
    let labels = labels(exported);
    let here = [".".into()];
    let named = if verify.folder.is_empty() { &here[..] } else { &verify.folder[..] };
    if verify.folder.is_empty() && labels.len() > 1 {
        let message = format!("it quotes {} folders", labels.len());
        return Err(unclear(message, &labels).into());
    }
    let mut serving: Vec<Serving> = Vec::new();
    for (n, folder) in named.iter().enumerate() {
        serving.push(serving_by(folder, n as u64, &labels, exported, door)?);
    }
    let mut grants: Vec<(String, Grant)> = Vec::new();
    for Serving { label, grant, by: _ } in surest(call, serving) {
        if grants.iter().any(|(known, _)| *known == label) {
            let message = format!("two directories are named for {}", show::line(&label));
            return Err(unclear(message, &labels).into());
        }
        grants.push((label, grant));
    }
    Ok(grants)
}

/// The directories without those that could serve a label only by chance and that another one serves for a reason.
fn surest(call: &Call, serving: Vec<Serving>) -> Vec<Serving> {
    let sure = serving.iter().filter(|one| one.by != By::Chance);
    let sure: BTreeSet<String> = sure.map(|one| one.label.clone()).collect();
    let (idle, serving): (Vec<_>, Vec<_>) =
        serving.into_iter().partition(|one| one.by == By::Chance && sure.contains(&one.label));
    for one in idle {
        let dir = path::show(one.grant.root.last_name());
        call.out.note(&format!("{dir} is no folder of the export; it was not looked at"));
    }
    serving
}

/// A directory with the label that it serves.
struct Serving {
    label: String,
    grant: Grant,
    by: By,
}

/// Why a directory serves a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// It was said so.
    Word,
    /// It is its own name.
    Name,
    /// There is no other.
    Chance,
}

/// One directory and the label that it serves.
fn serving_by(
    folder: &OsStr,
    n: u64,
    labels: &BTreeSet<&str>,
    exported: &Exported,
    door: &FolderDoor,
) -> Result<Serving, Ended> {
    let (label, dir) = split(folder, labels);
    let admitted = door.admit(&host_path(dir)?);
    let root = admitted.map_err(|why| refused(why.into(), dir, label, labels))?;
    let (label, by) = match label {
        Some(label) => (label.to_owned(), By::Word),
        None => serves(path::show(root.path.last_name()), labels).ok_or_else(|| {
            unclear(format!("no folder of it is named as {}", shown(dir)), labels)
        })?,
    };
    Ok(Serving { label, grant: verify::grant(n, root, exported), by })
}

/// A label of the export and the directory behind it, or a directory alone. Of two labels that fit, the longer one.
fn split<'a>(folder: &'a OsStr, labels: &BTreeSet<&'a str>) -> (Option<&'a str>, &'a Path) {
    let bytes = folder.as_encoded_bytes();
    let prefix = |label: &&str| {
        bytes.strip_prefix(label.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    };
    let label = labels.iter().copied().filter(prefix).max_by_key(|label| label.len());
    let dir = label.map_or(bytes, |label| &bytes[label.len() + 1..]);
    (label, Path::new(OsStr::from_bytes(dir)))
}

/// The label that a directory serves by its own name, or as there is only one.
fn serves(name: String, labels: &BTreeSet<&str>) -> Option<(String, By)> {
    let only = || labels.first().filter(|_| labels.len() == 1).map(|&only| only.to_owned());
    if labels.contains(name.as_str()) {
        Some((name, By::Name))
    } else {
        only().map(|label| (label, By::Chance))
    }
}

/// A directory that cannot be gone into. Where its text may have been meant to name a label, the labels are told.
fn refused(fault: Fault, dir: &Path, label: Option<&str>, labels: &BTreeSet<&str>) -> Fault {
    let fault = fault.about(About::VerifyFolder).named(&shown(dir));
    let meant = label.is_none() && dir.as_os_str().as_encoded_bytes().contains(&b'=');
    if meant { unclear(fault.message, labels) } else { fault }
}

/// Folders that do not say which is which.
fn unclear(message: String, labels: &BTreeSet<&str>) -> Fault {
    let mut fault = Fault::new(Code::InvalidArgument, message).about(About::VerifyFolder);
    fault.more = labels.iter().map(|label| format!("it quotes {label}")).collect();
    fault.details.insert("labels".into(), labels.iter().copied().collect());
    fault
}

/// The verdicts, and what they mean.
fn people(document: &VerifyDoc, exported: &Exported) -> String {
    let mut table = Table::new(["N", "VERDICT", "PASSAGE"]);
    for (verdict, one) in document.quotations.iter().zip(exported.quotations()) {
        let VerdictDoc { n, label, path, verdict, moved_to, moved_to_bytes: _ } = verdict;
        let (label, lines) = (show::line(label), lines(one.quotation.lines));
        let place = format!("{label}/{}:{lines}", path.path);
        table.row([n.to_string(), (*verdict).to_owned(), place], style(verdict));
        if let Some(moved) = moved_to {
            let now = format!("now {label}/{moved}");
            table.row([String::new(), String::new(), now], Style::new());
        }
    }
    let all = document.quotations.len();
    let intact = document.quotations.iter().filter(|one| one.verdict == INTACT).count();
    let end = format!("\n{intact} of {all} intact. {MEANING}\n");
    table.text(output::width()) + &wrapped(&end, output::width())
}

/// The lines of a passage.
fn lines((first, last): (u32, u32)) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// What a verdict looks like.
fn style(verdict: &str) -> Style {
    match verdict {
        INTACT => GOOD,
        "moved" | "cosmetic" => DOUBTFUL,
        _ => BAD,
    }
}

/// Says for which folders of the export no directory was named.
fn say_what_is_missing(call: &Call, exported: &Exported, grants: &[(String, Grant)]) {
    for label in labels(exported) {
        if grants.iter().all(|(known, _)| known != label) {
            let named = hint::quoted(label);
            let label = show::line(label);
            call.out.note(&format!("No directory was named for {label}: --folder {named}=DIR"));
        }
    }
}
