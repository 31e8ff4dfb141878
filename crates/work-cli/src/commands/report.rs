//! `work report`: asks, works the task in the foreground, and prints the answer.

use super::foreground::{self, UntilSignal};
use super::{DONE, approve, init};
use crate::args::Report;
use crate::call::Call;
use crate::fault::{Ended, Fault};
use crate::ids;
use crate::open::{Opened, shown};
use crate::output::{self, Answer};
use crate::progress::Work;
use crate::signals::{INTERRUPTED, Signal, Signals};
use crate::wrap::wrapped;
use std::path::PathBuf;
use work_core::document::render;
use work_core::document::wire::ResultDoc;
use work_core::id::{GrantId, IdKind, TaskId};
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, RunError};
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::Instance;

pub(super) fn run(report: &Report, call: &Call) -> Answer {
    let query = Query::parse(&report.words.join(" "))?;
    let opened =
        if report.folder.is_empty() { call.open()? } else { call.open_or_create(&report.folder)? };
    complete(call, &opened, &report.folder)?;
    let signals = Signals::take();
    let folders = folders(report, call, &opened, &signals)?;
    let task = opened.work.ask(&ReportAsk { query, folders, key: report.key.clone() })?;
    call.out.detail(|| format!("Task: {}", task.task_id));
    if report.detach {
        return foreground::detached(call, &opened, &task);
    }
    let result = worked(call, &opened, &signals, task.task_id)?;
    call.out.detail(|| told(&result));
    call.out.document(&result, |result| wrapped(&render::markdown(result), output::width()))?;
    say_what_follows(call, &opened, &result);
    Ok(DONE)
}

/// Makes the token where a crash left none, if the command would also have made the instance (spec C4).
fn complete(call: &Call, opened: &Opened, folders: &[PathBuf]) -> Result<(), Ended> {
    let dir = opened.instance.dir();
    if folders.is_empty() || !init::lacks_token(dir) {
        opened.instance.token()?;
        return Ok(());
    }
    let instance = Instance::create(dir, &OsIds, &HostClock::new())?;
    call.out.note(&format!("Made the missing token of the instance {}", shown(instance.dir())));
    Ok(())
}

/// More about a result: its whole id, and how long the scan took.
fn told(result: &ResultDoc) -> String {
    let took = result.scan.as_ref().and_then(|scan| scan.elapsed_ms);
    let took = took.map(|ms| format!("\nScan: {ms} ms")).unwrap_or_default();
    format!("Result: {}{took}", result.artifact_id)
}

/// Approves the folders named: the command names them, so the person approved them (spec C4).
fn folders(
    report: &Report,
    call: &Call,
    opened: &Opened,
    signals: &Signals,
) -> Result<Option<Vec<GrantId>>, Ended> {
    if report.folder.is_empty() {
        return Ok(None);
    }
    // All of them or none: a folder that is refused leaves no other approved.
    report.folder.iter().try_for_each(|dir| approve::admitted(opened, dir))?;
    let mut folders = Vec::new();
    for dir in &report.folder {
        let mut watch =
            UntilSignal { signals, line: call.line(Work::Look("Looking at what is cited")) };
        let approved = approve::folder(opened, dir, None, &mut watch)?;
        drop(watch);
        if signals.arrived().is_some() {
            return Err(Fault::stopped_before_asking().exit(INTERRUPTED).into());
        }
        if approved.change != "unchanged" {
            call.out.note(approve::sentence(opened, &approved).trim_end());
        }
        folders.push(approved.folder.folder);
    }
    Ok(Some(folders))
}

/// Works the task here, or waits for whoever has it. A signal ends it in order.
fn worked(
    call: &Call,
    opened: &Opened,
    signals: &Signals,
    task: TaskId,
) -> Result<ResultDoc, Ended> {
    let finished = foreground::work(call, opened, signals, task, |worker, pause, watch| {
        opened.work.finish(task, worker, pause, watch)
    });
    Ok(ending(finished, signals.arrived())?)
}

/// What a report in the foreground comes to. A signal that comes when the result is already kept may have cut the look
/// at its sources short: the person is told where it is, instead of what such a look would show.
fn ending(
    finished: Result<ResultDoc, RunError>,
    signal: Option<Signal>,
) -> Result<ResultDoc, Fault> {
    match (finished, signal) {
        (Ok(result), None) => Ok(result),
        (Ok(result), Some(_)) => {
            Err(Fault::stopped_before_showing(result.artifact_id).exit(INTERRUPTED))
        }
        (Err(error @ (RunError::Cancelled(_) | RunError::Stopped(_))), Some(_)) => {
            Err(Fault::from(error).exit(INTERRUPTED))
        }
        (Err(error), _) => Err(error.into()),
    }
}

fn say_what_follows(call: &Call, opened: &Opened, result: &ResultDoc) {
    let work = &call.out.program;
    let short = ids::short(opened, IdKind::Result, result.artifact_id.bytes());
    call.out.next(&[
        (format!("{work} show {short}"), "see it again, with its sources looked at anew"),
        (format!("{work} list"), "see all that is kept"),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hint::{Program, hint};
    use std::sync::Arc;
    use std::time::Duration;
    use work_core::code::Code;
    use work_core::id::ResultId;
    use work_core::memory::MemoryDoor;
    use work_core::path::HostPath;
    use work_core::port::{Go, Pause as _, Quiet};
    use work_core::result::ResultState;
    use work_core::workspace::Workspace;

    /// A result of which a look that was cut short shows nothing.
    fn stub() -> ResultDoc {
        ResultDoc {
            artifact_id: ResultId::from_bytes([0xab; 16]),
            kind: "excerpt_report",
            query: "backups".to_owned(),
            folders: None,
            state: ResultState::EvidenceUnavailable,
            causes: None,
            observed_at: None,
            revision: None,
            restored_from: None,
            created_at: None,
            updated_at: None,
            body: None,
            scan: None,
            verification: None,
        }
    }

    // spec: C9
    #[test]
    fn a_signal_after_the_result_was_kept_says_where_it_is_and_shows_no_stub() {
        for signal in [Signal::Interrupt, Signal::Terminate] {
            let fault = ending(Ok(stub()), Some(signal)).expect_err("it was stopped");
            let id = "ab".repeat(16);
            assert_eq!((fault.code, fault.exit), (Code::Cancelled, Some(130)), "{signal:?}");
            assert_eq!(fault.message, "stopped before the result was shown; it is kept");
            assert_eq!(fault.details["artifact_id"], id);
            let told = hint(&fault, &Program::default(), "home");
            assert_eq!(told, format!("see the result: work show {id}"));
        }
    }

    // spec: C9
    #[test]
    fn ctrl_c_while_waiting_for_a_task_that_has_just_ended_is_told_by_what_became_of_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let clock = HostClock::new();
        let instance = Instance::create(dir.path().join("home"), &OsIds, &clock).expect("a home");
        let store = Arc::new(instance.store(Arc::new(clock)).expect("a store"));
        let door = Arc::new(MemoryDoor::new().file("/docs/a.md", "Backups are kept.\n"));
        let work = Workspace::new(store, door, Arc::new(OsIds));
        work.approve(&HostPath::from_bytes("/docs"), None, &mut Quiet).expect("approved");
        let query = Query::parse("backups").expect("a query");
        let task = work.ask(&ReportAsk::everywhere(query)).expect("queued").task_id;
        let signals = Signals::with(Signal::Interrupt);
        let stop = foreground::Stop { work: &work, task, signals: &signals };
        work.work_once(work.new_worker(), &mut Quiet).expect("another worker makes it");
        assert_eq!(stop.pause(Duration::ZERO), Go::On, "the record is read once more");
        let finished = work.finish(task, work.new_worker(), &stop, &mut Quiet);
        let fault = ending(finished, signals.arrived()).expect_err("it was stopped");
        let result = work.task(task).expect("a task").artifact_id.expect("a result");
        assert_eq!(fault.about, crate::fault::About::Unshown(result));
    }

    #[test]
    fn without_a_signal_a_result_is_the_answer() {
        assert_eq!(ending(Ok(stub()), None).expect("an answer"), stub());
    }
}
