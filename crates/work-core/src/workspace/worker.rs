//! The worker's loop: claim, run, pause, until it is to end.

use super::Workspace;
use super::run::{Claimed, RunEnding, RunError};
use crate::code::Coded;
use crate::document::wire::TaskDoc;
use crate::id::WorkerId;
use crate::port::{Go, Pause, Watch};
use std::time::Duration;

/// How long a worker waits at most before it looks for work again.
const GLANCE: Duration = Duration::from_secs(1);

/// When a worker ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When nothing waits any more.
    Idle,
    /// Only when the pause or the watch says so.
    Stopped,
}

impl Workspace {
    /// Works one task, the oldest that is free; `None` if there is none.
    ///
    /// # Errors
    /// [`RunError`] when something broke; the task is then left to the next worker.
    pub fn work_once(
        &self,
        worker: WorkerId,
        watch: &mut dyn Watch,
    ) -> Result<Option<RunEnding>, RunError> {
        match self.claim(worker, None)? {
            Claimed::Leased(leased) => self.run(*leased, watch).map(Some),
            Claimed::Ended(task) => Ok(Some(RunEnding::Ended(Box::new(self.task(task)?)))),
            Claimed::Held | Claimed::Over | Claimed::Nothing => Ok(None),
        }
    }

    /// Works tasks as they come and tells each that ended, until the pause or the watch says stop, or, with
    /// [`Until::Idle`], until nothing waits.
    ///
    /// A worker that is stopped in the middle of a task gives its lease back. One that runs until stopped waits while the
    /// store is busy.
    ///
    /// # Errors
    /// [`RunError`] when something broke.
    pub fn work(
        &self,
        worker: WorkerId,
        until: Until,
        pause: &dyn Pause,
        watch: &mut dyn Watch,
        told: &mut dyn FnMut(&TaskDoc),
    ) -> Result<(), RunError> {
        loop {
            let idle = match self.work_once(worker, watch) {
                // Somebody else writes, and more does not follow from that.
                Err(busy) if busy.code().is_retryable() && until == Until::Stopped => true,
                Err(error) => return Err(error),
                Ok(Some(RunEnding::Ended(task))) => {
                    told(&task);
                    false
                }
                Ok(Some(RunEnding::GivenBack(_))) => return Ok(()),
                Ok(Some(RunEnding::Lost(_, _) | RunEnding::Overtaken(_))) => false,
                Ok(None) => true,
            };
            let wait = if idle { GLANCE } else { Duration::ZERO };
            let ends = idle && until == Until::Idle;
            if ends || pause.pause(wait) == Go::Stop {
                return Ok(());
            }
        }
    }
}
