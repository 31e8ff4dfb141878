//! Peers of a look at many files: a bare loop that reads and hashes them, and `git status` on the same clean tree.

use crate::ratio;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Pairs of runs, ours and the peer's in turn.
const PAIRS: usize = 31;

/// Opens, reads and hashes each file, on so many threads, and checks nothing.
///
/// # Panics
/// When a file cannot be read.
pub fn read_and_hash(files: &[PathBuf], threads: usize) {
    let next = AtomicUsize::new(0);
    let hashed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut buffer = Vec::new();
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    buffer.clear();
                    let mut file = File::open(file).expect("a file");
                    file.read_to_end(&mut buffer).expect("its bytes");
                    std::hint::black_box(Sha256::digest(&buffer));
                    hashed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(hashed.into_inner(), files.len(), "a file was not hashed");
}

/// Makes a clean repository of a folder; answers the command that tells its status.
///
/// `None` where git is missing.
///
/// # Panics
/// When git fails.
#[must_use]
pub fn git_status(root: &Path) -> Option<impl Fn() -> Command + use<>> {
    let root = root.to_owned();
    let git = move |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&root).args(["-c", "core.fsmonitor=false"]);
        command.args(["-c", "core.untrackedCache=false", "-c", "gc.auto=0"]).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    git(&["version"]).status().ok()?;
    run(git(&["init"]));
    // Later than the files, so that the index may trust their stamps.
    std::thread::sleep(Duration::from_millis(100));
    run(git(&["add", "--all"]));
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    run(git(&[&author[..], &["commit", "-m", "files"]].concat()));
    Some(move || git(&["status", "--porcelain"]))
}

/// Runs a command.
///
/// # Panics
/// When it fails.
pub fn run(mut command: Command) {
    assert!(command.status().expect("a child of ours").success(), "{command:?}");
}

/// Medians of both, and of the ratios of each pair.
#[derive(Clone, Copy, Debug)]
pub struct Paired {
    /// Of ours.
    pub ours: Duration,
    /// Of the peer.
    pub peers: Duration,
    /// Of ours to the peer's, pair by pair.
    pub ratio: f64,
}

/// Runs both in turn, after a pair that does not count.
pub fn paired(mut ours: impl FnMut(), mut peer: impl FnMut()) -> Paired {
    let mut pairs: Vec<[Duration; 2]> =
        (0..=PAIRS).map(|_| [timed(&mut ours), timed(&mut peer)]).skip(1).collect();
    let mut ratios: Vec<f64> = pairs.iter().map(|[ours, peers]| ratio(*ours, *peers)).collect();
    ratios.sort_by(f64::total_cmp);
    let mut median = |which: usize| {
        pairs.sort_by_key(|pair| pair[which]);
        pairs[PAIRS / 2][which]
    };
    Paired { ours: median(0), peers: median(1), ratio: ratios[PAIRS / 2] }
}

fn timed(run: &mut impl FnMut()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}

impl Paired {
    /// Tells all of it, with what is promised.
    #[must_use]
    pub fn told(&self, what: &str, peer: &str, promised: f64) -> String {
        let Self { ours, peers, ratio } = self;
        format!("{what}: {ours:.1?}, {peer} {peers:.1?}, ratio {ratio:.2} (promised: {promised})")
    }
}
