//! How an answer leaves the program: data to standard output, all else to standard error.
//!
//! Owns the JSON envelope, the form of errors for people, and what a closed pipe means. Nothing else in this crate
//! prints.

use crate::args::{Color, Global};
use crate::fault::{self, About, Ended, Fault};
use crate::hint::{self, Program};
use crate::ids::Digits;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use work_core::code::Code;
use work_core::document::wire::{ErrorDoc, Named};
use work_core::show;

/// What a heading of a table looks like.
pub(crate) const HEADING: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// What a command ended with: its exit code, or why it ended early.
pub(crate) type Answer = Result<u8, Ended>;

/// How this call speaks.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// One JSON document instead of text.
    pub(crate) json: bool,
    quiet: bool,
    verbose: bool,
    /// The program, as hints repeat it.
    pub(crate) program: Program,
    /// The instance's directory, as hints name it.
    home: String,
}

/// A success.
#[derive(Serialize)]
struct Success<'a, D> {
    schema: &'static str,
    ok: bool,
    data: &'a D,
}

/// A failure.
#[derive(Serialize)]
struct Failed {
    schema: &'static str,
    ok: bool,
    error: ErrorDoc,
}

impl Output {
    /// As the options say.
    pub(crate) fn new(global: &Global, command: &str, home: String) -> Self {
        let program = Program { home: global.home.clone(), command: Some(command.to_owned()) };
        Self { json: global.json, quiet: global.quiet, verbose: global.verbose, program, home }
    }

    /// Prints the one document of a command: as JSON, or as `people` write it.
    ///
    /// # Errors
    /// [`Ended`] when it cannot be written.
    pub(crate) fn document<D: Named>(
        &self,
        document: &D,
        people: impl FnOnce(&D) -> String,
    ) -> Result<(), Ended> {
        if self.json { self.print(&wrapped(document)?) } else { self.data(&people(document)) }
    }

    /// Prints data for people, with colours where they are wanted.
    ///
    /// # Errors
    /// [`Ended`] when it cannot be written.
    pub(crate) fn data(&self, text: &str) -> Result<(), Ended> {
        let mut stdout = anstream::stdout().lock();
        written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// Prints bytes as they are.
    ///
    /// # Errors
    /// [`Ended`] when they cannot be written.
    pub(crate) fn print(&self, bytes: &[u8]) -> Result<(), Ended> {
        let mut stdout = io::stdout().lock();
        written(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    /// Says something besides the data.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            say(&format!("{text}\n"));
        }
    }

    /// Says more, where more is wanted.
    pub(crate) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            say(&format!("{}\n", text()));
        }
    }

    /// Says which commands come next, each with what it does. Programs are not told.
    pub(crate) fn next(&self, commands: &[(String, &str)]) {
        if self.quiet || self.json || commands.is_empty() {
            return;
        }
        let widest = commands.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
        let lines: Vec<String> = commands
            .iter()
            .map(|(command, what)| {
                format!("  {HINT}{command}{HINT:#}{:1$}  {what}", "", widest - command.len())
            })
            .collect();
        say(&format!("\nNext:\n{}\n", lines.join("\n")));
    }

    /// How much of an id is wanted.
    pub(crate) const fn digits(&self) -> Digits {
        if self.verbose { Digits::All } else { Digits::Fewest }
    }

    /// Whether progress may be shown.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints what is left to say and names the exit code.
    pub(crate) fn end(&self, answer: Answer) -> ExitCode {
        match answer {
            Ok(code) => code.into(),
            Err(Ended::PipeClosed) => ExitCode::SUCCESS,
            Err(Ended::Fault(fault)) => self.failed(&fault),
        }
    }

    fn failed(&self, fault: &Fault) -> ExitCode {
        let code = fault.exit.unwrap_or_else(|| fault.code.exit());
        let hint = hint::hint(fault, &self.program, &self.home);
        // Where the output itself failed, standard error is what is left.
        if self.json && fault.about != About::Output {
            match self.print(&failure_json(fault, hint)) {
                Ok(()) | Err(Ended::PipeClosed) => {}
                Err(Ended::Fault(fault)) => self.tell(&fault, ""),
            }
        } else {
            self.tell(fault, &hint);
        }
        code.into()
    }

    /// A fault for people.
    fn tell(&self, fault: &Fault, hint: &str) {
        let mut text = format!("{ERROR}error:{ERROR:#} {}\n", show::line(&fault.message));
        for more in &fault.more {
            text.push_str(&format!("  {}\n", show::line(more)));
        }
        if !hint.is_empty() {
            text.push_str(&format!("{HINT}hint:{HINT:#} {hint}\n"));
        }
        say(&text);
    }
}

/// The document of a failure.
pub(crate) fn failure_json(fault: &Fault, hint: String) -> Vec<u8> {
    let error = ErrorDoc {
        code: fault.code.as_str(),
        message: fault.message.clone(),
        hint,
        retryable: fault.code.is_retryable(),
        details: fault.details.clone(),
    };
    json(&Failed { schema: ErrorDoc::SCHEMA, ok: false, error }).unwrap_or_default()
}

/// Says something on standard error. Where nobody listens, nothing is lost.
pub(crate) fn say(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// What became of a write.
fn written(done: io::Result<()>) -> Result<(), Ended> {
    match done {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Ended::PipeClosed),
        Err(error) => {
            let code = fault::file_code(error.kind());
            let message = format!("standard output cannot be written: {error}");
            Err(Fault::new(code, message).about(About::Output).into())
        }
    }
}

/// A document for programs without `--json` too: by itself over many lines.
///
/// # Errors
/// [`Ended`] when no JSON can be made of it.
pub(crate) fn bare<D: Named>(document: &D) -> Result<Vec<u8>, Ended> {
    pretty(document)
}

/// A document in the one line that `--json` asks for.
fn wrapped<D: Named>(document: &D) -> Result<Vec<u8>, Ended> {
    json(&Success { schema: D::SCHEMA, ok: true, data: document })
}

/// One line of JSON in which no character does anything to a terminal.
fn json(value: &impl Serialize) -> Result<Vec<u8>, Ended> {
    written_by(value, CompactFormatter)
}

/// The same with a line for each field.
fn pretty(value: &impl Serialize) -> Result<Vec<u8>, Ended> {
    written_by(value, PrettyFormatter::new())
}

fn written_by(value: &impl Serialize, formatter: impl Formatter) -> Result<Vec<u8>, Ended> {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Visible(formatter));
    value.serialize(&mut writer).map_err(|error| {
        Fault::new(Code::Internal, format!("no JSON can be made of it: {error}"))
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// JSON as another formatter writes it, but with hidden characters escaped: the value is the same, and quotations stay
/// harmless on a terminal.
struct Visible<F>(F);

/// What the other formatter does as it likes.
macro_rules! as_before {
    ($($name:ident($($argument:ident: $type:ty)?)),* $(,)?) => {$(
        fn $name<W: ?Sized + io::Write>(&mut self, to: &mut W $(, $argument: $type)?) -> io::Result<()> {
            self.0.$name(to $(, $argument)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Visible<F> {
    as_before! {
        begin_array(), end_array(), begin_array_value(first: bool), end_array_value(),
        begin_object(), end_object(), begin_object_key(first: bool), end_object_key(),
        begin_object_value(), end_object_value(),
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|&(_, c)| show::is_hidden(c)) {
            to.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(to, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        to.write_all(&fragment.as_bytes()[plain..])
    }
}

/// Heeds `--color` before anything is read, since a wrong command line is told in colours too.
pub(crate) fn choose_color(given: &[OsString]) {
    let said =
        given.iter().zip(given.iter().skip(1)).find_map(|(option, value)| match option.to_str() {
            Some("--color") => value.to_str(),
            Some(option) => option.strip_prefix("--color="),
            None => None,
        });
    let last =
        given.last().and_then(|last| last.to_str()).and_then(|last| last.strip_prefix("--color="));
    let choice = match said.or(last).map(|word| clap::ValueEnum::from_str(word, false)) {
        Some(Ok(Color::Always)) => anstream::ColorChoice::Always,
        Some(Ok(Color::Never)) => anstream::ColorChoice::Never,
        Some(Ok(Color::Auto) | Err(_)) | None => anstream::ColorChoice::Auto,
    };
    choice.write_global();
}

/// How wide a line may be: the terminal's width where standard output is one, else what `COLUMNS` says, else any.
pub(crate) fn width() -> Option<usize> {
    let stdout = io::stdout();
    let terminal = stdout.is_terminal().then(|| terminal_size::terminal_size_of(&stdout)).flatten();
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.map(|(width, _)| usize::from(width.0)).or_else(said).filter(|&width| width >= 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: Q9
    #[test]
    fn json_on_a_terminal_moves_no_cursor_and_means_the_same() {
        let text = "a\u{1b}[2J\u{9b}b\u{202e}c\u{e0041}\"\n日本";
        let printed = String::from_utf8(json(&text).expect("JSON")).expect("UTF-8");
        assert_eq!(printed.trim_end().chars().find(|&c| show::is_hidden(c)), None, "{printed}");
        assert_eq!(serde_json::from_str::<String>(&printed).expect("JSON"), text);
        let lines = pretty(&[text, "b"]).expect("JSON");
        assert_eq!(serde_json::from_slice::<[String; 2]>(&lines).expect("JSON"), [text, "b"]);
        assert!(lines.starts_with(b"[\n  \"a\\u001b[2J"), "{}", String::from_utf8_lossy(&lines));
    }
}
