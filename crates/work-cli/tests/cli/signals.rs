//! What Ctrl-C, SIGTERM and SIGHUP do in the middle of the work.

use crate::desk::{Desk, eventually, program};
use rustix::process::{Pid, Signal, kill_process};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use work_core::port::{Patience, Store as _};

fn send(child: &Child, signal: Signal) {
    let pid =
        Pid::from_raw(i32::try_from(child.id()).expect("a process id")).expect("a process id");
    kill_process(pid, signal).expect("it runs");
}

/// Starts a long report, sends a signal in the middle, and waits for its end.
fn interrupted(desk: &Desk, args: &[&str], signal: Signal) -> Output {
    let child = desk.spawn(args);
    desk.wait_until_running();
    send(&child, signal);
    child.wait_with_output().expect("it ends")
}

// spec: C9, C7
#[test]
fn ctrl_c_cancels_the_task_in_the_record() {
    let desk = Desk::with_much_to_read();
    let output = interrupted(&desk, &["report", "fox"], Signal::INT);
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(err.starts_with("error: the task was cancelled\n"), "{err}");
    assert_eq!(desk.task().expect("a task").state, "cancelled");
    assert_eq!(desk.events().last().map(String::as_str), Some("task_cancelled"));
    assert_eq!(desk.json(&["list"]).data()["results"].as_array().map(Vec::len), Some(0));
}

// spec: C8, C9
#[test]
fn an_interrupted_report_still_prints_one_document() {
    let desk = Desk::with_much_to_read();
    let output = interrupted(&desk, &["--json", "report", "fox"], Signal::INT);
    assert_eq!(output.status.code(), Some(130));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["error"]["code"], "cancelled");
    assert_eq!(
        document["error"]["details"]["task_id"],
        desk.task().expect("a task").task_id.to_string()
    );
}

// spec: C9
#[test]
fn sigterm_and_sighup_leave_the_task_to_the_next_worker() {
    for signal in [Signal::TERM, Signal::HUP] {
        let desk = Desk::with_much_to_read();
        let output = interrupted(&desk, &["report", "fox"], signal);
        assert_eq!(output.status.code(), Some(130), "{signal:?}");
        let err = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(err.contains("hint: the task waits; work it with work worker --once\n"), "{err}");
        let task = desk.task().expect("a task");
        assert_eq!((task.state, task.attempt), ("queued", 0), "stopping in order is no attempt");
        assert_eq!(desk.events().last().map(String::as_str), Some("task_given_back"));
    }
}

// spec: T8
#[test]
fn a_worker_stopped_in_the_middle_gives_its_lease_back_and_has_done_well() {
    for signal in [Signal::TERM, Signal::INT] {
        let desk = Desk::with_much_to_read();
        desk.run(&["report", "--detach", "fox"]).succeeded();
        let output = interrupted(&desk, &["worker"], signal);
        assert_eq!(output.status.code(), Some(0), "{signal:?}");
        assert!(output.stdout.is_empty());
        assert_eq!(desk.task().expect("a task").state, "queued");
    }
}

// spec: T8
#[test]
fn a_worker_that_waits_ends_when_it_is_told_to() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", "--detach", "backups"]).succeeded();
    let worker = desk.spawn(&["--json", "worker"]);
    let library = desk.library();
    eventually("the task has ended", || {
        library.tasks(None).expect("tasks").tasks[0].state == "succeeded"
    });
    send(&worker, Signal::TERM);
    let output = worker.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&document["schema"], &document["data"]["ended"]),
        (&"work.worked/1".into(), &1.into())
    );
}

// spec: C9
#[test]
fn ctrl_c_cancels_a_task_that_another_process_works() {
    let desk = Desk::with_much_to_read();
    let ask = ["report", "--key", "k", "fox"];
    let works = desk.spawn(&ask);
    desk.wait_until_running();
    let waits = desk.spawn(&ask);
    eventually("the second one listens to signals", || catches_interrupts(waits.id()));
    send(&waits, Signal::INT);
    assert_eq!(waits.wait_with_output().expect("it ends").status.code(), Some(130));
    assert_eq!(works.wait_with_output().expect("it ends").status.code(), Some(1));
    assert_eq!(desk.task().expect("a task").state, "cancelled");
}

// spec: C9
#[test]
fn a_report_that_outlives_its_terminal_is_not_stopped_with_it() {
    let desk = Desk::with_much_to_read();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" report fox"]).arg(program());
    shell.env("WORK_HOME", desk.home()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = shell.spawn().expect("it starts");
    desk.wait_until_running();
    send(&child, Signal::HUP);
    send(&child, Signal::INT);
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(130));
    assert_eq!(
        desk.task().expect("a task").state,
        "cancelled",
        "the interrupt counted, the hangup did not"
    );
}

// spec: C9
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let desk = Desk::with_much_to_read();
    let mut child = desk.spawn(&["report", "fox"]);
    desk.wait_until_running();
    // With the write lock taken, the first one cannot be carried out while the second arrives.
    let store = desk.store(0);
    let patience = Patience { lock: Duration::from_secs(5), whole: Duration::from_secs(60) };
    let lock = store.write(patience).expect("the lock");
    send(&child, Signal::INT);
    eventually("the first one has arrived", || !pends(child.id()));
    send(&child, Signal::INT);
    let status = child.wait().expect("it ends");
    drop(lock);
    assert_eq!(status.code(), Some(130));
    assert_eq!(desk.task().expect("a task").state, "running", "nothing was written any more");
}

/// Whether a signal was sent to the process and not yet taken by it.
fn pends(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    status
        .lines()
        .filter_map(|line| line.strip_prefix("ShdPnd:"))
        .any(|mask| mask.trim().contains(|c| c != '0'))
}

/// Whether a process has taken over the interrupt, the second signal.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 2 == 2)
}
