//! `work show`: one kept answer, with its sources looked at now.

use super::{DONE, REPAIR};
use crate::args::{Format, Show};
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::ids;
use crate::output::{self, Answer};
use crate::wrap::wrapped;
use work_core::document::render;
use work_core::id::{IdKind, ResultId};
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::ShowError;

pub(super) fn run(show: &Show, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = ids::find(&opened.work, IdKind::Result, &show.result, ResultId::from_bytes)?;
    let mut line = call.looking();
    let document = opened
        .work
        .show(id, show.revision.map(RevisionNo), &mut line)
        .map_err(|error| refused(error, id))?;
    drop(line);
    call.out.detail(|| format!("Result: {id}"));
    let text = |document: &_| match show.format {
        Format::Markdown => render::markdown(document),
        Format::Text => render::text(document),
    };
    call.out.document(&document, |document| wrapped(&text(document), output::width()))?;
    let work = &call.out.program;
    if document.state.hides() {
        call.out.next(&[(format!("{work} folders"), "see which folders are approved")]);
    } else if document.state == ResultState::Stale && show.revision.is_none() {
        let short = ids::short(&opened, IdKind::Result, id.bytes());
        call.out.next(&[(format!("{work} repair {short}"), REPAIR)]);
    }
    Ok(DONE)
}

fn refused(error: ShowError, id: ResultId) -> Fault {
    match error {
        ShowError::UnknownRevision(_) => Fault::from(error).about(About::Revision(id)),
        ShowError::Unknown | ShowError::Failed(_) => error.into(),
    }
}
