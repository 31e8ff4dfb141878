//! One call of the program: how it speaks, where its instance is, how it shows progress.

use crate::args::{Global, Progress};
use crate::fault::Fault;
use crate::home::Home;
use crate::output::Output;
use crate::progress::{Line, Work};
use std::io::{self, IsTerminal as _};

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Call {
    /// How it speaks.
    pub(crate) out: Output,
    home: Result<Home, Fault>,
    progress: Progress,
    no_input: bool,
}

impl Call {
    /// As the options of every command say.
    pub(crate) fn new(global: &Global, command: &str) -> Self {
        let home = Home::find(global.home.as_deref());
        let named = home.as_ref().map(|home| crate::hint::quoted_path(&home.path));
        let out = Output::new(global, command, named.unwrap_or_default());
        Self { out, home, progress: global.progress, no_input: global.no_input }
    }

    /// Where the instance is.
    ///
    /// # Errors
    /// [`Fault`] when nothing says where.
    pub(crate) fn home(&self) -> Result<&Home, Fault> {
        self.home.as_ref().map_err(Clone::clone)
    }

    /// Whether somebody sees what is shown and can be asked about it.
    pub(crate) fn can_ask(&self) -> bool {
        let terminals =
            [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
        !self.no_input && !self.out.json && terminals == [true; 3]
    }

    /// A line that shows that the sources of what is kept are looked at.
    pub(crate) fn looking(&self) -> Line {
        self.line(Work::SOURCES)
    }

    /// A line that shows progress as this call wants it.
    pub(crate) fn line(&self, of: Work) -> Line {
        let how = if self.out.is_quiet() { Progress::None } else { self.progress };
        Line::new(how, of)
    }
}
