//! Each way to be refused, with its code, its exit code and what to do next.

use crate::desk::Desk;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work_core::path::HostPath;
use work_core::port::{Ids, Quiet};
use work_core::retrieve::Query;
use work_core::workspace::ReportAsk;

#[track_caller]
fn check(desk: &Desk, args: &[&str], code: &str, exit: i32) {
    let ran = desk.json(args);
    let document = ran.document();
    assert_eq!(document["schema"], "work.error/1", "{args:?}");
    assert_eq!(
        (&document["error"]["code"], ran.code),
        (&code.into(), exit),
        "{args:?}: {document}"
    );
    assert_eq!(ran.err, "", "{args:?}");
    for said in ["message", "hint"] {
        let text = document["error"][said].as_str().expect("a text");
        assert!(!text.is_empty(), "{args:?}: {document}");
    }
    let people = desk.run(args);
    assert_eq!((people.code, people.out.as_str()), (exit, ""), "{args:?}");
    assert!(people.err.starts_with("error: "), "{args:?}: {}", people.err);
}

// spec: I7
#[test]
fn before_anything_is_approved_every_command_says_how_to_begin() {
    let desk = Desk::new();
    let commands: &[&[&str]] = &[
        &["folders"],
        &["revoke", "docs"],
        &["report", "backups"],
        &["report", "--detach", "backups"],
        &["list"],
        &["show", "1a2b"],
        &["export", "1a2b"],
        &["backup", "w.backup"],
        &["status"],
        &["check"],
        &["refresh"],
        &["repair", "1a2b"],
        &["proposals"],
        &["review", "1a2b"],
        &["apply", "1a2b"],
        &["dismiss", "1a2b"],
        &["history", "1a2b"],
        &["compare", "1a2b", "1"],
        &["restore", "1a2b", "1"],
        &["tasks"],
        &["cancel", "1a2b"],
        &["worker", "--once"],
        &["doctor"],
        &["log"],
    ];
    for args in commands {
        check(&desk, args, "setup_incomplete", 1);
        let people = desk.run(args);
        assert!(
            people.err.ends_with("hint: approve a folder first: work approve DIR\n"),
            "{}",
            people.err
        );
    }
    assert!(!desk.home().exists(), "asking makes nothing");
    desk.run(&["init"]).succeeded();
    check(&desk, &["report", "backups"], "setup_incomplete", 1);
    assert!(desk.json(&["tasks"]).data()["tasks"].as_array().expect("a list").is_empty());
}

// spec: C8
#[test]
fn a_command_line_that_means_nothing_is_told_as_a_document_too() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    for args in [
        &["frob"][..],
        &["approve"],
        &["show"],
        &["report"],
        &["report", "--fodler", "x"],
        &["list", "--state", "green"],
        &["list", "--progress", "loud"],
        &["show", "1a2b", "--revision", "0"],
        &["export", "1a2b", "--revision", "0"],
        &["verify"],
        &["log", "--after", "-1"],
        &["completions", "tcsh"],
        &["-q", "-v", "list"],
    ] {
        check(&desk, args, "invalid_argument", 2);
    }
}

// spec: C7, E
#[test]
fn what_a_command_refuses_has_a_code_and_an_exit_code() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    let result = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let result = &result.as_str().expect("an id")[..12];
    let cases: &[(&[&str], &str, i32)] = &[
        (&["report", ""], "invalid_query", 2),
        (&["report", "the", "of"], "invalid_query", 2),
        (&["report", "zebra"], "no_matches", 1),
        (&["report", "--folder", "nowhere", "backups"], "folder_refused", 13),
        (&["approve", "nowhere"], "folder_refused", 13),
        (&["approve", "docs/a.md"], "folder_refused", 13),
        (&["approve", "/"], "folder_refused", 13),
        (&["approve", "home"], "folder_refused", 13),
        (&["approve", "."], "folder_refused", 13),
        (&["approve", "docs", "--ext", ".md"], "invalid_argument", 2),
        (&["approve", "docs", "--exclude", "[a"], "invalid_argument", 2),
        (&["revoke", "nowhere"], "not_found", 12),
        (&["revoke", "ffff"], "not_found", 12),
        (&["show", "ffffffff"], "not_found", 12),
        (&["show", "abc"], "invalid_argument", 2),
        (&["show", "latest"], "invalid_argument", 2),
        (&["show", result, "--revision", "9"], "not_found", 12),
        (&["cancel", "ffffffff"], "not_found", 12),
        (&["repair", "ffffffff"], "not_found", 12),
        (&["review", "ffffffff"], "not_found", 12),
        (&["apply", "ffffffff"], "not_found", 12),
        (&["history", "ffffffff"], "not_found", 12),
        (&["compare", "ffffffff", "1"], "not_found", 12),
        (&["restore", result, "9"], "not_found", 12),
        (&["restore", result, "1"], "invalid_argument", 2),
        (&["review", "abc"], "invalid_argument", 2),
        (&["proposals", "--cursor", "nonsense"], "invalid_cursor", 2),
        (&["list", "--cursor", "nonsense"], "invalid_cursor", 2),
        (&["tasks", "--cursor", "results.all.1.2"], "invalid_cursor", 2),
        (&["schema", "nonsense"], "not_found", 12),
    ];
    for (args, code, exit) in cases {
        check(&desk, args, code, *exit);
    }
}

// spec: Q6, C10
#[test]
fn no_match_says_what_was_scanned() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n"), ("b.csv", "x\n")]);
    let people = desk.run(&["report", "zebra"]);
    assert!(
        people.err.contains("read 1 file, skipped 1 (1 of another extension)"),
        "{}",
        people.err
    );
    assert!(people.err.contains("hint: try other words"), "{}", people.err);
    let details = desk.json(&["report", "zebra"]).document()["error"]["details"].clone();
    assert_eq!(details["scan"]["folders"][0]["files_read"], 1, "{details}");
    assert_eq!(desk.json(&["tasks"]).data()["tasks"][0]["task_id"], details["task_id"]);
}

// spec: Q6
#[test]
fn without_an_active_folder_there_is_nothing_to_search() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["revoke", "docs"]).succeeded();
    check(&desk, &["report", "backups"], "no_sources", 1);
}

// spec: T1
#[test]
fn the_twenty_first_task_is_refused() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    for _ in 0..20 {
        desk.run(&["report", "--detach", "backups"]).succeeded();
    }
    let full = desk.json(&["report", "--detach", "backups"]);
    assert_eq!((full.code, &full.document()["error"]["code"]), (14, &"queue_full".into()));
    assert_eq!(full.document()["error"]["retryable"], true);
    let people = desk.run(&["report", "--detach", "backups"]);
    assert!(people.err.contains("work worker --once"), "{}", people.err);
    assert_eq!(desk.json(&["worker", "--once"]).data()["ended"], 20);
    desk.run(&["report", "--detach", "backups"]).succeeded();
}

/// Ids that begin alike.
#[derive(Default)]
struct Alike(AtomicU64);

impl Ids for Alike {
    fn fresh(&self) -> [u8; 16] {
        let mut id = [0xab; 16];
        id[8..].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        id
    }
}

// spec: C3
#[test]
fn a_prefix_that_several_ids_share_lists_them() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let library = desk.library_at(0, Arc::new(Alike::default()));
    for query in ["backups", "kept"] {
        let ask = ReportAsk::everywhere(Query::parse(query).expect("a query"));
        library.report(&ask, &mut Quiet).expect("a report");
    }
    check(&desk, &["show", "abab"], "ambiguous_id", 2);
    let document = desk.json(&["show", "abab"]).document();
    let candidates = document["error"]["details"]["candidates"].as_array().expect("a list").clone();
    assert_eq!(candidates.len(), 2, "{document}");
    let people = desk.run(&["show", "abab"]);
    for id in candidates {
        let id = id.as_str().expect("an id");
        assert!(people.err.contains(&format!("  could be {id}\n")), "{}", people.err);
        desk.run(&["show", id]).succeeded();
        let told = desk.run(&["list"]).out;
        let short = told.lines().skip(1).filter_map(|line| line.split(' ').next());
        assert!(short.into_iter().any(|short| id.starts_with(short) && short.len() > 4), "{told}");
    }
}

// spec: I5
#[test]
fn a_folder_is_revoked_by_path_or_id_also_when_it_is_gone() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let id = desk.json(&["folders"]).data()["folders"][0]["folder"].clone();
    std::fs::remove_dir_all(desk.folder()).expect("it is there");
    assert_eq!(desk.json(&["revoke", "docs"]).data()["change"], "revoked");
    assert_eq!(desk.json(&["revoke", &desk.folder()]).data()["change"], "unchanged");
    assert_eq!(
        desk.json(&["revoke", &id.as_str().expect("an id")[..6]]).data()["change"],
        "unchanged"
    );
    let library = desk.library();
    assert!(library.approve(&HostPath::from_bytes(desk.folder()), None, &mut Quiet).is_err());
}

// spec: C2, C10
#[test]
fn a_hint_means_the_instance_that_was_named() {
    let desk = Desk::new();
    let ran = desk.run(&["--home", "an other", "list"]);
    assert!(ran.err.contains("work --home 'an other' approve DIR"), "{}", ran.err);
}

// spec: C10
#[test]
fn a_hint_can_be_followed() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    let result = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    let long = "a".repeat(4_001);
    let cases: &[(&[&str], String)] = &[
        (&["report", &long], "shorten it to 4,000 characters".to_owned()),
        (
            &["show", &result[..8], "--revision", "2"],
            format!("see the accepted one: work show {result}"),
        ),
        (&["show", "1a2b", "--revision", "0"], "see what is expected: work show --help".to_owned()),
        (&["log", "--after", "x"], "see what is expected: work log --help".to_owned()),
        (&["man", "--dir", "docs/a.md"], "see what is expected: work man --help".to_owned()),
        (
            &["--home", "a\tb", "list"],
            "approve a folder first: work --home $'a\\011b' approve DIR".to_owned(),
        ),
    ];
    for (args, hint) in cases {
        let ran = desk.run(args);
        assert!(
            ran.code != 0 && ran.err.ends_with(&format!("\nhint: {hint}\n")),
            "{args:?}: {}",
            ran.err
        );
    }
    let man = desk.run(&["man", "--dir", "docs/a.md"]);
    assert!(man.err.starts_with("error: docs/a.md is not a directory\n"), "{}", man.err);
}

// spec: T7, C10
#[test]
fn a_key_whose_task_has_ended_leads_to_what_became_of_it() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let ask = ["report", "--detach", "--key", "k", "backups"];
    assert!(desk.run(&ask).succeeded().err.contains("work worker --once"));
    desk.run(&["worker", "--once"]).succeeded();
    let again = desk.run(&ask).succeeded();
    assert!(again.out.ends_with(": succeeded\n"), "{}", again.out);
    let next: Vec<&str> = again.err.lines().skip(2).collect();
    assert_eq!(next.len(), 1, "{}", again.err);
    assert!(next[0].starts_with("  work show "), "{}", again.err);
    let failing = ["report", "--detach", "--key", "l", "zebra"];
    desk.run(&failing).succeeded();
    desk.run(&["worker", "--once"]).succeeded();
    let failed = desk.run(&failing).succeeded().err;
    assert!(failed.contains("  work tasks ") && !failed.contains("cancel"), "{failed}");
}

// spec: Q9
#[test]
fn what_a_person_typed_is_repeated_without_doing_anything() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    for args in
        [&["approve", "no\u{1b}[2Jwhere"][..], &["\u{1b}[2J"], &["report", "zebra\u{1b}[2J"]]
    {
        let ran = desk.run(args);
        assert!(ran.code != 0 && !ran.err.contains('\u{1b}'), "{:?}", ran.err);
    }
    desk.run(&["report", "--detach", "backups\u{1b}[2J\u{202e}"]).succeeded();
    for args in [
        &["tasks"][..],
        &["--json", "tasks"],
        &["worker", "--once"],
        &["list"],
        &["--json", "list"],
    ] {
        let ran = desk.run(args).succeeded();
        assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{}", ran.out);
    }
}

// spec: C4, I5
#[test]
fn a_report_that_is_refused_one_folder_approves_none_of_the_others() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let folder = desk.folder();
    desk.run(&["revoke", &folder]).succeeded();
    let absent = desk.path("nowhere");
    let absent = absent.to_str().expect("text");
    let args = ["report", "--folder", &folder, "--folder", absent, "backups"];
    check(&desk, &args, "folder_refused", 13);
    let folders = desk.json(&["folders"]).data();
    assert_eq!(folders["folders"][0]["state"], "revoked", "{folders}");
}

// spec: C7, C10
#[test]
fn a_number_beyond_all_that_is_kept_is_never_the_fault_of_the_records() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let result = desk.json(&["report", "backups"]).data()["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    for most in ["9223372036854775807", "9223372036854775808", "18446744073709551615"] {
        for args in [
            &["compare", result, most][..],
            &["restore", result, most],
            &["show", result, "--revision", most],
            &["export", result, "--revision", most],
        ] {
            check(&desk, args, "not_found", 12);
        }
        let cursor = format!("history.{result}.{most}");
        desk.run(&["history", result, "--cursor", &cursor]).succeeded();
        desk.run(&["log", "--after", most]).succeeded();
    }
}

// spec: C10, P1
#[test]
fn a_repair_that_finds_nothing_leads_to_what_is_accepted_and_not_to_other_words() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n"), ("b.md", "Nothing else.\n")]);
    let result = desk.json(&["report", "backups"]).data()["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    fs::remove_file(desk.path("docs/a.md")).expect("it is there");
    let hint = |code: &str| {
        let ran = desk.json(&["repair", result]);
        let error = ran.document()["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        error["hint"].as_str().expect("a hint").to_owned()
    };
    let told = hint("no_matches");
    assert!(told.starts_with("what is accepted stays as it is: "), "{told}");
    assert!(told.ends_with(&format!(": work show {result}")), "{told}");
    assert!(!told.contains("other words"), "{told}");
    fs::rename(desk.path("docs"), desk.path("away")).expect("a rename");
    assert!(hint("evidence_unavailable").starts_with("what is accepted stays as it is: "));
}

// spec: C10
#[test]
fn a_backup_is_not_asked_of_an_instance_that_is_not_there() {
    let desk = Desk::new();
    let ran = desk.run(&["--home", "h4", "init", "--from", "nothere"]);
    let hint = "\nhint: name a file that was made with work backup FILE\n";
    assert!(ran.code == 2 && ran.err.ends_with(hint), "{}", ran.err);
}
