//! `work init`: creates the instance, or gives it a new token.

use super::DONE;
use crate::args::Init;
use crate::call::Call;
use crate::open::{readable, shown};
use crate::output::Answer;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use work_core::document::wire::CheckedInstance;
use work_core::workspace::Failure;
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::{Instance, InstanceError};
use work_store::sqlite::{Made, SCHEMA};
use work_store::token::TOKEN;

pub(super) fn run(init: &Init, call: &Call) -> Answer {
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

/// Whether the token's file is not there. A file that holds no token is another matter: it may be looked into.
pub(super) fn lacks_token(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(TOKEN))
        .is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
