//! Hiding: what was withdrawn shows nowhere.

use crate::world::{Meanwhile, World, ask, findings};
use std::sync::Arc;
use work_core::document::wire::ResultDoc;
use work_core::folder::{Hidden, IgnoreFiles, Rules};
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;
use work_core::port::Quiet;
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{StateFilter, Workspace};

/// Everything that a workspace tells about its results and tasks, in one text.
fn everything(world: &World) -> String {
    let work = &world.work;
    let list = work.list(StateFilter::All, None).expect("a list");
    let shown: Vec<ResultDoc> =
        list.results.iter().map(|one| world.show(one.artifact_id)).collect();
    let listed = work.list(StateFilter::All, None).expect("a list");
    let all = (
        shown,
        listed,
        work.tasks(None).expect("tasks"),
        work.log(0).expect("a log"),
        work.folders().expect("folders"),
    );
    serde_json::to_string_pretty(&all).expect("JSON")
}

#[track_caller]
fn check_stub(shown: &ResultDoc, query: &str, state: ResultState) {
    assert_eq!((shown.query.as_str(), shown.state), (query, state));
    let ResultDoc {
        folders,
        causes,
        observed_at,
        revision,
        restored_from,
        created_at,
        updated_at,
        body,
        scan,
        verification,
        ..
    } = shown;
    assert_eq!((folders, causes, observed_at, revision), (&None, &None, &None, &None));
    assert_eq!((restored_from, created_at, updated_at), (&None, &None, &None));
    assert_eq!((body, scan, verification), (&None, &None, &None));
}

// spec: R2
#[test]
fn a_revoked_folder_leaves_a_stub_and_approving_it_again_shows_everything_again() {
    let world = World::new();
    let report = world.report("backups kept");
    world.revoke("/handbook");
    check_stub(&world.show(report.artifact_id), "backups kept", ResultState::AccessRemoved);
    for trace in [
        "35 days",
        "it/backups",
        "Restores",
        &report.body.as_ref().expect("a body").excerpts[0].digest.to_string(),
    ] {
        assert!(!everything(&world).contains(trace), "{trace}");
    }
    assert_eq!(world.approve("/handbook").change, "approved_again");
    let again = world.show(report.artifact_id);
    assert_eq!((again.state, &again.body), (ResultState::SourcesChecked, &report.body));
}

// spec: I5
#[test]
fn approving_again_looks_so_that_a_list_shows_it_again() {
    let world = World::new();
    world.report("backups kept");
    world.revoke("/handbook");
    world.approve("/handbook");
    let listed = world.work.list(StateFilter::All, None).expect("a list");
    assert_eq!(listed.results[0].state, ResultState::SourcesChecked);
}

// spec: R2
#[test]
fn a_result_over_two_folders_is_hidden_whole_when_one_is_withdrawn() {
    let world = World::new();
    world.approve("/notes");
    let report = world.report("backups kept");
    assert_eq!(report.folders.as_ref().map(Vec::len), Some(2));
    world.revoke("/notes");
    check_stub(&world.show(report.artifact_id), "backups kept", ResultState::AccessRemoved);
}

// spec: J3
#[test]
fn a_withdrawn_folder_that_was_searched_in_vain_disappears_from_the_scan_record() {
    let world = World::new();
    world.approve("/notes");
    let report = world.report("leave");
    world.revoke("/notes");
    let shown = world.show(report.artifact_id);
    assert_eq!(
        (shown.state, shown.folders.map(|all| all.len())),
        (ResultState::SourcesChecked, Some(1))
    );
    let scan = shown.scan.expect("a scan record");
    assert_eq!((scan.folders.len(), scan.elapsed_ms, scan.limit), (1, None, None));
}

// spec: O3
#[test]
fn what_cannot_be_looked_at_is_hidden_and_is_neither_missing_nor_checked() {
    let world = World::new();
    let report = world.report("backups");
    world.door.make_unreachable("/handbook");
    check_stub(&world.show(report.artifact_id), "backups", ResultState::EvidenceUnavailable);
    world.door.heal("/handbook");
    assert_eq!(world.show(report.artifact_id).state, ResultState::SourcesChecked);
}

// spec: I6
#[test]
fn another_directory_in_the_place_of_a_root_is_denied_until_it_is_approved() {
    let world = World::new();
    let report = world.report("backups");
    world.door.replace_folder("/handbook");
    check_stub(&world.show(report.artifact_id), "backups", ResultState::AccessRemoved);
    let before = world.grant("/handbook");
    assert_eq!(world.approve("/handbook").change, "approved_again");
    assert_eq!(world.grant("/handbook"), before, "the grant is kept");
    assert_eq!(findings(&world.show(report.artifact_id)), [Some("gone")]);
}

// spec: I4
#[test]
fn a_file_that_a_later_rule_excludes_reads_as_withdrawn_also_in_a_list() {
    let world = World::new();
    let report = world.report("backups");
    let rules = Rules::new(["md"], ["it"], Hidden::Skipped, IgnoreFiles::Honoured).expect("sound");
    let changed = world
        .work
        .approve(&HostPath::from_bytes("/handbook"), Some(&rules), &mut Quiet)
        .expect("approved");
    assert_eq!(changed.change, "rules_changed");
    let listed = world.work.list(StateFilter::All, None).expect("a list");
    assert_eq!(listed.results[0].state, ResultState::AccessRemoved);
    check_stub(&world.show(report.artifact_id), "backups", ResultState::AccessRemoved);
}

// spec: I3
#[test]
fn revoking_an_inner_folder_hides_what_was_cited_through_the_outer_one() {
    let world = World::new();
    let report = world.report("backups");
    world.approve("/handbook/it");
    assert_eq!(world.show(report.artifact_id).state, ResultState::SourcesChecked);
    world.revoke("/handbook/it");
    let listed = world.work.list(StateFilter::All, None).expect("a list");
    assert_eq!(
        listed.results[0].state,
        ResultState::AccessRemoved,
        "a list does not look, and hides it by its path"
    );
    check_stub(&world.show(report.artifact_id), "backups", ResultState::AccessRemoved);
}

// spec: I3
#[test]
fn approving_what_is_approved_changes_nothing() {
    let world = World::new();
    let (before, grant) = (world.events(), world.grant("/handbook"));
    assert_eq!(world.approve("/handbook").change, "unchanged");
    assert_eq!((world.events(), world.grant("/handbook")), (before, grant));
}

// spec: I4
// spec: J3
#[test]
fn a_scan_record_tells_nothing_of_a_folder_under_rules_that_it_has_no_more() {
    let world = World::new();
    let report = world.report("leave");
    world.work.report(&ask("zeppelin"), &mut Quiet).expect_err("no match");
    let task = world.work.tasks(None).expect("tasks").tasks[0].task_id;
    let failed = || world.task(task).scan;
    let scans = || [world.show(report.artifact_id).scan, failed()].map(|scan| scan.expect("one"));
    let before = scans();
    world.change_rules("/handbook", &["it"]);
    for scan in scans() {
        assert_eq!((scan.folders.len(), scan.elapsed_ms, scan.limit), (0, None, None));
    }
    assert_eq!(world.report("leave unused").scan.expect("one").folders.len(), 1);
    world.change_rules("/handbook", &[]);
    assert_eq!(scans(), before);
}

// spec: J5
#[test]
fn a_task_that_failed_tells_nothing_of_a_folder_that_was_withdrawn_since() {
    let world = World::new();
    world.approve("/notes");
    world.work.report(&ask("zeppelin"), &mut Quiet).expect_err("no match");
    world.revoke("/notes");
    let scan = world.work.tasks(None).expect("tasks").tasks[0].scan.clone().expect("a scan record");
    assert_eq!((scan.folders.len(), scan.elapsed_ms), (1, None));
}

// spec: R3
#[test]
fn two_workspaces_that_differ_in_what_a_withdrawn_folder_held_answer_alike() {
    let world_with = |files: &[(&str, &str)]| {
        let door = MemoryDoor::new().file("/open/plan.md", "The plan is open.\n").folder("/shut");
        files.iter().for_each(|(name, text)| door.put(&format!("/shut/{name}"), *text));
        let world = World::over(Arc::new(door));
        world.approve("/open");
        world.approve("/shut");
        world.report("the plan");
        world.report("secret plan word");
        world.revoke("/shut");
        everything(&world)
    };
    let one = world_with(&[("a.md", "A secret word.\n")]);
    let other =
        world_with(&[("deep/er/b.txt", "Quite another and longer secret, at word forty-two.\n")]);
    assert_eq!(one, other);
}

// spec: R4
#[test]
fn a_folder_revoked_between_the_look_and_the_answer_is_hidden_in_the_answer() {
    let door = Arc::new(MemoryDoor::new().file("/handbook/a.md", "Backups are kept.\n"));
    let outer = Arc::new(Meanwhile::new(door.clone()));
    let world = World::behind(door, outer.clone());
    world.approve("/handbook");
    let report = world.report("backups");
    let work: Workspace = world.work.clone();
    let revoke = move || {
        let name = work_core::workspace::FolderName::Root(HostPath::from_bytes("/handbook"));
        work.revoke(&name).expect("revoked");
    };
    outer.after_looks(1, revoke);
    check_stub(&world.show(report.artifact_id), "backups", ResultState::AccessRemoved);
}

// spec: R2
#[test]
fn a_hidden_result_does_not_tell_which_revisions_it_has() {
    let world = World::new();
    let report = world.report("backups");
    world.revoke("/handbook");
    for no in [1, 2, 99] {
        let shown = world.work.show(report.artifact_id, Some(RevisionNo(no)), &mut Quiet);
        check_stub(&shown.expect("a stub"), "backups", ResultState::AccessRemoved);
    }
}
