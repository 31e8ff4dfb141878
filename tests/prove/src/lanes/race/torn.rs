//! Files that are rewritten piece by piece while they are read.
//!
//! Each file is asked for when it has been left alone for long enough that it is read once, and its writer begins when
//! the door has looked at it: the moment in which a reader can be caught with a piece of one state and one of the next.
//!
//! Every piece of a file begins with a seal, its number. It is rewritten from its beginning with the next number, so
//! what stands there at any moment is the next number as far as the writer has come, and the old one from there on.
//! Bytes are those of one moment exactly if their seals are such a row: [`is_a_moment`].
#![expect(clippy::unwrap_used, reason = "what goes wrong while a proof is set up ends it")]

use super::judge::Tally;
use crate::ground;
use crate::seed::Seed;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use work_core::folder::{Grant, Rules};
use work_core::limits::ScanLimits;
use work_core::port::{Ground, Place, Probe, Quiet, SourceDoor};
use work_source::FolderDoor;

/// Files, so many that each is old again when its turn comes.
const FILES: usize = 1024;

/// Pieces of a file.
const PIECES: usize = 8;

/// Bytes of a piece.
const PIECE: usize = 16 * 1024;

/// No file is to be rewritten.
const NONE: usize = usize::MAX;

/// Nanoseconds that a writer waits at most before it begins.
const WAIT_NS: usize = 30_000;

/// How long a reader waits for the writer at most, so that both run when the race begins.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long a write call may take before what it does is more than the door promises to notice: a change is stamped
/// when its call begins, and two ticks of the clock are allowed for.
const HELD_UP: Duration = Duration::from_millis(10);

/// The files.
pub(super) struct Pool {
    _top: tempfile::TempDir,
    grants: [Grant; 1],
    /// Each with its number.
    files: Vec<(File, AtomicU64)>,
}

/// What the reader and the writer of one fight share.
struct Ring {
    /// The file to be rewritten.
    asked: AtomicUsize,
    stop: AtomicBool,
    rewritten: AtomicU64,
    /// Write calls that were held up.
    slow: Mutex<Vec<[Instant; 2]>>,
    /// What is wrong with the first bytes that are not of one moment.
    mixture: Mutex<Option<String>>,
}

/// Bytes that are not of one moment.
struct Mixture {
    what: String,
    /// When they were read.
    during: [Instant; 2],
    /// Files that had been asked for.
    asked: u64,
}

impl Pool {
    /// Makes them.
    pub(super) fn build() -> Self {
        let top = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..FILES).map(|no| format!("{no:04}.md")).collect();
        let made = |name: &String| (made(&top.path().join(name)), AtomicU64::new(0));
        let files = names.iter().map(made).collect();
        let grants = [ground::grant(1, top.path(), Rules::standard())];
        Self { grants, files, _top: top }
    }

    /// Reads files while they are rewritten, until `opens` were asked for.
    pub(super) fn fight(
        &self,
        door: &FolderDoor,
        (seed, opens): (u64, u64),
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut left = opens;
        while left > 0 {
            let ring = Arc::new(Ring::new());
            let read = std::thread::scope(|scope| {
                scope.spawn(|| self.write(&ring, Seed::new(seed)));
                let read = self.read(door, left, &ring, tally);
                ring.stop.store(true, Ordering::Relaxed);
                read
            });
            tally.attacks += ring.rewritten.load(Ordering::Relaxed);
            match read {
                None => return Ok(()),
                Some(mixture) if ring.held_up(mixture.during) => {
                    tally.held_up += 1;
                    left = left.saturating_sub(mixture.asked);
                }
                Some(mixture) => return Err(mixture.what),
            }
        }
        Ok(())
    }

    /// Reads, until `opens` files were asked for or bytes are a mixture.
    fn read(
        &self,
        door: &FolderDoor,
        opens: u64,
        ring: &Arc<Ring>,
        tally: &mut Tally,
    ) -> Option<Mixture> {
        let limits = ScanLimits { threads: 1, ..ScanLimits::standard() };
        let mut asked = 0;
        while asked < opens {
            let begun = Instant::now();
            let probe: Arc<dyn Probe> = Arc::<Ring>::clone(ring);
            let ground = Ground { grants: &self.grants, scope: &[ground::id(1)], limits };
            // A scan, because a look would spend its time on digests.
            let scanned = door.scan(ground, probe, &mut Quiet);
            tally.count_scan(&scanned.folders[0].counts);
            asked += FILES as u64;
            if let Some(what) = ring.mixture.lock().unwrap().take() {
                return Some(Mixture { what, during: [begun, Instant::now()], asked });
            }
        }
        None
    }

    /// Rewrites each file that is asked for, until told to stop.
    fn write(&self, ring: &Ring, mut seed: Seed) {
        while !ring.stop.load(Ordering::Relaxed) {
            let asked = ring.asked.swap(NONE, Ordering::Relaxed);
            let Some((file, number)) = self.files.get(asked) else {
                std::hint::spin_loop();
                continue;
            };
            let wait = Duration::from_nanos(seed.below(WAIT_NS) as u64);
            let begun = Instant::now();
            while begun.elapsed() < wait {
                std::hint::spin_loop();
            }
            let next = number.fetch_add(1, Ordering::Relaxed) + 1;
            (0..PIECES).for_each(|piece| ring.seal(file, piece, next));
            ring.rewritten.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Ring {
    fn new() -> Self {
        Self {
            asked: AtomicUsize::new(NONE),
            stop: AtomicBool::new(false),
            rewritten: AtomicU64::new(0),
            slow: Mutex::default(),
            mixture: Mutex::default(),
        }
    }

    /// Writes one seal, and remembers if that was held up.
    fn seal(&self, file: &File, piece: usize, number: u64) {
        let begun = Instant::now();
        file.write_all_at(&number.to_be_bytes(), (piece * PIECE) as u64).unwrap();
        let ended = Instant::now();
        if ended - begun > HELD_UP {
            self.slow.lock().unwrap().push([begun, ended]);
        }
    }

    /// Whether a write was held up at some time in there. Asked when the writer has ended.
    fn held_up(&self, [begun, ended]: [Instant; 2]) -> bool {
        self.slow.lock().unwrap().iter().any(|slow| slow[0] < ended && begun < slow[1])
    }
}

/// A file with all its seals, and nothing else in it.
fn made(path: &Path) -> File {
    let file = File::create(path).unwrap();
    file.set_len((PIECES * PIECE) as u64).unwrap();
    (0..PIECES).for_each(|no| file.write_all_at(&[0; 8], (no * PIECE) as u64).unwrap());
    file
}

impl Probe for Ring {
    /// Has the file rewritten, and lets the door go on when its writer is there. Files are visited in the order of
    /// their names, which are their numbers.
    fn wants(&self, place: &Place, _: u64) -> bool {
        self.asked.store(usize::try_from(place.turn).unwrap(), Ordering::Relaxed);
        let begun = Instant::now();
        while self.asked.load(Ordering::Relaxed) != NONE && begun.elapsed() < PATIENCE {
            std::hint::spin_loop();
        }
        true
    }

    fn file(&self, place: Place, bytes: &[u8], _: u64) {
        let seals = seals(bytes);
        if !is_a_moment(&seals) {
            let what = || format!("{} was read with the seals {seals:?}", place.path);
            self.mixture.lock().unwrap().get_or_insert_with(what);
        }
    }
}

/// The number of each piece.
fn seals(bytes: &[u8]) -> Vec<u64> {
    let seal =
        |piece: &[u8]| piece.first_chunk().map_or(u64::MAX, |seal| u64::from_be_bytes(*seal));
    bytes.chunks(PIECE).map(seal).collect()
}

/// Whether a file ever had these seals at one moment.
fn is_a_moment(seals: &[u64]) -> bool {
    let steps = seals.windows(2).filter(|two| two[0] != two[1]).map(|two| (two[0], two[1]));
    let steps: Vec<(u64, u64)> = steps.collect();
    seals.len() == PIECES && steps.iter().all(|(new, old)| *new == old + 1) && steps.len() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: G4
    #[test]
    fn a_moment_is_one_state_or_the_next_one_as_far_as_the_writer_has_come() {
        for (seals, is) in [
            ([7, 7, 7, 7, 7, 7, 7, 7], true),
            ([8, 7, 7, 7, 7, 7, 7, 7], true),
            ([8, 8, 8, 8, 8, 8, 8, 7], true),
            ([7, 7, 7, 7, 7, 7, 7, 8], false),
            ([8, 7, 7, 8, 8, 8, 8, 8], false),
            ([9, 7, 7, 7, 7, 7, 7, 7], false),
            ([9, 8, 7, 7, 7, 7, 7, 7], false),
        ] {
            assert_eq!(is_a_moment(&seals), is, "{seals:?}");
        }
        assert!(!is_a_moment(&[7; PIECES - 1]), "a piece is missing");
    }
}
