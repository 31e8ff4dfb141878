//! Showing: the state is derived at reading, from a look.

use crate::world::{World, findings};
use work_core::code::{Code, Coded};
use work_core::id::ResultId;
use work_core::port::Quiet;
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::ShowError;

/// The state and the findings of a report on backups, after something happened to its source.
#[track_caller]
fn check(happen: impl FnOnce(&World), state: ResultState, finding: Option<&'static str>) {
    let world = World::new();
    let report = world.report("restores tried each month");
    happen(&world);
    let shown = world.show(report.artifact_id);
    assert_eq!((shown.state, findings(&shown)), (state, vec![finding]));
    let listed = world.work.list(work_core::workspace::StateFilter::All, None).expect("a list");
    assert_eq!(listed.results[0].state, state, "the look was kept");
}

const FILE: &str = "/handbook/it/backups.md";

// spec: O3
#[test]
fn a_source_as_cited_is_checked() {
    check(|_| (), ResultState::SourcesChecked, None);
}

// spec: O4
#[test]
fn a_source_that_changed_leaves_the_result_stale_and_says_what_became_of_the_passage() {
    let put = |text: &'static str| move |world: &World| world.door.put(FILE, text);
    let stale = ResultState::Stale;
    check(
        put(
            "# Backups\n\nBackups are kept for 35 days.\n\nRestores are tried each month.\n\nMore.\n",
        ),
        stale,
        Some("intact"),
    );
    check(put("Restores are tried each month.\n"), stale, Some("moved"));
    check(
        put("Restores are tried each month.\n\nRestores are tried each month.\n"),
        stale,
        Some("ambiguous"),
    );
    check(put("Restores are tried each year.\n"), stale, Some("altered"));
}

// spec: O4
#[test]
fn a_passage_whose_line_ends_changed_is_cosmetic() {
    let world = World::empty();
    world.door.put("/handbook/it/backups.md", "Restores are tried\neach month.\n");
    world.approve("/handbook");
    let report = world.report("restores tried");
    world.door.put("/handbook/it/backups.md", "Restores are tried\r\neach month.\r\n");
    assert_eq!(findings(&world.show(report.artifact_id)), [Some("cosmetic")]);
}

// spec: O3
#[test]
fn a_missing_source_leaves_the_body_visible() {
    check(|world| world.door.remove(FILE), ResultState::Stale, Some("gone"));
}

// spec: O3
#[test]
fn a_source_that_does_not_hold_still_leaves_the_result_stale_without_a_finding() {
    check(|world| world.door.make_unstable(FILE), ResultState::Stale, None);
}

// spec: O3
#[test]
fn a_source_that_is_back_as_cited_is_checked_again() {
    let world = World::new();
    let report = world.report("restores tried");
    world.door.put(FILE, "other\n");
    assert_eq!(world.show(report.artifact_id).state, ResultState::Stale);
    world.door.put(FILE, crate::world::BACKUPS);
    assert_eq!(world.show(report.artifact_id).state, ResultState::SourcesChecked);
}

// spec: J4
#[test]
fn there_is_one_cause_for_each_quotation_of_a_source_that_is_not_as_cited() {
    let world = World::new();
    let report = world.report("backups kept restores leave");
    let of_backups = report
        .body
        .as_ref()
        .expect("a body")
        .excerpts
        .iter()
        .filter(|one| one.path.path == "it/backups.md");
    let expected = of_backups.count();
    world.door.put(FILE, "other\n");
    let causes = world.show(report.artifact_id).causes.expect("visible");
    assert_eq!(
        (causes.len(), causes[0].observed, causes[0].finding),
        (expected, "changed", Some("altered"))
    );
}

// spec: O5
#[test]
fn showing_again_what_has_not_changed_writes_nothing() {
    let world = World::new();
    let report = world.report("backups");
    world.door.put(FILE, "other\n");
    world.show(report.artifact_id);
    world.store.fail_next_commit(work_core::testkit::fakes::Fault::Overtaken);
    assert_eq!(world.show(report.artifact_id).state, ResultState::Stale);
    let still_waits = world.work.ask(&crate::world::ask("leave"));
    assert_eq!(still_waits.expect_err("the fault waited for a write").code(), Code::Busy);
}

// spec: O5
#[test]
fn an_answer_stands_although_its_look_cannot_be_kept() {
    let world = World::new();
    let report = world.report("backups");
    world.door.put(FILE, "other\n");
    world.store.fail_next_commit(work_core::testkit::fakes::Fault::NotDone(
        work_core::port::StoreError::DiskFull,
    ));
    assert_eq!(world.show(report.artifact_id).state, ResultState::Stale);
}

// spec: Q8
#[test]
fn a_look_writes_no_verification() {
    let world = World::new();
    let report = world.report("backups");
    let checked = report.verification.as_ref().expect("one").checked_at;
    world.pass(1000);
    assert_eq!(world.show(report.artifact_id).verification.expect("one").checked_at, checked);
}

#[test]
fn what_is_not_there_is_not_found() {
    let world = World::new();
    let report = world.report("backups");
    let show = |id, no| world.work.show(id, no, &mut Quiet);
    assert_eq!(show(ResultId::from_bytes([9; 16]), None), Err(ShowError::Unknown));
    assert_eq!(
        show(report.artifact_id, Some(RevisionNo(2))),
        Err(ShowError::UnknownRevision(RevisionNo(2)))
    );
    assert_eq!(
        show(report.artifact_id, Some(RevisionNo(1))).expect("the first").revision,
        Some(RevisionNo(1))
    );
}

#[test]
fn the_doctor_finds_nothing_in_a_sound_workspace_and_tells_a_clock_that_is_behind() {
    let world = World::new();
    world.report("backups");
    let sound = world.work.doctor().expect("looks");
    assert_eq!((sound.ok, sound.findings, sound.events), (true, vec![], Some(world.events())));
    world.clock.set_back(std::time::Duration::from_secs(60));
    let behind = world.work.doctor().expect("looks");
    assert_eq!((behind.ok, behind.findings[0].code), (false, "clock_behind"));
}
