//! What waits for approval: repaired, reviewed, applied once or not at all.

use crate::desk::{Desk, Ran};
use crate::terminal::session;
use serde_json::Value;

const BEFORE: &str = "# Keeping\n\nBackups are kept for 35 days.\n";
const AFTER: &str = "# Keeping\n\nBackups are kept for 40 days.\n";

/// A desk with one result whose source has changed since, and the result's id.
pub(crate) fn stale() -> (Desk, String) {
    let desk = Desk::with_files(&[("a.md", BEFORE)]);
    let result = desk.json(&["report", "how long are backups kept"]).data()["artifact_id"].clone();
    desk.file("a.md", AFTER);
    (desk, text(&result))
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// A proposal's id and fingerprint.
pub(crate) fn named(proposal: &Value) -> (String, String) {
    (text(&proposal["proposal_id"]), text(&proposal["fingerprint"]))
}

#[track_caller]
pub(crate) fn refused(ran: &Ran, code: &str, hint: &str) {
    let document = ran.document();
    assert_eq!((&document["error"]["code"], ran.code), (&code.into(), 11), "{document}");
    assert_eq!(document["error"]["hint"], hint);
}

pub(crate) fn revision(desk: &Desk, result: &str) -> Value {
    desk.json(&["show", result]).data()["revision"].clone()
}

// spec: C6, P5, P6
#[test]
fn what_changed_is_repaired_shown_applied_once_and_never_again() {
    let (desk, result) = stale();
    let listed = desk.run(&["show", &result]).succeeded();
    assert!(listed.err.contains(&format!("  work repair {}  propose ", &result[..4])));
    let repair = desk.run(&["repair", &result[..8]]).succeeded().out;
    assert!(repair.starts_with("Proposal "), "{repair}");
    assert!(
        repair.contains("\n-| Backups are kept for 35 days.\n+| Backups are kept for 40 days.\n")
    );
    assert!(repair.ends_with("\nNothing has changed yet.\n"), "{repair}");
    assert_eq!(revision(&desk, &result), 1, "nothing has changed yet");
    let waits = desk.json(&["proposals"]).data()["proposals"][0].clone();
    let (id, fingerprint) = named(&waits);
    for bound in ["accepted     revision 1", "docs/a.md", &fingerprint, "expires      "] {
        assert!(repair.contains(bound), "{bound} in {repair}");
    }
    let applied = desk.json(&["apply", &id, "--fingerprint", &fingerprint]).succeeded().data();
    assert_eq!(
        (&applied["revision"], &applied["artifact_id"]),
        (&2.into(), &result.clone().into())
    );
    assert_eq!(applied["restored_from"], Value::Null);
    let shown = desk.json(&["show", &result]).data();
    assert_eq!((&shown["revision"], &shown["state"]), (&2.into(), &"sources_checked".into()));
    let again = desk.json(&["apply", &id, "--fingerprint", &fingerprint]);
    refused(&again, "already_used", &format!("see what is accepted: work show {result}"));
    assert_eq!(again.document()["error"]["details"]["artifact_id"], result);
    assert_eq!(revision(&desk, &result), 2);
    assert_eq!(std::fs::read_to_string(desk.path("docs/a.md")).expect("a file"), AFTER);
}

// spec: C6, J5
#[test]
fn a_repair_that_finds_nothing_new_says_so() {
    let desk = Desk::with_files(&[("a.md", BEFORE)]);
    let result = text(&desk.json(&["report", "backups"]).data()["artifact_id"]);
    let task = desk.json(&["repair", &result]).succeeded();
    assert_eq!(task.document()["schema"], "work.task/1");
    assert_eq!(
        (&task.data()["outcome"], &task.data()["kind"]),
        (&"no_change".into(), &"repair".into())
    );
    let said = desk.run(&["repair", &result]).succeeded().out;
    let expected = format!("No change: the sources still say what result {} says.\n", &result[..4]);
    assert_eq!(said, expected);
    assert_eq!(desk.json(&["proposals"]).data()["proposals"], serde_json::json!([]));
    let tasks = desk.run(&["tasks"]).out;
    let latest = tasks.lines().nth(1).expect("a task");
    assert!(latest.contains("  no change ") && latest.ends_with("  repair: backups"), "{tasks}");
}

// spec: C6, T7
#[test]
fn a_detached_repair_is_worked_by_a_worker_and_leads_to_its_proposal() {
    let (desk, result) = stale();
    let ask = ["repair", "--detach", "--key", "k", &result];
    let asked = desk.run(&ask).succeeded();
    assert!(asked.out.ends_with(": queued\n"), "{}", asked.out);
    let tasks = desk.run(&["tasks"]).out;
    let latest = tasks.lines().nth(1).expect("a task");
    assert!(!latest.contains("  result ") && latest.contains("  repair: how long"), "{tasks}");
    let worked = desk.run(&["worker", "--once"]).succeeded().out;
    let (id, _) = named(&desk.json(&["proposals"]).data()["proposals"][0]);
    assert!(worked.contains(&format!("  succeeded  proposal {}  repair: ", &id[..4])), "{worked}");
    let again = desk.run(&ask).succeeded().err;
    assert!(again.contains(&format!("  work review {}  see ", &id[..4])), "{again}");
}

// spec: C6
#[test]
fn without_a_terminal_nothing_is_applied_unless_the_fingerprint_is_given() {
    let (desk, result) = stale();
    let (id, fingerprint) = named(&desk.json(&["repair", &result]).data());
    let events = desk.events();
    for args in [&["apply", &id][..], &["--no-input", "apply", &id], &["-q", "apply", &id[..4]]] {
        let ran = desk.json(args);
        let error = &ran.document()["error"];
        assert_eq!((&error["code"], ran.code), (&"invalid_argument".into(), 2), "{args:?}");
        assert!(text(&error["hint"]).ends_with(&format!(": work review {id}")), "{error}");
    }
    let shows = desk.run(&["review", &id]).succeeded();
    assert!(shows.out.contains(&fingerprint), "{}", shows.out);
    assert!(shows.err.contains(" --fingerprint FINGERPRINT  "), "{}", shows.err);
    assert_eq!(desk.events(), events);
    assert_eq!(revision(&desk, &result), 1);
}

// spec: P5, P6
#[test]
fn another_fingerprint_applies_nothing() {
    let (desk, result) = stale();
    let (id, _) = named(&desk.json(&["repair", &result]).data());
    let other = "0".repeat(64);
    let hint = format!("see what it would change and its fingerprint: work review {id}");
    refused(&desk.json(&["apply", &id, "--fingerprint", &other]), "fingerprint_mismatch", &hint);
    let log = desk.run(&["log"]).succeeded().out;
    assert!(log.ends_with("  reason fingerprint_mismatch\n"), "{log}");
    let no_digest = desk.json(&["apply", &id, "--fingerprint", "00"]);
    assert_eq!(
        (no_digest.code, &no_digest.document()["error"]["code"]),
        (2, &"invalid_argument".into())
    );
    assert_eq!(revision(&desk, &result), 1);
}

// spec: P3, P6, C10
#[test]
fn each_reason_to_refuse_has_its_own_next_step() {
    let (desk, result) = stale();
    let repair = || named(&desk.json(&["repair", &result]).succeeded().data());
    let apply = |(id, fingerprint): &(String, String)| {
        desk.json(&["apply", id, "--fingerprint", fingerprint])
    };
    let anew = format!("work repair {result}");
    let first = repair();
    desk.file("a.md", "# Keeping\n\nBackups are kept for 50 days.\n");
    let hint = format!("prepare it with the sources as they are now: {anew}");
    refused(&apply(&first), "sources_changed", &hint);
    let second = repair();
    refused(&apply(&first), "superseded", "see which one took its place: work proposals");
    desk.run(&["dismiss", &second.0]).succeeded();
    let hint = format!("if it is wanted after all, prepare it anew: {anew}");
    refused(&apply(&second), "dismissed", &hint);
    refused(&desk.json(&["dismiss", &second.0]), "dismissed", &hint);
    let third = repair();
    desk.run(&["revoke", "docs"]).succeeded();
    let hint = "see which folders are there as they were approved: work folders";
    refused(&apply(&third), "access_removed", hint);
    desk.run(&["approve", "docs"]).succeeded();
    assert_eq!(apply(&third).succeeded().data()["revision"], 2);
}

// spec: P3, T6
#[test]
fn an_hour_later_it_has_expired() {
    let (desk, result) = stale();
    let (id, fingerprint) = named(&desk.json(&["repair", &result]).data());
    let later = desk.library_at(3_600, std::sync::Arc::new(work_store::ids::OsIds));
    later.proposals(None).expect("a list tells that it ended, and that is kept");
    let hint = format!("prepare it anew: work repair {result}");
    refused(&desk.json(&["apply", &id, "--fingerprint", &fingerprint]), "expired", &hint);
    let listed = desk.run(&["proposals"]).succeeded().out;
    assert!(listed.contains("  expired  repair  "), "{listed}");
    assert!(listed.ends_with("  -        no: expired\n"), "{listed}");
}

// spec: R2
#[test]
fn a_proposal_that_must_not_be_seen_is_a_stub_and_cannot_be_approved() {
    let (desk, result) = stale();
    let (id, fingerprint) = named(&desk.json(&["repair", &result]).data());
    desk.run(&["revoke", "docs"]).succeeded();
    let review = desk.run(&["review", &id]).succeeded();
    assert!(review.out.starts_with(&format!("Proposal {} (access_removed): ", &id[..4])));
    assert!(!review.out.contains("a.md") && !review.out.contains(&fingerprint), "{}", review.out);
    let asked = session(&desk, &["apply", &id], "", "y\n");
    assert_eq!(asked.code, 11, "{}", asked.screen);
    assert!(!asked.screen.contains("Apply this?"), "{}", asked.screen);
    let repair = desk.json(&["repair", &result]);
    assert_eq!((repair.code, &repair.document()["error"]["code"]), (11, &"access_removed".into()));
    let hidden = desk.run(&["history", &result]).succeeded();
    assert_eq!(hidden.out, "Hidden: a source may not be read now.\n");
}

// spec: C6, C3
#[test]
fn a_dismissed_proposal_changes_nothing_and_is_kept() {
    let (desk, result) = stale();
    let (id, _) = named(&desk.json(&["repair", &result]).data());
    let said = desk.run(&["dismiss", &id[..4]]).succeeded().out;
    let expected =
        format!("Dismissed proposal {}; result {} stays as it is.\n", &id[..4], &result[..4]);
    assert_eq!(said, expected);
    let review = desk.json(&["review", &id]).data();
    assert_eq!((&review["state"], &review["can_apply"]), (&"dismissed".into(), &false.into()));
    assert_eq!(revision(&desk, &result), 1);
    let unknown = desk.json(&["dismiss", "ffffffff"]);
    assert_eq!((unknown.code, &unknown.document()["error"]["code"]), (12, &"not_found".into()));
    assert_eq!(unknown.document()["error"]["hint"], "see which there are: work proposals");
}

// spec: C6
#[test]
fn at_a_terminal_apply_shows_the_difference_and_only_a_yes_applies() {
    let (desk, result) = stale();
    let (id, fingerprint) = named(&desk.json(&["repair", &result]).data());
    let no = session(&desk, &["apply", &id], "", "\n");
    assert_eq!((no.code, revision(&desk, &result)), (0, 1.into()), "{}", no.screen);
    assert!(no.screen.contains("\n+| Backups are kept for 40 days.\n"), "{}", no.screen);
    assert!(no.screen.contains(&fingerprint), "{}", no.screen);
    assert!(no.screen.ends_with("Not applied. Nothing has changed.\n"), "{}", no.screen);
    let unasked = session(&desk, &["--no-input", "apply", &id], "", "y\n");
    assert_eq!((unasked.code, revision(&desk, &result)), (2, 1.into()), "{}", unasked.screen);
    let yes = session(&desk, &["apply", &id], "", "y\n");
    assert_eq!((yes.code, revision(&desk, &result)), (0, 2.into()), "{}", yes.screen);
    let again = session(&desk, &["apply", &id], "", "y\n");
    assert_eq!(again.code, 11, "{}", again.screen);
    assert!(!again.screen.contains("Apply this?"), "{}", again.screen);
}

// spec: C6
#[test]
fn at_a_terminal_review_pages_asks_and_does_what_is_said() {
    let (desk, result) = stale();
    let (id, _) = named(&desk.json(&["repair", &result]).data());
    let leave = session(&desk, &["review", &id], "sed 's/^/paged: /'", "\n");
    assert_eq!(leave.code, 0, "{}", leave.screen);
    assert!(
        leave.screen.contains("\npaged: +| Backups are kept for 40 days.\n"),
        "{}",
        leave.screen
    );
    assert!(leave.screen.ends_with("Left as it is.\n"), "{}", leave.screen);
    assert_eq!(desk.json(&["review", &id]).data()["state"], "pending");
    let dismiss = session(&desk, &["review", &id], "no-such-pager", "d\n");
    assert!(dismiss.screen.contains("\n+| Backups are kept for 40 days.\n"), "{}", dismiss.screen);
    assert_eq!(desk.json(&["review", &id]).data()["state"], "dismissed");
    let ended = session(&desk, &["review", &id], "", "a\n");
    assert!(!ended.screen.contains("[a/d/L]"), "{}", ended.screen);
    let (next, _) = named(&desk.json(&["repair", &result]).data());
    let apply = session(&desk, &["review", &next], "head -1", "a\n");
    assert_eq!((apply.code, revision(&desk, &result)), (0, 2.into()), "{}", apply.screen);
}

// spec: C6
#[test]
fn what_is_applied_after_a_review_is_what_was_shown() {
    let (desk, result) = stale();
    let (id, _) = named(&desk.json(&["repair", &result]).data());
    // While the person reads, the source changes once more.
    let file = desk.path("docs/a.md");
    let pager = format!("cat; echo 'Backups are not kept.' > {}", file.display());
    let asked = session(&desk, &["review", &id], &pager, "a\n");
    assert_eq!(asked.code, 11, "{}", asked.screen);
    assert!(asked.screen.contains("a source changed since it was prepared"), "{}", asked.screen);
    assert_eq!(revision(&desk, &result), 1);
}

// spec: C9
#[test]
fn ctrl_c_cancels_a_repair_in_the_record() {
    use rustix::process::{Pid, Signal, kill_process};
    let desk = Desk::with_much_to_read();
    // A folder is small while the report is made and large when it is repaired.
    std::fs::create_dir(desk.path("small")).expect("a directory");
    std::fs::write(desk.path("small/a.md"), BEFORE).expect("a file");
    let report = desk.json(&["report", "--folder", "small", "backups"]).succeeded();
    let result = text(&report.data()["artifact_id"]);
    for n in 0..1_900 {
        std::fs::hard_link(desk.path("docs/0.md"), desk.path(&format!("small/{n}.md")))
            .expect("a link");
    }
    let child = desk.spawn(&["--json", "repair", &result]);
    desk.wait_until_running();
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("an id");
    kill_process(pid, Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["error"]["code"], "cancelled");
    assert_eq!(desk.task().expect("a task").state, "cancelled");
    assert_eq!(desk.json(&["proposals"]).data()["proposals"], serde_json::json!([]));
}

// spec: C2
#[test]
fn colours_mark_the_changed_words_and_their_absence_leaves_the_exact_text() {
    let (desk, result) = stale();
    let proposal = desk.json(&["repair", &result]).data();
    let (id, _) = named(&proposal);
    let unified = text(&proposal["difference"]["unified"]);
    assert!(desk.run(&["review", &id]).succeeded().out.contains(&unified));
    let coloured = desk.run(&["--color", "always", "review", &id]).succeeded().out;
    assert!(coloured.contains("\u{1b}[1m\u{1b}[4m\u{1b}[32m40"), "{coloured:?}");
}

// spec: R3
#[test]
fn where_no_proposal_shows_nothing_is_said_of_whether_there_were_any() {
    let (desk, result) = stale();
    desk.run(&["repair", &result]).succeeded();
    desk.run(&["revoke", "docs"]).succeeded();
    let none = desk.run(&["proposals"]).succeeded();
    assert!(none.err.starts_with("Nothing to show.\n"), "{}{}", none.out, none.err);
}
