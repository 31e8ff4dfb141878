//! `status` over 1,000 results that cite 5,000 sources of 2 KiB, and `refresh` over 128 sources of 256 KiB, beside a
//! bare loop over the same files and beside `git status` on the same clean tree. Everything is real: the store is
//! SQLite on the disk, and each answer is delivered as a front end gets it.
//!
//! The commit of what was seen is stated apart: the first look after a change of every file, beside one that finds
//! nothing new.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use work_benches::peers::{self, paired};
use work_core::id::GrantId;
use work_core::limits::ScanLimits;
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet};
use work_core::retrieve::Query;
use work_core::workspace::{Reading, ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// Sources of one result.
const CITED: usize = 5;
/// Results that search one folder.
const IN_A_FOLDER: usize = 200;

fn main() {
    let many = Desk::new(1000, 2 * 1024);
    let threads = ScanLimits::standard().threads;
    let git = peers::git_status(&many.docs());
    // Until no file is young, so that stamps may be trusted; then one look that keeps them.
    std::thread::sleep(Duration::from_millis(100));
    many.status(Reading::Again);
    let read =
        paired(|| many.status(Reading::Again), || peers::read_and_hash(&many.files, threads));
    let what = "status of 1,000 results and 5,000 sources of 2 KiB";
    say(&read.told(&format!("{what}, all read again"), "a bare loop", 3.0));
    match git {
        Some(git) => {
            let trusted = paired(|| many.status(Reading::Trusting), || peers::run(git()));
            say(&trusted.told(&format!("{what}, trusting"), "git status", 5.0));
        }
        None => say("skipped: git is not installed"),
    }
    let large = Desk::new(26, 256 * 1024);
    std::thread::sleep(Duration::from_millis(100));
    large.refresh();
    let read = paired(|| large.refresh(), || peers::read_and_hash(&large.files, threads));
    say(&read.told("refresh of 130 sources of 256 KiB", "a bare loop", 1.3));
    large.touch_all();
    std::thread::sleep(Duration::from_millis(100));
    let (first, second) = (timed(|| large.refresh()), timed(|| large.refresh()));
    say(&format!(
        "the same after every file has changed: {first:.1?} with the findings and the one commit, {second:.1?} without"
    ));
}

/// A workspace over real files, each cited by one result.
struct Desk {
    home: tempfile::TempDir,
    work: Workspace,
    files: Vec<PathBuf>,
}

impl Desk {
    /// So many results, each of five files of so many bytes.
    fn new(results: usize, bytes: usize) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let (desk, docs) = (home.path().join("desk"), home.path().join("docs"));
        let files = (0..results * CITED).map(|n| write(&docs, n, bytes)).collect();
        let clock = Arc::new(HostClock::new());
        let instance = Instance::create(&desk, &OsIds, clock.as_ref()).expect("an instance");
        let own = OwnFiles::in_directory(&desk).expect("an instance");
        let door = FolderDoor::guarding(own, clock.reading().boot);
        let store = Arc::new(instance.store(clock).expect("its records"));
        let work = Workspace::new(store, Arc::new(door), Arc::new(OsIds));
        let desk = Self { home, work, files };
        for folder in 0..results.div_ceil(IN_A_FOLDER) {
            let grant = desk.approve(&desk.docs().join(folder.to_string()));
            let last = results.min((folder + 1) * IN_A_FOLDER);
            (folder * IN_A_FOLDER..last).for_each(|result| desk.report(result, grant));
        }
        desk
    }

    fn docs(&self) -> PathBuf {
        self.home.path().join("docs")
    }

    fn approve(&self, folder: &Path) -> GrantId {
        let root = HostPath::from_bytes(folder.as_os_str().as_encoded_bytes());
        self.work.approve(&root, None, &mut Quiet).expect("approved").folder.folder
    }

    /// A report that quotes five files.
    fn report(&self, result: usize, grant: GrantId) {
        let query = Query::parse(&format!("\"{}\"", word(result))).expect("a query");
        let ask = ReportAsk { query, folders: Some(vec![grant]), key: None };
        let body = self.work.report(&ask, &mut Quiet).expect("a report").body.expect("visible");
        let cited: BTreeSet<_> = body.excerpts.iter().map(|one| one.source_id).collect();
        assert_eq!(cited.len(), CITED, "each of its files is cited");
    }

    fn status(&self, reading: Reading) {
        let status = self.work.status(reading, &mut Quiet).expect("a status");
        assert_eq!(status.sources.looked_at, self.files.len() as u64, "all were looked at");
        assert_eq!(status.counts.stale, 0);
    }

    fn refresh(&self) {
        let refresh = self.work.refresh(&mut Quiet).expect("a refresh");
        assert_eq!(refresh.looked_at, self.files.len() as u64, "all were looked at");
    }

    /// Changes each file at its end, where nobody quotes it.
    fn touch_all(&self) {
        for file in &self.files {
            let mut text = fs::read_to_string(file).expect("a file");
            text.replace_range(text.len() - 2.., ".\n");
            text.replace_range(text.len() - 3..text.len() - 2, "!");
            fs::write(file, text).expect("a file");
        }
    }
}

/// The word that only the files of one result have.
fn word(result: usize) -> String {
    let letters = |n: usize| char::from(b'a' + u8::try_from(n % 26).expect("a letter"));
    format!("q{}{}{}z", letters(result), letters(result / 26), letters(result / 676))
}

/// Writes file number `n`: a passage that one result quotes, and lines that nobody does.
fn write(docs: &Path, n: usize, bytes: usize) -> PathBuf {
    let result = n / CITED;
    let folder = docs.join((result / IN_A_FOLDER).to_string()).join(format!("{:02}", n % 100));
    fs::create_dir_all(&folder).expect("a folder");
    let quoted = format!("The word of page {n} is {}.\n\n", word(result));
    let line = format!("{n}: backups are kept for thirty days, then they are removed.\n");
    let text = format!("{quoted}{}", line.repeat(bytes / line.len() + 1));
    let file = folder.join(format!("{n}.md"));
    fs::write(&file, &text[..bytes]).expect("a file");
    file
}

fn timed(run: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

#[expect(clippy::print_stdout, reason = "a measure's output")]
fn say(text: &str) {
    println!("{text}");
}
