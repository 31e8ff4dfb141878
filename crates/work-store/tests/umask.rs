//! A binary of its own, because the mask belongs to the whole process.

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use support::*;
use work_core::port::Store as _;
use work_store::ids::OsIds;
use work_store::instance::Instance;

// spec: I1
#[test]
fn no_mask_opens_an_instance_to_others() {
    rustix::process::umask(rustix::fs::Mode::empty());
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().join("share/work");
    let instance = Instance::create(&place, &OsIds, &Still).expect("an instance");
    instance.new_token().expect("a new token");
    let store = instance.store(Arc::new(Still)).expect("opened");
    drop(store.write(PATIENT).expect("the lock"));
    let mode = |path: &std::path::Path| {
        std::fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
    };
    assert_eq!((mode(&place), mode(&home.path().join("share"))), (0o700, 0o700));
    let files: Vec<_> = std::fs::read_dir(&place).expect("a list").flatten().collect();
    assert!(files.len() >= 5, "database, its companions, and both files of the token: {files:?}");
    for file in files {
        assert_eq!(mode(&file.path()), 0o600, "{file:?}");
    }
}
