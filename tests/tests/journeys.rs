//! Journeys over the real door and the real store, with a second process where the promise is about two.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a test fails it")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use work_core::document::wire::ResultDoc;
use work_core::id::TaskId;
use work_core::limits::Limits;
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet};
use work_core::report::SkipReason;
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// A workspace in the instance at `home`, as an embedding program opens it.
fn open(home: &Path) -> Workspace {
    let clock = Arc::new(HostClock::new());
    let instance = Instance::open_or_create(home, &OsIds, clock.as_ref()).unwrap();
    let door = FolderDoor::guarding(OwnFiles::in_directory(home).unwrap(), clock.reading().boot);
    let limits = Limits { queued: 100_000, ..Limits::standard() };
    let store = instance.store(clock).unwrap().with_limits(&limits);
    Workspace::new(Arc::new(store), Arc::new(door), Arc::new(OsIds)).with_limits(limits)
}

/// A workspace in `home/desk`, with a folder `home/notes` that holds one file and is approved.
fn desk_with_notes(home: &Path) -> (Workspace, PathBuf, PathBuf) {
    let (desk, notes) = (home.join("desk"), home.join("notes"));
    let work = open(&desk);
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("a.md"), "Backups are kept.\n").unwrap();
    work.approve(&host(&notes), None, &mut Quiet).unwrap();
    (work, desk, notes)
}

fn host(path: &Path) -> HostPath {
    HostPath::from_bytes(path.as_os_str().as_encoded_bytes())
}

fn ask(query: &str) -> ReportAsk {
    ReportAsk::everywhere(Query::parse(query).unwrap())
}

fn report(work: &Workspace, query: &str) -> ResultDoc {
    work.report(&ask(query), &mut Quiet).unwrap()
}

/// What a writer queues at the same time as the scanner.
const ROWS: usize = 150;

/// The writer: queues tasks in the instance that the environment names, and acknowledges each by its id.
#[test]
fn the_writer_of_another_test() {
    let Some(home) = std::env::var_os("WORK_TEST_WRITER") else { return };
    let work = open(Path::new(&home));
    for n in 0..ROWS {
        // The other process may hold the lock for longer than the patience: asking again is what a client does.
        let task = std::iter::repeat_with(|| work.ask(&ask(&format!("written {n}"))))
            .take(100)
            .find_map(Result::ok);
        println!("acknowledged {}", task.unwrap().task_id);
        std::io::stdout().flush().unwrap();
    }
}

fn start_writer(home: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "the_writer_of_another_test", "--nocapture"])
        .env("WORK_TEST_WRITER", home);
    command.stdout(Stdio::piped()).spawn().unwrap()
}

fn acknowledged(writer: Child) -> Vec<TaskId> {
    let lines = BufReader::new(writer.stdout.unwrap()).lines().map(Result::unwrap);
    lines.filter_map(|line| line.split_once("acknowledged ")?.1.trim().parse().ok()).collect()
}

// spec: G2a
#[test]
fn a_scan_past_a_hard_link_to_the_shared_memory_file_loses_no_row_of_another_process() {
    let home = tempfile::tempdir().unwrap();
    let (work, desk, notes) = desk_with_notes(home.path());
    for (name, own) in
        [("shm.md", "work.sqlite-shm"), ("wal.md", "work.sqlite-wal"), ("db.md", "work.sqlite")]
    {
        std::fs::hard_link(desk.join(own), notes.join(name)).unwrap();
    }
    let writer = start_writer(&desk);
    let mut reports = Vec::new();
    for _ in 0..40 {
        let made = work.report(&ask("backups kept"), &mut Quiet);
        reports.extend(made.ok());
    }
    let rows = acknowledged(writer);
    assert_eq!(rows.len(), ROWS);
    let scan = reports.first().unwrap().scan.as_ref().unwrap();
    assert_eq!(scan.folders[0].counts.skipped.get(&SkipReason::OwnFile), Some(&3), "{scan:?}");
    drop(work);
    let again = open(&desk);
    for task in rows {
        again.task(task).unwrap();
    }
    for made in &reports {
        again.show(made.artifact_id, None, &mut Quiet).unwrap();
    }
    assert!(again.doctor().unwrap().ok);
}

// spec: Q4
#[test]
fn what_a_report_quotes_is_in_the_file_at_its_bytes() {
    let home = tempfile::tempdir().unwrap();
    let work = open(&home.path().join("desk"));
    let handbook =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/handbook");
    work.approve(&host(&handbook), None, &mut Quiet).unwrap();
    for query in [
        "how long are backups kept",
        "who approves travel above 2000 euro",
        "Sicherungen aufbewahren",
        "υποστηριξη ΠΕΛΑΤΩΝ",
        "湿度プローブ",
        "humidity bench",
        "\"IT desk\" -laptop",
    ] {
        let report = report(&work, query);
        for excerpt in report.body.unwrap().excerpts {
            let file = std::fs::read(handbook.join(&excerpt.path.path)).unwrap();
            let [start, end] = excerpt.bytes.map(|at| usize::try_from(at).unwrap());
            let bytes = &file[start..end];
            assert_eq!(work_core::digest::Digest::of(bytes), excerpt.digest, "{query}");
            let text = match excerpt.encoding {
                "utf-16le" => String::from_utf16(
                    &bytes
                        .chunks_exact(2)
                        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                        .collect::<Vec<_>>(),
                )
                .unwrap(),
                _ => String::from_utf8(bytes.to_vec()).unwrap(),
            };
            assert_eq!(text, excerpt.text, "{query}");
        }
    }
}

// spec: Q5
#[test]
fn the_handbook_shows_each_common_reason_to_skip() {
    let home = tempfile::tempdir().unwrap();
    let work = open(&home.path().join("desk"));
    let handbook =
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples/handbook");
    work.approve(&host(&handbook), None, &mut Quiet).unwrap();
    let scan = report(&work, "backups").scan.unwrap();
    let skipped = &scan.folders[0].counts.skipped;
    for reason in [SkipReason::Ignored, SkipReason::Hidden, SkipReason::Extension] {
        assert!(skipped.contains_key(&reason), "{reason:?} in {skipped:?}");
    }
}

// spec: T2
#[test]
fn two_processes_work_one_queue_and_each_task_is_published_once() {
    let home = tempfile::tempdir().unwrap();
    let (work, desk, _) = desk_with_notes(home.path());
    let tasks: Vec<TaskId> = (0..30).map(|_| work.ask(&ask("backups")).unwrap().task_id).collect();
    let hands: Vec<_> = (0..3)
        .map(|_| {
            let desk = desk.clone();
            std::thread::spawn(move || {
                let work = open(&desk);
                let worker = work.new_worker();
                while !matches!(work.work_once(worker, &mut Quiet), Ok(None)) {}
            })
        })
        .collect();
    hands.into_iter().for_each(|hand| hand.join().unwrap());
    let mut results = std::collections::BTreeSet::new();
    for task in tasks {
        let ended = work.task(task).unwrap();
        assert_eq!((ended.state, ended.attempt), ("succeeded", 1));
        assert!(results.insert(ended.artifact_id.unwrap()), "published twice");
    }
}
