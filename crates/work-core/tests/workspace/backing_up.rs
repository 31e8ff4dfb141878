//! Where a backup may be kept.

use crate::world::World;
use work_core::path::HostPath;
use work_core::workspace::BackupRefusal;

#[track_caller]
fn check(world: &World, file: &str, expected: Result<(), BackupRefusal>) {
    assert_eq!(world.work.may_back_up_to(&HostPath::from_bytes(file)), expected, "{file}");
}

// spec: D5
#[test]
fn a_backup_is_kept_in_no_folder_that_was_ever_approved() {
    let world = World::new();
    for file in ["/handbook/x", "/handbook/it/x", "/handbook/none/x"] {
        check(&world, file, Err(BackupRefusal::InFolder));
    }
    for file in ["/x", "/handbook", "/handbook-old/x", "/elsewhere/handbook/x"] {
        check(&world, file, Ok(()));
    }
    world.revoke("/handbook");
    check(&world, "/handbook/it/x", Err(BackupRefusal::InFolder));
}

// spec: D5, I6
#[test]
fn a_folder_that_was_moved_or_replaced_is_still_one() {
    let world = World::new();
    world.door.rename("/handbook", "/moved");
    check(&world, "/moved/it/x", Err(BackupRefusal::InFolder));
    world.door.put("/handbook/new.md", "New.\n");
    check(&world, "/handbook/x", Err(BackupRefusal::InFolder));
}
