//! `work tasks`: what was asked for, and what came of it.

use super::{BAD, DONE, DOUBTFUL, GOOD, minute};
use crate::args::Tasks;
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::table::Table;
use anstyle::Style;
use work_core::document::wire::{TaskDoc, TasksDoc};
use work_core::id::{IdKind, ProposalId, ResultId};

pub(super) fn run(tasks: &Tasks, call: &Call) -> Answer {
    let opened = call.open()?;
    let document = opened.work.tasks(tasks.cursor.as_deref())?;
    call.out.document(&document, |document| table(&opened, document))?;
    let work = &call.out.program;
    if let Some(cursor) = &document.next {
        call.out.next(&[(format!("{work} tasks --cursor {cursor}"), "see more")]);
    } else if document.tasks.is_empty() {
        call.out.note("Nothing was asked for yet.");
    }
    Ok(DONE)
}

fn table(opened: &Opened, document: &TasksDoc) -> String {
    if document.tasks.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["TASK", "STATE", "ASKED (UTC)", "CAME OF IT", "QUERY"]);
    let whole: Vec<_> = document.tasks.iter().map(|task| task.task_id.bytes()).collect();
    let ids = ids::shortest(opened, IdKind::Task, &whole);
    let came = came_of(opened, &document.tasks);
    for ((task, id), came) in document.tasks.iter().zip(ids).zip(came) {
        let asked = minute(Some(task.created_at));
        table.row([id, task.state.to_owned(), asked, came, asks(task)], style(task.state));
    }
    table.text(output::width())
}

/// What is asked: the query, and whether it is asked again for a result that is there.
pub(super) fn asks(task: &TaskDoc) -> String {
    let query = work_core::show::line(&task.query);
    if task.kind == "repair" { format!("repair: {query}") } else { query }
}

/// What came of each of these tasks so far.
pub(super) fn came_of(opened: &Opened, tasks: &[TaskDoc]) -> Vec<String> {
    let whole: Vec<_> = tasks.iter().filter_map(published).map(ResultId::bytes).collect();
    let mut results = ids::shortest(opened, IdKind::Result, &whole).into_iter();
    let whole: Vec<_> =
        tasks.iter().filter_map(|task| task.proposal_id).map(ProposalId::bytes).collect();
    let mut proposals = ids::shortest(opened, IdKind::Proposal, &whole).into_iter();
    let one = |task: &TaskDoc| {
        let result = published(task).and_then(|_| results.next()).map(|id| format!("result {id}"));
        let proposal = task.proposal_id.and_then(|_| proposals.next());
        came(task, result.or(proposal.map(|id| format!("proposal {id}"))))
    };
    tasks.iter().map(one).collect()
}

/// The result that a task made. That of a repair was there before.
fn published(task: &TaskDoc) -> Option<ResultId> {
    task.artifact_id.filter(|_| task.outcome == Some("published"))
}

fn came(task: &TaskDoc, made: Option<String>) -> String {
    match (&task.error, made, task.outcome, &task.progress) {
        (Some(error), _, _, _) => error.code.to_owned(),
        (None, Some(made), _, _) => made,
        (None, None, Some("no_change"), _) => "no change".to_owned(),
        (None, None, _, Some(progress)) => {
            format!("{} of {} files", progress.files_read, progress.of)
        }
        (None, None, _, None) => "-".to_owned(),
    }
}

fn style(state: &str) -> Style {
    match state {
        "succeeded" => GOOD,
        "failed" | "cancelled" => BAD,
        _ => DOUBTFUL,
    }
}
