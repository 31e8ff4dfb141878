//! A task worked in the foreground: how far it is, what a signal does to it, and where it is when it is left to others.

use super::DONE;
use crate::call::Call;
use crate::ids;
use crate::open::Opened;
use crate::output::Answer;
use crate::progress::{Line, Work};
use crate::signals::{Signal, Signals};
use std::time::Duration;
use work_core::document::wire::TaskDoc;
use work_core::id::{IdKind, TaskId, WorkerId};
use work_core::port::{Go, Pause, Watch};
use work_core::task::Progress;
use work_core::workspace::{CancelError, Workspace};

/// Works the task here by `finish`, which waits for whoever has it. A signal ends it in order.
pub(super) fn work<T>(
    call: &Call,
    opened: &Opened,
    signals: &Signals,
    task: TaskId,
    finish: impl FnOnce(WorkerId, &dyn Pause, &mut dyn Watch) -> T,
) -> T {
    let stop = Stop { work: &opened.work, task, signals };
    let mut watch = Foreground { stop: &stop, line: call.line(Work::Scan) };
    finish(opened.work.new_worker(), &stop, &mut watch)
}

/// What a signal does to the task in the foreground.
pub(super) struct Stop<'a> {
    pub(super) work: &'a Workspace,
    pub(super) task: TaskId,
    pub(super) signals: &'a Signals,
}

impl Stop<'_> {
    /// Ctrl-C cancels in the record first (spec C9); whatever else ends this process leaves the task to the next
    /// worker. A task that cannot be cancelled now is left, too.
    fn heed(&self) -> Go {
        match self.signals.arrived() {
            None => Go::On,
            Some(Signal::Interrupt) => {
                let _ = self.work.cancel(self.task);
                Go::Stop
            }
            Some(Signal::Terminate) => Go::Stop,
        }
    }
}

impl Pause for Stop<'_> {
    fn pause(&self, most: Duration) -> Go {
        match self.signals.pause(most) {
            Go::On => Go::On,
            // A task that is cancelled, or had ended before it could be, is read from the record once more and told
            // as what it is.
            Go::Stop if self.signals.arrived() == Some(Signal::Interrupt) => {
                match self.work.cancel(self.task) {
                    Ok(_) | Err(CancelError::Refused(_)) => Go::On,
                    Err(CancelError::Unknown | CancelError::Failed(_)) => Go::Stop,
                }
            }
            Go::Stop => Go::Stop,
        }
    }
}

struct Foreground<'a> {
    stop: &'a Stop<'a>,
    line: Line,
}

impl Watch for Foreground<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.line.show(progress);
        self.stop.heed()
    }
}

/// A look that any signal ends.
pub(super) struct UntilSignal<'a> {
    pub(super) signals: &'a Signals,
    pub(super) line: Line,
}

impl Watch for UntilSignal<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.line.show(progress);
        if self.signals.arrived().is_some() { Go::Stop } else { Go::On }
    }
}

/// Says where a task is that somebody else will work, or what became of it.
pub(super) fn detached(call: &Call, opened: &Opened, task: &TaskDoc) -> Answer {
    let short = ids::short(opened, IdKind::Task, task.task_id.bytes());
    call.out.document(task, |task| format!("Task {short}: {}\n", task.state))?;
    let work = &call.out.program;
    let result = task.artifact_id.map(|id| ids::short(opened, IdKind::Result, id.bytes()));
    let proposal = task.proposal_id.map(|id| ids::short(opened, IdKind::Proposal, id.bytes()));
    let became = (format!("{work} tasks"), "see what became of it");
    let unwanted = (format!("{work} cancel {short}"), "if it is not wanted any more");
    call.out.next(&match (task.state, proposal, result) {
        ("queued", _, _) => {
            vec![(format!("{work} worker --once"), "work what is queued"), became, unwanted]
        }
        ("running", _, _) => vec![became, unwanted],
        (_, Some(proposal), _) => {
            vec![(format!("{work} review {proposal}"), "see what it would change, and decide")]
        }
        ("succeeded", None, Some(result)) => {
            vec![(format!("{work} show {result}"), "see what came of it")]
        }
        (_, None, _) => vec![became],
    });
    Ok(DONE)
}
