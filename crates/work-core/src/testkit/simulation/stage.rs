//! The stage: ports that hand every call to the scheduler before they pass it on.
//!
//! Between any two transactions, at every look and every beat of a watch, the scheduler may let others act first, on
//! the same thread: what a thread that is paused there would meet. It never does so while the write lock is held,
//! where a thread of its own would have to wait. It lets commits fail, and actors vanish.

use super::dice::Dice;
use super::disk::Disk;
use super::law::{Books, Case, OVERTAKEN, Verdict};
use super::model::State;
use super::steps;
use crate::audit::EventKind;
use crate::folder::Grant;
use crate::id::{OwnerId, ProposalId, WorkerId, WorkspaceId};
use crate::limits::Limits;
use crate::memory::MemoryDoor;
use crate::path::HostPath;
use crate::port::{
    AdmitRefusal, Batch, CommitError, Go, Ground, Patience, Probe, ReadTx, Root, Scanned,
    SourceDoor, Store, StoreError, Want, Watch, WriteTx,
};
use crate::proposal::Fingerprint;
use crate::report::Reached;
use crate::source::Look;
use crate::task::Progress;
use crate::testkit::fakes::FakeClock;
use crate::workspace::Workspace;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How deep requests are paused within requests.
const DEPTH: usize = 3;

/// Everything that a run shares: the scheduler, the model, and what was told so far.
pub(super) struct Stage {
    pub(super) clock: Arc<FakeClock>,
    pub(super) door: Arc<MemoryDoor>,
    play: Mutex<Play>,
}

/// What moves.
pub(super) struct Play {
    pub(super) dice: Dice,
    pub(super) state: State,
    /// The moments before this one since the first request that is under way began.
    past: Vec<State>,
    pub(super) books: Books,
    pub(super) scenes: Vec<Scene>,
    late: Option<Late>,
    /// The first thing that is not as the model says.
    pub(super) wrong: Option<String>,
    pub(super) trace: String,
    pub(super) left: u32,
    pub(super) told: Tally,
    pub(super) workspace: Option<Workspace>,
    pub(super) workers: Vec<WorkerId>,
    pub(super) limits: Limits,
    whose: (WorkspaceId, OwnerId),
    /// Whether the process is to begin anew as soon as nobody is on the stage.
    pub(super) died: bool,
    /// Nothing fails and nobody vanishes any more.
    pub(super) quiet: bool,
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Things that happened: requests, changes of files, of clocks.
    pub steps: u64,
    /// Requests that were made.
    pub requests: u64,
    /// Requests that others acted within.
    pub disturbed: u64,
    /// Commits.
    pub commits: u64,
    /// Commits that were made to fail or to be in doubt.
    pub faults: u64,
    /// Actors and processes that vanished.
    pub crashes: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.requests += other.requests;
        self.disturbed += other.disturbed;
        self.commits += other.commits;
        self.faults += other.faults;
        self.crashes += other.crashes;
    }
}

/// A request under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    since: usize,
    number: u64,
    /// Others acted meanwhile.
    pub(super) disturbed: bool,
    /// It was made to fail.
    pub(super) failed: bool,
    /// Whoever made it is gone.
    pub(super) crashed: bool,
    /// Its look or scan was told to stop.
    pub(super) stopped: bool,
    /// The disk must hold still: a look is under way.
    looking: bool,
    /// What it presents.
    pub(super) presents: Option<(ProposalId, Fingerprint)>,
    /// What it wrote.
    pub(super) acts: Vec<EventKind>,
}

/// A batch whose commit was told as unknown and that is there when the lock is taken next.
struct Late {
    batch: Batch,
    after: Verdict<State>,
    by: u64,
}

/// What a commit in doubt tells.
const SYNC: StoreError = StoreError::Io("sync");

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Done,
    NotDone(StoreError),
    Overtaken,
    Written,
    Lost,
    Late,
}

impl Stage {
    pub(super) fn new(
        dice: Dice,
        state: State,
        (clock, door): (Arc<FakeClock>, Arc<MemoryDoor>),
        limits: Limits,
        whose: (WorkspaceId, OwnerId),
        steps: u32,
    ) -> Self {
        let play = Play {
            dice,
            state,
            past: Vec::new(),
            books: Books::default(),
            scenes: Vec::new(),
            late: None,
            wrong: None,
            trace: String::new(),
            left: steps,
            told: Tally::default(),
            workspace: None,
            workers: Vec::new(),
            limits,
            whose,
            died: false,
            quiet: false,
        };
        Self { clock, door, play: Mutex::new(play) }
    }

    /// What moves, for one step. Never held while anybody acts.
    pub(super) fn play(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A point at which others may act first.
    fn point(self: &Arc<Self>) {
        let others = self.play().others();
        for _ in 0..others {
            steps::take(self);
        }
    }

    /// Whether the one who acts is gone.
    fn is_gone(&self) -> bool {
        self.play().scenes.last().is_some_and(|scene| scene.crashed)
    }

    /// Why a transaction cannot be had.
    fn refused(&self) -> Option<StoreError> {
        let mut play = self.play();
        if play.scenes.last().is_some_and(|scene| scene.crashed) {
            return Some(StoreError::Io("gone"));
        }
        let refused = !play.quiet && play.dice.once_in(400);
        if refused && let Some(scene) = play.scenes.last_mut() {
            scene.failed = true;
            play.told.faults += 1;
            return play.dice.one_of(&[StoreError::Busy, StoreError::Io("read")]);
        }
        None
    }
}

impl Play {
    /// How many others act now.
    fn others(&mut self) -> usize {
        let gone = self.scenes.last().is_none_or(|scene| scene.crashed);
        if gone || self.left == 0 || self.wrong.is_some() || self.scenes.len() >= DEPTH {
            return 0;
        }
        if self.dice.once_in(400) {
            self.crash();
            return 0;
        }
        if self.dice.once_in(30) { 1 + self.dice.below(3) } else { 0 }
    }

    /// Lets the one who acts vanish, or the whole process.
    fn crash(&mut self) {
        self.told.crashes += 1;
        self.died = self.dice.once_in(3);
        let gone = if self.died { 0 } else { self.scenes.len() - 1 };
        self.scenes[gone..].iter_mut().for_each(|scene| scene.crashed = true);
        let _ = writeln!(self.trace, "{} gone", "  ".repeat(self.scenes.len()));
    }

    /// Whether a look is under way, so that the disk must hold still.
    pub(super) fn is_looking(&self) -> bool {
        self.scenes.iter().any(|scene| scene.looking)
    }

    /// A request begins.
    pub(super) fn begin(&mut self, presents: Option<(ProposalId, Fingerprint)>) {
        self.told.requests += 1;
        let number = self.told.requests;
        self.scenes.push(Scene { since: self.past.len(), number, presents, ..Scene::default() });
    }

    /// It ends: what is to be known of it, and the moments that it lasted.
    pub(super) fn end(&mut self) -> (Scene, Vec<State>) {
        let scene = self.scenes.pop().expect("it began");
        self.told.disturbed += u64::from(scene.disturbed);
        let mut moments = self.past[scene.since..].to_vec();
        moments.push(self.state.clone());
        if self.scenes.is_empty() {
            self.past.clear();
        }
        (scene, moments)
    }

    /// Whether what a request wrote may still arrive.
    pub(super) fn may_arrive(&self, scene: &Scene) -> bool {
        self.late.as_ref().is_some_and(|late| late.by == scene.number && late.batch.act.is_some())
    }

    /// Something else is true from now on.
    pub(super) fn change(&mut self, how: impl FnOnce(&mut State)) {
        if !self.scenes.is_empty() {
            self.past.push(self.state.clone());
        }
        how(&mut self.state);
    }

    /// Says what is wrong, if it is the first.
    pub(super) fn found(&mut self, what: Verdict) {
        if let Err(what) = what {
            self.wrong.get_or_insert(what);
        }
    }

    /// What a batch makes of the present state, by the law.
    fn judge(&mut self, batch: &Batch) -> Verdict<State> {
        let scene = self.scenes.last().expect("somebody writes");
        let presented = scene.presents.map(|(_, fingerprint)| fingerprint);
        let (since, disturbed) = (scene.since, scene.disturbed);
        let moments: Vec<&State> = self.past[since..].iter().chain([&self.state]).collect();
        let (limits, whose) = (&self.limits, self.whose);
        let books = &mut self.books;
        Case { moments: &moments, books, limits, disturbed, presented, whose }.after(batch)
    }

    /// A batch is in the store.
    fn wrote(&mut self, batch: &Batch, after: Verdict<State>, by: u64) {
        self.told.commits += 1;
        if let Some(act) = &batch.act {
            self.books.acts.insert(act.event.act);
            self.books.chain.push(act.event.clone());
            let kind = act.event.kind();
            if let Some(EventKind::ProposalApplied { proposal, .. }) = kind {
                let used = self.state.proposals.get(&proposal).map(|one| one.fingerprint);
                self.books.used.extend(used);
            }
            let scene = self.scenes.iter_mut().find(|scene| scene.number == by);
            if let Some(scene) = scene {
                scene.acts.extend(kind);
            }
        }
        match after {
            Ok(after) => self.change(|state| {
                let (disk, clock): (Disk, _) = (state.disk.clone(), state.clock);
                *state = State { disk, clock, ..after };
            }),
            Err(wrong) => self.found(Err(wrong)),
        }
    }

    /// The store has answered to a batch: what the law permits it has to take.
    fn sent(
        &mut self,
        batch: &Batch,
        after: Verdict<State>,
        by: u64,
        answer: Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        match answer {
            Ok(()) => self.wrote(batch, after, by),
            Err(CommitError::Overtaken) if is_overtaken(&after) => {}
            Err(why) => {
                let what = after.err().unwrap_or_else(|| format!("the store refuses: {why:?}"));
                self.found(Err(what));
            }
        }
        answer
    }

    /// What becomes of the next commit.
    fn fate(&mut self) -> Fate {
        if self.scenes.last().is_some_and(|scene| scene.crashed) {
            return Fate::NotDone(StoreError::Io("gone"));
        }
        if self.quiet || !self.dice.once_in(40) {
            return Fate::Done;
        }
        self.told.faults += 1;
        if let Some(scene) = self.scenes.last_mut() {
            scene.failed = true;
        }
        let full = Fate::NotDone(StoreError::DiskFull);
        let all = [full, Fate::Overtaken, Fate::Written, Fate::Written, Fate::Lost, Fate::Late];
        self.dice.one_of(&all).expect("there are some")
    }
}

/// Whether the law says that somebody was faster.
fn is_overtaken(after: &Verdict<State>) -> bool {
    after.as_ref().is_err_and(|why| why == OVERTAKEN)
}

/// The store of a run.
pub(super) struct StagedStore {
    pub(super) store: Box<dyn Store>,
    pub(super) stage: Arc<Stage>,
}

impl StagedStore {
    /// Lets a late batch arrive.
    fn arrive(&self, patience: Patience) -> Result<(), StoreError> {
        let Some(Late { batch, after, by }) = self.stage.play().late.take() else { return Ok(()) };
        match self.store.write(patience)?.commit(&batch) {
            Ok(()) => {
                let mut play = self.stage.play();
                play.scenes.iter_mut().for_each(|scene| scene.disturbed = true);
                play.wrote(&batch, after, by);
            }
            Err(why) => {
                let what = format!("the store refuses what it has taken before: {why:?}");
                self.stage.play().found(Err(what));
            }
        }
        Ok(())
    }
}

impl Store for StagedStore {
    fn read(&self, patience: Patience) -> Result<Box<dyn ReadTx + '_>, StoreError> {
        self.stage.point();
        match self.stage.refused() {
            Some(why) => Err(why),
            None => self.store.read(patience),
        }
    }

    fn write(&self, patience: Patience) -> Result<Box<dyn WriteTx + '_>, StoreError> {
        self.stage.point();
        if let Some(why) = self.stage.refused() {
            return Err(why);
        }
        self.arrive(patience)?;
        let write = self.store.write(patience)?;
        Ok(Box::new(StagedWrite { write, stage: &self.stage }))
    }
}

/// The write lock of a run.
struct StagedWrite<'a> {
    write: Box<dyn WriteTx + 'a>,
    stage: &'a Arc<Stage>,
}

impl WriteTx for StagedWrite<'_> {
    fn reads(&mut self) -> &mut dyn ReadTx {
        self.write.reads()
    }

    fn commit(self: Box<Self>, batch: &Batch) -> Result<(), CommitError> {
        let (after, fate, by) = {
            let mut play = self.stage.play();
            let after = play.judge(batch);
            let by = play.scenes.last().map_or(0, |scene| scene.number);
            let fate = if is_overtaken(&after) { Fate::Done } else { play.fate() };
            (after, fate, by)
        };
        let Self { write, stage } = *self;
        let answer = match fate {
            Fate::NotDone(why) => Err(CommitError::NotDone(why)),
            Fate::Overtaken => Err(CommitError::Overtaken),
            Fate::Lost => Err(CommitError::Unknown(SYNC)),
            Fate::Late => {
                stage.play().late = Some(Late { batch: batch.clone(), after, by });
                Err(CommitError::Unknown(SYNC))
            }
            Fate::Done | Fate::Written => {
                let answer = write.commit(batch);
                stage.play().sent(batch, after, by, answer)?;
                stage.point();
                return if fate == Fate::Done { Ok(()) } else { Err(CommitError::Unknown(SYNC)) };
            }
        };
        // Nobody acts while the lock is held.
        drop(write);
        stage.point();
        answer
    }
}

/// The door of a run.
pub(super) struct StagedDoor(pub(super) Arc<Stage>);

impl SourceDoor for StagedDoor {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        self.0.point();
        if self.0.is_gone() { Err(AdmitRefusal::Unreachable) } else { self.0.door.admit(path) }
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        self.0.point();
        self.0.door.roots(grants)
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        self.0.point();
        if self.0.is_gone() {
            let (folders, elapsed) = (Vec::new(), Duration::ZERO);
            return Scanned { folders, limit: None, elapsed, stopped: true };
        }
        self.0.door.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        self.0.point();
        if self.0.is_gone() {
            return vec![Look::NotReached; wants.len()];
        }
        let was = self.hold_still(true);
        let looks = self.0.door.look(ground, wants, probe, watch);
        self.hold_still(was);
        self.0.point();
        looks
    }
}

impl StagedDoor {
    /// Says whether the disk must hold still for the one who acts; answers whether it had to before.
    fn hold_still(&self, looking: bool) -> bool {
        let mut play = self.0.play();
        let scene = play.scenes.last_mut();
        scene.is_some_and(|scene| std::mem::replace(&mut scene.looking, looking))
    }
}

/// The watch of whoever made a request: others act at its beats, and at one of them it may say stop.
pub(super) struct Beats {
    pub(super) stage: Arc<Stage>,
    pub(super) until: Option<u32>,
}

impl Watch for Beats {
    fn beat(&mut self, _: &Progress) -> Go {
        self.stage.point();
        let gone = self.stage.is_gone();
        let ends = match &mut self.until {
            None => false,
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
        };
        if ends && let Some(scene) = self.stage.play().scenes.last_mut() {
            scene.stopped = true;
        }
        if gone || ends { Go::Stop } else { Go::On }
    }
}
