//! `doctor --accept-clock`: the way out after the clock was wrong and ahead.
//!
//! Time never goes back by itself, so that nothing ended comes to life again. Only the owner may say that the time acted
//! on was never true. Then an era begins, and all that was pending in the one before has ended, leases too.

use super::{Decision, Failure, Workspace};
use crate::audit::EventKind;
use crate::port::Head;
use crate::time::Reading;

/// What came of accepting the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedClock {
    /// The clock is not behind: there was nothing to accept, and nothing changed.
    NotBehind,
    /// Time goes on from the clock, and everything that was pending has ended.
    SetBack {
        /// The time until then, in milliseconds since the epoch.
        from_ms: i64,
        /// The clock, from which time goes on.
        to_ms: i64,
    },
}

impl Workspace {
    /// Lets time go on from the wall clock, where that is behind the latest time acted on. Every pending proposal and
    /// every lease ends, also the one of the worker that looks at the interval.
    ///
    /// # Errors
    /// [`Failure`] when the records cannot be written.
    pub fn accept_clock(&self) -> Result<AcceptedClock, Failure> {
        let mut tx = self.store.write(self.patience())?;
        let (head, reading) = tx.reads().head()?;
        match from(&head, reading) {
            None => Ok(AcceptedClock::NotBehind),
            Some(from_ms) => {
                let to_ms = reading.wall_ms;
                let head = Head { anchor: head.anchor.accept(reading), refresher: None, ..head };
                let answer = AcceptedClock::SetBack { from_ms, to_ms };
                let kind = EventKind::ClockAccepted { from_ms, to_ms };
                self.commit(tx, head, Decision::act(answer, kind, Vec::new()))
            }
        }
    }
}

/// The time at `reading`, in milliseconds, if the wall clock is behind it.
fn from(head: &Head, reading: Reading) -> Option<i64> {
    let now_ms = head.anchor.advance(reading).latest_ms;
    (reading.wall_ms < now_ms).then_some(now_ms)
}
