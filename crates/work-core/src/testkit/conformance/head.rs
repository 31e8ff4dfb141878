//! The head: time and counters, written with every batch, never back but where an era begins.

use super::Make;
use super::desk::Desk;
use crate::audit::EventKind;
use crate::id::{ActId, OwnerId, SiteId, WorkerId, WorkspaceId};
use crate::port::{Act, Batch, Clock, CommitError, Head};
use crate::task::{Ask, RunEnd};
use crate::time::{Anchor, Era};
use std::time::Duration;

pub(super) fn a_new_workspace_is_empty_and_knows_whose_it_is(make: Make<'_>) {
    let desk = Desk::new(make);
    let (head, reading) = desk.ask(|tx| tx.head()).expect("a head");
    let ids = (WorkspaceId::from_bytes([0xa1; 16]), OwnerId::from_bytes([0xa2; 16]));
    let expected = Head::new(ids.0, ids.1, SiteId::from_bytes([0xa3; 16]), reading);
    assert_eq!(head, expected);
    assert!(desk.ask(|tx| tx.folders()).expect("folders").is_empty());
}

pub(super) fn a_head_comes_with_the_clock_read_now(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.pass(7);
    desk.clock.set_back(Duration::from_secs(100));
    let (head, reading) = desk.ask(|tx| tx.head()).expect("a head");
    assert_eq!(reading, desk.clock.reading());
    assert_ne!(head.anchor.since_boot_ms, reading.since_boot_ms, "only a batch moves the head");
}

// spec: T6
pub(super) fn a_head_can_be_written_alone_and_reads_back(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.pass(7);
    desk.clock.reboot();
    desk.clock.set_back(Duration::from_secs(60));
    let now = desk.head();
    assert_eq!(now.anchor.era, Era(1));
    let refresher = Some((desk.id(WorkerId::from_bytes), now.anchor.now().at));
    let head = Head { refresher, ..now };
    let batch = Batch { head: head.clone(), act: None, notes: vec![] };
    desk.send(&batch).expect("a head alone is written");
    assert_eq!(desk.ask(|tx| tx.head()).expect("a head").0, head);
}

// spec: T6
pub(super) fn neither_time_nor_era_goes_back(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.clock.reboot();
    desk.clock.set_back(Duration::from_secs(60));
    desk.approve("/a");
    let mut earlier = desk.batch(vec![], vec![]);
    earlier.head.anchor.latest_ms -= 1;
    assert_eq!(desk.refuse(&earlier), CommitError::Overtaken);
    let mut older = desk.batch(vec![], vec![]);
    older.head.anchor.era = Era(0);
    assert_eq!(desk.refuse(&older), CommitError::Overtaken);
}

// spec: T6
pub(super) fn time_goes_back_exactly_where_an_era_begins(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.clock.set_ahead(Duration::from_secs(9000));
    let grant = desk.approve("/a");
    let task = desk.claim(desk.queue(grant));
    desk.clock.set_back(Duration::from_secs(8000));
    let (ahead, reading) = desk.ask(|tx| tx.head()).expect("a head");
    let back = |era| {
        let mut batch = desk.batch(vec![], vec![]);
        batch.head.anchor = Anchor { era, ..ahead.anchor.accept(reading) };
        batch
    };
    assert_eq!(desk.refuse(&back(Era(0))), CommitError::Overtaken);
    let event = back(Era(1)).head.record(
        desk.id(ActId::from_bytes),
        &EventKind::ClockAccepted { from_ms: ahead.anchor.latest_ms, to_ms: reading.wall_ms },
    );
    let act = Some(Act { event: event.1, puts: vec![] });
    desk.send(&Batch { head: event.0, act, notes: vec![] }).expect("an era begins");
    let head = desk.head();
    assert_eq!((head.anchor.latest_ms, head.anchor.era), (reading.wall_ms, Era(1)));
    assert_eq!(desk.refuse(&back(Era(0))), CommitError::Overtaken, "no era comes again");
    desk.keep(desk.ending(task.id, Ask::Cancel, RunEnd::Cancelled));
}

pub(super) fn no_counter_goes_back(make: Make<'_>) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let look = desk.a_look(grant, crate::source::Seen::Missing);
    desk.note(vec![crate::port::Note::Look(source, crate::port::Change::New(look))]);
    for undo in [
        (|head: &mut Head| head.access -= 1) as fn(&mut Head),
        |head| head.looks -= 1,
        |head| head.acts -= 1,
    ] {
        let mut batch = desk.batch(vec![], vec![]);
        undo(&mut batch.head);
        desk.refuse(&batch);
    }
}

pub(super) fn the_log_does_not_grow_without_an_event(make: Make<'_>) {
    let desk = Desk::new(make);
    desk.approve("/a");
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.acts += 1;
    desk.refuse(&batch);
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.chain = crate::audit::AuditEvent::GENESIS;
    desk.refuse(&batch);
}

pub(super) fn a_batch_of_another_workspace_is_refused(make: Make<'_>) {
    let desk = Desk::new(make);
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.workspace = desk.id(WorkspaceId::from_bytes);
    desk.refuse(&batch);
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.owner = desk.id(OwnerId::from_bytes);
    desk.refuse(&batch);
}
