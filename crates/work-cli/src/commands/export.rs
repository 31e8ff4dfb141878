//! `work export`: one revision for somebody else, as a document that `work verify` compares with files anywhere.

use super::DONE;
use crate::args::Export;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::ids;
use crate::new_file;
use crate::open::shown;
use crate::output::Answer;
use work_core::id::{IdKind, ResultId};
use work_core::result::RevisionNo;
use work_core::workspace::{ExportError, ShowError};

pub(super) fn run(export: &Export, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = ids::find(&opened.work, IdKind::Result, &export.result, ResultId::from_bytes)?;
    if let Some(path) = &export.output {
        new_file::is_free(path)?;
    }
    let mut line = call.looking();
    let document = opened
        .work
        .export(id, export.revision.map(RevisionNo), &mut line)
        .map_err(|error| refused(error, id))?;
    drop(line);
    let bytes = call.out.bare(&document)?;
    let Some(path) = &export.output else {
        call.out.print(&bytes)?;
        return Ok(DONE);
    };
    new_file::write(path, &bytes)?;
    let quotations = match document.quotations.len() {
        1 => "1 quotation".to_owned(),
        n => format!("{n} quotations"),
    };
    let no = document.revision.no.0;
    call.out.note(&format!("Wrote revision {no} with {quotations} to {}", shown(path)));
    call.out.note("It is in clear text and unsigned.");
    let verify = format!("work verify {} --folder DIR", crate::hint::quoted_path(path));
    call.out.next(&[(verify, "compare it with the files of a folder")]);
    Ok(DONE)
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
