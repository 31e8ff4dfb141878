//! Every document that is printed fits the schema that is printed for it.

use crate::desk::{Desk, Ran};
use crate::schema::misfits;
use serde_json::Value;
use std::collections::BTreeSet;

/// Documents that no command here prints: other front ends, and whoever reads exports, do.
const ELSEWHERE: [&str; 3] = ["work.export/1", "work.revision/1", "work.verify/1"];

/// Checks one answer against the schema of its name, and notes the name.
#[track_caller]
fn check(desk: &Desk, ran: &Ran, seen: &mut BTreeSet<String>) {
    let document = ran.document();
    let name = document["schema"].as_str().expect("a name").to_owned();
    let schema: Value =
        serde_json::from_str(&desk.run(&["schema", &name]).succeeded().out).expect("JSON");
    assert_eq!(schema["$id"], name);
    let data = if document["ok"] == true { &document["data"] } else { &document["error"] };
    assert_eq!(misfits(&schema, data), Vec::<String>::new(), "{document}");
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(keys.len(), 3, "schema, ok, and data or error: {document}");
    seen.insert(name);
}

// spec: C8
#[test]
fn each_document_fits_its_schema() {
    let desk = Desk::new();
    desk.file("a.md", "# Keeping\n\nBackups are kept for 35 days.\n");
    desk.file("b.md", "# Holding\n\nBackups are held elsewhere.\n");
    let mut seen = BTreeSet::new();
    let mut ask = |args: &[&str]| {
        let ran = desk.json(args);
        check(&desk, &ran, &mut seen);
        ran.document()
    };
    ask(&["init"]);
    ask(&["approve", "docs"]);
    ask(&["report", "--detach", "kept"]);
    ask(&["worker", "--once"]);
    let result = ask(&["report", "backups"])["data"]["artifact_id"].clone();
    let result = result.as_str().expect("an id");
    desk.run(&["export", result, "-o", "x.json"]).succeeded();
    ask(&["export", result]);
    ask(&["report", "zebra"]);
    let waits = ask(&["report", "--detach", "held"])["data"]["task_id"].clone();
    ask(&["cancel", &waits.as_str().expect("an id")[..10]]);
    desk.file("a.md", "# Keeping\n\nBackups are kept for 40 days.\n");
    std::fs::remove_file(desk.path("docs/b.md")).expect("it is there");
    ask(&["show", result]);
    ask(&["verify", "x.json", "--folder", "docs"]);
    for args in [&["status"][..], &["check"], &["refresh"]] {
        ask(args);
    }
    ask(&["backup", "work.backup"]);
    for args in [&["list"][..], &["tasks"], &["folders"], &["log"], &["doctor"]] {
        ask(args);
    }
    let waits = ask(&["repair", result])["data"].clone();
    let [id, fingerprint] =
        ["proposal_id", "fingerprint"].map(|name| waits[name].as_str().expect("a text"));
    ask(&["proposals"]);
    ask(&["apply", id, "--fingerprint", fingerprint]);
    ask(&["apply", id, "--fingerprint", fingerprint]);
    for args in [&["review", id][..], &["history", result], &["repair", result]] {
        ask(args);
    }
    ask(&["compare", result, "1"]);
    desk.file("b.md", "# Holding\n\nBackups are held elsewhere.\n");
    ask(&["compare", result, "1"]);
    let restore = ask(&["restore", result, "1"])["data"]["proposal_id"].clone();
    ask(&["dismiss", restore.as_str().expect("an id")]);
    ask(&["revoke", "docs"]);
    for args in [
        &["list"][..],
        &["show", result],
        &["tasks"],
        &["status"],
        &["check"],
        &["refresh"],
        &["review", id],
        &["proposals"],
        &["history", result],
        &["compare", result, "1"],
    ] {
        ask(args);
    }
    let names = desk.run(&["schema"]).succeeded().out;
    let names: BTreeSet<String> = names.lines().map(str::to_owned).collect();
    seen.extend(ELSEWHERE.map(str::to_owned));
    assert_eq!(seen, names, "every document was printed once at least");
}

// spec: C2
#[test]
fn whole_ids_stand_in_tables_where_more_is_wanted() {
    let desk = Desk::with_files(&[("a.md", "Backups are kept.\n")]);
    desk.run(&["report", "backups"]).succeeded();
    let result = &desk.json(&["list"]).data()["results"][0];
    let task = &desk.json(&["tasks"]).data()["tasks"][0];
    let folder = &desk.json(&["folders"]).data()["folders"][0];
    for (command, id) in [
        ("list", &result["artifact_id"]),
        ("tasks", &task["task_id"]),
        ("tasks", &result["artifact_id"]),
        ("folders", &folder["folder"]),
        ("log", &result["artifact_id"]),
    ] {
        let id = id.as_str().expect("an id");
        assert!(desk.run(&["-v", command]).succeeded().out.contains(id), "{command}");
        assert!(!desk.run(&[command]).succeeded().out.contains(id), "{command}");
    }
}
