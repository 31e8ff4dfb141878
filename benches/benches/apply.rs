//! Applying a proposal, beside a bare SQLite transaction that writes as many bytes with the same settings; and what
//! 100,000 revisions cost whoever applies, restores, compares, reads a history or looks at everything.
//!
//! The bare transaction inserts one blob into a table of its own, in WAL mode with `synchronous = FULL`, long enough
//! that the log grows by as many pages as one apply makes it grow. Both are on the same disk and take turns. The files
//! are real where applying is measured, and held in memory where only records are.

use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use work_benches::{median, ratio};
use work_core::document::wire::ProposalDoc;
use work_core::id::ResultId;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet, SourceDoor};
use work_core::proposal::Channel;
use work_core::result::RevisionNo;
use work_core::retrieve::Query;
use work_core::workspace::{Reading, Repaired, ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// Applies, each beside one bare transaction.
const APPLIES: u64 = 200;
/// Runs of everything else.
const RUNS: usize = 101;
/// Bytes that a page of the log takes with its frame.
const FRAME: u64 = 4096 + 24;

fn main() {
    beside_a_bare_transaction();
    among_many_revisions();
}

/// A workspace over a door, in a home of its own, with one approved folder.
fn workspace(
    home: &Path,
    door: Arc<dyn SourceDoor>,
    clock: Arc<dyn Clock>,
    docs: &Path,
) -> Workspace {
    let instance = Instance::open_or_create(home, &OsIds, clock.as_ref()).expect("an instance");
    let store = Arc::new(instance.store(clock).expect("its records"));
    let work = Workspace::new(store, door, Arc::new(OsIds));
    let root = HostPath::from_bytes(docs.as_os_str().as_encoded_bytes());
    work.approve(&root, None, &mut Quiet).expect("approved");
    work
}

fn report(work: &Workspace) -> ResultId {
    let ask = ReportAsk::everywhere(Query::parse("backups kept").expect("a query"));
    work.report(&ask, &mut Quiet).expect("a report").artifact_id
}

fn restore(work: &Workspace, result: ResultId, no: u64) -> ProposalDoc {
    work.restore(result, RevisionNo(no), &mut Quiet).expect("a proposal").proposal
}

fn apply(work: &Workspace, proposal: &ProposalDoc) {
    let fingerprint = proposal.fingerprint.expect("visible");
    let channel = Channel::Library;
    work.apply(proposal.proposal_id, fingerprint, channel, &mut Quiet).expect("applied");
}

/// Two revisions of one result: `write` changes what it quotes.
fn two_revisions(work: &Workspace, write: impl Fn(&str)) -> ResultId {
    write("Backups are kept for 35 days.\n");
    let result = report(work);
    write("Backups are kept for 40 days.\n");
    let Repaired::Proposed(repair) = work.repair(result, &mut Quiet).expect("a repair") else {
        panic!("the file was changed");
    };
    apply(work, &repair);
    result
}

fn beside_a_bare_transaction() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (desk, docs) = (home.path().join("desk"), home.path().join("docs"));
    std::fs::create_dir(&docs).expect("a folder");
    let file = docs.join("backups.md");
    std::fs::write(&file, "Backups.\n").expect("a file");
    let clock = Arc::new(HostClock::new());
    drop(Instance::open_or_create(&desk, &OsIds, clock.as_ref()).expect("an instance"));
    let own = OwnFiles::in_directory(&desk).expect("an instance");
    let door = Arc::new(FolderDoor::guarding(own, clock.reading().boot));
    let work = workspace(&desk, door, clock, &docs);
    let result = two_revisions(&work, |text| std::fs::write(&file, text).expect("a file"));
    let log = desk.join("work.sqlite-wal");
    let pages = pages_of_one_apply(&work, result, &log);
    let bare = Bare::new(&home.path().join("bare.sqlite"), pages);
    let (mut applies, mut bares) = (Vec::new(), Vec::new());
    for n in 0..APPLIES {
        let proposal = restore(&work, result, 1 + n % 2);
        applies.push(timed(|| apply(&work, &proposal)));
        bares.push(timed(|| bare.write()));
    }
    let [apply, bare] = [applies, bares].map(middle);
    say(&format!(
        "apply, {pages} pages of log, its sources read again: {apply:.0?}, a bare transaction of as many {bare:.0?}, \
         ratio {:.2} (promised: 1.5)",
        ratio(apply, bare)
    ));
}

/// How many pages the log grows by in one apply, the fewest of some: a log that was begun anew tells nothing.
fn pages_of_one_apply(work: &Workspace, result: ResultId, log: &Path) -> u64 {
    let size = || std::fs::metadata(log).map_or(0, |log| log.len());
    let grown = (0..20).filter_map(|n| {
        let proposal = restore(work, result, 1 + n % 2);
        let before = size();
        apply(work, &proposal);
        size().checked_sub(before).filter(|&grown| grown > 0)
    });
    grown.min().expect("a log that grows") / FRAME
}

/// A database that takes one blob a transaction.
struct Bare {
    connection: Connection,
    blob: Vec<u8>,
}

impl Bare {
    /// With blobs that make the log grow by `pages`.
    fn new(path: &Path, pages: u64) -> Self {
        let connection = Connection::open(path).expect("a database");
        let settings =
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (b BLOB);";
        connection.execute_batch(settings).expect("a table");
        let log = path.with_extension("sqlite-wal");
        let mut bare = Self { connection, blob: Vec::new() };
        let size = || std::fs::metadata(&log).map_or(0, |log| log.len());
        loop {
            let before = size();
            bare.write();
            if (size() - before) / FRAME >= pages {
                return bare;
            }
            bare.blob.resize(bare.blob.len() + 1024, 7);
        }
    }

    fn write(&self) {
        self.connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        self.connection.execute("INSERT INTO t VALUES (?1)", [&self.blob]).expect("a row");
        self.connection.execute_batch("COMMIT").expect("a commit");
    }
}

fn among_many_revisions() {
    let [few, many] = [2, 2000].map(|revisions| Times::among(50, revisions));
    for (what, many, few) in [
        ("apply", many.apply, few.apply),
        ("restore", many.restore, few.restore),
        ("compare", many.compare, few.compare),
        ("history", many.history, few.history),
        ("show", many.show, few.show),
        ("proposals", many.proposals, few.proposals),
        ("status of 50 results", many.status, few.status),
        ("refresh of 50 results", many.refresh, few.refresh),
    ] {
        say(&format!(
            "{what}: {many:.0?} among 100,000 revisions, {few:.0?} among 100, ratio {:.2} (promised: 1.5)",
            ratio(many, few)
        ));
    }
}

/// Medians in one workspace, of work on one of its results.
struct Times {
    apply: Duration,
    restore: Duration,
    compare: Duration,
    history: Duration,
    show: Duration,
    proposals: Duration,
    status: Duration,
    refresh: Duration,
}

impl Times {
    /// Among so many results of so many revisions each. They are made where a sync costs nothing, and then moved to the
    /// disk.
    fn among(results: u64, revisions: u64) -> Self {
        let fast =
            tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let home = tempfile::tempdir().expect("a temporary folder");
        let door = Arc::new(MemoryDoor::new().file("/docs/backups.md", "Backups.\n"));
        let write = |text: &str| door.put("/docs/backups.md", text);
        let clock: Arc<dyn Clock> = Arc::new(HostClock::new());
        let one = {
            let desk = fast.path().join("desk");
            let work = workspace(&desk, door.clone(), clock.clone(), Path::new("/docs"));
            let made: Vec<ResultId> =
                (0..results).map(|_| filled(&work, write, revisions)).collect();
            made[made.len() / 2]
        };
        let desk = home.path().join("desk");
        std::fs::rename(fast.path().join("desk"), &desk)
            .or_else(|_| copied(&fast.path().join("desk"), &desk))
            .expect("moved");
        let work = workspace(&desk, door, clock, Path::new("/docs"));
        Self::of(&work, one)
    }

    fn of(work: &Workspace, result: ResultId) -> Self {
        let mut turns = 0..;
        let mut next = || 1 + turns.next().expect("endless") % 2;
        let (mut restores, mut applies) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let no = next();
            let mut proposal = None;
            restores.push(timed(|| proposal = Some(restore(work, result, no))));
            applies.push(timed(|| apply(work, &proposal.expect("prepared"))));
        }
        Self {
            apply: middle(applies),
            restore: middle(restores),
            compare: median(RUNS, || {
                drop(work.compare(result, RevisionNo(1), &mut Quiet).expect("a comparison"));
            }),
            history: median(RUNS, || {
                drop(work.history(result, None, &mut Quiet).expect("a history"));
            }),
            show: median(RUNS, || drop(work.show(result, None, &mut Quiet).expect("shown"))),
            proposals: median(RUNS, || drop(work.proposals(None).expect("a list"))),
            status: median(RUNS, || {
                drop(work.status(Reading::Again, &mut Quiet).expect("a status"));
            }),
            refresh: median(RUNS, || drop(work.refresh(&mut Quiet).expect("a refresh"))),
        }
    }
}

/// A result with so many revisions.
fn filled(work: &Workspace, write: impl Fn(&str), revisions: u64) -> ResultId {
    let result = two_revisions(work, write);
    for n in 2..revisions {
        apply(work, &restore(work, result, 1 + n % 2));
    }
    result
}

/// Copies a directory of files.
fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[expect(clippy::print_stdout, reason = "a measure's output")]
fn say(text: &str) {
    println!("{text}");
}
