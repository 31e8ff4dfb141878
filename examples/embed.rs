//! Embedding: a durable report over a folder, looked at again later.
//!
//! `cargo run -p work-examples --example embed`

use std::{error::Error, path::Path, sync::Arc};
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet};
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// Asks the handbook a question, in an instance at `home`.
pub(crate) fn ask(home: &Path, question: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let (clock, ids) = (Arc::new(HostClock::new()), Arc::new(OsIds));
    let instance = Instance::open_or_create(home, ids.as_ref(), clock.as_ref())?;
    let door = FolderDoor::guarding(OwnFiles::in_directory(home)?, clock.reading().boot);
    let work = Workspace::new(Arc::new(instance.store(clock)?), Arc::new(door), ids);

    let handbook = Path::new(env!("CARGO_MANIFEST_DIR")).join("handbook");
    work.approve(&HostPath::from_bytes(handbook.as_os_str().as_encoded_bytes()), None, &mut Quiet)?;
    let report = work.report(&ReportAsk::everywhere(Query::parse(question)?), &mut Quiet)?;

    // Later, perhaps in another program: the sources are looked at again.
    let now = work.show(report.artifact_id, None, &mut Quiet)?;
    let excerpts = now.body.into_iter().flat_map(|body| body.excerpts);
    Ok(excerpts.map(|one| format!("{}:{}: {}", one.path.path, one.lines[0], one.text)).collect())
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    for line in ask(&home.path().join("desk"), "how long are backups kept")? {
        println!("{line}\n");
    }
    Ok(())
}
