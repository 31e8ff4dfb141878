//! Several processes at once, closed pipes, and processes that die.

use crate::desk::{Desk, eventually};
use rustix::process::{Pid, Signal, kill_process};
use std::io::pipe;
use std::process::Stdio;
use std::sync::Arc;
use work_core::port::Quiet;
use work_core::workspace::RunEnding;
use work_store::ids::OsIds;

// spec: T2, T3
#[test]
fn two_workers_share_the_tasks_and_do_none_twice() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    for _ in 0..8 {
        desk.run(&["report", "--detach", "backups"]).succeeded();
    }
    let workers = [desk.spawn(&["worker", "--once"]), desk.spawn(&["worker", "--once"])];
    for worker in workers {
        let output = worker.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let published = desk.events().iter().filter(|kind| *kind == "result_published").count();
    assert_eq!(published, 8);
    let tasks = desk.json(&["tasks"]).data();
    for task in tasks["tasks"].as_array().expect("a list") {
        assert_eq!((&task["state"], &task["attempt"]), (&"succeeded".into(), &1.into()), "{task}");
    }
}

// spec: T2
#[test]
fn two_reports_at_once_both_answer() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let reports = [desk.spawn(&["report", "backups"]), desk.spawn(&["report", "kept"])];
    for report in reports {
        let output = report.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(desk.json(&["list"]).data()["results"].as_array().map(Vec::len), Some(2));
}

// spec: C4, I1
#[test]
fn two_first_commands_at_once_make_one_instance() {
    let desk = Desk::new();
    desk.file("a.md", "Backups are kept.\n");
    let args = ["report", "--folder", "docs", "backups"];
    let reports = [desk.spawn(&args), desk.spawn(&args)];
    for report in reports {
        let output = report.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(desk.json(&["list"]).data()["results"].as_array().map(Vec::len), Some(2));
    assert_eq!(desk.json(&["folders"]).data()["folders"].as_array().map(Vec::len), Some(1));
}

// spec: T4
#[test]
fn what_a_killed_process_left_is_finished_by_another() {
    let desk = Desk::with_much_to_read();
    let mut report = desk.spawn(&["report", "fox"]);
    desk.wait_until_running();
    report.kill().expect("it runs");
    report.wait().expect("it ends");
    assert_eq!(desk.task().expect("a task").state, "running", "nobody knows yet");
    let early = desk.run(&["worker", "--once"]).succeeded();
    assert_eq!(
        early.err,
        "Nothing more is queued. 1 task is held by another worker; work worker takes it over when its lease ends, in 30 seconds at most.\n"
    );
    assert!(desk.json(&["worker", "--once"]).data()["ended"] == 0, "its lease still lasts");
    for n in 1..2_000 {
        std::fs::remove_file(desk.path(&format!("docs/{n}.md"))).expect("it is there");
    }

    let later = desk.library_at(60, Arc::new(OsIds));
    let ending = later.work_once(later.new_worker(), &mut Quiet).expect("it works");
    let Some(RunEnding::Ended(task)) = ending else { panic!("{ending:?}") };
    assert_eq!((task.state, task.attempt), ("succeeded", 2));
    assert_eq!(desk.json(&["list"]).data()["results"].as_array().map(Vec::len), Some(1));
    let doctor = desk.json(&["doctor"]).data();
    let found: Vec<&serde_json::Value> =
        doctor["findings"].as_array().expect("a list").iter().map(|one| &one["code"]).collect();
    assert_eq!(found, ["clock_behind"], "the records are sound; only this test's clock was ahead");
}

// spec: C9
#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let id = desk.json(&["report", "backups"]).data()["artifact_id"].clone();
    let id = id.as_str().expect("an id");
    desk.file("a.md", "Backups are kept for long.\n");
    let proposal = desk.json(&["repair", id]).data()["proposal_id"].clone();
    let proposal = proposal.as_str().expect("an id");
    for args in [
        &["list"][..],
        &["--json", "list"],
        &["show", id],
        &["repair", id],
        &["proposals"],
        &["review", proposal],
        &["--json", "review", proposal],
        &["history", id],
        &["compare", id, "1"],
        &["log"],
        &["--help"],
        &["schema"],
        &["man"],
        &["completions", "bash"],
        &["report", "kept"],
        &["--json", "show", "ffff"],
    ] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let output = desk.command(args).stdout(writer).output().expect("it runs");
        let expected = if args.contains(&"ffff") { 12 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!err.contains("error") && !err.contains("panicked"), "{args:?}: {err}");
    }
    assert_eq!(
        desk.json(&["list"]).data()["results"].as_array().map(Vec::len),
        Some(2),
        "the report is kept"
    );
}

// spec: C9
#[test]
fn a_worker_ends_when_nobody_reads_what_it_says() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    let mut worker =
        desk.command(&["worker"]).stdout(writer).stderr(Stdio::null()).spawn().expect("it starts");
    desk.run(&["report", "--detach", "backups"]).succeeded();
    let status = worker.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert_eq!(desk.task().expect("a task").state, "succeeded");
}

// spec: T5
#[test]
fn a_task_cancelled_elsewhere_ends_the_report_in_the_foreground() {
    let desk = Desk::with_much_to_read();
    let report = desk.spawn(&["--json", "report", "fox"]);
    desk.wait_until_running();
    let task = desk.task().expect("a task").task_id.to_string();
    desk.run(&["cancel", &task[..8]]).succeeded();
    let output = report.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "nobody interrupted this process");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["error"]["code"], "cancelled");
}

// spec: T2
#[test]
fn a_report_whose_task_another_worker_has_waits_for_it() {
    let desk = Desk::with_much_to_read();
    let first = desk.spawn(&["report", "--key", "k", "fox"]);
    desk.wait_until_running();
    let second = desk.spawn(&["report", "--key", "k", "fox"]);
    eventually("both processes have opened the instance", || open_by(second.id()));
    for n in 0..2_000 {
        let _ = kill_process(pid(first.id()), Signal::CONT);
        std::fs::remove_file(desk.path(&format!("docs/{n}.md"))).expect("it is there");
    }
    desk.file("a.md", "The fox is kept.\n");
    let [first, second] = [first, second].map(|report| report.wait_with_output().expect("it ends"));
    assert_eq!(first.status.code(), second.status.code());
    assert_eq!(first.stdout, second.stdout, "both show the one result");
    assert_eq!(desk.json(&["tasks"]).data()["tasks"].as_array().map(Vec::len), Some(1));
}

fn pid(id: u32) -> Pid {
    Pid::from_raw(i32::try_from(id).expect("a process id")).expect("a process id")
}

/// Whether a process has the database open.
fn open_by(process: u32) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let mut links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    links.any(|link| link.ends_with("work.sqlite"))
}
