//! Folders that are withdrawn, approved or replaced while a worker reads them.

use crate::world::{AtOnce, World, ask};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::folder::Grant;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::{
    AdmitRefusal, Go, Ground, NoPause, Probe, Quiet, Root, Scanned, SourceDoor, Want, Watch,
};
use work_core::report::Reached;
use work_core::result::ResultState;
use work_core::source::Look;
use work_core::task::Progress;
use work_core::testkit::fakes::FakeClock;
use work_core::workspace::{ReportAsk, RunEnding, StateFilter};

/// Does something at one beat, and remembers the most files that were read.
struct AtBeat<F> {
    beat: u32,
    happen: Option<F>,
    files_read: u64,
}

impl<F: FnOnce()> AtBeat<F> {
    fn new(beat: u32, happen: F) -> Self {
        Self { beat, happen: Some(happen), files_read: 0 }
    }
}

impl<F: FnOnce()> Watch for AtBeat<F> {
    fn beat(&mut self, progress: &Progress) -> Go {
        self.files_read = self.files_read.max(progress.files_read);
        match self.beat.checked_sub(1) {
            Some(left) => self.beat = left,
            None => self.happen.take().into_iter().for_each(|happen| happen()),
        }
        Go::On
    }
}

fn twenty_files() -> World {
    let door = MemoryDoor::new();
    (0..20).for_each(|n| door.put(&format!("/h/{n:02}.md"), format!("Backups {n}.\n")));
    let world = World::over(Arc::new(door));
    world.approve("/h");
    world
}

// spec: I5
#[test]
fn a_folder_that_is_revoked_is_read_no_further() {
    let world = twenty_files();
    let task = world.ask("backups");
    let mut revoke = AtBeat::new(1, || drop(world.revoke("/h")));
    let ending = world.work.work_once(world.work.new_worker(), &mut revoke).expect("runs");
    assert_eq!(ending, Some(RunEnding::Overtaken(task)));
    assert!(revoke.files_read <= 2, "{} files were read", revoke.files_read);
    world.work.work_once(world.work.new_worker(), &mut Quiet).expect("works");
    assert_eq!(world.task(task).error.expect("an error").code, "no_sources");
}

// spec: T4
#[test]
fn a_task_whose_folders_changed_is_worked_again_and_that_is_no_attempt() {
    let world = twenty_files();
    world.door.put("/other/a.md", "Backups elsewhere.\n");
    let task = world.ask("backups");
    let mut approve = AtBeat::new(1, || drop(world.approve("/other")));
    let ending = world.work.work_once(world.work.new_worker(), &mut approve).expect("runs");
    assert_eq!(ending, Some(RunEnding::Overtaken(task)));
    let shown =
        world.work.finish(task, world.work.new_worker(), &NoPause, &mut Quiet).expect("a report");
    assert_eq!((shown.state, world.task(task).attempt), (ResultState::SourcesChecked, 1));
}

// spec: O3
#[test]
fn nothing_read_before_an_approval_counts_after_it() {
    let mut beats = 0;
    loop {
        let world =
            World::over(Arc::new(MemoryDoor::new().file("/h/a.md", "backups are secret\n")));
        world.approve("/h");
        let task = world.ask("backups secret");
        let mut replace = AtBeat::new(beats, || {
            world.door.rename("/h", "/elsewhere");
            world.door.put("/h/b.md", "other\n");
            world.approve("/h");
        });
        world.work.work_once(world.work.new_worker(), &mut replace).expect("runs");
        let reached = replace.happen.is_none();
        let listed = world.work.list(StateFilter::All, None).expect("a list").results;
        let checked = listed.iter().any(|one| one.state == ResultState::SourcesChecked);
        assert_eq!(checked, !reached, "at beat {beats}, the task is {}", world.task(task).state);
        if !reached {
            break;
        }
        beats += 1;
    }
    assert!(beats > 1, "the race was tried");
}

// spec: I5
#[test]
fn approving_an_inner_folder_again_shows_what_was_cited_through_the_outer_one() {
    let world = World::new();
    let report = world.report("backups");
    world.approve("/handbook/it");
    world.show(report.artifact_id);
    world.revoke("/handbook/it");
    world.show(report.artifact_id);
    let again = world.approve("/handbook/it");
    assert_eq!((again.change, again.not_looked_at), ("approved_again", 0));
    let listed = world.work.list(StateFilter::All, None).expect("a list");
    assert_eq!(listed.results[0].state, ResultState::SourcesChecked);
}

// spec: R3
#[test]
fn a_scan_record_tells_nothing_of_an_inner_folder_that_was_withdrawn_since() {
    let told = |text: &str| {
        let door = MemoryDoor::new()
            .file("/open/plan.md", "The plan is open.\n")
            .file("/open/inner/a.md", text);
        let world = World::over(Arc::new(door));
        world.approve("/open");
        let report = world.report("plan");
        world.approve("/open/inner");
        world.revoke("/open/inner");
        let shown = world.show(report.artifact_id);
        assert_eq!(shown.state, ResultState::SourcesChecked);
        serde_json::to_string(&shown).expect("JSON")
    };
    assert_eq!(told("x\n"), told("quite another and longer text\n"));
}

// spec: Q5
#[test]
fn a_hole_that_was_there_before_the_scan_leaves_its_record_visible() {
    let door = MemoryDoor::new().file("/open/plan.md", "The plan is open.\n").folder("/open/inner");
    let world = World::over(Arc::new(door));
    world.approve("/open");
    world.approve("/open/inner");
    world.revoke("/open/inner");
    let report = world.report("plan");
    assert_eq!(report.scan.expect("a scan record").folders.len(), 1);
}

// spec: T7
#[test]
fn asking_again_for_a_task_that_failed_tells_what_was_scanned() {
    let world = World::new();
    let keyed = ReportAsk { key: Some("k".into()), ..ask("zeppelin") };
    world.work.report(&keyed, &mut Quiet).expect_err("no match");
    let again = world.work.ask(&keyed).expect("the first");
    assert_eq!(again, world.task(again.task_id));
    assert!(again.scan.is_some());
}

// spec: Q8
#[test]
fn a_published_report_is_shown_although_somebody_says_stop() {
    struct StopOnceDone<'a>(&'a World, work_core::id::TaskId);
    impl Watch for StopOnceDone<'_> {
        fn beat(&mut self, _: &Progress) -> Go {
            if self.0.task(self.1).state == "succeeded" { Go::Stop } else { Go::On }
        }
    }
    let world = World::new();
    let task = world.ask("backups");
    let mut watch = StopOnceDone(&world, task);
    let shown =
        world.work.finish(task, world.work.new_worker(), &NoPause, &mut watch).expect("a report");
    assert_eq!(shown.state, ResultState::SourcesChecked);
}

/// A door that walks for 30 seconds past entries of which none is a candidate.
struct LongWalk {
    door: Arc<MemoryDoor>,
    clock: Mutex<Option<Arc<FakeClock>>>,
}

impl SourceDoor for LongWalk {
    fn admit(&self, path: &HostPath) -> Result<Root, AdmitRefusal> {
        self.door.admit(path)
    }

    fn roots(&self, grants: &[Grant]) -> Vec<Reached> {
        self.door.roots(grants)
    }

    fn scan(&self, ground: Ground<'_>, probe: Arc<dyn Probe>, watch: &mut dyn Watch) -> Scanned {
        let clock = self.clock.lock().expect("sound").clone().expect("set");
        for entries in 0..61 {
            clock.advance(Duration::from_millis(500));
            if watch.beat(&Progress { entries, ..Progress::default() }) == Go::Stop {
                break;
            }
        }
        self.door.scan(ground, probe, watch)
    }

    fn look(
        &self,
        ground: Ground<'_>,
        wants: &[Want],
        probe: Arc<dyn Probe>,
        watch: &mut dyn Watch,
    ) -> Vec<Look> {
        self.door.look(ground, wants, probe, watch)
    }
}

// spec: T2
#[test]
fn walking_past_entries_is_progress_that_renews_a_lease() {
    let door = Arc::new(MemoryDoor::new().folder("/h"));
    let outer = Arc::new(LongWalk { door: door.clone(), clock: Mutex::default() });
    let world = World::behind(door, outer.clone());
    *outer.clock.lock().expect("sound") = Some(world.clock.clone());
    world.approve("/h");
    let task = world.ask("backups");
    let ended = world.work.finish(task, world.work.new_worker(), &AtOnce, &mut Quiet);
    assert_eq!(ended.expect_err("nothing is there").code(), Code::NoMatches);
    assert_eq!(world.task(task).attempt, 1);
}
