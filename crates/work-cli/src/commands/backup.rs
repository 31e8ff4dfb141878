//! `work backup`: a copy of all records in a new file, while others go on writing.

use super::{DONE, count};
use crate::args::Backup;
use crate::call::Call;
use crate::fault::{About, Ended, Fault};
use crate::hint::quoted_path;
use crate::new_file;
use crate::open::{Opened, host_path, shown};
use crate::output::Answer;
use crate::signals::{INTERRUPTED, Signals};
use std::path::{Path, PathBuf};
use work_core::code::Code;
use work_core::document::wire::BackupDoc;
use work_core::port::Go;
use work_core::workspace::Failure;
use work_store::sqlite::{BackupError, BackupMade};

pub(super) fn run(backup: &Backup, call: &Call) -> Answer {
    let opened = call.open()?;
    let file = &backup.file;
    new_file::is_free(file)?;
    let place = place(file)?;
    let may = opened.work.may_back_up_to(&host_path(&place)?);
    may.map_err(|refusal| Fault::from(refusal).named(&shown(file)))?;
    let BackupMade { events, chain, size_bytes } = made(&opened, file, &place)?;
    let document = BackupDoc { file: shown(file), size: size_bytes, events, chain };
    call.out.document(&document, people)?;
    call.out
        .note("It is private and in clear text. Keep the digest elsewhere, too: no backup shows");
    call.out.note("by itself that it is the latest.");
    say_what_follows(call, file);
    Ok(DONE)
}

/// Where the file is to be, by a directory without links.
fn place(file: &Path) -> Result<PathBuf, Fault> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.unwrap_or(Path::new(".")).canonicalize();
    let directory = directory.map_err(|error| new_file::refused(file, &error))?;
    let Some(name) = file.file_name() else {
        let message = format!("{} names no file", shown(file));
        return Err(Fault::new(Code::InvalidArgument, message).about(About::NewFile));
    };
    Ok(directory.join(name))
}

/// Makes it, until a signal says stop.
fn made(opened: &Opened, file: &Path, place: &Path) -> Result<BackupMade, Ended> {
    let signals = Signals::take();
    let go = move || if signals.arrived().is_some() { Go::Stop } else { Go::On };
    opened.store.backup_while(place, go).map_err(|error| failed(error, file).into())
}

fn failed(error: BackupError, file: &Path) -> Fault {
    match error {
        BackupError::Exists(_) => new_file::taken(file),
        BackupError::Stopped => {
            Fault::new(Code::Cancelled, error.to_string()).about(About::NewFile).exit(INTERRUPTED)
        }
        BackupError::Io { source, .. } => new_file::refused(file, &source),
        BackupError::Store(cause) => Fault::from(Failure::Store(cause)).about(About::NewFile),
    }
}

fn people(backup: &BackupDoc) -> String {
    let BackupDoc { file, size, events, chain } = backup;
    let events = count(*events, "event");
    format!("{file}: {size} bytes, {events} in the log; the last is\n  {chain}\n")
}

fn say_what_follows(call: &Call, file: &Path) {
    let file = quoted_path(file);
    call.out.next(&[
        (format!("work doctor --file {file}"), "check it"),
        (format!("work --home DIR init --from {file}"), "make an instance of it"),
    ]);
}
