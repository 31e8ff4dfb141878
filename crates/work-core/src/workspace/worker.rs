//! The worker's loop: claim, run, look at the interval, pause, until it is to end.

use super::run::{Claimed, RunEnding, RunError};
use super::survey::{Reading, Sweep};
use super::{Decision, Failure, Moment, Workspace};
use crate::code::Coded;
use crate::document::wire::{RefreshDoc, TaskDoc};
use crate::id::WorkerId;
use crate::port::{Go, Head, Pause, Watch};
use crate::task::Progress;
use crate::time::Timestamp;
use std::convert::Infallible;
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

/// What a worker tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told<'a> {
    /// A task ended.
    Task(&'a TaskDoc),
    /// A look at the interval found results that are worth something else than before.
    Refreshed(&'a RefreshDoc),
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
    /// One that runs until stopped also looks at everything that is quoted, once in an interval of all workers, and tells
    /// what became worth something else. It waits while the store is busy. A worker that is stopped in the middle of a
    /// task gives its lease back.
    ///
    /// # Errors
    /// [`RunError`] when something broke.
    pub fn work(
        &self,
        worker: WorkerId,
        until: Until,
        pause: &dyn Pause,
        watch: &mut dyn Watch,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), RunError> {
        loop {
            let idle = match self.work_once(worker, watch) {
                // Somebody else writes, and more does not follow from that.
                Err(busy) if busy.code().is_retryable() && until == Until::Stopped => true,
                Err(error) => return Err(error),
                Ok(Some(RunEnding::Ended(task))) => {
                    told(Told::Task(&task));
                    false
                }
                Ok(Some(RunEnding::GivenBack(_))) => return Ok(()),
                Ok(Some(RunEnding::Lost(_, _) | RunEnding::Overtaken(_))) => false,
                Ok(None) => true,
            };
            match until {
                Until::Stopped => self.refresh_if_due(worker, watch, told)?,
                Until::Idle => {}
            }
            let wait = if idle { GLANCE } else { Duration::ZERO };
            let ends = idle && until == Until::Idle;
            if ends || pause.pause(wait) == Go::Stop {
                return Ok(());
            }
        }
    }

    /// Looks at everything that is quoted, if no worker has within the interval. A look that was stopped, or met a busy
    /// store, is left to the next interval.
    fn refresh_if_due(
        &self,
        worker: WorkerId,
        watch: &mut dyn Watch,
        told: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), Failure> {
        let mut watch = Listening { watch, heard: Go::On };
        let refreshed = self.take_turn(worker).and_then(|turn| match turn {
            Turn::Mine => self.refresh_as(Reading::Trusting, Sweep::Kept, &mut watch).map(Some),
            Turn::NotYet => Ok(None),
        });
        match refreshed {
            Ok(Some(refreshed)) if watch.heard == Go::On && !refreshed.results.is_empty() => {
                told(Told::Refreshed(&refreshed));
                Ok(())
            }
            Ok(Some(_) | None) => Ok(()),
            Err(busy) if busy.code().is_retryable() => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Takes the lease of whoever looks at the interval, if nobody has it. It is also the interval: until it ends, nobody
    /// looks.
    fn take_turn(&self, worker: WorkerId) -> Result<Turn, Failure> {
        let lasts = self.limits.interval.max(self.limits.refresh);
        let turn = |moment: &Moment| turn(&moment.head, moment.now.at, lasts);
        if self.read(|_, moment| Ok(turn(moment)))? == Turn::NotYet {
            return Ok(Turn::NotYet);
        }
        let taken: Result<Turn, Infallible> = self.act(
            |_, _| Ok(()),
            |(), moment| {
                let until = moment.now.at.plus(lasts);
                let turn = turn(moment);
                let refresher = (turn == Turn::Mine).then_some((worker, until));
                Ok(Decision { refresher, ..Decision::nothing(turn) })
            },
        )?;
        let Ok(turn) = taken;
        Ok(turn)
    }
}

/// Whether a worker may look now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Nobody has looked within the interval.
    Mine,
    /// Somebody has, or is about to.
    NotYet,
}

/// Whose turn it is. A lease that ends later than one taken now would is of a clock that was wrong, and has ended.
fn turn(head: &Head, now: Timestamp, lasts: Duration) -> Turn {
    match head.refresher {
        Some((_, until)) if now < until && until <= now.plus(lasts) => Turn::NotYet,
        Some(_) | None => Turn::Mine,
    }
}

/// A watch that is remembered to have said stop.
struct Listening<'a> {
    watch: &'a mut dyn Watch,
    heard: Go,
}

impl Watch for Listening<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        let go = self.watch.beat(progress);
        if go == Go::Stop {
            self.heard = Go::Stop;
        }
        go
    }
}
