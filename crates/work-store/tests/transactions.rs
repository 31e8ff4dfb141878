//! Snapshots, the write lock, and batches that are made as a whole or not at all.

mod support;

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::*;
use work_core::audit::EventKind;
use work_core::digest::Digest;
use work_core::id::*;
use work_core::port::*;
use work_core::task::Task;
use work_core::time::{Anchor, Era};

#[test]
fn a_snapshot_stays_as_it_was_while_others_write() {
    let world = World::new();
    let mut before = world.read();
    world.grant("/a");
    assert_eq!(before.folders().expect("folders").len(), 0);
    assert_eq!(before.head().expect("a head").0.acts, 0);
    assert_eq!(world.read().folders().expect("folders").len(), 1);
}

#[test]
fn a_snapshot_is_pinned_when_it_is_opened_and_not_at_its_first_question() {
    let world = World::new();
    let mut before = world.read();
    world.grant("/a");
    assert_eq!(before.head().expect("a head").0.acts, 0);
}

#[test]
fn readers_keep_no_writer_waiting() {
    let world = World::new();
    let mut readers: Vec<_> = (0..3).map(|_| world.read()).collect();
    for reader in &mut readers {
        reader.head().expect("a head");
    }
    let other = open(&world.path);
    assert!(other.write(HASTY).is_ok());
    world.grant("/a");
}

#[test]
fn a_fifth_reader_of_one_store_waits_for_its_turn() {
    let world = World::new();
    let readers: Vec<_> = (0..4).map(|_| world.read()).collect();
    let hasty = Patience { whole: Duration::from_millis(20), ..HASTY };
    assert_eq!(world.store.read(hasty).err(), Some(StoreError::Busy));
    drop(readers);
    assert!(world.store.read(hasty).is_ok());
}

#[track_caller]
fn check_busy(store: &work_store::sqlite::SqliteStore) {
    let start = Instant::now();
    assert_eq!(store.write(HASTY).err(), Some(StoreError::Busy));
    assert!(start.elapsed() >= HASTY.lock, "it waited");
    assert!(start.elapsed() < HASTY.whole, "it did not wait for ever");
}

// spec: D1
#[test]
fn the_write_lock_is_one_for_all_stores_on_a_file() {
    let world = World::new();
    let other = open(&world.path);
    let mut held = world.store.write(PATIENT).expect("the lock");
    held.reads().head().expect("a head");
    check_busy(&other);
    check_busy(&world.store);
    assert!(other.read(HASTY).is_ok(), "reading goes on");
    drop(held);
    assert!(other.write(HASTY).is_ok());
}

/// Runs one ignored test of this binary in a process of its own.
fn child(test: &str, path: &std::path::Path) -> Command {
    let mut child = Command::new(std::env::current_exe().expect("this binary"));
    child.args(["--ignored", "--exact", test, "--nocapture"]).env("WORK_TEST_PATH", path);
    child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    child
}

// spec: D1
#[test]
fn the_write_lock_holds_between_processes_and_goes_with_its_process() {
    let world = World::new();
    let mut child = child("child_holds_the_lock", &world.path).spawn().expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("the lock is held")));
    check_busy(&world.store);
    child.kill().expect("killed");
    child.wait().expect("gone");
    assert!(world.store.write(HASTY).is_ok());
    assert_eq!(world.head(), new_head());
}

#[test]
#[ignore = "a part of another test"]
fn child_holds_the_lock() {
    let store = open(std::env::var_os("WORK_TEST_PATH").expect("a path").as_ref());
    let _held = store.write(PATIENT).expect("the lock");
    println!("\nthe lock is held");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_lock_that_is_dropped_changes_nothing() {
    let world = World::new();
    drop(world.store.write(PATIENT).expect("the lock"));
    assert_eq!(world.head(), new_head());
}

#[test]
fn a_batch_that_fails_in_the_middle_leaves_nothing_of_it() {
    let world = World::new();
    let grant = world.grant("/a");
    let before = world.head();
    let sound = Put::Source { id: world.id(SourceId::from_bytes), grant: grant.id, path: rel("a") };
    let again = Put::Grant(Change::New(grant.clone()));
    assert_eq!(world.try_put(vec![sound, again]), Err(CommitError::Overtaken));
    assert_eq!(world.head(), before);
    let under = Sources::Under { grant: grant.id, after: None, most: 9 };
    assert_eq!(world.read().sources(under).expect("sources").len(), 0);
    assert!(world.store.write(HASTY).is_ok(), "the lock is free");
}

#[test]
fn a_commit_after_its_time_is_not_done() {
    let world = World::new();
    let late = Patience { whole: Duration::ZERO, ..PATIENT };
    let tx = world.store.write(late).expect("the lock");
    let batch = Batch { head: world.head(), act: None, notes: vec![] };
    assert_eq!(tx.commit(&batch), Err(CommitError::NotDone(StoreError::TooSlow)));
}

#[test]
fn a_change_of_another_version_is_overtaken() {
    let world = World::new();
    let task = queued(world.id(TaskId::from_bytes));
    world.put(vec![Put::Task(Change::New(task.clone()))]);
    let change = |version| {
        let changed = Task { attempts: 1, ..task.clone() };
        world.try_put(vec![Put::Task(Change::From(Version(version), changed))])
    };
    assert_eq!(change(2), Err(CommitError::Overtaken));
    assert_eq!(change(1), Ok(()));
    assert_eq!(change(1), Err(CommitError::Overtaken));
    assert_eq!(change(2), Ok(()));
}

#[track_caller]
fn check_head(change: impl FnOnce(Head) -> Head, expected: Result<(), CommitError>) {
    let world = World::new();
    world.put(vec![]);
    let start = Head { access: 3, looks: 4, ..world.head() };
    let start = Head { anchor: Anchor { era: Era(2), ..start.anchor }, ..start };
    world.commit(&Batch { head: start.clone(), act: None, notes: vec![] }).expect("written");
    let batch = Batch { head: change(start), act: None, notes: vec![] };
    assert_eq!(world.commit(&batch), expected);
}

// spec: T6
#[test]
fn no_part_of_the_head_goes_back() {
    let back = Err(CommitError::Overtaken);
    check_head(|head| head, Ok(()));
    check_head(|head| Head { access: 2, ..head }, back);
    check_head(|head| Head { looks: 3, ..head }, back);
    check_head(|head| Head { acts: 0, chain: new_head().chain, ..head }, back);
    check_head(|head| Head { acts: 2, ..head }, back);
    check_head(|head| Head { workspace: WorkspaceId::from_bytes([9; 16]), ..head }, back);
    let anchor = |change: fn(&mut Anchor)| {
        move |mut head: Head| {
            change(&mut head.anchor);
            head
        }
    };
    check_head(anchor(|anchor| anchor.latest_ms -= 1), back);
    check_head(anchor(|anchor| anchor.era = Era(1)), back);
    check_head(anchor(|anchor| anchor.since_boot_ms -= 1), Ok(()));
}

#[track_caller]
fn check_event(change: impl FnOnce(&mut Batch)) {
    let world = World::new();
    world.put(vec![]);
    let task = TaskId::from_bytes([5; 16]);
    let mut batch = world.batch(&EventKind::TaskQueued { task }, vec![], vec![]);
    change(&mut batch);
    assert_eq!(world.commit(&batch), Err(CommitError::Overtaken));
    assert_eq!(world.head().acts, 1);
}

// spec: D4
#[test]
fn an_event_that_does_not_follow_the_last_one_is_refused() {
    check_event(|batch| batch.act.as_mut().expect("an act").event.seq = 3);
    check_event(|batch| batch.act.as_mut().expect("an act").event.bytes.push(b' '));
    check_event(|batch| batch.head.acts = 3);
    check_event(|batch| batch.head.chain = Digest::of(b"other"));
    check_event(|batch| batch.act = None);
    check_event(|batch| {
        let kind = EventKind::TaskQueued { task: TaskId::from_bytes([5; 16]) };
        let fork = new_head().record(ActId::from_bytes([6; 16]), &kind);
        (batch.head, batch.act) = (fork.0, Some(Act { event: fork.1, puts: vec![] }));
    });
}

#[test]
fn an_act_is_recorded_once() {
    let world = World::new();
    let kind = EventKind::TaskQueued { task: TaskId::from_bytes([5; 16]) };
    let act = ActId::from_bytes([6; 16]);
    let commit = || {
        let (head, event) = world.head().record(act, &kind);
        world.commit(&Batch { head, act: Some(Act { event, puts: vec![] }), notes: vec![] })
    };
    assert_eq!(commit(), Ok(()));
    assert_eq!(commit(), Err(CommitError::Overtaken));
}

// spec: D2
#[test]
fn a_schema_that_becomes_newer_while_a_store_is_open_is_left_alone() {
    let world = World::new();
    world.grant("/a");
    world.raw().execute_batch("PRAGMA user_version = 3").expect("set");
    assert_eq!(world.store.read(PATIENT).err(), Some(StoreError::Newer));
    assert_eq!(world.store.write(PATIENT).err(), Some(StoreError::Newer));
}

#[test]
fn numbers_beyond_what_is_stored_are_a_fault_and_not_another_number() {
    let world = World::new();
    let head = Head { looks: u64::MAX, ..world.head() };
    let done = world.commit(&Batch { head, act: None, notes: vec![] });
    assert!(matches!(done, Err(CommitError::NotDone(StoreError::Internal(_)))));
    assert_eq!(world.head().looks, 0);
}

#[test]
fn eight_threads_lose_no_act() {
    let world = World::new();
    std::thread::scope(|threads| {
        for thread in 0..8_u8 {
            let world = &world;
            threads.spawn(move || {
                let store = open(&world.path);
                for n in 0..5_u8 {
                    let mut tx = store.write(PATIENT).expect("the lock");
                    let (head, _) = tx.reads().head().expect("a head");
                    let act = ActId::from_bytes([[thread, n]; 8].concat().try_into().expect("16"));
                    let kind = EventKind::TaskQueued { task: TaskId::from_bytes([thread; 16]) };
                    let (head, event) = head.record(act, &kind);
                    let act = Some(Act { event, puts: vec![] });
                    assert_eq!(tx.commit(&Batch { head, act, notes: vec![] }), Ok(()));
                }
            });
        }
    });
    let mut chain = (0, new_head().chain);
    for event in world.read().events(Events::After { seq: 0, most: 100 }).expect("events") {
        assert!(event.follows(chain.0, &chain.1));
        chain = (event.seq, event.digest);
    }
    assert_eq!(chain.0, 40);
}
