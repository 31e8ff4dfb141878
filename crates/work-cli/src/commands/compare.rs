//! `work compare`: an earlier revision beside the accepted one.

use super::{DONE, hidden, proposal};
use crate::args::Compare;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::ids;
use crate::output::Answer;
use crate::paint::painted;
use work_core::document::wire::ComparisonDoc;
use work_core::id::{IdKind, ResultId};
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::ShowError;

pub(super) fn run(compare: &Compare, call: &Call) -> Answer {
    let opened = call.open()?;
    let id = proposal::find_result(&opened, &compare.result)?;
    let mut line = call.looking();
    let document = opened
        .work
        .compare(id, RevisionNo(compare.revision), &mut line)
        .map_err(|error| refused(error, id))?;
    drop(line);
    call.out.detail(|| format!("Result: {id}"));
    let result = ids::short(&opened, IdKind::Result, id.bytes());
    call.out.document(&document, |document| text(&result, document))?;
    say_what_follows(call, &result, &document);
    Ok(DONE)
}

fn refused(error: ShowError, id: ResultId) -> Fault {
    match error {
        ShowError::UnknownRevision(_) => Fault::from(error).about(About::Revision(id)),
        ShowError::Unknown | ShowError::Failed(_) => error.into(),
    }
}

fn text(result: &str, document: &ComparisonDoc) -> String {
    let ComparisonDoc { selected_revision: RevisionNo(selected), state, .. } = document;
    let (Some(RevisionNo(accepted)), Some(difference)) =
        (document.accepted_revision, &document.difference)
    else {
        return format!("Revision {selected} of result {result}: no difference is shown.\n{}", {
            withheld(*state)
        });
    };
    if accepted == *selected {
        return format!("Revision {selected} is the accepted one of result {result}.\n");
    }
    if difference.hunks.is_empty() {
        return format!(
            "Revision {selected} of result {result} says the same as the accepted revision {accepted}.\n"
        );
    }
    let mut text = format!(
        "Result {result}: from accepted revision {accepted} to revision {selected} ({})\n\n{}",
        state.as_str(),
        painted(difference)
    );
    if difference.limit.is_some() {
        text.push_str(proposal::TOO_LONG);
    }
    text
}

/// Why nothing of either body shows. A source that is only missing, or keeps changing, hides no result, but a
/// comparison needs it.
const fn withheld(state: ResultState) -> &'static str {
    match state {
        ResultState::SourcesChecked | ResultState::Stale => {
            "A source of one or of both is missing or keeps changing.\n"
        }
        ResultState::EvidenceUnavailable => hidden("evidence_unavailable"),
        ResultState::AccessRemoved => hidden("access_removed"),
    }
}

fn say_what_follows(call: &Call, result: &str, document: &ComparisonDoc) {
    let work = &call.out.program;
    let RevisionNo(no) = document.selected_revision;
    if document.can_restore {
        let restore = format!("{work} restore {result} {no}");
        call.out.next(&[(restore, "prepare to bring it back; applying it is another step")]);
    } else if document.state.hides() {
        call.out.next(&[(format!("{work} folders"), "see which folders are approved")]);
    }
}
