//! Comparisons: an earlier revision beside the accepted one.

use crate::world::{BACKUPS, ELSEWHERE, FILE, TROUBLES, World, texts};
use work_core::code::{Code, Coded};
use work_core::document::wire::{ComparisonDoc, ContentDoc};
use work_core::id::ResultId;
use work_core::port::Quiet;
use work_core::redact::Withheld;
use work_core::result::{ResultState, RevisionNo};
use work_core::workspace::{ShowError, StateFilter};

fn compare(world: &World, result: ResultId, no: u64) -> Result<ComparisonDoc, ShowError> {
    world.work.compare(result, RevisionNo(no), &mut Quiet)
}

fn compared(world: &World, result: ResultId, no: u64) -> ComparisonDoc {
    compare(world, result, no).expect("compared")
}

fn says(side: &ContentDoc) -> Vec<&str> {
    side.body.excerpts.iter().map(|excerpt| excerpt.text.as_str()).collect()
}

// spec: H2
// spec: J7
#[test]
fn a_comparison_shows_both_bodies_and_their_difference() {
    let world = World::new();
    let report = world.stale();
    let result = report.artifact_id;
    let applied = world.mend(result);
    let shown = compared(&world, result, 1);
    assert_eq!(shown.artifact_id, result);
    assert_eq!(shown.accepted_revision, Some(RevisionNo(2)));
    assert_eq!(shown.selected_revision, RevisionNo(1));
    assert_eq!((shown.can_restore, shown.rejection_reason), (true, None));
    let (accepted, selected) = (shown.accepted.expect("one"), shown.selected.expect("one"));
    assert_eq!((accepted.revision, accepted.digest), (Some(RevisionNo(2)), applied.digest));
    assert_eq!(says(&accepted), ["Backups are kept for 90 days."]);
    assert_eq!((selected.revision, says(&selected)), (Some(RevisionNo(1)), texts(&report)));
    assert_eq!(selected.verification, report.verification);
    assert_eq!(selected.scan, report.scan);
    let difference = shown.difference.expect("one");
    assert!(difference.unified.contains("35 days") && difference.unified.contains("90 days"));
    assert!(!difference.hunks.is_empty());
}

// spec: H2
#[test]
fn the_state_is_what_the_earlier_revision_is_worth_now() {
    let world = World::new();
    let result = world.mended();
    assert_eq!(compared(&world, result, 1).state, ResultState::Stale);
    world.edit("35");
    assert_eq!(compared(&world, result, 1).state, ResultState::SourcesChecked);
    assert_eq!(compared(&world, result, 2).state, ResultState::Stale);
}

// spec: H2
#[test]
fn the_accepted_revision_beside_itself_differs_in_nothing_and_is_not_restored() {
    let world = World::new();
    let result = world.mended();
    let shown = compared(&world, result, 2);
    assert_eq!((shown.can_restore, shown.rejection_reason), (false, Some("already_accepted")));
    assert_eq!(shown.accepted, shown.selected);
    let difference = shown.difference.expect("one");
    assert_eq!((difference.unified.as_str(), difference.hunks.len()), ("", 0));
}

// spec: H2
#[test]
fn a_revision_that_rests_on_another_file_is_compared() {
    let world = World::new();
    let result = world.moved_on();
    let shown = compared(&world, result, 1);
    assert_eq!((shown.state, shown.can_restore), (ResultState::Stale, true));
    assert_eq!(says(&shown.accepted.expect("one")), ["Backups elsewhere."]);
}

#[test]
fn what_is_not_there_is_not_compared() {
    let world = World::new();
    let result = world.mended();
    for no in [0, 3, u64::MAX] {
        assert_eq!(compare(&world, result, no), Err(ShowError::UnknownRevision(RevisionNo(no))));
    }
    let unknown = compare(&world, ResultId::from_bytes([9; 16]), 1).expect_err("unknown");
    assert_eq!((unknown, unknown.code()), (ShowError::Unknown, Code::NotFound));
}

/// A comparison that shows nothing of either body.
#[track_caller]
fn check_withheld(
    shown: &ComparisonDoc,
    result: ResultId,
    no: u64,
    state: ResultState,
    why: Withheld,
) {
    let expected = ComparisonDoc {
        artifact_id: result,
        accepted_revision: None,
        selected_revision: RevisionNo(no),
        state,
        can_restore: false,
        rejection_reason: Some(why.as_str()),
        accepted: None,
        selected: None,
        difference: None,
    };
    assert_eq!(*shown, expected);
}

// spec: H2
#[test]
fn a_source_of_either_body_that_cannot_be_read_leaves_nothing_but_the_state() {
    for (file, own) in [(FILE, true), (ELSEWHERE, false)] {
        for &(what, happen, why) in TROUBLES {
            let world = World::new();
            let result = world.moved_on();
            happen(&world, file);
            let state = match (what, own) {
                ("missing" | "unstable", _) => ResultState::Stale,
                _ => why.state(),
            };
            check_withheld(&compared(&world, result, 1), result, 1, state, why);
            let told = serde_json::to_string(&compared(&world, result, 1)).expect("JSON");
            for trace in ["35 days", "it/backups", "z.md", "elsewhere", "digest"] {
                assert!(!told.contains(trace), "{file} is {what}: {trace}");
            }
        }
    }
}

// spec: H2
#[test]
fn a_source_that_can_be_read_again_shows_both_bodies_again() {
    let world = World::new();
    let result = world.moved_on();
    let before = compared(&world, result, 1);
    world.door.remove(FILE);
    assert_eq!(compared(&world, result, 1).difference, None);
    world.door.put(FILE, "Nothing of the kind.\n");
    assert_eq!(compared(&world, result, 1), before);
    world.revoke("/handbook");
    assert_eq!(compared(&world, result, 1).difference, None);
    world.approve("/handbook");
    assert_eq!(compared(&world, result, 1), before);
}

// spec: R2
#[test]
fn a_hidden_result_answers_for_revisions_that_are_not_there_as_for_those_that_are() {
    for (happen, why) in [
        ((|world| drop(world.revoke("/handbook"))) as fn(&World), Withheld::AccessRemoved),
        (|world| world.door.make_unreachable("/handbook"), Withheld::EvidenceUnavailable),
    ] {
        let world = World::new();
        let result = world.mended();
        happen(&world);
        for no in [0, 1, 2, 3, u64::MAX] {
            check_withheld(&compared(&world, result, no), result, no, why.state(), why);
        }
    }
}

// spec: R2
#[test]
fn a_hidden_result_does_not_tell_that_an_earlier_revision_is_hidden_for_another_reason() {
    let world = World::new();
    let result = world.moved_on();
    world.door.make_unreachable(ELSEWHERE);
    world.door.deny(FILE);
    let why = Withheld::EvidenceUnavailable;
    for no in [1, 2, 3] {
        let shown = world.work.show(result, Some(RevisionNo(no)), &mut Quiet).expect("a stub");
        assert_eq!((no, shown.state), (no, why.state()));
        let one = world.work.revision(result, RevisionNo(no), &mut Quiet).expect("a stub");
        assert_eq!((no, one.state), (no, why.state()));
        let exported = world.work.export(result, Some(RevisionNo(no)), &mut Quiet);
        assert_eq!(exported.expect_err("hidden").code(), Code::EvidenceUnavailable, "{no}");
        check_withheld(&compared(&world, result, no), result, no, why.state(), why);
        let restored = world.restore(result, no).expect_err("hidden");
        assert_eq!(restored.code(), Code::EvidenceUnavailable, "{no}");
    }
}

// spec: O2
#[test]
fn a_comparison_keeps_its_look_and_writes_nothing_else() {
    let world = World::new();
    let result = world.mended();
    world.edit("120");
    let events = world.events();
    compared(&world, result, 1);
    assert_eq!(world.events(), events);
    let listed = world.work.list(StateFilter::All, None).expect("a list").results.remove(0);
    assert_eq!(listed.state, ResultState::Stale);
    world.written();
    compared(&world, result, 1);
    assert_eq!(world.written().len(), 0, "nothing is new");
}

// spec: H2
#[test]
fn both_bodies_and_the_accepted_number_are_of_one_moment() {
    let (world, door) = World::with_meanwhile();
    let result = world.mended();
    world.door.put(FILE, BACKUPS.replace("35", "120"));
    let repair = world.repair(result);
    let other = world.other_process(world.door.clone(), 1000);
    let presented = repair.fingerprint.expect("visible");
    door.after_looks(1, move || {
        let channel = work_core::proposal::Channel::Cli;
        other.apply(repair.proposal_id, presented, channel, &mut Quiet).expect("applied");
    });
    let shown = compared(&world, result, 2);
    assert_eq!(shown.accepted_revision, Some(RevisionNo(3)));
    let (accepted, selected) = (shown.accepted.expect("one"), shown.selected.expect("one"));
    assert_eq!(says(&accepted), ["Backups are kept for 120 days."]);
    assert_eq!(says(&selected), ["Backups are kept for 90 days."]);
    assert_eq!((shown.can_restore, shown.rejection_reason), (true, None));
}
