//! Backups: made while others write, never in the way, checked, and made an instance of.

use crate::desk::{Desk, Ran, eventually};
use crate::terminal::session;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;
use std::sync::Arc;
use work_core::port::Quiet;
use work_core::retrieve::Query;
use work_core::workspace::ReportAsk;
use work_store::ids::OsIds;

const KEPT: &str = "Backups are kept for 35 days.\n";

/// A desk with a result, and its id.
fn desk() -> (Desk, String) {
    let desk = Desk::with_files(&[("a.md", KEPT)]);
    let result = desk.json(&["report", "backups"]).data();
    let id = result["artifact_id"].as_str().expect("an id").to_owned();
    (desk, id)
}

#[track_caller]
fn refused(ran: &Ran, code: &str, exit: i32) -> Value {
    let document = ran.document();
    assert_eq!((&document["error"]["code"], ran.code), (&code.into(), exit), "{document}");
    document["error"].clone()
}

/// The codes of what a doctor found.
fn found(ran: &Ran) -> Vec<String> {
    let data = ran.data();
    let all = data["findings"].as_array().expect("a list").clone();
    all.iter().map(|one| one["code"].as_str().expect("a code").to_owned()).collect()
}

// spec: D5, J9
#[test]
fn a_backup_is_private_and_says_what_it_holds_and_how_to_use_it() {
    let (desk, _) = desk();
    let made = desk.json(&["backup", "w.backup"]).data();
    let file = fs::metadata(desk.path("w.backup")).expect("a file");
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    assert_eq!((&made["file"], &made["size"]), (&"w.backup".into(), &file.len().into()));
    let doctor = desk.json(&["doctor"]).data();
    assert_eq!((&made["events"], &made["chain"]), (&doctor["events"], &doctor["chain"]));
    let people = desk.run(&["backup", "b 2"]).succeeded();
    let chain = made["chain"].as_str().expect("a digest");
    assert!(people.out.ends_with(&format!("; the last is\n  {chain}\n")), "{}", people.out);
    for said in ["private and in clear text", "work doctor --file 'b 2'", "init --from 'b 2'"] {
        assert!(people.err.contains(said), "{said}: {}", people.err);
    }
    let token = fs::read_to_string(desk.path("home/token")).expect("a token");
    let bytes = fs::read(desk.path("w.backup")).expect("a file");
    let token = token.trim().as_bytes();
    assert!(!bytes.windows(token.len()).any(|window| window == token), "it holds no token");
}

// spec: D5
#[test]
fn a_backup_is_never_made_over_anything() {
    let (desk, _) = desk();
    fs::write(desk.path("file"), "mine").expect("a file");
    fs::create_dir(desk.path("dir")).expect("a directory");
    symlink(desk.path("nowhere"), desk.path("link")).expect("a link");
    for taken in ["file", "dir", "link", "..", "none/w.backup", "file/w.backup"] {
        refused(&desk.json(&["backup", taken]), "invalid_argument", 2);
    }
    assert_eq!(fs::read_to_string(desk.path("file")).expect("a file"), "mine");
    let mut names: Vec<_> = fs::read_dir(desk.path("."))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    assert_eq!(names, ["dir", "docs", "file", "home", "link"], "nothing is left");
}

// spec: D5
#[test]
fn no_backup_is_made_where_a_folder_was_ever_approved_or_the_instance_is() {
    let (desk, _) = desk();
    desk.file("sub/b.md", KEPT);
    fs::create_dir(desk.path("old")).expect("a directory");
    desk.run(&["approve", "old"]).succeeded();
    desk.run(&["revoke", "old"]).succeeded();
    symlink(desk.path("docs/sub"), desk.path("alias")).expect("a link");
    fs::create_dir(desk.path("home/sub")).expect("a directory");
    for inside in [
        "docs/w.backup",
        "docs/sub/w.backup",
        "old/w.backup",
        "alias/w.backup",
        "docs/../old/w.backup",
        "home/w.backup",
        "home/work.sqlite-journal",
        "home/sub/w.backup",
    ] {
        let error = refused(&desk.json(&["backup", inside]), "folder_refused", 13);
        let message = error["message"].as_str().expect("a text");
        assert!(message.starts_with(&format!("{inside}: a backup is not kept in ")), "{message}");
        assert!(!desk.path(inside).exists(), "{inside}");
    }
    // The root was moved: it is the same folder, and its old place is none.
    fs::rename(desk.path("docs"), desk.path("away")).expect("a rename");
    refused(&desk.json(&["backup", "away/sub/w.backup"]), "folder_refused", 13);
    fs::create_dir(desk.path("docs")).expect("a directory");
    refused(&desk.json(&["backup", "docs/w.backup"]), "folder_refused", 13);
    fs::create_dir(desk.path("docs-2")).expect("a directory");
    desk.run(&["backup", "docs-2/w.backup"]).succeeded();
}

// spec: D5
#[test]
fn a_folder_that_is_mounted_elsewhere_is_the_same_folder() {
    let (desk, _) = desk();
    fs::create_dir(desk.path("mnt")).expect("a directory");
    let mut mount = Command::new("mount");
    mount.arg("--bind").arg(desk.path("docs")).arg(desk.path("mnt"));
    if !mount.output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let ran = desk.json(&["backup", "mnt/w.backup"]);
    let there = desk.path("docs/w.backup").exists();
    Command::new("umount").arg(desk.path("mnt")).status().expect("it runs");
    refused(&ran, "folder_refused", 13);
    assert!(!there);
}

// spec: D5
#[test]
fn a_backup_is_whole_while_a_worker_writes() {
    let desk = Desk::with_files(&[("a.md", KEPT)]);
    for n in 0..20 {
        desk.run(&["report", "--detach", "backups", &format!("word{n}")]).succeeded();
    }
    let mut worker = desk.spawn(&["worker", "--once"]);
    let mut made = 0;
    eventually("the worker ends", || {
        let name = format!("w{made}");
        let backup = desk.json(&["backup", &name]).data();
        let doctor = desk.json(&["doctor", "--file", &name]).succeeded().data();
        assert_eq!((&doctor["events"], &doctor["chain"]), (&backup["events"], &backup["chain"]));
        made += 1;
        worker.try_wait().expect("a child").is_some()
    });
    assert_eq!(desk.json(&["doctor"]).succeeded().data()["ok"], true);
}

// spec: D4, D5
#[test]
fn the_doctor_checks_a_file_without_an_instance() {
    let (desk, _) = desk();
    desk.run(&["backup", "w.backup"]).succeeded();
    fs::remove_dir_all(desk.home()).expect("it is there");
    let people = desk.run(&["doctor", "--file", "w.backup"]).succeeded();
    assert!(people.out.starts_with("ok\n"), "{}", people.out);
    let before = fs::read(desk.path("w.backup")).expect("a file");
    assert!(found(&desk.json(&["doctor", "--file", "w.backup"]).succeeded()).is_empty());
    assert_eq!(fs::read(desk.path("w.backup")).expect("a file"), before, "nothing was changed");
    assert!(!desk.path("w.backup-wal").exists() && !desk.home().exists(), "nothing was made");

    fs::set_permissions(desk.path("w.backup"), fs::Permissions::from_mode(0o644)).expect("done");
    let open = desk.json(&["doctor", "--file", "w.backup"]);
    assert_eq!((found(&open), open.code), (vec!["exposed".to_owned()], 1));
    let mut torn = before.clone();
    torn.truncate(before.len() / 2);
    let mut newer = before.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut foreign = before.clone();
    foreign[68..72].copy_from_slice(b"abcd");
    let changed: Vec<u8> = String::from_utf8_lossy(&before).into_owned().into_bytes();
    assert_ne!(changed, before);
    for (name, bytes, expected) in [
        ("torn", torn, None),
        ("newer", newer, Some("store_newer")),
        ("foreign", foreign, Some("store_foreign")),
        ("text", b"no database at all".to_vec(), None),
        ("mangled", changed, None),
    ] {
        fs::write(desk.path(name), bytes).expect("a file");
        fs::set_permissions(desk.path(name), fs::Permissions::from_mode(0o600)).expect("done");
        let ran = desk.json(&["doctor", "--file", name]);
        let codes = found(&ran);
        assert_eq!(ran.code, 15, "{name}: {codes:?}");
        assert!(expected.is_none_or(|code| codes == [code]), "{name}: {codes:?}");
        let next = ran.data()["findings"][0]["next"].clone();
        assert!(next.as_str().expect("a text").starts_with("rely on another backup"), "{next}");
    }
    for none in ["nowhere", "docs/none"] {
        refused(&desk.json(&["doctor", "--file", none]), "invalid_argument", 2);
    }
}

// spec: D4
#[test]
fn a_backup_whose_record_was_changed_is_found_out() {
    let (desk, _) = desk();
    desk.run(&["backup", "w.backup"]).succeeded();
    let bytes = fs::read(desk.path("w.backup")).expect("a file");
    let word = b"kept for 35";
    let at = bytes.windows(word.len()).position(|window| window == word).expect("clear text");
    let mut changed = bytes;
    changed[at..at + word.len()].copy_from_slice(b"kept for 36");
    fs::write(desk.path("w.backup"), changed).expect("a file");
    let ran = desk.json(&["doctor", "--file", "w.backup"]);
    assert_eq!((found(&ran), ran.code), (vec!["document_damaged".to_owned()], 15));
    let error = refused(
        &desk.json(&["--home", "second", "init", "--from", "w.backup"]),
        "store_damaged",
        15,
    );
    assert_eq!(error["hint"], "use another backup; nothing was made of this one");
    assert!(!desk.path("second/work.sqlite").exists());
}

// spec: I1, D5
#[test]
fn an_instance_made_of_a_backup_has_the_results_and_a_token_of_its_own() {
    let (desk, id) = desk();
    let before = desk.json(&["show", &id]).data();
    desk.run(&["backup", "w.backup"]).succeeded();
    let made = desk.run(&["--home", "second", "init", "--from", "w.backup"]).succeeded();
    let home = desk.path("second");
    assert_eq!(made.out, format!("Created the instance {} from w.backup\n", home.display()));
    assert!(made.err.contains("work --home second folders"), "{}", made.err);
    let shown = desk.json(&["--home", "second", "show", &id]).data();
    assert_eq!((&shown["body"], &shown["state"]), (&before["body"], &before["state"]));
    assert_eq!(desk.json(&["--home", "second", "doctor"]).succeeded().data()["ok"], true);
    let token = |home: &str| fs::read_to_string(desk.path(home).join("token")).expect("a token");
    assert_ne!(token("home"), token("second"));
    let again = desk.json(&["--home", "second", "init", "--from", "w.backup"]);
    refused(&again, "invalid_argument", 2);
    refused(&desk.json(&["--home", "third", "init", "--from", "none"]), "invalid_argument", 2);
    assert!(!desk.path("third").exists());
    fs::write(desk.path("text"), "no database").expect("a file");
    refused(&desk.json(&["--home", "third", "init", "--from", "text"]), "store_damaged", 15);
    let both = desk.json(&["--home", "third", "init", "--from", "w.backup", "--new-token"]);
    refused(&both, "invalid_argument", 2);
}

// spec: H6, D5
#[test]
fn what_waited_in_a_backup_is_not_applied_in_an_instance_made_of_it() {
    let (desk, id) = desk();
    desk.file("a.md", "Backups are kept for 40 days.\n");
    let waits = desk.json(&["repair", &id]).data();
    let [proposal, fingerprint] =
        ["proposal_id", "fingerprint"].map(|name| waits[name].as_str().expect("a text"));
    desk.run(&["backup", "w.backup"]).succeeded();
    desk.run(&["--home", "second", "init", "--from", "w.backup"]).succeeded();
    let apply = ["--home", "second", "apply", proposal, "--fingerprint", fingerprint];
    refused(&desk.json(&apply), "expired", 11);
    desk.run(&["apply", proposal, "--fingerprint", fingerprint]).succeeded();
}

/// A desk whose time is an hour ahead of the clock, with a proposal that waits.
fn ahead() -> (Desk, String) {
    let desk = Desk::with_files(&[("a.md", KEPT)]);
    let library = desk.library_at(3_600, Arc::new(OsIds));
    let ask = ReportAsk::everywhere(Query::parse("backups").expect("a query"));
    let result = library.report(&ask, &mut Quiet).expect("a report").artifact_id;
    desk.file("a.md", "Backups are kept for 40 days.\n");
    library.repair(result, &mut Quiet).expect("repaired");
    (desk, result.to_string())
}

// spec: T6
#[test]
fn the_clock_is_accepted_only_when_somebody_says_so() {
    let (desk, _) = ahead();
    assert_eq!(found(&desk.json(&["doctor"])), ["clock_behind"]);
    let told = desk.run(&["doctor"]).out;
    told.lines().for_each(|line| assert!(line.len() <= 80, "too wide: {line}"));
    for args in [&["doctor", "--accept-clock"][..], &["--no-input", "doctor", "--accept-clock"]] {
        let error = refused(&desk.json(args), "invalid_argument", 2);
        assert!(error["message"].as_str().expect("a text").contains("--yes"), "{error}");
    }
    assert_eq!(desk.json(&["proposals"]).data()["proposals"][0]["state"], "pending");
    let no = session(&desk, &["doctor", "--accept-clock"], "cat", "n\n");
    assert_eq!(no.code, 0, "{}", no.screen);
    assert!(no.screen.contains("every pending proposal (1 now)"), "{}", no.screen);
    no.screen.lines().for_each(|line| assert!(line.len() <= 80, "too wide: {line}"));
    assert!(no.screen.contains("Not accepted. Nothing has changed."), "{}", no.screen);
    assert_eq!(desk.json(&["proposals"]).data()["proposals"][0]["state"], "pending");
    let yes = session(&desk, &["doctor", "--accept-clock"], "cat", "y\n");
    assert_eq!(yes.code, 0, "{}", yes.screen);
    assert!(yes.screen.contains("Time was set back from "), "{}", yes.screen);
    assert_eq!(desk.json(&["proposals"]).data()["proposals"][0]["state"], "expired");
    assert_eq!(desk.events().last().map(String::as_str), Some("clock_accepted"));
    assert!(found(&desk.json(&["doctor"]).succeeded()).is_empty());
}

// spec: T6
#[test]
fn a_script_accepts_the_clock_with_yes_and_one_that_is_right_changes_nothing() {
    let (desk, _) = ahead();
    let accepted = desk.json(&["doctor", "--accept-clock", "--yes"]).succeeded();
    assert_eq!(accepted.data()["ok"], true);
    let events = desk.events();
    let again = desk.run(&["doctor", "--accept-clock"]).succeeded();
    assert_eq!(again.err, "The clock is not behind. Nothing has changed.\n");
    assert_eq!(desk.events(), events);
    for args in [&["doctor", "--yes"][..], &["doctor", "--file", "x", "--accept-clock"]] {
        refused(&desk.json(args), "invalid_argument", 2);
    }
}

// spec: C9
#[test]
fn a_closed_pipe_ends_a_backup_quietly_when_it_is_made() {
    let (desk, _) = desk();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = desk.command(&["-q", "backup", "w.backup"]);
    let ran = command.stdout(writer).output().expect("it runs");
    assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]));
    desk.run(&["doctor", "--file", "w.backup"]).succeeded();
}
