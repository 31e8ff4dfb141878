//! The doctor over records that somebody changed behind the program's back.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use support::schema_1::shipped;
use support::*;
use work_core::memory::MemoryDoor;
use work_core::workspace::Workspace;

/// A workspace in which something of everything has happened, and the place of its file.
fn lived_in() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    fs::copy(shipped(), &path).expect("copied");
    drop(open(&path));
    (home, path)
}

/// What is wrong with a file, once each, by name.
fn codes(path: &std::path::Path) -> Vec<&'static str> {
    let ids = Arc::new(Counted::default());
    let work = Workspace::new(Arc::new(open(path)), Arc::new(MemoryDoor::new()), ids);
    let found = work.doctor().expect("looked at").findings;
    let codes: BTreeSet<&'static str> = found.iter().map(|finding| finding.code).collect();
    codes.into_iter().collect()
}

/// Changes rows that nothing changes, and expects the doctor to tell.
#[track_caller]
fn check(sql: &str, expected: &[&str]) {
    let (_home, path) = lived_in();
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let triggers = "SELECT group_concat('DROP TRIGGER ' || name, '; ') FROM sqlite_schema WHERE type = 'trigger'";
    let drop: String = raw.query_row(triggers, [], |row| row.get(0)).expect("triggers");
    raw.execute_batch(&format!("PRAGMA foreign_keys = OFF; {drop}; {sql}")).expect(sql);
    assert!(raw.changes() > 0, "it changes something: {sql}");
    assert_eq!(codes(&path), expected, "{sql}");
}

// spec: D2 D4
#[test]
fn a_migrated_workspace_is_sound() {
    assert_eq!(codes(&lived_in().1), [""; 0]);
}

/// Replaces the bytes of a document by others of their length.
fn damaged(which: &str) -> String {
    format!(
        "UPDATE document SET bytes = CAST(replace(CAST(bytes AS TEXT), ':', ';') AS BLOB) WHERE digest IN ({which})"
    )
}

// spec: D4
#[test]
fn each_document_of_a_proposal_is_looked_at() {
    let waiting = |column| damaged(&format!("SELECT {column} FROM proposal WHERE state = 3"));
    check(&waiting("body"), &["document_damaged"]);
    check(&waiting("verification"), &["document_damaged"]);
    check(&damaged("SELECT binding FROM proposal WHERE state = 3"), &["document_damaged"]);
    check(
        &damaged("SELECT binding FROM proposal WHERE state = 0"),
        &["document_damaged", "fingerprint_differs"],
    );
    check(
        "DELETE FROM document WHERE digest IN (SELECT binding FROM proposal WHERE state = 1)",
        &["document_damaged"],
    );
}

// spec: D4 P4
#[test]
fn a_fingerprint_is_what_its_records_give() {
    let differs = ["fingerprint_differs"];
    check("UPDATE proposal SET expires_at = expires_at + 1 WHERE state = 0", &differs);
    check("UPDATE proposal SET created_at = created_at - 1 WHERE state = 3", &differs);
    check("UPDATE proposal SET fingerprint = randomblob(32) WHERE state = 4", &differs);
    check("UPDATE head SET owner = randomblob(16)", &differs);
}

// spec: D4 P4 H6
#[test]
fn a_proposal_that_waits_has_no_fingerprint_of_version_1() {
    let old = "UPDATE proposal SET state = 0, ended_at = NULL WHERE state = 3";
    check(old, &["fingerprint_differs"]);
}

// spec: D4 H1
#[test]
fn what_was_applied_became_a_revision_and_what_became_one_was_applied() {
    let differs = ["proposal_differs"];
    check("UPDATE proposal SET state = 4 WHERE state = 1 AND base = 2", &differs);
    check("UPDATE proposal SET state = 1 WHERE state = 3", &differs);
    check("UPDATE revision SET proposal = NULL WHERE no = 3", &differs);
    check(
        "UPDATE revision SET scan = body WHERE no = 3",
        &["document_damaged", "proposal_differs"],
    );
}

// spec: D4 P8
#[test]
fn what_was_superseded_names_another_one_of_its_result() {
    let differs = ["proposal_differs"];
    check("UPDATE proposal SET superseded_by = id WHERE state = 2", &differs);
    check("UPDATE proposal SET superseded_by = randomblob(16) WHERE state = 2", &differs);
    let other = "(SELECT o.id FROM proposal o WHERE o.result <> proposal.result)";
    check(&format!("UPDATE proposal SET superseded_by = {other} WHERE state = 2"), &differs);
}
