//! Other mounts in a folder. They need a namespace of their own, so these tests run in a child process.

use super::support::*;
use std::process::Command;
use work_core::limits::ScanLimits;
use work_core::port::{AdmitRefusal, SourceDoor};
use work_core::report::{Reached, SkipReason as Skip};
use work_core::source::Seen;

/// Where the child finds what was mounted for it.
const PLACE: &str = "WORK_SOURCE_MOUNTS";

// spec: G2, I6
#[test]
fn other_mounts_are_not_entered() {
    let tree = Tree::new();
    for name in ["m/a.md", "m/tmp/x.md", "m/bind/x.md", "m/file.md", "elsewhere/y.md", "usb/u.md"] {
        tree.file(name, "x");
    }
    tree.directory("instance/inner");
    tree.directory("again");
    let script = "set -e
        mount -t tmpfs none m/tmp && echo t > m/tmp/t.md
        mount --bind elsewhere m/bind
        mount --bind elsewhere/y.md m/file.md
        mount --bind . again
        exec \"$0\" --exact tests::mounts::inside --ignored --nocapture";
    let child = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .arg(std::env::current_exe().expect("this program"))
        .current_dir(tree.at(""))
        .env(PLACE, tree.at(""))
        .output();
    match child {
        Ok(out) if out.status.success() => {
            let said = String::from_utf8_lossy(&out.stdout);
            assert!(said.contains("1 passed"), "the child ran its test: {said}");
        }
        Ok(out) if String::from_utf8_lossy(&out.stderr).contains("ermi") => {
            eprintln!("NOT SHOWN: this user may not mount");
        }
        Ok(out) => panic!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ),
        Err(error) => eprintln!("NOT SHOWN: there is no 'unshare' here ({error})"),
    }
}

#[test]
#[ignore = "started by other_mounts_are_not_entered, with mounts made for it"]
fn inside() {
    let place = std::path::PathBuf::from(std::env::var_os(PLACE).expect("a place"));
    let grants = [grant(1, &place.join("m")), grant(2, &place.join("m/tmp"))];
    for door in doors() {
        let (scanned, reads) = scan_of(&door, &grants, &[id(1)], ScanLimits::standard());
        assert_eq!(reads.names(), ["a.md"], "{door:?}");
        assert_eq!(skips(&scanned.folders[0].counts), [(Skip::OtherMount, 3)], "{door:?}");
        for name in ["tmp/t.md", "tmp/gone.md", "bind/y.md", "bind/x.md", "file.md"] {
            assert_eq!(look_at(&door, &grants, name).0, Seen::Denied, "{name} {door:?}");
        }
        let (_, reads) = scan_of(&door, &grants, &[id(2)], ScanLimits::standard());
        assert_eq!(reads.names(), ["t.md"], "a mount that was approved itself is read");
    }
    let own = crate::OwnFiles::in_directory(place.join("instance")).expect("a directory");
    let door = crate::FolderDoor::guarding(own, BOOT);
    let around = door.admit(&host(&place.join("again")));
    assert_eq!(around, Err(AdmitRefusal::AroundInstance), "mounted under another name");
    let gone = Command::new("umount").arg(place.join("m/tmp")).status().expect("umount");
    assert!(gone.success());
    std::fs::remove_file(place.join("m/tmp/x.md")).expect("a removal");
    assert_eq!(door.roots(&grants[1..]), [Reached::Unreachable], "its empty mount point is left");
}
