//! `work export`: one revision for somebody else, as a document that `work verify` compares with files anywhere.

use super::DONE;
use crate::args::Export;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::ids;
use crate::new_file;
use crate::open::shown;
use crate::output::{self, Answer};
use std::path::Path;
use work_core::document::export::ExportDoc;
use work_core::id::{IdKind, ResultId};
use work_core::result::RevisionNo;
use work_core::workspace::{ExportError, ShowError};

pub(super) fn run(export: &Export, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = ids::find(&opened.work, IdKind::Result, &export.result, ResultId::from_bytes)?;
    let file = export.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = file {
        new_file::is_free(path)?;
    }
    let mut line = call.looking();
    let document = opened
        .work
        .export(id, export.revision.map(RevisionNo), &mut line)
        .map_err(|error| refused(error, id))?;
    drop(line);
    if let Some(path) = file {
        new_file::write(path, &output::bare(&document)?)?;
        say_what_was_written(call, &document, path);
    }
    if call.out.json {
        call.out.document(&document, |_| String::new())?;
    } else if file.is_none() {
        call.out.print(&output::bare(&document)?)?;
    }
    Ok(DONE)
}

fn say_what_was_written(call: &Call, document: &ExportDoc, path: &Path) {
    let quotations = match document.quotations.len() {
        1 => "1 quotation".to_owned(),
        n => format!("{n} quotations"),
    };
    let no = document.revision.no.0;
    call.out.note(&format!("Wrote revision {no} with {quotations} to {}", shown(path)));
    call.out.note("It is in clear text and unsigned.");
    let verify = format!("work verify {} --folder DIR", crate::hint::quoted_path(path));
    call.out.next(&[(verify, "compare it with the files of a folder")]);
}

fn refused(error: ExportError, id: ResultId) -> Fault {
    match error {
        ExportError::Show(ShowError::UnknownRevision(_)) => {
            Fault::from(error).about(About::Revision(id))
        }
        ExportError::Show(_)
        | ExportError::Withheld(_)
        | ExportError::RefreshIncomplete
        | ExportError::Failed(_) => error.into(),
    }
}
