//! Exports: written once, whole, and compared with files anywhere.

use crate::desk::{Desk, Ran};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;

const KEPT: &str = "Backups are kept for 35 days.";

/// A desk with a report on backups over these files in `docs`, and its id.
fn reported(files: &[(&str, &str)]) -> (Desk, String) {
    let desk = Desk::with_files(files);
    let result = desk.json(&["report", "backups"]).data();
    let id = result["artifact_id"].as_str().expect("an id").to_owned();
    (desk, id)
}

/// The same with the export in `x.json`.
fn exported(files: &[(&str, &str)]) -> Desk {
    let (desk, id) = reported(files);
    desk.run(&["export", &id, "-o", "x.json"]).succeeded();
    desk
}

/// Runs in another directory, with no instance that could be opened and nothing that says where one would be.
fn elsewhere(desk: &Desk, dir: &str, args: &[&str]) -> Ran {
    let mut command = desk.command(args);
    command.env_clear().env("COLUMNS", "80").current_dir(desk.path(dir));
    command.output().expect("it runs").into()
}

#[track_caller]
fn refused(ran: &Ran, code: &str, exit: i32) -> Value {
    let document = ran.document();
    assert_eq!((&document["error"]["code"], ran.code), (&code.into(), exit), "{document}");
    document["error"].clone()
}

/// The names of what is in a directory.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

/// The verdicts on each quotation.
fn verdicts(ran: &Ran) -> Vec<String> {
    let found = ran.data();
    let all = found["quotations"].as_array().expect("a list");
    all.iter().map(|one| one["verdict"].as_str().expect("a word").to_owned()).collect()
}

// spec: X1, C8
#[test]
fn an_export_is_the_bare_document_and_with_json_the_wrapped_one() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    let bare = desk.run(&["export", &id[..8]]).succeeded();
    assert!(bare.out.starts_with("{\n  \"schema\": \"work.export/1\",\n"), "{}", bare.out);
    assert!(bare.out.ends_with("\n}\n") && bare.err.is_empty(), "{}{}", bare.out, bare.err);
    let wrapped = desk.json(&["export", &id]).data();
    let bare: Value = serde_json::from_str(&bare.out).expect("JSON");
    assert_eq!(bare["quotations"], wrapped["quotations"]);
    assert_eq!(bare["quotations"][0]["text"], KEPT);
    assert!(bare["notice"].as_str().expect("a text").contains("unsigned"), "{bare}");
}

// spec: X1
#[test]
fn an_export_into_a_file_is_private_and_leaves_nothing_else_behind() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    fs::create_dir(desk.path("out")).expect("a directory");
    let ran = desk.run(&["export", &id, "-o", "out/x.json"]).succeeded();
    assert_eq!(ran.out, "");
    assert!(
        ran.err.starts_with("Wrote revision 1 with 1 quotation to out/x.json\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("\n  work verify out/x.json --folder DIR  "), "{}", ran.err);
    assert_eq!(names(&desk.path("out")), ["x.json"]);
    let mode = fs::metadata(desk.path("out/x.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let quiet = desk.run(&["-q", "export", &id, "-o", "out/y.json"]).succeeded();
    assert_eq!(quiet.out + &quiet.err, "");
}

// spec: X1, C8
#[test]
fn an_export_into_a_file_prints_its_one_document_where_that_is_wanted() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    let ran = desk.json(&["export", &id, "-o", "z.json"]).succeeded();
    assert_eq!(ran.document()["schema"], "work.export/1");
    let file = fs::read_to_string(desk.path("z.json")).expect("a file");
    assert!(file.starts_with("{\n  \"schema\": \"work.export/1\",\n"), "{file}");
    let bare: Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(bare["quotations"], ran.data()["quotations"]);
    desk.run(&["verify", "z.json", "--folder", "docs"]).succeeded();
}

// spec: X1, D6
#[test]
fn an_export_is_never_written_over_anything() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    fs::create_dir_all(desk.path("out/dir")).expect("a directory");
    fs::write(desk.path("out/file"), "mine").expect("a file");
    symlink(desk.path("nowhere"), desk.path("out/link")).expect("a link");
    for taken in ["out/file", "out/link", "out/dir"] {
        let ran = desk.json(&["export", &id, "-o", taken]);
        let error = refused(&ran, "invalid_argument", 2);
        assert_eq!(error["message"], format!("{taken} is there already; nothing was written"));
    }
    refused(&desk.json(&["export", &id, "-o", "out/none/x"]), "invalid_argument", 2);
    assert_eq!(fs::read_to_string(desk.path("out/file")).expect("a file"), "mine");
    assert!(!desk.path("nowhere").exists());
    assert_eq!(names(&desk.path("out")), ["dir", "file", "link"]);
}

// spec: X2
#[test]
fn a_hidden_result_exports_nothing_and_says_why() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    refused(&desk.json(&["export", "ffffffff"]), "not_found", 12);
    refused(&desk.json(&["export", &id, "--revision", "7"]), "not_found", 12);
    fs::rename(desk.path("docs"), desk.path("away")).expect("a rename");
    refused(&desk.json(&["export", &id, "-o", "x.json"]), "evidence_unavailable", 11);
    fs::rename(desk.path("away"), desk.path("docs")).expect("a rename");
    desk.run(&["revoke", "docs"]).succeeded();
    refused(&desk.json(&["export", &id, "-o", "x.json"]), "access_removed", 11);
    let people = desk.run(&["export", &id]);
    assert_eq!((people.code, people.out.as_str()), (11, ""));
    assert!(people.err.contains("\nhint: see which folders"), "{}", people.err);
    assert!(!desk.path("x.json").exists());
}

// spec: X3
#[test]
fn another_machine_needs_the_files_and_no_instance() {
    let desk = exported(&[("a.md", KEPT)]);
    fs::remove_dir_all(desk.home()).expect("it is there");
    fs::rename(desk.path("docs"), desk.path("copy")).expect("a rename");
    let people = elsewhere(&desk, "copy", &["verify", "../x.json"]).succeeded();
    assert!(
        people.out.starts_with("N  VERDICT  PASSAGE\n1  intact   docs/a.md:1\n\n"),
        "{}",
        people.out
    );
    assert!(people.out.contains("\n1 of 1 intact. This compares"), "{}", people.out);
    assert!(people.out.contains("unsigned") && people.err.is_empty(), "{}", people.err);
    for args in [
        &["--json", "verify", "x.json", "--folder", "copy"][..],
        &["--json", "verify", "x.json", "--folder", "docs=copy"],
    ] {
        let ran = elsewhere(&desk, ".", args).succeeded();
        assert_eq!(
            (ran.data()["passed"].clone(), verdicts(&ran)),
            (true.into(), vec!["intact".into()])
        );
    }
    let wrong = elsewhere(&desk, ".", &["verify", "x.json"]);
    assert_eq!(wrong.code, 10, "{}", wrong.out);
    assert!(wrong.err.contains("Compared with the current directory"), "{}", wrong.err);
    assert_eq!(names(&desk.path(".")), ["copy", "x.json"], "nothing was made");
}

// spec: X3, O4
#[test]
fn each_quotation_gets_its_verdict() {
    let text = format!("# Keeping\n\n{KEPT}\n");
    let moved = format!("# Keeping\n\nNew.\n\n{KEPT}\n");
    let twice = format!("# Keeping\n\nNew.\n\n{KEPT}\n\n{KEPT}\n");
    let desk = exported(&[("a.md", &text)]);
    let passed = |expected: &str, exit| {
        let ran = desk.json(&["verify", "x.json", "--folder", "docs"]);
        assert_eq!((verdicts(&ran), ran.code), (vec![expected.to_owned()], exit));
        ran.data()["quotations"][0]["moved_to"].clone()
    };
    passed("intact", 0);
    for (now, verdict) in
        [(text.replace("35", "40"), "altered"), (moved, "moved"), (twice, "ambiguous")]
    {
        desk.file("a.md", &now);
        passed(verdict, 10);
    }
    desk.file("a.md", &text);
    fs::rename(desk.path("docs/a.md"), desk.path("docs/b.md")).expect("a rename");
    assert_eq!(passed("gone", 10), "b.md");
    let people = desk.run(&["verify", "x.json", "--folder", "docs"]);
    assert!(
        people.out.contains("\n1  gone     docs/a.md:3\n            now docs/b.md\n"),
        "{}",
        people.out
    );
    fs::remove_file(desk.path("docs/b.md")).expect("it is there");
    assert!(passed("gone", 10).is_null());
    fs::create_dir(desk.path("docs/a.md")).expect("a directory");
    passed("gone", 10);
}

// spec: X3
#[test]
fn line_ends_alone_are_cosmetic() {
    let desk = exported(&[("a.md", "Backups are kept\nfor 35 days.\n")]);
    desk.file("a.md", "Backups are kept\r\nfor 35 days.\r\n");
    let ran = desk.json(&["verify", "x.json", "--folder", "docs"]);
    assert_eq!((verdicts(&ran), ran.code), (vec!["cosmetic".to_owned()], 10));
}

// spec: X3
#[test]
fn an_export_comes_through_a_pipe_bare_or_wrapped() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    for args in [&["export", &id][..], &["--json", "export", &id]] {
        let export = desk.run(args).succeeded().out;
        let mut command = desk.command(&["verify", "-", "--folder", "docs"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(export.as_bytes()).expect("written");
        let ran = child.wait_with_output().expect("it ends");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }
}

// spec: X3
#[test]
fn a_file_that_is_no_export_or_was_changed_is_refused_with_the_reason() {
    let desk = exported(&[("a.md", KEPT)]);
    let whole = fs::read_to_string(desk.path("x.json")).expect("a file");
    let long = format!("{whole}{}", " ".repeat(3 * 1024 * 1024));
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replace(from, to)
    };
    for (text, reason) in [
        (
            changed("\"text\": \"Backups", "\"text\": \"Nobackups"),
            "quotation 1 is not what its stored body",
        ),
        (whole.replace("35 days", "36 days"), "its stored body does not have the digest"),
        (changed("work.export/1", "work.export/2"), "which a newer version of work wrote"),
        (changed("work.export/1", "work.result/1"), "it is 'work.result/1'"),
        (whole[..whole.len() / 2].to_owned(), "it is not of the form of an export"),
        (String::new(), "it is not of the form of an export"),
        ("[".repeat(100), "it nests deeper than"),
        (long, "it has more than 2097152 bytes"),
    ] {
        fs::write(desk.path("y.json"), text).expect("a file");
        let error =
            refused(&desk.json(&["verify", "y.json", "--folder", "docs"]), "invalid_argument", 2);
        let message = error["message"].as_str().expect("a text");
        assert!(message.starts_with("y.json: ") && message.contains(reason), "{reason}: {message}");
    }
    for none in ["nowhere.json", "docs"] {
        refused(&desk.json(&["verify", none]), "invalid_argument", 2);
    }
}

/// A desk with an export of `docs` and `notes`.
fn of_two_folders() -> Desk {
    let desk = Desk::with_files(&[("a.md", KEPT)]);
    fs::create_dir(desk.path("notes")).expect("a directory");
    fs::write(desk.path("notes/b.md"), "Backups are held elsewhere.").expect("a file");
    desk.run(&["approve", "notes"]).succeeded();
    let result = desk.json(&["report", "backups"]).data();
    let id = result["artifact_id"].as_str().expect("an id");
    desk.run(&["export", id, "-o", "x.json"]).succeeded();
    desk
}

// spec: X3
#[test]
fn folders_of_an_export_are_told_apart_by_their_labels() {
    let desk = of_two_folders();
    let verify = |folders: &[&str]| {
        let named: Vec<&str> = folders.iter().flat_map(|folder| ["--folder", folder]).collect();
        desk.json(&[&["verify", "x.json"], named.as_slice()].concat())
    };
    for folders in [["docs", "notes"], ["notes=notes", "docs=docs"], ["docs/../notes", "docs"]] {
        assert_eq!(verdicts(&verify(&folders).succeeded()), ["intact", "intact"], "{folders:?}");
    }
    fs::rename(desk.path("notes"), desk.path("a=b")).expect("a rename");
    assert_eq!(verify(&["docs", "notes=a=b"]).succeeded().code, 0);
    let half = verify(&["docs"]);
    let mut found = verdicts(&half);
    found.sort();
    assert_eq!((half.code, found), (10, vec!["intact".to_owned(), "unreadable".to_owned()]));
    assert!(
        half.err.contains("No directory was named for notes: --folder notes=DIR"),
        "{}",
        half.err
    );
    for folders in [&[][..], &["home"], &["docs", "docs=home"], &["note=a=b"], &["docs", "a=b"]] {
        let error = refused(&verify(folders), "invalid_argument", 2);
        assert_eq!(error["details"]["labels"], serde_json::json!(["docs", "notes"]), "{error}");
    }
    refused(&verify(&["docs=nowhere"]), "folder_refused", 13);
    let people = desk.run(&["verify", "x.json"]);
    assert!(people.err.contains("  it quotes docs\n  it quotes notes\n"), "{}", people.err);
}

// spec: X3, G2
#[test]
fn verify_reads_no_more_than_the_export_cites() {
    let desk = exported(&[("a.md", KEPT)]);
    fs::rename(desk.path("docs/a.md"), desk.path("docs/a.txt")).expect("a rename");
    let ran = desk.json(&["verify", "x.json", "--folder", "docs"]);
    assert_eq!(verdicts(&ran), ["gone"]);
    assert!(ran.data()["quotations"][0]["moved_to"].is_null(), "another extension is not read");
    symlink(desk.path("docs/a.txt"), desk.path("docs/a.md")).expect("a link");
    assert_eq!(verdicts(&desk.json(&["verify", "x.json", "--folder", "docs"])), ["unreadable"]);
}

// spec: J, C2
#[test]
fn an_odd_file_name_is_exported_and_found_again_and_moves_no_cursor() {
    let name = "o\u{1b}[2J\u{202e}dd 日.md";
    let desk = exported(&[(name, KEPT)]);
    let text = fs::read_to_string(desk.path("x.json")).expect("a file");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let ran = desk.run(&["verify", "x.json", "--folder", "docs"]).succeeded();
    assert!(!ran.out.contains(['\u{1b}', '\u{202e}']), "{}", ran.out);
    fs::remove_file(desk.path("docs").join(name)).expect("it is there");
    assert_eq!(verdicts(&desk.json(&["verify", "x.json", "--folder", "docs"])), ["gone"]);
}

// spec: Q9, X3
#[test]
fn labels_that_somebody_made_up_do_nothing_to_a_terminal() {
    let desk = exported(&[("a.md", KEPT)]);
    let text = fs::read_to_string(desk.path("x.json")).expect("a file");
    let forged = text.replace("\"label\": \"docs\"", "\"label\": \"do\\u001b[2J\\u202ecs = $(x)\"");
    assert_ne!(forged, text);
    fs::write(desk.path("y.json"), forged).expect("a file");
    for args in [
        &["verify", "y.json", "--folder", "docs"][..],
        &["verify", "y.json", "--folder", "docs", "--folder", "docs"],
        &["verify", "y.json", "--folder", "none=docs"],
        &["--json", "verify", "y.json", "--folder", "docs"],
    ] {
        let ran = desk.run(args);
        let all = ran.out + &ran.err;
        assert!(!all.contains(['\u{1b}', '\u{202e}']), "{args:?}: {all}");
    }
    desk.run(&["verify", "y.json", "--folder", "docs"]).succeeded();
}

// spec: X3
#[test]
fn a_hidden_file_that_was_approved_is_found_again() {
    let desk = Desk::new();
    desk.file(".a/b.md", KEPT);
    desk.file(".gitignore", "*.md\n");
    desk.run(&["approve", "docs", "--hidden", "--no-ignore"]).succeeded();
    let id = desk.json(&["report", "backups"]).data()["artifact_id"].clone();
    desk.run(&["export", id.as_str().expect("an id"), "-o", "x.json"]).succeeded();
    desk.run(&["verify", "x.json", "--folder", "docs"]).succeeded();
}

// spec: C9
#[test]
fn a_closed_pipe_ends_both_quietly() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    desk.run(&["export", &id, "-o", "x.json"]).succeeded();
    for args in [&["export", &id][..], &["verify", "x.json", "--folder", "docs"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ran =
            desk.command(args).stdout(writer).stderr(Stdio::piped()).output().expect("it runs");
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
}

// spec: X1, C1
#[test]
fn a_hyphen_is_standard_output() {
    let (desk, id) = reported(&[("a.md", KEPT)]);
    let plain = desk.run(&["export", &id]).succeeded();
    let named = desk.run(&["export", &id, "-o", "-"]).succeeded();
    assert_eq!((&named.out, &named.err), (&plain.out, &plain.err));
    assert!(!desk.path("-").exists());
    desk.json(&["export", &id, "-o", "-"]).succeeded().data();
}

// spec: X3, J
#[test]
fn where_a_missing_file_was_seen_is_told_by_its_bytes_too_if_they_cannot_be_shown() {
    let desk = exported(&[("a.md", KEPT)]);
    fs::rename(desk.path("docs/a.md"), desk.path("docs/o\u{1b}dd.md")).expect("a rename");
    let one = desk.json(&["verify", "x.json", "--folder", "docs"]).data()["quotations"][0].clone();
    assert_eq!((&one["verdict"], &one["moved_to_bytes"]), (&"gone".into(), &"bxtkZC5tZA==".into()));
    fs::rename(desk.path("docs/o\u{1b}dd.md"), desk.path("docs/b.md")).expect("a rename");
    let one = desk.json(&["verify", "x.json", "--folder", "docs"]).data()["quotations"][0].clone();
    assert_eq!((&one["moved_to"], one.get("moved_to_bytes")), (&"b.md".into(), None));
}

// spec: X3
#[test]
fn a_directory_with_the_name_of_the_folder_comes_before_one_that_could_only_be_it() {
    let desk = exported(&[("a.md", KEPT)]);
    fs::create_dir(desk.path("other")).expect("a directory");
    for folders in [["docs", "other"], ["other", "docs"]] {
        let ran = desk
            .run(&["--json", "verify", "x.json", "--folder", folders[0], "--folder", folders[1]]);
        assert_eq!(verdicts(&ran), ["intact"], "{folders:?}");
        assert!(ran.err.contains("other is no folder of the export"), "{}", ran.err);
    }
    for folders in [["docs=docs", "docs"], ["other", "home"], ["docs", "docs"]] {
        let ran = desk.json(&["verify", "x.json", "--folder", folders[0], "--folder", folders[1]]);
        refused(&ran, "invalid_argument", 2);
    }
}
