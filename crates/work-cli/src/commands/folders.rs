//! `work folders`: what is and was approved, and what of it may be read.

use super::{BAD, DONE, GOOD};
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use work_core::document::wire::{FoldersDoc, RulesDoc};
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::IdKind;

pub(super) fn run(call: &Call) -> Answer {
    let opened = call.open()?;
    let document = opened.work.folders()?;
    call.out.document(&document, |document| table(&opened, document))?;
    if document.folders.is_empty() {
        call.out.note("No folder is approved yet.");
        call.out.next(&[(format!("{} approve DIR", call.out.program), "approve one")]);
    }
    Ok(DONE)
}

fn table(opened: &Opened, document: &FoldersDoc) -> String {
    if document.folders.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["FOLDER", "STATE", "LABEL", "PATH"]);
    let whole: Vec<_> = document.folders.iter().map(|folder| folder.folder.bytes()).collect();
    let ids = ids::shortest(&opened.work, IdKind::Grant, &whole);
    for (folder, id) in document.folders.iter().zip(ids) {
        let style = if folder.state == "active" { GOOD } else { BAD };
        let label = crate::table::cut(&folder.label, 20);
        table.row([id, folder.state.to_owned(), label, folder.path.clone()], style);
    }
    let mut text = table.text(output::width());
    for folder in document.folders.iter().filter(|folder| !is_standard(&folder.rules)) {
        text.push_str(&format!("\nRules of {}:\n{}", folder.label, special(&folder.rules)));
    }
    text
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
