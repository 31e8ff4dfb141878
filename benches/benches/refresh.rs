//! A look at many sources beside a bare loop over the same files, and beside `git status` on the same clean tree.
//!
//! The bare loop opens, reads and hashes with the same digest crate and as many threads, and checks nothing. `git status`
//! reads no file whose stamp its index knows, and neither does the look beside it. This is the door alone: what a store
//! adds is measured elsewhere. Needs `git` for the last number; says so and skips it where it is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use work_benches::peers::{self, paired};
use work_core::folder::{Grant, GrantState, Rules};
use work_core::id::{BootId, GrantId, SiteId};
use work_core::limits::ScanLimits;
use work_core::path::{HostPath, RelPath};
use work_core::port::{Ground, Known, Place, Probe, Quiet, SourceDoor, Want};
use work_core::source::{Look, Seen};
use work_core::time::Timestamp;
use work_source::FolderDoor;

/// Files in one directory.
const TOGETHER: usize = 100;

fn main() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let large = Tree::write(home.path().join("large"), 128, 256 * 1024);
    let small = Tree::write(home.path().join("small"), 5000, 2 * 1024);
    let status = peers::git_status(&small.root);
    // Until no file is young: a file that was just written is read twice, and git would not trust its own stamps.
    std::thread::sleep(Duration::from_millis(100));
    let threads = ScanLimits::standard().threads;
    let read = |tree: &Tree| {
        let wants = tree.wants(|_| None);
        paired(|| drop(tree.look(&wants)), || peers::read_and_hash(&tree.files, threads))
    };
    let bare = "a bare loop";
    print(&read(&large).told("128 files of 256 KiB, read again by the door", bare, 1.3));
    print(&read(&small).told("5,000 files of 2 KiB, read again by the door", bare, 3.0));
    let known = small.known();
    let wants = small.wants(|at| Some(known[at]));
    match status {
        Some(status) => {
            let both = paired(|| drop(small.look(&wants)), || peers::run(status()));
            print(&both.told("5,000 files of 2 KiB, trusted by the door", "git status", 5.0));
        }
        None => print("skipped: git is not installed"),
    }
}

/// A folder of files, approved.
struct Tree {
    root: PathBuf,
    files: Vec<PathBuf>,
    door: FolderDoor,
    grants: [Grant; 1],
}

impl Tree {
    /// Writes so many files of so many bytes.
    fn write(root: PathBuf, files: usize, bytes: usize) -> Self {
        let path = |n: usize| root.join(format!("{:02}", n / TOGETHER)).join(format!("{n:04}.md"));
        let files: Vec<PathBuf> = (0..files).map(path).collect();
        for (n, file) in files.iter().enumerate() {
            fs::create_dir_all(file.parent().expect("a folder above")).expect("a folder");
            let line = format!("{n}: backups are kept for thirty days, then they are removed.\n");
            fs::write(file, &line.repeat(bytes / line.len() + 1)[..bytes]).expect("a file");
        }
        let door = FolderDoor::without_instance(BootId::from_bytes([0; 16]));
        let grants = [approved(&door, &root)];
        Self { root, files, door, grants }
    }

    /// What to ask of the door, with what is known of each file by its number.
    fn wants(&self, known: impl Fn(usize) -> Option<Known>) -> Vec<Want> {
        let below = |file: &Path| {
            let below = file.strip_prefix(&self.root).expect("a file of this folder");
            RelPath::new(below.as_os_str().as_encoded_bytes()).expect("a path")
        };
        let want = |(at, file): (usize, &PathBuf)| Want {
            grant: self.grants[0].id,
            path: below(file),
            known: known(at),
        };
        self.files.iter().enumerate().map(want).collect()
    }

    /// Ours. Every file must have been seen.
    fn look(&self, wants: &[Want]) -> Vec<Look> {
        let ground = Ground { grants: &self.grants, scope: &[], limits: ScanLimits::standard() };
        let looks = self.door.look(ground, wants, Arc::new(Ignored), &mut Quiet);
        let seen = |look: &Look| matches!(look, Look::Saw { seen: Seen::Bytes(_), .. });
        assert!(looks.iter().all(seen), "a file was not seen");
        looks
    }

    /// What a look lets the next one trust.
    fn known(&self) -> Vec<Known> {
        let known = |look: Look| match look {
            Look::Saw { seen: Seen::Bytes(version), owner, stamp: Some(stamp) } => {
                Known { stamp, version, owner }
            }
            Look::Saw { .. } | Look::NotReached => panic!("a file has no stamp: {look:?}"),
        };
        self.look(&self.wants(|_| None)).into_iter().map(known).collect()
    }
}

fn approved(door: &FolderDoor, root: &Path) -> Grant {
    let named = HostPath::from_bytes(root.as_os_str().as_encoded_bytes());
    let root = door.admit(&named).expect("a folder that may be approved");
    Grant {
        id: GrantId::from_bytes([1; 16]),
        site: SiteId::from_bytes([0; 16]),
        label: String::new(),
        identity: root.identity,
        root: root.path,
        rules: Rules::standard(),
        state: GrantState::Active,
        approved_at: Timestamp::from_seconds(0),
        since_look: 0,
        swept_at: None,
    }
}

/// Takes all bytes and does nothing with them.
struct Ignored;

impl Probe for Ignored {
    fn wants(&self, _: &Place, _: u64) -> bool {
        true
    }

    fn file(&self, _: Place, _: &[u8], _: u64) {}
}

#[expect(clippy::print_stdout, reason = "a measure's output")]
fn print(text: &str) {
    println!("{text}");
}
