//! Help, manual and completions.

use crate::desk::Desk;
use std::fs;

const COMMANDS: [&str; 29] = [
    "init",
    "approve",
    "revoke",
    "folders",
    "report",
    "list",
    "show",
    "repair",
    "proposals",
    "review",
    "apply",
    "dismiss",
    "history",
    "compare",
    "restore",
    "tasks",
    "cancel",
    "worker",
    "status",
    "check",
    "refresh",
    "export",
    "verify",
    "backup",
    "doctor",
    "log",
    "schema",
    "completions",
    "man",
];

#[track_caller]
fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "wider than 80 columns: {line}");
    }
}

// spec: C1
#[test]
fn every_command_explains_itself_on_one_screen() {
    let desk = Desk::new();
    let all = desk.run(&["--help"]).succeeded().out;
    assert!(all.lines().count() <= COMMANDS.len() + 25, "a line for each, and little more: {all}");
    fits(&all);
    assert!(all.contains("work report --folder ~/notes how long are backups kept"), "{all}");
    for command in COMMANDS {
        let help = desk.run(&[command, "--help"]).succeeded().out;
        fits(&help);
        assert!(help.contains(&format!("Usage: work {command}")), "{help}");
        assert!(all.contains(&format!("\n  {command} ")), "{command}");
    }
    let listed = all
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    assert_eq!(listed.count(), COMMANDS.len());
    assert!(!desk.home().exists(), "help makes nothing");
}

// spec: C1
#[test]
fn each_command_has_a_page_in_the_manual() {
    let desk = Desk::new();
    let all = desk.run(&["man"]).succeeded().out;
    let dir = desk.path("man1");
    desk.run(&["man", "--dir", dir.to_str().expect("UTF-8")]).succeeded();
    for command in COMMANDS {
        let page = fs::read_to_string(dir.join(format!("work-{command}.1"))).expect("a page");
        assert!(all.contains(&page), "{command}");
    }
    assert_eq!(fs::read_dir(&dir).expect("a directory").count(), COMMANDS.len() + 1);
}

// spec: C1
#[test]
fn completions_are_printed_for_each_shell() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.run(&["completions", shell]).succeeded().out;
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("fail-on") && script.contains("accept-clock"), "{shell}");
    }
}

// spec: C2
#[test]
fn tables_fit_eighty_columns_where_somebody_says_so_and_are_whole_in_a_pipe() {
    let long =
        "backups and many other words that make this query far longer than a line of a terminal is";
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", long]).succeeded();
    desk.run(&["report", "--detach", long]).succeeded();
    let result = desk.json(&["list"]).data()["results"][0]["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    desk.file("a.md", "Backups are kept for long.\n");
    desk.run(&["repair", result]).succeeded();
    for args in [
        &["list"][..],
        &["tasks"],
        &["folders"],
        &["log"],
        &["doctor"],
        &["status"],
        &["proposals"],
        &["history", result],
    ] {
        fits(&desk.run(args).succeeded().out);
    }
    let cut = desk.run(&["list"]).out;
    assert!(cut.ends_with("…\n"), "{cut}");
    let piped = desk.command(&["list"]).env_remove("COLUMNS").output().expect("it runs");
    assert!(String::from_utf8_lossy(&piped.stdout).contains(long));
}

// spec: C2
#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    let escape = "\u{1b}[";
    assert!(!desk.run(&["folders"]).out.contains(escape));
    assert!(desk.run(&["--color", "always", "folders"]).out.contains(escape));
    assert!(desk.run(&["folders", "--color=always"]).out.contains(escape));
    assert!(desk.run(&["--color", "always", "show", "ffff"]).err.contains(escape));
    assert!(!desk.run(&["--color", "never", "folders"]).out.contains(escape));
}

// spec: C5
#[test]
fn the_hook_that_check_tells_of_is_that_of_the_guide() {
    let guide = include_str!("../../../../docs/gate.md");
    let hook = guide.lines().find(|line| line.starts_with("git diff")).expect("a hook");
    let help = Desk::new().run(&["check", "--help"]).succeeded().out;
    let help: Vec<&str> = help.split_whitespace().collect();
    assert!(help.join(" ").contains(hook), "{hook}");
}
