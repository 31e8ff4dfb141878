//! The commands, one file each: open, ask one use case, print what it answers.

mod apply;
mod approve;
mod cancel;
mod compare;
mod completions;
mod dismiss;
mod doctor;
mod folders;
mod foreground;
mod history;
mod init;
mod list;
mod log;
mod man;
mod proposal;
mod proposals;
mod repair;
mod report;
mod restore;
mod review;
mod revoke;
mod schema;
mod show;
mod tasks;
mod worker;

use crate::args::Command;
use crate::call::Call;
use crate::output::Answer;
use anstyle::{AnsiColor, Style};
use work_core::time::Timestamp;

/// Runs one command.
///
/// # Errors
/// [`Ended`](crate::fault::Ended) when it ends early.
pub(crate) fn run(command: &Command, call: &Call) -> Answer {
    match command {
        Command::Init(init) => init::run(init, call),
        Command::Approve(approve) => approve::run(approve, call),
        Command::Revoke(revoke) => revoke::run(revoke, call),
        Command::Folders => folders::run(call),
        Command::Report(report) => report::run(report, call),
        Command::List(list) => list::run(list, call),
        Command::Show(show) => show::run(show, call),
        Command::Repair(repair) => repair::run(repair, call),
        Command::Proposals(proposals) => proposals::run(proposals, call),
        Command::Review(review) => review::run(review, call),
        Command::Apply(apply) => apply::run(apply, call),
        Command::Dismiss(dismiss) => dismiss::run(dismiss, call),
        Command::History(history) => history::run(history, call),
        Command::Compare(compare) => compare::run(compare, call),
        Command::Restore(restore) => restore::run(restore, call),
        Command::Tasks(tasks) => tasks::run(tasks, call),
        Command::Cancel(cancel) => cancel::run(cancel, call),
        Command::Worker(worker) => worker::run(worker, call),
        Command::Doctor => doctor::run(call),
        Command::Log(log) => log::run(log, call),
        Command::Schema(schema) => schema::run(schema, call),
        Command::Completions(completions) => completions::run(completions, call),
        Command::Man(man) => man::run(man, call),
    }
}

const DONE: u8 = 0;

/// How things stand, in colour.
const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// What is said below what would replace an accepted body.
const NOTHING_CHANGED: &str = "Nothing has changed yet.";

/// What repairing a stale result is for.
const REPAIR: &str = "propose what its sources say now";

/// Why nothing is shown, for each state that hides.
const fn hidden(state: &str) -> &'static str {
    match state.as_bytes() {
        b"access_removed" => "Hidden: a source may not be read now.\n",
        _ => "Hidden: a source cannot be read now, or the record of it cannot.\n",
    }
}

/// A moment to the minute, UTC; `-` where it is hidden.
fn minute(at: Option<Timestamp>) -> String {
    at.map_or_else(
        || "-".to_owned(),
        |at| at.to_string().chars().take("2026-11-30 17:06".len()).collect(),
    )
}
