//! Histories, single revisions, exports, and the list of proposals.

use crate::world::{FILE, World, texts};
use work_core::code::{Code, Coded};
use work_core::document::export::{self, ExportDoc};
use work_core::document::wire::{HistoryDoc, RevisionEntry};
use work_core::folder::Grant;
use work_core::id::ResultId;
use work_core::limits::Limits;
use work_core::port::Quiet;
use work_core::redact::Withheld;
use work_core::result::{ResultState, RevisionNo};
use work_core::verify::verify;
use work_core::workspace::{
    ExportError, HistoryError, ListError, ShowError, StateFilter, Workspace,
};

fn history(world: &World, result: ResultId) -> HistoryDoc {
    world.work.history(result, None, &mut Quiet).expect("a history")
}

fn numbers(history: &HistoryDoc) -> Vec<u64> {
    let entries = history.revisions.as_ref().expect("visible");
    entries.iter().map(|entry| entry.revision.0).collect()
}

/// A result with three revisions, of which the last brings the first back.
fn restored(world: &World) -> ResultId {
    let result = world.stale().artifact_id;
    world.pass(10);
    world.mend(result);
    world.pass(10);
    let restore = world.restore(result, 1).expect("prepared").proposal;
    world.apply(&restore).expect("applied");
    result
}

// spec: H1
// spec: J7
#[test]
fn a_history_tells_the_latest_revision_first_and_where_each_came_from() {
    let world = World::new();
    let result = restored(&world);
    let told = history(&world, result);
    assert_eq!((told.artifact_id, told.total, &told.next), (result, Some(3), &None));
    assert_eq!((told.state, numbers(&told)), (ResultState::Stale, vec![3, 2, 1]));
    let entries = told.revisions.expect("visible");
    let [third, second, first] = &*entries else { panic!("three") };
    assert_eq!((third.restored_from, third.run), (Some(RevisionNo(1)), None));
    assert_eq!((second.restored_from, first.restored_from), (None, None));
    assert!(first.run.is_some() && second.run.is_some() && first.run != second.run);
    assert_eq!((third.digest, third.state), (first.digest, ResultState::Stale));
    assert_ne!(second.digest, first.digest);
    assert_eq!(second.state, ResultState::SourcesChecked);
    let times: Vec<_> = entries.iter().map(|one| one.created_at.expect("visible")).collect();
    assert!(times.is_sorted_by(|later, earlier| later > earlier), "{times:?}");
}

/// The numbers of a whole history, two revisions at a time.
fn pages(work: &Workspace, result: ResultId) -> Vec<u64> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = work.history(result, cursor.as_deref(), &mut Quiet).expect("a page");
        let listed = numbers(&page);
        assert!((1..=2).contains(&listed.len()));
        assert_eq!(page.total, Some(5));
        all.extend(listed);
        cursor = page.next;
        if cursor.is_none() {
            return all;
        }
    }
}

fn two_at_a_time() -> World {
    World::new().limited(Limits { list: 2, ..Limits::standard() })
}

// spec: A7
#[test]
fn a_history_goes_on_where_the_page_before_ended() {
    let world = two_at_a_time();
    let result = restored(&world);
    for no in [2, 1] {
        let restore = world.restore(result, no).expect("prepared").proposal;
        world.apply(&restore).expect("applied");
    }
    assert_eq!(pages(&world.work, result), [5, 4, 3, 2, 1]);
    let one = world.work.revision(result, RevisionNo(1), &mut Quiet).expect("by its number");
    assert_eq!(one.revision, Some(RevisionNo(1)));
}

// spec: A7
#[test]
fn a_cursor_is_refused_by_every_other_list() {
    let world = two_at_a_time();
    let one = restored(&world);
    world.edit("35");
    let other = restored(&world);
    world.report("backups");
    let history = |result, cursor: &str| world.work.history(result, Some(cursor), &mut Quiet);
    let mine = world.work.history(one, None, &mut Quiet).expect("a page").next.expect("more");
    let proposals = world.work.proposals(None).expect("a page").next.expect("more");
    let results = world.work.list(StateFilter::All, None).expect("a page").next.expect("more");
    let tasks = world.work.tasks(None).expect("a page").next.expect("more");
    assert!(history(one, &mine).is_ok() && world.work.proposals(Some(&proposals)).is_ok());
    let foreign = [&proposals, &results, &tasks, "", "history", "history.", &format!("{mine}x")];
    for cursor in foreign {
        let refused = history(one, cursor);
        assert_eq!(refused, Err(HistoryError::InvalidCursor), "{cursor}");
        assert_eq!(HistoryError::InvalidCursor.code(), Code::InvalidCursor);
    }
    assert_eq!(history(other, &mine), Err(HistoryError::InvalidCursor));
    for cursor in [&mine, &results, &tasks, "", "proposals."] {
        let refused = world.work.proposals(Some(cursor));
        assert_eq!(refused, Err(ListError::InvalidCursor), "{cursor}");
    }
    for cursor in [&mine, &proposals] {
        let refused = world.work.list(StateFilter::All, Some(cursor));
        assert_eq!(refused, Err(ListError::InvalidCursor));
        assert_eq!(world.work.tasks(Some(cursor)), Err(ListError::InvalidCursor));
    }
}

#[test]
fn what_is_not_there_has_no_history() {
    let world = World::new();
    let nothing = ResultId::from_bytes([9; 16]);
    let unknown = world.work.history(nothing, None, &mut Quiet).expect_err("unknown");
    assert_eq!((unknown, unknown.code()), (HistoryError::Unknown, Code::NotFound));
}

// spec: R2
#[test]
fn a_hidden_result_tells_no_revision_and_not_how_many_there_are() {
    for (happen, state) in [
        ((|world| drop(world.revoke("/handbook"))) as fn(&World), ResultState::AccessRemoved),
        (|world| world.door.make_unreachable("/handbook"), ResultState::EvidenceUnavailable),
    ] {
        let world = two_at_a_time();
        let result = restored(&world);
        let before = history(&world, result);
        happen(&world);
        let hidden =
            HistoryDoc { artifact_id: result, state, revisions: None, total: None, next: None };
        assert_eq!(history(&world, result), hidden);
        world.door.heal("/handbook");
        world.approve("/handbook");
        assert_eq!(history(&world, result), before);
    }
}

// spec: R2
#[test]
fn an_earlier_revision_that_rests_on_what_is_hidden_tells_only_its_number() {
    let world = World::new();
    let result = world.moved_on();
    world.change_rules("/handbook", &["it"]);
    let told = history(&world, result);
    assert_eq!((told.state, told.total), (ResultState::SourcesChecked, Some(2)));
    let [second, first] = &*told.revisions.expect("visible") else { panic!("two") };
    assert!(second.digest.is_some() && second.created_at.is_some() && second.run.is_some());
    let state = ResultState::AccessRemoved;
    let hidden = RevisionEntry {
        revision: RevisionNo(1),
        created_at: None,
        digest: None,
        run: None,
        restored_from: None,
        state,
    };
    assert_eq!(*first, hidden);
    let shown = world.work.revision(result, RevisionNo(1), &mut Quiet).expect("a stub");
    assert_eq!((shown.revision, shown.state, &shown.body), (None, state, &None));
    let exported = world.work.export(result, Some(RevisionNo(1)), &mut Quiet);
    assert_eq!(exported, Err(ExportError::Withheld(Withheld::AccessRemoved)));
}

// spec: J7
#[test]
fn one_revision_is_shown_with_all_of_it() {
    let world = World::new();
    let report = world.stale();
    let result = report.artifact_id;
    world.mend(result);
    let restore = world.restore(result, 1).expect("prepared").proposal;
    world.apply(&restore).expect("applied");
    let entries = history(&world, result).revisions.expect("visible");
    for entry in entries {
        let one = world.work.revision(result, entry.revision, &mut Quiet).expect("shown");
        assert_eq!((one.artifact_id, one.revision), (result, Some(entry.revision)));
        assert_eq!((one.created_at, one.digest), (entry.created_at, entry.digest));
        assert_eq!((one.run, one.restored_from), (entry.run, entry.restored_from));
        assert_eq!(one.state, entry.state);
        let body = one.body.expect("visible");
        let text = if entry.revision.0 == 2 { "90" } else { "35" };
        assert!(body.excerpts[0].text.contains(text));
        if entry.revision.0 != 2 {
            assert_eq!(
                (one.scan, one.verification),
                (report.scan.clone(), report.verification.clone())
            );
        }
    }
}

// spec: R2
#[test]
fn a_revision_that_is_not_there_is_unknown_unless_its_result_is_hidden() {
    let world = World::new();
    let result = world.mended();
    let one = |no| world.work.revision(result, RevisionNo(no), &mut Quiet);
    assert_eq!(one(3), Err(ShowError::UnknownRevision(RevisionNo(3))));
    assert_eq!(one(0), Err(ShowError::UnknownRevision(RevisionNo(0))));
    world.revoke("/handbook");
    let hidden = one(1).expect("a stub");
    assert_eq!((hidden.revision, hidden.state), (None, ResultState::AccessRemoved));
    assert_eq!((hidden.created_at, hidden.digest, hidden.run), (None, None, None));
    assert_eq!((&hidden.body, &hidden.scan, &hidden.verification), (&None, &None, &None));
    for no in [0, 2, 3] {
        assert_eq!(one(no).expect("a stub"), hidden, "{no}");
    }
}

fn export(world: &World, result: ResultId, no: Option<u64>) -> Result<ExportDoc, ExportError> {
    world.work.export(result, no.map(RevisionNo), &mut Quiet)
}

/// Reads an export back, as bytes alone.
fn read(export: &ExportDoc) -> export::Exported {
    let bytes = serde_json::to_vec(export).expect("JSON");
    export::read(&bytes, &Limits::standard()).expect("an export")
}

/// The verdict on each quotation of an export.
fn verdicts(world: &World, export: &ExportDoc) -> Vec<&'static str> {
    let folders = world.snapshot().folders().expect("folders");
    let labelled = |grant: Grant| (grant.label.clone(), grant);
    let grants: Vec<_> = folders.into_iter().map(|kept| labelled(kept.value)).collect();
    let limits = Limits::standard();
    let checked = verify(&*world.door, &grants, &read(export), &limits, &mut Quiet);
    assert_eq!(checked.passed, checked.quotations.iter().all(|one| one.verdict == "intact"));
    checked.quotations.iter().map(|one| one.verdict).collect()
}

// spec: X1
#[test]
fn an_export_of_any_revision_is_read_back_and_verified() {
    let world = World::new();
    let result = restored(&world);
    for (no, accepted, restored_from, verdict) in [
        (None, 3, Some(1), "altered"),
        (Some(1), 1, None, "altered"),
        (Some(2), 2, None, "intact"),
        (Some(3), 3, Some(1), "altered"),
    ] {
        let exported = export(&world, result, no).expect("exported");
        let back = read(&exported);
        assert_eq!((back.artifact_id(), back.revision()), (result, RevisionNo(accepted)));
        assert_eq!(exported.revision.restored_from, restored_from.map(RevisionNo));
        assert_eq!(back.query(), "backups");
        assert_eq!(verdicts(&world, &exported), [verdict]);
        let shown = world.work.show(result, no.map(RevisionNo), &mut Quiet).expect("shown");
        let said: Vec<_> = exported.quotations.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((said, exported.state), (texts(&shown), shown.state));
        assert_eq!((exported.verification, exported.scan), (shown.verification, shown.scan));
    }
}

// spec: X1
// spec: D4
#[test]
fn an_export_carries_the_head_of_the_log() {
    let world = World::new();
    let result = world.mended();
    let exported = export(&world, result, None).expect("exported");
    let doctor = world.work.doctor().expect("looks");
    assert_eq!(Some(exported.log.events), doctor.events);
    assert_eq!(Some(exported.log.chain), doctor.chain);
}

// spec: X2
#[test]
fn a_hidden_result_exports_nothing_and_says_its_state() {
    for (happen, why, code) in [
        (
            (|world| drop(world.revoke("/handbook"))) as fn(&World),
            Withheld::AccessRemoved,
            Code::AccessRemoved,
        ),
        (
            |world| world.door.make_unreachable("/handbook"),
            Withheld::EvidenceUnavailable,
            Code::EvidenceUnavailable,
        ),
    ] {
        let world = World::new();
        let result = world.mended();
        happen(&world);
        for no in [None, Some(1), Some(2), Some(3)] {
            let refused = export(&world, result, no).expect_err("hidden");
            assert_eq!((refused, refused.code()), (ExportError::Withheld(why), code), "{no:?}");
        }
    }
}

// spec: X1
#[test]
fn what_is_not_there_is_not_exported() {
    let world = World::new();
    let result = world.mended();
    let unknown = ExportError::Show(ShowError::UnknownRevision(RevisionNo(3)));
    assert_eq!(export(&world, result, Some(3)), Err(unknown));
    assert_eq!(unknown.code(), Code::NotFound);
    let nothing = export(&world, ResultId::from_bytes([9; 16]), None);
    assert_eq!(nothing, Err(ExportError::Show(ShowError::Unknown)));
}

// spec: O3
// spec: X1
#[test]
fn a_missing_source_leaves_the_body_to_be_exported() {
    let world = World::new();
    let result = world.mended();
    world.door.remove(FILE);
    let exported = export(&world, result, None).expect("exported");
    assert_eq!(exported.state, ResultState::Stale);
    assert_eq!(verdicts(&world, &exported), ["gone"]);
}

// spec: J3
// spec: R2
#[test]
fn an_export_tells_nothing_of_a_folder_that_was_searched_in_vain_and_withdrawn() {
    let exported = |secret: &str| {
        let world = World::new();
        world.door.put("/notes/old.md", secret);
        world.approve("/notes");
        let result = world.report("backups days").artifact_id;
        world.revoke("/notes");
        let exported = export(&world, result, None).expect("exported");
        assert_eq!(verdicts(&world, &exported), ["intact"]);
        let scan = exported.scan.as_ref().expect("in part");
        assert_eq!((scan.folders.len(), scan.elapsed_ms), (1, None));
        assert_eq!(exported.stored.scan, None);
        serde_json::to_string(&exported).expect("JSON")
    };
    assert_eq!(exported("x\n"), exported("Quite another and longer text.\n"));
}

// spec: J8
// spec: A7
#[test]
fn the_latest_proposals_are_listed_first_with_all_but_their_bodies() {
    let world = two_at_a_time();
    let result = world.mended();
    let restore = world.restore(result, 1).expect("prepared").proposal;
    world.edit("120");
    let repair = world.repair(result);
    let page = world.work.proposals(None).expect("a page");
    let listed: Vec<_> = page.proposals.iter().map(|one| one.proposal_id).collect();
    assert_eq!(listed, [repair.proposal_id, restore.proposal_id]);
    let first = &page.proposals[0];
    assert_eq!((first.kind, first.state), (repair.kind, repair.state));
    assert_eq!((first.fingerprint, first.expires_at), (repair.fingerprint, repair.expires_at));
    assert_eq!((first.can_apply, first.result_state), (repair.can_apply, repair.result_state));
    assert_eq!((first.base_revision, first.created_at), (repair.base_revision, repair.created_at));
    let next = world.work.proposals(page.next.as_deref()).expect("a page");
    assert_eq!((next.proposals.len(), next.proposals[0].state), (1, "applied"));
    assert_eq!(next.next, None);
}

// spec: R2
#[test]
fn a_list_of_proposals_leaves_hidden_ones_out_and_goes_on_behind_them() {
    let world = two_at_a_time();
    let open = world.moved_on();
    let waiting = world.restore(open, 1).expect("prepared").proposal.proposal_id;
    let hidden = world.report("leave").artifact_id;
    for text in ["Leave one.\n", "Leave two.\n"] {
        world.door.put("/handbook/people/leave.md", text);
        world.repair(hidden);
    }
    world.change_rules("/handbook", &["people"]);
    let page = world.work.proposals(None).expect("a page");
    assert_eq!(page.proposals, []);
    let next = world.work.proposals(page.next.as_deref()).expect("a page");
    assert_eq!(next.proposals[0].proposal_id, waiting);
}
