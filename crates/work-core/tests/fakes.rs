//! The fakes do what tests rely on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use work_core::id::{OwnerId, SiteId, WorkerId, WorkspaceId};
use work_core::limits::Limits;
use work_core::memory::MemoryStore;
use work_core::port::{
    Batch, Clock, CommitError, Go, Head, Ids, Patience, Pause, Store, StoreError, Watch,
};
use work_core::task::Progress;
use work_core::testkit::fakes::{
    CountingIds, Doubt, FakeClock, Fault, Faulty, ScriptedPause, Step, StopAfter,
};

/// How long to wait.
fn patience() -> Patience {
    let limits = Limits::standard();
    Patience { lock: limits.lock_wait, whole: limits.transaction }
}

/// A store that may fail.
fn faulty() -> Faulty<MemoryStore> {
    let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
    let clock = Arc::new(FakeClock::at(1000));
    Faulty::new(MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), clock))
}

/// Whether the mark is there.
fn is_marked(store: &impl Store) -> bool {
    let (head, _) = store.read(patience()).expect("a snapshot").head().expect("a head");
    head.refresher.is_some()
}

/// Commits a mark.
fn mark(store: &impl Store) -> Result<(), CommitError> {
    let mut write = store.write(patience()).expect("the write lock");
    let (head, reading) = write.reads().head().expect("a head");
    let (head, now) = head.at(reading);
    let head = Head { refresher: Some((WorkerId::from_bytes([4; 16]), now.at)), ..head };
    write.commit(&Batch { head, act: None, notes: vec![] })
}

#[track_caller]
fn check(fault: Fault, told: CommitError, at_once: bool, at_the_next_lock: bool) {
    let store = faulty();
    store.fail_next_commit(fault);
    assert_eq!(mark(&store), Err(told));
    assert_eq!(is_marked(&store), at_once, "{fault:?}");
    drop(store.write(patience()).expect("the write lock"));
    assert_eq!(is_marked(&store), at_the_next_lock, "{fault:?}");
    mark(&store).expect("a fault happens once");
    assert!(is_marked(store.inner()));
}

#[test]
fn a_commit_fails_as_it_was_told_to() {
    let io = StoreError::Io("sync");
    check(
        Fault::NotDone(StoreError::DiskFull),
        CommitError::NotDone(StoreError::DiskFull),
        false,
        false,
    );
    check(Fault::Overtaken, CommitError::Overtaken, false, false);
    check(Fault::InDoubt(io, Doubt::Written), CommitError::Unknown(io), true, true);
    check(Fault::InDoubt(io, Doubt::Lost), CommitError::Unknown(io), false, false);
    check(Fault::InDoubt(io, Doubt::Late), CommitError::Unknown(io), false, true);
}

#[test]
fn a_clock_moves_only_when_it_is_told_to() {
    let clock = FakeClock::at(1000);
    let first = clock.reading();
    assert_eq!(clock.reading(), first);
    clock.advance(Duration::from_millis(1500));
    clock.set_ahead(Duration::from_secs(1));
    let next = clock.reading();
    assert_eq!((next.wall_ms, next.since_boot_ms, next.boot), (1_002_500, 1500, first.boot));
    clock.reboot();
    let rebooted = clock.reading();
    assert_eq!((rebooted.wall_ms, rebooted.since_boot_ms), (1_002_500, 0));
    assert_ne!(rebooted.boot, first.boot);
    clock.reboot();
    assert_ne!(clock.reading().boot, rebooted.boot);
}

#[test]
fn counted_ids_come_in_one_order_and_their_prefixes_differ() {
    let (one, other) = (CountingIds::new(), CountingIds::new());
    let ids: Vec<[u8; 16]> = (0..50).map(|_| one.fresh()).collect();
    assert!(ids.iter().all(|id| *id == other.fresh()));
    let prefixes: BTreeSet<_> = ids.iter().map(|id| [id[0], id[1]]).collect();
    assert_eq!(prefixes.len(), ids.len());
    assert!(!ids.contains(&CountingIds::from(50).fresh()));
}

#[test]
fn a_watch_stops_at_its_beat_and_a_pause_at_the_end_of_its_script() {
    let half = Progress { files_read: 1, of: 2, entries: 0 };
    let mut watch = StopAfter::beats(2);
    assert_eq!(
        [watch.beat(&half), watch.beat(&half), watch.beat(&half)],
        [Go::On, Go::Stop, Go::Stop]
    );
    assert_eq!(watch.told, Some(half));
    let clock = Arc::new(FakeClock::at(0));
    let steps =
        [Step::Whole, Step::Woken(Duration::from_secs(2)), Step::Woken(Duration::from_secs(99))];
    let pause = ScriptedPause::new(Arc::clone(&clock), steps);
    let ten = Duration::from_secs(10);
    let said: Vec<Go> = (0..5).map(|_| pause.pause(ten)).collect();
    assert_eq!(said, [Go::On, Go::On, Go::On, Go::Stop, Go::Stop]);
    assert_eq!(clock.reading().wall_ms, 22_000);
}
