//! Owned threads that touch files, so that whoever waits can leave one behind that hangs (spec G6).
//!
//! Owns threads, their queue, and who hangs where. Knows nothing of files. A job says when it is [`Slot::away`] in the
//! file system; only there can it hang, and only there is it left behind. What comes back from there too late is told
//! so and goes no further, so nothing reaches a probe after the door has returned. Start at [`Crew`].

use crate::hands::Hands;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use work_core::path::HostPath;

/// Finished jobs after which whoever waits is woken, if the queue is long.
const BATCH: usize = 32;

/// Jobs in the queue below which whoever waits is woken for each finished one.
const LOW: usize = 16;

/// Jobs for which whoever waits stays awake.
const FEW: usize = 2;

/// How long at most.
const NAP: Duration = Duration::from_micros(60);

/// How often whoever waits looks for a thread that hangs.
const TICK: Duration = Duration::from_millis(20);

/// What may hang together: all that lies under one root.
pub(crate) type Ground = Arc<HostPath>;

/// A job was left behind while it was in the file system: its answer is no longer wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftBehind;

/// Where one thread is.
#[derive(Debug)]
enum State {
    /// Waiting for a job.
    Idle,
    /// At a job, in our own code.
    Here,
    /// In the file system.
    Away { ground: Ground, since: Instant },
    /// Given up on, in the file system.
    Left { ground: Ground, since: Instant },
    /// Back from there, or ended.
    Gone,
}

/// Where a thread is when its crew ends.
enum Whereabouts {
    /// At a job, in our own code: it is waited for.
    Here,
    /// In the file system, and given up on just now.
    JustLeft,
    /// Waiting, ended, or given up on before.
    Elsewhere,
}

/// One thread, as others see it.
#[derive(Debug)]
pub(crate) struct Slot(Mutex<State>);

impl Slot {
    fn new(state: State) -> Self {
        Self(Mutex::new(state))
    }

    /// The slot of a thread that a test plays.
    #[cfg(test)]
    pub(crate) fn idle() -> Self {
        Self::new(State::Idle)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `call` in the file system under `ground`.
    ///
    /// # Errors
    /// [`LeftBehind`] when nobody waits for it any more.
    pub(crate) fn away<T>(
        &self,
        ground: &Ground,
        call: impl FnOnce() -> T,
    ) -> Result<T, LeftBehind> {
        *self.state() = State::Away { ground: Arc::clone(ground), since: Instant::now() };
        let answer = call();
        let mut state = self.state();
        if matches!(*state, State::Left { .. }) {
            return Err(LeftBehind);
        }
        *state = State::Here;
        Ok(answer)
    }

    /// Says that the call goes on, however long it takes; answers whether anybody still waits for it.
    pub(crate) fn touch(&self) -> bool {
        let mut state = self.state();
        if let State::Away { since, .. } | State::Left { since, .. } = &mut *state {
            *since = Instant::now();
        }
        !matches!(*state, State::Left { .. })
    }

    /// Gives up on the thread if it is away, for `patience` or longer, and tells where and for how long.
    fn leave(&self, patience: Duration) -> Option<(Ground, Duration)> {
        let mut state = self.state();
        let State::Away { ground, since } = &*state else { return None };
        let hangs = since.elapsed();
        if hangs < patience {
            return None;
        }
        let (ground, since) = (Arc::clone(ground), *since);
        *state = State::Left { ground: Arc::clone(&ground), since };
        Some((ground, hangs))
    }

    /// Gives up on the thread if it is away; answers whether it is at a job in our own code. Both in one look: between
    /// two, it could go away.
    fn leave_or_stay(&self) -> Whereabouts {
        let mut state = self.state();
        let (ground, since) = match &*state {
            State::Here => return Whereabouts::Here,
            State::Idle | State::Left { .. } | State::Gone => return Whereabouts::Elsewhere,
            State::Away { ground, since } => (Arc::clone(ground), *since),
        };
        *state = State::Left { ground, since };
        Whereabouts::JustLeft
    }

    /// Ends a job of a thread that was not given up on.
    fn rest(&self) -> Result<(), LeftBehind> {
        let mut state = self.state();
        match *state {
            State::Left { .. } => Err(LeftBehind),
            State::Idle | State::Here | State::Away { .. } | State::Gone => {
                *state = State::Idle;
                Ok(())
            }
        }
    }

    /// Whether it was given up on and is not back.
    fn is_left(&self) -> bool {
        matches!(*self.state(), State::Left { .. })
    }

    /// How long a thread that was given up on has hung under `ground`.
    fn hangs(&self, ground: &Ground) -> Option<Duration> {
        match &*self.state() {
            State::Left { ground: at, since } if at == ground => Some(since.elapsed()),
            State::Left { .. } | State::Idle | State::Here | State::Away { .. } | State::Gone => {
                None
            }
        }
    }
}

/// What the crews of one door share: its threads, and those that were left behind.
#[derive(Debug, Default)]
pub(crate) struct Yard {
    hands: Hands,
    lost: Lost,
}

/// The threads that a door has left behind, until they come back.
#[derive(Debug, Default)]
struct Lost(Mutex<Vec<Arc<Slot>>>);

impl Lost {
    fn slots(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, slot: Arc<Slot>) {
        self.slots().push(slot);
    }

    /// How long a thread has been under `ground` since it last gave a sign. Forgets those that came back.
    fn longest(&self, ground: &Ground) -> Option<Duration> {
        let mut slots = self.slots();
        slots.retain(|slot| slot.is_left());
        slots.iter().filter_map(|slot| slot.hangs(ground)).max()
    }
}

/// What a job does: with the room of its thread, to an answer, if somebody still wants it.
type Errand<D, E> = Box<dyn FnOnce(&mut D, &Slot) -> Result<E, LeftBehind> + Send>;

/// What came of a job.
type Outcome<E> = Result<E, Box<dyn Any + Send>>;

/// A job in the queue.
struct Job<D, E> {
    ground: Ground,
    run: Errand<D, E>,
}

type Queue<D, E> = VecDeque<Job<D, E>>;

/// What the threads share.
struct Board<D, E> {
    table: Mutex<Table<D, E>>,
    work: Condvar,
    news: Condvar,
}

/// What lies on the board.
struct Table<D, E> {
    queue: Queue<D, E>,
    done: Vec<Outcome<E>>,
    closed: bool,
    /// Threads that wait for a job. Waking is a call of the system, so nobody is woken who does not wait.
    idle: usize,
    /// Whether whoever waits for news does so now.
    awaited: bool,
}

impl<D, E> Board<D, E> {
    fn table(&self) -> MutexGuard<'_, Table<D, E>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, begun in the same moment, so that nobody closes in between.
    fn next_for(&self, slot: &Slot) -> Option<Job<D, E>> {
        let mut table = self.table();
        loop {
            if table.closed {
                return None;
            }
            if let Some(job) = table.queue.pop_front() {
                *slot.state() = State::Here;
                return Some(job);
            }
            table.idle += 1;
            table = self.work.wait(table).unwrap_or_else(PoisonError::into_inner);
            table.idle -= 1;
        }
    }

    /// Puts jobs into the queue.
    fn put(&self, put: impl FnOnce(&mut Queue<D, E>)) {
        let mut table = self.table();
        put(&mut table.queue);
        if table.idle > 0 {
            self.work.notify_one();
        }
    }

    /// Puts down what came of a job, if it was not left behind.
    fn finish(&self, outcome: Outcome<E>, slot: &Slot) -> Result<(), LeftBehind> {
        let mut table = self.table();
        slot.rest()?;
        table.done.push(outcome);
        let enough = table.closed || table.done.len() >= BATCH || table.queue.len() < LOW;
        if table.awaited && enough {
            self.news.notify_one();
        }
        Ok(())
    }
}

/// What whoever waits is told.
#[derive(Debug)]
pub(crate) enum News<E> {
    /// A job is done.
    Done(E),
    /// Something hangs there, for this long by now. All jobs there are dropped, and none is to be sent.
    Hangs(Ground, Duration),
}

/// Some threads, each with a `D` of its own, that turn jobs into answers of type `E`.
pub(crate) struct Crew<D, E> {
    board: Arc<Board<D, E>>,
    slots: Vec<Arc<Slot>>,
    threads: usize,
    yard: Arc<Yard>,
    held: Vec<Job<D, E>>,
    patience: Duration,
    open: usize,
}

impl<D: Default + 'static, E: Send + 'static> Crew<D, E> {
    /// A crew of at most `threads` threads of this yard, each taken on when there is a job for it. What takes longer than `patience` hangs, and is left behind.
    pub(crate) fn new(threads: usize, patience: Duration, yard: &Arc<Yard>) -> Self {
        let table = Table {
            queue: VecDeque::new(),
            done: Vec::new(),
            closed: false,
            idle: 0,
            awaited: false,
        };
        let board = Board { table: Mutex::new(table), work: Condvar::new(), news: Condvar::new() };
        Self {
            board: Arc::new(board),
            slots: Vec::new(),
            threads: threads.max(1),
            yard: Arc::clone(yard),
            held: Vec::new(),
            patience,
            open: 0,
        }
    }

    /// Takes on one more thread. If the system has none to give, the others do the work.
    fn hire(&mut self) {
        let slot = Arc::new(Slot::new(State::Idle));
        let (board, at) = (Arc::clone(&self.board), Arc::clone(&slot));
        if self.yard.hands.give(move || serve(&board, &at)) {
            self.slots.push(slot);
        }
    }

    /// Threads that it has at most.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    /// Jobs whose answers are still to come.
    pub(crate) const fn open(&self) -> usize {
        self.open
    }

    /// Adds a job under `ground` at the end of the queue.
    pub(crate) fn send(
        &mut self,
        ground: &Ground,
        run: impl FnOnce(&mut D, &Slot) -> Result<E, LeftBehind> + Send + 'static,
    ) {
        self.add(Job { ground: Arc::clone(ground), run: Box::new(run) }, VecDeque::push_back);
    }

    /// Adds a job under `ground` before all others.
    pub(crate) fn send_first(
        &mut self,
        ground: &Ground,
        run: impl FnOnce(&mut D, &Slot) -> Result<E, LeftBehind> + Send + 'static,
    ) {
        self.add(Job { ground: Arc::clone(ground), run: Box::new(run) }, VecDeque::push_front);
    }

    fn add(&mut self, job: Job<D, E>, put: fn(&mut Queue<D, E>, Job<D, E>)) {
        self.open += 1;
        if self.yard.lost.longest(&job.ground).is_some() {
            self.held.push(job);
            return;
        }
        self.board.put(|queue| put(queue, job));
        // The job lies ready, so that the thread need not wait for it.
        if self.slots.len() < self.threads {
            self.hire();
        }
    }

    /// Waits for news, until `until` at most.
    pub(crate) fn wait(&mut self, until: Instant) -> Vec<News<E>> {
        loop {
            let done = self.done_until(until.min(Instant::now() + TICK));
            if !done.is_empty() {
                self.open -= done.len();
                return done.into_iter().map(|e| News::Done(unwound(e))).collect();
            }
            if let Some((ground, since)) = self.release_held().or_else(|| self.leave_one()) {
                self.drop_jobs(&ground);
                return vec![News::Hangs(ground, since)];
            }
            if Instant::now() >= until {
                return Vec::new();
            }
        }
    }

    /// What is done by `until`, as soon as anything is.
    fn done_until(&self, until: Instant) -> Vec<Outcome<E>> {
        self.linger(until);
        let mut table = self.board.table();
        table.awaited = true;
        let left = until.saturating_duration_since(Instant::now());
        let (mut table, _) = self
            .board
            .news
            .wait_timeout_while(table, left, |table| table.done.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        table.awaited = false;
        std::mem::take(&mut table.done)
    }

    /// Waits for the last few jobs without falling asleep, for a moment: one small file is read in less time than it
    /// takes to be woken.
    fn linger(&self, until: Instant) {
        let end = until.min(Instant::now() + NAP);
        let is_busy = || self.open <= FEW && self.board.table().done.is_empty();
        while is_busy() && Instant::now() < end {
            std::thread::yield_now();
        }
    }

    /// Sends on what waited for an earlier read to end; tells of one that does not.
    fn release_held(&mut self) -> Option<(Ground, Duration)> {
        let (held, free): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|job| self.yard.lost.longest(&job.ground).is_some());
        self.held = held;
        let freed = free.len();
        self.board.table().queue.extend(free);
        self.board.work.notify_all();
        (self.slots.len()..self.threads.min(freed)).for_each(|_| self.hire());
        self.held.iter().find_map(|job| {
            let hangs = self.yard.lost.longest(&job.ground)?;
            (hangs >= self.patience).then(|| (Arc::clone(&job.ground), hangs))
        })
    }

    /// Gives up on one thread that hangs, and takes on another in its place.
    fn leave_one(&mut self) -> Option<(Ground, Duration)> {
        let patience = self.patience;
        let (at, left) = self
            .slots
            .iter()
            .enumerate()
            .find_map(|(at, slot)| Some((at, slot.leave(patience)?)))?;
        self.yard.lost.add(self.slots.swap_remove(at));
        self.open -= 1;
        self.hire();
        Some(left)
    }

    /// Drops all jobs under `ground` that no thread has begun.
    fn drop_jobs(&mut self, ground: &Ground) {
        let mut table = self.board.table();
        let before = table.queue.len() + self.held.len();
        table.queue.retain(|job| job.ground != *ground);
        self.held.retain(|job| job.ground != *ground);
        self.open -= before - table.queue.len() - self.held.len();
    }

    /// Ends the work: takes no more jobs, leaves behind who is away, waits for those who are here, and tells what
    /// they had done.
    pub(crate) fn close(self) -> Vec<E> {
        let done = self.end();
        done.into_iter().map(unwound).collect()
    }
}

impl<D, E> Crew<D, E> {
    fn end(&self) -> Vec<Outcome<E>> {
        let mut table = self.board.table();
        table.closed = true;
        table.awaited = true;
        table.queue.clear();
        self.board.work.notify_all();
        while self.slots.iter().any(|slot| self.is_here(slot)) {
            let woken = self.board.news.wait_timeout(table, Duration::from_millis(1));
            table = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut table.done)
    }

    /// Whether a thread is at a job in our own code. One that is away is left behind.
    fn is_here(&self, slot: &Arc<Slot>) -> bool {
        match slot.leave_or_stay() {
            Whereabouts::Here => true,
            Whereabouts::Elsewhere => false,
            Whereabouts::JustLeft => {
                self.yard.lost.add(Arc::clone(slot));
                false
            }
        }
    }
}

impl<D, E> Drop for Crew<D, E> {
    fn drop(&mut self) {
        self.end();
    }
}

/// What one thread does: job after job, until there are no more or it was left behind.
fn serve<D: Default, E>(board: &Board<D, E>, slot: &Slot) {
    let mut desk = D::default();
    while let Some(job) = board.next_for(slot) {
        let ended = match catch_unwind(AssertUnwindSafe(|| (job.run)(&mut desk, slot))) {
            Ok(Ok(answer)) => board.finish(Ok(answer), slot),
            Ok(Err(LeftBehind)) => Err(LeftBehind),
            Err(panic) => board.finish(Err(panic), slot),
        };
        if ended == Err(LeftBehind) {
            break;
        }
    }
    *slot.state() = State::Gone;
}

/// The answer; a panic of a job goes on in whoever waited for it.
fn unwound<E>(outcome: Outcome<E>) -> E {
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}
