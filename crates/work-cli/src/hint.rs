//! What to do next: one table, for every code.

use crate::fault::{About, Fault};
use std::fmt;
use std::path::PathBuf;
use work_core::code::Code;

/// The program as it was called: a command that is told to a person must mean the same instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// The directory named with `--home`.
    pub(crate) home: Option<PathBuf>,
    /// The command that runs, as far as it is known.
    pub(crate) command: Option<String>,
}

impl Program {
    /// The command that explains the one that runs.
    pub(crate) fn help(&self) -> String {
        self.command
            .as_ref()
            .map_or_else(|| "work --help".to_owned(), |command| format!("work {command} --help"))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.home {
            None => f.write_str("work"),
            Some(home) => write!(f, "work --home {}", quoted(&home.to_string_lossy())),
        }
    }
}

/// A word as a shell takes it back. What cannot be shown is written out and is then not the same word any more.
pub(crate) fn quoted(word: &str) -> String {
    let word = work_core::show::line(word);
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// What to do about a fault. `home` is the instance's directory, as far as it is known.
pub(crate) fn hint(fault: &Fault, work: &Program, home: &str) -> String {
    match fault.code {
        Code::InvalidQuery => {
            format!("give words to search for: {work} report how long are backups kept")
        }
        Code::InvalidArgument => invalid_argument(fault.about, work),
        Code::AmbiguousId => "give more digits of the id".into(),
        Code::InvalidCursor => format!(
            "begin again without --cursor; a cursor holds for one list with the same options: {}",
            work.help()
        ),
        Code::FolderRefused => folder_refused(fault.about, work, home),
        Code::NotFound => not_found(fault.about, work),
        Code::KeyConflict => "use another --key for another request, or none".into(),
        Code::NotRunning => format!("see what became of it: {work} tasks"),
        Code::LeaseLost => lease_lost(fault.about, work),
        Code::AccessRemoved => {
            format!("see which folders are there as they were approved: {work} folders")
        }
        Code::EvidenceUnavailable => {
            format!(
                "see that the folders can be reached and keep still, then ask again: {work} folders"
            )
        }
        Code::TooLarge => {
            format!("ask for less: name a folder with {work} report --folder DIR QUERY")
        }
        Code::NoMatches => {
            format!("try other words, or look at which folders and files are read: {work} folders")
        }
        Code::NoSources => {
            format!(
                "see which folders are there as they were approved, and approve again what is yours: {work} folders"
            )
        }
        Code::Abandoned => format!("look for a fault with {work} doctor, then ask again"),
        Code::Cancelled => cancelled(fault.about, work),
        Code::Internal => internal(fault.about, work),
        Code::UnknownOutcome => {
            format!(
                "see that {home} can be written, then look for the act before anything is repeated: {work} log --json"
            )
        }
        Code::Busy => "another process is writing; try again".into(),
        Code::QueueFull => {
            format!("work what waits with {work} worker --once, or cancel some of it: {work} tasks")
        }
        Code::SetupIncomplete => setup_incomplete(fault.about, work),
        Code::DiskFull => disk_full(fault.about, home),
        Code::ReadOnly => {
            format!(
                "make {home} and what is in it writable for this user, or name another place with --home DIR"
            )
        }
        Code::NetworkFilesystem => "keep the instance on a local disk: work --home DIR".into(),
        Code::StoreDamaged => store_damaged(work, home),
        Code::StoreNewer => "use the newer version of work that wrote it".into(),
        Code::StoreForeign => {
            format!("{home} holds a database of something else; name another place with --home DIR")
        }
    }
}

fn invalid_argument(about: About, work: &Program) -> String {
    match about {
        About::Result | About::Unshown(_) => {
            format!("copy the first digits of an id from {work} list")
        }
        About::Task | About::Stopped => format!("copy the first digits of an id from {work} tasks"),
        About::Folder | About::NewFolder | About::OwnFolder | About::FolderTooMany => {
            format!("copy a path or an id from {work} folders")
        }
        About::Instance | About::Token => {
            "name a directory with --home DIR, or set WORK_HOME".into()
        }
        About::Arguments | About::Schema | About::Output => {
            format!("see what is expected: {}", work.help())
        }
    }
}

fn folder_refused(about: About, work: &Program, home: &str) -> String {
    if about == About::OwnFolder {
        format!(
            "approve a directory that does not hold {home}, or keep the instance elsewhere with --home DIR"
        )
    } else if about == About::FolderTooMany {
        "keep further folders in another instance: work --home DIR approve FOLDER".into()
    } else {
        format!(
            "name another directory, one that is there and that this user can list: {work} approve DIR"
        )
    }
}

fn setup_incomplete(about: About, work: &Program) -> String {
    if about == About::Token {
        format!("make a new one: {work} init --new-token")
    } else {
        format!("approve a folder first: {work} approve DIR")
    }
}

fn not_found(about: About, work: &Program) -> String {
    match about {
        About::Result | About::Unshown(_) => format!("see which there are: {work} list"),
        About::Task | About::Stopped => format!("see which there are: {work} tasks"),
        About::Folder | About::NewFolder | About::OwnFolder | About::FolderTooMany => {
            format!("see which there are: {work} folders")
        }
        About::Schema => "see which there are: work schema".into(),
        About::Instance | About::Token | About::Arguments | About::Output => {
            format!("see what is expected: {}", work.help())
        }
    }
}

fn cancelled(about: About, work: &Program) -> String {
    if let About::Unshown(result) = about {
        format!("see the result: {work} show {result}")
    } else {
        "ask again if it is still wanted".into()
    }
}

fn lease_lost(about: About, work: &Program) -> String {
    if about == About::Stopped {
        format!("the task waits; work it with {work} worker --once")
    } else {
        format!("another worker has the task; see how far it is with {work} tasks")
    }
}

fn internal(about: About, work: &Program) -> String {
    if about == About::Output {
        "the command itself was carried out; only its answer could not be written".into()
    } else {
        format!("check the records with {work} doctor; if it finds nothing, please report this")
    }
}

fn store_damaged(work: &Program, home: &str) -> String {
    match work.command.as_deref() {
        Some("doctor") => {
            format!(
                "keep a copy of {home}, then go back to a backup, or begin anew elsewhere with --home DIR"
            )
        }
        _ => format!(
            "keep a copy of {home} before anything else, then see what is damaged: {work} doctor"
        ),
    }
}

fn disk_full(about: About, home: &str) -> String {
    if about == About::Output {
        "the command itself was carried out; make room where its answer goes".into()
    } else {
        format!(
            "make room on the disk that holds {home}, then try again; what was kept before is safe"
        )
    }
}
