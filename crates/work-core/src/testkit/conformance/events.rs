//! The audit log: chained, without gaps, never changed.

use super::Make;
use super::desk::{Desk, nobody};
use crate::audit::{AuditEvent, EventKind};
use crate::digest::Digest;
use crate::id::{ActId, GrantId, TaskId};
use crate::port::{Batch, CommitError, Events};

/// The events that a pick finds.
fn events(desk: &Desk, pick: Events) -> Vec<AuditEvent> {
    desk.ask(|tx| tx.events(pick)).expect("events")
}

/// Their numbers.
fn numbers(desk: &Desk, pick: Events) -> Vec<u64> {
    events(desk, pick).into_iter().map(|event| event.seq).collect()
}

/// Three events, the first and the last about the same folder.
fn three(desk: &Desk) -> (GrantId, Vec<Batch>) {
    let folder = desk.id(GrantId::from_bytes);
    let task = desk.id(TaskId::from_bytes);
    let kinds = [
        EventKind::FolderApproved { folder },
        EventKind::TaskLeased { task, fence: 3 },
        EventKind::FolderRevoked { folder },
    ];
    let batches = kinds.map(|kind| {
        desk.pass(1);
        let batch = desk.event(&kind);
        desk.send(&batch).expect("an event is written");
        batch
    });
    (folder, batches.into())
}

// spec: D4
pub(super) fn events_read_back_as_a_chain_from_the_first(make: Make<'_>) {
    let desk = Desk::new(make);
    let (_, batches) = three(&desk);
    let found = events(&desk, Events::After { seq: 0, most: 10 });
    let written: Vec<_> = batches.into_iter().filter_map(|batch| batch.act).collect();
    assert_eq!(found, written.into_iter().map(|act| act.event).collect::<Vec<_>>());
    let mut previous = AuditEvent::GENESIS;
    for (event, acts) in found.iter().zip(0..) {
        assert!(event.follows(acts, &previous));
        previous = event.digest;
    }
    assert_eq!(desk.head().chain, previous);
}

pub(super) fn events_after_a_number_come_oldest_first_and_bounded(make: Make<'_>) {
    let desk = Desk::new(make);
    assert!(numbers(&desk, Events::After { seq: 0, most: 10 }).is_empty());
    three(&desk);
    assert_eq!(numbers(&desk, Events::After { seq: 0, most: 2 }), [1, 2]);
    assert_eq!(numbers(&desk, Events::After { seq: 1, most: 10 }), [2, 3]);
    assert!(numbers(&desk, Events::After { seq: 3, most: 10 }).is_empty());
    assert!(numbers(&desk, Events::After { seq: 0, most: 0 }).is_empty());
    assert!(numbers(&desk, Events::After { seq: i64::MAX as u64, most: 10 }).is_empty());
}

pub(super) fn events_about_a_subject_come_newest_first_and_bounded(make: Make<'_>) {
    let desk = Desk::new(make);
    let (folder, _) = three(&desk);
    let subject = folder.bytes();
    assert_eq!(numbers(&desk, Events::LatestOf { subject, most: 10 }), [3, 1]);
    assert_eq!(numbers(&desk, Events::LatestOf { subject, most: 1 }), [3]);
    assert!(numbers(&desk, Events::LatestOf { subject: nobody(), most: 10 }).is_empty());
}

// spec: D1
pub(super) fn an_event_is_found_by_its_act(make: Make<'_>) {
    let desk = Desk::new(make);
    let (_, batches) = three(&desk);
    let act = batches[1].act.as_ref().expect("an act").event.act;
    assert_eq!(numbers(&desk, Events::Act(act)), [2]);
    assert!(numbers(&desk, Events::Act(ActId::from_bytes(nobody()))).is_empty());
}

pub(super) fn a_batch_decided_on_an_older_head_is_overtaken(make: Make<'_>) {
    let desk = Desk::new(make);
    let late = desk.event(&EventKind::TaskQueued { task: desk.id(TaskId::from_bytes) });
    three(&desk);
    assert_eq!(desk.refuse(&late), CommitError::Overtaken);
}

pub(super) fn an_act_cannot_happen_twice(make: Make<'_>) {
    let desk = Desk::new(make);
    let act = desk.id(ActId::from_bytes);
    let kind = EventKind::TaskQueued { task: desk.id(TaskId::from_bytes) };
    for first in [true, false] {
        let (head, event) = desk.head().record(act, &kind);
        let batch =
            Batch { head, act: Some(crate::port::Act { event, puts: vec![] }), notes: vec![] };
        if first {
            desk.send(&batch).expect("the first time");
        } else {
            desk.refuse(&batch);
        }
    }
}

pub(super) fn an_event_that_does_not_follow_the_last_one_is_refused(make: Make<'_>) {
    let desk = Desk::new(make);
    three(&desk);
    for forge in [
        (|event: &mut AuditEvent| event.seq += 1) as fn(&mut AuditEvent),
        |event| event.seq -= 1,
        |event| event.previous = AuditEvent::GENESIS,
        |event| event.previous = Digest::of(b"elsewhere"),
    ] {
        let mut batch = desk.event(&EventKind::TaskCancelled { task: desk.id(TaskId::from_bytes) });
        let act = batch.act.as_mut().expect("an act");
        forge(&mut act.event);
        act.event.digest = act.event.computed();
        (batch.head.acts, batch.head.chain) = (act.event.seq, act.event.digest);
        desk.refuse(&batch);
    }
}
