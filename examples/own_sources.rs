//! Your own sources: ask questions of records that your program holds itself, with nothing on disk.
//!
//! `cargo run -p work-examples --example own_sources`

use std::{error::Error, sync::Arc};
use work_core::document::render;
use work_core::document::wire::ResultDoc;
use work_core::id::{OwnerId, SiteId, WorkspaceId};
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::{Clock, Ids, Quiet};
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, Workspace};
use work_store::{clock::HostClock, ids::OsIds};

/// Tickets of a help desk, by number.
const TICKETS: [(u32, &str); 3] = [
    (101, "The printer on the second floor jams.\n\nFixed by a new roller.\n"),
    (
        102,
        "Restoring a backup from March failed.\n\nMarch backups are kept in the year-end archive.\n",
    ),
    (103, "New laptop for the lab.\n"),
];

/// A question about the tickets; then ticket 102 is edited, and the answer says what became of its quotations.
pub(crate) fn ask(question: &str) -> Result<(ResultDoc, ResultDoc), Box<dyn Error>> {
    let door = Arc::new(MemoryDoor::new());
    for (number, text) in TICKETS {
        door.put(&format!("/tickets/{number}.txt"), text);
    }
    let named = || OsIds.fresh();
    let (workspace, owner) = (WorkspaceId::from_bytes(named()), OwnerId::from_bytes(named()));
    let clock: Arc<dyn Clock> = Arc::new(HostClock::new());
    let store = MemoryStore::new(workspace, owner, SiteId::from_bytes(named()), clock);
    let work = Workspace::new(Arc::new(store), door.clone(), Arc::new(OsIds));

    work.approve(&HostPath::from_bytes("/tickets"), None, &mut Quiet)?;
    let report = work.report(&ReportAsk::everywhere(Query::parse(question)?), &mut Quiet)?;
    door.put("/tickets/102.txt", "Restoring a backup from March failed.\n\nIt works again.\n");
    let later = work.show(report.artifact_id, None, &mut Quiet)?;
    Ok((report, later))
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (report, later) = ask("where are old backups kept")?;
    println!("{}\n---\n\n{}", render::markdown(&report), render::markdown(&later));
    Ok(())
}
