//! Threads that outlive one call of the door: to start one costs more than a look at a few small files.
//!
//! Owns the threads that wait for their next shift, and nothing of what they do. Start at [`Hands::give`].

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Threads that wait for their next shift at most; more than these end with theirs.
const MOST: usize = 4;

/// How long a thread waits for its next shift.
const PATIENCE: Duration = Duration::from_secs(1);

/// All that a thread does for one call.
type Shift = Box<dyn FnOnce() + Send>;

/// The threads of one door. They end when it does.
#[derive(Debug, Default)]
pub(crate) struct Hands(Arc<Rota>);

/// What the threads share.
#[derive(Default)]
struct Rota {
    rest: Mutex<Rest>,
    call: Condvar,
}

/// Who waits, and for what.
#[derive(Default)]
struct Rest {
    /// Shifts that a thread which waits is about to take: never more than wait.
    shifts: VecDeque<Shift>,
    waiting: usize,
    closed: bool,
    /// The process that the threads live in. One that was forked from it has none of them.
    process: u32,
}

impl fmt::Debug for Rota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rota").field("waiting", &self.rest().waiting).finish_non_exhaustive()
    }
}

impl Hands {
    /// Has a thread do `shift`: one that waits, or else a new one. Answers whether the system had one to give.
    pub(crate) fn give(&self, shift: impl FnOnce() + Send + 'static) -> bool {
        let shift: Shift = Box::new(shift);
        let Err(shift) = self.0.give(shift) else { return true };
        let rota = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("work-source".to_owned());
        thread.spawn(move || rota.serve(shift)).is_ok()
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        self.0.rest().closed = true;
        self.0.call.notify_all();
    }
}

impl Rota {
    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives `shift` to a thread that waits; hands it back if none does.
    fn give(&self, shift: Shift) -> Result<(), Shift> {
        let mut rest = self.rest();
        let process = std::process::id();
        if rest.process != process {
            *rest = Rest { process, ..Rest::default() };
        }
        if rest.shifts.len() == rest.waiting {
            return Err(shift);
        }
        rest.shifts.push_back(shift);
        self.call.notify_one();
        Ok(())
    }

    /// What one thread does: shift after shift, until none comes for a while.
    fn serve(&self, first: Shift) {
        let mut next = Some(first);
        while let Some(shift) = next {
            shift();
            next = self.wait();
        }
    }

    /// The next shift, if there is room to wait for one and it comes in time.
    fn wait(&self) -> Option<Shift> {
        let mut rest = self.rest();
        if rest.waiting == MOST {
            return None;
        }
        rest.waiting += 1;
        let nothing = |rest: &mut Rest| rest.shifts.is_empty() && !rest.closed;
        let waited = self.call.wait_timeout_while(rest, PATIENCE, nothing);
        let (mut rest, _) = waited.unwrap_or_else(PoisonError::into_inner);
        rest.waiting -= 1;
        rest.shifts.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::thread::ThreadId;

    /// Has a thread tell who it is.
    fn asked(hands: &Hands) -> Receiver<ThreadId> {
        let (tell, told) = channel();
        assert!(
            hands.give(move || tell.send(std::thread::current().id()).expect("somebody waits"))
        );
        told
    }

    /// Until so many wait.
    fn wait_for(hands: &Hands, waiting: usize) {
        while hands.0.rest().waiting != waiting {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_has_done_its_shift_does_the_next() {
        let hands = Hands::default();
        let first = asked(&hands).recv();
        wait_for(&hands, 1);
        assert_eq!(asked(&hands).recv(), first);
    }

    #[test]
    fn a_shift_waits_for_nobody_who_is_busy() {
        let hands = Hands::default();
        let (go, wait) = channel::<()>();
        assert!(hands.give(move || assert!(wait.recv().is_err(), "let go")));
        asked(&hands).recv().expect("done beside the other");
        drop(go);
    }

    #[test]
    fn no_more_threads_wait_than_the_most() {
        let hands = Hands::default();
        let gates: Vec<_> = (0..MOST + 3)
            .map(|_| {
                let (go, wait) = channel::<()>();
                assert!(hands.give(move || assert!(wait.recv().is_err(), "let go")));
                go
            })
            .collect();
        drop(gates);
        wait_for(&hands, MOST);
        let rota = Arc::downgrade(&hands.0);
        drop(hands);
        // Each thread holds the rota: all have ended.
        while rota.strong_count() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_process_that_was_forked_begins_without_threads() {
        let hands = Hands::default();
        let first = asked(&hands).recv();
        wait_for(&hands, 1);
        // As if another process had been here before.
        hands.0.rest().process += 1;
        assert_ne!(asked(&hands).recv(), first);
    }
}
