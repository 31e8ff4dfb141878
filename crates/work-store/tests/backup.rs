//! Copies of the records, and instances made of them.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::schema_1::{self, dump, shipped};
use support::*;
use work_core::audit::{AuditEvent, EventKind};
use work_core::digest::Digest;
use work_core::id::*;
use work_core::port::*;
use work_core::time::Era;
use work_store::instance::{Instance, InstanceError};
use work_store::sqlite::{AsIs, BackupError, Depth, SqliteStore};

/// Looks at a file.
fn look_at(path: &Path) -> SqliteStore {
    match SqliteStore::open_as_is(path, Arc::new(Still)).expect("a database") {
        AsIs::Present(store) => store,
        AsIs::Older => panic!("an older schema"),
    }
}

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("a list")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A workspace with so much in it that copying takes a while.
fn large() -> World {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    world.result(vec![cited(1, source)]);
    let document = |n: u32| {
        let bytes = vec![n as u8; 700 + n as usize];
        Put::Document { digest: Digest::of(&bytes), bytes }
    };
    world.put((0..1500).map(document).collect());
    world
}

// spec: D5
#[test]
fn a_backup_holds_everything_for_the_owner_alone_and_needs_no_file_beside_it() {
    let world = large();
    let home = tempfile::tempdir().expect("a directory");
    let to = home.path().join("copy.sqlite");
    let made = world.store.backup(&to).expect("made");
    let found = to.metadata().expect("there");
    assert_eq!((found.permissions().mode() & 0o7777, found.nlink()), (0o600, 1));
    let head = world.head();
    assert_eq!((made.events, made.chain, made.size_bytes), (head.acts, head.chain, found.len()));
    let copy = look_at(&to);
    assert_eq!(copy.inspect(Depth::Full).expect("looked at").faults, []);
    assert_eq!(copy.read(PATIENT).expect("a snapshot").head().expect("a head").0, head);
    drop(copy);
    assert_eq!(names(home.path()), ["copy.sqlite"], "looking leaves nothing beside it");
    assert_eq!(dump(&to), dump(&world.path));
}

// spec: D5
#[test]
fn a_backup_takes_no_others_place() {
    let world = World::new();
    let home = tempfile::tempdir().expect("a directory");
    let taken = home.path().join("taken");
    fs::write(&taken, "mine").expect("written");
    let dangling = home.path().join("dangling");
    std::os::unix::fs::symlink("nowhere", &dangling).expect("linked");
    for to in [&taken, &dangling, &world.path] {
        assert!(matches!(world.store.backup(to), Err(BackupError::Exists(_))), "{to:?}");
    }
    assert_eq!(fs::read_to_string(&taken).expect("readable"), "mine");
    assert_eq!(names(home.path()), ["dangling", "taken"]);
    let lost = world.store.backup(&home.path().join("no/such/place"));
    assert!(matches!(lost, Err(BackupError::Io { .. })));
}

// spec: D5
#[test]
fn a_backup_is_of_one_moment_while_others_write() {
    let world = large();
    let home = tempfile::tempdir().expect("a directory");
    let to = |n: u32| home.path().join(format!("{n}.sqlite"));
    let ended = AtomicBool::new(false);
    let others = open(&world.path);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let (mut n, kind) =
                (0_u64, EventKind::TaskQueued { task: TaskId::from_bytes([0; 16]) });
            while n < 20 || !ended.load(Ordering::Relaxed) {
                let mut tx = others.write(PATIENT).expect("the lock");
                let (head, reading) = tx.reads().head().expect("a head");
                let act = ActId::from_bytes(world.ids.fresh());
                let (head, event) = head.at(reading).0.record(act, &kind);
                let act = Some(Act { event, puts: Vec::new() });
                tx.commit(&Batch { head, act, notes: Vec::new() }).expect("written");
                n += 1;
            }
            n
        });
        let made: Vec<_> = (0..5).map(|n| world.store.backup(&to(n))).collect();
        ended.store(true, Ordering::Relaxed);
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        writer.join().expect("no panic")
    });
    assert!(written >= 20, "the writer waited for nobody");
    for n in 0..5 {
        let copy = look_at(&to(n));
        assert_eq!(copy.inspect(Depth::Full).expect("looked at").faults, []);
        let mut tx = copy.read(PATIENT).expect("a snapshot");
        let head = tx.head().expect("a head").0;
        let events = tx.events(Events::After { seq: 0, most: 5000 }).expect("events");
        let last = events.iter().zip(0..).fold(AuditEvent::GENESIS, |last, (event, acts)| {
            assert!(event.follows(acts, &last));
            event.digest
        });
        assert_eq!((events.len() as u64, last), (head.acts, head.chain));
    }
}

// spec: D5
#[test]
fn a_backup_that_is_stopped_leaves_nothing() {
    let world = large();
    let home = tempfile::tempdir().expect("a directory");
    let to = home.path().join("copy.sqlite");
    let mut asked = 0;
    let go = move || {
        asked += 1;
        if asked < 2 { Go::On } else { Go::Stop }
    };
    let stopped = world.store.backup_while(&to, go);
    assert!(matches!(stopped, Err(BackupError::Stopped)), "{stopped:?}");
    assert_eq!(names(home.path()), [""; 0]);
    assert!(world.store.backup(&to).is_ok());
}

/// A part of the next test: backs up where no file may grow large.
#[test]
#[ignore = "a part of another test"]
fn child_backs_up() {
    let path = |name| PathBuf::from(std::env::var_os(name).expect("a path"));
    let refused = open(&path("WORK_TEST_PATH")).backup(&path("WORK_TEST_TO"));
    let told =
        matches!(refused, Err(BackupError::Store(StoreError::Io("write") | StoreError::DiskFull)));
    assert!(told, "{refused:?}");
}

// spec: D5 D6
#[test]
fn a_backup_that_finds_no_room_leaves_nothing() {
    let world = large();
    assert!(
        world.path.metadata().expect("there").len() > 200_000 || names(world.home.path()).len() > 1
    );
    let home = tempfile::tempdir().expect("a directory");
    let child = Command::new("sh")
        .args([
            "-c",
            r#"trap "" XFSZ; ulimit -f 128; exec "$0" --exact child_backs_up --ignored --quiet"#,
        ])
        .arg(std::env::current_exe().expect("this program"))
        .env("WORK_TEST_PATH", &world.path)
        .env("WORK_TEST_TO", home.path().join("copy.sqlite"))
        // A pipe: the limit would count for a long log of these tests, too.
        .output()
        .expect("started");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    assert_eq!(names(home.path()), [""; 0]);
}

#[test]
fn a_backup_goes_to_any_name_also_by_a_link_to_its_directory() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    let home = tempfile::tempdir().expect("a directory");
    let real = home.path().join("real");
    fs::create_dir(&real).expect("made");
    std::os::unix::fs::symlink(&real, home.path().join("link")).expect("linked");
    let odd = std::ffi::OsStr::from_bytes(b"a?b%41 '\"\xff.sqlite");
    let to = home.path().join("link").join(odd);
    world.store.backup(&to).expect("made");
    assert!(real.join(odd).is_file());
    assert_eq!(look_at(&to).inspect(Depth::Full).expect("looked at").faults, []);
}

// spec: D5
#[test]
fn what_is_looked_at_is_neither_written_nor_locked() {
    let world = large();
    let copy = look_at(&world.path);
    let before = dump(&world.path);
    assert_eq!(copy.write(PATIENT).err(), Some(StoreError::ReadOnly));
    assert_eq!(copy.read(PATIENT).expect("a snapshot").head().expect("a head").0, world.head());
    world.grant("/b");
    assert_eq!(copy.read(PATIENT).expect("a snapshot").head().expect("a head").0, world.head());
    assert_ne!(dump(&world.path), before);
}

// spec: D2 D5
#[test]
fn a_file_of_the_schema_before_is_told_and_not_touched() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("old.sqlite");
    fs::copy(shipped(), &path).expect("copied");
    let before = fs::read(&path).expect("readable");
    assert!(matches!(SqliteStore::open_as_is(&path, Arc::new(Still)), Ok(AsIs::Older)));
    assert!(fs::read(&path).expect("readable") == before);
    assert_eq!(names(home.path()), ["old.sqlite"]);
}

// spec: D5 D6
#[test]
fn what_is_no_database_is_told() {
    let home = tempfile::tempdir().expect("a directory");
    let path = |name| home.path().join(name);
    fs::write(path("text"), "notes of mine\n".repeat(100)).expect("written");
    fs::write(path("empty"), "").expect("written");
    rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RUSR).expect("made");
    for (name, expected) in [
        ("text", StoreError::Damaged),
        ("empty", StoreError::Foreign),
        ("fifo", StoreError::Foreign),
        (".", StoreError::Foreign),
        ("nothing", StoreError::Io("find")),
    ] {
        let told = SqliteStore::open_as_is(&path(name), Arc::new(Still)).err();
        assert_eq!(told, Some(expected), "{name}");
    }
}

/// A sound workspace in which something of everything has happened, and a backup of it.
fn backed_up(home: &Path) -> (SqliteStore, PathBuf) {
    let path = home.join("lived-in.sqlite");
    fs::copy(shipped(), &path).expect("copied");
    let (store, to) = (open(&path), home.join("backup.sqlite"));
    store.backup(&to).expect("made");
    (store, to)
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(Still)
}

// spec: I1 D5
#[test]
fn an_instance_is_made_of_a_backup_with_a_token_of_its_own() {
    let home = tempfile::tempdir().expect("a directory");
    let (store, backup) = backed_up(home.path());
    let desk = home.path().join("desk");
    let instance = Instance::create_from(&backup, &desk, &clock()).expect("made");
    assert_eq!(instance.exposed().expect("looked at"), []);
    assert_eq!(names(&desk), ["token", "token.header", "work.sqlite"]);
    let other = Instance::create_from(&backup, home.path().join("other"), &clock()).expect("made");
    assert_ne!(instance.token().expect("one"), other.token().expect("one"));
    let made = instance.store(clock()).expect("opened");
    let (was, is) = (head(&store), head(&made));
    assert_eq!(
        (is.workspace, is.owner, is.acts, is.chain),
        (was.workspace, was.owner, was.acts, was.chain)
    );
    assert_eq!(made.inspect(Depth::Full).expect("looked at").faults, []);
    assert!(made.write(PATIENT).is_ok());
}

fn head(store: &SqliteStore) -> Head {
    store.read(PATIENT).expect("a snapshot").head().expect("a head").0
}

// spec: H6 T6
#[test]
fn nothing_that_waited_or_was_leased_in_a_backup_can_be_used_again() {
    let home = tempfile::tempdir().expect("a directory");
    let (_, backup) = backed_up(home.path());
    let instance =
        Instance::create_from(&backup, home.path().join("desk"), &clock()).expect("made");
    let made = instance.store(clock()).expect("opened");
    let (now, mut tx) = (head(&made).anchor.now(), made.read(PATIENT).expect("a snapshot"));
    assert_eq!(now.era, Era(1));
    let ids = [ProposalId::from_bytes(schema_1::WAITING)];
    let waiting = tx.proposals(Proposals::Ids(&ids)).expect("proposals").remove(0).value;
    assert!(!waiting.lasts(now));
    let ids = [TaskId::from_bytes(schema_1::RUNNING)];
    let running = tx.tasks(Tasks::Ids(&ids)).expect("tasks").remove(0).task.value;
    let work_core::task::TaskState::Running(lease) = running.state else { panic!("it runs") };
    assert!(!lease.lasts(now));
}

// spec: I1
#[test]
fn an_instance_takes_no_others_place() {
    let home = tempfile::tempdir().expect("a directory");
    let (_, backup) = backed_up(home.path());
    let desk = home.path().join("desk");
    let first = Instance::create(&desk, &Counted::default(), &Still).expect("made");
    let before = first.token().expect("one");
    let refused = Instance::create_from(&backup, &desk, &clock());
    assert!(matches!(refused, Err(InstanceError::Exists(_))));
    assert_eq!(first.token().expect("one"), before);
    for left in ["work.sqlite-wal", "notes.md"] {
        let place = home.path().join(left);
        fs::create_dir(&place).expect("made");
        fs::write(place.join(left), "of others").expect("written");
        let refused = Instance::create_from(&backup, &place, &clock());
        assert!(matches!(refused, Err(InstanceError::Occupied(_))), "{left}");
        assert_eq!(names(&place), [left]);
    }
}

// spec: I1 D2
#[test]
fn an_instance_is_made_of_a_file_of_the_schema_before_which_stays_as_it_is() {
    let home = tempfile::tempdir().expect("a directory");
    let old = home.path().join("old.sqlite");
    fs::copy(shipped(), &old).expect("copied");
    let before = fs::read(&old).expect("readable");
    let instance = Instance::create_from(&old, home.path().join("desk"), &clock()).expect("made");
    let made = instance.store(clock()).expect("opened");
    assert_eq!(head(&made).workspace.bytes(), schema_1::WORKSPACE);
    assert!(fs::read(&old).expect("readable") == before);
    assert_eq!(names(home.path()), ["desk", "old.sqlite"]);
}

/// Makes an instance of a backup after `sql`; it must be refused, and nothing be there.
#[track_caller]
fn check_refused(sql: &str, expected: StoreError) {
    let home = tempfile::tempdir().expect("a directory");
    let (_, backup) = backed_up(home.path());
    let raw = rusqlite::Connection::open(&backup).expect("opens");
    raw.execute_batch(sql).expect(sql);
    drop(raw);
    let desk = home.path().join("desk");
    match Instance::create_from(&backup, &desk, &clock()) {
        Err(InstanceError::Backup { source, .. }) => assert_eq!(source, expected, "{sql}"),
        other => panic!("{sql}: {other:?}"),
    }
    assert_eq!(names(&desk), [""; 0], "{sql}");
}

// spec: I1 D6
#[test]
fn what_is_no_sound_backup_becomes_no_instance() {
    check_refused("PRAGMA application_id = 7", StoreError::Foreign);
    check_refused("PRAGMA user_version = 3", StoreError::Newer);
    check_refused("DROP TRIGGER event_fixed", StoreError::Damaged);
    check_refused(
        "DROP TRIGGER event_fixed; UPDATE event SET at = at + 1 WHERE seq = 3",
        StoreError::Damaged,
    );
    check_refused(
        "UPDATE document SET bytes = CAST(x'20' || substr(bytes, 2) AS BLOB)",
        StoreError::Damaged,
    );
    check_refused("UPDATE head SET looks = looks + 1; DELETE FROM quotation", StoreError::Damaged);
}
