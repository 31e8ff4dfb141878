//! The commands, one file each: open, ask one use case, print what it answers.

mod approve;
mod attention;
mod cancel;
mod check;
mod completions;
mod doctor;
mod export;
mod folders;
mod init;
mod list;
mod log;
mod man;
mod refresh;
mod report;
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
        Command::Tasks(tasks) => tasks::run(tasks, call),
        Command::Cancel(cancel) => cancel::run(cancel, call),
        Command::Worker(worker) => worker::run(worker, call),
        Command::Status => status::run(call),
        Command::Check(check) => check::run(check, call),
        Command::Refresh => refresh::run(call),
        Command::Export(export) => export::run(export, call),
        Command::Verify(verify) => verify::run(verify, call),
        Command::Doctor => doctor::run(call),
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

/// A moment to the minute, UTC; `-` where it is hidden.
fn minute(at: Option<Timestamp>) -> String {
    at.map_or_else(
        || "-".to_owned(),
        |at| at.to_string().chars().take("2026-11-30 17:06".len()).collect(),
    )
}
