//! What is printed when a command line cannot be read, or asks for help or the version.

use crate::args::Args;
use crate::fault::{About, Fault};
use crate::hint::{self, Program};
use crate::output;
use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;
use work_core::code::Code;

/// Tells what is wrong with the command line, as JSON where that is asked for, or prints what was asked for.
pub(crate) fn end(error: &clap::Error, given: &[OsString]) -> ExitCode {
    if [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion].contains(&error.kind()) {
        // A closed pipe ends it quietly, as everything else.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if wants_json(given) {
        let fault = Fault::new(Code::InvalidArgument, message(error)).about(About::Arguments);
        let program = Program { home: None, command: command(given) };
        print_json(&output::failure_json(&fault, hint::hint(&fault, &program, "")));
    } else {
        let program = Program { home: None, command: command(given) };
        output::say(&told(error, &program));
    }
    Code::InvalidArgument.exit().into()
}

fn print_json(bytes: &[u8]) {
    use std::io::Write as _;
    let _ = std::io::stdout().lock().write_all(bytes);
}

/// The command that was meant, if there is one.
fn command(given: &[OsString]) -> Option<String> {
    let all = Args::command();
    given.iter().skip(1).find_map(|arg| Some(all.find_subcommand(arg)?.get_name().to_owned()))
}

/// Whether `--json` stands among the options.
fn wants_json(given: &[OsString]) -> bool {
    given.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// A usage error for people: as it tells itself, its last words in the form of every other hint.
fn told(error: &clap::Error, program: &Program) -> String {
    let text = visible(&error.render().to_string());
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return text;
    }
    let text = text.split("\nFor more information").next().unwrap_or_default().trim_end();
    format!("{text}\nhint: see what is expected: {}\n", program.help())
}

/// The first paragraph of a usage error, in one line.
fn message(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::MissingRequiredArgument
    {
        return format!("required arguments are missing: {}", missing.join(" "));
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing".to_owned();
    }
    let text = error.render().to_string();
    let first: Vec<&str> =
        text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    first.join(" ").trim_start_matches("error: ").to_owned()
}

/// The text with what a person typed into it made harmless.
fn visible(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => work_core::show::line(line) + "\n",
            None => work_core::show::line(line),
        })
        .collect()
}
