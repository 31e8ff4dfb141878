//! `work init`: creates the instance, or gives it a new token.

use super::DONE;
use crate::args::Init;
use crate::call::Call;
use crate::fault::{About, Fault};
use crate::open::{readable, shown};
use crate::output::Answer;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use work_core::code::Code;
use work_core::document::wire::CheckedInstance;
use work_core::port::Clock;
use work_core::workspace::Failure;
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError};
use work_store::sqlite::{Made, SCHEMA};
use work_store::token::TOKEN;

pub(super) fn run(init: &Init, call: &Call) -> Answer {
    if let Some(backup) = &init.from {
        return from(backup, call);
    }
    let home = &call.home()?.path;
    let missing = lacks_token(home);
    let there = match readable(Instance::open_as_is(home)) {
        Ok(_) => true,
        Err(InstanceError::Absent(_)) => false,
        Err(refused) => return Err(refused.into()),
    };
    let instance = if there && init.new_token {
        Instance::open(home)?
    } else {
        Instance::create(home, &OsIds, &HostClock::new())?
    };
    // Whether the records can be used is known only when they are opened.
    instance.store(Arc::new(HostClock::new())).map_err(Failure::from)?;
    let (change, what) = match (instance.made(), init.new_token) {
        (Made::New, _) => ("created", "Created the instance"),
        (Made::Before, true) => {
            instance.new_token()?;
            ("new_token", "Replaced the token of the instance")
        }
        (Made::Before, false) if missing => ("new_token", "Made the missing token of the instance"),
        (Made::Before, false) => ("unchanged", "Nothing to do for the instance"),
    };
    let document = CheckedInstance { home: shown(instance.dir()), change, schema: SCHEMA };
    call.out.document(&document, |instance| format!("{what} {}\n", instance.home))?;
    if change == "created" {
        let approve = format!("{} approve DIR", call.out.program);
        call.out.next(&[(approve, "say which folder may be read")]);
    }
    Ok(DONE)
}

/// Makes an instance from a backup.
fn from(backup: &Path, call: &Call) -> Answer {
    let home = &call.home()?.path;
    backup.metadata().map_err(|error| unreadable(backup, &error))?;
    let clock: Arc<dyn Clock> = Arc::new(HostClock::new());
    let instance = Instance::create_from(backup, home, &clock)?;
    let document =
        CheckedInstance { home: shown(instance.dir()), change: "created", schema: SCHEMA };
    let what = format!("Created the instance {} from {}\n", document.home, shown(backup));
    call.out.document(&document, |_| what)?;
    call.out.note("It has a token of its own. What waited for approval in the backup has ended.");
    let work = &call.out.program;
    call.out.next(&[(format!("{work} folders"), "see which folders are as they were approved")]);
    Ok(DONE)
}

/// A file of which nothing can be made.
pub(super) fn unreadable(file: &Path, error: &std::io::Error) -> Fault {
    let message = format!("{} cannot be read: {error}", shown(file));
    Fault::new(Code::InvalidArgument, message).about(About::BackupFile)
}

/// Whether the token's file is not there. A file that holds no token is another matter: it may be looked into.
pub(super) fn lacks_token(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(TOKEN))
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
