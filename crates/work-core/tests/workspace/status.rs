//! Status: what needs somebody, why, and what to do next.

use crate::world::{BACKUPS, World};
use std::sync::Arc;
use std::time::Duration;
use work_core::document::wire::{CountsDoc, QuotationsDoc, SourcesDoc, StatusDoc};
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::memory::MemoryDoor;
use work_core::port::Quiet;
use work_core::proposal::Channel;
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{Reading, Repaired};

const FILE: &str = "/handbook/it/backups.md";

pub(crate) fn status(world: &World) -> StatusDoc {
    world.work.status(Reading::Again, &mut Quiet).expect("a status")
}

/// What a cause says: what was seen, what became of the quotation, and where the file went.
type Cause<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// The state and the cause of a report on restores after something happened, the command that goes on from there, and
/// how many quotations are affected and intact.
#[track_caller]
fn check(
    happen: impl FnOnce(&World),
    state: ResultState,
    cause: Option<Cause<'_>>,
    next: &str,
    (affected, intact): (u64, u64),
) {
    let world = World::new();
    let report = world.report("restores tried each month");
    happen(&world);
    let told = status(&world);
    let [one] = &told.attention[..] else { panic!("{:?}", told.attention) };
    assert_eq!((one.artifact_id, &*one.query), (report.artifact_id, "restores tried each month"));
    assert_eq!(one.state, state);
    let causes = one.causes.as_ref().map(|causes| {
        let [one] = &causes[..] else { panic!("{causes:?}") };
        (one.observed, one.finding, one.moved_to.as_deref())
    });
    assert_eq!(causes, cause);
    assert_eq!(one.next, next.replace("ID", &report.artifact_id.to_string()));
    assert_eq!(told.quotations, QuotationsDoc { affected, intact });
    assert_eq!(told.left_out, 0);
    assert_eq!(world.show(report.artifact_id).state, state, "as it is shown");
}

#[track_caller]
fn check_stale(happen: impl FnOnce(&World), cause: Cause<'_>, quotations: (u64, u64)) {
    check(happen, ResultState::Stale, Some(cause), "work repair ID", quotations);
}

/// Another text in place of the source.
fn put(text: impl Into<Vec<u8>>) -> impl FnOnce(&World) {
    move |world| world.door.put(FILE, text)
}

// spec: C5
#[test]
fn what_is_as_cited_needs_nobody() {
    let world = World::new();
    world.report("restores tried each month");
    let told = status(&world);
    assert_eq!((told.attention, told.waiting, told.left_out), (vec![], vec![], 0));
    let counts =
        CountsDoc { sources_checked: 1, stale: 0, evidence_unavailable: 0, access_removed: 0 };
    assert_eq!(told.counts, counts);
    assert_eq!(told.quotations, QuotationsDoc { affected: 0, intact: 1 });
    assert_eq!(told.sources, SourcesDoc { looked_at: 1, changed: 0, not_looked_at: 0 });
}

// spec: J9
#[test]
fn an_empty_workspace_needs_nobody() {
    let told = status(&World::new());
    assert_eq!((told.attention, told.observed_at), (vec![], None));
    assert_eq!(told.sources, SourcesDoc { looked_at: 0, changed: 0, not_looked_at: 0 });
}

// spec: O4, C5
#[test]
fn every_finding_is_told_apart() {
    let changed = |finding| ("changed", Some(finding), None);
    check_stale(put(BACKUPS.replace("month", "year")), changed("altered"), (1, 0));
    check_stale(put("Restores are tried each month.\n"), changed("moved"), (1, 0));
    let twice = "Restores are tried each month.\n\nRestores are tried each month.\n";
    check_stale(put(twice), changed("ambiguous"), (1, 0));
    check_stale(put([BACKUPS, "\nMore.\n"].concat()), changed("intact"), (0, 1));
    let pushed = ["a line\n".repeat(40_000).as_str(), BACKUPS].concat();
    check_stale(put(pushed), changed("beyond_limit"), (1, 0));
    let grown = [BACKUPS, &"a line\n".repeat(40_000)].concat();
    check_stale(put(grown), changed("intact"), (0, 1));
}

// spec: O4
#[test]
fn other_line_ends_are_cosmetic() {
    let world = World::empty();
    world.door.put(FILE, "Restores are tried\neach month.\n");
    world.approve("/handbook");
    world.report("restores tried");
    world.door.put(FILE, "Restores are tried\r\neach month.\r\n");
    let told = status(&world);
    let causes = told.attention[0].causes.as_ref().expect("visible");
    assert_eq!(causes[0].finding, Some("cosmetic"));
    assert_eq!(told.quotations, QuotationsDoc { affected: 1, intact: 0 });
}

// spec: O4, J4
#[test]
fn a_file_that_was_renamed_is_gone_and_named_where_it_is() {
    let rename = |to: &'static str| move |world: &World| world.door.rename(FILE, to);
    let here = |moved| ("missing", Some("gone"), moved);
    check_stale(rename("/handbook/it/kept.md"), here(Some("it/kept.md")), (1, 0));
    check_stale(rename("/notes/kept.md"), here(None), (1, 0));
    check_stale(rename("/handbook/it/kept.rs"), here(None), (1, 0));
    check_stale(|world| world.door.remove(FILE), here(None), (1, 0));
}

// spec: O4
#[test]
fn a_file_that_went_into_a_folder_inside_is_not_followed() {
    let into_another = |world: &World| {
        world.door.put("/handbook/team/a.md", "other\n");
        world.approve("/handbook/team");
        world.door.rename(FILE, "/handbook/team/backups.md");
    };
    check_stale(into_another, ("missing", Some("gone"), None), (1, 0));
}

// spec: O3
#[test]
fn a_file_that_does_not_hold_still_is_stale_without_a_finding() {
    check_stale(|world| world.door.make_unstable(FILE), ("unstable", None, None), (0, 0));
}

// spec: C5, R2
#[test]
fn what_is_hidden_tells_no_cause_and_leads_to_the_folders() {
    let hidden =
        |happen: &dyn Fn(&World), state| check(happen, state, None, "work folders", (0, 0));
    let (unavailable, removed) = (ResultState::EvidenceUnavailable, ResultState::AccessRemoved);
    hidden(&|world| world.door.make_unreachable(FILE), unavailable);
    hidden(&|world| world.door.remove("/handbook"), unavailable);
    hidden(&|world| world.door.deny(FILE), removed);
    hidden(&|world| world.door.replace_folder("/handbook"), removed);
    hidden(&|world| drop(world.revoke("/handbook")), removed);
}

// spec: O1
#[test]
fn what_was_not_looked_at_in_time_is_unavailable_for_this_answer_and_is_looked_at_again() {
    let slow = |world: &World| world.door.slow_down(FILE, Duration::from_secs(31));
    let world = World::new();
    let report = world.report("restores tried each month");
    slow(&world);
    let told = status(&world);
    assert_eq!(told.attention[0].state, ResultState::EvidenceUnavailable);
    assert_eq!(told.attention[0].next, "work refresh");
    assert_eq!(told.sources, SourcesDoc { looked_at: 0, changed: 0, not_looked_at: 1 });
    world.door.slow_down(FILE, Duration::ZERO);
    assert_eq!(world.show(report.artifact_id).state, ResultState::SourcesChecked);
}

// spec: O2
#[test]
fn a_trusting_status_reads_no_file_that_has_not_changed() {
    let world = World::new();
    world.report("restores tried each month");
    world.door.slow_down(FILE, Duration::from_secs(31));
    let trusting = || world.work.status(Reading::Trusting, &mut Quiet).expect("a status");
    assert_eq!(trusting().counts.sources_checked, 1);
    assert_eq!(status(&world).counts.evidence_unavailable, 1, "a read takes its time");
    world.door.put(FILE, "other\n");
    world.door.slow_down(FILE, Duration::ZERO);
    assert_eq!(trusting().counts.stale, 1);
}

/// What each of some reports is about.
const WORDS: [&str; 5] = ["apple", "birch", "cedar", "daisy", "elder"];

/// Reports over files of their own: `/d/0.md` and so on, the first made first.
fn reports(world: &World, count: usize) -> Vec<ResultId> {
    let put =
        |n: usize| world.door.put(&format!("/d/{n}.md"), format!("The {} grows.\n", WORDS[n]));
    (0..count).for_each(put);
    world.approve("/d");
    let report = |n: usize| {
        world.pass(1);
        world.report(WORDS[n]).artifact_id
    };
    (0..count).map(report).collect()
}

// spec: C5, O4
#[test]
fn the_worst_come_first_and_then_the_latest() {
    let world = World::over(Arc::new(MemoryDoor::new()));
    let [altered, intact, unavailable, denied, later] = reports(&world, 5)[..] else { panic!() };
    world.door.put("/d/0.md", "Nothing grows.\n");
    world.door.put("/d/1.md", "The birch grows.\nMore.\n");
    world.door.make_unreachable("/d/2.md");
    world.door.deny("/d/3.md");
    world.door.put("/d/4.md", "Nothing grows.\n");
    let told = status(&world);
    let order: Vec<_> = told.attention.iter().map(|one| one.artifact_id).collect();
    assert_eq!(order, [denied, unavailable, later, altered, intact]);
    let counts =
        CountsDoc { sources_checked: 0, stale: 3, evidence_unavailable: 1, access_removed: 1 };
    assert_eq!(told.counts, counts);
}

// spec: L
#[test]
fn a_long_list_is_cut_and_says_how_much_is_left_out() {
    let limits = Limits { list: 2, page: 2, ..Limits::standard() };
    let world = World::over(Arc::new(MemoryDoor::new())).limited(limits);
    let made = reports(&world, 5);
    world.door.remove("/d/1.md");
    world.door.remove("/d/2.md");
    world.door.remove("/d/4.md");
    let told = status(&world);
    let order: Vec<_> = told.attention.iter().map(|one| one.artifact_id).collect();
    assert_eq!((order, told.left_out), (vec![made[4], made[2]], 1));
    assert_eq!((told.counts.stale, told.counts.sources_checked), (3, 2), "all are counted");
    assert_eq!(told.sources.looked_at, 5);
}

/// A proposal that repairs a report, whose source was edited.
fn proposed(world: &World) -> (ResultId, work_core::document::wire::ProposalDoc) {
    let report = world.report("restores tried each month");
    world.door.put(FILE, BACKUPS.replace("month", "week"));
    let Repaired::Proposed(proposal) =
        world.work.repair(report.artifact_id, &mut Quiet).expect("works")
    else {
        panic!("a proposal")
    };
    (report.artifact_id, *proposal)
}

// spec: J9
#[test]
fn a_proposal_waits_until_its_time_is_past() {
    let world = World::new();
    let (result, proposal) = proposed(&world);
    let told = status(&world);
    let [one] = &told.waiting[..] else { panic!("{:?}", told.waiting) };
    assert_eq!(
        (one.proposal_id, one.artifact_id, one.kind),
        (proposal.proposal_id, result, "repair")
    );
    world.pass(3599);
    assert_eq!(status(&world).waiting.len(), 1);
    world.pass(1);
    assert_eq!(status(&world).waiting, []);
}

// spec: L, J9
#[test]
fn more_proposals_wait_than_one_question_may_ask_for_and_all_are_counted() {
    let limits = Limits { list: 2, page: 8, ..Limits::standard() };
    let world = World::small(Arc::new(MemoryDoor::new()), limits);
    for (n, result) in reports(&world, 5).into_iter().enumerate() {
        world.door.put(&format!("/d/{n}.md"), format!("The {} grows slowly.\n", WORDS[n]));
        let repaired = world.work.repair(result, &mut Quiet).expect("works");
        assert!(matches!(repaired, Repaired::Proposed(_)), "{repaired:?}");
    }
    let told = status(&world);
    assert_eq!((told.waiting.len(), told.waiting_left_out), (2, 3));
}

// spec: T6
#[test]
fn an_end_that_was_told_by_leaving_it_out_stays_one() {
    let world = World::new();
    proposed(&world);
    world.clock.set_ahead(Duration::from_secs(4000));
    assert_eq!(status(&world).waiting, []);
    world.clock.set_back(Duration::from_secs(4000));
    assert_eq!(status(&world).waiting, []);
}

// spec: P8
#[test]
fn a_proposal_whose_revision_is_no_longer_accepted_waits_no_more() {
    let world = World::new();
    let (_, proposal) = proposed(&world);
    let fingerprint = proposal.fingerprint.expect("visible");
    world
        .work
        .apply(proposal.proposal_id, fingerprint, Channel::Library, &mut Quiet)
        .expect("applied");
    assert_eq!((status(&world).waiting, status(&world).counts.sources_checked), (vec![], 1));
}

// spec: R2
#[test]
fn a_proposal_that_rests_on_a_withdrawn_folder_does_not_wait() {
    let world = World::new();
    world.approve("/notes");
    let report = world.report("restores tried each month");
    world.door.put("/notes/new.md", "Restores are tried each month, says a note.\n");
    let repaired = world.work.repair(report.artifact_id, &mut Quiet).expect("works");
    assert!(matches!(repaired, Repaired::Proposed(_)), "{repaired:?}");
    assert_eq!(status(&world).waiting.len(), 1);
    world.revoke("/notes");
    let told = status(&world);
    assert_eq!((told.waiting, told.counts.sources_checked), (vec![], 1));
}

// spec: R2, H2
#[test]
fn a_restore_of_which_a_source_is_missing_waits_in_no_list() {
    let world = World::new();
    let (result, proposal) = proposed(&world);
    let fingerprint = proposal.fingerprint.expect("visible");
    world
        .work
        .apply(proposal.proposal_id, fingerprint, Channel::Library, &mut Quiet)
        .expect("applied");
    world.work.restore(result, RevisionNo(1), &mut Quiet).expect("prepared");
    assert_eq!(status(&world).waiting.len(), 1);
    world.door.remove(FILE);
    assert_eq!(status(&world).waiting, []);
    let listed = world.work.proposals(None).expect("a list").proposals;
    assert!(listed.iter().all(|one| one.state != "pending"), "{listed:?}");
}

// spec: R2
#[test]
fn a_proposal_for_a_hidden_result_does_not_wait() {
    let world = World::new();
    proposed(&world);
    world.door.make_unreachable("/handbook");
    assert_eq!(status(&world).waiting, []);
}
