//! A commit in doubt is settled before anybody is answered.

use crate::world::{World, ask};
use work_core::code::{Code, Coded};
use work_core::port::StoreError;
use work_core::testkit::fakes::{Doubt, Fault};
use work_core::workspace::{AskError, Failure};

const SYNC: StoreError = StoreError::Io("sync");

// spec: D1
#[test]
fn a_write_that_happened_although_its_commit_failed_is_answered_as_done() {
    for doubt in [Doubt::Written, Doubt::Late] {
        let world = World::new();
        world.store.fail_next_commit(Fault::InDoubt(SYNC, doubt));
        let task = world.work.ask(&ask("backups")).expect("it happened");
        assert_eq!(world.task(task.task_id).state, "queued", "{doubt:?}");
        assert_eq!(world.work.tasks(None).expect("a list").tasks.len(), 1);
        assert!(world.work.doctor().expect("looks").ok);
    }
}

// spec: D1
#[test]
fn a_write_that_was_lost_is_answered_as_lost_and_can_be_done_again() {
    let world = World::new();
    world.store.fail_next_commit(Fault::InDoubt(SYNC, Doubt::Lost));
    assert_eq!(world.work.ask(&ask("backups")), Err(AskError::Failed(Failure::Lost(SYNC))));
    assert!(world.work.tasks(None).expect("a list").tasks.is_empty());
    world.ask("backups");
    assert!(world.work.doctor().expect("looks").ok);
}

// spec: D1
#[test]
fn a_doubt_that_cannot_be_settled_is_told_with_the_act() {
    for second in [Fault::NotDone(StoreError::DiskFull), Fault::InDoubt(SYNC, Doubt::Lost)] {
        let world = World::new();
        world.store.fail_next_commit(Fault::InDoubt(SYNC, Doubt::Written));
        world.store.fail_next_commit(second);
        let told = world.work.ask(&ask("backups")).expect_err("unknown");
        assert_eq!(told.code(), Code::UnknownOutcome);
    }
}

// spec: D6
#[test]
fn a_full_disk_is_named_and_nothing_is_written() {
    let world = World::new();
    world.store.fail_next_commit(Fault::NotDone(StoreError::DiskFull));
    let told = world.work.ask(&ask("backups")).expect_err("full");
    assert_eq!((told.code(), world.events()), (Code::DiskFull, 1));
}

// spec: D6
#[test]
fn a_disk_that_was_full_for_one_commit_is_named() {
    let world = World::new();
    world.store.fail_next_commit(Fault::InDoubt(StoreError::DiskFull, Doubt::Lost));
    let told = world.work.ask(&ask("backups")).expect_err("full");
    assert_eq!(told.code(), Code::DiskFull);
}
