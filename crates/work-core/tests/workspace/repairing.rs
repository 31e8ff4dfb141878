//! Repairs: a task that repeats a result's query and proposes its next revision.

use crate::world::{AtFirstBeat, AtOnce, BACKUPS, ELSEWHERE, FILE, World, texts};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::document::stored::Verification;
use work_core::document::wire::{ContentDoc, ProposalDoc, TaskDoc};
use work_core::id::{ProposalId, ResultId, TaskId};
use work_core::port::{Batch, NoPause, Put, Quiet};
use work_core::proposal::{ProposalState, Refusal};
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{
    ApplyError, AskRepairError, ExportError, RepairAsk, RepairError, Repaired, RunEnding,
    StateFilter,
};

fn ask_repair(world: &World, result: ResultId) -> TaskId {
    asked(world, result, None).expect("queued").task_id
}

fn asked(world: &World, result: ResultId, key: Option<&str>) -> Result<TaskDoc, AskRepairError> {
    let key = key.map(str::to_owned);
    world.work.ask_repair(&RepairAsk { result, key }, &mut Quiet)
}

fn work_once(world: &World) -> Option<RunEnding> {
    world.work.work_once(world.work.new_worker(), &mut Quiet).expect("runs")
}

fn finish(world: &World, task: TaskId) -> Result<Repaired, RepairError> {
    world.work.finish_repair(task, world.work.new_worker(), &AtOnce, &mut Quiet)
}

#[track_caller]
fn proposed(repaired: Result<Repaired, RepairError>) -> ProposalDoc {
    match repaired.expect("repaired") {
        Repaired::Proposed(proposal) => *proposal,
        Repaired::NoChange(task) => panic!("nothing changed: {task:?}"),
    }
}

fn quoted(side: Option<&ContentDoc>) -> Vec<&str> {
    let body = &side.expect("visible").body;
    body.excerpts.iter().map(|excerpt| excerpt.text.as_str()).collect()
}

/// The documents and revisions that some batches write.
fn kept(batches: &[Batch]) -> usize {
    let puts = batches.iter().filter_map(|batch| batch.act.as_ref()).flat_map(|act| &act.puts);
    puts.filter(|put| matches!(put, Put::Document { .. } | Put::Revision(..))).count()
}

// spec: P1
#[test]
fn a_repair_of_a_stale_result_is_a_proposal_and_what_is_accepted_stays() {
    let world = World::new();
    let report = world.stale();
    world.pass(10);
    let proposal = world.repair(report.artifact_id);
    assert_eq!(quoted(proposal.accepted.as_ref()), texts(&report));
    assert_eq!(quoted(proposal.proposed.as_ref()), ["Backups are kept for 90 days."]);
    assert_eq!((proposal.kind, proposal.state), (Some("repair"), "pending"));
    assert_eq!((proposal.can_apply, proposal.rejection_reason), (Some(true), None));
    assert_eq!((proposal.base_revision, proposal.restore_revision), (Some(RevisionNo(1)), None));
    assert_eq!(proposal.result_state, Some(ResultState::SourcesChecked));
    let life = proposal.expires_at.expect("visible").seconds()
        - proposal.created_at.expect("visible").seconds();
    assert_eq!(life, 3600);
    let shown = world.show(report.artifact_id);
    assert_eq!((shown.revision, shown.state), (Some(RevisionNo(1)), ResultState::Stale));
    assert_eq!(texts(&shown), texts(&report));
    assert_eq!(shown.verification, report.verification);
    let tasks = world.work.tasks(None).expect("tasks").tasks;
    assert_eq!(
        (tasks[0].kind, tasks[0].state, tasks[0].outcome, tasks[0].proposal_id),
        ("repair", "succeeded", None, Some(proposal.proposal_id))
    );
}

// spec: P2
#[test]
fn a_version_that_changed_around_an_intact_passage_is_a_difference_that_shows() {
    let world = World::new();
    let report = world.report("backups");
    world.door.put(FILE, format!("{BACKUPS}\nMore.\n"));
    let proposal = world.repair(report.artifact_id);
    let sides = [proposal.accepted.as_ref(), proposal.proposed.as_ref()];
    assert_eq!(quoted(sides[0]), quoted(sides[1]));
    assert_ne!(sides[0].expect("visible").digest, sides[1].expect("visible").digest);
    let difference = proposal.difference.expect("visible");
    assert!(!difference.hunks.is_empty() && !difference.unified.is_empty());
}

// spec: P2
#[test]
fn the_difference_marks_the_words_that_changed() {
    let world = World::new();
    let difference = world.repair(world.stale().artifact_id).difference.expect("visible");
    let lines = difference.hunks.iter().flat_map(|hunk| &hunk.lines);
    let marked: Vec<&str> = lines
        .flat_map(|line| &line.words)
        .filter(|words| words.changed)
        .map(|words| words.text.as_str())
        .collect();
    assert!(marked.contains(&"35") && marked.contains(&"90"), "{marked:?}");
    assert!(difference.unified.contains("90 days"), "{}", difference.unified);
}

// spec: P1
// spec: Q8
#[test]
fn a_repair_that_finds_the_same_says_so_and_keeps_nothing() {
    let world = World::new();
    let report = world.report("backups");
    world.edit("90");
    world.show(report.artifact_id);
    world.edit("35");
    world.pass(100);
    let (before, events) = (world.records(), world.events());
    world.written();
    let repaired = world.work.repair(report.artifact_id, &mut Quiet).expect("repaired");
    let Repaired::NoChange(task) = repaired else { panic!("nothing changed") };
    assert_eq!(
        (task.state, task.outcome, task.proposal_id),
        ("succeeded", Some("no_change"), None)
    );
    assert_eq!(task.artifact_id, Some(report.artifact_id));
    assert_eq!((world.records(), kept(&world.written())), (before, 0));
    assert_eq!(world.kinds_after(events), ["task_queued", "task_leased", "repair_not_needed"]);
    let check = |doc: &work_core::document::wire::ResultDoc| doc.verification.clone().expect("one");
    assert_eq!(check(&world.show(report.artifact_id)).checked_at, check(&report).checked_at);
}

// spec: P1
// spec: Q6
#[test]
fn a_repair_without_a_match_fails_and_the_result_stays() {
    let world = World::new();
    let report = world.report("backups");
    world.door.put(FILE, "Nothing of the kind.\n");
    let before = world.records();
    let failed = world.work.repair(report.artifact_id, &mut Quiet).expect_err("no match");
    assert_eq!((failed.code(), world.records()), (Code::NoMatches, before));
    let task = world.work.tasks(None).expect("tasks").tasks.remove(0);
    assert_eq!((task.state, task.error.expect("an error").code), ("failed", "no_matches"));
    assert!(task.scan.is_some());
}

// spec: Q6
#[test]
fn a_repair_whose_folder_is_gone_by_then_fails_without_sources() {
    let world = World::new();
    let task = ask_repair(&world, world.stale().artifact_id);
    world.door.make_unreachable("/handbook");
    let failed = finish(&world, task).expect_err("no folder");
    assert_eq!(failed.code(), Code::NoSources);
}

/// What a repair comes to that quotes another file, after something happened to the one that is quoted now.
fn with_the_old_source(happen: impl FnOnce(&World)) -> Result<ProposalDoc, Code> {
    let world = World::new();
    let report = world.report("backups");
    world.door.put(ELSEWHERE, "Backups elsewhere.\n");
    let task = ask_repair(&world, report.artifact_id);
    happen(&world);
    let before = world.records();
    let repaired = finish(&world, task).map_err(|failed| failed.code());
    assert_eq!(repaired.is_err(), world.records() == before);
    repaired.map(|repaired| proposed(Ok(repaired)))
}

// spec: P1
#[test]
fn a_source_of_the_accepted_body_that_cannot_be_relied_on_fails_the_repair() {
    let unavailable = Err(Code::EvidenceUnavailable);
    assert_eq!(with_the_old_source(|world| world.door.make_unstable(FILE)), unavailable);
    assert_eq!(with_the_old_source(|world| world.door.make_unreachable(FILE)), unavailable);
    assert_eq!(with_the_old_source(|world| world.door.deny(FILE)), unavailable);
}

// spec: P4
#[test]
fn a_source_of_the_accepted_body_that_is_missing_is_bound_as_missing() {
    let proposal = with_the_old_source(|world| world.door.remove(FILE)).expect("proposed");
    assert_eq!(quoted(proposal.proposed.as_ref()), ["Backups elsewhere."]);
    assert_eq!(proposal.can_apply, Some(true));
}

// spec: T7
#[test]
fn asking_again_while_a_repair_is_queued_or_running_returns_it() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let other = world.report("leave").artifact_id;
    let task = ask_repair(&world, result);
    let events = world.events();
    assert_eq!((ask_repair(&world, result), world.events()), (task, events));
    assert_ne!(ask_repair(&world, other), task, "another result is another repair");
    let mut again = AtFirstBeat(Some(|| {
        assert_eq!(world.task(task).state, "running");
        assert_eq!(ask_repair(&world, result), task);
    }));
    world.work.work_once(world.work.new_worker(), &mut again).expect("works");
    assert!(again.0.is_none(), "it was asked for while it ran");
    assert_eq!(world.task(task).state, "succeeded");
    assert_ne!(ask_repair(&world, result), task, "it has ended");
}

// spec: T7
#[test]
fn a_key_returns_its_first_repair_for_a_day_also_when_it_has_ended() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let keyed = |key| asked(&world, result, Some(key));
    let first = keyed("k").expect("queued").task_id;
    finish(&world, first).expect("repaired");
    world.pass(24 * 60 * 60 - 60);
    assert_eq!(keyed("k").expect("the first").task_id, first);
    assert_ne!(keyed("other").expect("another").task_id, first);
    let leave = world.report("leave").artifact_id;
    assert_eq!(asked(&world, leave, Some("k")), Err(AskRepairError::KeyConflict));
    world.pass(60);
    assert_ne!(keyed("k").expect("another").task_id, first);
}

// spec: T7
#[test]
fn a_key_under_which_a_running_repair_was_returned_returns_it_again_when_it_has_ended() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let task = ask_repair(&world, result);
    assert_eq!(asked(&world, result, Some("k")).expect("the first").task_id, task);
    finish(&world, task).expect("repaired");
    assert_eq!(asked(&world, result, Some("k")).expect("the first").task_id, task);
    let leave = world.report("leave").artifact_id;
    assert_eq!(asked(&world, leave, Some("k")), Err(AskRepairError::KeyConflict));
}

// spec: T1
#[test]
fn a_repair_waits_in_the_same_queue_as_reports() {
    let world = World::new();
    let result = world.stale().artifact_id;
    for n in 0..20 {
        world.ask(&format!("backups {n}"));
    }
    assert_eq!(asked(&world, result, None), Err(AskRepairError::QueueFull(20)));
}

// spec: P1
#[test]
fn a_result_that_is_not_there_is_not_repaired() {
    let world = World::new();
    let refused = asked(&world, ResultId::from_bytes([9; 16]), None).expect_err("nothing");
    assert_eq!(
        (refused.code(), world.work.tasks(None).expect("tasks").tasks),
        (Code::NotFound, vec![])
    );
}

/// The code of a refusal at asking, after something happened. Nothing is queued.
fn refused_after(happen: impl FnOnce(&World)) -> Code {
    let world = World::new();
    let result = world.stale().artifact_id;
    happen(&world);
    let (events, before) = (world.events(), world.records());
    let refused = asked(&world, result, Some("k")).expect_err("hidden");
    assert_eq!((world.events(), world.records()), (events, before));
    refused.code()
}

// spec: E
// spec: R2
#[test]
fn a_hidden_result_is_refused_at_asking_with_its_state_as_the_code() {
    assert_eq!(refused_after(|world| drop(world.revoke("/handbook"))), Code::AccessRemoved);
    assert_eq!(refused_after(|world| world.door.replace_folder("/handbook")), Code::AccessRemoved);
    let excluded = refused_after(|world| drop(world.change_rules("/handbook", &["it"])));
    assert_eq!(excluded, Code::AccessRemoved);
    let gone = refused_after(|world| world.door.make_unreachable("/handbook"));
    assert_eq!(gone, Code::EvidenceUnavailable);
}

// spec: P1
#[test]
fn a_repair_whose_base_changed_while_it_looked_is_done_again() {
    let (world, door) = World::with_meanwhile();
    let result = world.stale().artifact_id;
    world.mend(result);
    world.edit("120");
    let back = world.restore(result, 1).expect("prepared").proposal;
    let task = ask_repair(&world, result);
    let other = world.other_process(world.door.clone(), 1000);
    let shown = back.fingerprint.expect("visible");
    door.after_looks(2, move || {
        let channel = work_core::proposal::Channel::Library;
        other.apply(back.proposal_id, shown, channel, &mut Quiet).expect("applied");
    });
    assert_eq!(work_once(&world), Some(RunEnding::Overtaken(task)));
    assert_eq!(world.show(result).revision, Some(RevisionNo(3)), "the restore was applied");
    let proposal = proposed(finish(&world, task));
    assert_eq!((proposal.base_revision, world.task(task).attempt), (Some(RevisionNo(3)), 1));
    assert_eq!(quoted(proposal.accepted.as_ref()), ["Backups are kept for 35 days."]);
    assert_eq!(world.apply(&proposal).expect("applied").revision, RevisionNo(4));
}

// spec: O3
#[test]
fn a_repair_whose_folder_was_approved_anew_while_it_looked_is_done_again() {
    for looks in [1, 2] {
        let (world, door) = World::with_meanwhile();
        let task = ask_repair(&world, world.stale().artifact_id);
        let other = world.other_process(world.door.clone(), 1000);
        door.after_looks(looks, move || {
            let path = work_core::path::HostPath::from_bytes("/handbook");
            let name = work_core::workspace::FolderName::Root(path.clone());
            other.revoke(&name).expect("revoked");
            other.approve(&path, None, &mut Quiet).expect("approved");
        });
        assert_eq!(work_once(&world), Some(RunEnding::Overtaken(task)), "{looks}");
        let proposal = proposed(finish(&world, task));
        assert_eq!((proposal.can_apply, world.task(task).attempt), (Some(true), 1));
    }
}

// spec: P1
#[test]
fn a_source_that_somebody_saw_otherwise_while_it_was_quoted_is_not_relied_on() {
    let (world, door) = World::with_meanwhile();
    let result = world.stale().artifact_id;
    let task = ask_repair(&world, result);
    let (other, files) = (world.other_process(world.door.clone(), 1000), world.door.clone());
    door.after_looks(1, move || {
        files.put(FILE, BACKUPS.replace("35", "120"));
        other.show(result, None, &mut Quiet).expect("shown");
    });
    assert_eq!(finish(&world, task).expect_err("moved").code(), Code::EvidenceUnavailable);
    let proposal = world.repair(result);
    assert_eq!(quoted(proposal.proposed.as_ref()), ["Backups are kept for 120 days."]);
}

fn superseded(world: &World, old: ProposalId) -> Option<ProposalId> {
    match world.state(old) {
        ProposalState::Superseded(_, by) => Some(by),
        ProposalState::Pending
        | ProposalState::Applied(_)
        | ProposalState::Dismissed(_)
        | ProposalState::Expired(_) => None,
    }
}

// spec: P8
#[test]
fn a_new_repair_takes_the_place_of_one_that_waits() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let old = world.repair(result);
    world.edit("120");
    let new = world.repair(result);
    assert_eq!(superseded(&world, old.proposal_id), Some(new.proposal_id));
    assert_eq!(world.state(new.proposal_id), ProposalState::Pending);
    assert_eq!(world.apply(&old), Err(ApplyError::Refused(Refusal::Superseded)));
    let told = world.proposal(old.proposal_id);
    assert_eq!((told.state, told.rejection_reason), ("superseded", Some("superseded")));
    assert_eq!(told.proposed, old.proposed, "it stays stored");
    world.apply(&new).expect("applied");
}

// spec: P8
#[test]
fn a_new_repair_stores_one_whose_time_is_past_as_expired() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let old = world.repair(result).proposal_id;
    world.pass(3600);
    let new = world.repair(result).proposal_id;
    let now = world.stored(new).created_at;
    assert_eq!(world.state(old), ProposalState::Expired(now));
    assert_eq!(world.proposal(old).state, "expired");
}

// spec: P8
#[test]
fn repairs_of_other_results_wait_on() {
    let world = World::new();
    let (one, other) = (world.report("backups").artifact_id, world.report("restores").artifact_id);
    world.edit("90");
    let (first, second) = (world.repair(one).proposal_id, world.repair(other).proposal_id);
    assert_eq!([world.state(first), world.state(second)], [ProposalState::Pending; 2]);
}

// spec: Q2
#[test]
fn a_folder_that_was_approved_later_is_not_searched() {
    let world = World::new();
    let result = world.stale().artifact_id;
    world.approve("/notes");
    let proposal = world.repair(result);
    assert_eq!(quoted(proposal.proposed.as_ref()), ["Backups are kept for 90 days."]);
    let scan = proposal.proposed.and_then(|side| side.scan).expect("a scan record");
    let searched: Vec<_> = scan.folders.iter().map(|folder| folder.folder).collect();
    assert_eq!(searched, [world.grant("/handbook")]);
}

// spec: P9
#[test]
fn the_check_of_a_proposal_says_what_an_approval_does_not_do() {
    let world = World::new();
    let proposal = world.repair(world.stale().artifact_id);
    let check = proposal.proposed.and_then(|side| side.verification).expect("a verification");
    assert_eq!(check.limits, Verification::LIMITS);
    for sentence in [
        "Applying never touches a source file and sends nothing anywhere.",
        "An approval binds recorded observations and stored revisions; it locks no file and proves no truth.",
    ] {
        assert!(check.limits.iter().any(|said| said == sentence), "{sentence}");
    }
    assert!(
        check.limits.iter().any(|said| said.starts_with("Refreshing is a series of reads, not a"))
    );
}

// spec: T5
#[test]
fn a_repair_that_is_cancelled_proposes_nothing() {
    let world = World::new();
    let task = ask_repair(&world, world.stale().artifact_id);
    let mut cancel = AtFirstBeat(Some(|| drop(world.work.cancel(task).expect("cancelled"))));
    world.work.work_once(world.work.new_worker(), &mut cancel).expect("runs");
    assert_eq!(world.task(task).state, "cancelled");
    assert_eq!(world.work.proposals(None).expect("a list").proposals, []);
}

// spec: T3
#[test]
fn a_repair_whose_lease_ended_proposes_nothing() {
    let world = World::new();
    let task = ask_repair(&world, world.stale().artifact_id);
    let mut late = AtFirstBeat(Some(|| world.pass(31)));
    let ended = world.work.work_once(world.work.new_worker(), &mut late).expect("runs");
    assert!(matches!(ended, Some(RunEnding::Lost(..))), "{ended:?}");
    assert_eq!(world.work.proposals(None).expect("a list").proposals, []);
    let again = world.work.finish_repair(task, world.work.new_worker(), &NoPause, &mut Quiet);
    assert_eq!(proposed(again).state, "pending");
}

// spec: R2
#[test]
fn what_came_of_a_repair_is_not_told_while_its_result_is_hidden() {
    let world = World::new();
    let proposal = world.repair(world.stale().artifact_id);
    let before = world.work.tasks(None).expect("tasks").tasks;
    world.revoke("/handbook");
    let task = world.work.tasks(None).expect("tasks").tasks.remove(0);
    assert_eq!((task.state, task.outcome, task.proposal_id), ("succeeded", None, None));
    assert_eq!(world.listed(proposal.proposal_id), None);
    assert_eq!(world.work.list(StateFilter::All, None).expect("a list").results.len(), 1);
    world.approve("/handbook");
    assert_eq!(world.work.tasks(None).expect("tasks").tasks, before);
    assert_eq!(world.listed(proposal.proposal_id), Some(("pending", None)));
}

/// A workspace of two folders with a report out of one of them.
fn out_of_one_of_two() -> (World, ResultId) {
    let world = World::new();
    world.approve("/notes");
    let result = world.report("unused leave").artifact_id;
    (world, result)
}

const LEAVE: &str = "/handbook/people/leave.md";

/// What comes of a repair: a proposal, no change, or a failure.
type Comes = fn(&World, ResultId);

const COMES: [(&str, Comes); 3] = [
    ("a proposal", |world, result| {
        world.door.put(LEAVE, "Unused leave is lost.\n");
        world.repair(result);
    }),
    ("no change", |world, result| {
        assert!(matches!(world.work.repair(result, &mut Quiet), Ok(Repaired::NoChange(_))));
    }),
    ("a failure", |world, result| {
        world.door.put(LEAVE, "Nothing of the kind.\n");
        world.work.repair(result, &mut Quiet).expect_err("no match");
    }),
];

// spec: J5
// spec: R2
#[test]
fn what_came_of_a_repair_is_not_told_while_a_folder_that_it_searched_is_withdrawn() {
    for (what, comes) in COMES {
        let (world, result) = out_of_one_of_two();
        comes(&world, result);
        let before = world.work.tasks(None).expect("tasks").tasks.remove(0);
        let told = (before.outcome.is_some(), before.proposal_id.is_some(), before.error.is_some());
        assert_ne!(told, (false, false, false), "{what}");
        world.revoke("/notes");
        assert!(world.show(result).body.is_some(), "the result itself is visible");
        for task in
            [world.task(before.task_id), world.work.tasks(None).expect("tasks").tasks.remove(0)]
        {
            assert_eq!((task.outcome, task.proposal_id, task.error), (None, None, None), "{what}");
            assert_eq!((task.state, task.artifact_id), (before.state, Some(result)), "{what}");
        }
        world.approve("/notes");
        assert_eq!(world.task(before.task_id), before, "{what}");
    }
}

// spec: O1
#[test]
fn a_source_of_the_accepted_body_that_is_not_reached_ends_the_repair_as_such() {
    let (world, door) = World::with_meanwhile();
    let result = world.report("backups").artifact_id;
    world.door.put(FILE, "Nothing of the kind.\n");
    world.door.put(ELSEWHERE, "Backups elsewhere.\n");
    let task = ask_repair(&world, result);
    let (files, before) = (world.door.clone(), world.records());
    door.after_looks(1, move || files.slow_down(FILE, Duration::from_secs(31)));
    assert_eq!(finish(&world, task).expect_err("too slow").code(), Code::RefreshIncomplete);
    let told = world.task(task);
    assert_eq!((told.state, told.error.expect("an error").code), ("failed", "refresh_incomplete"));
    assert_eq!(world.records(), before, "nothing was proposed");
    world.door.slow_down(FILE, Duration::ZERO);
    assert_eq!(quoted(world.repair(result).proposed.as_ref()), ["Backups elsewhere."]);
}

// spec: O1
// spec: E
#[test]
fn a_result_whose_sources_were_not_reached_in_time_is_neither_repaired_nor_exported() {
    let world = World::new();
    let result = world.report("backups").artifact_id;
    world.door.slow_down(FILE, Duration::from_secs(31));
    let (events, before) = (world.events(), world.records());
    let refused = asked(&world, result, None).expect_err("too slow");
    assert_eq!(
        (refused, refused.code()),
        (AskRepairError::RefreshIncomplete, Code::RefreshIncomplete)
    );
    let exported = world.work.export(result, None, &mut Quiet).expect_err("too slow");
    assert_eq!(
        (exported, exported.code()),
        (ExportError::RefreshIncomplete, Code::RefreshIncomplete)
    );
    assert_eq!((world.events(), world.records()), (events, before));
    world.door.slow_down(FILE, Duration::ZERO);
    ask_repair(&world, result);
    world.work.export(result, None, &mut Quiet).expect("exported");
}
