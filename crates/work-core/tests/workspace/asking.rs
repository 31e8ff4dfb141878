//! Asking: what is queued, what is refused, and what a key stands for.

use crate::world::{World, ask};
use work_core::code::{Code, Coded};
use work_core::id::GrantId;
use work_core::port::Quiet;
use work_core::workspace::{AskError, ReportAsk};

fn keyed(query: &str, key: &str) -> ReportAsk {
    ReportAsk { key: Some(key.to_owned()), ..ask(query) }
}

// spec: I7
#[test]
fn before_a_folder_is_approved_nothing_is_queued() {
    let world = World::empty();
    let refused = world.work.ask(&ask("backups")).expect_err("refused");
    assert_eq!(refused.code(), Code::SetupIncomplete);
    assert_eq!((world.events(), world.work.tasks(None).expect("a list").tasks.len()), (0, 0));
}

// spec: T1
#[test]
fn a_task_is_durable_before_its_request_returns() {
    let world = World::new();
    let task = world.ask("backups");
    assert_eq!((world.task(task).state, world.task(task).attempt), ("queued", 0));
}

// spec: T1
#[test]
fn the_twenty_first_task_is_refused_and_one_that_ends_makes_room() {
    let world = World::new();
    let tasks: Vec<_> = (0..20).map(|n| world.ask(&format!("backups {n}"))).collect();
    assert_eq!(world.work.ask(&ask("leave")), Err(AskError::QueueFull(20)));
    world.work.cancel(tasks[7]).expect("cancelled");
    world.ask("leave");
}

// spec: Q2
#[test]
fn a_folder_that_was_never_approved_cannot_be_searched() {
    let world = World::new();
    let stranger = GrantId::from_bytes([9; 16]);
    let asked = ReportAsk { folders: Some(vec![stranger]), ..ask("backups") };
    assert_eq!(world.work.ask(&asked), Err(AskError::UnknownFolder(stranger)));
}

// spec: Q2
#[test]
fn a_report_searches_the_folders_named_and_no_other() {
    let world = World::new();
    world.approve("/notes");
    let only = ReportAsk { folders: Some(vec![world.grant("/notes")]), ..ask("backups kept") };
    let report = world.work.report(&only, &mut Quiet).expect("a report");
    assert_eq!(crate::world::texts(&report), ["Old backups were kept on tape."]);
    assert_eq!(report.folders, Some(vec![world.grant("/notes")]));
}

// spec: T7
#[test]
fn the_same_key_within_a_day_returns_the_first_task() {
    let world = World::new();
    let first = world.work.ask(&keyed("backups", "k")).expect("queued");
    world.pass(24 * 60 * 60 - 1);
    assert_eq!(world.work.ask(&keyed("backups", "k")).expect("the first").task_id, first.task_id);
    world.pass(1);
    assert_ne!(world.work.ask(&keyed("backups", "k")).expect("another").task_id, first.task_id);
}

// spec: T7
#[test]
fn the_same_key_with_another_request_is_a_conflict() {
    let world = World::new();
    world.work.ask(&keyed("backups", "k")).expect("queued");
    for other in [
        keyed("leave", "k"),
        ReportAsk { folders: Some(vec![world.grant("/handbook")]), ..keyed("backups", "k") },
    ] {
        assert_eq!(world.work.ask(&other), Err(AskError::KeyConflict));
    }
}

// spec: T7
#[test]
fn a_key_is_answered_before_the_queue_is_asked_for_room() {
    let world = World::new();
    let first = world.work.ask(&keyed("backups", "k")).expect("queued");
    for n in 0..19 {
        world.ask(&format!("backups {n}"));
    }
    assert_eq!(world.work.ask(&keyed("backups", "k")).expect("the first").task_id, first.task_id);
}

// spec: T6
#[test]
fn a_clock_set_back_makes_no_key_young_again() {
    let world = World::new();
    let first = world.work.ask(&keyed("backups", "k")).expect("queued");
    world.pass(25 * 60 * 60);
    world.ask("something that is written");
    world.clock.set_back(std::time::Duration::from_secs(25 * 60 * 60));
    assert_ne!(world.work.ask(&keyed("backups", "k")).expect("another").task_id, first.task_id);
}
