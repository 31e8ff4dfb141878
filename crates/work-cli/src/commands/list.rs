//! `work list`: the kept answers, as the last looks found them.

use super::{BAD, DONE, DOUBTFUL, GOOD, REPAIR, minute};
use crate::args::List;
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use work_core::document::wire::ResultsDoc;
use work_core::id::IdKind;
use work_core::result::ResultState;
use work_core::workspace::StateFilter;

pub(super) fn run(list: &List, call: &Call) -> Answer {
    let opened = call.open()?;
    let filter = list.state.unwrap_or(StateFilter::All);
    let document = opened.work.list(filter, list.cursor.as_deref())?;
    call.out.document(&document, |document| table(&opened, document))?;
    say_what_follows(list, call, &opened, &document);
    Ok(DONE)
}

fn table(opened: &Opened, document: &ResultsDoc) -> String {
    if document.results.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["RESULT", "STATE", "CHANGED (UTC)", "QUERY"]);
    let whole: Vec<_> = document.results.iter().map(|result| result.artifact_id.bytes()).collect();
    let ids = ids::shortest(opened, IdKind::Result, &whole);
    for (result, id) in document.results.iter().zip(ids) {
        let query = work_core::show::line(&result.query);
        let state = result.state.as_str().to_owned();
        table.row([id, state, minute(result.updated_at), query], style(result.state));
    }
    table.text(output::width())
}

/// What a state looks like.
pub(super) const fn style(state: ResultState) -> Style {
    match state {
        ResultState::SourcesChecked => GOOD,
        ResultState::Stale => DOUBTFUL,
        ResultState::EvidenceUnavailable | ResultState::AccessRemoved => BAD,
    }
}

fn say_what_follows(list: &List, call: &Call, opened: &Opened, document: &ResultsDoc) {
    let work = &call.out.program;
    let mut next = Vec::new();
    if let Some(stale) = document.results.iter().find(|one| one.state == ResultState::Stale) {
        let id = ids::short(opened, IdKind::Result, stale.artifact_id.bytes());
        next.push((format!("{work} repair {id}"), REPAIR));
    }
    match (&document.next, document.results.first()) {
        (Some(cursor), _) => {
            let state = match list.state {
                Some(StateFilter::Only(state)) => format!(" --state {}", state.as_str()),
                Some(StateFilter::All) | None => String::new(),
            };
            next.push((format!("{work} list{state} --cursor {cursor}"), "see more"));
        }
        (None, None) if list.state.is_none() && list.cursor.is_none() => {
            call.out.note("Nothing is kept yet.");
            next.push((format!("{work} report QUERY"), "make a report"));
        }
        (None, None) => call.out.note("No kept answer is in this state."),
        (None, Some(_)) => {}
    }
    call.out.next(&next);
}
