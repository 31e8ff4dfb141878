//! After a folder is revoked, nothing that came from it is printed by any command.

use crate::desk::Desk;
use serde_json::Value;

/// Every digest and source id in a document.
fn handles(document: &Value, found: &mut Vec<String>) {
    match document {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (true, Some(text)) = (
                    ["digest", "dependencies", "source_id"].contains(&name.as_str()),
                    value.as_str(),
                ) {
                    found.push(text.to_owned());
                }
                handles(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| handles(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

// spec: R1, I5
#[test]
fn nothing_of_a_revoked_folder_is_printed() {
    let desk = Desk::with_files(&[(
        "cellar/quincunx.md",
        "# Xylophone\n\nBackups rest beneath the marmalade.\n\nBackups also rest elsewhere.\n",
    )]);
    let result = desk.json(&["report", "backups"]).data();
    let failed = desk.json(&["report", "zebra"]);
    assert_eq!(failed.code, 1);
    let id = result["artifact_id"].as_str().expect("an id").to_owned();
    desk.file("cellar/ombu.md", "Backups of the pantry are kept, too.\n");
    let proposal = desk.json(&["repair", &id]).data();
    let waits = proposal["proposal_id"].as_str().expect("an id").to_owned();
    let words = ["cellar", "quincunx", "Xylophone", "marmalade", "elsewhere", "ombu", "pantry"];
    let mut secrets: Vec<String> = words.map(str::to_owned).to_vec();
    secrets.push(proposal["fingerprint"].as_str().expect("a fingerprint").to_owned());
    handles(&result, &mut secrets);
    handles(&proposal, &mut secrets);
    assert!(secrets.len() > 8, "{secrets:?}");
    desk.run(&["revoke", "docs"]).succeeded();

    for args in [
        &["list"][..],
        &["show", &id],
        &["show", &id, "--format", "text"],
        &["show", &id, "--revision", "1"],
        &["tasks"],
        &["log"],
        &["doctor"],
        &["folders"],
        &["report", "backups"],
        &["-v", "show", &id],
        &["proposals"],
        &["review", &waits],
        &["-v", "review", &waits],
        &["apply", &waits],
        &["history", &id],
        &["compare", &id, "1"],
        &["compare", &id, "2"],
        &["restore", &id, "1"],
        &["repair", &id],
    ] {
        for ran in [desk.run(args), desk.json(args)] {
            let all = ran.out + &ran.err;
            for secret in &secrets {
                assert!(!all.contains(secret.as_str()), "{args:?} prints {secret}: {all}");
            }
        }
    }
    let stub = desk.json(&["show", &id]).succeeded().data();
    assert_eq!((&stub["state"], &stub["query"]), (&"access_removed".into(), &"backups".into()));
    assert!(stub["body"].is_null() && stub["scan"].is_null() && stub["causes"].is_null(), "{stub}");
    let tasks = desk.json(&["tasks"]).data();
    assert!(!tasks.to_string().contains("files_read"), "no count of the folder is left: {tasks}");

    let stub = desk.json(&["review", &waits]).succeeded().data();
    assert_eq!((&stub["state"], &stub["kind"]), (&"access_removed".into(), &Value::Null));

    assert_eq!(desk.json(&["approve", "docs"]).data()["change"], "approved_again");
    assert_eq!(desk.json(&["show", &id]).data()["body"], result["body"], "it shows again");
}

/// Two folders, of which one is withdrawn: a result of each, and one of both, with a proposal for each of the three.
struct Cabinet {
    desk: Desk,
    /// The results of the withdrawn folder, of both, of the other.
    results: [String; 3],
    proposals: [String; 3],
    secrets: Vec<String>,
}

const KEPT: &str =
    "# Almanac\n\nHoneycomb is kept for a year.\n\nHoneycomb and tortoise, in plain sight.\n";

impl Cabinet {
    fn with_files_moved_and_changed() -> Self {
        let desk = Desk::with_files(&[
            ("cellar/quincunx.md", "# Xylophone\n\nHoneycomb rests beneath the marmalade.\n"),
            ("cellar/gherkin.md", "Honeycomb, gherkin and brine.\n\nMore gherkin.\n"),
        ]);
        std::fs::create_dir(desk.path("open")).expect("a directory");
        std::fs::write(desk.path("open/a.md"), KEPT).expect("a file");
        desk.run(&["approve", "open"]).succeeded();
        let queries = ["--folder docs honeycomb", "honeycomb", "--folder open honeycomb"];
        let ask = |query: &str| {
            let words: Vec<&str> = ["report"].into_iter().chain(query.split(' ')).collect();
            desk.json(&words).data()
        };
        let reports = queries.map(ask);
        let results =
            reports.each_ref().map(|one| one["artifact_id"].as_str().expect("an id").to_owned());
        let mut secrets: Vec<String> =
            ["cellar", "quincunx", "Xylophone", "marmalade", "gherkin", "brine", "ombu", "pantry"]
                .map(str::to_owned)
                .to_vec();
        for id in &results[..2] {
            let export = desk.json(&["export", id]).data();
            for field in ["body", "dependencies", "verification", "scan"] {
                secrets.push(export["revision"][field].as_str().expect("a digest").to_owned());
            }
            for one in export["quotations"].as_array().expect("a list") {
                if one["label"] == "docs" {
                    handles(one, &mut secrets);
                    secrets.push(one["normalised"].as_str().expect("a digest").to_owned());
                }
            }
        }
        std::fs::rename(desk.path("docs/cellar/gherkin.md"), desk.path("docs/cellar/ombu.md"))
            .expect("done");
        desk.file("cellar/quincunx.md", "# Pantry\n\nHoneycomb rests in the pantry.\n");
        std::fs::write(desk.path("open/a.md"), KEPT.replace("a year", "two years"))
            .expect("a file");
        let proposals = results.each_ref().map(|id| {
            let proposal = desk.json(&["repair", id]).data();
            proposal["proposal_id"].as_str().expect("an id").to_owned()
        });
        for (id, proposal) in results.iter().zip(&proposals).take(2) {
            let causes = desk.json(&["show", id]).data()["causes"].clone();
            let causes = causes.as_array().expect("a list").iter();
            causes.filter(|one| one["path"] != "a.md").for_each(|one| handles(one, &mut secrets));
            let proposal = desk.json(&["review", proposal]).data();
            secrets.push(proposal["fingerprint"].as_str().expect("a fingerprint").to_owned());
            secrets.push(proposal["proposed"]["digest"].as_str().expect("a digest").to_owned());
        }
        desk.run(&["report", "--detach", "tortoise"]).succeeded();
        Self { desk, results, proposals, secrets }
    }

    /// Runs a command in each way of speaking and looks for anything that tells of the withdrawn folder.
    #[track_caller]
    fn hunt(&self, args: &[&str]) {
        for more in [&[][..], &["--json"], &["-v"], &["-q"], &["--progress", "plain"]] {
            let ran = self.desk.run(&[more, args].concat());
            let all = ran.out + &ran.err;
            for secret in &self.secrets {
                assert!(!all.contains(secret.as_str()), "{more:?} {args:?} prints {secret}: {all}");
            }
        }
    }
}

// spec: R1, R2, R3
#[test]
fn no_command_prints_a_trace_of_a_withdrawn_folder_beside_one_that_shows() {
    let cabinet = Cabinet::with_files_moved_and_changed();
    let Cabinet { desk, results, proposals, secrets } = &cabinet;
    assert!(secrets.len() > 24, "{secrets:?}");
    desk.run(&["revoke", "docs"]).succeeded();
    for id in results {
        for args in [
            &["show", id][..],
            &["show", id, "--format", "text"],
            &["show", id, "--revision", "1"],
            &["history", id],
            &["compare", id, "1"],
            &["restore", id, "1"],
            &["export", id],
            &["export", id, "--revision", "1"],
        ] {
            cabinet.hunt(args);
        }
    }
    for proposal in proposals {
        cabinet.hunt(&["review", proposal]);
        cabinet.hunt(&["apply", proposal]);
    }
    for args in [
        &["folders"][..],
        &["list"],
        &["list", "--state", "stale"],
        &["list", "--state", "access_removed"],
        &["status"],
        &["check"],
        &["check", "--fail-on", "altered,gone,moved,cosmetic,intact,ambiguous"],
        &["check", "--paths", "docs/cellar/quincunx.md", "docs/cellar/gherkin.md"],
        &["check", "--paths", "open/a.md"],
        &["refresh"],
        &["proposals"],
        &["tasks"],
        &["worker", "--once"],
        &["report", "honeycomb"],
        &["report", "--detach", "honeycomb"],
        &["worker", "--once"],
        &["tasks"],
        &["log"],
        &["log", "--after", "0"],
        &["doctor"],
        &["backup", "w.backup"],
        &["doctor", "--file", "w.backup"],
        &["doctor", "--accept-clock"],
        &["init"],
        &["--home", "second", "init", "--from", "w.backup"],
        &["revoke", "docs"],
    ] {
        cabinet.hunt(args);
    }
    for id in &results[..2] {
        cabinet.hunt(&["repair", id]);
    }
    for proposal in proposals {
        cabinet.hunt(&["dismiss", proposal]);
    }
    for args in [&["list"][..], &["status"], &["check"], &["folders"]] {
        cabinet.hunt(&[&["--home", "second"], args].concat());
    }
}

// spec: R2, J9
#[test]
fn nothing_is_counted_of_a_withdrawn_folder() {
    let cabinet = Cabinet::with_files_moved_and_changed();
    let Cabinet { desk, results, .. } = &cabinet;
    desk.run(&["revoke", "docs"]).succeeded();
    let status = desk.json(&["status"]).data();
    let of = |id: &str| {
        let all = status["attention"].as_array().expect("a list");
        all.iter().find(|one| one["artifact_id"] == id).expect("it needs somebody").clone()
    };
    for id in &results[..2] {
        assert_eq!((&of(id)["state"], &of(id)["causes"]), (&"access_removed".into(), &Value::Null));
    }
    assert_eq!(of(&results[2])["state"], "stale");
    assert_eq!(status["sources"]["looked_at"], 1, "the one source of the folder that shows");
    let waiting = status["waiting"].as_array().expect("a list");
    assert_eq!(waiting.len(), 1, "{status}");
    assert_eq!(waiting[0]["artifact_id"], results[2].as_str());
    let refresh = desk.json(&["refresh"]).data();
    assert_eq!((&refresh["looked_at"], &refresh["missing"]), (&1.into(), &0.into()));
    let check = desk.json(&["check"]).data();
    let failed = check["failed"].as_array().expect("a list");
    assert!(
        failed
            .iter()
            .filter(|one| one["state"] == "access_removed")
            .all(|one| one["causes"].is_null())
    );
}

// spec: R2, R3
#[test]
fn the_progress_of_a_look_tells_nothing_of_how_much_is_hidden() {
    let cabinet = Cabinet::with_files_moved_and_changed();
    let Cabinet { desk, results, proposals, .. } = &cabinet;
    let (result, proposal) = (&results[1], &proposals[1]);
    let look = |hidden: &str, dismissed: &str| {
        for args in [
            &["show", result][..],
            &["history", result],
            &["compare", result, "1"],
            &["restore", result, "1"],
            &["export", result],
            &["repair", result],
            &["review", proposal],
            &["apply", proposal, "--fingerprint", &"0".repeat(64)],
            &["dismiss", dismissed],
            &["status"],
            &["check"],
            &["refresh"],
        ] {
            let told = desk.run(&[&["--progress", "plain"], args].concat()).err;
            assert!(told.starts_with("Looking at sources\n"), "{hidden}: {args:?}: {told}");
            assert!(!told.contains(" files"), "{hidden}: {args:?}: {told}");
        }
    };
    std::fs::rename(desk.path("docs"), desk.path("away")).expect("done");
    look("absent", &proposals[0]);
    std::fs::rename(desk.path("away"), desk.path("docs")).expect("done");
    desk.run(&["revoke", "docs"]).succeeded();
    look("revoked", proposal);
}
