//! The adversary is a thread of its own that exchanges without a pause while others read.
#![expect(clippy::unwrap_used, reason = "a panic of the adversary is to end the proof")]

use super::judge::{self, Tally};
use super::stage::{FILES, Spot, Stage, Thing};
use crate::ground::{self, Reads};
use crate::seed::Seed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use work_core::limits::ScanLimits;
use work_core::path::RelPath;
use work_core::source::{Look, Seen};
use work_source::FolderDoor;

/// Looks between two scans.
const LOOKS: u64 = 24;

/// What is exchanged with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bout {
    /// Directories with links that lead outside.
    Directories,
    /// Files with links, FIFOs, sockets, directories and other files.
    Files,
    /// Files with the instance's own, and a directory with the instance's.
    Own,
    /// A directory with the revoked folder.
    Revoked,
}

impl Bout {
    /// Each of them.
    pub(super) const ALL: [Self; 4] = [Self::Directories, Self::Files, Self::Own, Self::Revoked];

    const fn pairs(self) -> &'static [(&'static str, Thing)] {
        match self {
            Self::Directories => &[
                ("sub", Thing::LinkToDirectory),
                ("sub/deep", Thing::LinkToDirectory),
                ("open", Thing::LinkUp),
            ],
            Self::Files => &[
                ("a.md", Thing::LinkToFile),
                ("b.md", Thing::Fifo),
                ("sub/a.md", Thing::Socket),
                ("sub/b.md", Thing::LinkInside),
                ("sub/deep/a.md", Thing::File),
                ("open/deep/a.md", Thing::Directory),
            ],
            Self::Own => &[
                ("a.md", Thing::OwnMemory),
                ("sub/a.md", Thing::OwnDatabase),
                ("open", Thing::Instance),
            ],
            Self::Revoked => &[("open", Thing::Shut)],
        }
    }

    /// Whether a file of the path is always there, so that nothing of it may be told to be missing.
    fn is_always_there(self, path: &RelPath) -> bool {
        match self {
            Self::Directories | Self::Own | Self::Revoked => true,
            Self::Files => *path != ground::rel("open/deep/a.md"),
        }
    }
}

/// One bout, until `opens` files were asked for.
pub(super) fn fight(
    stage: &Stage,
    door: &FolderDoor,
    bout: Bout,
    (seed, opens): (u64, u64),
    tally: &mut Tally,
) -> Result<(), String> {
    let held = |&(path, thing): &(&'static str, Thing)| [stage.spot(path), stage.place_of(thing)];
    let pairs: Vec<[Spot; 2]> = bout.pairs().iter().map(held).collect();
    let (stop, done, ready) = (AtomicBool::new(false), AtomicU64::new(0), Barrier::new(2));
    let verdict = std::thread::scope(|scope| {
        scope.spawn(|| {
            ready.wait();
            exchange(&pairs, Seed::new(seed), &stop, &done);
        });
        ready.wait();
        let verdict = read(stage, door, bout, opens, tally);
        stop.store(true, Ordering::Relaxed);
        verdict
    });
    tally.attacks += done.into_inner();
    verdict
}

/// Exchanges one pair after the other forth and back, until told to stop. Everything is then where it was.
fn exchange(pairs: &[[Spot; 2]], mut seed: Seed, stop: &AtomicBool, done: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        let [one, other] = seed.one_of(pairs);
        one.exchange(other).unwrap();
        for _ in 0..seed.below(400) {
            std::hint::spin_loop();
        }
        one.exchange(other).unwrap();
        for _ in 0..seed.below(400) {
            std::hint::spin_loop();
        }
        done.fetch_add(2, Ordering::Relaxed);
    }
}

fn read(
    stage: &Stage,
    door: &FolderDoor,
    bout: Bout,
    opens: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    // Enough at once that handing over is not what takes the time.
    let files: Vec<RelPath> = FILES.repeat(4).into_iter().map(ground::rel).collect();
    let (limits, reads) = (ScanLimits::standard(), Arc::new(Reads::default()));
    let by_name = ground::opens_by_name(door);
    for no in 0..opens / files.len() as u64 {
        let (looks, given) = ground::look(door, &stage.grants, &files, limits, &reads);
        tally.count(&looks);
        judge::inside(&given)?;
        judge::answers(&looks, &given)?;
        none_is_missing(bout, &files, &looks)?;
        if no % LOOKS == 0 {
            let (_, given) = ground::scan(door, &stage.grants, &[ground::id(1)], limits, &reads);
            judge::inside(&given)?;
        }
        judge::unopened(stage, by_name)?;
    }
    Ok(())
}

fn none_is_missing(bout: Bout, files: &[RelPath], looks: &[Look]) -> Result<(), String> {
    let is_missing = |look: &Look| matches!(look, Look::Saw { seen: Seen::Missing, .. });
    let mut wrong = files
        .iter()
        .zip(looks)
        .filter(|(path, look)| is_missing(look) && bout.is_always_there(path));
    match wrong.next() {
        None => Ok(()),
        Some((path, _)) => {
            Err(format!("{path} was told to be missing, and something always stood there"))
        }
    }
}
