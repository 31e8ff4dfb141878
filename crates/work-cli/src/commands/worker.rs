//! `work worker`: works queued tasks as they come.

use super::{DONE, minute, tasks};
use crate::args::Worker;
use crate::call::Call;
use crate::fault::Ended;
use crate::hint::Program;
use crate::ids;
use crate::open::Opened;
use crate::output::{self, Answer};
use crate::progress::{Line, Work};
use crate::signals::Signals;
use crate::table;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;
use work_core::code::Coded as _;
use work_core::document::wire::{RefreshDoc, TaskDoc, WorkedDoc};
use work_core::id::IdKind;
use work_core::port::{Go, Pause, Watch};
use work_core::result::ResultState;
use work_core::task::Progress;
use work_core::workspace::{Told, Until};

/// Tasks that the document at the end shows.
const SHOWN: usize = 100;
/// How often in a row a busy store is asked again.
const TRIES: u32 = 30;

/// Busy moments in a row. One in which the worker gets on ends the row, however long ago the first of them was.
struct Busy {
    until: Until,
    tries: Cell<u32>,
}

impl Busy {
    const fn new(until: Until) -> Self {
        Self { until, tries: Cell::new(0) }
    }

    /// Whether the store may be asked once more.
    fn again(&self) -> bool {
        let tries = self.tries.get();
        self.tries.set(tries.saturating_add(1));
        tries < TRIES
    }

    /// A task has ended.
    fn worked(&self) {
        self.tries.set(0);
    }

    /// Nothing more is to be done at once. A worker that ends by itself pauses only between tasks, and counts these.
    fn paused(&self) {
        match self.until {
            Until::Stopped => self.tries.set(0),
            Until::Idle => {}
        }
    }
}

pub(super) fn run(worker: &Worker, call: &Call) -> Answer {
    let opened = call.open()?;
    let signals = Signals::take();
    let until = if worker.once { Until::Idle } else { Until::Stopped };
    if until == Until::Stopped {
        call.out.note("Working what is queued. Ctrl-C stops.");
    }
    let line = RefCell::new(call.line(Work::Scan));
    let (busy, ended) = (Busy::new(until), Cell::default());
    let desk = Desk { call, opened: &opened, signals: &signals, line, busy, ended };
    let worked = desk.work()?;
    if call.out.json {
        call.out.document(&worked, |_| String::new())?;
    } else if until == Until::Idle && signals.arrived().is_none() {
        let held =
            opened.work.tasks(None)?.tasks.iter().filter(|task| task.state == "running").count();
        if let Some(left) = left(worked.ended, held, &call.out.program) {
            call.out.note(&left);
        }
    }
    Ok(DONE)
}

/// What a worker that found nothing more to do leaves: `held` of the latest tasks belong to other workers, of which any
/// may be gone.
fn left(ended: u64, held: usize, work: &Program) -> Option<String> {
    let held = match (ended, held) {
        (0, 0) => return Some("Nothing is queued.".to_owned()),
        (_, 0) => return None,
        (_, 1) => format!(
            "1 task is held by another worker; {work} worker takes it over when its lease ends"
        ),
        (_, held) => format!(
            "{held} tasks are held by other workers; {work} worker takes them over when their leases end"
        ),
    };
    Some(format!("Nothing more is queued. {held}, in 30 seconds at most."))
}

/// Where one worker works.
struct Desk<'a> {
    call: &'a Call,
    opened: &'a Opened,
    signals: &'a Signals,
    line: RefCell<Line>,
    busy: Busy,
    /// Why it could not tell what it did, if so.
    ended: Cell<Option<Ended>>,
}

impl Desk<'_> {
    /// Works until it is to end. A store that is busy is asked again, so that several workers get on.
    fn work(&self) -> Result<WorkedDoc, Ended> {
        let (mut shown, mut ended, mut refreshed) = (VecDeque::new(), 0, 0);
        let worker = self.opened.work.new_worker();
        loop {
            let mut told = |told: Told<'_>| match told {
                Told::Task(task) => {
                    self.busy.worked();
                    self.tell(task);
                    ended += 1;
                    if shown.len() == SHOWN {
                        shown.pop_front();
                    }
                    shown.push_back(task.clone());
                }
                Told::Refreshed(found) => {
                    refreshed += 1;
                    self.tell_turned(found);
                }
            };
            let (until, watch) = (self.busy.until, &mut DeskWatch(self));
            let worked = self.opened.work.work(worker, until, self, watch, &mut told);
            self.line.borrow_mut().clear();
            if let Some(ended) = self.ended.take() {
                return Err(ended);
            }
            match worked {
                Ok(()) => return Ok(WorkedDoc { tasks: shown.into(), ended, refreshed }),
                Err(error) if error.code().is_retryable() && self.busy.again() => {
                    self.call.out.note("The database is busy; trying again.");
                    if self.signals.pause(Duration::from_secs(1)) == Go::Stop {
                        return Ok(WorkedDoc { tasks: shown.into(), ended, refreshed });
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// One line for a task that ended. If nobody reads it any more, the worker ends.
    fn tell(&self, task: &TaskDoc) {
        self.line.borrow_mut().clear();
        if self.call.out.json {
            return;
        }
        let id = ids::short(self.opened, IdKind::Task, task.task_id.bytes());
        let (at, query) = (minute(Some(task.updated_at)), tasks::asks(task));
        let came = tasks::came_of(self.opened, std::slice::from_ref(task)).concat();
        let line = format!("{at}  {id}  {}  {came}  {query}", task.state);
        let line = output::width().map_or_else(|| line.clone(), |width| table::cut(&line, width));
        let told = self.call.out.data(&format!("{line}\n"));
        if let Err(ended) = told {
            self.ended.set(Some(ended));
        }
    }

    /// A note for each result that is worth something else than before.
    fn tell_turned(&self, found: &RefreshDoc) {
        self.line.borrow_mut().clear();
        for turned in &found.results {
            let id = ids::short(self.opened, IdKind::Result, turned.artifact_id.bytes());
            let (state, why) = (turned.state.as_str(), turn(turned.state));
            self.call.out.note(&format!("Result {id} is {state} now: {why}."));
        }
        if found.left_out > 0 {
            self.call.out.note(&format!("And {} more results.", found.left_out));
        }
    }

    fn go(&self) -> Go {
        let ended = self.ended.take();
        let is_over = ended.is_some() || self.signals.arrived().is_some();
        self.ended.set(ended);
        if is_over { Go::Stop } else { Go::On }
    }
}

/// What happened to a result that is in this state since the last look.
pub(super) const fn turn(state: ResultState) -> &'static str {
    match state {
        ResultState::SourcesChecked => "its sources are as cited again",
        ResultState::Stale => "a source of it is not as cited any more",
        ResultState::EvidenceUnavailable => "a source of it cannot be looked at",
        ResultState::AccessRemoved => "a source of it must not be read any more",
    }
}

impl Pause for Desk<'_> {
    fn pause(&self, most: Duration) -> Go {
        self.busy.paused();
        match self.go() {
            Go::On => self.signals.pause(most),
            Go::Stop => Go::Stop,
        }
    }
}

struct DeskWatch<'a>(&'a Desk<'a>);

impl Watch for DeskWatch<'_> {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.0.line.borrow_mut().show(progress);
        self.0.go()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a worker that meets busy moments for long, and does `between` after each, is still there.
    fn lasts(until: Until, between: impl Fn(&Busy)) -> bool {
        let busy = Busy::new(until);
        (0..=TRIES).all(|_| {
            let again = busy.again();
            between(&busy);
            again
        })
    }

    // spec: T8
    #[test]
    fn busy_moments_end_a_worker_only_when_they_come_in_a_row() {
        for until in [Until::Stopped, Until::Idle] {
            assert!(!lasts(until, |_| {}), "{until:?}: nothing between");
            assert!(lasts(until, Busy::worked), "{until:?}: a task between");
        }
        assert!(
            lasts(Until::Stopped, Busy::paused),
            "it found the store in order, and nothing to do"
        );
    }
}
