//! Earlier revisions: listed, compared, and brought back by a proposal.

use crate::desk::Desk;
use crate::proposals::{named, refused, revision, stale, text};
use serde_json::Value;

/// A desk with a result at revision 2, and the result's id.
fn repaired() -> (Desk, String) {
    let (desk, result) = stale();
    let (id, fingerprint) = named(&desk.json(&["repair", &result]).data());
    desk.run(&["apply", &id, "--fingerprint", &fingerprint]).succeeded();
    (desk, result)
}

// spec: H4, H5
#[test]
fn restoring_one_over_two_makes_three_and_asking_again_returns_the_same_proposal() {
    let (desk, result) = repaired();
    let first = desk.json(&["restore", &result, "1"]).succeeded().data();
    assert_eq!((&first["kind"], &first["restore_revision"]), (&"restore".into(), &1.into()));
    let again = desk.json(&["restore", &result[..6], "1"]).succeeded().data();
    for field in ["proposal_id", "fingerprint", "expires_at"] {
        assert_eq!(again[field], first[field], "{field}");
    }
    let said = desk.run(&["restore", &result, "1"]).succeeded().out;
    assert!(said.starts_with("The same restore waited already; it keeps its expiry.\n"), "{said}");
    assert!(said.contains("restore of revision 1 over revision 2 of result"), "{said}");
    assert!(said.contains(
        "\nIt would bring back a stale body: a source is no longer as revision 1 quotes it.\n\
        Nothing has changed yet.\n"
    ));
    assert_eq!(revision(&desk, &result), 2);
    let (id, fingerprint) = named(&first);
    let applied = desk.run(&["apply", &id, "--fingerprint", &fingerprint]).succeeded().out;
    let short = &result[..4];
    assert_eq!(
        applied,
        format!("Applied: result {short} is at revision 3, which brings back 1.\n")
    );
    let shown = desk.json(&["show", &result]).data();
    let expected = [("revision", 3.into()), ("restored_from", 1.into()), ("state", "stale".into())];
    for (field, value) in expected {
        assert_eq!(shown[field], Value::clone(&value), "{field}");
    }
}

// spec: J7, H1
#[test]
fn a_history_lists_the_revisions_with_what_they_are_worth() {
    let (desk, result) = repaired();
    let (id, fingerprint) = named(&desk.json(&["restore", &result, "1"]).data());
    desk.run(&["apply", &id, "--fingerprint", &fingerprint]).succeeded();
    let document = desk.json(&["history", &result]).data();
    assert_eq!(document["total"], 3);
    let table = desk.run(&["history", &result]).succeeded();
    let rows: Vec<Vec<&str>> =
        table.out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let told: Vec<_> = rows.iter().map(|row| (row[0], row[1], row[row.len() - 1])).collect();
    assert_eq!(told, [("3", "stale", "1"), ("2", "sources_checked", "-"), ("1", "stale", "-")]);
    assert_eq!(rows[0][4], rows[2][4], "the same body");
    assert!(table.err.contains(&format!("  work compare {} 2  ", &result[..4])), "{}", table.err);
    let cursor = desk.json(&["history", &result, "--cursor", "proposals.1"]);
    assert_eq!((cursor.code, &cursor.document()["error"]["code"]), (2, &"invalid_cursor".into()));
}

// spec: H2
#[test]
fn a_comparison_shows_the_difference_or_says_why_none_is_shown() {
    let (desk, result) = repaired();
    let compared = desk.run(&["compare", &result, "1"]).succeeded();
    let short = &result[..4];
    let heading = format!("Result {short}: from accepted revision 2 to revision 1 (stale)\n\n--- ");
    assert!(compared.out.starts_with(&heading), "{}", compared.out);
    assert!(
        compared
            .out
            .contains("\n-| Backups are kept for 40 days.\n+| Backups are kept for 35 days.\n")
    );
    assert!(compared.err.contains(&format!("  work restore {short} 1  ")), "{}", compared.err);
    let same = desk.run(&["compare", &result, "2"]).succeeded();
    assert_eq!(same.out, format!("Revision 2 is the accepted one of result {short}.\n"));
    let unknown = desk.json(&["compare", &result, "9"]);
    assert_eq!((unknown.code, &unknown.document()["error"]["code"]), (12, &"not_found".into()));
    std::fs::remove_file(desk.path("docs/a.md")).expect("it is there");
    let none = desk.run(&["compare", &result, "1"]).succeeded();
    let expected = format!(
        "Revision 1 of result {short}: no difference is shown.\n\
        A source of one or of both is missing or keeps changing.\n"
    );
    assert_eq!(none.out, expected);
    let document = desk.json(&["compare", &result, "1"]).succeeded().data();
    assert_eq!((&document["can_restore"], &document["accepted"]), (&false.into(), &Value::Null));
    desk.run(&["revoke", "docs"]).succeeded();
    let hidden = desk.run(&["compare", &result, "1"]).succeeded().out;
    assert!(hidden.ends_with("\nHidden: a source may not be read now.\n"), "{hidden}");
}

// spec: H3
#[test]
fn what_cannot_be_restored_is_refused_and_says_what_to_do() {
    let (desk, result) = repaired();
    let accepted = desk.json(&["restore", &result, "2"]);
    let error = accepted.document()["error"].clone();
    assert_eq!((accepted.code, &error["code"]), (2, &"invalid_argument".into()));
    assert_eq!(error["hint"], format!("see which there are: work history {result}"));
    let unknown = desk.json(&["restore", &result, "9"]);
    assert_eq!((unknown.code, &unknown.document()["error"]["code"]), (12, &"not_found".into()));
    assert_eq!(desk.json(&["restore", &result, "0"]).code, 2);
    std::fs::remove_file(desk.path("docs/a.md")).expect("it is there");
    let hint = "see that what it quotes is there, can be reached and keeps still, then ask again: work folders";
    refused(&desk.json(&["restore", &result, "1"]), "evidence_unavailable", hint);
    desk.run(&["revoke", "docs"]).succeeded();
    let hint = "see which folders are there as they were approved: work folders";
    refused(&desk.json(&["restore", &result, "1"]), "access_removed", hint);
    assert_eq!(desk.json(&["proposals"]).data()["proposals"], serde_json::json!([]));
}

// spec: P8
#[test]
fn when_a_repair_is_applied_the_restore_beside_it_is_for_another_revision() {
    let (desk, result) = repaired();
    let restore = named(&desk.json(&["restore", &result, "1"]).data());
    desk.file("b.md", "# More\n\nHow long backups are kept is told elsewhere.\n");
    let repair = named(&desk.json(&["repair", &result]).data());
    desk.run(&["apply", &repair.0, "--fingerprint", &repair.1]).succeeded();
    let hint = format!("prepare it for what is accepted now: work restore {result} 1");
    let late = desk.json(&["apply", &restore.0, "--fingerprint", &restore.1]);
    refused(&late, "revision_changed", &hint);
    let listed = desk.run(&["proposals"]).succeeded().out;
    assert!(listed.contains("no: revision_changed"), "{listed}");
    assert_eq!(
        text(&desk.json(&["review", &restore.0]).data()["rejection_reason"]),
        "revision_changed"
    );
}
