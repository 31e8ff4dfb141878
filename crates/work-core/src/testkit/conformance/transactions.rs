//! Snapshots, the write lock, all or nothing.

use super::Make;
use super::desk::{Desk, PATIENCE};
use super::picture::Picture;
use crate::port::{Change, Patience, Put, StoreError};
use crate::proposal::{Approval, Channel, Fingerprint};
use std::time::Duration;

pub(super) fn a_snapshot_stays_of_one_moment_while_others_write(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let mut snapshot = desk.store.read(PATIENCE).expect("a snapshot");
    let before = Picture::of(&mut *snapshot);
    desk.report(grant, &[source]);
    desk.approve("/b");
    assert_eq!(Picture::of(&mut *snapshot), before);
    drop(snapshot);
    assert_ne!(desk.picture(), before);
}

pub(super) fn a_snapshot_is_of_the_moment_at_which_it_was_opened(make: Make<'_>) {
    let desk = Desk::new(make);
    let mut snapshot = desk.store.read(PATIENCE).expect("a snapshot");
    desk.approve("/a");
    assert!(snapshot.folders().expect("folders").is_empty());
}

pub(super) fn a_reader_is_not_kept_waiting_by_a_writer(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.approve("/a");
    let held = desk.store.write(PATIENCE).expect("the write lock");
    assert_eq!(desk.ask(|tx| tx.folders()).expect("folders").len(), 1);
    drop(held);
}

pub(super) fn the_writer_sees_the_latest_and_nobody_changes_it(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.approve("/a");
    let mut held = desk.store.write(PATIENCE).expect("the write lock");
    assert_eq!(Picture::of(held.reads()), desk.picture());
    assert!(desk.store.write(PATIENCE).is_err());
    assert_eq!(held.reads().folders().expect("folders").len(), 1);
}

pub(super) fn the_write_lock_is_one_and_the_next_is_told_busy(make: Make<'_>) {
    let desk = Desk::new(make);
    let held = desk.store.write(PATIENCE).expect("the write lock");
    let hurry = Patience { lock: Duration::ZERO, ..PATIENCE };
    for patience in [PATIENCE, hurry] {
        assert_eq!(desk.store.write(patience).err(), Some(StoreError::Busy));
    }
    drop(held);
    desk.store.write(hurry).expect("the lock is free again after it was dropped");
}

pub(super) fn the_lock_is_free_again_after_a_commit_and_after_a_refusal(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.approve("/a");
    let mut stale = desk.batch(vec![], vec![]);
    stale.head.anchor.latest_ms -= 1;
    desk.refuse(&stale);
    desk.approve("/b");
}

pub(super) fn dropping_a_lock_changes_nothing(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.approve("/a");
    let before = desk.picture();
    let mut held = desk.store.write(PATIENCE).expect("the write lock");
    held.reads().folders().expect("folders");
    drop(held);
    assert_eq!(desk.picture(), before);
}

pub(super) fn a_batch_whose_last_change_is_refused_leaves_nothing_behind(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let result = desk.report(grant, &[source]);
    let proposal = desk.propose_repair(result);
    let mut puts = vec![Put::Grant(Change::New(desk.a_grant("/b")))];
    puts.extend(desk.applying(proposal.id, &[source]));
    let used = puts.pop().expect("an approval");
    puts.push(Put::Task(Change::New(desk.a_task(vec![grant], crate::task::TaskKind::Report))));
    puts.push(Put::Approval(Approval {
        fingerprint: Fingerprint(proposal.body),
        proposal: crate::id::ProposalId::from_bytes(super::desk::nobody()),
        channel: Channel::Cli,
        at: desk.now().at,
    }));
    desk.refuse_puts(puts.clone());
    *puts.last_mut().expect("an approval") = used;
    desk.keep(puts);
}

pub(super) fn a_batch_whose_last_note_is_refused_leaves_nothing_behind(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let look = desk.a_look(grant, crate::source::Seen::Missing);
    let note = || crate::port::Note::Look(source, Change::New(look));
    let puts = vec![Put::Grant(Change::New(desk.a_grant("/b")))];
    desk.overtaken(puts, vec![note(), note()]);
}
