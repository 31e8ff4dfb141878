//! What the door in memory promises, as every door does.

use super::MemoryDoor;
use crate::folder::{Grant, GrantState, Hidden, IgnoreFiles, Rules};
use crate::id::{GrantId, SiteId};
use crate::limits::ScanLimits;
use crate::path::{HostPath, RelPath};
use crate::port::{
    AdmitRefusal, Go, Ground, Known, Place, Probe, Quiet, Scanned, SourceDoor, Want, Watch,
    version_of,
};
use crate::report::{Reached, ScanLimit, SkipReason};
use crate::source::{Look, Seen};
use crate::task::Progress;
use crate::time::Timestamp;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a probe was shown: turn, path and text, in order.
#[derive(Default)]
struct Shown(Mutex<Vec<(u64, String, String)>>);

impl Probe for Shown {
    fn wants(&self, place: &Place, _: u64) -> bool {
        !place.path.bytes().ends_with(b"unwanted.md")
    }

    fn file(&self, place: Place, bytes: &[u8], _: u64) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.0.lock().expect("a lock").push((place.turn, place.path.to_string(), text));
    }
}

/// A watch that stops at a beat.
struct StopAt(u32);

impl Watch for StopAt {
    fn beat(&mut self, _: &Progress) -> Go {
        self.0 -= 1;
        if self.0 == 0 { Go::Stop } else { Go::On }
    }
}

/// A grant of what is at a path now.
fn grant(door: &MemoryDoor, n: u8, root: &str) -> Grant {
    let root = door.admit(&HostPath::from_bytes(root)).expect("a folder");
    Grant {
        id: GrantId::from_bytes([n; 16]),
        site: SiteId::from_bytes([0; 16]),
        root: root.path,
        label: n.to_string(),
        identity: root.identity,
        rules: Rules::standard(),
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(0),
        since_look: 0,
        swept_at: None,
    }
}

/// Scans all grants in their order.
fn scan(
    door: &MemoryDoor,
    grants: &[Grant],
    limits: ScanLimits,
    watch: &mut dyn Watch,
) -> (Scanned, Vec<String>) {
    let scope: Vec<GrantId> = grants.iter().map(|grant| grant.id).collect();
    let shown = Arc::new(Shown::default());
    let ground = Ground { grants, scope: &scope, limits };
    let scanned = door.scan(ground, Arc::clone(&shown) as Arc<dyn Probe>, watch);
    let paths = shown.0.lock().expect("a lock").iter().map(|(_, path, _)| path.clone()).collect();
    (scanned, paths)
}

/// Scans all grants under the usual limits.
fn visit(door: &MemoryDoor, grants: &[Grant]) -> (Scanned, Vec<String>) {
    scan(door, grants, ScanLimits::standard(), &mut Quiet)
}

/// One path under the first grant, to be read.
fn want(grants: &[Grant], path: &str) -> Want {
    Want { grant: grants[0].id, path: RelPath::new(path).expect("a path"), known: None }
}

/// Looks at one path under the first grant.
fn glance(door: &MemoryDoor, grants: &[Grant], path: &str) -> Look {
    trusting(door, grants, path, None).0
}

/// Looks at one path under the first grant, of which something may be known, and tells how often the probe had bytes.
fn trusting(
    door: &MemoryDoor,
    grants: &[Grant],
    path: &str,
    known: Option<Known>,
) -> (Look, usize) {
    let want = Want { known, ..want(grants, path) };
    let ground = Ground { grants, scope: &[], limits: ScanLimits::standard() };
    let shown = Arc::new(Shown::default());
    let looks = door.look(ground, &[want], Arc::clone(&shown) as Arc<dyn Probe>, &mut Quiet);
    (looks[0], shown.0.lock().expect("a lock").len())
}

/// What a look lets a later one trust.
fn known(look: Look) -> Option<Known> {
    match look {
        Look::Saw { seen: Seen::Bytes(version), owner, stamp: Some(stamp) } => {
            Some(Known { stamp, version, owner })
        }
        Look::Saw { .. } | Look::NotReached => None,
    }
}

#[track_caller]
fn check_look(door: &MemoryDoor, grants: &[Grant], path: &str, expected: Seen, owner: u8) {
    let Look::Saw { seen, owner: by, stamp } = glance(door, grants, path) else {
        panic!("{path} was not reached");
    };
    assert_eq!((seen, by), (expected, GrantId::from_bytes([owner; 16])), "{path}");
    assert_eq!(stamp.is_some(), matches!(seen, Seen::Bytes(_)), "{path}");
}

/// Bytes as a look sees them.
fn bytes(text: &str) -> Seen {
    Seen::Bytes(version_of(text.as_bytes(), text.len() as u64))
}

// spec: I2
#[test]
fn only_a_folder_that_can_be_read_is_admitted() {
    let door = MemoryDoor::new().file("/a/b.md", "b").folder("/closed").folder("/gone/x");
    door.deny("/closed");
    door.make_unreachable("/gone");
    for (path, refusal) in [
        ("/", AdmitRefusal::FilesystemRoot),
        ("/none", AdmitRefusal::Absent),
        ("/a/b.md", AdmitRefusal::NotADirectory),
        ("/closed", AdmitRefusal::NotReadable),
        ("/gone/x", AdmitRefusal::Unreachable),
    ] {
        assert_eq!(door.admit(&HostPath::from_bytes(path)), Err(refusal), "{path}");
    }
    let root = door.admit(&HostPath::from_bytes("//a/")).expect("a folder");
    assert_eq!(root.path, HostPath::from_bytes("/a"));
}

// spec: I6
#[test]
fn another_folder_in_the_place_of_a_root_is_denied_and_none_is_unreachable() {
    let door = MemoryDoor::new().folder("/a");
    let grants = [grant(&door, 1, "/a")];
    assert_eq!(door.roots(&grants), [Reached::Yes]);
    door.replace_folder("/a");
    assert_eq!(door.roots(&grants), [Reached::Denied]);
    door.remove("/a");
    assert_eq!(door.roots(&grants), [Reached::Unreachable]);
    door.put("/a", "a file now");
    assert_eq!(door.roots(&grants), [Reached::Denied]);
    let revoked = Grant { state: GrantState::Revoked, ..grants[0].clone() };
    assert_eq!(door.roots(&[revoked]), [Reached::Denied]);
}

// spec: Q2
#[test]
fn a_visit_goes_by_the_bytes_of_names_one_file_from_each_folder_in_turn() {
    let door = MemoryDoor::new();
    for name in ["a/z.md", "a-b.md", "a.md", "b.md", "B.md"] {
        door.put(&format!("/one/{name}"), name);
    }
    door.put("/two/x.md", "x");
    let grants = [grant(&door, 1, "/one"), grant(&door, 2, "/two")];
    let (scanned, paths) = visit(&door, &grants);
    assert_eq!(paths, ["B.md", "x.md", "a/z.md", "a-b.md", "a.md", "b.md"]);
    assert_eq!((scanned.limit, scanned.stopped), (None, false));
    let counts = &scanned.folders[0].counts;
    assert_eq!((counts.entries, counts.files_seen, counts.files_read), (6, 5, 5));
    assert_eq!(counts.bytes_read, 24);
}

// spec: Q5
#[test]
fn what_is_left_out_is_counted_by_its_reason() {
    let door = MemoryDoor::new()
        .file("/a/.git/x.md", "hidden, once for the folder")
        .file("/a/.hidden.md", "hidden")
        .file("/a/code.rs", "extension")
        .file("/a/drafts/x.md", "excluded")
        .file("/a/closed/x.md", "denied")
        .file("/a/closed.md", "denied")
        .file("/a/restless.md", "unstable")
        .file("/a/team/x.md", "another grant's")
        .file("/a/unwanted.md", "seen and not read")
        .file("/a/ok.md", "read");
    let mut grants = [grant(&door, 1, "/a"), grant(&door, 2, "/a/team")];
    grants[0].rules =
        Rules::new(["md"], ["drafts"], Hidden::Skipped, IgnoreFiles::Honoured).expect("sound");
    door.deny("/a/closed");
    door.deny("/a/closed.md");
    door.make_unstable("/a/restless.md");
    let (scanned, paths) = visit(&door, &grants);
    assert_eq!(paths, ["x.md", "ok.md"]);
    let skipped: Vec<_> = scanned.folders[0].counts.skipped.clone().into_iter().collect();
    assert_eq!(
        skipped,
        [
            (SkipReason::Ignored, 1),
            (SkipReason::Hidden, 2),
            (SkipReason::Extension, 1),
            (SkipReason::Denied, 2),
            (SkipReason::OtherGrant, 1),
            (SkipReason::Unstable, 1),
        ]
    );
    assert_eq!(scanned.folders[0].counts.files_seen, 4);
}

// spec: I5
#[test]
fn a_folder_that_cannot_be_gone_into_says_so_and_counts_nothing() {
    let door = MemoryDoor::new().file("/a/a.md", "a").file("/b/b.md", "b").file("/c/c.md", "c");
    let mut grants = [grant(&door, 1, "/a"), grant(&door, 2, "/b"), grant(&door, 3, "/c")];
    grants[0].state = GrantState::Revoked;
    door.make_unreachable("/b");
    let (scanned, paths) = visit(&door, &grants);
    assert_eq!(paths, ["c.md"]);
    let reached: Vec<_> = scanned.folders.iter().map(|folder| folder.reached).collect();
    assert_eq!(reached, [Reached::Denied, Reached::Unreachable, Reached::Yes]);
    assert_eq!(scanned.folders[1].counts.entries, 0);
}

#[track_caller]
fn check_limit(limits: ScanLimits, expected: Option<ScanLimit>, read: &[&str]) {
    let door = MemoryDoor::new()
        .file("/a/1.md", "one")
        .file("/a/2/deep.md", "two")
        .file("/a/3.md", "three")
        .file("/a/4.rs", "four");
    door.slow_down("/a/3.md", Duration::from_secs(10));
    let (scanned, paths) = scan(&door, &[grant(&door, 1, "/a")], limits, &mut Quiet);
    assert_eq!(scanned.limit, expected);
    assert_eq!(paths, read);
}

// spec: Q2
#[test]
fn a_limit_that_is_just_reached_ends_nothing_and_one_more_is_told() {
    let usual = ScanLimits::standard();
    let all = ["1.md", "2/deep.md", "3.md"];
    check_limit(ScanLimits { files: 3, ..usual }, None, &all);
    check_limit(ScanLimits { files: 2, ..usual }, Some(ScanLimit::Files), &all[..2]);
    check_limit(ScanLimits { entries: 5, ..usual }, None, &all);
    check_limit(ScanLimits { entries: 4, ..usual }, Some(ScanLimit::Entries), &all);
    check_limit(ScanLimits { depth: 1, ..usual }, None, &all);
    check_limit(ScanLimits { depth: 0, ..usual }, Some(ScanLimit::Depth), &["1.md", "3.md"]);
    let (enough, short) = (Duration::from_secs(10), Duration::from_secs(9));
    check_limit(ScanLimits { time: enough, ..usual }, None, &all);
    check_limit(ScanLimits { time: short, ..usual }, Some(ScanLimit::Time), &all[..2]);
}

// spec: G3
#[test]
fn a_file_longer_than_the_limit_is_cut_and_says_so() {
    let door = MemoryDoor::new().file("/a/a.md", "abcdef");
    let grants = [grant(&door, 1, "/a")];
    let limits = ScanLimits { file_bytes: 4, ..ScanLimits::standard() };
    let (scanned, _) = scan(&door, &grants, limits, &mut Quiet);
    assert_eq!((scanned.folders[0].counts.files_cut, scanned.folders[0].counts.bytes_read), (1, 4));
    let want = want(&grants, "a.md");
    let ground = Ground { grants: &grants, scope: &[], limits };
    let shown = Arc::new(Shown::default());
    let looks = door.look(ground, &[want], Arc::clone(&shown) as Arc<dyn Probe>, &mut Quiet);
    let Look::Saw { seen: Seen::Bytes(version), .. } = looks[0] else { panic!("bytes") };
    assert_eq!((version.size, version.cut), (6, true));
    assert_eq!(version, version_of(b"abcd", 6));
    assert_eq!(shown.0.lock().expect("a lock")[0].2, "abcd");
}

// spec: T5
#[test]
fn a_watch_that_says_stop_ends_a_scan_after_that_file() {
    let door = MemoryDoor::new().file("/a/1.md", "").file("/a/2.md", "").file("/a/3.md", "");
    let grants = [grant(&door, 1, "/a")];
    let (scanned, paths) = scan(&door, &grants, ScanLimits::standard(), &mut StopAt(2));
    assert!(scanned.stopped);
    assert_eq!(paths, ["1.md", "2.md"]);
}

// spec: O1
#[test]
fn a_look_tells_missing_from_unreachable_and_denied() {
    let door = MemoryDoor::new()
        .file("/a/a.md", "text")
        .file("/a/closed/x.md", "")
        .file("/a/dead/x.md", "")
        .file("/a/restless.md", "")
        .folder("/a/folder.md");
    let grants = [grant(&door, 1, "/a")];
    door.deny("/a/closed");
    door.make_unreachable("/a/dead");
    door.make_unstable("/a/restless.md");
    for (path, seen) in [
        ("a.md", bytes("text")),
        ("none.md", Seen::Missing),
        ("none/none.md", Seen::Missing),
        ("a.md/none.md", Seen::Missing),
        ("folder.md", Seen::Missing),
        ("restless.md", Seen::Unstable),
        ("closed/x.md", Seen::Denied),
        ("closed/none.md", Seen::Denied),
        ("dead/x.md", Seen::Unreachable),
        ("dead/none.md", Seen::Unreachable),
        (".hidden.md", Seen::Denied),
        ("a.rs", Seen::Denied),
    ] {
        check_look(&door, &grants, path, seen, 1);
    }
    door.heal("/a/closed");
    check_look(&door, &grants, "closed/x.md", bytes(""), 1);
    assert_eq!(
        glance(&door, &[grants[0].clone()], "unwanted.md"),
        glance(&door, &grants, "none.md")
    );
    door.put("/a/unwanted.md", "");
    assert_eq!(glance(&door, &grants, "unwanted.md"), Look::NotReached);
    door.make_unreachable("/a");
    check_look(&door, &grants, "a.md", Seen::Unreachable, 1);
    door.heal("/a");
    door.replace_folder("/a");
    check_look(&door, &grants, "a.md", Seen::Denied, 1);
}

// spec: I3
#[test]
fn the_deepest_grant_by_identity_decides_wherever_it_was_moved() {
    let door = MemoryDoor::new().file("/a/team/x.md", "x").file("/a/y.md", "y");
    let mut grants = [grant(&door, 1, "/a"), grant(&door, 2, "/a/team")];
    check_look(&door, &grants, "team/x.md", bytes("x"), 2);
    door.rename("/a/team", "/a/other");
    check_look(&door, &grants, "other/x.md", bytes("x"), 2);
    assert_eq!(visit(&door, &grants[..1]).1, ["other/x.md", "y.md"], "not among these grants");
    assert_eq!(visit(&door, &grants).1, ["y.md"]);
    grants[1].state = GrantState::Revoked;
    check_look(&door, &grants, "other/x.md", Seen::Denied, 2);
    check_look(&door, &grants, "other/none.md", Seen::Denied, 2);
    grants[1].state = GrantState::Active;
    grants[1].rules =
        Rules::new(["txt"], [""; 0], Hidden::Skipped, IgnoreFiles::Honoured).expect("sound");
    check_look(&door, &grants, "other/x.md", Seen::Denied, 2);
}

// spec: O1
#[test]
fn a_look_that_ran_out_of_time_or_was_stopped_did_not_reach_the_rest() {
    let door = MemoryDoor::new().file("/a/1.md", "").file("/a/2.md", "").file("/a/3.md", "");
    let grants = [grant(&door, 1, "/a")];
    let wants = ["1.md", "2.md", "3.md"].map(|path| want(&grants, path));
    let ground = Ground { grants: &grants, scope: &[], limits: ScanLimits::standard() };
    let look = |watch: &mut dyn Watch| {
        let looks = door.look(ground, &wants, Arc::new(Shown::default()), watch);
        looks.into_iter().filter(|look| *look != Look::NotReached).count()
    };
    assert_eq!((look(&mut Quiet), look(&mut StopAt(2))), (3, 2));
    door.slow_down("/a/2.md", Duration::from_secs(31));
    assert_eq!(look(&mut Quiet), 1);
}

#[test]
fn a_file_written_again_is_the_same_file_with_another_change_time() {
    let door = MemoryDoor::new().file("/a/a.md", "one");
    let grants = [grant(&door, 1, "/a")];
    let stamp = || match glance(&door, &grants, "a.md") {
        Look::Saw { stamp: Some(stamp), .. } => stamp,
        Look::Saw { stamp: None, .. } | Look::NotReached => panic!("a stamp"),
    };
    let before = stamp();
    door.put("/a/a.md", "two");
    assert_eq!((stamp().inode, stamp().changed_ns > before.changed_ns), (before.inode, true));
    door.remove("/a/a.md");
    door.put("/a/a.md", "two");
    assert_ne!(stamp().inode, before.inode);
}

/// A door with a file that was looked at, what is known of it, and the version that a trusting look then answers.
fn looked_at() -> (MemoryDoor, [Grant; 1], Known) {
    let door = MemoryDoor::new().file("/a/in/a.md", "one");
    let grants = [grant(&door, 1, "/a")];
    let first = known(glance(&door, &grants, "in/a.md")).expect("a stamp");
    // No file has this digest, so an answer tells whether the file was read.
    (door, grants, Known { version: version_of(b"two", 3), ..first })
}

// spec: O2
#[test]
fn what_is_known_of_an_unchanged_file_is_answered_without_a_read() {
    let (door, grants, known) = looked_at();
    door.slow_down("/a/in/a.md", Duration::from_secs(31));
    let seen = Look::Saw { seen: bytes("two"), owner: known.owner, stamp: Some(known.stamp) };
    assert_eq!(trusting(&door, &grants, "in/a.md", Some(known)), (seen, 0));
    assert_eq!(glance(&door, &grants, "in/a.md"), Look::NotReached, "a read takes its time");
}

#[track_caller]
fn check_doubt(change: impl FnOnce(&MemoryDoor, &mut Vec<Grant>, &mut Known), seen: Seen, n: u8) {
    let (door, grants, mut known) = looked_at();
    let mut grants = grants.to_vec();
    change(&door, &mut grants, &mut known);
    let (look, reads) = trusting(&door, &grants, "in/a.md", Some(known));
    let Look::Saw { seen: found, owner, .. } = look else { panic!("not reached") };
    assert_eq!((found, owner), (seen, GrantId::from_bytes([n; 16])));
    assert_eq!(reads, usize::from(matches!(seen, Seen::Bytes(_))), "what was seen was read");
}

// spec: O1, O2
#[test]
fn a_file_is_read_again_if_anything_differs_from_what_is_known() {
    check_doubt(|door, _, _| door.put("/a/in/a.md", "one"), bytes("one"), 1);
    check_doubt(|door, _, _| door.put("/a/in/a.md", "six"), bytes("six"), 1);
    let replace = |door: &MemoryDoor, _: &mut Vec<Grant>, _: &mut Known| {
        door.put("/a/new.md", "new");
        door.rename("/a/new.md", "/a/in/a.md");
    };
    check_doubt(replace, bytes("new"), 1);
    let approve = |door: &MemoryDoor, grants: &mut Vec<Grant>, _: &mut Known| {
        grants.push(grant(door, 2, "/a/in"));
    };
    check_doubt(approve, bytes("one"), 2);
    check_doubt(|_, _, known| known.version.cut = true, bytes("one"), 1);
    check_doubt(|_, _, known| known.stamp.device += 1, bytes("one"), 1);
}

// spec: O1, O2
#[test]
fn what_may_not_be_read_or_is_gone_is_told_whatever_is_known() {
    check_doubt(|door, _, _| door.deny("/a/in/a.md"), Seen::Denied, 1);
    check_doubt(|door, _, _| door.deny("/a/in"), Seen::Denied, 1);
    check_doubt(|door, _, _| door.make_unreachable("/a"), Seen::Unreachable, 1);
    check_doubt(|door, _, _| door.remove("/a/in/a.md"), Seen::Missing, 1);
    check_doubt(|_, grants, _| grants[0].state = GrantState::Revoked, Seen::Denied, 1);
    let exclude = |_: &MemoryDoor, grants: &mut Vec<Grant>, _: &mut Known| {
        grants[0].rules =
            Rules::new(["md"], ["in"], Hidden::Skipped, IgnoreFiles::Honoured).expect("sound");
    };
    check_doubt(exclude, Seen::Denied, 1);
    let revoke_inner = |door: &MemoryDoor, grants: &mut Vec<Grant>, _: &mut Known| {
        grants.push(Grant { state: GrantState::Revoked, ..grant(door, 2, "/a/in") });
    };
    check_doubt(revoke_inner, Seen::Denied, 2);
}

// spec: G4, O2
#[test]
fn a_young_file_is_seen_without_a_stamp() {
    let (door, grants, _) = looked_at();
    door.make_young("/a/in/a.md");
    let young = Look::Saw { seen: bytes("one"), owner: grants[0].id, stamp: None };
    assert_eq!(glance(&door, &grants, "in/a.md"), young);
    door.heal("/a/in/a.md");
    assert!(known(glance(&door, &grants, "in/a.md")).is_some());
}
