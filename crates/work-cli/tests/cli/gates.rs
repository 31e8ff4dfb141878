//! The scripts of `docs/gate.md`, run as they stand there.

use crate::desk::{Desk, Ran, program};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../../../docs/gate.md");
const KEPT: &str = "Backups are kept for 35 days.\n";

/// The block of shell in which this comment stands.
fn script(named: &str) -> String {
    let blocks = PAGE.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut found = blocks.filter(|block| block.contains(&format!("# {named}")));
    let script = found.next().expect("it stands in the page").to_owned();
    assert!(found.next().is_none(), "{named} stands there once");
    script
}

/// What the job of the page runs.
fn job() -> String {
    let (_, rest) = PAGE.split_once("    - run: |\n").expect("it stands in the page");
    let lines = rest.lines().take_while(|line| line.starts_with("        "));
    lines.map(|line| format!("{}\n", &line[8..])).collect()
}

/// Runs a program with this `work` on its path, in a directory of the desk.
fn run(desk: &Desk, dir: &str, program_and_args: &[&str]) -> Ran {
    let [program, args @ ..] = program_and_args else { panic!("a program") };
    let mut command = Command::new(program);
    command.args(args).current_dir(desk.path(dir));
    in_surroundings(desk, &mut command).output().expect("it runs").into()
}

fn in_surroundings<'c>(desk: &Desk, command: &'c mut Command) -> &'c mut Command {
    let own = program();
    let path =
        format!("{}:/usr/local/bin:/usr/bin:/bin", own.parent().expect("a directory").display());
    command
        .env_clear()
        .env("PATH", path)
        .env("WORK_HOME", desk.home())
        .env("HOME", desk.path("."))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "Ann")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "ann@example.org")))
}

fn write_script(path: &Path, text: &str) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("done");
}

/// A desk with a result that quotes `docs/a.md`, and its id.
fn quoting() -> (Desk, String) {
    let desk = Desk::with_files(&[("a.md", KEPT), ("b.md", "Holidays are long.\n")]);
    let result = desk.json(&["report", "backups"]).data();
    let id = result["artifact_id"].as_str().expect("an id").to_owned();
    (desk, id)
}

// spec: C5
#[test]
fn the_script_lets_through_only_what_still_holds() {
    let (desk, _) = quoting();
    write_script(&desk.path("gate.sh"), &script("gate.sh"));
    let passed = run(&desk, ".", &["./gate.sh"]).succeeded();
    assert_eq!(passed.out + &passed.err, "");
    desk.file("a.md", "Backups are kept for 40 days.\n");
    let failed = run(&desk, ".", &["./gate.sh", "--fail-on", "altered"]);
    assert_eq!(
        (failed.code, failed.err.as_str()),
        (10, "gate: see what to do with: work status\n")
    );
    assert_eq!(run(&desk, ".", &["./gate.sh", "--paths", "docs/b.md"]).code, 0);
    desk.run(&["revoke", "docs"]).succeeded();
    assert_eq!(run(&desk, ".", &["./gate.sh", "--fail-on", "altered"]).code, 3);
    assert_eq!(run(&desk, ".", &["./gate.sh", "--fail-on", "nonsense"]).code, 2);
}

/// Whether git can be used here.
fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success())
}

// spec: C5
#[test]
fn the_hook_refuses_a_commit_that_breaks_a_quotation() {
    if !has_git() {
        return;
    }
    let (desk, _) = quoting();
    let git = |args: &[&str]| run(&desk, ".", &[&["git"], args].concat());
    git(&["init", "-q"]).succeeded();
    git(&["add", "docs"]).succeeded();
    git(&["commit", "-q", "-m", "begin"]).succeeded();
    write_script(&desk.path(".git/hooks/pre-commit"), &script("pre-commit"));
    let commit = || git(&["commit", "-q", "-m", "next"]).code;
    let back = || git(&["reset", "-q", "--hard"]).succeeded();

    desk.file("a.md", &format!("New.\n\n{KEPT}"));
    desk.file("-x.md", "Other.\n");
    desk.file("with a\nline.md", "Other.\n");
    git(&["add", "docs"]).succeeded();
    assert_eq!(commit(), 0, "a passage that moved still holds");
    assert_eq!(git(&["commit", "-q", "--allow-empty", "-m", "none"]).code, 0);

    desk.file("a.md", "Backups are kept for 40 days.\n");
    git(&["add", "docs"]).succeeded();
    let refused = git(&["commit", "-q", "-m", "next"]);
    assert_eq!(refused.code, 1);
    let told = refused.out + &refused.err;
    assert!(told.contains("a.md: the passage is no longer in its source"), "{told}");
    back();
    git(&["rm", "-q", "docs/a.md"]).succeeded();
    assert_eq!(commit(), 1, "a deleted file");
    back();
    git(&["mv", "docs/a.md", "docs/c.md"]).succeeded();
    assert_eq!(commit(), 1, "a renamed file");
    back();
    desk.file("b.md", "Holidays are short.\n");
    git(&["add", "docs"]).succeeded();
    assert_eq!(commit(), 0, "nothing quotes this file");
}

// spec: X3
#[test]
fn the_job_compares_exports_with_a_fresh_checkout() {
    let (desk, id) = quoting();
    fs::write(desk.path("export.sh"), script("export.sh")).expect("a file");
    for _ in 0..2 {
        run(&desk, ".", &["sh", "export.sh", &id, "backups"]).succeeded();
    }
    assert_eq!(fs::read_dir(desk.path("quotations")).expect("a directory").count(), 1);
    fs::create_dir_all(desk.path("checkout/docs")).expect("a directory");
    fs::create_dir(desk.path("checkout/quotations")).expect("a directory");
    for file in ["docs/a.md", "quotations/backups.json"] {
        fs::copy(desk.path(file), desk.path("checkout").join(file)).expect("a copy");
    }
    fs::remove_dir_all(desk.home()).expect("it is there");
    let job = |shell: &[&str]| run(&desk, "checkout", &[shell, &["-c", &job()]].concat());
    job(&["sh"]).succeeded();
    job(&["sh", "-e"]).succeeded();
    fs::write(desk.path("checkout/docs/a.md"), "Backups are kept for 40 days.\n").expect("a file");
    assert_eq!(job(&["sh"]).code, 10);
    assert_eq!(job(&["sh", "-e"]).code, 10, "as where each command may end the job");
    fs::remove_file(desk.path("checkout/quotations/backups.json")).expect("it is there");
    assert_eq!(job(&["sh"]).code, 2, "without an export it does not pass");
    assert!(!desk.home().exists(), "no instance was made");
}

// spec: I1, I6
#[test]
fn a_backup_checks_a_checkout_at_the_same_path_and_at_no_other() {
    let (desk, _) = quoting();
    desk.run(&["backup", "w.backup"]).succeeded();
    fs::write(desk.path("restored.sh"), script("restored.sh")).expect("a file");
    fs::remove_dir_all(desk.home()).expect("it is there");
    fs::rename(desk.path("docs"), desk.path("old")).expect("a rename");
    fs::create_dir(desk.path("docs")).expect("a directory");
    fs::copy(desk.path("old/a.md"), desk.path("docs/a.md")).expect("a copy");
    let restored = |dir: &str| run(&desk, ".", &["sh", "restored.sh", "w.backup", dir]).code;
    assert_eq!(restored("docs"), 0);
    desk.file("a.md", "Backups are kept for 40 days.\n");
    assert_eq!(restored("docs"), 10);
    fs::create_dir(desk.path("elsewhere")).expect("a directory");
    fs::rename(desk.path("docs"), desk.path("elsewhere/docs")).expect("a rename");
    fs::copy(desk.path("old/a.md"), desk.path("elsewhere/docs/a.md")).expect("a copy");
    assert_eq!(restored("elsewhere/docs"), 10);
    assert_eq!(run(&desk, ".", &["sh", "restored.sh", "nowhere", "docs"]).code, 2);
    assert!(!desk.home().exists(), "the instance is thrown away");
}
