//! One line on standard error that says how far the work is.
//!
//! Owns when it is drawn. A dozen lines of our own do for one counter of files; a crate of bars and templates would
//! bring five more for it.

use crate::args::Progress as How;
use crate::output::say;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use work_core::port::{Go, Watch};
use work_core::task::Progress;

/// The line.
#[derive(Debug)]
pub(crate) struct Line {
    way: Way,
    what: &'static str,
    shown: Option<Instant>,
    last: Option<Progress>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Silent,
    /// Drawn over itself.
    Drawn,
    /// Line below line.
    Listed,
}

impl Line {
    /// A line about `what`, shown as `how` says.
    pub(crate) fn new(how: How, what: &'static str) -> Self {
        let way = match how {
            How::None => Way::Silent,
            How::Plain => Way::Listed,
            How::Auto if std::io::stderr().is_terminal() => Way::Drawn,
            How::Auto => Way::Silent,
        };
        Self { way, what, shown: None, last: None }
    }

    /// Shows how far it is, at most so often as somebody can read.
    pub(crate) fn show(&mut self, progress: &Progress) {
        let pause = match self.way {
            Way::Silent => return,
            Way::Drawn => Duration::from_millis(100),
            Way::Listed => Duration::from_secs(2),
        };
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= pause);
        if !due || progress.of == 0 || self.last == Some(*progress) {
            return;
        }
        let text = format!("{}: {} of {} files", self.what, progress.files_read, progress.of);
        match self.way {
            Way::Drawn => say(&format!("\r{text}\x1b[K")),
            Way::Listed | Way::Silent => say(&format!("{text}\n")),
        }
        self.shown = Some(Instant::now());
        self.last = Some(*progress);
    }

    /// Takes a drawn line away.
    pub(crate) fn clear(&mut self) {
        if self.way == Way::Drawn && self.shown.take().is_some() {
            say("\r\x1b[K");
        }
        self.last = None;
    }
}

impl Watch for Line {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.show(progress);
        Go::On
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.clear();
    }
}
