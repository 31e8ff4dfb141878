//! Random trees, scanned by the door and by a plain reference: the same files in the same order, the same reasons.
#![expect(clippy::unwrap_used, reason = "what goes wrong while a proof is set up ends it")]

use crate::ground::{self, Reads};
use crate::seed::Seed;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use work_core::folder::Rules;
use work_core::limits::ScanLimits;
use work_core::report::SkipReason;

/// Names of entries, of every kind that matters to the rules.
const NAMES: [&[u8]; 14] = [
    b"a.md",
    b"A.md",
    b"b.TXT",
    b"c.rs",
    b"md",
    b".h.md",
    b"x\xff.md",
    b"x\xfe.md",
    b"n\nl.md",
    b"d",
    b"D",
    b"e e",
    b".d",
    b"f.md",
];

/// Directories gone down at most, so that some trees are too deep.
const DEPTH: usize = 3;

/// What a scan comes to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Record {
    files: Vec<(Vec<u8>, Vec<u8>)>,
    skipped: BTreeMap<SkipReason, u64>,
    entries: u64,
}

/// The reference under way.
struct Walk {
    record: Record,
    room: u64,
}

/// Builds the tree of this seed and compares both in one of the ways.
pub(super) fn compare(seed: u64) -> Result<(), String> {
    let (top, mut dice) = (tempfile::tempdir().unwrap(), Seed::new(seed));
    let [root, own] = ["m", "instance"].map(|name| top.path().join(name));
    std::fs::create_dir(&own).unwrap();
    grow(&root, 0, &mut dice);
    let entries = if dice.once_in(2) { 1 + dice.below(40) as u64 } else { 200_000 };
    let mut walk = Walk { record: Record::default(), room: entries };
    walk.go(&root, &[], 0);
    let doors = ground::doors(&own, Duration::from_secs(20));
    let door = dice.one_of(&doors);
    let limits = ScanLimits { entries, depth: DEPTH, ..ScanLimits::standard() };
    let grants = [ground::grant(1, &root, Rules::standard())];
    let reads = Arc::new(Reads::default());
    let (scanned, given) = ground::scan(door, &grants, &[ground::id(1)], limits, &reads);
    let counts = &scanned.folders[0].counts;
    let found = Record {
        files: given.into_iter().map(|one| (one.place.path.bytes().to_vec(), one.bytes)).collect(),
        skipped: counts.skipped.clone(),
        entries: counts.entries,
    };
    if found == walk.record {
        return Ok(());
    }
    Err(format!("the door: {found:?}, the reference: {:?}, {door:?}", walk.record))
}

/// Fills a new directory.
fn grow(at: &Path, depth: usize, dice: &mut Seed) {
    std::fs::create_dir(at).unwrap();
    for name in NAMES {
        if !dice.once_in(3) {
            continue;
        }
        let path = at.join(OsStr::from_bytes(name));
        match dice.below(8) {
            0 => std::os::unix::fs::symlink("a.md", path).unwrap(),
            1 => mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap(),
            2 | 3 if depth <= DEPTH => grow(&path, depth + 1, dice),
            _ => std::fs::write(path, name).unwrap(),
        }
    }
}

impl Walk {
    /// Lists a directory as the rules say: names in the order of their bytes, its files, then its directories.
    fn go(&mut self, at: &Path, above: &[u8], depth: usize) {
        let mut names: Vec<Vec<u8>> = std::fs::read_dir(at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().as_bytes().to_vec())
            .collect();
        names.sort();
        let is_full = names.len() as u64 > self.room;
        names.truncate(usize::try_from(self.room).unwrap());
        self.room -= names.len() as u64;
        self.record.entries += names.len() as u64;
        let mut below = Vec::new();
        for name in names {
            let path = at.join(OsStr::from_bytes(&name));
            self.enter(path, [above, &name].concat(), &name, depth, &mut below);
        }
        if is_full {
            self.room = 0;
        }
        for (path, name) in below {
            self.go(&path, &[&name, b"/".as_slice()].concat(), depth + 1);
        }
    }

    /// Decides on one entry, by the first reason that holds.
    fn enter(
        &mut self,
        path: PathBuf,
        whole: Vec<u8>,
        name: &[u8],
        depth: usize,
        below: &mut Vec<(PathBuf, Vec<u8>)>,
    ) {
        let kind = path.symlink_metadata().unwrap().file_type();
        let reads = [".md", ".txt"].iter().any(|end| {
            name.len() > end.len() && name.to_ascii_lowercase().ends_with(end.as_bytes())
        });
        let reason = if kind.is_symlink() {
            SkipReason::Link
        } else if name.starts_with(b".") {
            SkipReason::Hidden
        } else if kind.is_dir() && depth < DEPTH {
            return below.push((path, whole));
        } else if kind.is_dir() {
            SkipReason::TooDeep
        } else if !kind.is_file() {
            SkipReason::Special
        } else if reads {
            let bytes = std::fs::read(path).unwrap();
            return self.record.files.push((whole, bytes));
        } else {
            SkipReason::Extension
        };
        *self.record.skipped.entry(reason).or_default() += 1;
    }
}
