//! Directories that change between two files of one look. A thread keeps the way to the last file, and must not be led
//! astray by it.

use super::support::*;
use crate::seam::Moment;
use std::path::Path;
use std::sync::Arc;
use work_core::folder::Grant;
use work_core::id::GrantId;
use work_core::limits::ScanLimits;
use work_core::port::{Ground, SourceDoor, Want};
use work_core::source::{Look, Seen};

/// Looks with one thread at two files of one directory; `change` happens when the first one was read.
fn second(
    tree: &Tree,
    grants: &[Grant],
    change: impl Fn(&Path) + Send + Sync + 'static,
) -> (Seen, GrantId) {
    let top = tree.at("");
    let door = door_with(move |moment, name| {
        if moment == Moment::Read && name == b"first.md" {
            change(&top);
        }
    });
    let wants = ["up/in/first.md", "up/in/second.md"].map(|name| Want {
        grant: id(1),
        path: rel(name),
        known: None,
    });
    let limits = ScanLimits { threads: 1, ..ScanLimits::standard() };
    let ground = Ground { grants, scope: &[], limits };
    let looks = door.look(ground, &wants, Arc::new(Reads::default()), &mut On::default());
    match looks[..] {
        [_, Look::Saw { seen, owner, .. }] => (seen, owner),
        ref other => panic!("{other:?}"),
    }
}

fn tree() -> Tree {
    let tree = Tree::new();
    for name in ["first.md", "second.md"] {
        tree.file(format!("m/up/in/{name}"), "inside");
        tree.file(format!("m/other/in/{name}"), "other");
        tree.file(format!("outside/in/{name}"), "outside");
    }
    tree
}

fn rename(top: &Path, from: &str, to: &str) {
    std::fs::rename(top.join(from), top.join(to)).expect("a rename");
}

#[track_caller]
fn check(change: impl Fn(&Path) + Send + Sync + 'static, seen: Seen) {
    let tree = tree();
    let grants = [grant(1, &tree.at("m"))];
    assert_eq!(second(&tree, &grants, change), (seen, id(1)));
}

// spec: G2
#[test]
fn a_directory_that_stays_is_gone_through_again() {
    check(|_| (), bytes_of(b"inside"));
}

// spec: G2
#[test]
fn a_directory_that_is_moved_out_of_the_folder_leads_to_nothing_any_more() {
    check(|top| rename(top, "m/up/in", "gone"), Seen::Missing);
    check(|top| rename(top, "m/up", "gone"), Seen::Missing);
}

// spec: G2
#[test]
fn another_directory_in_the_place_of_one_that_was_gone_through_is_gone_into() {
    let replace = |top: &Path, at: &str, by: &str| {
        rename(top, at, "gone");
        rename(top, by, at);
    };
    check(move |top| replace(top, "m/up/in", "m/other/in"), bytes_of(b"other"));
    check(move |top| replace(top, "m/up", "m/other"), bytes_of(b"other"));
}

// spec: G2
#[test]
fn a_link_in_the_place_of_a_directory_that_was_gone_through_is_not_followed() {
    for (at, to) in [("m/up/in", "outside/in"), ("m/up", "outside")] {
        check(
            move |top| {
                rename(top, at, "gone");
                std::os::unix::fs::symlink(top.join(to), top.join(at)).expect("a link");
            },
            Seen::Denied,
        );
        check(
            move |top| {
                rename(top, at, "gone");
                std::os::unix::fs::symlink(top.join("gone"), top.join(at)).expect("a link");
            },
            Seen::Denied,
        );
    }
}

// spec: I3, I5
#[test]
fn a_directory_that_came_into_a_revoked_folder_is_its_own() {
    let tree = tree();
    let grants = [grant(1, &tree.at("m")), revoked(grant(2, &tree.at("m/other")))];
    let found = second(&tree, &grants, |top| {
        std::fs::remove_dir_all(top.join("m/other/in")).expect("a removal");
        rename(top, "m/up/in", "m/other/in");
        rename(top, "m/up", "gone");
        rename(top, "m/other", "m/up");
    });
    assert_eq!(found, (Seen::Denied, id(2)));
}
