//! The use cases that write, each with what has to be there before.
#![expect(clippy::unwrap_used, reason = "what goes wrong in a proof is a finding")]

use super::stage::{DATABASE, Opened, Sees, Stage, Surroundings};
use super::state::raw;
use rusqlite::OpenFlags;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::id::{OwnerId, ProposalId, ResultId, SiteId, TaskId, WorkspaceId};
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::{Clock as _, Head, NoPause, Quiet};
use work_core::proposal::{Channel, Fingerprint};
use work_core::result::RevisionNo;
use work_core::retrieve::Query;
use work_core::testkit::fakes::{FakeClock, StopAfter};
use work_core::workspace::{FolderName, Repaired, ReportAsk, Until, Workspace};
use work_faultvfs::record::Image;
use work_store::sqlite::SqliteStore;

/// How a command ended: done, or a code.
pub(crate) type Told = Result<(), Code>;

/// A use case.
pub(crate) struct Case {
    /// Its name.
    pub(crate) name: &'static str,
    base: Base,
    prepare: fn(&Workspace, &Surroundings) -> Kept,
    act: fn(&Actor<'_>) -> Told,
}

/// What a database begins as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// As a new one, with all of the preparation in the database.
    Whole,
    /// The same, with so much in its log that the next commit puts the log into the database.
    FullLog,
    /// With the rule that was stricter once.
    Stricter,
    /// The shipped file of schema 1.
    Schema1,
}

/// What the preparation made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    result: Option<ResultId>,
    proposal: Option<(ProposalId, Fingerprint)>,
    task: Option<TaskId>,
}

/// Who does it.
pub(crate) struct Actor<'a> {
    work: &'a Workspace,
    kept: Kept,
    path: PathBuf,
}

/// A use case that may begin.
pub(crate) struct Ready {
    pub(crate) case: &'static Case,
    /// The disk before it.
    pub(crate) image: Image,
    pub(crate) around: Surroundings,
    kept: Kept,
}

/// Ids of the use case itself, and of what is done after it, are none of the preparation's.
const FIRST_ID: u64 = 1 << 20;
const LATER_ID: u64 = 1 << 30;

const FOLDER: &str = "/handbook";
const FILE: &str = "/handbook/backups.md";
const THEN: &str = "# Backups\n\nBackups are kept for 35 days.\n\nRestores are tried each month.\n";
const NOW: &str = "# Backups\n\nBackups are kept for 90 days.\n\nRestores are tried each month.\n";

/// All of them.
pub(crate) const CASES: &[Case] = &[
    case("ask", approved, |a| told(a.work.ask(&about("backups")))),
    case("approve", nothing, |a| told(a.work.approve(&folder(), None, &mut Quiet))),
    case("change rules", reported, |a| {
        told(a.work.approve(&folder(), Some(&other_rules()), &mut Quiet))
    }),
    case("revoke", reported, |a| told(a.work.revoke(&FolderName::Root(folder())))),
    case("ask with a key", approved, |a| told(a.work.ask(&keyed("backups")))),
    case("report", approved, |a| told(a.work.report(&about("backups"), &mut Quiet))),
    case("a report without matches", approved, |a| {
        told(a.work.report(&about("submarines"), &mut Quiet))
    }),
    case("a report that is stopped", approved, |a| {
        told(a.work.report(&about("backups"), &mut StopAfter::beats(1)))
    }),
    case("a worker with two tasks", asked, |a| {
        let ask = a.work.ask(&about("restores"));
        told(ask)?;
        let worker = a.work.new_worker();
        told(a.work.work(worker, Until::Idle, &NoPause, &mut Quiet, &mut |_| {}))?;
        told(a.work.work(worker, Until::Idle, &NoPause, &mut Quiet, &mut |_| {}))
    }),
    case("cancel", asked, |a| told(a.work.cancel(a.kept.task.unwrap()))),
    case("refresh with a change", changed, |a| told(a.work.refresh(&mut Quiet))),
    case("repair", changed, |a| told(a.work.repair(a.kept.result.unwrap(), &mut Quiet))),
    case("a repair that changes nothing", reported, |a| {
        told(a.work.repair(a.kept.result.unwrap(), &mut Quiet))
    }),
    case("apply", proposed, apply),
    case("an apply that is refused", proposed_and_changed, apply),
    case("dismiss", proposed, |a| told(a.work.dismiss(a.kept.proposal.unwrap().0))),
    case("restore", repaired, |a| {
        told(a.work.restore(a.kept.result.unwrap(), RevisionNo(1), &mut Quiet))
    }),
    case("apply a restore", restorable, apply),
    case("accept the clock", clock_behind, |a| told(a.work.accept_clock())),
    case("put the log into the database and go on", proposed, |a| {
        told(a.work.ask(&about("backups")))?;
        checkpoint(a, "PASSIVE");
        apply(a)?;
        checkpoint(a, "RESTART");
        told(a.work.report(&about("restores"), &mut Quiet))?;
        checkpoint(a, "TRUNCATE");
        told(a.work.ask(&about("backups")))
    }),
    Case {
        base: Base::FullLog,
        ..case("a log that is full", proposed, |a| {
            told(a.work.ask(&about("backups")))?;
            apply(a)?;
            told(a.work.ask(&about("restores")))
        })
    },
    Case { base: Base::Schema1, ..case("migrate", nothing, |_| Ok(())) },
    Case { base: Base::Stricter, ..case("renew a rule", nothing, |_| Ok(())) },
];

const fn case(
    name: &'static str,
    prepare: fn(&Workspace, &Surroundings) -> Kept,
    act: fn(&Actor<'_>) -> Told,
) -> Case {
    Case { name, base: Base::Whole, prepare, act }
}

impl Case {
    /// Makes it ready.
    pub(crate) fn ready(&'static self) -> Ready {
        let around = surroundings();
        let (image, kept) = match self.base {
            Base::Schema1 => (Image::default().with(DATABASE, SCHEMA_1), Kept::default()),
            Base::Whole => self.prepared(&around, checkpointed),
            Base::FullLog => self.prepared(&around, filled),
            Base::Stricter => self.prepared(&around, stricter),
        };
        Ready { case: self, image, around, kept }
    }

    /// The disk after the preparation.
    fn prepared(&self, around: &Surroundings, at_last: fn(&Stage, &Opened)) -> (Image, Kept) {
        let stage = Stage::new(empty(around), around);
        let opened = stage.open(0, Sees::Commits).unwrap();
        let kept = (self.prepare)(&opened.work, around);
        at_last(&stage, &opened);
        let image = stage.disk.now();
        drop(opened);
        stage.expect_closed();
        (image, kept)
    }
}

impl Ready {
    /// Does it, over an open database.
    pub(crate) fn act(&self, stage: &Stage, opened: &Opened) -> Told {
        (self.case.act)(&Actor { work: &opened.work, kept: self.kept, path: stage.path() })
    }

    /// Opens the database as it is before the use case.
    pub(crate) fn open(
        &self,
        stage: &Stage,
        sees: Sees,
    ) -> Result<Opened, work_core::port::StoreError> {
        stage.open(FIRST_ID, sees)
    }

    /// Three more commands over what a crash or a fault left: the same once more, a report, and a repair of what was
    /// there. The rules may refuse; nothing may break.
    pub(crate) fn go_on(&self, stage: &Stage, opened: &Opened) -> Result<(), String> {
        let again = self.act(stage, opened);
        sound("the same once more", again)?;
        sound("a report", told(opened.work.report(&about("restores"), &mut Quiet)))?;
        let Some(result) = self.kept.result else {
            return sound("a refresh", told(opened.work.refresh(&mut Quiet)));
        };
        match opened.work.repair(result, &mut Quiet) {
            Ok(Repaired::Proposed(shown)) => {
                let (id, fingerprint) = (shown.proposal_id, shown.fingerprint.unwrap());
                let applied = opened.work.apply(id, fingerprint, Channel::Library, &mut Quiet);
                sound("an apply", told(applied))
            }
            Ok(Repaired::NoChange(_)) => Ok(()),
            Err(refused) => sound("a repair", Err(refused.code())),
        }
    }

    /// Opens a database that was left behind, to go on with it.
    pub(crate) fn open_later(&self, stage: &Stage) -> Result<Opened, work_core::port::StoreError> {
        stage.open(LATER_ID, Sees::Commits)
    }
}

/// Whether a command did what the rules say: done, or refused.
fn sound(what: &str, told: Told) -> Result<(), String> {
    match told {
        Err(code) if is_failure(code) => Err(format!("{what} afterwards ended with {code:?}")),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether something broke, where no rule says no.
pub(crate) fn is_failure(code: Code) -> bool {
    [
        Code::Internal,
        Code::UnknownOutcome,
        Code::Busy,
        Code::DiskFull,
        Code::ReadOnly,
        Code::NetworkFilesystem,
        Code::StoreDamaged,
        Code::StoreNewer,
        Code::StoreForeign,
    ]
    .contains(&code)
}

/// A new database. It is made in a directory of this machine; how that survives is a use case of its own.
fn empty(around: &Surroundings) -> Image {
    static EMPTY: OnceLock<Image> = OnceLock::new();
    let make = || {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(DATABASE);
        SqliteStore::create(&path, &head(around)).unwrap();
        Image::default().with(DATABASE, std::fs::read(path).unwrap())
    };
    EMPTY.get_or_init(make).clone()
}

/// One file, and a clock that stands.
pub(crate) fn surroundings() -> Surroundings {
    let door = Arc::new(MemoryDoor::new().file(FILE, THEN));
    Surroundings { door, clock: Arc::new(FakeClock::at(1_796_000_000)) }
}

/// The head of a new workspace.
pub(crate) fn head(around: &Surroundings) -> Head {
    Head::new(
        WorkspaceId::from_bytes([1; 16]),
        OwnerId::from_bytes([2; 16]),
        SiteId::from_bytes([3; 16]),
        around.clock.reading(),
    )
}

/// What trial versions left behind.
const SCHEMA_1: &[u8] =
    include_bytes!("../../../../../crates/work-store/tests/data/schema-1.sqlite");

fn checkpointed(stage: &Stage, _: &Opened) {
    run(stage, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Fills the log up to a few frames before SQLite puts it into the database by itself.
fn filled(stage: &Stage, opened: &Opened) {
    const FRAMES: u64 = 1000 - 12;
    while stage.disk.size_of("work.sqlite-wal").unwrap() < FRAMES * (4096 + 24) {
        let task = opened.work.ask(&about("backups")).unwrap().task_id;
        opened.work.cancel(task).unwrap();
    }
}

/// Puts in the rule as it was.
fn stricter(stage: &Stage, opened: &Opened) {
    let (now, then) = (
        "(NEW.era, NEW.latest_ms) < (OLD.era, OLD.latest_ms)",
        "NEW.latest_ms < OLD.latest_ms OR NEW.era < OLD.era",
    );
    let connection = raw(&stage.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let rule = "SELECT sql FROM sqlite_schema WHERE name = 'head_forward'";
    let rule: String = connection.query_row(rule, [], |row| row.get(0)).unwrap();
    assert!(rule.contains(now), "the present rule");
    let rule = rule.replace(now, then);
    connection.execute_batch(&format!("DROP TRIGGER head_forward; {rule};")).unwrap();
    checkpointed(stage, opened);
}

/// Runs a statement over a connection of its own.
fn run(stage: &Stage, sql: &str) {
    let connection = raw(&stage.path(), OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    connection.query_row(sql, [], |_| Ok(())).unwrap();
}

/// Puts the log into the database, as far as it can be: a fault may be in the way, and that is told to nobody.
fn checkpoint(actor: &Actor<'_>, how: &str) {
    let connection = raw(&actor.path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()));
}

fn folder() -> HostPath {
    HostPath::from_bytes(FOLDER)
}

fn about(query: &str) -> ReportAsk {
    ReportAsk::everywhere(Query::parse(query).unwrap())
}

fn keyed(query: &str) -> ReportAsk {
    ReportAsk { key: Some("monday".to_owned()), ..about(query) }
}

fn other_rules() -> Rules {
    Rules::new(["md"], ["drafts/"], Hidden::Skipped, IgnoreFiles::Unheeded).unwrap()
}

fn told<T, E: Coded>(done: Result<T, E>) -> Told {
    done.map(drop).map_err(|error| error.code())
}

fn apply(actor: &Actor<'_>) -> Told {
    let (id, fingerprint) = actor.kept.proposal.unwrap();
    told(actor.work.apply(id, fingerprint, Channel::Library, &mut Quiet))
}

fn nothing(_: &Workspace, _: &Surroundings) -> Kept {
    Kept::default()
}

fn approved(work: &Workspace, _: &Surroundings) -> Kept {
    work.approve(&folder(), None, &mut Quiet).unwrap();
    Kept::default()
}

fn asked(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = approved(work, around);
    Kept { task: Some(work.ask(&about("backups")).unwrap().task_id), ..kept }
}

fn reported(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = approved(work, around);
    let report = work.report(&about("backups"), &mut Quiet).unwrap();
    Kept { result: Some(report.artifact_id), ..kept }
}

fn changed(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = reported(work, around);
    around.door.put(FILE, NOW);
    around.clock.advance(Duration::from_secs(60));
    kept
}

fn proposed(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = changed(work, around);
    let Repaired::Proposed(shown) = work.repair(kept.result.unwrap(), &mut Quiet).unwrap() else {
        panic!("a repair that changes nothing")
    };
    Kept { proposal: Some((shown.proposal_id, shown.fingerprint.unwrap())), ..kept }
}

fn proposed_and_changed(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = proposed(work, around);
    around.door.put(FILE, THEN);
    kept
}

fn repaired(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = proposed(work, around);
    let (id, fingerprint) = kept.proposal.unwrap();
    work.apply(id, fingerprint, Channel::Library, &mut Quiet).unwrap();
    kept
}

fn restorable(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = repaired(work, around);
    let shown = work.restore(kept.result.unwrap(), RevisionNo(1), &mut Quiet).unwrap().proposal;
    Kept { proposal: Some((shown.proposal_id, shown.fingerprint.unwrap())), ..kept }
}

fn clock_behind(work: &Workspace, around: &Surroundings) -> Kept {
    let kept = proposed(work, around);
    around.clock.set_back(Duration::from_secs(7200));
    kept
}
