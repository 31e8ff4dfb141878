//! Lane C: every command is all or nothing after a crash at any write.
//!
//! Each use case that writes runs once over a disk that records. Then, for every place in its record, machines whose
//! power went there are made: what was not synced is lost, there, out of order or torn. The product opens each, `doctor`
//! looks at it, and the records must be those before or after the transaction, with everything that was acknowledged.
//! To read: `cases` are the use cases, `stage` runs them, `state` compares, this file is the search.

pub(crate) mod cases;
mod create;
pub(crate) mod stage;
pub(crate) mod state;

use crate::seed::Seed;
use crate::{Ask, Counts, Finding, Lane, Outcome};
use cases::{CASES, Ready};
use stage::{Opened, Sees, Stage};
use state::State;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use work_core::plant::Fault;
use work_faultvfs::crash::Crash;
use work_faultvfs::record::{Image, Op};
use work_store::sqlite::Depth;

/// The lane.
pub const LANE: Lane = Lane {
    name: "crash",
    proves: "every command is all or nothing after a crash at any write",
    share: 3,
    catches: &[Fault::Unsynced, Fault::CreationUnsynced],
    run,
};

/// Images that CI opens.
const IMAGES: u64 = 20_000;

/// The number of making a database, which is no case like the others.
const NEW: usize = CASES.len();

/// Images of a new database.
const DRAWS_OF_NEW: u32 = 20;

/// Of how many images one is used for three more commands.
const USED: u64 = 10;

/// What a use case did to its disk.
struct Recording {
    ready: Ready,
    ops: Vec<Op>,
    /// What the database held, in the order of time.
    moments: Vec<Moment>,
}

/// What the database held after a transaction.
#[derive(Clone)]
struct Moment {
    /// Operations before the transaction began.
    begun: usize,
    /// Operations when it was acknowledged.
    told: usize,
    state: State,
}

/// One crash: the number that shows it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    case: usize,
    at: usize,
    draw: u32,
}

impl Place {
    const MARK: u64 = 1 << 63;

    const fn number(self) -> u64 {
        Self::MARK | (self.case as u64) << 48 | (self.at as u64) << 32 | self.draw as u64
    }

    fn of(number: u64) -> Option<Self> {
        let part = |shift: u32, bits: u32| {
            usize::try_from((number >> shift) & ((1 << bits) - 1)).expect("a few bits")
        };
        let draw = u32::try_from(number & u64::from(u32::MAX)).expect("32 bits");
        let place = Self { case: part(48, 15), at: part(32, 16), draw };
        (number & Self::MARK != 0).then_some(place)
    }
}

/// What the lane did so far.
#[derive(Default)]
struct Search {
    images: u64,
    used: u64,
    places: u64,
    seen: HashSet<u64>,
}

fn run(ask: &Ask) -> Outcome {
    let mut search = Search::default();
    let finding = search.all(ask).err();
    Outcome { counts: search.counts(), finding, skipped: None }
}

impl Search {
    fn counts(&self) -> Counts {
        Counts::from([
            ("images", self.images),
            ("images used for three more commands", self.used),
            ("places of a crash", self.places),
            ("use cases", CASES.len() as u64 + 1),
        ])
    }

    /// Goes through all use cases, with one more draw at each place in each round.
    fn all(&mut self, ask: &Ask) -> Result<(), Finding> {
        if let (Some(place), None) = (Place::of(ask.seed), ask.hunted()) {
            if place.case == NEW {
                return self.new_databases();
            }
            let recording = self.recorded(place.case)?;
            return self.crash(&recording, place, false);
        }
        if ask.hunted() != Some(Fault::Unsynced) {
            self.new_databases()?;
        }
        let recordings: Vec<Recording> =
            (0..CASES.len()).map(|case| self.recorded(case)).collect::<Result<_, _>>()?;
        self.places = recordings.iter().map(|one| one.ops.len() as u64 + 1).sum();
        let (first, mut round) = (Seed::new(ask.seed).next_u64() as u32 & !3, 0_u32);
        while ask.goes_on(self.images, IMAGES) {
            for (case, recording) in recordings.iter().enumerate() {
                self.round(ask, (case, recording), round, first.wrapping_add(round))?;
            }
            round += 1;
        }
        Ok(())
    }

    /// Making a database: crashes right after it is answered as made.
    fn new_databases(&mut self) -> Result<(), Finding> {
        for draw in 0..DRAWS_OF_NEW {
            self.images += 1;
            let place = Place { case: NEW, at: 0, draw };
            create::check(draw).map_err(|what| self.finding(place, &what))?;
        }
        Ok(())
    }

    /// One crash at each place of one use case.
    fn round(
        &mut self,
        ask: &Ask,
        (case, recording): (usize, &Recording),
        round: u32,
        draw: u32,
    ) -> Result<(), Finding> {
        // A log that is full makes each image ten times as dear, and its places are those of others.
        let dear =
            recording.ready.image.0.values().map(|bytes| bytes.len()).sum::<usize>() > 1 << 20;
        if dear && round % 16 != 2 {
            return Ok(());
        }
        for at in 0..=recording.ops.len() {
            if ask.goes_on(self.images, IMAGES) {
                self.crash(recording, Place { case, at, draw }, true)?;
            }
        }
        Ok(())
    }

    /// Runs a use case over a disk that records.
    fn recorded(&mut self, case: usize) -> Result<Recording, Finding> {
        let ready = CASES[case].ready();
        record(ready).map_err(|what| self.finding(Place { case, at: 0, draw: 0 }, &what))
    }

    /// One crash: makes the image, and looks at it unless it was looked at before.
    fn crash(&mut self, recording: &Recording, place: Place, once: bool) -> Result<(), Finding> {
        let image = recording.image(place);
        let allowed = recording.allowed(place.at);
        if once && !self.seen.insert(hash(place, &image, &allowed)) {
            return Ok(());
        }
        self.images += 1;
        let used = !once || self.images.is_multiple_of(USED);
        self.used += u64::from(used);
        check(recording, image, &allowed, used).map_err(|what| self.finding(place, &what))
    }

    fn finding(&self, place: Place, what: &str) -> Finding {
        let name = CASES.get(place.case).map_or("making a database", |case| case.name);
        let what = format!("{name}, power lost after operation {}: {what}", place.at);
        Finding { what, seed: place.number(), tries: self.images.max(1) }
    }
}

/// Runs a use case to its end, and closes the database.
fn record(ready: Ready) -> Result<Recording, String> {
    let stage = Stage::new(ready.image.clone(), &ready.around);
    let before = stage.state()?;
    let mut moments = vec![Moment { begun: 0, told: 0, state: before.clone() }];
    let opened = ready.open(&stage, Sees::States).map_err(|error| error.to_string())?;
    let told = stage.disk.recorded();
    let state = stage.state()?;
    if state != before {
        moments.push(Moment { begun: 0, told, state });
    }
    let done = ready.act(&stage, &opened);
    if done.is_err_and(cases::is_failure) {
        return Err(format!("it ends with {done:?} though nothing failed"));
    }
    moments.extend(opened.witness.commits().into_iter().map(|commit| Moment {
        begun: commit.begun,
        told: commit.ended,
        state: commit.state.expect("states are seen"),
    }));
    drop(opened);
    stage.expect_closed();
    Ok(Recording { ready, ops: stage.disk.record(), moments })
}

impl Recording {
    /// What is there after this crash. The first two draws lose all that can be lost, and nothing.
    fn image(&self, place: Place) -> Image {
        let mut crash = Crash::before(&self.ready.image);
        self.ops[..place.at].iter().for_each(|op| crash.pass(op));
        match place.draw % 64 {
            0 => crash.least(),
            1 => crash.all(),
            _ => {
                let number = place.number();
                let mut seed = Seed::new(number ^ number.rotate_left(17));
                crash.image(&mut |below| seed.below(below))
            }
        }
    }

    /// What may be there: what was acknowledged last, or the transaction after it if it had begun.
    fn allowed(&self, at: usize) -> Vec<&State> {
        let acknowledged = self.moments.iter().rposition(|moment| moment.told <= at).unwrap_or(0);
        let next = self.moments.get(acknowledged + 1).filter(|next| next.begun < at);
        let last = &self.moments[acknowledged];
        std::iter::once(last).chain(next).map(|moment| &moment.state).collect()
    }
}

/// A number for an image and what may be in it.
fn hash(place: Place, image: &Image, allowed: &[&State]) -> u64 {
    let mut hasher = DefaultHasher::new();
    place.case.hash(&mut hasher);
    image.0.hash(&mut hasher);
    allowed.iter().for_each(|state| state.digest.bytes().hash(&mut hasher));
    hasher.finish()
}

/// Looks at what a crash left.
fn check(
    recording: &Recording,
    image: Image,
    allowed: &[&State],
    used: bool,
) -> Result<(), String> {
    let stage = Stage::new(image, &recording.ready.around);
    let found = stage.state()?;
    expect_one_of(&found, allowed)?;
    let opened = recording.ready.open_later(&stage).map_err(|error| error.to_string())?;
    expect_sound_records(&opened)?;
    if used {
        recording.ready.go_on(&stage, &opened)?;
        expect_sound(&opened)?;
    }
    drop(opened);
    stage.expect_closed();
    Ok(())
}

fn expect_one_of(found: &State, allowed: &[&State]) -> Result<(), String> {
    if allowed.contains(&found) {
        return Ok(());
    }
    let acknowledged = allowed[0];
    let lost = acknowledged.acts.iter().any(|act| !found.acts.contains(act));
    let what =
        if lost { "what was acknowledged is lost" } else { "half of a transaction is there" };
    Err(format!("{what}: {}", acknowledged.differs(found)))
}

/// What `doctor` finds in the file and in the records, but for the clock, which is the use case's own.
pub(crate) fn expect_sound(opened: &Opened) -> Result<(), String> {
    let health = opened.store.inspect(Depth::Full).map_err(|error| error.to_string())?;
    if !health.faults.is_empty() {
        return Err(format!("the file is damaged: {:?}", health.faults));
    }
    expect_sound_records(opened)
}

/// What `doctor` finds in the records.
fn expect_sound_records(opened: &Opened) -> Result<(), String> {
    let found = opened.work.doctor().map_err(|error| error.to_string())?;
    let damage = found.findings.iter().find(|finding| finding.severity == "damage");
    damage.map_or(Ok(()), |finding| Err(format!("doctor: {}", finding.what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_crash_leads_back_to_it() {
        let place = Place { case: CASES.len() - 1, at: 65_535, draw: u32::MAX };
        assert_eq!(Place::of(place.number()), Some(place));
        assert_eq!(Place::of(1), None, "a seed of CI is none");
    }
}
