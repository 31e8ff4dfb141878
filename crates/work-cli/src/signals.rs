//! What a signal means to a command that works: a flag which it looks at, never an end in the middle of a write.
//!
//! The first one is noticed at the next beat of the work. A second Ctrl-C ends the program at once; the lease then ends
//! by itself, and the next worker takes the task.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use work_core::port::{Go, Pause};

/// The exit code of a command that a signal ended, whichever it was (spec C7).
pub(crate) const INTERRUPTED: u8 = 130;

/// What a person or the system wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C: the work is not wanted any more.
    Interrupt,
    /// This process is to end; the work is still wanted.
    Terminate,
}

/// The signals that have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signals {
    any: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Takes over SIGINT, SIGTERM and, where it is not ignored, SIGHUP, from now to the end of the process.
    pub(crate) fn take() -> Self {
        let signals = Self::default();
        // Each fails only for signals that cannot be handled, which these are not.
        let _ =
            flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), signals.any.clone());
        signals.heed(SIGINT, Signal::Interrupt);
        signals.heed(SIGTERM, Signal::Terminate);
        #[cfg(unix)]
        if !hangup_is_ignored() {
            signals.heed(signal_hook::consts::SIGHUP, Signal::Terminate);
        }
        signals
    }

    /// As if `signal` had arrived.
    #[cfg(test)]
    pub(crate) fn with(signal: Signal) -> Self {
        let signals = Self::default();
        signals.which.store(signal as usize, Ordering::SeqCst);
        signals.any.store(true, Ordering::SeqCst);
        signals
    }

    fn heed(&self, number: i32, signal: Signal) {
        let _ = flag::register_usize(number, self.which.clone(), signal as usize);
        let _ = flag::register(number, self.any.clone());
    }

    /// The latest that arrived.
    pub(crate) fn arrived(&self) -> Option<Signal> {
        let any = self.any.load(Ordering::SeqCst);
        any.then(|| match self.which.load(Ordering::SeqCst) {
            interrupt if interrupt == Signal::Interrupt as usize => Signal::Interrupt,
            _ => Signal::Terminate,
        })
    }
}

impl Pause for Signals {
    fn pause(&self, most: Duration) -> Go {
        let began = Instant::now();
        loop {
            if self.arrived().is_some() {
                return Go::Stop;
            }
            let left = most.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Go::On;
            }
            // Nothing wakes it: a handler may only set a flag. So it looks twenty times a second.
            std::thread::park_timeout(left.min(Duration::from_millis(50)));
        }
    }
}

/// Whether this process was started to outlive its terminal, as `nohup` does.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & 1 == 1
}
