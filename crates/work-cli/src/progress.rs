//! One line on standard error that says how far the work is.
//!
//! Owns when it is drawn and what it may tell: a scan counts the files that were approved, and a look at what is kept
//! counts nothing, since its sources may be those of something hidden (spec R2). A dozen lines of our own do for one
//! counter of files; a crate of bars and templates would bring five more for it.

use crate::args::Progress as How;
use crate::output::say;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;
use work_core::port::{Go, Watch};
use work_core::task::Progress;

/// The line.
#[derive(Debug)]
pub(crate) struct Line {
    way: Way,
    of: Work,
    shown: Option<Instant>,
    last: Option<String>,
    /// Columns that are drawn on now.
    drawn: usize,
}

/// What the line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A look, said in these words.
    Look(&'static str),
    /// A scan, and the looks at what comes of it.
    Scan,
}

impl Work {
    /// A look at the sources of what is kept.
    pub(crate) const SOURCES: Self = Self::Look("Looking at sources");

    /// What is told. Of a scan alone the number of files: nothing but a scan visits entries of a directory.
    fn told(self, progress: &Progress) -> String {
        match self {
            Self::Look(what) => what.to_owned(),
            Self::Scan if progress.entries == 0 => Self::SOURCES.told(progress),
            Self::Scan => format!("Reading: {} of {} files", progress.files_read, progress.of),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Silent,
    /// Drawn over itself.
    Drawn,
    /// Line below line.
    Listed,
}

impl Way {
    /// As `how` says; a terminal that cannot go back to the start of a line gets one below the other.
    const fn of(how: How, terminal: bool, dumb: bool) -> Self {
        match how {
            How::None => Self::Silent,
            How::Plain => Self::Listed,
            How::Auto if terminal && dumb => Self::Listed,
            How::Auto if terminal => Self::Drawn,
            How::Auto => Self::Silent,
        }
    }
}

impl Line {
    /// A line about some work, shown as `how` says.
    pub(crate) fn new(how: How, of: Work) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let way = Way::of(how, std::io::stderr().is_terminal(), dumb);
        Self { way, of, shown: None, last: None, drawn: 0 }
    }

    /// Shows how far it is, at most so often as somebody can read.
    pub(crate) fn show(&mut self, progress: &Progress) {
        let pause = match self.way {
            Way::Silent => return,
            Way::Drawn => Duration::from_millis(100),
            Way::Listed => Duration::from_secs(2),
        };
        let due = self.shown.is_none_or(|shown| shown.elapsed() >= pause);
        if !due || progress.of == 0 {
            return;
        }
        let text = self.of.told(progress);
        if self.last.as_ref() == Some(&text) {
            return;
        }
        match self.way {
            Way::Drawn => say(&self.drawn(&text)),
            Way::Listed | Way::Silent => say(&format!("{text}\n")),
        }
        self.shown = Some(Instant::now());
        self.last = Some(text);
    }

    /// Takes a drawn line away.
    pub(crate) fn clear(&mut self) {
        if self.way == Way::Drawn && self.shown.take().is_some() {
            say(&self.erased());
        }
        self.last = None;
    }

    /// `text` over what stands there. Spaces cover the rest, since an escape sequence does not reach a terminal that
    /// wants no colours.
    fn drawn(&mut self, text: &str) -> String {
        let width = text.width();
        let rest = self.drawn.saturating_sub(width);
        self.drawn = width;
        format!("\r{text}{:rest$}", "")
    }

    /// Nothing over what stands there, and back to the start.
    fn erased(&mut self) -> String {
        self.drawn("") + "\r"
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal shows of its only line after it was sent all this without colours.
    fn screen(sent: &[String]) -> String {
        let (mut cells, mut at) = (Vec::new(), 0);
        for c in anstream::adapter::strip_str(&sent.concat()).to_string().chars() {
            if c == '\r' {
                at = 0;
                continue;
            }
            cells.resize(cells.len().max(at + 1), ' ');
            cells[at] = c;
            at += 1;
        }
        String::from_iter(cells).trim_end().to_owned()
    }

    // spec: C2
    #[test]
    fn a_drawn_line_is_gone_also_where_no_colours_are_wanted() {
        let mut line = Line { way: Way::Drawn, of: Work::Scan, shown: None, last: None, drawn: 0 };
        let mut sent =
            vec![line.drawn("Reading: 1999 of 2000 files"), line.drawn("Reading: 1 of 2 files")];
        assert_eq!(screen(&sent), "Reading: 1 of 2 files");
        sent.extend([line.erased(), "# kappa".to_owned()]);
        assert_eq!(screen(&sent), "# kappa");
    }

    // spec: R2
    #[test]
    fn a_look_counts_nothing_and_a_scan_counts_files() {
        let look = Progress { files_read: 1, of: 6, entries: 0 };
        let scan = Progress { entries: 9, ..look };
        assert_eq!(Work::SOURCES.told(&look), "Looking at sources");
        assert_eq!(Work::SOURCES.told(&scan), "Looking at sources");
        assert_eq!(Work::Scan.told(&look), "Looking at sources");
        assert_eq!(Work::Scan.told(&scan), "Reading: 1 of 6 files");
    }

    // spec: C2
    #[test]
    fn only_a_terminal_that_can_go_back_is_drawn_on() {
        for (terminal, dumb, expected) in [
            (true, false, Way::Drawn),
            (true, true, Way::Listed),
            (false, false, Way::Silent),
            (false, true, Way::Silent),
        ] {
            assert_eq!(Way::of(How::Auto, terminal, dumb), expected, "{terminal} {dumb}");
        }
    }
}
