//! `work init`: creates the instance, or gives it a new token.

use super::DONE;
use crate::args::Init;
use crate::call::Call;
use crate::open::shown;
use crate::output::Answer;
use work_core::document::wire::CheckedInstance;
use work_store::clock::HostClock;
use work_store::ids::OsIds;
use work_store::instance::Instance;
use work_store::sqlite::Made;

const STORE_SCHEMA: u32 = 2;

pub(super) fn run(init: &Init, call: &Call) -> Answer {
    let home = &call.home()?.path;
    let instance = if init.new_token {
        Instance::open_or_create(home, &OsIds, &HostClock::new())?
    } else {
        Instance::create(home, &OsIds, &HostClock::new())?
    };
    let change = match (instance.made(), init.new_token) {
        (Made::New, _) => "created",
        (Made::Before, true) => {
            instance.new_token()?;
            "new_token"
        }
        (Made::Before, false) => "unchanged",
    };
    let document = CheckedInstance { home: shown(instance.dir()), change, schema: STORE_SCHEMA };
    call.out.document(&document, |instance| {
        let what = match instance.change {
            "created" => "Created the instance",
            "new_token" => "Replaced the token of the instance",
            _ => "Nothing to do for the instance",
        };
        format!("{what} {}\n", instance.home)
    })?;
    if change == "created" {
        let approve = format!("{} approve DIR", call.out.program);
        call.out.next(&[(approve, "say which folder may be read")]);
    }
    Ok(DONE)
}
