//! The head and the event of a batch.

use super::{Checked, first, must};
use crate::audit::AuditEvent;
use crate::folder::Grant;
use crate::memory::tables::Tables;
use crate::port::{Batch, Change, Head, Note, Put};
use crate::time::Anchor;
use std::cmp::Ordering;

/// Whether the batch follows what was there.
pub(super) fn check(was: &Tables, batch: &Batch) -> Checked {
    let head = &batch.head;
    let names = |head: &Head| (head.workspace, head.owner, head.site);
    must(names(head) == names(&was.head), "a batch of another workspace")?;
    first(goes_on(&was.head.anchor, &head.anchor))?;
    first(head.access >= was.head.access && head.looks >= was.head.looks)?;
    match &batch.act {
        Some(act) => event_follows(was, head, &act.event)?,
        None => first((head.acts, head.chain) == (was.head.acts, was.head.chain))?,
    }
    counters_tell(was, batch)
}

/// Whether time does not go back, but where an era begins.
fn goes_on(was: &Anchor, now: &Anchor) -> bool {
    match now.era.cmp(&was.era) {
        Ordering::Less => false,
        Ordering::Equal => now.latest_ms >= was.latest_ms,
        Ordering::Greater => true,
    }
}

/// Whether the event is the next one, and the head ends in it.
fn event_follows(was: &Tables, head: &Head, event: &AuditEvent) -> Checked {
    first(event.seq == was.head.acts + 1 && event.previous == was.head.chain)?;
    must(event.digest == event.computed(), "an event whose digest is not its own")?;
    must((head.acts, head.chain) == (event.seq, event.digest), "a head that skips its event")?;
    must(event.at == head.anchor.now().at, "an event of another moment than its head")?;
    let subject = event.kind().map(|kind| kind.subject());
    must(subject == Some(event.subject), "an event about something else than it says")?;
    must(was.events.iter().all(|old| old.act != event.act), "an act that happened before")
}

/// Whether the counters grew exactly when something happened that they count.
fn counters_tell(was: &Tables, batch: &Batch) -> Checked {
    let access_grew = batch.head.access > was.head.access;
    let looks_grew = batch.head.looks > was.head.looks;
    let looked = batch.notes.iter().any(|note| matches!(note, Note::Look(..)));
    let grants = || batch.act.iter().flat_map(|act| &act.puts).filter_map(granted);
    must(access_grew || !grants().any(|change| moves_access(was, change)), "access moved unseen")?;
    must(!access_grew || looked || grants().next().is_some(), "access grew without a reason")?;
    let approved = grants().next().is_some();
    must(!looks_grew || looked || approved, "looks grew without a look")
}

/// The grant that a change writes.
fn granted(put: &Put) -> Option<&Change<Grant>> {
    if let Put::Grant(change) = put { Some(change) } else { None }
}

/// Whether a change of a grant may hide or show something.
fn moves_access(was: &Tables, change: &Change<Grant>) -> bool {
    let new = change.value();
    was.grants.value(&new.id).is_none_or(|old| {
        (old.state, old.identity, &old.rules) != (new.state, new.identity, &new.rules)
            || (old.approved_at, old.since_look) != (new.approved_at, new.since_look)
    })
}
