//! `log`: the audit log as it is.

use super::{Failure, Workspace};
use crate::audit::AuditEvent;
use crate::document::wire::{EventDoc, LogDoc};
use crate::port::Events;
use serde_json::{Map, Value};

impl Workspace {
    /// Events after number `after`, the oldest first, 100 at a time; `next` is the number to go on after.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn log(&self, after: u64) -> Result<LogDoc, Failure> {
        let most = self.limits.list;
        let mut events =
            self.read(|tx, _| tx.events(Events::After { seq: after, most: most + 1 }))?;
        let more = events.len() > most as usize;
        events.truncate(most as usize);
        let next = events.last().filter(|_| more).map(|last| last.seq);
        Ok(LogDoc { events: events.iter().map(document).collect(), next })
    }

    /// How many events there are: from which number a reader of the latest begins.
    ///
    /// # Errors
    /// [`Failure`] when the store does not answer.
    pub fn events(&self) -> Result<u64, Failure> {
        self.read(|_, moment| Ok(moment.head.acts))
    }
}

/// An event as documents show it: what it holds besides its kind are ids and numbers.
fn document(event: &AuditEvent) -> EventDoc {
    let known = event.kind().and_then(|kind| serde_json::to_value(kind).ok());
    let mut ids: Map<String, Value> =
        known.and_then(|value| value.as_object().cloned()).unwrap_or_default();
    let kind = ids.remove("kind").and_then(|kind| kind.as_str().map(str::to_owned));
    EventDoc {
        seq: event.seq,
        act: event.act,
        at: event.at,
        kind,
        ids,
        digest: event.digest,
        previous: event.previous,
    }
}
