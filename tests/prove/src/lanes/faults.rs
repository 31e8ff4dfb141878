//! Lane D: no error of the disk is swallowed.
//!
//! Each use case that writes runs again and again over a disk on which operation 1, 2, 3 … fails, once or for ever, until
//! none fails any more. What was told must be true of what a power loss leaves: done is there, not done is not, and a
//! doubt was settled as it turned out. The use cases and the stage are those of lane C; this file is the search and the
//! oracle.

use super::crash::cases::{self, CASES, Ready, Told};
use super::crash::expect_sound;
use super::crash::stage::{Commit, Opened, Sees, Stage};
use super::crash::state::State;
use crate::seed::Seed;
use crate::{Ask, Counts, Finding, Lane, Outcome, Size};
use std::collections::BTreeSet;
use work_core::code::Code;
use work_core::plant::Fault;
use work_core::port::CommitError;
use work_faultvfs::crash::Crash;
use work_faultvfs::disk::{Error, Lasts};
use work_faultvfs::record::Image;

/// The lane.
pub const LANE: Lane = Lane {
    name: "faults",
    proves: "no error of the disk is swallowed",
    share: 1,
    catches: &[Fault::SwallowedError, Fault::PlainLook],
    run,
};

/// How operations fail.
const KINDS: [(Error, Lasts); 4] = [
    (Error::Device, Lasts::Once),
    (Error::Full, Lasts::Once),
    (Error::Device, Lasts::ForEver),
    (Error::Full, Lasts::ForEver),
];

/// The use cases of CI; a long run takes all.
const OF_CI: [&str; 6] = ["ask", "revoke", "report", "repair", "apply", "accept the clock"];

/// Machines whose power went after a fault, by chance, besides the one that lost most and the one that lost nothing.
const CHANCES: u64 = 2;

/// One fault: the number that shows it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    case: usize,
    kind: usize,
    /// Operations that succeed before it.
    after: u64,
}

impl Place {
    const MARK: u64 = 1 << 63;

    const fn number(self) -> u64 {
        Self::MARK | (self.case as u64) << 48 | (self.kind as u64) << 40 | self.after
    }

    fn of(number: u64) -> Option<Self> {
        let part = |shift: u32, bits: u32| (number >> shift) & ((1 << bits) - 1);
        let small = |number: u64| usize::try_from(number).expect("a few bits");
        let place =
            Self { case: small(part(48, 15)), kind: small(part(40, 8)), after: part(0, 40) };
        let known = place.case < CASES.len() && place.kind < KINDS.len();
        (number & Self::MARK != 0 && known).then_some(place)
    }
}

/// What the lane did so far.
#[derive(Default)]
struct Search {
    faults: u64,
    images: u64,
    doubts: u64,
    told: u64,
    rounds: u64,
    cases: BTreeSet<usize>,
}

fn run(ask: &Ask) -> Outcome {
    let mut search = Search::default();
    let finding = search.all(ask).err();
    Outcome { counts: search.counts(), finding, skipped: None }
}

impl Search {
    fn counts(&self) -> Counts {
        Counts::from([
            ("faults", self.faults),
            ("images", self.images),
            ("commits in doubt", self.doubts),
            ("errors told", self.told),
            ("use cases", self.cases.len() as u64),
        ])
    }

    /// Goes through all use cases and all faults. Only the chances differ from round to round.
    fn all(&mut self, ask: &Ask) -> Result<(), Finding> {
        if let (Some(place), None) = (Place::of(ask.seed), ask.hunted()) {
            return self.fault(&Trial::of(place.case), place, Seed::new(ask.seed)).map(drop);
        }
        let mut seed = Seed::new(ask.seed);
        while ask.goes_on(self.rounds, 1) {
            for case in (0..CASES.len()).filter(|&case| belongs(ask.size, case)) {
                self.case(&Trial::of(case), case, &mut seed)?;
                self.cases.insert(case);
            }
            self.rounds += 1;
        }
        Ok(())
    }

    /// Every fault of one use case.
    fn case(&mut self, trial: &Trial, case: usize, seed: &mut Seed) -> Result<(), Finding> {
        for kind in 0..KINDS.len() {
            let mut after = 0;
            while self.fault(trial, Place { case, kind, after }, Seed::new(seed.next_u64()))? {
                after += 1;
            }
        }
        Ok(())
    }

    /// One fault; says whether the use case came so far.
    fn fault(&mut self, trial: &Trial, place: Place, seed: Seed) -> Result<bool, Finding> {
        let finding = |search: &Self, what: String| {
            let (name, (error, lasts)) = (CASES[place.case].name, KINDS[place.kind]);
            let what =
                format!("{name}, {error:?} {lasts:?} at operation {}: {what}", place.after + 1);
            Finding { what, seed: place.number(), tries: search.faults.max(1) }
        };
        self.faults += 1;
        let struck = trial.strike(place, seed).map_err(|what| finding(self, what))?;
        self.images += struck.images;
        self.doubts += struck.doubts;
        self.told += u64::from(struck.told);
        if !struck.hit {
            self.faults -= 1;
        }
        Ok(struck.hit)
    }
}

/// Whether a run of this size takes a use case.
fn belongs(size: Size, case: usize) -> bool {
    match size {
        Size::Ci | Size::Hunt(_) => OF_CI.contains(&CASES[case].name),
        Size::Long(_) => true,
    }
}

/// A use case, and what comes of it when nothing fails.
struct Trial {
    ready: Ready,
    after: Option<State>,
}

/// What came of a fault.
struct Struck {
    /// Whether anything failed: the use case may have ended before.
    hit: bool,
    /// Whether an error was told.
    told: bool,
    doubts: u64,
    images: u64,
}

/// What was told.
struct Answer {
    told: Told,
    commits: Vec<Commit>,
}

impl Trial {
    /// Runs the use case on a disk that does not fail.
    fn of(case: usize) -> Self {
        let ready = CASES[case].ready();
        let stage = Stage::new(ready.image.clone(), &ready.around);
        let opened = ready.open(&stage, Sees::Commits).ok();
        let done = opened.as_ref().map(|opened| ready.act(&stage, opened));
        let after = stage.state().ok().filter(|_| done == Some(Ok(())));
        drop(opened);
        stage.expect_closed();
        Self { ready, after }
    }

    /// Runs it on a disk that fails, and looks at what is left: at once, after more commands, and at the end.
    fn strike(&self, place: Place, mut seed: Seed) -> Result<Struck, String> {
        let (ready, (error, lasts)) = (&self.ready, KINDS[place.kind]);
        let stage = Stage::new(ready.image.clone(), &ready.around);
        stage.disk.fail(place.after, error, lasts);
        let opened = ready.open(&stage, Sees::Commits);
        let told = match &opened {
            Ok(opened) => ready.act(&stage, opened),
            Err(_) => Err(Code::Internal),
        };
        let hit = stage.disk.tried().1 > 0;
        stage.disk.heal();
        let commits = opened.as_ref().map_or_else(|_| Vec::new(), |one| one.witness.commits());
        let answer = Answer { told, commits };
        let images = if hit { self.look(&stage, &answer, &mut seed)? } else { 0 };
        self.go_on(&stage, opened.ok(), &answer)?;
        let doubts = answer.commits.iter().filter(|commit| is_doubt(commit)).count() as u64;
        Ok(Struck { hit, told: told.is_err_and(cases::is_failure), doubts, images })
    }

    /// Machines whose power went right after the answer.
    fn look(&self, stage: &Stage, answer: &Answer, seed: &mut Seed) -> Result<u64, String> {
        let mut crash = Crash::before(&self.ready.image);
        stage.disk.record().iter().for_each(|op| crash.pass(op));
        let chances = (0..CHANCES).map(|_| crash.image(&mut |below| seed.below(below)));
        let images: Vec<(&str, Image)> = [
            ("with all that need not be there lost", crash.least()),
            ("with nothing lost", crash.all()),
        ]
        .into_iter()
        .chain(chances.map(|image| ("after a power loss", image)))
        .collect();
        for (when, image) in &images {
            let left = Stage::new(image.clone(), &self.ready.around);
            let found = left.state().map_err(|error| format!("{when}: {error}"))?;
            self.expect_true(answer, &found).map_err(|what| format!("{when}: {what}"))?;
        }
        Ok(images.len() as u64)
    }

    /// The fault is gone: the next commands work, in this process and in the next, and the answer stays true.
    fn go_on(&self, stage: &Stage, opened: Option<Opened>, answer: &Answer) -> Result<(), String> {
        let opened = match opened {
            Some(opened) => opened,
            None => self.ready.open(stage, Sees::Commits).map_err(|error| error.to_string())?,
        };
        self.ready.go_on(stage, &opened)?;
        expect_sound(&opened)?;
        drop(opened);
        stage.expect_closed();
        expect_acts(answer, &stage.state()?)
    }

    /// Whether what was told is true of what is there.
    fn expect_true(&self, answer: &Answer, found: &State) -> Result<(), String> {
        expect_acts(answer, found)?;
        let Some(after) = &self.after else { return Ok(()) };
        let failed = answer.commits.iter().any(|commit| commit.told.is_err());
        match answer.told {
            Ok(()) if !failed && found != after => {
                Err(format!("it said done and is not: {}", after.differs(found)))
            }
            Ok(()) if failed && !same_but_the_log(after, found) => Err(format!(
                "it said done after a failed commit and is not: {}",
                after.differs(found)
            )),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Whether every act that was told as done is there, and none that was told as not done.
fn expect_acts(answer: &Answer, found: &State) -> Result<(), String> {
    let there: BTreeSet<[u8; 16]> = found.acts.iter().copied().collect();
    if there.len() != found.acts.len() {
        return Err("an act is there twice".to_owned());
    }
    for commit in &answer.commits {
        let (Some(act), Some(expected)) = (commit.act, verdict(commit, answer)) else { continue };
        let is_there = there.contains(&act.bytes());
        if is_there != expected {
            let word = |is: bool| if is { "done" } else { "not done" };
            let (said, is) = (word(expected), word(is_there));
            return Err(format!(
                "an act whose commit was answered {:?} counts as {said} and is {is}",
                commit.told
            ));
        }
    }
    Ok(())
}

/// Whether an act was told as done; nothing, if it was told that this is not known.
fn verdict(commit: &Commit, answer: &Answer) -> Option<bool> {
    match commit.told {
        Ok(()) => Some(true),
        Err(CommitError::NotDone(_) | CommitError::Overtaken) => Some(false),
        Err(CommitError::Unknown(_)) => settled(commit, answer).or(match answer.told {
            Err(Code::UnknownOutcome) => None,
            told => Some(told.is_ok()),
        }),
    }
}

/// How a later act settled this one, if one did for certain.
fn settled(commit: &Commit, answer: &Answer) -> Option<bool> {
    let of_this = |later: &&Commit| {
        later.told.is_ok() && later.settles.is_some_and(|(act, _)| Some(act) == commit.act)
    };
    answer.commits.iter().find(of_this)?.settles.map(|(_, done)| done)
}

const fn is_doubt(commit: &Commit) -> bool {
    matches!(commit.told, Err(CommitError::Unknown(_)))
}

/// Whether two states have as many rows of everything but events: settling a doubt adds some.
fn same_but_the_log(one: &State, other: &State) -> bool {
    let rows = |state: &State| {
        let mut rows = state.rows.clone();
        rows.remove("event");
        rows
    };
    rows(one) == rows(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system counts what a failed sync leaves behind as written, so that recovery finds the transaction and a power
    /// loss does not. What is committed after it must not be built on it.
    #[test]
    fn what_follows_a_commit_whose_sync_failed_is_not_built_on_it() {
        let ask = CASES.iter().position(|case| case.name == "ask").expect("a use case");
        let trial = Trial::of(ask);
        for after in 0..21 {
            let place = Place { case: ask, kind: 0, after };
            let struck = trial.strike(place, Seed::new(1));
            assert!(struck.is_ok_and(|struck| struck.hit), "operation {}", after + 1);
        }
    }

    #[test]
    fn the_number_of_a_fault_leads_back_to_it() {
        let place = Place { case: CASES.len() - 1, kind: 3, after: 999 };
        assert_eq!(Place::of(place.number()), Some(place));
        assert_eq!(Place::of(1), None, "a seed of CI is none");
    }
}
