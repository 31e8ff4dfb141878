//! The gate: what fails it, what leaves it open, and what passes.

use crate::world::{BACKUPS, World};
use std::sync::Arc;
use std::time::Duration;
use work_core::document::wire::{CheckDoc, Verdict};
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::result::ResultState;
use work_core::workspace::{CheckAsk, Defect, FailOn, NoSuchDefect};

const FILE: &str = "/handbook/it/backups.md";

pub(crate) fn check(world: &World, fail_on: FailOn) -> CheckDoc {
    world.work.check(&CheckAsk { fail_on, paths: None }, &mut Quiet).expect("checked")
}

fn check_paths(world: &World, paths: &[&str]) -> CheckDoc {
    let paths = Some(paths.iter().map(|path| HostPath::from_bytes(*path)).collect());
    world.work.check(&CheckAsk { fail_on: FailOn::default(), paths }, &mut Quiet).expect("checked")
}

/// Something that happens to the source of a report on restores.
type Happens = fn(&World);

/// What brings each defect about.
const DEFECTS: [(Defect, Happens); 10] = [
    (Defect::Altered, |world| world.door.put(FILE, BACKUPS.replace("month", "year"))),
    (Defect::Gone, |world| world.door.remove(FILE)),
    (Defect::Ambiguous, |world| {
        world.door.put(FILE, "Restores are tried\neach month.\n".repeat(2));
    }),
    (Defect::BeyondLimit, |world| world.door.put(FILE, "a line\n".repeat(40_000))),
    (Defect::Unavailable, |world| world.door.make_unreachable("/handbook")),
    (Defect::Unavailable, |world| drop(world.revoke("/handbook"))),
    (Defect::Unavailable, |world| world.door.deny(FILE)),
    (Defect::Moved, |world| world.door.put(FILE, "Restores are tried\neach month.\n")),
    (Defect::Cosmetic, |world| {
        world.door.put(FILE, "Backups.\n\nRestores are tried\r\neach month.\r\n");
    }),
    (Defect::Intact, |world| {
        world.door.put(FILE, "Backups.\n\nRestores are tried\neach month.\n\nMore.\n");
    }),
];

/// A workspace with a report on restores, after something happened to its source.
fn after(happens: Happens) -> World {
    let world = World::empty();
    world.door.put(FILE, "Backups.\n\nRestores are tried\neach month.\n");
    world.approve("/handbook");
    world.report("restores tried each month");
    happens(&world);
    world
}

// spec: C5
#[test]
fn a_check_fails_on_each_defect_that_is_named_and_on_no_other() {
    for (defect, happens) in DEFECTS {
        let world = after(happens);
        let only = check(&world, FailOn::from_iter([defect]));
        assert_eq!((only.verdict, only.passed), (Verdict::Attention, false), "{defect:?}");
        let [failed] = &only.failed[..] else { panic!("{defect:?}: {:?}", only.failed) };
        assert_eq!(failed.query, "restores tried each month");
        let finding = failed.causes.as_ref().map(|causes| causes[0].finding.expect("known"));
        assert_eq!(finding.unwrap_or("unavailable"), defect.as_str());
        let others = Defect::ALL.into_iter().filter(|other| *other != defect);
        let others = check(&world, others.collect());
        let hidden = defect == Defect::Unavailable;
        let expected = if hidden { Verdict::Incomplete } else { Verdict::Passed };
        assert_eq!((others.verdict, others.failed), (expected, vec![]), "{defect:?}");
        assert_eq!((only.hidden, others.hidden), (u64::from(hidden), u64::from(hidden)));
    }
}

// spec: C5
#[test]
fn a_check_that_names_nothing_fails_on_what_is_lost_and_not_on_what_can_be_found_again() {
    for (defect, happens) in DEFECTS {
        let told = check(&after(happens), FailOn::default());
        let found_again = matches!(defect, Defect::Moved | Defect::Cosmetic | Defect::Intact);
        let expected = if found_again { Verdict::Passed } else { Verdict::Attention };
        assert_eq!(told.verdict, expected, "{defect:?}");
    }
}

// spec: C5
#[test]
fn what_is_as_cited_passes() {
    let told = check(&after(|_| ()), FailOn::from_iter(Defect::ALL));
    assert_eq!((told.verdict, told.passed), (Verdict::Passed, true));
    assert_eq!((told.unstable, told.hidden, told.not_looked_at, told.left_out), (0, 0, 0, 0));
}

// spec: C5
#[test]
fn a_source_that_does_not_hold_still_leaves_a_check_open() {
    let told = check(&after(|world| world.door.make_unstable(FILE)), FailOn::default());
    assert_eq!((told.verdict, told.unstable), (Verdict::Incomplete, 1));
}

// spec: C5, O1
#[test]
fn a_look_that_was_cut_leaves_a_check_open_unless_something_has_failed() {
    let world = World::new();
    world.door.put("/handbook/a.md", "Apples grow.\n");
    let apples = world.report("apples");
    world.report("restores tried each month");
    world.door.slow_down(FILE, Duration::from_secs(31));
    let told = check(&world, FailOn::default());
    assert_eq!((told.verdict, told.not_looked_at), (Verdict::Incomplete, 1));
    world.door.put("/handbook/a.md", "Pears grow.\n");
    // What was not reached is looked at first by now, and so it is that which fails to leave time for the rest.
    world.door.slow_down(FILE, Duration::ZERO);
    world.door.slow_down("/handbook/a.md", Duration::ZERO);
    let told = check(&world, FailOn::default());
    assert_eq!(told.verdict, Verdict::Attention);
    assert_eq!(told.failed[0].artifact_id, apples.artifact_id);
}

// spec: C5
#[test]
fn a_quotation_of_which_it_cannot_be_told_what_became_leaves_a_check_open() {
    let world = after(|world| {
        world.door.put(FILE, "other\n");
        world.door.slow_down(FILE, Duration::from_secs(20));
    });
    // The watch lets the clock go on during the first look, so that too little is left for the second.
    let mut slow = Slow(&world);
    let ask = CheckAsk::default();
    let told = world.work.check(&ask, &mut slow).expect("checked");
    assert_eq!((told.verdict, told.not_looked_at), (Verdict::Incomplete, 1));
    let told = world.work.check(&ask, &mut Quiet).expect("checked");
    assert_eq!(told.verdict, Verdict::Attention);
}

/// Lets 20 seconds pass with each file.
struct Slow<'a>(&'a World);

impl work_core::port::Watch for Slow<'_> {
    fn beat(&mut self, _: &work_core::task::Progress) -> work_core::port::Go {
        self.0.pass(20);
        work_core::port::Go::On
    }
}

// spec: C5
#[test]
fn a_list_of_defects_reads_as_it_is_written() {
    let all = "altered,gone,ambiguous,beyond_limit,unavailable,moved,cosmetic,intact";
    assert_eq!(all.parse(), Ok(FailOn::from_iter(Defect::ALL)));
    assert_eq!("moved, gone".parse(), Ok(FailOn::from_iter([Defect::Gone, Defect::Moved])));
    let usual = "altered,gone,ambiguous,beyond_limit,unavailable".parse::<FailOn>();
    assert_eq!(usual, Ok(FailOn::default()));
    for wrong in ["", "altered,", "Altered", "stale", "altered gone"] {
        assert_eq!(wrong.parse::<FailOn>(), Err(NoSuchDefect), "{wrong}");
    }
}

// spec: L
#[test]
fn a_long_list_of_failed_results_is_cut_and_says_so() {
    let world = World::new().limited(Limits { list: 2, ..Limits::standard() });
    (0..3).for_each(|_| drop(world.report("restores tried each month")));
    world.door.remove(FILE);
    let told = check(&world, FailOn::default());
    assert_eq!((told.failed.len(), told.left_out), (2, 1));
}

/// Two reports: on apples, which quotes `/handbook/a.md`, and on restores.
fn two_reports() -> World {
    let world = World::new();
    world.door.put("/handbook/a.md", "Apples grow.\n");
    world.report("apples");
    world.report("restores tried each month");
    world
}

// spec: C5
#[test]
fn a_check_of_files_is_about_the_results_that_quote_them() {
    let world = two_reports();
    world.door.put("/handbook/a.md", "Pears grow.\n");
    let queries = |told: CheckDoc| told.failed.into_iter().map(|one| one.query).collect::<Vec<_>>();
    assert_eq!(queries(check_paths(&world, &["/handbook/a.md"])), ["apples"]);
    assert_eq!(queries(check_paths(&world, &["/elsewhere/x.md", "/handbook//a.md"])), ["apples"]);
    let none = [FILE, "/handbook/people/leave.md", "/elsewhere/x.md", "/handbook", "/"];
    assert!(check_paths(&world, &none).passed);
    assert!(check_paths(&world, &[]).passed);
}

// spec: C5
#[test]
fn a_check_of_files_looks_at_nothing_else() {
    let world = two_reports();
    world.door.slow_down(FILE, Duration::from_secs(31));
    let told = check_paths(&world, &["/handbook/a.md"]);
    assert_eq!((told.verdict, told.not_looked_at), (Verdict::Passed, 0));
    assert_eq!(check_paths(&world, &[FILE]).verdict, Verdict::Incomplete);
}

// spec: C5, I3
#[test]
fn a_file_is_known_by_its_place_through_whichever_folder_it_was_quoted() {
    let world = World::new();
    world.report("restores tried each month");
    world.approve("/handbook/it");
    world.door.remove(FILE);
    assert_eq!(check_paths(&world, &[FILE]).verdict, Verdict::Attention);
}

/// What hides a file of the handbook, and is not the owner's own word about the folder.
const HIDING: [(&str, Happens); 4] = [
    ("its root was replaced", |world| world.door.replace_folder("/handbook")),
    ("its folder is unreachable", |world| world.door.make_unreachable("/handbook")),
    ("a permission closes it", |world| world.door.deny(FILE)),
    ("a later rule closes it", |world| drop(world.change_rules("/handbook", &["it"]))),
];

/// Files that nothing visible quotes once [`FILE`] is hidden: it, others beside it, one elsewhere.
const NOTHING_VISIBLE: [&str; 4] =
    [FILE, "/handbook/people/leave.md", "/handbook/nothing.md", "/elsewhere/x.md"];

/// A file that a report quotes which stays visible.
const TAPE: &str = "/notes/old.md";

/// Two reports: on restores, which quotes [`FILE`], and on tapes, which quotes [`TAPE`] in another folder.
fn beside_the_notes() -> World {
    let world = World::new();
    world.report("restores tried each month");
    world.approve("/notes");
    world.report("tape");
    world
}

// spec: C5, R2
#[test]
fn a_check_of_files_stays_open_while_something_is_hidden_whichever_are_named() {
    for (what, happens) in HIDING {
        let told = |files: &[&str]| {
            let world = beside_the_notes();
            happens(&world);
            world.work.refresh(&mut Quiet).expect("looked at");
            check_paths(&world, files)
        };
        let all = told(&NOTHING_VISIBLE);
        assert_eq!((all.verdict, all.passed), (Verdict::Incomplete, false), "{what}");
        assert_eq!((&*all.failed, all.hidden), (&[][..], 1), "{what}");
        for file in NOTHING_VISIBLE {
            assert_eq!(told(&[file]), all, "{file}: {what}");
        }
        let visible = told(&[TAPE]);
        assert_eq!((visible.verdict, visible.hidden), (Verdict::Incomplete, 1), "{what}");
    }
}

// spec: C5
#[test]
fn a_check_of_files_finds_out_what_hides_them() {
    for (what, happens) in HIDING {
        let world = beside_the_notes();
        happens(&world);
        let told = check_paths(&world, &[FILE]);
        assert_eq!((told.verdict, &*told.failed), (Verdict::Incomplete, &[][..]), "{what}");
        assert_eq!(check(&world, FailOn::default()).verdict, Verdict::Attention, "{what}");
    }
}

// spec: C5
#[test]
fn a_check_of_files_that_may_not_be_seen_is_open_whatever_fails_it() {
    for defect in Defect::ALL {
        let world = beside_the_notes();
        world.door.deny(FILE);
        let paths = Some(vec![HostPath::from_bytes(FILE)]);
        let ask = CheckAsk { fail_on: FailOn::from_iter([defect]), paths };
        let told = world.work.check(&ask, &mut Quiet).expect("checked");
        assert_eq!((told.verdict, &*told.failed), (Verdict::Incomplete, &[][..]), "{defect:?}");
    }
}

// spec: C5, R2
#[test]
fn what_fails_a_check_of_files_is_visible() {
    for (what, happens) in HIDING {
        let world = beside_the_notes();
        happens(&world);
        world.door.put(TAPE, "Another text.\n");
        let told = check_paths(&world, &[FILE, TAPE]);
        let failed: Vec<&str> = told.failed.iter().map(|one| one.query.as_str()).collect();
        assert_eq!((told.verdict, &*failed), (Verdict::Attention, &["tape"][..]), "{what}");
        assert_eq!((told.hidden, told.left_out), (1, 0), "{what}");
    }
}

// spec: R2
#[test]
fn what_a_hidden_result_quotes_besides_does_not_show_by_the_results_that_quote_it_too() {
    let world_with = |secret: &str| {
        let world = World::empty();
        world.door.put("/shut/a.md", secret);
        world.door.put("/open/plan.md", "The plan.\n");
        world.approve("/open");
        world.report("plan");
        world.approve("/shut");
        world.report("secret plan");
        world.door.deny("/shut/a.md");
        world.work.refresh(&mut Quiet).expect("looked at");
        world.door.slow_down("/open/plan.md", Duration::from_secs(31));
        check_paths(&world, &["/shut/a.md"]).hidden
    };
    // In one the plan is quoted beside the secret, in the other it is not.
    assert_eq!(world_with("A secret.\n"), 1);
    assert_eq!(world_with(&"A secret secret plan.\n\nA secret plan.\n\n".repeat(9)), 1);
}

// spec: C5
#[test]
fn a_check_of_files_passes_over_a_folder_that_its_owner_withdrew() {
    let world = beside_the_notes();
    world.revoke("/handbook");
    for file in NOTHING_VISIBLE.into_iter().chain([TAPE]) {
        let told = check_paths(&world, &[file]);
        assert_eq!((told.verdict, told.hidden), (Verdict::Passed, 0), "{file}");
    }
    world.approve("/handbook");
    world.approve("/handbook/it");
    world.revoke("/handbook/it");
    assert_eq!(check_paths(&world, &[FILE]).verdict, Verdict::Passed, "also one inside another");
}

// spec: R3
#[test]
fn a_check_of_files_does_not_tell_which_of_them_a_withdrawn_result_quoted() {
    let world = World::new();
    world.approve("/notes");
    world.report("backups kept tape");
    world.revoke("/notes");
    let unknown = check_paths(&world, &["/handbook/nothing.md"]);
    for file in [FILE, "/notes/old.md", "/notes/nothing.md"] {
        assert_eq!(check_paths(&world, &[file]), unknown, "{file}");
    }
}

// spec: R3
#[test]
fn what_else_a_withdrawn_result_quotes_neither_fails_a_check_nor_is_counted() {
    let fail_on = || "altered".parse::<FailOn>().expect("a list");
    let world_with = |files: usize| {
        let door = Arc::new(MemoryDoor::new().file("/open/plan.md", "The plan.\n").folder("/shut"));
        (0..files).for_each(|n| door.put(&format!("/shut/{n}.md"), "A secret secret plan.\n"));
        let world = World::over(door);
        world.approve("/open");
        world.approve("/shut");
        let body = world.report("secret plan").body.expect("visible");
        let quotes_the_plan = body.excerpts.iter().any(|one| one.path.path == "plan.md");
        world.door.put("/open/plan.md", "Another text.\n");
        world.revoke("/shut");
        let told = check(&world, fail_on());
        assert_eq!((told.verdict, told.hidden), (Verdict::Incomplete, 1));
        (quotes_the_plan, told, world.work.refresh(&mut Quiet).expect("refreshed"))
    };
    // In one the plan is quoted beside the secret, in the other it is crowded out.
    let (quoted, crowded_out) = (world_with(1), world_with(9));
    assert_eq!((quoted.0, crowded_out.0), (true, false));
    assert_eq!((quoted.1, quoted.2), (crowded_out.1, crowded_out.2));
}

// spec: C5
#[test]
fn a_result_that_fails_tells_its_state_and_its_causes() {
    let world = after(|world| world.door.rename(FILE, "/handbook/elsewhere.md"));
    let told = check(&world, FailOn::default());
    assert_eq!(told.failed[0].state, ResultState::Stale);
    let causes = told.failed[0].causes.as_ref().expect("visible");
    assert_eq!(causes[0].moved_to.as_deref(), Some("elsewhere.md"));
}
