//! Refreshing: what a look at everything says and keeps, and who looks at the interval.

use crate::checking::check;
use crate::status::status;
use crate::world::{BACKUPS, World};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::document::wire::{RefreshDoc, TurnedDoc, Verdict};
use work_core::folder::Grant;
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::{
    AdmitRefusal, Go, Ground, Head, Patience, Pause, Probe, Quiet, Root, Scanned, SourceDoor,
    Store, StoreError, Want, Watch,
};
use work_core::report::Reached;
use work_core::result::ResultState;
use work_core::source::Look;
use work_core::testkit::fakes::{Fault, ScriptedPause, Step, StopAfter};
use work_core::workspace::{FailOn, StateFilter, Told, Until};

const FILE: &str = "/handbook/it/backups.md";

fn refresh(world: &World) -> RefreshDoc {
    world.work.refresh(&mut Quiet).expect("refreshed")
}

/// The head as it is stored: it moves with every batch, once time has passed.
fn head(world: &World) -> Head {
    let patience = Patience { lock: Duration::ZERO, whole: Duration::MAX };
    world.store.read(patience).expect("a snapshot").head().expect("a head").0
}

/// Whether something was written by `happen`.
fn writes(world: &World, happen: impl FnOnce(&World)) -> bool {
    let before = head(world);
    world.pass(1);
    happen(world);
    head(world) != before
}

/// The state that a list tells, which does not look.
fn listed(world: &World) -> Vec<ResultState> {
    let list = world.work.list(StateFilter::All, None).expect("a list");
    list.results.into_iter().map(|one| one.state).collect()
}

// spec: O5
#[test]
fn a_refresh_keeps_what_is_new_and_tells_which_results_turned() {
    let world = World::new();
    let report = world.report("restores tried each month").artifact_id;
    let turned = |state| vec![TurnedDoc { artifact_id: report, state }];
    world.door.put(FILE, BACKUPS.replace("month", "year"));
    let told = refresh(&world);
    assert_eq!((told.looked_at, told.changed, told.missing, told.not_looked_at), (1, 1, 0, 0));
    assert_eq!(told.results, turned(ResultState::Stale));
    let list = world.work.list(StateFilter::All, None).expect("a list");
    let causes = list.results[0].causes.as_ref().expect("visible");
    assert_eq!(causes[0].finding, Some("altered"), "the finding was kept");
    assert_eq!(refresh(&world).results, []);
    world.door.remove(FILE);
    let told = refresh(&world);
    assert_eq!((told.changed, told.missing, told.results), (0, 1, vec![]), "stale as before");
    world.door.put(FILE, BACKUPS);
    assert_eq!(refresh(&world).results, turned(ResultState::SourcesChecked));
}

// spec: O5
#[test]
fn a_look_that_says_nothing_new_writes_nothing() {
    let world = World::new();
    world.report("restores tried each month");
    world.report("leave");
    world.door.put(FILE, "other\n");
    world.door.remove("/handbook/people/leave.md");
    assert!(writes(&world, |world| drop(refresh(world))));
    assert!(!writes(&world, |world| drop(refresh(world))));
    assert!(!writes(&world, |world| drop(status(world))));
    assert!(!writes(&world, |world| drop(check(world, FailOn::default()))));
    world.door.make_unreachable("/handbook");
    assert!(writes(&world, |world| drop(status(world))));
    assert!(!writes(&world, |world| drop(refresh(world))));
}

// spec: O5
#[test]
fn a_refresh_is_one_commit_and_no_event() {
    let world = World::new();
    world.report("backups kept restores");
    world.report("leave");
    world.door.put(FILE, "other\n");
    world.door.remove("/handbook/people/leave.md");
    let (before, looks) = (world.events(), head(&world).looks);
    refresh(&world);
    assert_eq!((world.events(), head(&world).looks), (before, looks + 2));
}

// spec: O5
#[test]
fn what_could_not_be_kept_is_told_by_a_refresh_and_not_by_a_status() {
    let world = World::new();
    world.report("restores tried each month");
    world.door.put(FILE, "other\n");
    let fail = || world.store.fail_next_commit(Fault::NotDone(StoreError::DiskFull));
    fail();
    let failure = world.work.refresh(&mut Quiet).expect_err("not kept");
    assert_eq!(failure.code(), Code::DiskFull);
    fail();
    assert_eq!(status(&world).counts.stale, 1);
    assert_eq!(listed(&world), [ResultState::SourcesChecked]);
}

// spec: O1
#[test]
fn a_failed_look_is_never_a_missing_file() {
    let happens: [fn(&World); 6] = [
        |world| world.door.make_unreachable(FILE),
        |world| world.door.make_unreachable("/handbook/it"),
        |world| world.door.deny("/handbook/it"),
        |world| world.door.remove("/handbook"),
        |world| world.door.replace_folder("/handbook"),
        |world| world.door.slow_down(FILE, Duration::from_secs(31)),
    ];
    for (n, happen) in happens.into_iter().enumerate() {
        let world = World::new();
        world.report("restores tried each month");
        happen(&world);
        assert_eq!(refresh(&world).missing, 0, "{n}");
        let told = status(&world);
        assert!(told.attention[0].state.hides(), "{n}");
        assert_eq!(told.counts.stale, 0, "{n}");
    }
}

/// A door that remembers at which files it was to look, in their order.
#[derive(Default)]
struct Recording {
    door: Arc<MemoryDoor>,
    wanted: Mutex<Vec<Vec<String>>>,
    probed: Arc<Mutex<u64>>,
}

impl Recording {
    /// The looks since it was last asked.
    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.wanted.lock().expect("sound"))
    }

    /// How many files were read since it was last asked.
    fn read(&self) -> u64 {
        std::mem::take(&mut *self.probed.lock().expect("sound"))
    }
}

struct Counted(Arc<dyn Probe>, Arc<Mutex<u64>>);

impl Probe for Counted {
    fn wants(&self, place: &work_core::port::Place, size: u64) -> bool {
        self.0.wants(place, size)
    }

    fn file(&self, place: work_core::port::Place, bytes: &[u8], full_size: u64) {
        *self.1.lock().expect("sound") += 1;
        self.0.file(place, bytes, full_size);
    }
}

impl SourceDoor for Recording {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        self.door.admit(path)
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        self.door.roots(grants)
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        self.door.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        let paths = wants.iter().map(|want| want.path.to_string()).collect();
        self.wanted.lock().expect("sound").push(paths);
        self.door.look(ground, wants, Arc::new(Counted(probe, self.probed.clone())), watch)
    }
}

/// A workspace with one report for each of three files, made one after the other.
fn three() -> (World, Arc<Recording>, Vec<ResultId>) {
    let door = Arc::new(MemoryDoor::new());
    let outer = Arc::new(Recording { door: door.clone(), ..Recording::default() });
    let world = World::behind(door, outer.clone());
    for (name, word) in [("a", "apple"), ("b", "birch"), ("c", "cedar")] {
        world.door.put(&format!("/d/{name}.md"), format!("The {word} grows.\n"));
    }
    world.approve("/d");
    let report = |word| {
        world.pass(1);
        world.report(word).artifact_id
    };
    let made = ["birch", "cedar", "apple"].map(report).into();
    outer.take();
    outer.read();
    (world, outer, made)
}

// spec: O1
#[test]
fn sources_looked_at_longest_ago_come_first_and_a_cut_look_moves_the_order_on() {
    let (world, door, _) = three();
    world.pass(1);
    refresh(&world);
    assert_eq!(door.take(), [["b.md", "c.md", "a.md"]]);
    world.door.slow_down("/d/c.md", Duration::from_secs(31));
    let told = refresh(&world);
    assert_eq!((told.looked_at, told.not_looked_at, told.results), (1, 2, vec![]));
    assert_eq!(door.take(), [["b.md", "c.md", "a.md"]], "the look before was whole");
    world.pass(1);
    refresh(&world);
    assert_eq!(door.take(), [["c.md", "a.md", "b.md"]], "what was reached goes last");
    assert_eq!(listed(&world), [ResultState::SourcesChecked; 3], "what is stored stays");
    let told = check(&world, FailOn::default());
    assert_eq!((told.verdict, told.not_looked_at), (Verdict::Incomplete, 3));
}

// spec: O2
#[test]
fn what_changed_is_looked_at_once_more_and_only_until_its_finding_is_kept() {
    let (world, door, _) = three();
    world.door.put("/d/c.md", "Nothing grows.\n");
    refresh(&world);
    assert_eq!(door.take(), [vec!["b.md", "c.md", "a.md"], vec!["c.md"]]);
    refresh(&world);
    assert_eq!(door.take().len(), 1);
    world.door.put("/d/c.md", "The cedar grows.\nAnd more.\n");
    refresh(&world);
    assert_eq!(door.take().len(), 2, "a finding is about some bytes");
}

// spec: I5
#[test]
fn what_was_withdrawn_is_not_looked_at_and_counts_nowhere() {
    let (world, door, _) = three();
    world.door.put("/e/x.md", "The elder grows.\n");
    world.approve("/e");
    world.report("elder");
    world.revoke("/e");
    door.take();
    let told = refresh(&world);
    assert_eq!((told.looked_at, told.not_looked_at), (3, 0));
    assert_eq!(door.take(), [["b.md", "c.md", "a.md"]]);
    assert_eq!(status(&world).counts.access_removed, 1);
}

// spec: L
#[test]
fn everything_is_read_however_small_a_page_is() {
    let (world, _, _) = three();
    world.report("apple birch cedar grows");
    let world = world.limited(Limits { page: 2, list: 2, ..Limits::standard() });
    world.door.put("/d/a.md", "Nothing.\n");
    world.door.put("/d/b.md", "Nothing.\n");
    world.door.put("/d/c.md", "Nothing.\n");
    let told = refresh(&world);
    assert_eq!((told.looked_at, told.changed), (3, 3));
    assert_eq!((told.results.len(), told.left_out), (2, 2));
    assert_eq!(listed(&world)[..2], [ResultState::Stale; 2]);
    assert_eq!(status(&world).quotations.affected, 6);
}

/// What a worker told.
#[derive(Debug, PartialEq)]
enum Heard {
    Task,
    Refreshed(Vec<TurnedDoc>),
}

/// Lets a worker work through as many pauses of a second, and tells what it told.
fn work(world: &World, until: Until, pauses: usize) -> Vec<Heard> {
    work_watched(world, until, pauses, &mut Quiet)
}

fn work_watched(world: &World, until: Until, pauses: usize, watch: &mut dyn Watch) -> Vec<Heard> {
    let mut heard = Vec::new();
    let mut told = |told: Told<'_>| {
        heard.push(match told {
            Told::Task(_) => Heard::Task,
            Told::Refreshed(found) => Heard::Refreshed(found.results.clone()),
        });
    };
    let pause = ScriptedPause::new(world.clock.clone(), vec![Step::Whole; pauses]);
    let worker = world.work.new_worker();
    world.work.work(worker, until, &pause, watch, &mut told).expect("works");
    heard
}

// spec: O2, T8
#[test]
fn a_worker_looks_at_the_interval_and_tells_what_turned() {
    let (world, door, made) = three();
    assert_eq!(work(&world, Until::Stopped, 59), []);
    assert_eq!(door.take().len(), 1, "once in a minute");
    world.door.remove("/d/c.md");
    assert_eq!(work(&world, Until::Stopped, 0), [], "the minute is not over");
    world.pass(1);
    let turned = TurnedDoc { artifact_id: made[1], state: ResultState::Stale };
    assert_eq!(work(&world, Until::Stopped, 0), [Heard::Refreshed(vec![turned])]);
    assert_eq!(listed(&world)[1], ResultState::Stale);
    assert_eq!(work(&world, Until::Stopped, 100), []);
}

// spec: T8
#[test]
fn of_two_workers_one_looks() {
    let (world, door, _) = three();
    let (mine, other) = (world.work.new_worker(), world.work.new_worker());
    let both = Both { world: &world, other, left: Mutex::new(130) };
    world.work.work(mine, Until::Stopped, &both, &mut Quiet, &mut |_| ()).expect("works");
    assert_eq!(door.take().len(), 3, "at once, and after each of two minutes");
}

/// A pause in which another worker looks for work, too.
struct Both<'a> {
    world: &'a World,
    other: work_core::id::WorkerId,
    left: Mutex<u32>,
}

impl Pause for Both<'_> {
    fn pause(&self, most: Duration) -> Go {
        let mut left = self.left.lock().expect("sound");
        *left = left.saturating_sub(1);
        let work = &self.world.work;
        let once = ScriptedPause::new(self.world.clock.clone(), []);
        work.work(self.other, Until::Stopped, &once, &mut Quiet, &mut |_| ()).expect("works");
        self.world.clock.advance(most);
        if *left == 0 { Go::Stop } else { Go::On }
    }
}

// spec: T8
#[test]
fn a_worker_that_ends_when_nothing_waits_does_not_look() {
    let (world, door, _) = three();
    world.ask("apple");
    door.take();
    assert_eq!(work(&world, Until::Idle, 200), [Heard::Task]);
    let quoted = vec!["a.md".to_owned()];
    assert_eq!(door.take(), [quoted], "what it quoted");
}

// spec: T8
#[test]
fn a_look_that_meets_a_busy_store_is_left_to_the_next_interval() {
    let (world, _, _) = three();
    world.door.remove("/d/c.md");
    world.store.fail_next_commit(Fault::NotDone(StoreError::Busy));
    assert_eq!(work(&world, Until::Stopped, 0), [], "the lease could not be had");
    assert!(matches!(work(&world, Until::Stopped, 0)[..], [Heard::Refreshed(_)]));
}

// spec: O5
#[test]
fn what_a_worker_could_not_keep_it_tells_when_it_is_kept() {
    let (world, _, _) = three();
    work(&world, Until::Stopped, 0);
    world.door.remove("/d/c.md");
    world.pass(60);
    let busy = BusyAtLook(&world);
    assert_eq!(work_watched(&world, Until::Stopped, 0, &mut { busy }), []);
    assert_eq!(listed(&world), [ResultState::SourcesChecked; 3]);
    world.pass(60);
    assert!(matches!(work(&world, Until::Stopped, 0)[..], [Heard::Refreshed(_)]));
}

/// Lets the commit after a look fail.
struct BusyAtLook<'a>(&'a World);

impl Watch for BusyAtLook<'_> {
    fn beat(&mut self, progress: &work_core::task::Progress) -> Go {
        if progress.files_read == 1 {
            self.0.store.fail_next_commit(Fault::NotDone(StoreError::Busy));
        }
        Go::On
    }
}

// spec: T8
#[test]
fn a_worker_that_is_stopped_while_it_looks_tells_nothing() {
    let (world, _, _) = three();
    world.door.remove("/d/a.md");
    world.door.remove("/d/b.md");
    world.door.remove("/d/c.md");
    assert_eq!(work_watched(&world, Until::Stopped, 0, &mut StopAfter::beats(1)), []);
}

// spec: T6
#[test]
fn a_lease_of_a_clock_that_was_wrong_does_not_last_for_ever() {
    let (world, door, _) = three();
    let mut ahead = head(&world);
    let until = ahead.anchor.now().at.plus(Duration::from_secs(1_000_000));
    ahead.refresher = Some((world.work.new_worker(), until));
    let patience = Patience { lock: Duration::ZERO, whole: Duration::MAX };
    let batch = work_core::port::Batch { head: ahead, act: None, notes: vec![] };
    world.store.write(patience).expect("the lock").commit(&batch).expect("written");
    work(&world, Until::Stopped, 0);
    assert_eq!(door.take().len(), 1);
}

// spec: O5
#[test]
fn an_interval_in_which_nothing_changed_is_one_row_for_each_folder() {
    let (world, _, _) = three();
    let (looks, before) = (head(&world).looks, world.work.list(StateFilter::All, None));
    world.pass(1000);
    work(&world, Until::Stopped, 0);
    assert_eq!(head(&world).looks, looks, "no observation");
    let after = world.work.list(StateFilter::All, None).expect("a list");
    let times = |list: &work_core::document::wire::ResultsDoc| {
        list.results.iter().map(|one| one.observed_at.expect("visible").seconds()).min()
    };
    let passed = times(&after).zip(times(&before.expect("a list"))).map(|(now, was)| now - was);
    assert!(passed >= Some(1000), "the list knows when: {passed:?}");
    world.door.slow_down("/d/b.md", Duration::from_secs(31));
    world.pass(1);
    refresh(&world);
    assert!(!writes(&world, |world| drop(refresh(world))), "nothing was reached");
}

// spec: O2
#[test]
fn the_interval_reads_only_what_may_have_changed_and_a_touched_file_once() {
    let (world, door, _) = three();
    let look = || {
        world.pass(60);
        work(&world, Until::Stopped, 0);
        door.read()
    };
    assert_eq!(look(), 0);
    world.door.put("/d/a.md", "The apple grows.\n");
    assert_eq!((look(), look()), (1, 0));
    refresh(&world);
    assert_eq!(door.read(), 3, "a refresh that is asked for reads everything");
    world.door.put("/d/a.md", "Nothing grows.\n");
    assert_eq!((look(), look()), (2, 0), "and once more for what became of the quotation");
}

/// Everything that is told of all results, in one text, and told by the worker too.
fn told(world: &World) -> String {
    let (open, shut) = (HostPath::from_bytes("/open/plan.md"), HostPath::from_bytes("/shut/a.md"));
    let ask =
        |paths| work_core::workspace::CheckAsk { fail_on: FailOn::default(), paths: Some(paths) };
    let check_of = |paths| world.work.check(&ask(paths), &mut Quiet).expect("checked");
    let all = (
        refresh(world),
        status(world),
        check(world, FailOn::default()),
        check(world, "altered,moved".parse().expect("a list")),
        (check_of(vec![open.clone()]), check_of(vec![shut.clone()]), check_of(vec![open, shut])),
        refresh(world),
    );
    serde_json::to_string_pretty(&all).expect("JSON")
}

// spec: R3
#[test]
fn two_workspaces_that_differ_in_what_a_withdrawn_folder_held_are_told_of_alike() {
    let happens: [fn(&World); 5] = [
        |_| (),
        |world| world.door.put("/open/plan.md", "The plan is another.\n"),
        |world| world.door.remove("/open/plan.md"),
        |world| world.door.make_unstable("/open/plan.md"),
        |world| world.door.slow_down("/open/plan.md", Duration::from_secs(31)),
    ];
    for (n, happen) in happens.into_iter().enumerate() {
        let world_with = |files: &[(&str, String)]| {
            let door = MemoryDoor::new()
                .file("/open/plan.md", "The plan is open.\n")
                .file("/open/rest.md", "The rest is open, too.\n")
                .folder("/shut");
            files.iter().for_each(|(name, text)| door.put(&format!("/shut/{name}"), text.as_str()));
            let world = World::over(Arc::new(door));
            world.approve("/open");
            world.approve("/shut");
            world.report("open");
            world.report("rest");
            // The withdrawn one last: how many ids its sources take differs, and in life all are random.
            let withdrawn = world.report("secret plan word").artifact_id.to_string();
            world.revoke("/shut");
            happen(&world);
            let heard = work(&world, Until::Stopped, 61);
            format!("{heard:?}\n{}", told(&world)).replace(&withdrawn, "WITHDRAWN")
        };
        let few = world_with(&[("a.md", "A secret word.\n".into())]);
        let many: Vec<_> = ["a.md", "b/c.txt", "b/d.md", "e.md", "f.md", "g.md"]
            .map(|name| (name, format!("A longer secret word on the plan, in {name}.\n").repeat(9)))
            .into();
        assert_eq!(few, world_with(&many), "{n}");
        assert!(few.contains("access_removed"), "{n}");
    }
}
