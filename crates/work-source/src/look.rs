//! Looking at named files, and at roots (spec O1, I6).
//!
//! Each want is gone down to from the root of the grant through which it was cited; the deepest grant met on the way
//! decides. **Missing** is said only when everything above was opened and the next name is not there, or something
//! else stands in its place that is no link: a file where a directory was, a directory where the file was. Start at
//! [`look`].

use crate::crew::{Crew, Ground, LeftBehind, News, Slot};
use crate::facts::Fault;
use crate::read::{Buffers, Read};
use crate::scan::BEAT;
use crate::territory::{Reach, Root, Territory};
use crate::visit::{Party, Visit, Visited};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use work_core::folder::GrantState;
use work_core::id::GrantId;
use work_core::path::RelPath;
use work_core::port::{Go, Known, Place, Want, Watch};
use work_core::report::Reached;
use work_core::source::{Look, Seen, SourceVersion};
use work_core::task::Progress;

/// Jobs under way at once.
const UNDER_WAY: usize = 32;

/// Files that one job looks at, at most: to hand a job over and to take in what came of it costs about a tenth of what a
/// look at a small file does.
const BATCH: usize = 8;

/// How long a job goes on beginning files: what is slow is shared among the threads, and is not lost when one of it
/// hangs.
const TURN: Duration = Duration::from_millis(20);

/// What the crew tells besides the looks themselves: of a grant whose root was to be opened, whether it was; and the
/// numbers of wants that a job did not come to.
pub(crate) struct Event {
    entered: Option<(usize, Result<Arc<Root>, Reached>)>,
    left: Vec<usize>,
}

/// Looks by the numbers of their wants, as they are made: what a job saw before one of its files hung was seen.
#[derive(Clone, Default)]
struct Sightings(Arc<Mutex<Vec<(usize, Look)>>>);

impl Sightings {
    fn add(&self, sighting: (usize, Look)) {
        self.lock().push(sighting);
    }

    /// Those since the last time.
    fn take(&self) -> Vec<(usize, Look)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Look)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look under way.
struct Looking<'a> {
    party: Party,
    crew: Crew<Buffers, Event>,
    sightings: Sightings,
    /// How long a call takes that hangs. The crew may be less patient, so that the time is enough for others.
    patience: Duration,
    wants: &'a [Want],
    looks: Vec<Option<Look>>,
    answered: usize,
    /// Roots by the number of their grant; nothing while one is being opened.
    roots: BTreeMap<usize, Option<Arc<Root>>>,
    /// Wants by the number of their grant, in their order.
    under: BTreeMap<usize, Vec<usize>>,
    /// Wants whose root is open, in their order.
    ready: BTreeSet<usize>,
}

/// Looks at `wants` within `time`. What a call of the file system keeps for `patience` is unreachable; what it keeps for
/// less, but longer than the time allows, is not reached.
pub(crate) fn look(
    party: Party,
    crew: Crew<Buffers, Event>,
    wants: &[Want],
    (time, patience): (Duration, Duration),
    watch: &mut dyn Watch,
) -> Vec<Look> {
    let mut looking = Looking {
        party,
        crew,
        sightings: Sightings::default(),
        patience,
        wants,
        looks: vec![None; wants.len()],
        answered: 0,
        roots: BTreeMap::new(),
        under: BTreeMap::new(),
        ready: BTreeSet::new(),
    };
    looking.enter_all();
    looking.run(Instant::now().checked_add(time), watch);
    looking.close()
}

impl Looking<'_> {
    /// Has the roots of all wants opened; answers those without one.
    fn enter_all(&mut self) {
        for (at, want) in self.wants.iter().enumerate() {
            match self.party.territory.number(want.grant) {
                Some(no) => self.under.entry(no).or_default().push(at),
                None => self.answer(at, not_reached(want.grant, Reached::Denied)),
            }
        }
        let firsts: Vec<(usize, usize)> =
            self.under.iter().map(|(&no, all)| (no, all[0])).collect();
        firsts.into_iter().for_each(|(no, first)| self.enter(no, first));
    }

    /// Has a root opened, and the first want under it looked at in the same go.
    fn enter(&mut self, no: usize, first: usize) {
        self.roots.insert(no, None);
        let (party, place, sightings) =
            (self.party.clone(), self.place(first), self.sightings.clone());
        let ground = party.territory.ground(no);
        let at = Ground::clone(&ground);
        self.crew.send(&ground, move |buffers, slot| {
            let entered = slot.away(&at, || party.territory.enter(no))?.map(Arc::new);
            if let Ok(root) = &entered {
                sightings.add(look_at(&party, root, place, buffers, slot)?);
            }
            Ok(Event { entered: Some((no, entered)), left: Vec::new() })
        });
    }

    /// Works until all is answered, time is up, or the watch says stop.
    fn run(&mut self, end: Option<Instant>, watch: &mut dyn Watch) {
        loop {
            let (files_read, of) = (self.answered as u64, self.wants.len() as u64);
            if watch.beat(&Progress { files_read, of, entries: 0 }) == Go::Stop {
                return;
            }
            let beat = Instant::now() + BEAT;
            let until = end.map_or(beat, |end| end.min(beat));
            while Instant::now() < until {
                self.send_ready();
                if self.crew.open() == 0 {
                    return;
                }
                let news = self.crew.wait(until);
                news.into_iter().for_each(|news| self.hear(news));
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                return;
            }
        }
    }

    /// Sends wants whose root is open, the first ones first.
    fn send_ready(&mut self) {
        while self.crew.open() < UNDER_WAY {
            let Some(&first) = self.ready.first() else { return };
            let root = self.party.territory.number(self.wants[first].grant);
            let root = root.and_then(|no| self.roots.get(&no).cloned().flatten());
            let batch = self.next_batch();
            if let Some(root) = root {
                self.send(root, batch);
            }
        }
    }

    /// The next wants that are ready and lie under one root: the fewer, the fewer are left, so that all threads end at
    /// about the same time.
    fn next_batch(&mut self) -> Vec<usize> {
        let most = (self.ready.len() / (4 * self.crew.threads())).clamp(1, BATCH);
        let grant = |at: usize| self.wants[at].grant;
        let next = self.ready.iter().copied().take(most);
        let batch: Vec<usize> = next
            .scan(None, |first, at| (*first.get_or_insert(grant(at)) == grant(at)).then_some(at))
            .collect();
        for at in &batch {
            self.ready.remove(at);
        }
        batch
    }

    fn send(&mut self, root: Arc<Root>, batch: Vec<usize>) {
        let places: Vec<_> = batch.iter().map(|&at| self.place(at)).collect();
        let (party, sightings) = (self.party.clone(), self.sightings.clone());
        let ground = party.territory.ground(root.grant);
        self.crew.send(&ground, move |buffers, slot| {
            let (begun, mut done) = (Instant::now(), 0);
            for place in places {
                sightings.add(look_at(&party, &root, place, buffers, slot)?);
                done += 1;
                if begun.elapsed() > TURN {
                    break;
                }
            }
            Ok(Event { entered: None, left: batch[done..].to_vec() })
        });
    }

    /// Where a want is, and what may be trusted of it.
    fn place(&self, at: usize) -> (Place, Option<Known>) {
        let want = &self.wants[at];
        (Place { turn: at as u64, grant: want.grant, path: want.path.clone() }, want.known)
    }

    /// Takes in what the crew tells.
    fn hear(&mut self, news: News<Event>) {
        self.sightings.take().into_iter().for_each(|(at, look)| self.answer(at, look));
        match news {
            News::Done(Event { entered, left }) => {
                match entered {
                    Some((no, Ok(root))) => self.open(no, root),
                    Some((no, Err(reached))) => self.shut(no, reached),
                    None => {}
                }
                self.ready_again(left);
            }
            News::Hangs(ground, since) => {
                let there = |no: &usize| self.party.territory.ground(*no) == ground;
                let numbers: Vec<usize> = self.roots.keys().copied().filter(there).collect();
                let hangs = since >= self.patience;
                numbers.into_iter().for_each(|no| match hangs {
                    true => self.shut(no, Reached::Unreachable),
                    false => drop(self.give_up(no)),
                });
            }
        }
    }

    /// Takes back wants that a job did not come to, unless their grant was given up meanwhile.
    fn ready_again(&mut self, left: Vec<usize>) {
        let no = |at: usize| self.party.territory.number(self.wants[at].grant);
        let is_asked = |&at: &usize| no(at).is_some_and(|no| self.under.contains_key(&no));
        let left: Vec<usize> = left.into_iter().filter(is_asked).collect();
        self.ready.extend(left);
    }

    fn open(&mut self, no: usize, root: Arc<Root>) {
        self.roots.insert(no, Some(root));
        let under = self.under.get(&no).into_iter().flatten().copied();
        self.ready.extend(under.filter(|&at| self.looks[at].is_none()));
    }

    /// Answers all that is still asked under a grant.
    fn shut(&mut self, no: usize, reached: Reached) {
        let id = self.party.territory.grant(no).id;
        for at in self.give_up(no) {
            self.answer(at, not_reached(id, reached));
        }
    }

    /// Asks for nothing more under a grant; tells what has no answer.
    fn give_up(&mut self, no: usize) -> Vec<usize> {
        let mut all = self.under.remove(&no).unwrap_or_default();
        all.retain(|at| {
            self.ready.remove(at);
            self.looks[*at].is_none()
        });
        all
    }

    /// Takes an answer; the first one stands.
    fn answer(&mut self, at: usize, look: Look) {
        if self.looks[at].is_none() {
            self.looks[at] = Some(look);
            self.answered += 1;
        }
    }

    /// Ends the crew. What it had done by now counts.
    fn close(self) -> Vec<Look> {
        let Self { crew, sightings, mut looks, .. } = self;
        drop(crew.close());
        for (at, look) in sightings.take() {
            looks[at].get_or_insert(look);
        }
        looks.into_iter().map(|look| look.unwrap_or(Look::NotReached)).collect()
    }
}

/// Looks at one file; answers with the number of its want.
fn look_at(
    party: &Party,
    root: &Root,
    (place, known): (Place, Option<Known>),
    buffers: &mut Buffers,
    slot: &Slot,
) -> Result<(usize, Look), LeftBehind> {
    let at = usize::try_from(place.turn).unwrap_or(usize::MAX);
    let ground = party.territory.ground(root.grant);
    let visit = Visit { root, ground: &ground, place, known };
    let (owner, visited) = party.visit(visit, buffers, slot, permitted)?;
    let owner = party.territory.grant(owner).id;
    Ok((at, answer(owner, &visited, buffers)))
}

/// Whether the grant that decides at `reach` lets the file at `path` be read.
fn permitted(territory: &Territory, reach: &Reach, path: &RelPath) -> Result<(), Fault> {
    let owner = territory.grant(reach.owner);
    let below = match reach.above {
        0 => Cow::Borrowed(path),
        above => Cow::Owned(path.below(above).ok_or(Fault::Denied)?),
    };
    match owner.state {
        GrantState::Revoked => Err(Fault::Denied),
        GrantState::Active => owner.rules.permit_file(&below).map_err(|_| Fault::Denied),
    }
}

/// A visit as an answer.
fn answer(owner: GrantId, visited: &Visited, buffers: &Buffers) -> Look {
    match visited {
        Visited::Read(read) => {
            Look::Saw { seen: Seen::Bytes(version(read, buffers)), owner, stamp: read.stamp }
        }
        Visited::Known(known) => {
            Look::Saw { seen: Seen::Bytes(known.version), owner, stamp: Some(known.stamp) }
        }
        Visited::Unwanted => Look::NotReached,
        Visited::Not(fault) => Look::Saw { seen: fault.seen(), owner, stamp: None },
    }
}

fn version(read: &Read, buffers: &Buffers) -> SourceVersion {
    work_core::port::version_of(buffers.bytes(read), read.facts.size)
}

/// The answer for all that lies under a root which was not reached.
const fn not_reached(grant: GrantId, reached: Reached) -> Look {
    let seen = match reached {
        Reached::Denied => Seen::Denied,
        Reached::Yes | Reached::Unreachable => Seen::Unreachable,
    };
    Look::Saw { seen, owner: grant, stamp: None }
}

/// Whether each root is still the directory that was approved, within `time`.
pub(crate) fn roots(
    territory: &Arc<Territory>,
    mut crew: Crew<(), (usize, Reached)>,
    grants: usize,
    time: Duration,
) -> Vec<Reached> {
    let mut answers = vec![Reached::Unreachable; grants];
    for no in 0..grants {
        let (territory, ground) = (Arc::clone(territory), territory.ground(no));
        let at = Ground::clone(&ground);
        crew.send(&ground, move |(), slot| {
            let entered = slot.away(&at, || territory.enter(no))?;
            Ok((no, entered.map_or_else(|reached| reached, |_| Reached::Yes)))
        });
    }
    let end = Instant::now() + time;
    while crew.open() > 0 && Instant::now() < end {
        for news in crew.wait(end) {
            if let News::Done((no, reached)) = news {
                answers[no] = reached;
            }
        }
    }
    answers
}
