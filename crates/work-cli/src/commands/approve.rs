//! `work approve`: says that a folder may be read, and by which rules.

use super::DONE;
use crate::args::Approve;
use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::ids;
use crate::open::{Opened, host_path};
use crate::output::Answer;
use crate::progress::Work;
use std::path::Path;
use work_core::document::wire::FolderDoc;
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::IdKind;
use work_core::port::Watch;

pub(super) fn run(approve: &Approve, call: &Call) -> Answer {
    let rules = rules(approve)?;
    let opened = call.open_or_create(std::slice::from_ref(&approve.dir))?;
    let mut line = call.line(Work::Look("Looking at what is cited"));
    let document = folder(&opened, &approve.dir, rules.as_ref(), &mut line)?;
    drop(line);
    call.out.document(&document, |document| sentence(&opened, document))?;
    let work = &call.out.program;
    call.out.next(&[
        (format!("{work} report QUERY"), "search the approved folders"),
        (format!("{work} folders"), "see them and their rules"),
    ]);
    Ok(DONE)
}

/// Whether a folder that a person named may be approved.
pub(super) fn admitted(opened: &Opened, dir: &Path) -> Result<(), Ended> {
    let admitted = opened.work.may_approve(&host_path(dir)?);
    admitted.map_err(|error| Fault::from(error).named(&dir.to_string_lossy()).into())
}

/// Approves a folder as a person named it.
pub(super) fn folder(
    opened: &Opened,
    dir: &Path,
    rules: Option<&Rules>,
    watch: &mut dyn Watch,
) -> Result<FolderDoc, Ended> {
    let approved = opened.work.approve(&host_path(dir)?, rules, watch);
    approved.map_err(|error| Fault::from(error).named(&dir.to_string_lossy()).into())
}

/// What approving or revoking changed.
pub(super) fn sentence(opened: &Opened, document: &FolderDoc) -> String {
    let FolderDoc { folder, change, not_looked_at } = document;
    let id = ids::short(opened, IdKind::Grant, folder.folder.bytes());
    let what = match *change {
        "approved" => "Approved",
        "approved_again" => "Approved again",
        "rules_changed" => "Changed the rules of",
        "revoked" => "Revoked",
        _ if folder.state == "revoked" => "Already revoked:",
        _ => "Already approved:",
    };
    let mut text = format!("{what} {} ({}, {id})\n", folder.path, folder.label);
    if *not_looked_at > 0 {
        text.push_str(&format!(
            "{not_looked_at} cited files were not looked at again in time; they show when what quotes them is opened.\n"
        ));
    }
    text
}

/// The rules that the options give; none if there is no such option.
fn rules(approve: &Approve) -> Result<Option<Rules>, Ended> {
    let Approve { dir: _, ext, exclude, hidden, no_ignore } = approve;
    if ext.is_empty() && exclude.is_empty() && !hidden && !no_ignore {
        return Ok(None);
    }
    let standard = || Rules::EXTENSIONS.map(str::to_owned).to_vec();
    let extensions = if ext.is_empty() { standard() } else { ext.clone() };
    let hidden = if *hidden { Hidden::Read } else { Hidden::Skipped };
    let ignore_files = if *no_ignore { IgnoreFiles::Unheeded } else { IgnoreFiles::Honoured };
    Ok(Some(Rules::new(extensions, exclude, hidden, ignore_files)?))
}
