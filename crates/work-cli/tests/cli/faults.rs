//! Disks that are full, directories that cannot be written, databases that are not ours.

use crate::desk::{Desk, Ran, program};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A user who owns nothing here.
const NOBODY: u32 = 65_534;

#[track_caller]
fn check(ran: &Ran, code: &str, exit: i32) {
    let document = ran.document();
    assert_eq!((&document["error"]["code"], ran.code), (&code.into(), exit), "{document}");
}

/// A small file system of its own, taken away with the test.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where this user may not mount one.
    fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).expect("a directory");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

// spec: C10, E
#[test]
fn a_full_disk_is_told_and_what_was_kept_before_is_safe() {
    let desk = Desk::new();
    let Some(_disk) = SmallDisk::mount(&desk.home()) else {
        eprintln!("not tried: this user may not mount a small disk");
        return;
    };
    desk.file("a.md", "Backups are kept.\n");
    desk.run(&["report", "--folder", "docs", "backups"]).succeeded();
    let filler = desk.path("home/filler");
    let mut size = 4 << 20;
    while size > 0 {
        let mut all = fs::read(&filler).unwrap_or_default();
        all.resize(all.len() + size, 0);
        if fs::write(&filler, &all).is_err() {
            size /= 2;
        }
    }
    // What the database still has room for is used up by asking. Then a commit fails; whether it was kept is not
    // known, since asking the full disk fails too. That is told, with the reason.
    let full =
        (0..200).map(|_| desk.json(&["report", "--detach", "kept"])).find(|ran| ran.code != 0);
    let full = full.expect("the disk is full");
    check(&full, "unknown_outcome", 1);
    assert_eq!(full.document()["error"]["details"]["cause"], "disk_full");
    let people = desk.run(&["report", "--detach", "kept"]);
    assert!(
        people.err.starts_with("error: the disk is full, and it is not known"),
        "{}",
        people.err
    );
    assert_eq!(
        desk.json(&["list"]).data()["results"].as_array().map(Vec::len),
        Some(1),
        "reading goes on"
    );
    fs::remove_file(&filler).expect("it is there");
    assert_eq!(desk.json(&["doctor"]).data()["ok"], true);
    desk.run(&["report", "backups"]).succeeded();
}

// spec: C10
#[test]
fn an_answer_that_cannot_be_written_is_no_success() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it is there");
    let output =
        desk.command(&["--json", "report", "backups"]).stdout(full).output().expect("it runs");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: standard output cannot be written"), "{err}");
    assert!(err.contains("hint: the command itself was carried out"), "{err}");
    assert_eq!(desk.json(&["list"]).data()["results"].as_array().map(Vec::len), Some(1));
}

// spec: C10, E
#[test]
fn an_instance_that_cannot_be_written_says_read_only() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let root = rustix::process::geteuid().is_root();
    let work = desk.path("work");
    fs::copy(program(), &work).expect("a copy that anybody may run");
    let entries: Vec<PathBuf> = fs::read_dir(desk.home())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    for path in entries.iter().chain([&desk.home()]) {
        if root {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        let mode = if path.is_dir() { 0o500 } else { 0o400 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the owner may");
    }
    fs::set_permissions(desk.path("."), fs::Permissions::from_mode(0o755)).expect("the owner may");
    let run = |args: &[&str]| -> Ran {
        let mut command = Command::new(&work);
        command.args(args).env_clear().env("WORK_HOME", desk.home()).current_dir(desk.path("."));
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().expect("it runs").into()
    };
    check(&run(&["--json", "report", "--detach", "backups"]), "read_only", 1);
    let people = run(&["report", "--detach", "backups"]);
    assert!(
        people
            .err
            .contains(&format!("hint: make {} and what is in it writable", desk.home().display())),
        "{}",
        people.err
    );
    fs::set_permissions(desk.home(), fs::Permissions::from_mode(0o700)).expect("the owner may");
}

// spec: I1
#[test]
fn a_home_that_cannot_be_made_is_told() {
    let desk = Desk::new();
    fs::write(desk.home(), "a file").expect("a file");
    desk.file("a.md", "Backups are kept.\n");
    check(&desk.json(&["approve", "docs"]), "invalid_argument", 2);
    check(&desk.json(&["init"]), "invalid_argument", 2);
}

/// Writes over the database at `at`.
fn overwrite(desk: &Desk, at: usize, with: &[u8]) {
    for companion in ["work.sqlite-wal", "work.sqlite-shm"] {
        let _ = fs::remove_file(desk.path("home").join(companion));
    }
    let path = desk.path("home/work.sqlite");
    let mut bytes = fs::read(&path).expect("a database");
    bytes[at..at + with.len()].copy_from_slice(with);
    fs::write(path, bytes).expect("a file");
}

// spec: C7, E
#[test]
fn a_newer_a_foreign_and_a_damaged_database_are_refused_as_they_are() {
    let cases: [(usize, &[u8], &str); 3] = [
        (60, &99_u32.to_be_bytes(), "store_newer"),
        (68, &7_u32.to_be_bytes(), "store_foreign"),
        (0, b"This is no database.", "store_damaged"),
    ];
    for (at, with, code) in cases {
        let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
        overwrite(&desk, at, with);
        let before = fs::read(desk.path("home/work.sqlite")).expect("a database");
        let token = fs::read(desk.path("home/token")).expect("a token");
        for args in [&["list"][..], &["init"], &["init", "--new-token"], &["report", "backups"]] {
            check(&desk.json(args), code, 15);
        }
        let doctor = desk.json(&["doctor"]);
        assert_eq!((doctor.code, doctor.out.contains(code)), (15, true), "{}", doctor.out);
        assert_eq!(fs::read(desk.path("home/work.sqlite")).expect("a database"), before);
        assert_eq!(fs::read(desk.path("home/token")).expect("a token"), token);
    }
}

// spec: C7
#[test]
fn the_doctor_finds_a_document_that_was_altered() {
    let desk = Desk::with_files(&[("a.md", "Backups rest beneath the marmalade.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    assert_eq!(desk.run(&["doctor"]).code, 0);
    let damaged = ["work.sqlite", "work.sqlite-wal"].iter().any(|name| {
        let path = desk.path("home").join(name);
        let Ok(mut bytes) = fs::read(&path) else { return false };
        let word = b"marmalade";
        let places: Vec<usize> = bytes
            .windows(word.len())
            .enumerate()
            .filter(|(_, window)| window == word)
            .map(|(at, _)| at)
            .collect();
        for at in &places {
            bytes[*at] = b'M';
        }
        fs::write(path, bytes).expect("a file");
        !places.is_empty() && *name == "work.sqlite"
    });
    let doctor = desk.json(&["doctor"]);
    // A frame of the log whose sum is wrong was never committed; what is in the file itself is altered.
    assert_eq!(doctor.code, if damaged { 15 } else { 0 }, "{}", doctor.out);
}

// spec: I1, D4
#[test]
fn what_others_can_read_is_told_by_the_doctor_and_closed_by_the_next_command() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let token = desk.path("home/token");
    let mode = || fs::metadata(&token).expect("a token").permissions().mode() & 0o777;
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("the owner may");
    let doctor = desk.run(&["doctor"]);
    assert_eq!((doctor.code, mode()), (1, 0o644), "{}", doctor.out);
    assert!(doctor.out.contains("warning exposed: "), "{}", doctor.out);
    assert!(doctor.out.contains(&format!("chmod 600 {}", token.display())), "{}", doctor.out);
    assert!(doctor.out.contains("work init --new-token"), "{}", doctor.out);
    let list = desk.run(&["list"]).succeeded();
    assert!(list.err.starts_with("Closed to other users: "), "{}", list.err);
    assert_eq!(mode(), 0o600);
    assert_eq!(desk.run(&["doctor"]).code, 0);
}

/// The codes that the doctor finds, after it was seen that none sends back to it.
#[track_caller]
fn found(doctor: &Ran) -> Vec<String> {
    let findings = doctor.data()["findings"].clone();
    let one = |finding: &serde_json::Value| {
        assert!(!finding["next"].to_string().contains("work doctor"), "{finding}");
        finding["code"].as_str().expect("a code").to_owned()
    };
    findings.as_array().expect("a list").iter().map(one).collect()
}

// spec: C7, D4, D6
#[test]
fn the_doctor_gives_its_findings_also_of_a_database_that_cannot_be_read() {
    for (at, length, code) in [(0, 20, "store_damaged"), (100, 4_000, "store_damaged")] {
        let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
        overwrite(&desk, at, &vec![b'?'; length]);
        fs::remove_file(desk.path("home/token")).expect("a token");
        let doctor = desk.json(&["doctor"]);
        let document = doctor.document();
        assert_eq!((&document["schema"], doctor.code), (&"work.doctor/1".into(), 15), "{at}");
        let found = found(&doctor);
        assert!(
            [code, "token_unreadable"].iter().all(|code| found.iter().any(|one| one == code)),
            "{found:?}"
        );
        let people = desk.run(&["doctor"]);
        assert_eq!(people.code, 15, "{}", people.err);
        assert!(people.out.contains(&format!("damage {code}: ")), "{}", people.out);
    }
}

/// The program, run by a user who is not root, on an instance that is this user's.
struct Nobody {
    desk: Desk,
}

impl Nobody {
    fn with(desk: Desk) -> Self {
        fs::copy(program(), desk.path("work")).expect("a copy that anybody may run");
        if rustix::process::geteuid().is_root() {
            for entry in fs::read_dir(desk.home()).expect("a directory") {
                chown(entry.expect("an entry").path(), Some(NOBODY), Some(NOBODY))
                    .expect("root may");
            }
            chown(desk.home(), Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        close(&desk.path("."), 0o755);
        Self { desk }
    }

    fn run(&self, args: &[&str]) -> Ran {
        let mut command = Command::new(self.desk.path("work"));
        command.args(args).env_clear().env("WORK_HOME", self.desk.home());
        command.current_dir(self.desk.path("."));
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().expect("it runs").into()
    }
}

fn close(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the owner may");
}

// spec: D6, C10
#[test]
fn what_this_user_may_not_read_is_called_so() {
    let nobody = Nobody::with(Desk::with_files(&[("a.md", "Backups are kept.\n")]));
    let database = nobody.desk.path("home/work.sqlite");
    close(&database, 0);
    let doctor = nobody.run(&["--json", "doctor"]);
    assert_eq!((doctor.code, found(&doctor)), (1, vec!["permission_denied".to_owned()]));
    check(&nobody.run(&["--json", "list"]), "read_only", 1);
    let list = nobody.run(&["list"]).err;
    assert!(
        list.contains(&format!("{} cannot be used: Permission denied", database.display())),
        "{list}"
    );
    close(&database, 0o600);
    close(&nobody.desk.home(), 0);
    for args in [
        &["list"][..],
        &["doctor"],
        &["report", "--folder", "docs", "backups"],
        &["init", "--new-token"],
        &["init"],
    ] {
        check(&nobody.run(&[&["--json"], args].concat()), "read_only", 1);
        let people = nobody.run(args);
        assert!(people.err.contains("ermission denied"), "{args:?}: {}", people.err);
    }
    close(&nobody.desk.home(), 0o700);
}

// spec: C4, C10
#[test]
fn a_token_that_a_crash_did_not_leave_is_made_by_what_would_have_made_the_instance() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let (token, header) = (desk.path("home/token"), desk.path("home/token.header"));
    let lose = || {
        fs::remove_file(&token).expect("a token");
        let _ = fs::remove_file(&header);
    };
    lose();
    let refused = desk.run(&["report", "backups"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(
        refused.err.contains("hint: make a new one: work init --new-token\n"),
        "{}",
        refused.err
    );
    let report = desk.run(&["report", "--folder", "docs", "backups"]).succeeded();
    assert!(report.err.contains("Made the missing token of the instance "), "{}", report.err);
    assert!(token.exists() && header.exists());
    lose();
    let init = desk.run(&["init"]).succeeded();
    assert!(init.out.starts_with("Made the missing token of the instance "), "{}", init.out);
    assert_eq!(desk.json(&["init"]).data()["change"], "unchanged");
    lose();
    assert_eq!(desk.json(&["init"]).data()["change"], "new_token");
    fs::write(&token, "no token").expect("a file");
    let refused = desk.run(&["report", "--folder", "docs", "backups"]);
    assert_eq!(refused.code, 1, "what stands there is not thrown away: {}", refused.out);
}
