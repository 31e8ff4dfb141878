//! What may be said to the program.
//!
//! Owns names, forms and help texts of commands and options. What an argument means is asked of the core: a state, a
//! query, rules of a folder. Start at [`Command`].

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory as _, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use work_core::proposal::Fingerprint;
use work_core::workspace::{FailOn, NoSuchDefect, StateFilter};

/// Answers that stay tied to the exact bytes of the files they came from
#[derive(Debug, Parser)]
#[command(
    name = "work",
    version,
    max_term_width = 80,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "\
Begin with:
  work report --folder ~/notes how long are backups kept

The directory of the instance is --home, else $WORK_HOME, else
$XDG_DATA_HOME/work. Nothing leaves this machine; no source is ever changed."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    /// Print the version
    #[arg(short = 'V', long, action = ArgAction::Version, help_heading = "Options of every command")]
    version: Option<bool>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Where the instance is [default: ~/.local/share/work]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print one JSON document, also of a failure; what completions, man, schema,
    /// --help and --version print stays as it is
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) color: Color,
    /// Show progress: auto, none or plain
    #[arg(
        long,
        global = true,
        value_name = "HOW",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true
    )]
    pub(crate) progress: Progress,
    /// Never ask
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Say nothing but data and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: whole ids, times, where the instance is
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// Print this help
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// One line that is drawn anew, on a terminal only
    Auto,
    /// Not at all
    None,
    /// A line now and then
    Plain,
}

/// A command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create the instance, or give it a new token
    Init(Init),
    /// Approve a folder: what is in it may be read
    Approve(Approve),
    /// End a folder's approval and hide what came from it
    Revoke(Revoke),
    /// List the folders that are or were approved
    Folders,
    /// Search the approved folders and keep the answer
    Report(Report),
    /// List the kept answers
    List(List),
    /// Show a kept answer, with its sources looked at now
    Show(Show),
    /// See which answers need somebody, and what to do
    #[command(after_help = "\
A file whose identity, size and times are as they were when it was read is taken
to hold the same bytes. check, refresh, show, review, compare, apply and restore
read every byte again.")]
    Status,
    /// Fail if what is quoted is not as it was
    Check(Check),
    /// Look at every file that is quoted
    #[command(after_help = "\
Reads every byte again and keeps what it saw. It changes no answer. Exits 3 when
not every file was reached in time.")]
    Refresh,
    /// Look for a result's next revision in its sources
    Repair(Repair),
    /// List what was proposed and waits for approval
    Proposals(Proposals),
    /// See what a proposal would change, and decide
    Review(Review),
    /// Make a proposal the accepted revision
    Apply(Apply),
    /// Say no to a proposal
    Dismiss(Dismiss),
    /// List the revisions of a kept answer
    History(History),
    /// Compare an earlier revision with the accepted one
    Compare(Compare),
    /// Prepare to bring an earlier revision back
    Restore(Restore),
    /// List what was asked for
    Tasks(Tasks),
    /// Cancel a task
    Cancel(Cancel),
    /// Work queued tasks until stopped
    Worker(Worker),
    /// Write an answer down for somebody else
    Export(Export),
    /// Compare an export with the files that are here
    Verify(Verify),
    /// Check the instance and its records
    Doctor(Doctor),
    /// Copy all records into a new file
    Backup(Backup),
    /// Print the audit log
    Log(Log),
    /// Print the JSON Schema of a document
    Schema(Schema),
    /// Print completions for a shell
    Completions(Completions),
    /// Print the manual pages
    Man(Man),
}

/// `work init`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An instance that is there stays as it is. `work approve` and `work report
--folder` create it by themselves.

An instance made from a backup gets a token of its own. Nothing can be applied
any more that waited when the backup was made.

Examples:
  work init
  work --home ~/second init --from work.backup")]
pub(crate) struct Init {
    /// Make it from a backup, where there is none
    #[arg(long, value_name = "FILE", conflicts_with = "new_token")]
    pub(crate) from: Option<PathBuf>,
    /// Replace the access token
    #[arg(long)]
    pub(crate) new_token: bool,
}

/// `work approve`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Approving again with rules replaces all rules of the folder; without, it keeps
them. Text and Markdown are read unless --ext says otherwise.

Examples:
  work approve ~/notes
  work approve ~/notes --ext md,txt --exclude drafts --exclude '*.old.md'")]
pub(crate) struct Approve {
    /// The folder
    pub(crate) dir: PathBuf,
    /// Extensions that are read
    #[arg(long, value_name = "EXT", value_delimiter = ',')]
    pub(crate) ext: Vec<String>,
    /// Files and directories that are not read; may be given again
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Read names that begin with a dot, too
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Do not heed .gitignore, .ignore and .workignore
    #[arg(long)]
    pub(crate) no_ignore: bool,
}

/// `work revoke`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is deleted: approving the folder again shows it again. The directory
need not be there any more. A name that is both is taken for the directory.

Examples:
  work revoke ~/notes
  work revoke 1a2b")]
pub(crate) struct Revoke {
    /// The folder, or the first digits of its id
    #[arg(value_name = "DIR|ID")]
    pub(crate) folder: OsString,
}

/// `work report`
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "work report [OPTIONS] QUERY...\n       work report [OPTIONS] -- QUERY...",
    after_help = "\
Any word may match. A phrase in quotes must appear as it is, and a word after a
hyphen must not. The shell takes quotes away, so quote the quotes.

Examples:
  work report --folder ~/notes how long are backups kept
  work report backups -draft              not where it says draft
  work report '\"kept for 35 days\"'        exactly these words
  work report -- --folder                 words that look like options

Ctrl-C cancels the task. SIGTERM and SIGHUP leave it to the next worker."
)]
pub(crate) struct Report {
    /// Search this folder only, and approve it; may be given again
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Vec<PathBuf>,
    /// Queue the task and leave it to a worker
    #[arg(long)]
    pub(crate) detach: bool,
    /// Asking again with this key within a day answers the first task
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// What to search for
    #[arg(value_name = "QUERY")]
    pub(crate) words: Vec<String>,
}

/// `work list`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A list shows what the last looks found; `work show` looks anew.

Examples:
  work list
  work list --state stale")]
pub(crate) struct List {
    /// Only answers in this state: sources_checked, stale,
    /// evidence_unavailable or access_removed
    #[arg(long, value_name = "STATE", value_parser = ValueParser::new(state))]
    pub(crate) state: Option<StateFilter>,
    /// Where to go on, as the list before said
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

/// `work show`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  work show 1a2b
  work show 1a2b --format text
  work show 1a2b --json")]
pub(crate) struct Show {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// An earlier revision
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) revision: Option<u64>,
    /// How to write it
    #[arg(long, default_value = "markdown")]
    pub(crate) format: Format,
}

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Markdown
    Markdown,
    /// Plain text
    Text,
}

/// `work repair`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The query is asked again in the same folders. What comes of it is a proposal:
the kept answer stays as it is until `work apply`.

Example:
  work repair 1a2b")]
pub(crate) struct Repair {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// Queue the task and leave it to a worker
    #[arg(long)]
    pub(crate) detach: bool,
    /// Asking again with this key within a day answers the first task
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

/// `work proposals`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Whether one can be applied is told as far as the last looks know; `work review`
looks anew. A proposal waits for an hour.

Example:
  work proposals")]
pub(crate) struct Proposals {
    /// Where to go on, as the list before said
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

/// `work review`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
At a terminal it asks what is to become of it; nothing said leaves it as it is.
Elsewhere, and with --no-input or --json, it only shows it. Long text goes
through $PAGER, else through less.

Example:
  work review 1a2b")]
pub(crate) struct Review {
    /// The first digits of the proposal's id
    #[arg(value_name = "PROPOSAL")]
    pub(crate) proposal: String,
}

/// `work apply`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
At a terminal it shows the difference and asks. Elsewhere, and with --no-input
or --json, the fingerprint says what is approved. No source is ever changed.

Examples:
  work apply 1a2b
  work apply 1a2b --fingerprint FINGERPRINT")]
pub(crate) struct Apply {
    /// The first digits of the proposal's id
    #[arg(value_name = "PROPOSAL")]
    pub(crate) proposal: String,
    /// What is approved, as the proposal shows it; nothing is asked then
    #[arg(long, value_name = "FINGERPRINT", value_parser = ValueParser::new(fingerprint))]
    pub(crate) fingerprint: Option<Fingerprint>,
}

/// `work dismiss`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The kept answer stays as it is. So does the proposal, which can be reviewed and
no longer applied.

Example:
  work dismiss 1a2b")]
pub(crate) struct Dismiss {
    /// The first digits of the proposal's id
    #[arg(value_name = "PROPOSAL")]
    pub(crate) proposal: String,
}

/// `work history`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
No revision is ever changed or lost.

Examples:
  work history 1a2b
  work show 1a2b --revision 1")]
pub(crate) struct History {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// Where to go on, as the list before said
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

/// `work compare`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It shows what restoring the revision would change. Where a source of either
cannot be read now, it says so and shows neither.

Example:
  work compare 1a2b 1")]
pub(crate) struct Compare {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// The earlier revision
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) revision: u64,
}

/// `work restore`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It makes a proposal: the kept answer stays as it is until `work apply`, and
then gets one revision more. No query runs, and no source is changed.

Example:
  work restore 1a2b 1")]
pub(crate) struct Restore {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// The earlier revision
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) revision: u64,
}

/// `work tasks`
#[derive(Debug, clap::Args)]
pub(crate) struct Tasks {
    /// Where to go on, as the list before said
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

/// `work cancel`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cancelling wins over everything later: a worker in the middle publishes nothing.

Example:
  work cancel 1a2b")]
pub(crate) struct Cancel {
    /// The first digits of the task's id
    #[arg(value_name = "TASK")]
    pub(crate) task: String,
}

/// `work worker`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Several may run at once. Ctrl-C and SIGTERM end it in order: a task that it has
begun is left to the next worker.")]
pub(crate) struct Worker {
    /// End when nothing is queued
    #[arg(long)]
    pub(crate) once: bool,
}

/// `work check`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads every byte again. Exits 10 when something that --fail-on lists is there,
else 3 when not everything could be told: a file was not reached in time or
would not hold still, or an answer is hidden and that is not listed. Else 0.

What --fail-on may list: altered, gone, ambiguous, beyond_limit, unavailable,
moved, cosmetic, intact; the first five are the default. unavailable is an
answer that is hidden, whatever hides it; intact is a passage that stands as it
was in a file that changed.

Examples:
  work check
  work check --fail-on altered,gone
  git diff --cached --name-only --no-renames -z |
    xargs -0 work -q check --paths --")]
pub(crate) struct Check {
    /// What fails, with commas between
    #[arg(long, value_name = "LIST", value_parser = ValueParser::new(fail_on))]
    pub(crate) fail_on: Option<FailOn>,
    /// Only answers that quote these files, be they there or not
    #[arg(long, value_name = "FILE", num_args = 0..)]
    pub(crate) paths: Option<Vec<PathBuf>>,
    /// More files for --paths, whatever they begin with
    #[arg(last = true, value_name = "FILE", requires = "paths")]
    pub(crate) more: Vec<PathBuf>,
}

/// `work export`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An export holds the quotations in clear text and is unsigned. `work verify`
compares it with files, on any machine and without an instance.

Examples:
  work export 1a2b
  work export 1a2b -o backups.json

With --json, FILE gets the document by itself and standard output the same.")]
pub(crate) struct Export {
    /// The first digits of the answer's id
    #[arg(value_name = "RESULT")]
    pub(crate) result: String,
    /// An earlier revision
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) revision: Option<u64>,
    /// Write it into this new file, never over one that is there; - is standard
    /// output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `work verify`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Needs no instance and makes none. A folder that is named alone serves the label
that is its own name, or the only one. Without --folder, an export of one
folder is compared with the current directory.

Examples:
  work verify backups.json
  work verify backups.json --folder ~/notes
  work verify - --folder docs=./docs --folder notes=/srv/notes < both.json

Exits 0 when every quotation is intact, else 10.")]
pub(crate) struct Verify {
    /// The export; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A folder of the export is this directory; may be given again
    #[arg(long, value_name = "[LABEL=]DIR")]
    pub(crate) folder: Vec<OsString>,
}

/// `work doctor`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Repairs nothing. Exits 0 when all is well, 15 when records are damaged, 1 when
it finds something else.

Time never goes back by itself. After a clock that was wrong and ahead, and is
right now, --accept-clock lets time go on from the clock of now. It asks first;
without a terminal it needs --yes.

Examples:
  work doctor
  work doctor --file work.backup")]
pub(crate) struct Doctor {
    /// Check this file instead, a backup or a database
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Set time back to the clock; every pending proposal and lease ends
    #[arg(long, conflicts_with = "file")]
    pub(crate) accept_clock: bool,
    /// Do not ask
    #[arg(long, requires = "accept_clock")]
    pub(crate) yes: bool,
}

/// `work backup`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A backup is private and in clear text: it holds every quotation, that of
withdrawn folders too. It holds no token. It may be made while workers run, and
never over a file or in an approved folder. Nothing else backs anything up.

Examples:
  work backup ~/safe/work.backup
  work doctor --file ~/safe/work.backup
  work --home ~/second init --from ~/safe/work.backup")]
pub(crate) struct Backup {
    /// The new file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// `work log`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The log holds ids and numbers, no text and no path of a source.")]
pub(crate) struct Log {
    /// Events after this number, 100 of them [default: the latest 100]
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u64>,
}

/// `work schema`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The schema is that of `data` in what --json prints, or of `error`.

Example:
  work schema result")]
pub(crate) struct Schema {
    /// The document's name; without one, all names are listed
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `work completions`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  work completions bash > ~/.local/share/bash-completion/completions/work")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// `work man`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  work man | man -l -
  work man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write one file a command into this directory instead
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    text.parse().map_err(|no: NoSuchDefect| no.to_string())
}

fn state(text: &str) -> Result<StateFilter, String> {
    text.parse().map_err(|no: <StateFilter as std::str::FromStr>::Err| no.to_string())
}

fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    text.parse().map_err(|no: <Fingerprint as std::str::FromStr>::Err| no.to_string())
}

/// Options that take the next argument as their value.
const WITH_VALUE: [&str; 5] = ["--home", "--color", "--progress", "--folder", "--key"];
/// Options of one letter.
const LETTERS: &str = "qvh";
/// What marks a word of a query that begins with a hyphen. No argument of a process holds it.
const MARK: char = '\0';

/// Reads a command line.
///
/// Words of a query may begin with a hyphen, which an argument of the parser may only at the price that it swallows
/// every option after it and the `--` too. So those words are marked before the parser sees them, and what stands after
/// `--` is taken off.
///
/// # Errors
/// What is wrong with it, or the help or version that was asked for.
pub(crate) fn parse(given: &[OsString]) -> Result<Args, clap::Error> {
    let end = given.iter().position(|arg| arg == "--");
    let (options, words) = end.map_or((given, &[][..]), |end| (&given[..end], &given[end + 1..]));
    match Args::try_parse_from(mark_words(options)) {
        Ok(Args { command: Command::Report(report), global, version }) => {
            Ok(Args { command: Command::Report(report.with_words(words)?), global, version })
        }
        Ok(_) | Err(_) if end.is_some() => Args::try_parse_from(given),
        read => read,
    }
}

/// The arguments with each word of a report's query marked that begins with one hyphen and is no option.
fn mark_words(given: &[OsString]) -> Vec<OsString> {
    let (mut is_value, mut command) = (true, None);
    let mut marked = Vec::with_capacity(given.len());
    for arg in given {
        let text = arg.to_str().unwrap_or_default();
        if !is_value && command.is_none() && !text.starts_with('-') {
            command = Some(text);
        }
        let is_word = !is_value && command == Some("report") && is_excluding(text);
        marked.push(if is_word { format!("{MARK}{text}").into() } else { arg.clone() });
        is_value = WITH_VALUE.contains(&text);
    }
    marked
}

/// Whether an argument can only be a word that must not appear.
fn is_excluding(arg: &str) -> bool {
    let rest = arg.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with('-'));
    rest.is_some_and(|rest| rest.chars().any(|c| !LETTERS.contains(c)))
}

impl Command {
    /// The command's name.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Init(_) => "init",
            Self::Approve(_) => "approve",
            Self::Revoke(_) => "revoke",
            Self::Folders => "folders",
            Self::Report(_) => "report",
            Self::List(_) => "list",
            Self::Show(_) => "show",
            Self::Repair(_) => "repair",
            Self::Proposals(_) => "proposals",
            Self::Review(_) => "review",
            Self::Apply(_) => "apply",
            Self::Dismiss(_) => "dismiss",
            Self::History(_) => "history",
            Self::Compare(_) => "compare",
            Self::Restore(_) => "restore",
            Self::Tasks(_) => "tasks",
            Self::Cancel(_) => "cancel",
            Self::Worker(_) => "worker",
            Self::Status => "status",
            Self::Check(_) => "check",
            Self::Refresh => "refresh",
            Self::Export(_) => "export",
            Self::Verify(_) => "verify",
            Self::Doctor(_) => "doctor",
            Self::Backup(_) => "backup",
            Self::Log(_) => "log",
            Self::Schema(_) => "schema",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

impl Report {
    /// The same with its words as they were typed, and with those that stood after `--`.
    fn with_words(mut self, after: &[OsString]) -> Result<Self, clap::Error> {
        for word in &mut self.words {
            *word = word.trim_start_matches(MARK).to_owned();
        }
        for word in after {
            let word = word.to_str().ok_or_else(|| {
                usage_error(ErrorKind::InvalidUtf8, "the query is not valid UTF-8".to_owned())
            })?;
            self.words.push(word.to_owned());
        }
        if self.words.is_empty() {
            let tip =
                "nothing to search for was given\n\n  tip: work report how long are backups kept";
            return Err(usage_error(ErrorKind::MissingRequiredArgument, tip.to_owned()));
        }
        Ok(self)
    }
}

/// A usage error of `work report`.
fn usage_error(kind: ErrorKind, message: String) -> clap::Error {
    let mut all = Args::command();
    all.build();
    all.find_subcommand_mut("report").expect("the command is there").error(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Vec<String>, ErrorKind> {
        let given: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&given) {
            Ok(Args { command: Command::Report(report), .. }) => Ok(report.words),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind()),
        }
    }

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        assert_eq!(
            words(line),
            Ok(expected.iter().map(|&word| word.to_owned()).collect()),
            "{line}"
        );
    }

    #[test]
    fn the_arguments_are_sound() {
        Args::command().debug_assert();
    }

    // spec: Q1
    #[test]
    fn a_word_after_one_hyphen_is_a_word_wherever_it_stands() {
        check("work report backups -draft", &["backups", "-draft"]);
        check("work report -draft backups", &["-draft", "backups"]);
        check("work report backups -draft --detach kept -v", &["backups", "-draft", "kept"]);
        check("work --home report report -home", &["-home"]);
    }

    #[test]
    fn after_two_hyphens_every_word_is_one() {
        check("work report -- --folder", &["--folder"]);
        check("work report backups -- --json -v -- x", &["backups", "--json", "-v", "--", "x"]);
    }

    #[test]
    fn a_mistyped_option_is_no_word() {
        assert_eq!(words("work report --fodler a backups"), Err(ErrorKind::UnknownArgument));
        assert_eq!(words("work report backups --fodler"), Err(ErrorKind::UnknownArgument));
        assert_eq!(words("work report --key -draft backups"), Err(ErrorKind::UnknownArgument));
    }

    #[test]
    fn a_report_needs_a_query() {
        assert_eq!(words("work report"), Err(ErrorKind::MissingRequiredArgument));
        assert_eq!(words("work report --"), Err(ErrorKind::MissingRequiredArgument));
    }
}
