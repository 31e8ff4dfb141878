//! Retrieval quality: `cranfield FOLDER` asks each question of a judged collection and counts what the reports quote.
//!
//! Every question is a report of the product, over the documents as small text files (title, blank line, text). Counts
//! are by distinct files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use work_benches::collection::{Collection, Quality};
use work_core::id::{OwnerId, SiteId, WorkspaceId};
use work_core::memory::{MemoryDoor, MemoryStore};
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::retrieve::Query;
use work_core::testkit::fakes::{CountingIds, FakeClock};
use work_core::workspace::{ReportAsk, Workspace};

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return say(
            2,
            "usage: cranfield FOLDER, the folder that holds cran.all.1400, cran.qry and qrels.trec",
        );
    };
    match Collection::read(&folder) {
        Ok(collection) => {
            let quality = measure(&collection);
            let (success, precision) = (quality.success(), quality.precision_at_6());
            say(
                0,
                &format!(
                    "{} questions over {} documents\nwith a relevant document among six: {success:.3} (promised: 0.80)\nprecision at 6: {precision:.3} (promised: 0.30)",
                    quality.asked,
                    collection.documents.len(),
                ),
            )
        }
        Err(error) => say(1, &format!("skipped: {} cannot be read ({error})", folder.display())),
    }
}

#[expect(clippy::print_stdout, reason = "a command's output")]
fn say(code: u8, text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::from(code)
}

/// Asks every question that has a relevant document.
fn measure(collection: &Collection) -> Quality {
    let work = workspace(collection);
    let mut quality = Quality::default();
    for (number, question) in (1..).zip(&collection.questions) {
        if let Some(relevant) = collection.relevant.get(&number) {
            quality.count(&quoted(&work, question), relevant);
        }
    }
    quality
}

fn workspace(collection: &Collection) -> Workspace {
    let door = MemoryDoor::new();
    for (number, title, text) in &collection.documents {
        door.put(&format!("/collection/{number:05}.txt"), format!("{title}\n\n{text}\n"));
    }
    let (workspace, owner) = (WorkspaceId::from_bytes([1; 16]), OwnerId::from_bytes([2; 16]));
    let store =
        MemoryStore::new(workspace, owner, SiteId::from_bytes([3; 16]), Arc::new(FakeClock::at(0)));
    let work = Workspace::new(Arc::new(store), Arc::new(door), Arc::new(CountingIds::new()));
    work.approve(&HostPath::from_bytes("/collection"), None, &mut Quiet)
        .expect("a folder in memory");
    work
}

/// The documents that a report on this question quotes.
fn quoted(work: &Workspace, question: &str) -> BTreeSet<u32> {
    let Ok(query) = Query::parse(question) else { return BTreeSet::new() };
    let Ok(report) = work.report(&ReportAsk::everywhere(query), &mut Quiet) else {
        return BTreeSet::new();
    };
    let body = report.body.into_iter().flat_map(|body| body.excerpts);
    body.filter_map(|excerpt| excerpt.path.path.strip_suffix(".txt")?.parse().ok()).collect()
}
