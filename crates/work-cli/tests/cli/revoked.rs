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
