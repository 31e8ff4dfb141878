//! Restores: an earlier revision as the next one, if somebody approves it.

use crate::world::{ELSEWHERE, FILE, TROUBLES, World, texts};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::digest::Digest;
use work_core::document::wire::{ContentDoc, ProposalDoc};
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::path::HostPath;
use work_core::port::{Put, Quiet, Revisions};
use work_core::proposal::{ProposalState, Refusal};
use work_core::redact::Withheld;
use work_core::result::{ResultState, Revision, RevisionNo};
use work_core::workspace::{ApplyError, FolderName, Prepared, RestoreError};

/// A restore that is made now.
#[track_caller]
fn prepared(world: &World, result: ResultId, no: u64) -> ProposalDoc {
    let restore = world.restore(result, no).expect("prepared");
    assert_eq!(restore.prepared, Prepared::Now);
    restore.proposal
}

fn says(side: Option<&ContentDoc>) -> Vec<&str> {
    let body = &side.expect("visible").body;
    body.excerpts.iter().map(|excerpt| excerpt.text.as_str()).collect()
}

fn revision(world: &World, result: ResultId, no: u64) -> Revision {
    let key = [(result, RevisionNo(no))];
    world.snapshot().revisions(Revisions::Keys(&key)).expect("revisions")[0]
}

// spec: H3
#[test]
fn a_restore_is_a_proposal_that_shows_both_bodies_and_changes_nothing() {
    let world = World::new();
    let result = world.mended();
    let accepted = world.show(result);
    let proposal = prepared(&world, result, 1);
    assert_eq!((proposal.kind, proposal.state), (Some("restore"), "pending"));
    assert_eq!(proposal.restore_revision, Some(RevisionNo(1)));
    assert_eq!(proposal.base_revision, Some(RevisionNo(2)));
    assert_eq!((proposal.can_apply, proposal.rejection_reason), (Some(true), None));
    assert_eq!(says(proposal.accepted.as_ref()), ["Backups are kept for 90 days."]);
    assert_eq!(says(proposal.proposed.as_ref()), ["Backups are kept for 35 days."]);
    assert!(!proposal.difference.expect("visible").hunks.is_empty());
    assert_eq!(world.show(result), accepted);
}

// spec: H3
#[test]
fn a_source_that_is_not_as_the_earlier_revision_cites_it_permits_a_stale_restore_that_says_so() {
    let world = World::new();
    let result = world.mended();
    assert_eq!(prepared(&world, result, 1).result_state, Some(ResultState::Stale));
    world.edit("35");
    let checked = prepared(&world, result, 1);
    assert_eq!(checked.result_state, Some(ResultState::SourcesChecked));
    world.apply(&checked).expect("applied");
    assert_eq!(world.show(result).state, ResultState::SourcesChecked);
}

// spec: H4
#[test]
fn preparing_a_restore_runs_no_query_and_writes_only_what_it_binds() {
    let world = World::new();
    let result = world.mended();
    let (tasks, events) = (world.work.tasks(None).expect("tasks"), world.events());
    world.written();
    prepared(&world, result, 1);
    assert_eq!(world.kinds_after(events), ["proposal_prepared"]);
    assert_eq!(world.work.tasks(None).expect("tasks"), tasks);
    let batches = world.written();
    let puts = &batches[0].act.as_ref().expect("an act").puts;
    assert!(matches!(&**puts, [Put::Document { .. }, Put::Proposal(_)]), "{puts:?}");
}

// spec: H4
#[test]
fn a_restore_becomes_the_next_revision_with_all_that_the_earlier_one_had() {
    let world = World::new();
    let report = world.stale();
    let result = report.artifact_id;
    world.pass(50);
    world.mend(result);
    world.pass(50);
    let proposal = prepared(&world, result, 1);
    world.pass(50);
    let applied = world.apply(&proposal).expect("applied");
    assert_eq!((applied.revision, applied.restored_from), (RevisionNo(3), Some(RevisionNo(1))));
    let (first, third) = (revision(&world, result, 1), revision(&world, result, 3));
    assert_eq!((first.body, first.dependencies), (third.body, third.dependencies));
    assert_eq!((first.verification, first.scan), (third.verification, third.scan));
    assert_eq!(third.created_at, applied.created_at);
    let shown = world.show(result);
    assert_eq!((shown.revision, shown.restored_from), (Some(RevisionNo(3)), Some(RevisionNo(1))));
    assert_eq!((texts(&shown), shown.state), (texts(&report), ResultState::Stale));
    assert_eq!(shown.verification, report.verification, "original check time included");
    assert_eq!(shown.scan, report.scan);
    world.edit("35");
    assert_eq!(world.show(result).state, ResultState::SourcesChecked);
    assert!(world.work.doctor().expect("looks").ok);
}

// spec: H4
#[test]
fn what_was_restored_can_be_repaired_and_restored_again() {
    let world = World::new();
    let result = world.mended();
    world.apply(&prepared(&world, result, 1)).expect("applied");
    assert_eq!(world.mend(result).revision, RevisionNo(4));
    let again = prepared(&world, result, 3);
    assert_eq!(says(again.proposed.as_ref()), ["Backups are kept for 35 days."]);
    let applied = world.apply(&again).expect("applied");
    assert_eq!((applied.revision, applied.restored_from), (RevisionNo(5), Some(RevisionNo(3))));
    assert_eq!(world.show(result).restored_from, Some(RevisionNo(3)));
}

// spec: H5
#[test]
fn the_same_restore_is_the_one_that_waits_and_keeps_its_first_expiry() {
    let world = World::new();
    let result = world.mended();
    let first = prepared(&world, result, 1);
    world.pass(3599);
    let (before, events) = (world.records(), world.events());
    world.written();
    let again = world.restore(result, 1).expect("the same");
    assert_eq!((again.prepared, &again.proposal), (Prepared::Before, &first));
    assert_eq!((world.records(), world.events(), world.written().len()), (before, events, 0));
    world.apply(&first).expect("applied");
}

// spec: H5
#[test]
fn a_new_observation_that_says_the_same_makes_no_other_restore() {
    let world = World::new();
    let result = world.mended();
    let first = prepared(&world, result, 1);
    world.revoke("/handbook");
    world.approve("/handbook");
    let again = world.restore(result, 1).expect("the same");
    assert_eq!((again.prepared, again.proposal), (Prepared::Before, first));
}

// spec: H5
#[test]
fn an_expired_restore_is_not_returned_and_is_stored_as_expired() {
    let world = World::new();
    let result = world.mended();
    let first = prepared(&world, result, 1);
    world.pass(3600);
    let next = prepared(&world, result, 1);
    assert_ne!(next.proposal_id, first.proposal_id);
    let now = next.created_at.expect("visible");
    assert_eq!(world.state(first.proposal_id), ProposalState::Expired(now));
    assert_eq!(world.apply(&first), Err(ApplyError::Refused(Refusal::Expired)));
    world.apply(&next).expect("applied");
}

/// What becomes of a waiting restore of revision 1 when something happened and a revision is to be restored again.
#[track_caller]
fn takes_its_place(happen: fn(&World, ResultId), no: u64) {
    let world = World::new();
    let result = world.mended();
    let old = prepared(&world, result, 1);
    happen(&world, result);
    let new = prepared(&world, result, no);
    assert!(
        matches!(world.state(old.proposal_id), ProposalState::Superseded(_, by) if by == new.proposal_id)
    );
    assert_eq!(world.apply(&old), Err(ApplyError::Refused(Refusal::Superseded)));
    assert_eq!(world.proposal(old.proposal_id).proposed, old.proposed, "it stays stored");
    world.apply(&new).expect("applied");
}

// spec: H5
#[test]
fn another_restore_takes_the_place_of_the_one_that_waits() {
    takes_its_place(|world, _| world.edit("120"), 1);
    takes_its_place(|world, _| world.edit("35"), 1);
    takes_its_place(
        |world, result| {
            world.edit("120");
            world.mend(result);
        },
        1,
    );
    takes_its_place(
        |world, result| {
            world.edit("120");
            world.mend(result);
        },
        2,
    );
}

// spec: H5
// spec: H6
#[test]
fn a_restore_that_ended_is_not_returned() {
    let world = World::new();
    let result = world.mended();
    let first = prepared(&world, result, 1);
    world.work.dismiss(first.proposal_id).expect("dismissed");
    let second = prepared(&world, result, 1);
    assert_eq!(world.apply(&first), Err(ApplyError::Refused(Refusal::Dismissed)));
    world.apply(&second).expect("applied");
    let third = prepared(&world, result, 1);
    assert_eq!(world.apply(&second), Err(ApplyError::Refused(Refusal::AlreadyUsed)));
    assert_eq!(third.base_revision, Some(RevisionNo(3)));
    assert_eq!(world.apply(&third).expect("applied").revision, RevisionNo(4));
}

// spec: H5
#[test]
fn an_observation_that_came_and_went_does_not_bring_a_superseded_restore_back() {
    let world = World::new();
    let result = world.mended();
    let first = prepared(&world, result, 1);
    world.edit("120");
    let second = prepared(&world, result, 1);
    world.edit("90");
    let third = prepared(&world, result, 1);
    assert_eq!(world.apply(&first), Err(ApplyError::Refused(Refusal::Superseded)));
    assert_eq!(world.apply(&second), Err(ApplyError::Refused(Refusal::Superseded)));
    world.apply(&third).expect("applied");
}

/// Results with two revisions each.
fn many(world: &World, count: usize) -> Vec<ResultId> {
    let results: Vec<_> = (0..count).map(|_| world.report("backups").artifact_id).collect();
    world.edit("90");
    for result in &results {
        world.mend(*result);
    }
    results
}

// spec: H5
// spec: L
#[test]
fn twenty_restores_wait_in_a_workspace_and_no_more() {
    let world = World::new();
    let results = many(&world, 21);
    let waiting: Vec<_> = results[..20].iter().map(|one| prepared(&world, *one, 1)).collect();
    let (before, events) = (world.records(), world.events());
    let refused = world.restore(results[20], 1).expect_err("full");
    assert!(matches!(refused, RestoreError::TooManyPending(_)), "{refused:?}");
    assert_eq!(refused.code(), Code::TooManyPending);
    assert_eq!((world.records(), world.events()), (before, events));
    let same = world.restore(results[7], 1).expect("it waits already");
    assert_eq!((same.prepared, &same.proposal), (Prepared::Before, &waiting[7]));
    world.edit("120");
    world.repair(results[20]);
    prepared(&world, results[7], 1);
    assert!(world.restore(results[20], 1).is_err(), "one took the place of another");
}

/// Whether one more restore may wait than two, once something happened to one of them.
fn makes_room(happen: fn(&World, &ProposalDoc)) -> bool {
    let limits = Limits { pending_restores: 2, ..Limits::standard() };
    let world = World::new().limited(limits);
    let results = many(&world, 3);
    let first = prepared(&world, results[0], 1);
    prepared(&world, results[1], 1);
    happen(&world, &first);
    world.restore(results[2], 1).is_ok()
}

// spec: H5
#[test]
fn a_restore_that_ends_makes_room() {
    assert!(!makes_room(|_, _| ()));
    assert!(!makes_room(|world, _| world.pass(3599)));
    assert!(makes_room(|world, _| world.pass(3600)));
    assert!(makes_room(|world, one| {
        world.apply(one).expect("applied");
    }));
    assert!(makes_room(|world, one| world.work.dismiss(one.proposal_id).expect("dismissed")));
    assert!(makes_room(|world, one| {
        world.edit("120");
        world.mend(one.artifact_id);
    }));
    assert!(makes_room(|world, _| {
        world.clock.set_back(Duration::from_secs(10));
        world.clock.reboot();
    }));
}

/// How the notes are hidden, and shown again.
type Turn = fn(&World);

const HIDDEN: [(&str, Turn, Turn); 3] = [
    ("withdrawn", |world| drop(world.revoke("/notes")), |world| drop(world.approve("/notes"))),
    ("denied", |world| world.door.deny(TAPE), |world| world.door.heal(TAPE)),
    ("unreachable", |world| world.door.make_unreachable(TAPE), |world| world.door.heal(TAPE)),
];

/// A file of another folder.
const TAPE: &str = "/notes/old.md";

/// Results with two revisions each, out of a folder of their own.
fn of_the_notes(world: &World, count: usize) -> Vec<ResultId> {
    world.approve("/notes");
    let results: Vec<_> = (0..count).map(|_| world.report("kept on tape").artifact_id).collect();
    world.door.put(TAPE, "Old backups were kept on tape, and lost.\n");
    for result in &results {
        world.mend(*result);
    }
    results
}

// spec: H5
// spec: R2
#[test]
fn a_restore_that_is_hidden_takes_no_room_and_one_that_may_be_seen_does() {
    for (what, hide, show) in HIDDEN {
        let limits = Limits { pending_restores: 2, ..Limits::standard() };
        let world = World::new().limited(limits);
        let results = many(&world, 3);
        let notes: Vec<_> =
            of_the_notes(&world, 2).iter().map(|one| prepared(&world, *one, 1)).collect();
        let full =
            |result| matches!(world.restore(result, 1), Err(RestoreError::TooManyPending(_)));
        assert!(full(results[0]), "{what}");
        hide(&world);
        // A look finds out what hides a file.
        notes.iter().for_each(|one| drop(world.proposal(one.proposal_id)));
        results[..2].iter().for_each(|one| drop(prepared(&world, *one, 1)));
        assert!(full(results[2]), "two that may be seen: {what}");
        show(&world);
        notes.iter().for_each(|one| assert_eq!(world.proposal(one.proposal_id).state, "pending"));
        assert!(full(results[2]), "{what}");
    }
}

// spec: H5
#[test]
fn a_body_that_cannot_be_read_any_more_is_neither_restored_nor_restored_over() {
    let stored: [fn(&Revision) -> Digest; 2] = [|one| one.body, |one| one.dependencies];
    for no in [1, 2] {
        for document in stored {
            let world = World::new();
            let result = world.mended();
            let waits = prepared(&world, result, 1);
            world.edit("120");
            world.lose(document(&revision(&world, result, no)));
            let why = RestoreError::Withheld(Withheld::EvidenceUnavailable);
            assert_eq!(refused(&world, result, 1), why, "revision {no}");
            assert_eq!(world.state(waits.proposal_id), ProposalState::Pending, "revision {no}");
        }
    }
}

/// Why no restore is prepared. Nothing but looks is written.
#[track_caller]
fn refused(world: &World, result: ResultId, no: u64) -> RestoreError {
    let (before, events) = (world.records(), world.events());
    let refused = world.restore(result, no).expect_err("refused");
    assert_eq!((world.records(), world.events()), (before, events));
    refused
}

// spec: H3
#[test]
fn what_is_accepted_or_not_there_is_not_restored() {
    let world = World::new();
    let result = world.mended();
    let accepted = refused(&world, result, 2);
    assert_eq!(accepted, RestoreError::AlreadyAccepted(RevisionNo(2)));
    assert_eq!(accepted.code(), Code::InvalidArgument);
    for no in [0, 3, u64::MAX] {
        let unknown = refused(&world, result, no);
        assert_eq!(unknown, RestoreError::UnknownRevision(RevisionNo(no)));
        assert_eq!(unknown.code(), Code::NotFound);
    }
    let unknown = refused(&world, ResultId::from_bytes([9; 16]), 1);
    assert_eq!((unknown, unknown.code()), (RestoreError::Unknown, Code::NotFound));
}

// spec: H2
// spec: H3
#[test]
fn a_source_of_either_body_that_cannot_be_read_refuses_the_restore_with_its_code() {
    for file in [FILE, ELSEWHERE] {
        for &(what, happen, why) in TROUBLES {
            let world = World::new();
            let result = world.moved_on();
            happen(&world, file);
            let refused = refused(&world, result, 1);
            assert_eq!(refused, RestoreError::Withheld(why), "{file} is {what}");
            let code = match why {
                Withheld::EvidenceUnavailable => Code::EvidenceUnavailable,
                Withheld::AccessRemoved => Code::AccessRemoved,
            };
            assert_eq!(refused.code(), code);
        }
        let world = World::new();
        let result = world.moved_on();
        world.door.slow_down(file, Duration::from_secs(31));
        assert_eq!(refused(&world, result, 1), RestoreError::RefreshIncomplete);
        world.door.slow_down(file, Duration::ZERO);
        prepared(&world, result, 1);
    }
}

// spec: H2
#[test]
fn a_source_of_either_body_that_cannot_be_read_any_more_redacts_a_restore_that_waits() {
    for file in [FILE, ELSEWHERE] {
        for &(what, happen, why) in TROUBLES {
            let world = World::new();
            let result = world.moved_on();
            let proposal = prepared(&world, result, 1);
            happen(&world, file);
            let told = world.proposal(proposal.proposal_id);
            let stub = ProposalDoc::hidden(proposal.proposal_id, result, why.as_str());
            assert_eq!(told, stub, "{file} is {what}");
            assert_eq!(world.listed(proposal.proposal_id), None, "{file} is {what}");
            let reason = match why {
                Withheld::EvidenceUnavailable => Refusal::EvidenceUnavailable,
                Withheld::AccessRemoved => Refusal::AccessRemoved,
            };
            assert_eq!(world.apply(&proposal), Err(ApplyError::Refused(reason)));
        }
    }
}

// spec: H2
#[test]
fn of_what_is_withdrawn_and_what_is_unavailable_the_withdrawn_is_told() {
    let world = World::new();
    let result = world.moved_on();
    world.door.remove(ELSEWHERE);
    world.door.deny(FILE);
    assert_eq!(refused(&world, result, 1), RestoreError::Withheld(Withheld::AccessRemoved));
}

// spec: R2
#[test]
fn a_hidden_result_does_not_tell_which_revisions_could_be_restored() {
    let world = World::new();
    let result = world.mended();
    world.revoke("/handbook");
    for no in [1, 2, 3] {
        let why = RestoreError::Withheld(Withheld::AccessRemoved);
        assert_eq!(refused(&world, result, no), why, "{no}");
    }
    world.approve("/handbook");
    world.door.make_unreachable("/handbook");
    for no in [1, 2, 3] {
        let why = RestoreError::Withheld(Withheld::EvidenceUnavailable);
        assert_eq!(refused(&world, result, no), why, "{no}");
    }
}

// spec: P8
#[test]
fn a_repair_and_a_restore_wait_side_by_side_until_one_is_applied() {
    for restored in [true, false] {
        let world = World::new();
        let result = world.mended();
        world.edit("120");
        let (repair, restore) = (world.repair(result), prepared(&world, result, 1));
        let both = [&repair, &restore].map(|one| world.listed(one.proposal_id));
        assert_eq!(both, [Some(("pending", None)); 2]);
        let (one, other) = if restored { (restore, repair) } else { (repair, restore) };
        world.apply(&one).expect("applied");
        assert_eq!(world.state(other.proposal_id), ProposalState::Pending);
        assert_eq!(world.apply(&other), Err(ApplyError::Refused(Refusal::RevisionChanged)));
        let told = world.proposal(other.proposal_id);
        assert_eq!(
            (told.can_apply, told.rejection_reason),
            (Some(false), Some("revision_changed"))
        );
        let listed = world.listed(other.proposal_id);
        assert_eq!(listed, Some(("pending", Some("revision_changed"))));
        let side = told.accepted.expect("visible");
        assert_eq!(side.revision, Some(RevisionNo(2)), "it shows what it was made for");
    }
}

// spec: P8
#[test]
fn what_lost_to_another_gives_way_to_the_next_of_its_kind() {
    let world = World::new();
    let result = world.mended();
    world.edit("120");
    let (repair, restore) = (world.repair(result), prepared(&world, result, 1));
    world.apply(&repair).expect("applied");
    let next = prepared(&world, result, 1);
    assert!(matches!(
        world.state(restore.proposal_id),
        ProposalState::Superseded(_, by) if by == next.proposal_id
    ));
    assert_eq!(world.apply(&next).expect("applied").revision, RevisionNo(4));
}

/// What restoring revision 1 over 2 comes to when something happens right after its look.
fn meanwhile(
    happen: impl FnOnce(&work_core::workspace::Workspace, ResultId) + Send + 'static,
) -> Result<Option<RevisionNo>, RestoreError> {
    let (world, door) = World::with_meanwhile();
    let result = world.mended();
    let other = world.other_process(world.door.clone(), 1000);
    door.after_looks(1, move || happen(&other, result));
    world.restore(result, 1).map(|restore| restore.proposal.base_revision)
}

// spec: H3
#[test]
fn a_restore_is_decided_on_what_is_true_when_it_is_written() {
    let accepted = meanwhile(|other, result| {
        let restore = other.restore(result, RevisionNo(1), &mut Quiet).expect("prepared").proposal;
        let presented = restore.fingerprint.expect("visible");
        let channel = work_core::proposal::Channel::Cli;
        other.apply(restore.proposal_id, presented, channel, &mut Quiet).expect("applied");
    });
    assert_eq!(accepted, Ok(Some(RevisionNo(3))));
    let root = || HostPath::from_bytes("/handbook");
    let withdrawn = meanwhile(move |other, _| {
        other.revoke(&FolderName::Root(root())).expect("revoked");
    });
    assert_eq!(withdrawn, Err(RestoreError::Withheld(Withheld::AccessRemoved)));
    let anew = meanwhile(move |other, _| {
        other.revoke(&FolderName::Root(root())).expect("revoked");
        other.approve(&root(), None, &mut Quiet).expect("approved");
    });
    assert_eq!(anew, Err(RestoreError::RefreshIncomplete));
}
