//! The adversary acts when the door has looked at a file and is about to open it: the same race each time.
//!
//! The moment is the door's own question whether the file is wanted. With one thread, what is exchanged at which
//! moment comes from the seed alone; only the clock still decides how often a young file is read.
#![expect(clippy::unwrap_used, reason = "a panic of the adversary is to end the proof")]

use super::judge::{self, Tally};
use super::stage::{FILES, Spot, Stage, Thing};
use crate::ground::{self, Reads};
use crate::seed::Seed;
use std::sync::{Arc, Mutex};
use work_core::limits::ScanLimits;
use work_core::path::RelPath;
use work_source::FolderDoor;

/// Names that are exchanged with things.
const SPOTS: [&str; 9] = [
    "a.md",
    "b.md",
    "sub",
    "sub/a.md",
    "sub/deep",
    "sub/deep/a.md",
    "open",
    "open/deep",
    "open/deep/a.md",
];

/// Looks in one case, each at all the files.
const LOOKS: usize = 6;

/// Who exchanges, and what is exchanged just now.
struct Adversary {
    spots: Vec<Spot>,
    things: Vec<(Thing, Spot)>,
    /// For each spot the thing that stands there, by its number.
    out: Vec<Option<usize>>,
    seed: Seed,
    done: u64,
}

impl Adversary {
    fn new(stage: &Stage, things: &[Thing], seed: Seed) -> Self {
        let spots: Vec<Spot> = SPOTS.iter().map(|path| stage.spot(path)).collect();
        let things = things.iter().map(|&thing| (thing, stage.place_of(thing))).collect();
        let out = spots.iter().map(|_| None).collect();
        Self { spots, things, out, seed, done: 0 }
    }

    /// Acts while the file at `path` is about to be opened: half the time on its way, else anywhere.
    fn act(&mut self, path: &RelPath) {
        for _ in 0..self.seed.below(3) {
            let spot = self.seed.below(self.spots.len());
            let near = (0..self.spots.len())
                .filter(|&at| self.is_on_the_way(at, path))
                .collect::<Vec<_>>();
            let spot = match near.is_empty() || self.seed.once_in(2) {
                true => spot,
                false => *self.seed.one_of(&near),
            };
            self.toggle(spot);
        }
    }

    fn is_on_the_way(&self, spot: usize, path: &RelPath) -> bool {
        let spot = ground::rel(self.spots[spot].path);
        spot == *path || path.is_below(&spot)
    }

    /// Puts a thing in a place, or takes it out again.
    fn toggle(&mut self, spot: usize) {
        let thing = self.out[spot].unwrap_or_else(|| self.seed.below(self.things.len()));
        let is_elsewhere = self.out[spot].is_none() && self.out.contains(&Some(thing));
        if !is_elsewhere && self.spots[spot].exchange(&self.things[thing].1).is_ok() {
            self.out[spot] = if self.out[spot].is_none() { Some(thing) } else { None };
            self.done += 1;
        }
    }

    /// Puts everything where it was.
    fn undo(&mut self) {
        (0..self.spots.len())
            .filter(|&at| self.out[at].is_some())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|at| self.toggle(at));
        assert!(self.out.iter().all(Option::is_none), "everything is where it was");
    }
}

/// One case, from its seed: looks at every file, and a scan, while things are exchanged under each open.
pub(super) fn case(
    stage: &Stage,
    door: &FolderDoor,
    things: &[Thing],
    seed: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let adversary = Arc::new(Mutex::new(Adversary::new(stage, things, Seed::new(seed))));
    let acting = Arc::clone(&adversary);
    let reads = Arc::new(Reads::with_step(move |place| acting.lock().unwrap().act(&place.path)));
    let verdict = looks(stage, door, &reads, tally);
    let mut adversary = adversary.lock().unwrap();
    adversary.undo();
    tally.attacks += adversary.done;
    verdict
}

fn looks(
    stage: &Stage,
    door: &FolderDoor,
    reads: &Arc<Reads>,
    tally: &mut Tally,
) -> Result<(), String> {
    let limits = ScanLimits { threads: 1, ..ScanLimits::standard() };
    let files = FILES.map(ground::rel);
    let by_name = ground::opens_by_name(door);
    for _ in 0..LOOKS {
        let (looks, given) = ground::look(door, &stage.grants, &files, limits, reads);
        tally.count(&looks);
        judge::inside(&given)?;
        judge::answers(&looks, &given)?;
        judge::unopened(stage, by_name)?;
    }
    let (_, given) = ground::scan(door, &stage.grants, &[ground::id(1)], limits, reads);
    judge::inside(&given)?;
    judge::unopened(stage, by_name)
}
