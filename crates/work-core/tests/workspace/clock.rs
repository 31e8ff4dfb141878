//! A clock that was wrong and ahead, and the owner's word that it is right now.

use crate::world::{AtFirstBeat, World, ask, texts};
use std::time::Duration;
use work_core::audit::EventKind;
use work_core::port::{Events, Patience, Quiet, Store as _, StoreError};
use work_core::proposal::{self, Channel};
use work_core::task::Refusal;
use work_core::testkit::fakes::{Doubt, Fault};
use work_core::workspace::{
    AcceptedClock, ApplyError, AskError, Failure, Repaired, ReportAsk, RunEnding,
};

const DAY: Duration = Duration::from_secs(86_400);
const SYNC: StoreError = StoreError::Io("sync");
const PATIENCE: Patience = Patience { lock: Duration::from_secs(1), whole: Duration::from_secs(3) };

/// The last event of the log, and the moment that it bears.
fn last(world: &World) -> (EventKind, i64) {
    let seq = world.events() - 1;
    let mut tx = world.store.read(PATIENCE).expect("a snapshot");
    let event = tx.events(Events::After { seq, most: 1 }).expect("events").pop().expect("one");
    (event.kind().expect("known"), event.at.seconds())
}

// spec: T6
#[test]
fn time_goes_on_from_the_accepted_clock_and_an_event_tells_it() {
    let world = World::new();
    world.clock.set_ahead(1000 * DAY);
    world.report("backups");
    world.clock.set_back(1000 * DAY);
    world.pass(5);
    let (from_ms, to_ms) = (1_000_005_000 + 86_400_000_000, 1_000_005_000);
    let accepted = world.work.accept_clock().expect("written");
    assert_eq!(accepted, AcceptedClock::SetBack { from_ms, to_ms });
    assert_eq!(last(&world), (EventKind::ClockAccepted { from_ms, to_ms }, 1_000_005));
    assert!(world.work.doctor().expect("looks").ok, "nothing is behind any more");
    assert_eq!(world.report("leave").created_at.expect("known").seconds(), 1_000_005);
}

// spec: T6
#[test]
fn a_clock_that_is_not_behind_changes_nothing() {
    let world = World::new();
    world.pass(5);
    let before = world.events();
    assert_eq!(world.work.accept_clock(), Ok(AcceptedClock::NotBehind));
    world.clock.reboot();
    assert_eq!(world.work.accept_clock(), Ok(AcceptedClock::NotBehind));
    assert_eq!(world.events(), before);
}

// spec: T6
#[test]
fn accepting_the_clock_ends_every_lease_and_the_task_is_worked_again() {
    let world = World::new();
    world.clock.set_ahead(DAY);
    let task = world.ask("backups");
    let mut accept = AtFirstBeat(Some(|| {
        world.clock.set_back(DAY);
        world.work.accept_clock().expect("written");
    }));
    let run = world.work.work_once(world.work.new_worker(), &mut accept).expect("runs");
    assert_eq!(run, Some(RunEnding::Lost(task, Refusal::LeaseEnded)));
    world.work.work_once(world.work.new_worker(), &mut Quiet).expect("works");
    assert_eq!((world.task(task).state, world.task(task).attempt), ("succeeded", 2));
}

// spec: T6 H6
#[test]
fn accepting_the_clock_ends_every_proposal_that_waits() {
    let world = World::new();
    world.clock.set_ahead(DAY);
    let report = world.report("backups");
    world.door.put("/handbook/it/backups.md", "# Backups\n\nBackups are kept for 90 days.\n");
    let repaired = world.work.repair(report.artifact_id, &mut Quiet).expect("worked");
    let Repaired::Proposed(waiting) = repaired else { panic!("no change") };
    world.clock.set_back(DAY);
    world.work.accept_clock().expect("written");
    let fingerprint = waiting.fingerprint.expect("shown");
    let told = world.work.apply(waiting.proposal_id, fingerprint, Channel::Cli, &mut Quiet);
    assert_eq!(told, Err(ApplyError::Refused(proposal::Refusal::Expired)));
    assert_eq!(
        last(&world).0,
        EventKind::ProposalRefused {
            proposal: waiting.proposal_id,
            reason: proposal::Refusal::Expired,
        }
    );
    let repaired = world.work.repair(report.artifact_id, &mut Quiet).expect("worked");
    assert!(matches!(repaired, Repaired::Proposed(_)), "it can be proposed anew");
    assert!(world.work.doctor().expect("looks").ok);
}

// spec: T6 I5
#[test]
fn a_folder_approved_in_the_wrong_future_can_be_revoked() {
    let world = World::empty();
    world.clock.set_ahead(DAY);
    world.approve("/handbook");
    world.clock.set_back(DAY);
    world.work.accept_clock().expect("written");
    assert_eq!(world.revoke("/handbook").change, "revoked");
}

// spec: T6
#[test]
fn everything_made_in_the_wrong_future_can_be_used_and_ended() {
    let world = World::new();
    world.clock.set_ahead(DAY);
    let report = world.report("backups");
    let task = world.ask("leave");
    world.clock.set_back(DAY);
    world.work.accept_clock().expect("written");
    world.door.put("/handbook/it/backups.md", "# Backups\n\nGone.\n");
    assert_eq!(world.show(report.artifact_id).state.as_str(), "stale");
    assert_eq!(world.work.cancel(task).expect("cancelled").state, "cancelled");
    world.revoke("/handbook");
    world.approve("/handbook");
    assert!(texts(&world.report("leave"))[0].contains("March"));
}

// spec: T6 T7
#[test]
fn a_key_from_the_wrong_future_stands_for_nothing() {
    let world = World::new();
    let keyed = |query| ReportAsk { key: Some("k".to_owned()), ..ask(query) };
    world.clock.set_ahead(1000 * DAY);
    world.work.ask(&keyed("backups")).expect("queued");
    assert_eq!(world.work.ask(&keyed("leave")), Err(AskError::KeyConflict));
    world.clock.set_back(1000 * DAY);
    world.work.accept_clock().expect("written");
    world.work.ask(&keyed("leave")).expect("nothing lasts for a thousand days");
}

// spec: D1 T6
#[test]
fn an_acceptance_in_doubt_is_settled() {
    for (doubt, accepted) in [(Doubt::Written, true), (Doubt::Lost, false)] {
        let world = World::new();
        world.clock.set_ahead(DAY);
        world.ask("backups");
        world.clock.set_back(DAY);
        world.store.fail_next_commit(Fault::InDoubt(SYNC, doubt));
        let told = world.work.accept_clock();
        assert_eq!(told.is_ok(), accepted, "{told:?}");
        assert!(accepted || told == Err(Failure::Lost(SYNC)));
        assert_eq!(world.work.doctor().expect("looks").ok, accepted, "the clock is behind or not");
    }
}
