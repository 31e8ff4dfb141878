//! The commands, one file each: open, ask one use case, print what it answers.

mod accept_clock;
mod apply;
mod approve;
mod attention;
mod backup;
mod cancel;
mod check;
mod compare;
mod completions;
mod dismiss;
mod doctor;
mod export;
mod folders;
mod foreground;
mod history;
mod init;
mod list;
mod log;
mod man;
mod proposal;
mod proposals;
mod refresh;
mod repair;
mod report;
mod restore;
mod review;
mod revoke;
mod schema;
mod show;
mod status;
mod tasks;
mod verify;
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
        Command::Status => status::run(call),
        Command::Check(check) => check::run(check, call),
        Command::Refresh => refresh::run(call),
        Command::Export(export) => export::run(export, call),
        Command::Verify(verify) => verify::run(verify, call),
        Command::Doctor(doctor) => doctor::run(doctor, call),
        Command::Backup(backup) => backup::run(backup, call),
        Command::Log(log) => log::run(log, call),
        Command::Schema(schema) => schema::run(schema, call),
        Command::Completions(completions) => completions::run(completions, call),
        Command::Man(man) => man::run(man, call),
    }
}

const DONE: u8 = 0;
/// Not all of it could be done (spec C7).
const IN_PART: u8 = 3;
/// Something needs attention: `check` and `verify` (spec C7).
const ATTENTION: u8 = 10;

/// How things stand, in colour.
const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// A number with its noun.
fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

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
