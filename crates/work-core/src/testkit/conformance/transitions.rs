//! Steps of a small world, each done on a store as a use case commits it, and what is stored then compared with the
//! state that the world has by then.
//!
//! A story is a fresh store, beside the one in memory, and some scenes; each scene walks through a
//! [world](crate::testkit::world) at random. After each step the records, seen as a state, are the next state; one event
//! was written exactly if something happened; the same write again, and any other that was decided on the state before
//! and touches the same record, is refused and leaves nothing behind. At the end both stores answer everything alike.
//!
//! To read: `stage` is one store with its scene, `plan` what a step writes.

mod plan;
mod stage;

use super::Make;
use super::picture::Picture;
use crate::memory::MemoryStore;
use crate::port::Store;
use crate::testkit::world::{Setting, Step, Work, World};
use stage::Stage;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Scenes of a story.
const SCENES: u8 = 10;
/// Steps of a scene at most.
const STEPS: usize = 60;

/// What a story came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Steps that no story had done before, each from another state or another step.
    pub transitions: u64,
    /// Steps, those that were done before too.
    pub steps: u64,
    /// Steps that the rules refused.
    pub refused: u64,
    /// Writes that came too late, and were refused.
    pub late: u64,
}

/// Where a store differs from the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What is not as it must be.
    pub what: String,
    /// Steps of the story until then.
    pub steps: u64,
}

/// The world in which stories are.
#[must_use]
pub fn setting() -> Setting {
    let tasks = &[Work::Report, Work::Repair, Work::Repair];
    Setting::new("story", 3, tasks).proposing(4, 3).lasting(12, 3)
}

/// Plays the story with this number on the store that `make` opens. The steps that were done are added to `done`.
///
/// # Errors
/// The first [`Difference`].
pub fn play(make: Make<'_>, story: u64, done: &mut BTreeSet<u64>) -> Result<Played, Difference> {
    let (mut played, mut dice) = (Played::default(), Dice(story));
    let memory: Make<'_> = &|o| -> Box<dyn Store> {
        Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
    };
    let mut stages = [Stage::new(make), Stage::new(memory)];
    let ended = (0..SCENES)
        .try_for_each(|no| scene(no, &mut stages, &mut dice, done, &mut played))
        .and_then(|()| alike(&stages));
    match ended {
        Ok(()) => Ok(played),
        Err(what) => Err(Difference { what, steps: played.steps }),
    }
}

/// Plays stories from the first until as many different transitions were done, for a test of a store.
///
/// # Panics
/// At the first difference.
pub fn run(make: Make<'_>, transitions: u64) {
    let (mut done, mut story) = (BTreeSet::new(), 0);
    while (done.len() as u64) < transitions {
        if let Err(Difference { what, steps }) = play(make, story, &mut done) {
            panic!("story {story}, step {steps}: {what}");
        }
        story += 1;
    }
}

/// Whether both stores answer everything alike.
fn alike(stages: &[Stage; 2]) -> Result<(), String> {
    let [theirs, memory] = stages.each_ref().map(|stage| stage.desk.ask(|tx| Picture::of(tx)));
    if theirs == memory {
        return Ok(());
    }
    let (theirs, memory) = (format!("{theirs:?}"), format!("{memory:?}"));
    let lines = theirs.lines().zip(memory.lines()).find(|(one, other)| one != other);
    Err(format!("the store and the one in memory answer differently: {lines:?}"))
}

/// One walk through the world.
fn scene(
    no: u8,
    stages: &mut [Stage; 2],
    dice: &mut Dice,
    done: &mut BTreeSet<u64>,
    played: &mut Played,
) -> Result<(), String> {
    let setting = setting();
    let mut world = World::new(&setting);
    stages.iter_mut().for_each(|stage| stage.begin(no));
    for _ in 0..STEPS {
        let mut steps = Vec::new();
        world.steps(&setting, &mut steps);
        let (step, rival) = (dice.step(&world, &setting, &steps), *dice.one_of(&steps));
        let happened = world.step(step, &setting);
        let next = happened.next.unwrap_or(world);
        for stage in stages.iter_mut() {
            let late = stage.take((&world, &next), (step, rival), &happened);
            played.late += late.map_err(|what| format!("scene {no}, {step:?}: {what}"))?;
        }
        played.steps += 1;
        played.refused += u64::from(happened.next.is_none());
        played.transitions += u64::from(done.insert(number(&world.normal(), step)));
        world = next;
    }
    Ok(())
}

/// The number of a transition.
fn number(world: &World, step: Step) -> u64 {
    let mut hasher = DefaultHasher::new();
    (world, step).hash(&mut hasher);
    hasher.finish()
}

/// What a story decides by: SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = self.next() % (all.len() as u64);
        &all[usize::try_from(at).expect("below a length")]
    }

    /// A step: mostly one that changes something.
    fn step(&mut self, world: &World, setting: &Setting, steps: &[Step]) -> Step {
        let changes = |step: &&Step| world.step(**step, setting).next.is_some();
        let changing: Vec<Step> = steps.iter().filter(changes).copied().collect();
        let any = self.next().is_multiple_of(4) || changing.is_empty();
        *self.one_of(if any { steps } else { &changing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_in_memory_does_a_thousand_transitions_as_the_world_says() {
        run(&|o| Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock)), 1000);
    }
}
