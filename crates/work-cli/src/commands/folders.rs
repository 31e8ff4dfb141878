//! `work folders`: what is and was approved, and what of it may be read.

use super::{BAD, DONE, GOOD};
use crate::call::Call;
use crate::hint;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use work_core::document::wire::{FoldersDoc, GrantEntry, RulesDoc};
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::IdKind;
use work_core::report::Reached;

pub(super) fn run(call: &Call) -> Answer {
    let opened = call.open()?;
    let document = opened.work.folders()?;
    call.out.document(&document, |document| table(call, &opened, document))?;
    if document.folders.is_empty() {
        call.out.note("No folder is approved yet.");
        call.out.next(&[(format!("{} approve DIR", call.out.program), "approve one")]);
    }
    Ok(DONE)
}

fn table(call: &Call, opened: &Opened, document: &FoldersDoc) -> String {
    if document.folders.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["FOLDER", "STATE", "LABEL", "PATH"]);
    let whole: Vec<_> = document.folders.iter().map(|folder| folder.folder.bytes()).collect();
    let ids = ids::shortest(opened, IdKind::Grant, &whole);
    for (folder, id) in document.folders.iter().zip(ids) {
        let (state, style) = state(folder);
        let label = crate::table::cut(&folder.label, 20);
        table.row([id, state.to_owned(), label, folder.path.clone()], style);
    }
    let mut text = table.text(output::width());
    for folder in document.folders.iter().filter(|folder| state(folder).0 == "replaced") {
        let (program, path) = (&call.out.program, hint::quoted(&folder.path));
        text.push_str(&format!(
            "\n{} is not the directory that was approved, or may not be listed.\nIf it is the one you mean: {program} approve {path}\n",
            folder.label
        ));
    }
    for folder in document.folders.iter().filter(|folder| !is_standard(&folder.rules)) {
        text.push_str(&format!("\nRules of {}:\n{}", folder.label, special(&folder.rules)));
    }
    text
}

/// How a folder stands: whether it is approved, and if so, whether it is there as it was approved.
fn state(folder: &GrantEntry) -> (&'static str, Style) {
    match (folder.state, folder.reached) {
        ("active", Some(Reached::Unreachable)) => ("unreachable", BAD),
        ("active", Some(Reached::Denied)) => ("replaced", BAD),
        ("active", Some(Reached::Yes) | None) => ("active", GOOD),
        (_, _) => ("revoked", BAD),
    }
}

fn is_standard(rules: &RulesDoc) -> bool {
    let standard = Rules::standard();
    rules.extensions == standard.extensions()
        && rules.exclude.is_empty()
        && rules.hidden == standard.hidden
        && rules.ignore_files == standard.ignore_files
}

/// What rules say, one line each.
fn special(rules: &RulesDoc) -> String {
    let mut lines = vec![format!("extensions: {}", rules.extensions.join(" "))];
    if !rules.exclude.is_empty() {
        lines.push(format!("excluded: {}", rules.exclude.join(" ")));
    }
    match rules.hidden {
        Hidden::Read => lines.push("names that begin with a dot are read".to_owned()),
        Hidden::Skipped => {}
    }
    match rules.ignore_files {
        IgnoreFiles::Unheeded => lines.push("ignore files are not heeded".to_owned()),
        IgnoreFiles::Honoured => {}
    }
    lines.iter().map(|line| format!("  {}\n", work_core::show::line(line))).collect()
}
