//! A small instance in which something of everything has happened, and what it answers.

use super::answers::{Answers, Questions};
use super::rows::{self, Rows};
use std::path::Path;
use std::sync::Arc;
use work_core::port::{Clock, Quiet};
use work_core::proposal::Channel;
use work_core::result::RevisionNo;
use work_core::retrieve::Query;
use work_core::testkit::fakes::FakeClock;
use work_core::workspace::{FolderName, ReportAsk, Workspace};
use work_tests::desk::{Desk, host, open_at};

/// When all of it happens.
const NOON: i64 = 1_790_000_000;

/// Its file, and the truth about it.
pub(super) struct Original {
    /// The folder that it quotes has to be there.
    _desk: Desk,
    /// Every byte of the database.
    pub(super) file: Vec<u8>,
    /// What it is asked.
    pub(super) questions: Questions,
    /// What it answers.
    pub(super) truth: Answers,
    /// Its rows.
    pub(super) rows: Rows,
}

impl Original {
    pub(super) fn new() -> Self {
        let desk = Desk::at(&files(), clock());
        live(&desk);
        let questions = Questions::about(&desk.work);
        let home = tempfile::tempdir().expect("a directory");
        let file = settled(&desk.home(), home.path());
        let copy = home.path().join("copy");
        install(&copy, &file);
        let truth = questions.ask(&open_at(&copy, clock()));
        let rows = rows::of(&copy.join("work.sqlite")).expect("readable");
        Self { _desk: desk, file, questions, truth, rows }
    }
}

/// The time at which everything is made and asked.
pub(super) fn clock() -> Arc<dyn Clock> {
    Arc::new(FakeClock::at(NOON))
}

/// Makes an instance of a database file.
pub(super) fn install(home: &Path, file: &[u8]) {
    std::fs::create_dir_all(home).expect("made");
    std::fs::write(home.join("work.sqlite"), file).expect("written");
    for name in ["work.sqlite-wal", "work.sqlite-shm", "work.sqlite-journal"] {
        // Most often there is none.
        let _ = std::fs::remove_file(home.join(name));
    }
}

fn files() -> [(&'static str, &'static str); 3] {
    [
        ("rules.md", "# Rules\n\nBackups are kept for 35 days.\n\nKeys are rotated every year.\n"),
        ("plan.md", "# Plan\n\nBackups go to the other house, and keys with them.\n"),
        ("leave.txt", "Leave is taken in whole days.\n"),
    ]
}

/// What happens: reports, repairs that end in every way, restores, tasks that end in every way, a folder withdrawn.
fn live(desk: &Desk) {
    let first = desk.report("backups").artifact_id;
    let second = desk.report("keys rotated").artifact_id;
    for (n, days) in [40, 45, 50].into_iter().enumerate() {
        desk.write("rules.md", &format!("# Rules\n\nBackups are kept for {days} days.\n"));
        if n == 1 {
            desk.work.dismiss(desk.repair(first).proposal_id).expect("dismissed");
        }
        let _ = desk.repair_and_apply(first);
    }
    restored(&desk.work, first);
    desk.write("plan.md", "# Plan\n\nBackups and keys stay here.\n");
    let _ = desk.repair(first);
    let _ = desk.repair(second);
    let _ = desk.repair(second);
    let _ = desk.work.cancel(desk.ask("leave").task_id).expect("cancelled");
    let _ = desk.ask("leave");
    let nothing = ReportAsk::everywhere(Query::parse("unheard").expect("a query"));
    assert!(desk.work.report(&nothing, &mut Quiet).is_err(), "nothing matches");
    let other = desk.home().with_file_name("other");
    std::fs::create_dir(&other).expect("made");
    std::fs::write(other.join("a.md"), "Leave is taken in halves of days.\n").expect("written");
    desk.work.approve(&host(&other), None, &mut Quiet).expect("approved");
    let _ = desk.report("halves of days");
    desk.work.revoke(&FolderName::Root(host(&other))).expect("revoked");
}

/// Brings the first revision back.
fn restored(work: &Workspace, result: work_core::id::ResultId) {
    let restore = work.restore(result, RevisionNo(1), &mut Quiet).expect("prepared");
    let proposal = restore.proposal;
    let fingerprint = proposal.fingerprint.expect("shown");
    work.apply(proposal.proposal_id, fingerprint, Channel::Library, &mut Quiet).expect("applied");
}

/// The bytes of the database with all that its log holds.
fn settled(home: &Path, into: &Path) -> Vec<u8> {
    let (from, to) = (home.join("work.sqlite"), into.join("work.sqlite"));
    std::fs::copy(&from, &to).expect("copied");
    let log = home.join("work.sqlite-wal");
    if log.exists() {
        std::fs::copy(log, into.join("work.sqlite-wal")).expect("copied");
    }
    let raw = rusqlite::Connection::open(&to).expect("opens");
    raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("settled");
    raw.close().expect("closed");
    std::fs::read(&to).expect("read")
}
