//! What a root really is, and what may be approved.

use super::support::*;
use crate::{FolderDoor, OwnFiles};
use work_core::folder::{Grant, RootIdentity};
use work_core::id::BootId;
use work_core::path::HostPath;
use work_core::port::{AdmitRefusal, SourceDoor};
use work_core::report::Reached;
use work_core::source::Seen;

/// What becomes of a root on which `change` worked.
#[track_caller]
fn check(expected: Reached, change: impl Fn(&Tree)) {
    let tree = Tree::new();
    tree.file("up/m/a.md", "a");
    tree.file("other/a.md", "other");
    let grants = [grant(1, &tree.at("up/m"))];
    change(&tree);
    for door in doors() {
        assert_eq!(door.roots(&grants), [expected]);
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!((scanned.folders[0].reached, reads.names().len()), (expected, 0));
        let seen = match expected {
            Reached::Denied => Seen::Denied,
            Reached::Yes | Reached::Unreachable => Seen::Unreachable,
        };
        assert_eq!(look_at(&door, &grants, "a.md"), (seen, id(1)));
        assert_eq!(look_at(&door, &grants, "gone.md"), (seen, id(1)));
    }
}

fn away(tree: &Tree) {
    std::fs::rename(tree.at("up/m"), tree.at("moved")).expect("a rename");
}

// spec: I6, O1
#[test]
fn a_root_that_is_not_there_is_unreachable_and_nothing_in_it_is_missing() {
    check(Reached::Unreachable, away);
    check(Reached::Unreachable, |tree| {
        std::fs::rename(tree.at("up"), tree.at("moved")).expect("a rename");
    });
    check(Reached::Unreachable, |tree| {
        std::fs::rename(tree.at("up"), tree.at("moved")).expect("a rename");
        tree.file("up", "a file above the root's place");
    });
}

// spec: I6
#[test]
fn another_directory_a_link_or_a_file_in_the_roots_place_is_denied() {
    check(Reached::Denied, |tree| {
        away(tree);
        std::fs::rename(tree.at("other"), tree.at("up/m")).expect("a rename");
    });
    check(Reached::Denied, |tree| {
        away(tree);
        tree.directory("up/m");
    });
    check(Reached::Denied, |tree| {
        away(tree);
        tree.link(tree.at("other"), "up/m");
    });
    check(Reached::Denied, |tree| {
        away(tree);
        tree.link(tree.at("moved"), "up/m");
    });
    check(Reached::Denied, |tree| {
        away(tree);
        tree.file("up/m", "a file");
    });
}

/// A grant whose root was approved as something else.
fn approved_as(grant: Grant, change: impl FnOnce(&mut RootIdentity)) -> Grant {
    let mut identity = grant.identity;
    change(&mut identity);
    Grant { identity, ..grant }
}

// spec: I6
#[test]
fn an_empty_directory_of_another_file_system_is_a_mount_point_without_its_mount() {
    let tree = Tree::new();
    tree.directory("empty");
    tree.file("full/a.md", "a");
    let elsewhere =
        |name: &str| approved_as(grant(1, &tree.at(name)), |identity| identity.filesystem ^= 1);
    let grants = [elsewhere("empty"), elsewhere("full")];
    assert_eq!(door().roots(&grants), [Reached::Unreachable, Reached::Denied]);
}

// spec: I6
#[test]
fn an_identity_holds_through_another_boot_without_its_device() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    let here = grant(1, &tree.at("m"));
    let in_this_boot = approved_as(here.clone(), |identity| identity.device ^= 1);
    let in_another = approved_as(here.clone(), |identity| {
        identity.device ^= 1;
        identity.boot = BootId::from_bytes([9; 16]);
    });
    let younger = approved_as(here.clone(), |identity| {
        identity.born_ns = identity.born_ns.map(|born| born + 1);
    });
    assert!(here.identity.born_ns.is_some(), "this file system tells no birth times");
    let expected = [Reached::Yes, Reached::Denied, Reached::Yes, Reached::Denied];
    assert_eq!(door().roots(&[here, in_this_boot, in_another, younger]), expected);
}

#[track_caller]
fn check_refused(door: &FolderDoor, tree: &Tree, name: &str, why: AdmitRefusal) {
    assert_eq!(door.admit(&host(&tree.at(name))), Err(why), "{name}");
}

// spec: I2
#[test]
fn what_is_no_directory_or_not_there_is_refused() {
    let tree = Tree::new();
    tree.file("a.md", "a");
    tree.link("nowhere", "dangling");
    check_refused(&door(), &tree, "gone", AdmitRefusal::Absent);
    check_refused(&door(), &tree, "dangling", AdmitRefusal::Absent);
    check_refused(&door(), &tree, "a.md", AdmitRefusal::NotADirectory);
    check_refused(&door(), &tree, "a.md/b", AdmitRefusal::NotADirectory);
    let top = HostPath::from_bytes("/");
    assert_eq!(door().admit(&top), Err(AdmitRefusal::FilesystemRoot));
    let roundabout = HostPath::from_bytes("/proc/self/root/");
    assert_eq!(door().admit(&roundabout), Err(AdmitRefusal::FilesystemRoot));
}

// spec: I2
#[test]
fn the_instance_and_what_lies_in_or_around_it_are_refused_whatever_the_path_says() {
    let tree = Tree::new();
    tree.directory("home/instance/inner/deep");
    tree.directory("home/instance-old");
    tree.link("home/instance", "alias");
    let own = OwnFiles::in_directory(tree.at("home/instance")).expect("a directory");
    let door = FolderDoor::guarding(own, BOOT);
    for name in ["home/instance", "alias", "home/instance/../instance/."] {
        check_refused(&door, &tree, name, AdmitRefusal::Instance);
    }
    for name in ["home/instance/inner", "home/instance/inner/deep", "alias/inner"] {
        check_refused(&door, &tree, name, AdmitRefusal::InsideInstance);
    }
    for name in ["home", ".", "alias/.."] {
        check_refused(&door, &tree, name, AdmitRefusal::AroundInstance);
    }
    assert!(door.admit(&host(&tree.at("home/instance-old"))).is_ok());
    std::fs::rename(tree.at("home/instance"), tree.at("renamed")).expect("a rename");
    check_refused(&door, &tree, "renamed", AdmitRefusal::Instance);
    check_refused(&door, &tree, "renamed/inner", AdmitRefusal::InsideInstance);
    check_refused(&door, &tree, ".", AdmitRefusal::AroundInstance);
}

// spec: I2
#[test]
fn what_is_admitted_is_where_the_path_leads() {
    let tree = Tree::new();
    tree.directory("real");
    tree.link("real", "alias");
    let [real, alias] = ["real", "alias"].map(|name| door().admit(&host(&tree.at(name))));
    let real = real.expect("a directory");
    assert_eq!(alias.as_ref(), Ok(&real));
    assert_eq!(real.path, host(&std::fs::canonicalize(tree.at("real")).expect("a directory")));
    assert!(door().admit(&HostPath::from_bytes(".")).is_ok());
}
