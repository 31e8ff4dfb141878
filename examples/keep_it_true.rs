//! Keeping an answer true: it is noticed that a source changed, a repair is prepared, somebody agrees, and it is applied.
//!
//! `cargo run -p work-examples --example keep_it_true`

use std::{error::Error, path::Path, sync::Arc};
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet};
use work_core::proposal::Channel;
use work_core::result::ResultState;
use work_core::retrieve::Query;
use work_core::workspace::{Repaired, ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// A workspace in the instance at `home`.
fn open(home: &Path) -> Result<Workspace, Box<dyn Error>> {
    let (clock, ids) = (Arc::new(HostClock::new()), Arc::new(OsIds));
    let instance = Instance::open_or_create(home, ids.as_ref(), clock.as_ref())?;
    let door = FolderDoor::guarding(OwnFiles::in_directory(home)?, clock.reading().boot);
    Ok(Workspace::new(Arc::new(instance.store(clock)?), Arc::new(door), ids))
}

/// Reports on a note, changes the note, and lets `agrees` decide about the repair by its exact difference. Answers how
/// many revisions the report has then.
pub(crate) fn day(home: &Path, agrees: impl Fn(&str) -> bool) -> Result<u64, Box<dyn Error>> {
    let notes = home.join("notes");
    std::fs::create_dir_all(&notes)?;
    std::fs::write(notes.join("backups.md"), "Backups are kept for 35 days.\n")?;
    let work = open(&home.join("desk"))?;
    work.approve(&HostPath::from_bytes(notes.as_os_str().as_encoded_bytes()), None, &mut Quiet)?;
    let ask = ReportAsk::everywhere(Query::parse("how long are backups kept")?);
    let report = work.report(&ask, &mut Quiet)?;

    std::fs::write(notes.join("backups.md"), "Backups are kept for 40 days.\n")?;
    let now = work.show(report.artifact_id, None, &mut Quiet)?;
    if now.state == ResultState::Stale
        && let Repaired::Proposed(repair) = work.repair(now.artifact_id, &mut Quiet)?
        && let (Some(difference), Some(fingerprint)) = (repair.difference, repair.fingerprint)
        && agrees(&difference.unified)
    {
        work.apply(repair.proposal_id, fingerprint, Channel::Library, &mut Quiet)?;
    }
    Ok(work.history(report.artifact_id, None, &mut Quiet)?.total.unwrap_or_default())
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let revisions = day(home.path(), |difference| {
        println!("{difference}");
        true
    })?;
    println!("{revisions} revisions, none of them lost");
    Ok(())
}
