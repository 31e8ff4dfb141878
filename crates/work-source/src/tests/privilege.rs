//! What permission refuses. Root is refused nothing, so these tests run on a thread without root's privilege.

use super::support::*;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use work_core::port::{AdmitRefusal, SourceDoor};
use work_core::report::{Reached, SkipReason as Skip};
use work_core::source::Seen;

/// Runs `test` on a thread, and on those that it starts, which obey permissions even if this user is root.
pub(super) fn obeying_permissions(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let mut sets = capabilities(None).expect("the capabilities of this thread");
            sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
            set_capabilities(None, sets).expect("fewer capabilities");
            test();
        });
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

pub(super) fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("permissions");
}

// spec: O1, Q5
#[test]
fn what_permission_refuses_is_denied_and_never_missing() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    let shut = tree.file("m/shut.md", "x");
    tree.file("m/closed/x.md", "x");
    tree.file("m/unlisted/x.md", "x");
    tree.file("m/listed/x.md", "x");
    let grants = [grant(1, &tree.at("m"))];
    mode(&shut, 0);
    mode(&tree.at("m/closed"), 0);
    mode(&tree.at("m/unlisted"), 0o100);
    mode(&tree.at("m/listed"), 0o400);
    obeying_permissions(|| {
        std::fs::read(&shut).expect_err("this thread obeys permissions");
        for door in doors() {
            let (scanned, reads) = scan(&door, &grants);
            assert_eq!(reads.names(), ["a.md"]);
            assert_eq!(skips(&scanned.folders[0].counts), [(Skip::Denied, 4)], "{door:?}");
            for name in
                ["shut.md", "closed/x.md", "closed/gone.md", "closed/d/gone.md", "listed/gone.md"]
            {
                assert_eq!(look_at(&door, &grants, name).0, Seen::Denied, "{name} {door:?}");
            }
            assert_eq!(look_at(&door, &grants, "unlisted/x.md").0, bytes_of(b"x"));
            assert_eq!(look_at(&door, &grants, "unlisted/gone.md").0, Seen::Missing);
        }
    });
    mode(&tree.at("m/closed"), 0o700);
    mode(&tree.at("m/unlisted"), 0o700);
    mode(&tree.at("m/listed"), 0o700);
}

// spec: I2, I6
#[test]
fn a_closed_root_is_denied_and_may_not_be_approved() {
    let tree = Tree::new();
    tree.file("m/a.md", "a");
    tree.file("up/m/a.md", "a");
    let grants = [grant(1, &tree.at("m")), grant(2, &tree.at("up/m"))];
    mode(&tree.at("m"), 0);
    mode(&tree.at("up"), 0);
    obeying_permissions(|| {
        for door in doors() {
            let (scanned, reads) = scan(&door, &grants);
            let reached: Vec<_> = scanned.folders.iter().map(|folder| folder.reached).collect();
            assert_eq!((reached, reads.names().len()), (vec![Reached::Denied; 2], 0));
            assert_eq!(look_at(&door, &grants, "a.md").0, Seen::Denied);
            for name in ["m", "up/m"] {
                let refused = door.admit(&host(&tree.at(name)));
                assert_eq!(refused, Err(AdmitRefusal::NotReadable), "{name}");
            }
        }
    });
    mode(&tree.at("m"), 0o700);
    mode(&tree.at("up"), 0o700);
}
