//! Looks that may trust what an earlier one saw, while the file's stamp stays.

use super::privilege::{mode, obeying_permissions};
use super::support::*;
use crate::FolderDoor;
use crate::seam::Moment;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use work_core::folder::Grant;
use work_core::limits::ScanLimits;
use work_core::port::{Ground, Known, SourceDoor, Want, version_of};
use work_core::source::{Look, Seen, Stamp};

/// What the tests say is known: no file has these bytes, so an answer tells whether the file was read.
const TRUSTED: &[u8] = b"trusted";

/// Looks at a file through the grant with id 1, trusting what is known; tells how many files the probe was given.
fn glance(
    door: &FolderDoor,
    grants: &[Grant],
    name: &str,
    known: Option<Known>,
) -> (Seen, work_core::id::GrantId, usize) {
    let wants = [Want { grant: id(1), path: rel(name), known }];
    let ground = Ground { grants, scope: &[], limits: ScanLimits::standard() };
    let reads = Arc::new(Reads::default());
    let looks = door.look(ground, &wants, Arc::<Reads>::clone(&reads) as _, &mut On::default());
    match looks[..] {
        [Look::Saw { seen, owner, .. }] => (seen, owner, reads.names().len()),
        ref other => panic!("{name}: {other:?}"),
    }
}

/// What a look lets a later one trust, once the file is old enough, with other bytes than it has.
fn settled(grants: &[Grant], name: &str) -> Known {
    loop {
        if let [Look::Saw { stamp: Some(stamp), owner, .. }] = look(&door(), grants, &[name])[..] {
            return Known { stamp, version: version_of(TRUSTED, 7), owner };
        }
    }
}

/// The same of a file that this user may not read.
fn as_it_is(path: &Path) -> Known {
    let found = std::fs::metadata(path).expect("a file");
    let stamp = Stamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified_ns: found.mtime() * 1_000_000_000 + found.mtime_nsec(),
        changed_ns: found.ctime() * 1_000_000_000 + found.ctime_nsec(),
    };
    Known { stamp, version: version_of(TRUSTED, 7), owner: id(1) }
}

/// A folder with one file in it, and what is known of that.
fn looked_at() -> (Tree, Vec<Grant>, Known) {
    let tree = Tree::new();
    tree.file("m/in/a.md", "as read");
    let grants = vec![grant(1, &tree.at("m"))];
    let known = settled(&grants, "in/a.md");
    (tree, grants, known)
}

// spec: O2
#[test]
fn what_is_known_of_an_unchanged_file_is_answered_by_opening_and_not_reading_it() {
    let (_tree, grants, known) = looked_at();
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let watched = door_with(move |moment, _| match moment {
        Moment::Open => _ = count.fetch_add(1, Ordering::SeqCst),
        Moment::Again | Moment::Read => panic!("the file was read"),
        Moment::Root | Moment::List => {}
    });
    let expected = (bytes_of(TRUSTED), id(1), 0);
    assert_eq!(glance(&watched, &grants, "in/a.md", Some(known)), expected);
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    for door in doors() {
        assert_eq!(glance(&door, &grants, "in/a.md", Some(known)), expected, "{door:?}");
    }
}

// spec: O2
#[test]
fn a_trusting_look_tells_the_stamp_that_it_trusted() {
    let (_tree, grants, known) = looked_at();
    let wants = [Want { grant: id(1), path: rel("in/a.md"), known: Some(known) }];
    let ground = Ground { grants: &grants, scope: &[], limits: ScanLimits::standard() };
    let looks = door().look(ground, &wants, Arc::new(Reads::default()), &mut On::default());
    let (seen, stamp) = (bytes_of(TRUSTED), Some(known.stamp));
    assert_eq!(looks, [Look::Saw { seen, owner: id(1), stamp }]);
}

#[track_caller]
fn check_read_again(change: impl FnOnce(&Tree, &Path), bytes: &[u8]) {
    let (tree, grants, known) = looked_at();
    change(&tree, &tree.at("m/in/a.md"));
    for door in doors() {
        let found = glance(&door, &grants, "in/a.md", Some(known));
        assert_eq!(found, (bytes_of(bytes), id(1), 1), "{door:?}");
    }
}

fn rewrite(path: &Path) {
    std::fs::write(path, "written").expect("a write");
}

// spec: O2
#[test]
fn a_file_that_was_only_touched_is_read_again() {
    let touch = |_: &Tree, path: &Path| {
        let file = std::fs::OpenOptions::new().append(true).open(path).expect("the file");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    };
    check_read_again(touch, b"as read");
}

// spec: O2
#[test]
fn a_file_of_the_same_size_whose_modification_time_was_set_back_is_read_again() {
    let forge = |_: &Tree, path: &Path| {
        let before = std::fs::metadata(path).and_then(|found| found.modified()).expect("a time");
        rewrite(path);
        let file = std::fs::OpenOptions::new().append(true).open(path).expect("the file");
        file.set_modified(before).expect("a time");
        let after = std::fs::metadata(path).and_then(|found| found.modified()).expect("a time");
        assert_eq!(after, before, "only the change time differs");
    };
    check_read_again(forge, b"written");
}

// spec: O2
#[test]
fn a_file_put_in_the_place_of_the_known_one_is_read() {
    let replace = |tree: &Tree, path: &Path| {
        let new = tree.file("m/new.tmp", "renamed");
        std::fs::rename(new, path).expect("a rename");
    };
    check_read_again(replace, b"renamed");
}

// spec: O2
#[test]
fn a_file_that_changes_after_it_was_looked_at_and_before_it_is_opened_counts_as_it_was_then() {
    let (tree, grants, known) = looked_at();
    let path = tree.at("m/in/a.md");
    let by_object = ALL_MEANS[0];
    let door = door_with(move |moment, _| {
        if moment == Moment::Open {
            std::fs::remove_file(&path).expect("a removal");
        }
    });
    let door = door.with_means(by_object);
    let before = glance(&door, &grants, "in/a.md", Some(known));
    assert_eq!(before, (bytes_of(TRUSTED), id(1), 0));
    assert_eq!(glance(&door, &grants, "in/a.md", Some(known)).0, Seen::Missing);
}

// spec: I3, O2
#[test]
fn a_file_that_another_folder_owns_by_now_is_read_under_its_rules() {
    let (tree, mut grants, known) = looked_at();
    grants.push(grant(2, &tree.at("m/in")));
    assert_eq!(glance(&door(), &grants, "in/a.md", Some(known)), (bytes_of(b"as read"), id(2), 1));
    let inner = grants.pop().expect("the inner one");
    grants.push(revoked(inner));
    assert_eq!(glance(&door(), &grants, "in/a.md", Some(known)), (Seen::Denied, id(2), 0));
}

// spec: O1, O2
#[test]
fn what_may_not_be_read_is_denied_whatever_is_known_of_it() {
    let (tree, grants, _) = looked_at();
    mode(&tree.at("m/in/a.md"), 0);
    // Taking permission moves the change time. Somebody who may still read it knows it as it is now.
    let known = as_it_is(&tree.at("m/in/a.md"));
    obeying_permissions(|| {
        for door in doors() {
            let found = glance(&door, &grants, "in/a.md", Some(known));
            assert_eq!(found, (Seen::Denied, id(1), 0), "{door:?}");
        }
    });
    mode(&tree.at("m/in"), 0);
    obeying_permissions(|| {
        for door in doors() {
            let found = glance(&door, &grants, "in/a.md", Some(known));
            assert_eq!(found, (Seen::Denied, id(1), 0), "{door:?}");
        }
    });
    mode(&tree.at("m/in"), 0o700);
    mode(&tree.at("m/in/a.md"), 0o600);
    let known = as_it_is(&tree.at("m/in/a.md"));
    assert_eq!(glance(&door(), &grants, "in/a.md", Some(known)).0, bytes_of(TRUSTED));
}

// spec: G2a, O2
#[test]
fn an_own_file_is_denied_whatever_is_known_of_it() {
    let (tree, grants, known) = looked_at();
    let home = tree.directory("home");
    let linked = |known| {
        let own = crate::OwnFiles::in_directory(&home).expect("a directory");
        glance(&FolderDoor::guarding(own, BOOT), &grants, "in/a.md", Some(known))
    };
    assert_eq!(linked(known).0, bytes_of(TRUSTED));
    std::fs::hard_link(tree.at("m/in/a.md"), home.join("work.db")).expect("a link");
    let known = settled(&grants, "in/a.md");
    assert_eq!(linked(known), (Seen::Denied, id(1), 0));
}

// spec: G4, O2
#[test]
fn a_young_file_is_seen_without_a_stamp_and_an_old_one_with() {
    let tree = Tree::new();
    let path = tree.file("m/a.md", "written");
    let grants = [grant(1, &tree.at("m"))];
    let is_stamped = || match look(&door(), &grants, &["a.md"])[..] {
        [Look::Saw { seen: Seen::Bytes(_), stamp, .. }] => stamp.is_some(),
        ref other => panic!("{other:?}"),
    };
    // A slow machine may come too late to find it young, so it has some tries.
    assert!((0..200).any(|_| {
        rewrite(&path);
        !is_stamped()
    }));
    while !is_stamped() {}
}
