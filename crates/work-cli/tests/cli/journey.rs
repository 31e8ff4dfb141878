//! The first commands of somebody new.

use crate::desk::{Desk, Ran};
use std::fs;
use std::path::Path;

fn handbook() -> Desk {
    let desk = Desk::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/handbook");
    copy(&from, &desk.path("docs"));
    desk
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

/// The words of the line of a table that begins with none of its heading.
fn cells(table: &str) -> Vec<&str> {
    table.lines().nth(1).expect("a row").split_whitespace().collect()
}

// spec: C4
#[test]
fn the_first_command_makes_an_instance_approves_the_folder_and_answers() {
    let desk = handbook();
    let Ran { code, out, err } =
        desk.run(&["report", "--folder", "docs", "how", "long", "are", "backups", "kept"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("# how long are backups kept\n\n**1. `docs/it/backups.md:"), "{out}");
    assert!(out.contains("> Daily backups are kept for 35 days"), "{out}");
    assert!(out.contains("\nScanned docs: read 16 files, skipped 4 ("), "{out}");
    let said: Vec<&str> = err.lines().collect();
    let [created, approved, "", "Next:", show, list] = said[..] else { panic!("{err}") };
    assert_eq!(created, format!("Created the instance {}", desk.home().display()));
    assert!(approved.starts_with(&format!("Approved {} (docs, ", desk.folder())), "{approved}");
    assert!(show.starts_with("  work show "), "{show}");
    assert!(list.starts_with("  work list "), "{list}");
}

/// What stands before and after the moment of the last look.
#[track_caller]
fn untimed(answer: &str) -> (&str, &str) {
    let (before, rest) = answer.split_once("\nSources checked: ").expect("a look");
    (before, rest.split_once(" UTC.\n").expect("a moment").1)
}

// spec: C4, C3
#[test]
fn another_shell_finds_the_answer_again() {
    let desk = handbook();
    let first = desk.run(&["report", "--folder", "docs", "how long are backups kept"]).succeeded();
    let list = desk.run(&["list"]).succeeded();
    let [id, state, ..] = cells(&list.out)[..] else { panic!("{}", list.out) };
    assert_eq!((id.len(), state), (4, "sources_checked"), "the shortest prefix is told");
    assert!(first.err.contains(&format!("work show {id} ")), "{}", first.err);
    let again = desk.run(&["show", id]).succeeded();
    assert_eq!(untimed(&again.out), untimed(&first.out), "nothing changed meanwhile");
    let shown = desk.json(&["show", id]).data();
    assert_eq!(shown["query"], "how long are backups kept");
    assert_eq!(shown["body"]["excerpts"][0]["path"], "it/backups.md");
    let text = desk.run(&["show", id, "--format", "text"]).succeeded().out;
    assert!(text.starts_with("how long are backups kept\n\n1. docs/it/backups.md:"), "{text}");
}

// spec: C4
#[test]
fn a_second_report_creates_and_approves_nothing() {
    let desk = handbook();
    desk.run(&["report", "--folder", "docs", "backups"]).succeeded();
    let second = desk.run(&["report", "--folder", "docs", "travel"]).succeeded();
    assert!(second.err.starts_with("\nNext:\n"), "{}", second.err);
    let third = desk.run(&["-q", "report", "holidays"]).succeeded();
    assert_eq!(third.err, "");
}

// spec: O3, C3
#[test]
fn show_looks_at_the_sources_and_says_what_became_of_them() {
    let desk = handbook();
    desk.run(&["report", "--folder", "docs", "how long are backups kept"]).succeeded();
    let path = desk.path("docs/it/backups.md");
    let text = fs::read_to_string(&path).expect("a file").replace("for 35 days", "for 40 days");
    fs::write(&path, text).expect("a file");
    let id = cells(&desk.run(&["list"]).out)[0].to_owned();
    let shown = desk.run(&["show", &id]).succeeded().out;
    assert!(shown.contains("*the passage is no longer in its source*"), "{shown}");
    assert!(shown.contains("\nStale: "), "{shown}");
    assert_eq!(cells(&desk.run(&["list", "--state", "stale"]).out)[0], id);
    assert_eq!(desk.run(&["list", "--state", "sources_checked"]).out, "");
}

// spec: I1
#[test]
fn init_again_changes_nothing_and_a_new_token_is_asked_for() {
    let desk = Desk::new();
    let token = || fs::read_to_string(desk.path("home/token")).expect("a token");
    let change = |args: &[&str]| desk.json(args).data()["change"].clone();
    assert_eq!(change(&["init"]), "created");
    let first = token();
    let database = fs::read(desk.path("home/work.sqlite")).expect("a database");
    let schema = u32::from_be_bytes(database[60..64].try_into().expect("four bytes"));
    assert_eq!(desk.json(&["init"]).data()["schema"], schema, "the file's own user version");
    assert_eq!(change(&["init"]), "unchanged");
    assert_eq!(token(), first);
    let replaced = desk.run(&["init", "--new-token"]).succeeded();
    assert_ne!(token(), first);
    assert!(!(replaced.out + &replaced.err).contains(token().trim()), "a token is never printed");
}

// spec: I4
#[test]
fn rules_are_given_with_the_approval_and_told_in_the_list() {
    let desk = handbook();
    let approved =
        desk.json(&["approve", "docs", "--ext", "md,CSV", "--exclude", "it", "--hidden"]).data();
    assert_eq!(approved["folder"]["rules"]["extensions"], serde_json::json!(["csv", "md"]));
    assert_eq!(desk.json(&["approve", "docs"]).data()["change"], "unchanged");
    let folders = desk.run(&["folders"]).succeeded().out;
    assert!(
        folders.contains("Rules of docs:\n  extensions: csv md\n  excluded: it\n"),
        "{folders}"
    );
    assert_eq!(desk.json(&["approve", "docs", "--no-ignore"]).data()["change"], "rules_changed");
}

// spec: Q1
#[test]
fn exclusions_and_phrases_can_be_typed() {
    let desk = Desk::with_files(&[
        ("a.md", "Backups are kept for 35 days.\n"),
        ("b.md", "Backups are a draft for now.\n"),
    ]);
    let found = |args: &[&str]| {
        let shown = desk.json(args).data();
        let excerpts = shown["body"]["excerpts"].as_array().expect("a list").clone();
        excerpts
            .iter()
            .map(|one| one["path"].as_str().expect("a path").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&["report", "backups", "-draft"]), ["a.md"]);
    assert_eq!(found(&["report", "--", "-draft", "backups"]), ["a.md"]);
    assert_eq!(found(&["report", "\"kept for 35 days\""]), ["a.md"]);
    let mut both = found(&["report", "backups"]);
    both.sort();
    assert_eq!(both, ["a.md", "b.md"]);
}

// spec: C4
#[test]
fn a_report_that_a_limit_ended_is_done_and_says_so() {
    let desk = Desk::new();
    for n in 0..70 {
        desk.file(&format!("{}x.md", "d/".repeat(n)), "Backups are deep.\n");
    }
    let report = desk.run(&["report", "--folder", "docs", "backups"]).succeeded();
    assert!(report.out.contains("The scan ended early at its limit of depth"), "{}", report.out);
}

// spec: Q6
#[test]
fn what_was_skipped_is_counted_in_words_that_fit_the_number() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    for (name, expected) in [("b", "skipped 1 (1 link)"), ("c", "skipped 2 (2 links)")] {
        let link = desk.path("docs").join(name);
        std::os::unix::fs::symlink(desk.path("docs/a.md"), link).expect("a link");
        let report = desk.run(&["report", "backups"]).succeeded().out;
        assert!(report.contains(expected), "{report}");
    }
}

// spec: T7
#[test]
fn the_same_key_answers_the_first_task() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let ask = |query| desk.json(&["report", "--detach", "--key", "k1", query]);
    let first = ask("backups").data()["task_id"].clone();
    assert_eq!(ask("backups").data()["task_id"], first);
    let other = ask("kept");
    assert_eq!((other.code, &other.document()["error"]["code"]), (11, &"key_conflict".into()));
    let result = desk.json(&["report", "--key", "k1", "backups"]).data();
    assert_eq!(
        desk.json(&["report", "--key", "k1", "backups"]).data()["artifact_id"],
        result["artifact_id"]
    );
}

// spec: T1, T8
#[test]
fn a_detached_task_is_worked_by_a_worker() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let asked = desk.run(&["report", "--detach", "backups"]).succeeded();
    assert!(asked.out.starts_with("Task ") && asked.out.ends_with(": queued\n"), "{}", asked.out);
    let worked = desk.run(&["worker", "--once"]).succeeded();
    assert_eq!(worked.out.lines().count(), 1, "{}", worked.out);
    assert!(worked.out.contains("  succeeded  result "), "{}", worked.out);
    let nothing = desk.json(&["worker", "--once"]).data();
    assert_eq!(nothing, serde_json::json!({"tasks": [], "ended": 0, "refreshed": 0}));
}

// spec: T5
#[test]
fn a_queued_task_is_cancelled_once() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let task = desk.json(&["report", "--detach", "backups"]).data()["task_id"].clone();
    let digits = &task.as_str().expect("an id")[..8];
    assert_eq!(desk.json(&["cancel", digits]).data()["state"], "cancelled");
    let again = desk.json(&["cancel", digits]);
    assert_eq!((again.code, &again.document()["error"]["code"]), (11, &"not_running".into()));
    assert_eq!(desk.json(&["worker", "--once"]).data()["ended"], 0);
    assert_eq!(desk.json(&["list"]).data()["results"], serde_json::json!([]));
}

// spec: C1
#[test]
fn the_log_and_the_doctor_agree_on_how_much_happened() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    let log = desk.json(&["log"]).data();
    let doctor = desk.json(&["doctor"]).succeeded().data();
    let events = log["events"].as_array().expect("a list");
    assert_eq!(doctor["ok"], true, "{doctor}");
    assert_eq!(doctor["events"], events.len());
    assert_eq!(doctor["chain"], events.last().expect("an event")["digest"]);
    let later = desk.json(&["log", "--after", "2"]).data();
    assert_eq!(later["events"][0]["seq"], 3);
}
