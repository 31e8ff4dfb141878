//! Running: leases, fencing, renewal, cancellation, and what is published.

use crate::world::{AtFirstBeat, World, ask, texts};
use std::sync::Arc;
use work_core::code::{Code, Coded};
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::port::{NoPause, Quiet};
use work_core::report::SkipReason;
use work_core::task::Refusal;
use work_core::testkit::fakes::{ScriptedPause, Step, StopAfter};
use work_core::workspace::{RunEnding, RunError, Told, Until};

// spec: Q4
#[test]
fn a_report_quotes_what_the_bytes_say_at_the_place_that_it_names() {
    let world = World::new();
    let report = world.report("how long are backups kept");
    let first = &report.body.as_ref().expect("a body").excerpts[0];
    assert_eq!(first.text, "Backups are kept for 35 days.");
    let [start, end] = first.bytes.map(|at| usize::try_from(at).expect("small"));
    assert_eq!(&crate::world::BACKUPS[start..end], first.text);
    assert_eq!(
        (first.lines, first.heading.as_slice()),
        ([3, 3], ["Backups".to_owned()].as_slice())
    );
    assert_eq!((first.path.path.as_str(), first.label.as_str()), ("it/backups.md", "handbook"));
}

// spec: Q5
#[test]
fn a_report_tells_what_was_scanned_and_what_was_skipped() {
    let world = World::new();
    world.door.put("/handbook/logo.png", "png");
    world.door.put("/handbook/.draft.md", "backups");
    world.door.put("/handbook/binary.md", b"back\0ups".as_slice());
    let scan = world.report("backups").scan.expect("a scan record");
    let counts = &scan.folders[0].counts;
    assert_eq!((counts.files_seen, counts.files_read), (3, 2), "{counts:?}");
    let skipped: Vec<_> = counts.skipped.iter().map(|(why, count)| (*why, *count)).collect();
    assert_eq!(
        skipped,
        [(SkipReason::Hidden, 1), (SkipReason::Extension, 1), (SkipReason::NotText, 1)]
    );
}

// spec: Q6
#[test]
fn nothing_found_is_a_task_with_its_scan_record_and_no_result() {
    let world = World::new();
    let missed = world.work.report(&ask("zeppelin"), &mut Quiet).expect_err("no match");
    assert_eq!(missed.code(), Code::NoMatches);
    let RunError::Unanswered(task, _) = missed else { panic!("{missed:?}") };
    assert_eq!((task.state, task.artifact_id), ("failed", None));
    assert_eq!(task.scan.expect("a scan record").folders[0].counts.files_read, 2);
    assert!(
        world
            .work
            .list(work_core::workspace::StateFilter::All, None)
            .expect("a list")
            .results
            .is_empty()
    );
}

// spec: Q6
#[test]
fn a_scope_without_a_readable_folder_has_no_sources() {
    for make_it_so in [
        (|world: &World| drop(world.revoke("/handbook"))) as fn(&World),
        |world| world.door.make_unreachable("/handbook"),
        |world| world.door.replace_folder("/handbook"),
        |world| world.door.remove("/handbook"),
    ] {
        let world = World::new();
        make_it_so(&world);
        let missed = world.work.report(&ask("backups"), &mut Quiet).expect_err("no sources");
        assert_eq!(missed.code(), Code::NoSources, "{missed:?}");
    }
}

// spec: Q3
#[test]
fn the_same_folders_and_query_give_the_same_body_in_another_workspace() {
    let bodies = [World::new(), World::new()].map(|world| {
        let _another_id = world.work.new_worker();
        world.report("backups kept").body.expect("a body").excerpts
    });
    let contents = bodies.map(|body| {
        body.into_iter().map(|one| (one.path, one.text, one.digest)).collect::<Vec<_>>()
    });
    assert_eq!(contents[0], contents[1]);
}

// spec: T2
#[test]
fn the_oldest_task_is_leased_first_and_each_by_one_worker() {
    let world = World::new();
    let (first, second) = (world.ask("backups"), world.ask("leave"));
    let mut ended = Vec::new();
    let other = world.work.clone();
    let mut meanwhile = AtFirstBeat(Some(|| {
        let others =
            other.work_once(other.new_worker(), &mut Quiet).expect("works").expect("the second");
        let RunEnding::Ended(task) = others else { panic!("{others:?}") };
        assert_eq!(task.task_id, second);
        assert_eq!(other.work_once(other.new_worker(), &mut Quiet).expect("works"), None);
    }));
    let worker = world.work.new_worker();
    world
        .work
        .work(
            worker,
            Until::Idle,
            &ScriptedPause::new(world.clock.clone(), [Step::Whole; 9]),
            &mut meanwhile,
            &mut |told| match told {
                Told::Task(task) => ended.push(task.task_id),
                Told::Refreshed(_) => {
                    panic!("it ends when nothing waits, and looks at nothing else")
                }
            },
        )
        .expect("works");
    assert_eq!(ended, [first]);
}

// spec: T3
#[test]
fn a_worker_past_its_lease_publishes_nothing_and_learns_why() {
    let world = World::new();
    let task = world.ask("backups");
    let mut sleep = AtFirstBeat(Some(|| world.pass(31)));
    let slept = world.work.work_once(world.work.new_worker(), &mut sleep).expect("runs");
    assert_eq!(slept, Some(RunEnding::Lost(task, Refusal::LeaseEnded)));
    assert_eq!(world.task(task).state, "running");
}

// spec: T3
#[test]
fn an_old_worker_writes_nothing_once_another_has_taken_over() {
    let world = World::new();
    let task = world.ask("backups");
    let mut overtaken = AtFirstBeat(Some(|| {
        world.pass(31);
        world.work.work_once(world.work.new_worker(), &mut Quiet).expect("works");
    }));
    let ending = world
        .work
        .work_once(world.work.new_worker(), &mut overtaken)
        .expect("runs")
        .expect("a task");
    assert!(matches!(ending, RunEnding::Ended(_)), "the other one ended it: {ending:?}");
    assert_eq!((world.task(task).state, world.task(task).attempt), ("succeeded", 2));
    let results =
        world.work.list(work_core::workspace::StateFilter::All, None).expect("a list").results;
    assert_eq!(results.len(), 1, "published once");
}

// spec: T4
#[test]
fn after_three_silent_leases_a_task_is_abandoned() {
    let world = World::new();
    let task = world.ask("backups");
    for _ in 0..3 {
        let mut sleep = AtFirstBeat(Some(|| world.pass(31)));
        world.work.work_once(world.work.new_worker(), &mut sleep).expect("runs");
    }
    let ended = world.work.work_once(world.work.new_worker(), &mut Quiet).expect("looks");
    assert!(matches!(ended, Some(RunEnding::Ended(_))));
    assert_eq!(world.task(task).error.expect("an error").code, "abandoned");
}

// spec: T4
#[test]
fn a_worker_that_stops_in_order_gives_its_lease_back_and_that_is_no_attempt() {
    let world = World::new();
    let task = world.ask("backups");
    let stopped =
        world.work.work_once(world.work.new_worker(), &mut StopAfter::beats(1)).expect("runs");
    assert_eq!(stopped, Some(RunEnding::GivenBack(task)));
    assert_eq!((world.task(task).state, world.task(task).attempt), ("queued", 0));
    world.work.work_once(world.work.new_worker(), &mut Quiet).expect("works");
    assert_eq!((world.task(task).state, world.task(task).attempt), ("succeeded", 1));
}

// spec: T5
#[test]
fn cancelling_wins_over_a_worker_that_is_about_to_publish() {
    let world = World::new();
    let task = world.ask("backups");
    let mut cancel = AtFirstBeat(Some(|| drop(world.work.cancel(task).expect("cancelled"))));
    world.work.work_once(world.work.new_worker(), &mut cancel).expect("runs");
    assert_eq!((world.task(task).state, world.task(task).artifact_id), ("cancelled", None));
    assert_eq!(world.work.work_once(world.work.new_worker(), &mut Quiet).expect("looks"), None);
}

// spec: T5
#[test]
fn a_task_is_cancelled_while_it_waits_and_not_after_its_end() {
    let world = World::new();
    let (waits, done) = (world.ask("leave"), world.report("backups"));
    assert_eq!(world.work.cancel(waits).expect("cancelled").state, "cancelled");
    let task = world
        .work
        .tasks(None)
        .expect("a list")
        .tasks
        .into_iter()
        .find(|task| task.artifact_id == Some(done.artifact_id));
    let refused = world.work.cancel(task.expect("its task").task_id).expect_err("refused");
    assert_eq!(refused.code(), Code::NotRunning);
}

// spec: T2
#[test]
fn a_lease_is_renewed_while_files_are_read_and_not_beyond_the_scan_and_a_little_more() {
    let door = MemoryDoor::new().folder("/handbook");
    (0..20).for_each(|n| door.put(&format!("/handbook/{n:02}.md"), "Backups are kept.\n"));
    let world = World::over(Arc::new(door));
    world.approve("/handbook");
    let task = world.ask("backups");
    let mut beats = 0;
    let mut slow = EachBeat(|| {
        beats += 1;
        world.pass(4);
    });
    let ending = world.work.work_once(world.work.new_worker(), &mut slow).expect("runs");
    assert_eq!(ending, Some(RunEnding::Lost(task, Refusal::LeaseEnded)));
    assert!((11..=13).contains(&beats), "45 seconds of 4 each, not 30 and not 80: {beats} beats");
}

// spec: T2
#[test]
fn a_lease_is_not_renewed_without_progress() {
    let world = World::new();
    let task = world.ask("backups");
    let mut hangs = AtFirstBeat(Some(|| (0..10).for_each(|_| world.pass(3))));
    let ending = world.work.work_once(world.work.new_worker(), &mut hangs).expect("runs");
    assert_eq!(ending, Some(RunEnding::Lost(task, Refusal::LeaseEnded)));
}

// spec: T6
#[test]
fn a_clock_set_back_keeps_no_lease_alive() {
    let world = World::new();
    let task = world.ask("backups");
    let mut sleep = AtFirstBeat(Some(|| {
        world.pass(31);
        world.clock.set_back(std::time::Duration::from_secs(31));
    }));
    let slept = world.work.work_once(world.work.new_worker(), &mut sleep).expect("runs");
    assert_eq!(slept, Some(RunEnding::Lost(task, Refusal::LeaseEnded)));
}

// spec: T6
#[test]
fn a_reboot_with_a_clock_behind_ends_every_lease() {
    let world = World::new();
    let task = world.ask("backups");
    let mut reboot = AtFirstBeat(Some(|| {
        world.clock.set_back(std::time::Duration::from_secs(100));
        world.clock.reboot();
    }));
    world.work.work_once(world.work.new_worker(), &mut reboot).expect("runs");
    assert_eq!(world.task(task).state, "running");
    world.work.work_once(world.work.new_worker(), &mut Quiet).expect("works");
    assert_eq!((world.task(task).state, world.task(task).attempt), ("succeeded", 2));
}

// spec: T2
#[test]
fn a_task_that_another_worker_has_is_worked_by_nobody_else_and_its_result_is_shared() {
    let world = World::new();
    let task = world.ask("backups");
    let waiter = world.work.clone();
    let mut meanwhile = AtFirstBeat(Some(|| {
        let waits = waiter.finish(task, waiter.new_worker(), &NoPause, &mut Quiet);
        assert_eq!(waits, Err(RunError::Stopped(task)), "nobody works it twice");
    }));
    world.work.work_once(world.work.new_worker(), &mut meanwhile).expect("works");
    let shown =
        world.work.finish(task, world.work.new_worker(), &NoPause, &mut Quiet).expect("the result");
    assert_eq!(texts(&shown)[0], "Backups are kept for 35 days.");
}

// spec: Q4
#[test]
fn a_file_that_changes_between_scan_and_quotation_is_quoted_as_it_is_then() {
    let world = World::new();
    let mut change = AtFirstBeat(Some(|| {
        world.door.put("/handbook/it/backups.md", "Now backups are kept for 90 days.\n");
    }));
    let report = world.work.report(&ask("backups 35 90"), &mut change).expect("a report");
    assert_eq!(texts(&report), ["Now backups are kept for 90 days."]);
    assert_eq!(report.state.as_str(), "sources_checked");
}

// spec: Q4
#[test]
fn a_file_that_vanishes_between_scan_and_quotation_makes_room_for_another() {
    let world = World::new();
    world.door.put("/handbook/z.md", "Backups elsewhere.\n");
    let mut vanish =
        AtLastBeat { left: 3, happen: Some(|| world.door.remove("/handbook/it/backups.md")) };
    let report = world.work.report(&ask("backups"), &mut vanish).expect("a report");
    assert_eq!(texts(&report), ["Backups elsewhere."]);
}

// spec: L
#[test]
fn a_raised_limit_is_recorded_in_the_result_that_it_shaped() {
    let mut limits = Limits::standard();
    limits.scan.files = 5000;
    let world = World::new().limited(limits);
    let check = world.report("backups").verification.expect("a verification");
    assert!(
        check.limits.contains(&"Limit raised: files to 5000.".to_owned()),
        "{:?}",
        check.limits
    );
}

// spec: D1
#[test]
fn saving_a_report_is_one_act_after_the_scan() {
    let world = World::new();
    let task = world.ask("backups");
    let before = world.events();
    world.work.finish(task, world.work.new_worker(), &NoPause, &mut Quiet).expect("a report");
    assert_eq!(world.events() - before, 2, "the lease, and the result with the end of its task");
}

/// Does something at each beat.
struct EachBeat<F>(F);

impl<F: FnMut()> work_core::port::Watch for EachBeat<F> {
    fn beat(&mut self, _: &work_core::task::Progress) -> work_core::port::Go {
        (self.0)();
        work_core::port::Go::On
    }
}

/// Does something at one beat, counted from 1.
struct AtLastBeat<F> {
    left: u32,
    happen: Option<F>,
}

impl<F: FnOnce()> work_core::port::Watch for AtLastBeat<F> {
    fn beat(&mut self, _: &work_core::task::Progress) -> work_core::port::Go {
        self.left = self.left.saturating_sub(1);
        if let (0, Some(happen)) = (self.left, self.happen.take_if(|_| self.left == 0)) {
            happen();
        }
        work_core::port::Go::On
    }
}
