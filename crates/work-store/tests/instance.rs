//! The instance directory: who may read it, and that making it again changes nothing.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::*;
use work_core::port::Store as _;
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError, own_files};
use work_store::sqlite::Made;

/// A directory for one test, and a place in it for an instance.
fn place() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let place = home.path().join("share/work");
    (home, place)
}

fn create(place: &Path) -> Instance {
    Instance::create(place, &OsIds, &Still).expect("an instance")
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// Every file with its bytes, its permissions and its inode.
fn everything(place: &Path) -> Vec<(PathBuf, Vec<u8>, u32, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let mut all: Vec<_> = fs::read_dir(place)
        .expect("a list")
        .flatten()
        .map(|entry| {
            let path = entry.path();
            let inode = entry.metadata().expect("it is there").ino();
            (path.clone(), fs::read(&path).expect("readable"), mode(&path), inode)
        })
        .collect();
    all.sort();
    all
}

// spec: I1
#[test]
fn a_new_instance_has_a_database_a_token_and_its_header_for_the_owner_alone() {
    let (_home, place) = place();
    let instance = create(&place);
    assert_eq!((instance.made(), instance.dir()), (Made::New, place.as_path()));
    assert_eq!(mode(&place), 0o700);
    for name in ["work.sqlite", "token", "token.header"] {
        assert_eq!(mode(&place.join(name)), 0o600, "{name}");
    }
    assert_eq!(everything(&place).len(), 3);
    let token = instance.token().expect("a token");
    let line = fs::read_to_string(place.join("token")).expect("text");
    assert_eq!(line, format!("{}\n", token.as_str()));
    let header = fs::read_to_string(place.join("token.header")).expect("text");
    assert_eq!(header, format!("Authorization: Bearer {}\n", token.as_str()));
}

// spec: I1
#[test]
fn making_an_instance_again_changes_nothing() {
    let (_home, place) = place();
    create(&place);
    let before = everything(&place);
    let again = create(&place);
    assert_eq!((again.made(), again.tightened()), (Made::Before, &[][..]));
    Instance::open(&place).expect("an instance");
    Instance::open_or_create(&place, &OsIds, &Still).expect("an instance");
    assert_eq!(everything(&place), before);
}

#[test]
fn what_a_crash_left_half_made_is_completed_by_making_it_again() {
    let (_home, place) = place();
    let token = create(&place).token().expect("a token");
    fs::remove_file(place.join("token.header")).expect("removed");
    fs::write(place.join("token.new"), "half").expect("written");
    assert_eq!(create(&place).token().expect("a token"), token);
    let header = fs::read_to_string(place.join("token.header")).expect("text");
    assert!(header.contains(token.as_str()));
    fs::remove_file(place.join("token")).expect("removed");
    let no_token = Instance::open(&place).expect("an instance").token();
    assert!(matches!(no_token, Err(InstanceError::NoToken(_))), "{no_token:?}");
    let fresh = create(&place).token().expect("a token");
    assert_ne!(fresh, token);
    let header = fs::read_to_string(place.join("token.header")).expect("text");
    assert!(header.contains(fresh.as_str()));
}

// spec: I1
#[test]
fn a_new_token_replaces_both_files_and_nothing_else() {
    let (_home, place) = place();
    let instance = create(&place);
    let (old, database) = (instance.token().expect("a token"), everything(&place).remove(2));
    let new = instance.new_token().expect("a new token");
    assert_ne!(new, old);
    assert_eq!(instance.token().expect("a token"), new);
    let header = fs::read_to_string(place.join("token.header")).expect("text");
    assert_eq!(header, format!("Authorization: Bearer {}\n", new.as_str()));
    assert_eq!(everything(&place).remove(2), database);
    assert_eq!((mode(&place.join("token")), mode(&place.join("token.header"))), (0o600, 0o600));
}

#[test]
fn a_token_that_is_none_is_told_and_replaced_only_on_request() {
    let (_home, place) = place();
    let instance = create(&place);
    fs::write(place.join("token"), "secret\n").expect("written");
    let told = Instance::create(&place, &OsIds, &Still);
    assert!(matches!(told, Err(InstanceError::NoToken(_))), "{told:?}");
    assert_eq!(fs::read(place.join("token")).expect("readable"), b"secret\n");
    instance.new_token().expect("a new token");
    assert!(instance.token().is_ok());
}

#[track_caller]
fn check_refused(place: &Path, expected: fn(&InstanceError) -> bool) {
    let ways = [
        Instance::open(place),
        Instance::open_as_is(place),
        Instance::create(place, &OsIds, &Still),
    ];
    for refused in ways {
        let error = refused.expect_err("it is refused");
        assert!(expected(&error), "{error:?}");
    }
}

#[test]
fn a_link_or_a_file_is_no_instance() {
    let (home, place) = place();
    create(&place);
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&place, &link).expect("linked");
    check_refused(&link, |error| matches!(error, InstanceError::Link(_)));
    check_refused(&place.join("token"), |error| matches!(error, InstanceError::NotADirectory(_)));
    fs::rename(place.join("token"), home.path().join("elsewhere")).expect("moved");
    std::os::unix::fs::symlink(home.path().join("elsewhere"), place.join("token")).expect("linked");
    check_refused(&place, |error| matches!(error, InstanceError::Link(_)));
}

#[test]
fn an_instance_of_another_user_is_refused() {
    let (_home, place) = place();
    create(&place);
    if !rustix::process::geteuid().is_root() {
        return; // Only root can give a directory away.
    }
    std::os::unix::fs::chown(&place, Some(65534), None).expect("given away");
    check_refused(&place, |error| matches!(error, InstanceError::OtherOwner(_)));
}

#[test]
fn an_instance_opened_as_it_is_stays_so_and_tells_who_may_read_it() {
    let (_home, place) = place();
    create(&place);
    let loose = [(place.clone(), 0o755), (place.join("token"), 0o644)];
    for (path, mode) in &loose {
        fs::set_permissions(path, Permissions::from_mode(*mode)).expect("loosened");
    }
    let before = everything(&place);
    let opened = Instance::open_as_is(&place).expect("an instance");
    let exposed = opened.exposed().expect("a list");
    let told: Vec<_> = exposed.iter().map(|one| (one.path.clone(), one.mode)).collect();
    assert_eq!((told.as_slice(), opened.tightened()), (&loose[..], &[][..]));
    assert_eq!((everything(&place), mode(&place)), (before, 0o755));
}

// spec: I1
#[test]
fn what_others_could_read_is_closed_and_told() {
    let (_home, place) = place();
    let instance = create(&place);
    let loose =
        [(place.clone(), 0o755), (place.join("token"), 0o644), (place.join("work.sqlite"), 0o660)];
    for (path, mode) in &loose {
        fs::set_permissions(path, Permissions::from_mode(*mode)).expect("loosened");
    }
    let exposed = instance.exposed().expect("a list");
    assert_eq!(exposed.len(), 3, "{exposed:?}");
    assert_eq!((exposed[0].mode, exposed[0].expected), (0o755, 0o700));
    let opened = Instance::open(&place).expect("an instance");
    for (path, _) in &loose {
        assert!(opened.tightened().contains(path), "{path:?}");
    }
    assert_eq!(instance.exposed().expect("a list"), []);
}

#[test]
fn where_nothing_was_made_there_is_no_instance() {
    let (_home, place) = place();
    assert!(matches!(Instance::open(&place), Err(InstanceError::Absent(_))));
    assert!(matches!(Instance::open_as_is(&place), Err(InstanceError::Absent(_))));
    assert!(!place.exists(), "opening makes nothing");
    fs::create_dir_all(&place).expect("made");
    assert!(matches!(Instance::open(&place), Err(InstanceError::Absent(_))));
    assert_eq!(fs::read_dir(&place).expect("a list").count(), 0);
}

// spec: G2a
#[test]
fn every_file_of_an_instance_in_use_is_named_to_the_door() {
    let (_home, place) = place();
    let instance = create(&place);
    let store = instance.store(Arc::new(Still)).expect("opened");
    drop(store.write(PATIENT).expect("the lock"));
    fs::write(place.join("server.json"), "{}").expect("written");
    let named = own_files(&place);
    for (path, ..) in everything(&place) {
        assert!(named.contains(&path), "{path:?}");
    }
    assert!(everything(&place).len() > 4, "the log is there too");
}

// spec: I1
#[test]
fn a_directory_of_other_files_becomes_no_instance_and_stays_as_it_is() {
    let (_home, place) = place();
    fs::create_dir_all(&place).expect("a directory");
    fs::write(place.join("notes.md"), "mine\n").expect("a file");
    fs::set_permissions(&place, Permissions::from_mode(0o755)).expect("open to others");
    let before = everything(&place);
    let refused = Instance::create(&place, &OsIds, &Still).expect_err("refused");
    assert!(matches!(refused, InstanceError::Occupied(_)), "{refused:?}");
    assert_eq!((everything(&place), mode(&place)), (before, 0o755));
}

// spec: D2
#[test]
fn a_directory_with_a_database_of_others_stays_as_it_is() {
    for claim in
        ["PRAGMA application_id = 77", "PRAGMA user_version = 99", "CREATE TABLE theirs (a)"]
    {
        let (_home, place) = place();
        fs::create_dir_all(&place).expect("a directory");
        let theirs = rusqlite::Connection::open(place.join("work.sqlite")).expect("a database");
        theirs.execute_batch(claim).expect("theirs");
        drop(theirs);
        for path in [place.clone(), place.join("work.sqlite")] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).expect("open to others");
        }
        let before = everything(&place);
        for refused in [Instance::open(&place), Instance::create(&place, &OsIds, &Still)] {
            let refused = refused.expect_err("refused");
            assert!(matches!(refused, InstanceError::Store(_)), "{claim}: {refused:?}");
        }
        assert_eq!((everything(&place), mode(&place)), (before, 0o755), "{claim}");
    }
}

// spec: I1 D6
#[test]
fn the_log_of_a_database_that_is_gone_is_never_taken_for_that_of_a_new_one() {
    let home = tempfile::tempdir().expect("a directory");
    for (name, free) in
        [("work.sqlite-wal", false), ("work.sqlite-journal", false), ("token.new", true)]
    {
        let place = home.path().join(name);
        fs::create_dir(&place).expect("made");
        fs::write(place.join(name), "left over").expect("written");
        let made = Instance::create(&place, &Counted::default(), &Still);
        assert_eq!(made.is_ok(), free, "{name}: {made:?}");
        assert!(free || matches!(made, Err(InstanceError::Occupied(_))));
    }
}
