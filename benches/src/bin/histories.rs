//! Truth over a real history: `histories FOLDER` makes reports over the first state of an edit history, replays it step
//! by step, and compares every result's state and every quotation's finding with what the bytes say.
//!
//! The folder holds `base/`, the first state; `NNN/`, the files that step NNN put, whole; and `steps.tsv`: step, `put` or
//! `remove`, path. What the bytes say is found here a second time, in the plainest way, so that the two can disagree.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use work_core::digest::Digest;
use work_core::document::wire::{ExcerptDoc, ResultDoc};
use work_core::path::HostPath;
use work_core::port::{Clock, Quiet};
use work_core::result::ResultState;
use work_core::retrieve::Query;
use work_core::workspace::{ReportAsk, Workspace};
use work_source::{FolderDoor, OwnFiles};
use work_store::{clock::HostClock, ids::OsIds, instance::Instance};

/// Reports are asked for the headings of the first state, at most so many of them.
const REPORTS: usize = 100;
/// What is read of a file.
const FILE_BYTES: usize = 256 * 1024;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return say(2, "usage: histories FOLDER, the folder that holds base, 001 … and steps.tsv");
    };
    match replay(&folder) {
        Ok(tally) => say(u8::from(!tally.differences.is_empty()), &tally.told()),
        Err(error) => say(1, &format!("skipped: {} cannot be read ({error})", folder.display())),
    }
}

#[expect(clippy::print_stdout, reason = "a command's output")]
fn say(code: u8, text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::from(code)
}

/// What a replay counted.
#[derive(Default)]
struct Tally {
    reports: usize,
    steps: usize,
    compared: usize,
    /// Quotations of files that a step changed, where the file was no longer as cited.
    alarms: usize,
    /// Those of them whose passage still stood in the file.
    still_there: usize,
    differences: Vec<String>,
}

impl Tally {
    fn told(&self) -> String {
        let Self { reports, steps, compared, alarms, still_there, differences } = self;
        let shown = differences.iter().take(10).map(|one| format!("\n  {one}"));
        format!(
            "{reports} reports over {steps} steps: {compared} states and findings compared, {} differ (promised: 0)\n\
             of {alarms} alarms about a whole file, {still_there} concerned a quotation that was still there{}",
            differences.len(),
            shown.collect::<String>()
        )
    }
}

fn replay(folder: &Path) -> io::Result<Tally> {
    let home = tempfile::tempdir()?;
    let docs = home.path().join("docs");
    copy(&folder.join("base"), &docs)?;
    let work = workspace(home.path(), &docs);
    let results = reports(&work, &docs)?;
    let mut tally = Tally { reports: results.len(), ..Tally::default() };
    for (step, changed) in steps(folder)? {
        changed.iter().try_for_each(|change| change.make(folder, &step, &docs))?;
        let touched: BTreeSet<&str> = changed.iter().map(|change| change.path.as_str()).collect();
        for made in &results {
            compare(&work, made, &docs, &touched, &mut tally);
        }
        tally.steps += 1;
    }
    Ok(tally)
}

fn workspace(home: &Path, docs: &Path) -> Workspace {
    let clock = Arc::new(HostClock::new());
    let desk = home.join("desk");
    let instance = Instance::create(&desk, &OsIds, clock.as_ref()).expect("an instance");
    let own = OwnFiles::in_directory(&desk).expect("an instance");
    let door = FolderDoor::guarding(own, clock.reading().boot);
    let store = instance.store(clock).expect("its records");
    let work = Workspace::new(Arc::new(store), Arc::new(door), Arc::new(OsIds));
    let root = HostPath::from_bytes(docs.as_os_str().as_encoded_bytes());
    work.approve(&root, None, &mut Quiet).expect("approved");
    work
}

/// Reports for what the headings of the first state say.
fn reports(work: &Workspace, docs: &Path) -> io::Result<Vec<ResultDoc>> {
    let mut headings = BTreeSet::new();
    for file in files(docs)? {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let first = text.lines().find_map(|line| line.strip_prefix("# ").map(str::to_owned));
        headings.extend(first);
    }
    let queries = headings.iter().filter_map(|heading| Query::parse(heading).ok()).take(REPORTS);
    let asks = queries.map(ReportAsk::everywhere);
    Ok(asks.filter_map(|ask| work.report(&ask, &mut Quiet).ok()).collect())
}

/// One change of a step.
struct Change {
    path: String,
    how: How,
}

enum How {
    Put,
    Remove,
}

impl Change {
    fn make(&self, folder: &Path, step: &str, docs: &Path) -> io::Result<()> {
        let to = docs.join(&self.path);
        match self.how {
            How::Remove => std::fs::remove_file(to),
            How::Put => {
                std::fs::create_dir_all(to.parent().unwrap_or(docs))?;
                std::fs::copy(folder.join(step).join(&self.path), to).map(drop)
            }
        }
    }
}

/// The steps in their order, each with its changes.
fn steps(folder: &Path) -> io::Result<Vec<(String, Vec<Change>)>> {
    let table = std::fs::read_to_string(folder.join("steps.tsv"))?;
    let mut steps: Vec<(String, Vec<Change>)> = Vec::new();
    for line in table.lines() {
        let mut fields = line.split('\t');
        let (Some(step), Some(how), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(io::Error::other("steps.tsv: a line without three fields"));
        };
        let how = if how == "put" { How::Put } else { How::Remove };
        if steps.last().is_none_or(|(last, _)| last != step) {
            steps.push((step.to_owned(), Vec::new()));
        }
        if let Some((_, changes)) = steps.last_mut() {
            changes.push(Change { path: path.to_owned(), how });
        }
    }
    Ok(steps)
}

/// Compares what is said of one result with what the bytes say.
fn compare(
    work: &Workspace,
    made: &ResultDoc,
    docs: &Path,
    touched: &BTreeSet<&str>,
    tally: &mut Tally,
) {
    let shown = work.show(made.artifact_id, None, &mut Quiet).expect("shown");
    let said = &shown.body.as_ref().expect("visible").excerpts;
    let mut state = ResultState::SourcesChecked;
    for (cited, said) in made.body.iter().flat_map(|body| &body.excerpts).zip(said) {
        let expected = finding(cited, docs);
        if expected.is_some() {
            state = ResultState::Stale;
            let alarm = touched.contains(cited.path.path.as_str());
            let still = matches!(expected, Some("intact" | "moved" | "ambiguous" | "cosmetic"));
            tally.alarms += usize::from(alarm);
            tally.still_there += usize::from(alarm && still);
        }
        tally.compared += 1;
        if said.finding != expected {
            let (path, n) = (&cited.path.path, cited.n);
            tally.differences.push(format!("{path} {n}: said {:?}, is {expected:?}", said.finding));
        }
    }
    tally.compared += 1;
    if shown.state != state {
        let id = shown.artifact_id;
        tally.differences.push(format!("{id}: said {:?}, is {state:?}", shown.state));
    }
}

/// What became of a quotation, from the bytes alone.
fn finding(cited: &ExcerptDoc, docs: &Path) -> Option<&'static str> {
    let Ok(file) = std::fs::read(docs.join(&cited.path.path)) else { return Some("gone") };
    let read = &file[..file.len().min(FILE_BYTES)];
    let cut = file.len() > read.len();
    let same = Digest::of(read) == cited.version.digest && file.len() as u64 == cited.version.size;
    if same {
        return None;
    }
    let [start, end] = cited.bytes.map(|at| usize::try_from(at).expect("a place in memory"));
    let wanted = cited.text.as_bytes();
    let here = read.get(start..end).is_some_and(|bytes| bytes == wanted);
    let elsewhere = read.windows(wanted.len().max(1)).filter(|window| *window == wanted).count();
    let normal = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned)
    };
    Some(match elsewhere {
        _ if here => "intact",
        1 => "moved",
        2.. => "ambiguous",
        0 if normal(read).contains(&normal(wanted)) => "cosmetic",
        0 if cut => "beyond_limit",
        0 => "altered",
    })
}

/// Every file below a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { all.extend(files(&path)?) } else { all.push(path) }
    }
    all.sort();
    Ok(all)
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for file in files(from)? {
        let below = file.strip_prefix(from).map_err(io::Error::other)?;
        let to = to.join(below);
        std::fs::create_dir_all(to.parent().unwrap_or(&to))?;
        std::fs::copy(&file, &to)?;
    }
    Ok(())
}
