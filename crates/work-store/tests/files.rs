//! Whose file it is, how a database comes to be, and that nothing else is ever touched.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use support::*;
use work_core::port::*;
use work_store::instance::Instance;
use work_store::sqlite::{Made, SCHEMA, SqliteStore};

/// Opens a file that is not as it should be; it must stay as it is, with nothing beside it.
#[track_caller]
fn check_untouched(bytes: &[u8], expected: StoreError) {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    fs::write(&path, bytes).expect("written");
    assert_eq!(SqliteStore::open(&path, Arc::new(Still)).err(), Some(expected));
    assert!(fs::read(&path).expect("readable") == bytes, "it is not as it was");
    let beside: Vec<_> = fs::read_dir(home.path()).expect("a list").flatten().collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert_eq!(SqliteStore::create(&path, &new_head()), Ok(Made::Before));
    assert!(fs::read(&path).expect("readable") == bytes, "creating changed it");
}

/// The bytes of a file that this program made, after `sql`.
fn bytes_after(sql: &str) -> Vec<u8> {
    let world = World::new();
    drop(world.store);
    let raw = rusqlite::Connection::open(&world.path).expect("opens");
    raw.execute_batch(sql).expect(sql);
    raw.close().expect("closes");
    fs::read(&world.path).expect("readable")
}

#[test]
fn the_schema_that_is_named_is_the_one_that_is_made() {
    let made = World::new().raw().query_row("PRAGMA user_version", [], |row| row.get(0));
    assert_eq!(made, Ok(SCHEMA));
}

// spec: D2
#[test]
fn a_file_of_another_program_is_refused_and_stays_as_it_is() {
    let foreign = |sql: &str| {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("x");
        rusqlite::Connection::open(&path).expect("opens").execute_batch(sql).expect(sql);
        fs::read(&path).expect("readable")
    };
    check_untouched(&foreign("CREATE TABLE t (x)"), StoreError::Foreign);
    let wal = "PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA user_version = 2";
    check_untouched(&foreign(wal), StoreError::Foreign);
    check_untouched(&bytes_after("PRAGMA application_id = 7"), StoreError::Foreign);
    check_untouched(b"", StoreError::Foreign);
}

// spec: D2
#[test]
fn a_newer_schema_is_refused_and_stays_as_it_is() {
    check_untouched(&bytes_after("PRAGMA user_version = 3"), StoreError::Newer);
    check_untouched(&bytes_after("PRAGMA user_version = 2147483647"), StoreError::Newer);
}

// spec: D2
#[test]
fn a_schema_before_the_first_is_nobodys_and_stays_as_it_is() {
    check_untouched(&bytes_after("PRAGMA user_version = 0"), StoreError::Foreign);
    check_untouched(&bytes_after("PRAGMA user_version = -1"), StoreError::Foreign);
}

// spec: D6
#[test]
fn what_is_no_database_at_all_is_damaged_and_stays_as_it_is() {
    check_untouched(&b"notes of mine\n".repeat(100), StoreError::Damaged);
    let sound = bytes_after("");
    let mut magic = sound.clone();
    magic[3] ^= 1;
    check_untouched(&magic, StoreError::Damaged);
}

// spec: D6
#[test]
fn damage_behind_a_sound_header_is_told_and_no_crash() {
    let mut bytes = bytes_after("");
    bytes[100..2000].fill(0xa5);
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    fs::write(&path, &bytes).expect("written");
    let told = SqliteStore::open(&path, Arc::new(Still))
        .and_then(|store| store.read(PATIENT).and_then(|mut tx| tx.head().map(drop)));
    assert_eq!(told, Err(StoreError::Damaged));
    assert!(fs::read(&path).expect("readable") == bytes, "it is not as it was");
}

#[test]
fn a_link_in_the_place_of_a_database_is_not_followed() {
    let world = World::new();
    let link = world.home.path().join("link.sqlite");
    std::os::unix::fs::symlink(&world.path, &link).expect("linked");
    assert!(SqliteStore::open(&link, Arc::new(Still)).is_err());
    assert_eq!(SqliteStore::create(&link, &new_head()), Ok(Made::Before));
}

#[test]
fn a_path_with_every_kind_of_character_is_opened_as_it_is() {
    let home = tempfile::tempdir().expect("a directory");
    let odd = home.path().join("a b?c#d%41&e=é\"'");
    fs::create_dir(&odd).expect("made");
    let path = odd.join("work.sqlite");
    assert_eq!(SqliteStore::create(&path, &new_head()), Ok(Made::New));
    assert!(open(&path).read(PATIENT).is_ok());
}

// spec: D1
#[test]
fn what_a_crash_left_of_a_creation_is_in_nobodys_way() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    for name in ["work.sqlite.new", "work.sqlite.new-journal", "work.sqlite.new-wal"] {
        fs::write(home.path().join(name), b"half a database").expect("written");
    }
    assert_eq!(SqliteStore::create(&path, &new_head()), Ok(Made::New));
    assert_eq!(
        open(&path).read(PATIENT).expect("a snapshot").head().expect("a head").0,
        new_head()
    );
    let names: Vec<_> = fs::read_dir(home.path())
        .expect("a list")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains(".new")), "{names:?}");
}

#[test]
fn a_new_database_is_one_file_with_everything_in_it() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    SqliteStore::create(&path, &new_head()).expect("made");
    assert_eq!(fs::read_dir(home.path()).expect("a list").count(), 1);
    let copy = home.path().join("copy.sqlite");
    fs::copy(&path, &copy).expect("copied");
    assert_eq!(
        open(&copy).read(PATIENT).expect("a snapshot").head().expect("a head").0,
        new_head()
    );
}

// spec: D1
#[test]
fn of_threads_that_create_at_once_one_makes_it_and_all_open_it() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    let made: Vec<Made> = std::thread::scope(|threads| {
        let create = || {
            let made = SqliteStore::create(&path, &new_head()).expect("made");
            assert!(open(&path).read(PATIENT).is_ok());
            made
        };
        let all: Vec<_> = (0..8).map(|_| threads.spawn(create)).collect();
        all.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(made.iter().filter(|&&made| made == Made::New).count(), 1);
}

/// Runs one ignored test of this binary in a process of its own.
fn child(test: &str, path: &Path) -> Command {
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["--ignored", "--exact", test, "--nocapture"]).env("WORK_TEST_PATH", path);
    child.stdout(Stdio::piped()).stderr(Stdio::piped());
    child
}

// spec: I1
#[test]
fn of_processes_that_create_at_once_all_have_the_same_workspace_and_token() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("desk");
    let children: Vec<_> =
        (0..4).map(|_| child("child_creates", &path).spawn().expect("a child")).collect();
    let mut said: Vec<String> = children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().expect("its output");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).expect("text");
            text.lines().find(|line| line.starts_with("made ")).expect("what it made").to_owned()
        })
        .collect();
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
#[ignore = "a part of another test"]
fn child_creates() {
    let home = std::env::var_os("WORK_TEST_PATH").expect("a path");
    let instance = Instance::open_or_create(home, &work_store::ids::OsIds, &Still).expect("made");
    let instance = Instance::create(instance.dir(), &work_store::ids::OsIds, &Still).expect("made");
    let store = instance.store(Arc::new(Still)).expect("opened");
    let workspace = store.read(PATIENT).expect("a snapshot").head().expect("a head").0.workspace;
    println!("\nmade {workspace} {}", instance.token().expect("a token").as_str());
}

// spec: D6
#[test]
fn a_directory_that_cannot_be_written_is_told_as_that() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65534;
    let home = tempfile::tempdir().expect("a directory");
    let closed = home.path().join("closed");
    fs::create_dir(&closed).expect("made");
    let path = closed.join("work.sqlite");
    SqliteStore::create(&path, &new_head()).expect("made");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("closed");
    for directory in [home.path(), &closed] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).expect("closed");
    }
    let mut child = child("child_cannot_write", &path);
    // Root is refused nothing, so a child that is root becomes nobody.
    if rustix::process::geteuid().is_root() {
        child.uid(NOBODY);
    }
    let output = child.output().expect("a child");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("open again");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("open again");
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "a part of another test"]
fn child_cannot_write() {
    let path = std::env::var_os("WORK_TEST_PATH").expect("a path");
    let path = Path::new(&path);
    let beside = path.with_file_name("other.sqlite");
    assert_eq!(SqliteStore::create(&beside, &new_head()), Err(StoreError::ReadOnly));
    assert_eq!(SqliteStore::open(path, Arc::new(Still)).err(), Some(StoreError::ReadOnly));
}
