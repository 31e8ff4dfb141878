//! What to do next: one table, for every code.

use crate::fault::{About, Fault, Refused};
use std::fmt;
use std::path::{Path, PathBuf};
use work_core::code::Code;
use work_core::result::RevisionNo;

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
            Some(home) => write!(f, "work --home {}", quoted_path(home)),
        }
    }
}

/// A word as a shell takes it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=~".contains(c);
    if work_core::show::line(word) != word {
        escaped(word.as_bytes())
    } else if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A path as a shell takes it back, whatever its bytes.
pub(crate) fn quoted_path(path: &Path) -> String {
    path.to_str().map_or_else(|| escaped(path.as_os_str().as_encoded_bytes()), quoted)
}

/// What cannot be shown, byte by byte in the numbers that every shell with this form reads alike.
fn escaped(word: &[u8]) -> String {
    let byte = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    format!("$'{}'", word.iter().map(byte).collect::<String>())
}

/// What to do about a fault. `home` is the instance's directory, as far as it is known.
pub(crate) fn hint(fault: &Fault, work: &Program, home: &str) -> String {
    match fault.code {
        Code::InvalidQuery => invalid_query(fault.about, work),
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
        Code::FingerprintMismatch => refused(fault, work, |one| {
            format!("see what it would change and its fingerprint: {work} review {}", one.proposal)
        }),
        Code::AlreadyUsed => {
            refused(fault, work, |one| format!("see what is accepted: {work} show {}", one.result))
        }
        Code::Superseded => format!("see which one took its place: {work} proposals"),
        Code::Dismissed => refused(fault, work, |one| {
            format!("if it is wanted after all, prepare it anew: {}", anew(one, work))
        }),
        Code::Expired => {
            refused(fault, work, |one| format!("prepare it anew: {}", anew(one, work)))
        }
        Code::RevisionChanged => refused(fault, work, |one| {
            format!("prepare it for what is accepted now: {}", anew(one, work))
        }),
        Code::SourcesChanged => refused(fault, work, |one| {
            format!("prepare it with the sources as they are now: {}", anew(one, work))
        }),
        Code::TooManyPending => format!("apply or dismiss some of them first: {work} proposals"),
        Code::RefreshIncomplete => refresh_incomplete(fault.about, work),
        Code::AccessRemoved => {
            format!("see which folders are there as they were approved: {work} folders")
        }
        Code::EvidenceUnavailable => no_answer(
            fault.about,
            work,
            "see that what it quotes is there, can be reached and keeps still, then ask again",
        ),
        Code::TooLarge => {
            format!("ask for less: name a folder with {work} report --folder DIR QUERY")
        }
        Code::NoMatches => no_answer(
            fault.about,
            work,
            "try other words, or look at which folders and files are read",
        ),
        Code::NoSources => no_answer(
            fault.about,
            work,
            "see which folders are there as they were approved, and approve again what is yours",
        ),
        Code::Abandoned => format!("look for a fault with {work} doctor, then ask again"),
        Code::Cancelled => cancelled(fault.about, work),
        Code::Internal => internal(fault.about, work),
        Code::UnknownOutcome => {
            format!(
                "see that {home} can be written, then look for the field act of an event before anything is repeated: {work} log --json"
            )
        }
        Code::Busy => "another process is writing; try again".into(),
        Code::QueueFull => {
            format!("work what waits with {work} worker --once, or cancel some of it: {work} tasks")
        }
        Code::SetupIncomplete => setup_incomplete(fault.about, work),
        Code::DiskFull => disk_full(fault.about, home),
        Code::ReadOnly if fault.about == About::NewFile => new_file(),
        Code::ReadOnly => {
            format!(
                "make {home} and what is in it writable for this user, or name another place with --home DIR"
            )
        }
        Code::NetworkFilesystem => "keep the instance on a local disk: work --home DIR".into(),
        Code::StoreDamaged | Code::StoreForeign if fault.about == About::BackupFile => {
            "use another backup; nothing was made of this one".into()
        }
        Code::StoreDamaged => store_damaged(work, home),
        Code::StoreNewer => "use the newer version of work that wrote it".into(),
        Code::StoreForeign => {
            format!("{home} holds a database of something else; name another place with --home DIR")
        }
    }
}

fn invalid_query(about: About, work: &Program) -> String {
    if about == About::LongQuery {
        "shorten it to 4,000 characters".into()
    } else {
        format!("give words to search for: {work} report how long are backups kept")
    }
}

fn invalid_argument(about: About, work: &Program) -> String {
    match about {
        About::Result | About::Unshown(_) => {
            format!("copy the first digits of an id from {work} list")
        }
        About::Repair(result) => format!("see what is accepted: {work} show {result}"),
        About::Revision(result) => format!("see which there are: {work} history {result}"),
        About::Proposal | About::UnshownProposal(_) => {
            format!("copy the first digits of an id from {work} proposals")
        }
        About::Approval(proposal) => format!(
            "see what it would change, then apply it with the fingerprint that stands there: {work} review {proposal}"
        ),
        About::Task | About::Stopped => format!("copy the first digits of an id from {work} tasks"),
        About::Folder | About::NewFolder | About::OwnFolder | About::FolderTooMany => {
            format!("copy a path or an id from {work} folders")
        }
        About::Instance | About::Token => {
            "name a directory with --home DIR, or set WORK_HOME".into()
        }
        About::NewFile => new_file(),
        About::ExportFile => format!("make an export with {work} export RESULT -o FILE"),
        About::VerifyFolder => verify_folder(),
        About::BackupFile => backup_file(),
        About::Arguments | About::LongQuery | About::Schema | About::Output => {
            format!("see what is expected: {}", work.help())
        }
    }
}

/// The instance that is named need not be the one that was copied, nor be there.
fn backup_file() -> String {
    "name a file that was made with work backup FILE".into()
}

fn verify_folder() -> String {
    "say which directory is which folder of the export: --folder LABEL=DIR".into()
}

fn new_file() -> String {
    "name a file that is not there yet, in a directory in which this user may write".into()
}

fn folder_refused(about: About, work: &Program, home: &str) -> String {
    if about == About::NewFile {
        "name a file elsewhere, where only you look: in no folder that was ever approved".into()
    } else if about == About::VerifyFolder {
        "name a directory that is there and that this user can list: --folder DIR".into()
    } else if about == About::OwnFolder {
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

/// What to do where the sources gave nothing, as `report` says it of a report. Of a repair the query is given, and
/// something is accepted.
fn no_answer(about: About, work: &Program, report: &str) -> String {
    if let About::Repair(result) = about {
        format!(
            "what is accepted stays as it is: put back what it quotes, or, if that has a new place, make a new report there: {work} show {result}"
        )
    } else {
        format!("{report}: {work} folders")
    }
}

fn refresh_incomplete(about: About, work: &Program) -> String {
    if let About::Repair(result) = about {
        format!("try again; what is accepted stays as it is: {work} repair {result}")
    } else if about == About::Task {
        format!(
            "ask again; if that ends so too, see that the folders can be reached: {work} folders"
        )
    } else {
        format!("see that the folders can be reached, then try again: {work} folders")
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
        About::Revision(result) => format!("see the accepted one: {work} show {result}"),
        About::Repair(result) => format!("see what is accepted: {work} show {result}"),
        About::Task | About::Stopped => format!("see which there are: {work} tasks"),
        About::Proposal | About::Approval(_) | About::UnshownProposal(_) => {
            format!("see which there are: {work} proposals")
        }
        About::Folder | About::NewFolder | About::OwnFolder | About::FolderTooMany => {
            format!("see which there are: {work} folders")
        }
        About::Schema => "see which there are: work schema".into(),
        About::Instance
        | About::Token
        | About::Arguments
        | About::LongQuery
        | About::Output
        | About::NewFile
        | About::ExportFile
        | About::VerifyFolder
        | About::BackupFile => format!("see what is expected: {}", work.help()),
    }
}

fn cancelled(about: About, work: &Program) -> String {
    if let About::Unshown(result) = about {
        format!("see the result: {work} show {result}")
    } else if let About::UnshownProposal(proposal) = about {
        format!("see the proposal: {work} review {proposal}")
    } else {
        "ask again if it is still wanted".into()
    }
}

/// What to do instead of applying a proposal, if it is known which.
fn refused(fault: &Fault, work: &Program, next: impl FnOnce(&Refused) -> String) -> String {
    match &fault.refused {
        Some(refused) => next(refused),
        None => format!("see which proposals wait: {work} proposals"),
    }
}

/// The command that prepares a proposal again.
fn anew(refused: &Refused, work: &Program) -> String {
    let Refused { proposal: _, result, restores } = refused;
    match restores {
        Some(RevisionNo(no)) => format!("{work} restore {result} {no}"),
        None => format!("{work} repair {result}"),
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
    } else if work.command.as_deref() == Some("doctor") {
        "try again; if it happens again, please report this".into()
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
    } else if about == About::NewFile {
        "make room where the file goes, then try again; nothing of it was left".into()
    } else {
        format!(
            "make room on the disk that holds {home}, then try again; what was kept before is safe"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use work_core::id::ResultId;

    // spec: C10
    #[test]
    fn what_was_not_looked_at_in_time_is_tried_again_first() {
        let fault = || Fault::new(Code::RefreshIncomplete, "too late");
        let told = |fault: &Fault| hint(fault, &Program::default(), "home");
        let id = ResultId::from_bytes([0xab; 16]);
        assert!(told(&fault().of_repair(id)).starts_with("try again;"));
        assert!(told(&fault().of_repair(id)).ends_with(&format!(": work repair {id}")));
        assert!(told(&fault().about(About::Task)).starts_with("ask again;"));
    }

    // spec: C10
    #[test]
    fn a_quoted_path_is_the_same_path_to_a_shell() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        for (path, expected) in [
            (&b"/a/b-c"[..], "/a/b-c"),
            (b"", "''"),
            (b"an other's", "'an other'\\''s'"),
            (b"a\tb'\\", "$'a\\011b\\'\\\\'"),
            (b"a \xff7", "$'a \\3777'"),
            ("\u{202e}".as_bytes(), "$'\\342\\200\\256'"),
        ] {
            assert_eq!(quoted_path(Path::new(OsStr::from_bytes(path))), expected);
        }
    }
}
