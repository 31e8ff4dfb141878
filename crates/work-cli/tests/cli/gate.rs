//! What needs somebody: status, the gate, and a look at everything.

use crate::desk::{Desk, Ran};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use work_core::id::ResultId;
use work_core::port::Quiet;
use work_core::workspace::Repaired;

const FILE: &str = "# Keeping\n\nBackups are kept\nfor 35 days.\n\nAsk the desk first.\n";

/// A desk with one result, which quotes `a.md`.
fn quoting() -> Desk {
    let desk = Desk::with_files(&[("a.md", FILE), ("b.md", "Holidays are long.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    desk
}

/// The exit code of a check, and what it is called.
#[track_caller]
fn check(desk: &Desk, args: &[&str], verdict: &str, exit: i32) -> Value {
    let ran = desk.json(&[&["check"], args].concat());
    let data = ran.data();
    assert_eq!((&data["verdict"], ran.code), (&verdict.into(), exit), "{args:?}: {data}");
    assert_eq!(data["passed"], exit == 0, "{data}");
    assert_eq!(ran.err, "", "{args:?}");
    let people = desk.run(&[&["check"], args].concat());
    assert_eq!(people.code, exit, "{args:?}: {}{}", people.out, people.err);
    data
}

/// Puts a desk's file into a state, and names the finding.
type Change = fn(&Desk);

fn altered(desk: &Desk) {
    desk.file("a.md", &FILE.replace("35", "40"));
}

fn gone(desk: &Desk) {
    fs::remove_file(desk.path("docs/a.md")).expect("it is there");
}

fn moved(desk: &Desk) {
    desk.file("a.md", &format!("New.\n\n{FILE}"));
}

fn ambiguous(desk: &Desk) {
    desk.file("a.md", &format!("New.\n\n{FILE}\n{FILE}"));
}

fn cosmetic(desk: &Desk) {
    desk.file("a.md", &FILE.replace('\n', "\r\n"));
}

fn beyond_limit(desk: &Desk) {
    desk.file("a.md", &format!("{}\n\n{FILE}", "Nothing of it.\n\n".repeat(20_000)));
}

fn intact(desk: &Desk) {
    desk.file("a.md", &format!("{FILE}\nMore.\n"));
}

// spec: C5, O4
#[test]
fn a_finding_fails_the_check_if_it_is_listed() {
    let cases: [(&str, Change, i32); 7] = [
        ("altered", altered, 10),
        ("gone", gone, 10),
        ("ambiguous", ambiguous, 10),
        ("beyond_limit", beyond_limit, 10),
        ("moved", moved, 0),
        ("cosmetic", cosmetic, 0),
        ("intact", intact, 0),
    ];
    let all = cases.map(|(finding, ..)| finding);
    for (finding, change, exit) in cases {
        let desk = quoting();
        check(&desk, &[], "passed", 0);
        change(&desk);
        check(&desk, &[], if exit == 0 { "passed" } else { "attention" }, exit);
        let failed = check(&desk, &["--fail-on", finding], "attention", 10);
        assert_eq!(failed["failed"][0]["causes"][0]["finding"], finding, "{failed}");
        let others = all.iter().copied().filter(|other| *other != finding);
        let others = others.collect::<Vec<_>>().join(",");
        check(&desk, &["--fail-on", &others], "passed", 0);
        check(&desk, &[&format!("--fail-on={others},unavailable, {finding}")], "attention", 10);
    }
}

// spec: C5
#[test]
fn a_hidden_result_fails_the_check_or_leaves_it_undecided() {
    let desk = quoting();
    fs::rename(desk.path("docs"), desk.path("away")).expect("a rename");
    let told = check(&desk, &[], "attention", 10);
    assert_eq!(told["failed"][0]["state"], "evidence_unavailable");
    check(&desk, &["--fail-on", "altered,gone"], "incomplete", 3);
    fs::rename(desk.path("away"), desk.path("docs")).expect("a rename");
    check(&desk, &[], "passed", 0);
    desk.run(&["revoke", "docs"]).succeeded();
    let told = check(&desk, &[], "attention", 10);
    assert_eq!(told["failed"][0]["state"], "access_removed");
    check(&desk, &["--fail-on", "altered"], "incomplete", 3);
    let people = desk.run(&["check", "--fail-on", "altered"]);
    assert_eq!(people.out, "");
    assert_eq!(people.err, "Not everything could be told. Hidden: 1 result.\n");
}

// spec: C5, C2
#[test]
fn the_check_says_what_failed_and_is_quiet_where_nothing_did() {
    let desk = quoting();
    let passed = desk.run(&["check"]).succeeded();
    assert_eq!((passed.out.as_str(), passed.err.as_str()), ("", "Passed.\n"));
    let quiet = desk.run(&["-q", "check"]).succeeded();
    assert_eq!(quiet.out + &quiet.err, "");
    altered(&desk);
    let failed = desk.run(&["check"]);
    let id = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let id = &id.as_str().expect("an id")[..4];
    assert_eq!(
        failed.out,
        format!(
            "RESULT  STATE  QUERY\n{id}    stale  backups\n        1  a.md: the passage is no longer in its source\n"
        )
    );
    assert!(failed.err.starts_with("Failed: 1 result.\n\nNext:\n  work status "), "{}", failed.err);
    let quiet = desk.run(&["-q", "check"]);
    assert_eq!((quiet.code, quiet.out, quiet.err.as_str()), (10, failed.out, ""));
}

// spec: C5
#[test]
fn a_list_of_findings_that_means_nothing_is_a_usage_error() {
    let desk = quoting();
    for list in ["", "stale", "altered,", "altered gone"] {
        let ran = desk.json(&["check", "--fail-on", list]);
        let error = ran.document()["error"].clone();
        assert_eq!((&error["code"], ran.code), (&"invalid_argument".into(), 2), "{list}: {error}");
    }
}

/// Runs in a directory of the desk.
fn run_in(desk: &Desk, dir: &str, args: &[&str]) -> Ran {
    let mut command = desk.command(args);
    command.current_dir(desk.path(dir)).output().expect("it runs").into()
}

// spec: C5
#[test]
fn paths_limit_the_check_to_what_quotes_these_files() {
    let desk = quoting();
    desk.run(&["report", "holidays"]).succeeded();
    altered(&desk);
    let absolute = desk.path("docs/a.md");
    let absolute = absolute.to_str().expect("text");
    for paths in [
        &["docs/a.md"][..],
        &["docs/b.md", "docs/../docs/./a.md"],
        &[absolute],
        &["--", "docs/a.md"],
    ] {
        let told = check(&desk, &[&["--paths"], paths].concat(), "attention", 10);
        assert_eq!(told["failed"].as_array().expect("a list").len(), 1, "{paths:?}: {told}");
    }
    for paths in [
        &["docs/b.md"][..],
        &["nowhere/a.md"],
        &["/etc/hostname"],
        &["docs"],
        &[],
        &["a.md"],
        &["--", "-a.md"],
    ] {
        check(&desk, &[&["--paths"], paths].concat(), "passed", 0);
    }
    assert_eq!(run_in(&desk, "docs", &["check", "--paths", "a.md"]).code, 10);
    assert_eq!(run_in(&desk, "home", &["check", "--paths", "../docs/a.md"]).code, 10);
    let none = desk.run(&["check", "--paths"]).succeeded();
    assert_eq!(none.err, "Passed: no file was named.\n");
    assert_eq!(desk.run(&["check", "docs/a.md"]).code, 2, "files are named after --paths");
}

// spec: C5
#[test]
fn a_path_through_a_link_or_to_what_is_gone_names_the_same_file() {
    let desk = Desk::with_files(&[("sub/deep/a.md", FILE)]);
    desk.run(&["report", "backups"]).succeeded();
    symlink(desk.path("docs"), desk.path("link")).expect("a link");
    symlink(desk.path("docs/sub/deep/a.md"), desk.path("alias.md")).expect("a link");
    fs::remove_dir_all(desk.path("docs/sub")).expect("it is there");
    for path in ["docs/sub/deep/a.md", "link/sub/deep/a.md", "link/sub/x/../deep/a.md"] {
        check(&desk, &["--paths", path], "attention", 10);
    }
    check(&desk, &["--paths", "alias.md"], "passed", 0);
    check(&desk, &["--paths", "docs/sub/deep"], "passed", 0);
}

// spec: C5, G2
#[test]
fn a_file_of_any_name_can_be_named() {
    let desk = Desk::new();
    let names = [&b"-x.md"[..], b"a\nb.md", b"o\xff.md", "日 x.md".as_bytes(), b"--json.md"];
    fs::create_dir(desk.path("docs")).expect("a directory");
    for name in names {
        fs::write(desk.path("docs").join(std::ffi::OsStr::from_bytes(name)), FILE).expect("a file");
    }
    desk.run(&["approve", "docs"]).succeeded();
    desk.run(&["report", "backups"]).succeeded();
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        let path = desk.path("docs").join(name);
        let check = || {
            let mut command = desk.command(&["check", "--paths", "--"]);
            command.arg(name).current_dir(desk.path("docs")).status().expect("it runs").code()
        };
        assert_eq!(check(), Some(0), "{name:?}");
        let text = fs::read(&path).expect("a file");
        fs::write(&path, "Other.\n").expect("a file");
        assert_eq!(check(), Some(10), "{name:?}");
        fs::write(&path, text).expect("a file");
    }
}

// spec: C5, R3
#[test]
fn a_file_of_a_revoked_folder_is_answered_like_one_that_nothing_quotes() {
    let desk = quoting();
    desk.run(&["revoke", "docs"]).succeeded();
    let quoted = desk.json(&["check", "--paths", "docs/a.md"]);
    let unknown = desk.json(&["check", "--paths", "docs/c.md"]);
    assert_eq!((quoted.code, &quoted.out), (0, &unknown.out));
}

// spec: C5, J9
#[test]
fn status_tells_the_cause_and_the_next_command_and_exits_0() {
    let desk = quoting();
    let none = desk.run(&["status"]).succeeded();
    assert_eq!(none.out, "1 result: 1 sources_checked. 0 of 1 quotation affected.\n");
    let result = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    fs::rename(desk.path("docs/a.md"), desk.path("docs/c.md")).expect("a rename");
    let told = desk.run(&["status"]).succeeded().out;
    let id = &result[..4];
    let expected = format!(
        "RESULT  STATE  QUERY\n{id}    stale  backups\n        1  a.md: the source is missing; the same version is now c.md\n        next: work repair {id}\n\n1 result: 1 stale. 1 of 1 quotation affected.\n"
    );
    assert_eq!(told, expected);
    let data = desk.json(&["status"]).data();
    assert_eq!(data["attention"][0]["next"], format!("work repair {result}"));
    let home = desk.home();
    let home = home.to_str().expect("text");
    let named = desk.run(&["--home", home, "status"]).succeeded().out;
    assert!(named.contains(&format!("next: work --home {home} repair {id}\n")), "{named}");
    desk.run(&["revoke", "docs"]).succeeded();
    let hidden = desk.run(&["status"]).succeeded().out;
    assert!(
        hidden.contains("access_removed  backups\n        hidden: a source of it must not"),
        "{hidden}"
    );
    assert!(hidden.contains("\n        next: work folders\n"), "{hidden}");
}

// spec: C5, J9
#[test]
fn status_lists_what_waits_for_approval() {
    let desk = quoting();
    moved(&desk);
    let id = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let mut bytes = [0; 16];
    for (n, byte) in bytes.iter_mut().enumerate() {
        let digits = &id.as_str().expect("an id")[2 * n..2 * n + 2];
        *byte = u8::from_str_radix(digits, 16).expect("digits");
    }
    let repaired = desk.library().repair(ResultId::from_bytes(bytes), &mut Quiet);
    let Repaired::Proposed(proposal) = repaired.expect("repaired") else { panic!("no proposal") };
    let told = desk.run(&["status"]).succeeded();
    let short = &proposal.proposal_id.to_string()[..4];
    let row = format!("\nWAITS  KIND    RESULT  EXPIRES (UTC)\n{short}   repair  ");
    assert!(told.out.contains(&row), "{}", told.out);
    assert!(told.err.contains(&format!("\n  work review {short}  ")), "{}", told.err);
    let data = desk.json(&["status"]).data();
    assert_eq!(data["waiting"][0]["proposal_id"], proposal.proposal_id.to_string());
}

// spec: C5, O1
#[test]
fn refresh_tells_what_turned_and_changes_no_result() {
    let desk = quoting();
    let still = desk.run(&["refresh"]).succeeded();
    assert_eq!((still.out.as_str(), still.err.as_str()), ("Looked at 1 source.\n", ""));
    let before = desk.json(&["list"]).data()["results"][0]["revision"].clone();
    gone(&desk);
    let turned = desk.run(&["refresh"]).succeeded();
    assert!(
        turned.out.contains("  stale  a source of it is not as cited any more\n"),
        "{}",
        turned.out
    );
    assert!(turned.out.ends_with("\nLooked at 1 source, 1 missing.\n"), "{}", turned.out);
    assert_eq!(desk.json(&["refresh"]).data()["results"], json!([]), "it is told once");
    assert_eq!(desk.json(&["list"]).data()["results"][0]["revision"], before);
}

// spec: C5
#[test]
fn on_a_desk_where_nothing_is_kept_there_is_nothing_to_do() {
    let desk = Desk::with_files(&[("a.md", FILE)]);
    let status = desk.run(&["status"]).succeeded();
    assert_eq!(status.out, "");
    assert!(status.err.starts_with("Nothing is kept yet.\n"), "{}", status.err);
    check(&desk, &[], "passed", 0);
    assert_eq!(desk.run(&["refresh"]).succeeded().out, "Looked at 0 sources.\n");
}

// spec: C2, Q9
#[test]
fn all_three_fit_eighty_columns_and_move_no_cursor() {
    let name = format!("o\u{1b}[2J\u{202e}dd/{}.md", "long name ".repeat(12));
    let desk = Desk::with_files(&[(&name, FILE)]);
    desk.run(&["report", "backups and many other words that make a query longer than its line"])
        .succeeded();
    fs::remove_dir_all(desk.path("docs")).expect("it is there");
    fs::create_dir(desk.path("docs")).expect("a directory");
    for args in [&["status"][..], &["check"], &["refresh"]] {
        let ran = desk.run(args);
        for line in (ran.out + &ran.err).lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
            assert!(!line.contains(['\u{1b}', '\u{202e}']), "{args:?}: {line}");
        }
    }
}
