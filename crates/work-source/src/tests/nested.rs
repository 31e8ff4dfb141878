//! Who owns a file when folders nest.

use super::support::*;
use work_core::folder::{Grant, Hidden, IgnoreFiles};
use work_core::limits::ScanLimits;
use work_core::port::SourceDoor;
use work_core::report::{Reached, SkipReason as Skip};
use work_core::source::Seen;

fn nest() -> Tree {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    tree.file("m/inner/b.md", "b");
    tree.file("m/inner/deep/c.md", "c");
    tree
}

// spec: I3
#[test]
fn an_inner_folder_takes_its_files_out_of_the_outer_one() {
    let tree = nest();
    let grants = [grant(1, &tree.at("m")), grant(2, &tree.at("m/inner"))];
    for door in doors() {
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), ["a.md", "b.md", "deep/c.md"]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OtherGrant, 1)]);
        assert_eq!(look_at(&door, &grants, "inner/b.md"), (bytes_of(b"b"), id(2)));
        assert_eq!(look_at(&door, &grants, "inner/deep/c.md"), (bytes_of(b"c"), id(2)));
        assert_eq!(look_at(&door, &grants, "inner/gone.md"), (Seen::Missing, id(2)));
        assert_eq!(look_at(&door, &grants, "a.md"), (bytes_of(b"a"), id(1)));
    }
}

// spec: I3, I5
#[test]
fn a_revoked_inner_folder_is_a_hole_in_the_outer_one() {
    let tree = nest();
    let grants = [grant(1, &tree.at("m")), revoked(grant(2, &tree.at("m/inner")))];
    for door in doors() {
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), ["a.md"]);
        let folders: Vec<_> = scanned.folders.iter().map(|folder| folder.reached).collect();
        assert_eq!(folders, [Reached::Yes, Reached::Denied]);
        for name in ["inner/b.md", "inner/deep/c.md", "inner/gone.md"] {
            assert_eq!(look_at(&door, &grants, name), (Seen::Denied, id(2)), "{name}");
        }
        assert_eq!(door.roots(&grants), [Reached::Yes, Reached::Denied]);
    }
}

// spec: I3
#[test]
fn an_inner_root_that_was_moved_still_owns_what_is_in_it() {
    let tree = nest();
    let grants = [grant(1, &tree.at("m")), revoked(grant(2, &tree.at("m/inner")))];
    std::fs::rename(tree.at("m/inner"), tree.at("m/elsewhere")).expect("a rename");
    for door in doors() {
        let (scanned, reads) = scan(&door, &grants[..]);
        assert_eq!(reads.names(), ["a.md"]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OtherGrant, 1)]);
        assert_eq!(look_at(&door, &grants, "elsewhere/b.md"), (Seen::Denied, id(2)));
        assert_eq!(look_at(&door, &grants, "inner/b.md"), (Seen::Missing, id(1)));
    }
}

// spec: I3
#[test]
fn an_inner_root_that_was_moved_in_between_listing_and_reading_keeps_its_files() {
    let tree = nest();
    tree.file("m/swap/b.md", "swap");
    let grants = [grant(1, &tree.at("m")), revoked(grant(2, &tree.at("m/inner")))];
    let (inner, swap) = (tree.at("m/inner"), tree.at("m/swap"));
    let door = door_with(move |moment, name| {
        if moment == crate::seam::Moment::List && name == b"swap" {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            let cwd = rustix::fs::CWD;
            rustix::fs::renameat_with(cwd, &inner, cwd, &swap, flags).expect("an exchange");
        }
    });
    let (scanned, reads) = scan_of(&door, &grants, &[id(1)], ScanLimits::standard());
    assert_eq!(reads.names(), ["a.md"]);
    assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OtherGrant, 2)]);
}

// spec: I3, I4
#[test]
fn the_rules_of_the_owner_count_on_the_path_below_its_own_root() {
    let tree = nest();
    tree.file("m/.inner/x.md", "x");
    let usual = IgnoreFiles::Honoured;
    let outer =
        Grant { rules: rules(&["b.md"], Hidden::Skipped, usual), ..grant(1, &tree.at("m")) };
    let inner =
        Grant { rules: rules(&["deep"], Hidden::Skipped, usual), ..grant(2, &tree.at("m/inner")) };
    let hidden = grant(3, &tree.at("m/.inner"));
    let grants = [outer, inner, hidden];
    for door in doors() {
        assert_eq!(look_at(&door, &grants, "inner/b.md"), (bytes_of(b"b"), id(2)));
        assert_eq!(look_at(&door, &grants, "inner/deep/c.md"), (Seen::Denied, id(2)));
        assert_eq!(look_at(&door, &grants, ".inner/x.md"), (bytes_of(b"x"), id(3)));
    }
}

// spec: I5
#[test]
fn nothing_is_opened_under_a_revoked_folder() {
    let tree = nest();
    let grants = [revoked(grant(1, &tree.at("m"))), grant(2, &tree.at("m/inner"))];
    let door = door_with(|moment, name| {
        let inner = moment == crate::seam::Moment::Root && name == b"inner";
        assert!(inner, "{moment:?} of something that was revoked");
    });
    assert_eq!(look_at(&door, &grants, "a.md"), (Seen::Denied, id(1)));
    assert_eq!(door.roots(&grants), [Reached::Denied, Reached::Yes]);
    let (scanned, reads) = scan_of(&door, &grants, &[id(1)], ScanLimits::standard());
    assert_eq!((scanned.folders[0].reached, reads.names().len()), (Reached::Denied, 0));
}

// spec: I3
#[test]
fn of_two_approvals_of_one_directory_the_later_decides() {
    let tree = nest();
    let inner = grant(2, &tree.at("m/inner"));
    let again =
        Grant { id: id(3), approved_at: grant(9, &tree.at("m")).approved_at, ..inner.clone() };
    let grants = [grant(1, &tree.at("m")), revoked(inner.clone()), again.clone()];
    assert_eq!(look_at(&door(), &grants, "inner/b.md"), (bytes_of(b"b"), id(3)));
    let grants = [grant(1, &tree.at("m")), inner, revoked(again)];
    assert_eq!(look_at(&door(), &grants, "inner/b.md"), (Seen::Denied, id(3)));
}
