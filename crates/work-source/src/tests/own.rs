//! The instance's own files are never opened for reading, under whatever name.

use super::support::*;
use crate::{FolderDoor, OwnFiles};
use rustix::fs::{FlockOperation, fcntl_lock};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use work_core::port::SourceDoor;
use work_core::report::{Reached, SkipReason as Skip};
use work_core::source::Seen;

/// Whether this process holds a POSIX lock on a file, as the kernel says.
fn is_locked(file: &File) -> bool {
    let inode = file.metadata().expect("a file").ino().to_string();
    let pid = std::process::id().to_string();
    let locks = std::fs::read_to_string("/proc/locks").expect("the kernel's list of locks");
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&"POSIX")
            && words.contains(&pid.as_str())
            && words.iter().any(|word| word.rsplit(':').next() == Some(&inode))
    })
}

/// A locked file in an instance, with hard links to it in a folder; each door guards the instance.
fn instance() -> (Tree, File, Vec<FolderDoor>) {
    let tree = Tree::new();
    let path = tree.file("instance/work.sqlite-shm", "shared memory");
    tree.file("m/a.md", "a");
    std::fs::hard_link(&path, tree.at("m/other-name.md")).expect("a hard link");
    let file = File::options().read(true).write(true).open(&path).expect("the file");
    fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).expect("a lock");
    let guarding = |means| {
        let own = OwnFiles::in_directory(tree.at("instance")).expect("a directory");
        FolderDoor::guarding(own, BOOT).with_means(means)
    };
    let doors = ALL_MEANS.into_iter().map(guarding).collect();
    (tree, file, doors)
}

// spec: G2a
#[test]
fn a_hard_link_to_an_own_file_is_refused_and_the_lock_on_it_stays() {
    let (tree, file, doors) = instance();
    let grants = [grant(1, &tree.at("m"))];
    for door in doors {
        let (scanned, reads) = scan(&door, &grants);
        assert_eq!(reads.names(), ["a.md"]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OwnFile, 1)]);
        assert_eq!(look_at(&door, &grants, "other-name.md").0, Seen::Denied);
        assert!(is_locked(&file), "the lock is gone: {door:?}");
    }
    let (_, reads) = scan(&door(), &grants);
    assert_eq!(reads.names().len(), 2, "a door that guards nothing reads it");
    assert!(!is_locked(&file), "closing it drops the lock, so this test would notice");
}

// spec: G2a
#[test]
fn an_own_file_that_comes_after_the_scan_began_is_refused_too() {
    for means in ALL_MEANS {
        let tree = Tree::new();
        tree.directory("instance");
        tree.file("m/0.md", "0");
        tree.file("m/a.md", "a");
        let [shm, name] = [tree.at("instance/work.sqlite-shm"), tree.at("m/a.md")];
        let own = OwnFiles::in_directory(tree.at("instance")).expect("a directory");
        let mut door = FolderDoor::guarding(own, BOOT).with_means(means);
        let held = std::sync::Arc::new(std::sync::Mutex::new(None));
        let holder = std::sync::Arc::clone(&held);
        door.seam = door_with(move |moment, at| {
            if moment == crate::seam::Moment::Open && at == b"0.md" {
                std::fs::write(&shm, "shared memory").expect("a file");
                std::fs::remove_file(&name).expect("a removal");
                std::fs::hard_link(&shm, &name).expect("a hard link");
                let file = File::options().write(true).open(&shm).expect("the file");
                fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).expect("a lock");
                *holder.lock().expect("no panic") = Some(file);
            }
        })
        .seam;
        let limits = work_core::limits::ScanLimits {
            threads: 1,
            ..work_core::limits::ScanLimits::standard()
        };
        let (scanned, reads) = scan_within(&door, &[grant(1, &tree.at("m"))], limits);
        assert_eq!(reads.names(), ["0.md"]);
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OwnFile, 1)]);
        assert!(is_locked(held.lock().expect("no panic").as_ref().expect("made")), "{means:?}");
    }
}

// spec: G2a
#[test]
fn an_own_file_swapped_in_between_look_and_open_keeps_its_lock() {
    for means in ALL_MEANS {
        let (tree, file, _) = instance();
        let own = OwnFiles::in_directory(tree.at("instance")).expect("a directory");
        let mut door = FolderDoor::guarding(own, BOOT).with_means(means);
        let [name, link] = [tree.at("m/a.md"), tree.at("m/other-name.md")];
        door.seam = door_with(move |moment, at| {
            if moment == crate::seam::Moment::Open && at == b"a.md" && link.exists() {
                std::fs::rename(&link, &name).expect("a rename");
            }
        })
        .seam;
        let looked = look_at(&door, &[grant(1, &tree.at("m"))], "a.md").0;
        assert_eq!(looked, Seen::Denied, "{means:?}");
        assert!(is_locked(&file), "{means:?}");
    }
}

// spec: G2a
#[test]
fn the_instance_moved_into_a_folder_is_not_gone_into() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    tree.file("instance/note.md", "own");
    tree.file("instance/inner/deep.md", "own");
    let grants = [grant(1, &tree.at("m")), grant(2, &tree.at("instance"))];
    let own = OwnFiles::in_directory(tree.at("instance")).expect("a directory");
    let door = FolderDoor::guarding(own, BOOT);
    assert_eq!(door.roots(&grants), [Reached::Yes, Reached::Denied]);
    std::fs::rename(tree.at("instance"), tree.at("m/moved")).expect("a rename");
    let (scanned, reads) = scan(&door, &grants[..1]);
    assert_eq!(reads.names(), ["a.md"]);
    assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OwnFile, 1)]);
    for name in ["moved/note.md", "moved/inner/deep.md"] {
        assert_eq!(look_at(&door, &grants[..1], name).0, Seen::Denied, "{name}");
    }
}

// spec: G2a
#[test]
fn an_instance_that_cannot_be_listed_lets_no_file_with_two_names_be_read() {
    let (tree, file, doors) = instance();
    let grants = [grant(1, &tree.at("m"))];
    std::fs::remove_dir_all(tree.at("instance")).expect("a removal");
    for door in doors {
        std::fs::hard_link(tree.at("m/a.md"), tree.at("m/twin.rs")).expect("a second name");
        let (scanned, reads) = scan(&door, &grants);
        std::fs::remove_file(tree.at("m/twin.rs")).expect("a removal");
        assert_eq!(reads.names(), ["other-name.md"], "it has one name now");
        assert_eq!(scanned.folders[0].counts.skipped.get(&Skip::OwnFile), Some(&1));
    }
    drop(file);
}
