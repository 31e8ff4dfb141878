//! Applying: the single use of an approval, or a reason and nothing else.

use crate::world::{BACKUPS, ELSEWHERE, FILE, World, files, texts};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use work_core::code::{Code, Coded};
use work_core::digest::Digest;
use work_core::document::wire::{AppliedDoc, ProposalDoc};
use work_core::id::{ProposalId, ResultId};
use work_core::path::HostPath;
use work_core::port::{Batch, Note, Put, Quiet, Quotations, Results, Revisions, StoreError};
use work_core::proposal::{Approval, Channel, Fingerprint, ProposalState, Refusal};
use work_core::result::{Origin, ResultState, RevisionNo};
use work_core::testkit::fakes::{Doubt, Fault};
use work_core::workspace::{ApplyError, Failure, FolderName, Workspace};

const SYNC: StoreError = StoreError::Io("sync");
const HOUR: Duration = Duration::from_secs(3600);

/// A result with two revisions, for which a repair and a restore wait.
struct Waiting {
    world: World,
    result: ResultId,
    repair: ProposalDoc,
    restore: ProposalDoc,
}

impl Waiting {
    fn new() -> Self {
        let world = World::new();
        let result = world.mended();
        world.edit("120");
        let repair = world.repair(result);
        let restore = world.restore(result, 1).expect("prepared").proposal;
        Self { world, result, repair, restore }
    }

    fn present(&self, fingerprint: Fingerprint) -> Result<AppliedDoc, ApplyError> {
        let id = self.repair.proposal_id;
        self.world.work.apply(id, fingerprint, Channel::Library, &mut Quiet)
    }

    fn shown(&self) -> Fingerprint {
        self.repair.fingerprint.expect("visible")
    }
}

const OTHER: Fingerprint = Fingerprint(Digest::from_bytes([9; 32]));

/// What happens before a proposal is applied.
type Happen = fn(&Waiting);

fn edit(waiting: &Waiting) {
    waiting.world.edit("200");
}

fn apply_the_restore(waiting: &Waiting) {
    waiting.world.apply(&waiting.restore).expect("applied");
}

fn lose_the_file(waiting: &Waiting) {
    waiting.world.door.make_unreachable(FILE);
}

fn revoke(waiting: &Waiting) {
    waiting.world.revoke("/handbook");
}

fn slow_down(waiting: &Waiting) {
    waiting.world.door.slow_down(FILE, Duration::from_secs(31));
}

fn expire(waiting: &Waiting) {
    waiting.world.pass(3600);
}

fn reboot_with_a_clock_behind(waiting: &Waiting) {
    waiting.world.clock.set_back(Duration::from_secs(10));
    waiting.world.clock.reboot();
}

fn dismiss(waiting: &Waiting) {
    waiting.world.work.dismiss(waiting.repair.proposal_id).expect("dismissed");
}

fn repair_again(waiting: &Waiting) {
    waiting.world.repair(waiting.result);
}

fn apply(waiting: &Waiting) {
    waiting.world.apply(&waiting.repair).expect("applied");
}

/// Every way to each reason, with the code that is told.
const REASONS: &[(Happen, Refusal, Code)] = &[
    (apply, Refusal::AlreadyUsed, Code::AlreadyUsed),
    (repair_again, Refusal::Superseded, Code::Superseded),
    (dismiss, Refusal::Dismissed, Code::Dismissed),
    (expire, Refusal::Expired, Code::Expired),
    (reboot_with_a_clock_behind, Refusal::Expired, Code::Expired),
    (revoke, Refusal::AccessRemoved, Code::AccessRemoved),
    (|one| one.world.door.deny(FILE), Refusal::AccessRemoved, Code::AccessRemoved),
    (
        |one| drop(one.world.change_rules("/handbook", &["it"])),
        Refusal::AccessRemoved,
        Code::AccessRemoved,
    ),
    (|one| one.world.door.replace_folder("/handbook"), Refusal::AccessRemoved, Code::AccessRemoved),
    (lose_the_file, Refusal::EvidenceUnavailable, Code::EvidenceUnavailable),
    (
        |one| one.world.door.make_unreachable("/handbook"),
        Refusal::EvidenceUnavailable,
        Code::EvidenceUnavailable,
    ),
    (|one| one.world.door.remove(FILE), Refusal::EvidenceUnavailable, Code::EvidenceUnavailable),
    (
        |one| one.world.door.make_unstable(FILE),
        Refusal::EvidenceUnavailable,
        Code::EvidenceUnavailable,
    ),
    (apply_the_restore, Refusal::RevisionChanged, Code::RevisionChanged),
    (edit, Refusal::SourcesChanged, Code::SourcesChanged),
];

/// Tries to apply, and tells how many events that wrote. Nothing but events and looks may be written.
#[track_caller]
fn refused(waiting: &Waiting, presented: Fingerprint, expected: Refusal) -> u64 {
    let Waiting { world, .. } = waiting;
    let (before, events) = (world.records(), world.events());
    world.written();
    assert_eq!(waiting.present(presented), Err(ApplyError::Refused(expected)));
    assert_eq!(world.records(), before, "{expected:?} left everything as it was");
    let batches = world.written();
    assert!(batches.len() <= 1, "one commit at most");
    assert!(batches.iter().filter_map(|batch| batch.act.as_ref()).all(|act| act.puts.is_empty()));
    world.events() - events
}

/// Refused with an event, with none within the minute after it, and with one again after that.
#[track_caller]
fn check(waiting: &Waiting, presented: Fingerprint, expected: Refusal, code: Code) {
    let Waiting { world, .. } = waiting;
    let events = world.events();
    assert_eq!(refused(waiting, presented, expected), 1, "{expected:?}");
    assert_eq!(refused(waiting, presented, expected), 0, "{expected:?} at once again");
    world.pass(59);
    assert_eq!(refused(waiting, presented, expected), 0, "{expected:?} within the minute");
    world.pass(1);
    assert_eq!(refused(waiting, presented, expected), 1, "{expected:?} after the minute");
    assert_eq!((expected.code(), code), (code, code));
    let told = world.work.log(events).expect("a log").events.remove(0);
    assert_eq!(told.kind.as_deref(), Some("proposal_refused"));
    assert_eq!(told.ids["proposal"], waiting.repair.proposal_id.to_string());
    assert_eq!(told.ids["reason"], code.as_str());
    assert_eq!(told.ids.len(), 2);
}

// spec: P6
#[test]
fn each_refusal_leaves_everything_as_it_was_and_is_an_event_once_a_minute() {
    for &(happen, expected, code) in REASONS {
        let waiting = Waiting::new();
        happen(&waiting);
        check(&waiting, waiting.shown(), expected, code);
    }
}

// spec: P6
#[test]
fn another_fingerprint_is_told_first_whatever_became_of_the_proposal() {
    let nothing: &[(Happen, Refusal, Code)] = &[(|_| (), Refusal::Expired, Code::Expired)];
    for &(happen, ..) in REASONS.iter().chain(nothing) {
        let waiting = Waiting::new();
        happen(&waiting);
        check(&waiting, OTHER, Refusal::FingerprintMismatch, Code::FingerprintMismatch);
    }
}

// spec: P6
#[test]
fn the_fingerprint_of_another_proposal_is_not_this_one() {
    let waiting = Waiting::new();
    let others = waiting.restore.fingerprint.expect("visible");
    assert_eq!(refused(&waiting, others, Refusal::FingerprintMismatch), 1);
}

// spec: O1
#[test]
fn a_source_that_was_not_reached_in_time_is_refused_without_an_event() {
    let waiting = Waiting::new();
    slow_down(&waiting);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::RefreshIncomplete), 0);
    assert_eq!(Refusal::RefreshIncomplete.code(), Code::RefreshIncomplete);
    waiting.world.door.slow_down(FILE, Duration::ZERO);
    waiting.present(waiting.shown()).expect("applied");
}

// spec: P6
#[test]
fn an_unknown_id_is_not_found_and_no_event() {
    let waiting = Waiting::new();
    let Waiting { world, .. } = &waiting;
    world.written();
    let unknown = ProposalId::from_bytes([7; 16]);
    let apply = world.work.apply(unknown, waiting.shown(), Channel::Http, &mut Quiet);
    assert_eq!(
        (apply.clone(), apply.expect_err("unknown").code()),
        (Err(ApplyError::Unknown), Code::NotFound)
    );
    assert_eq!(world.work.dismiss(unknown), Err(ApplyError::Unknown));
    assert_eq!(world.written().len(), 0);
}

/// What is told when all of this happened, one after the other.
#[track_caller]
fn told_first(happen: &[Happen], expected: Refusal) {
    let waiting = Waiting::new();
    happen.iter().for_each(|happen| happen(&waiting));
    assert_eq!(waiting.present(waiting.shown()), Err(ApplyError::Refused(expected)));
    assert_eq!(
        waiting.present(OTHER),
        Err(ApplyError::Refused(Refusal::FingerprintMismatch)),
        "{expected:?}"
    );
}

// spec: P6
#[test]
fn of_several_reasons_the_first_is_told() {
    told_first(&[edit], Refusal::SourcesChanged);
    told_first(&[apply_the_restore, edit], Refusal::RevisionChanged);
    told_first(&[apply_the_restore, edit, lose_the_file], Refusal::EvidenceUnavailable);
    told_first(&[apply_the_restore, edit, slow_down], Refusal::RefreshIncomplete);
    told_first(&[apply_the_restore, lose_the_file, revoke], Refusal::AccessRemoved);
    told_first(&[apply_the_restore, slow_down, revoke], Refusal::AccessRemoved);
    let everything: [Happen; 5] = [apply_the_restore, edit, lose_the_file, revoke, expire];
    told_first(&everything, Refusal::Expired);
    told_first(&[dismiss, apply_the_restore, edit, revoke, expire], Refusal::Dismissed);
    told_first(&[repair_again, apply_the_restore, edit, revoke, expire], Refusal::Superseded);
    told_first(&[apply, edit, lose_the_file, revoke, expire], Refusal::AlreadyUsed);
}

// spec: P6
#[test]
fn other_reasons_of_one_proposal_are_events_of_their_own_within_the_minute() {
    let waiting = Waiting::new();
    edit(&waiting);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::SourcesChanged), 1);
    assert_eq!(refused(&waiting, OTHER, Refusal::FingerprintMismatch), 1);
    lose_the_file(&waiting);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::EvidenceUnavailable), 1);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::EvidenceUnavailable), 0);
    revoke(&waiting);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::AccessRemoved), 1);
    dismiss(&waiting);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::Dismissed), 1);
    assert_eq!(refused(&waiting, OTHER, Refusal::FingerprintMismatch), 0);
}

/// The proposal that quotes another file than the accepted revision, whose own file is missing, after something else
/// happened to it.
#[track_caller]
fn with_a_source_bound_as_missing(happen: fn(&World), expected: Result<u64, Refusal>) {
    let world = World::new();
    let result = world.report("backups").artifact_id;
    world.door.put(ELSEWHERE, "Backups elsewhere.\n");
    world.door.remove(FILE);
    let proposal = world.repair(result);
    happen(&world);
    let applied = world.apply(&proposal).map(|applied| applied.revision.0);
    assert_eq!(applied, expected.map_err(ApplyError::Refused));
}

// spec: P5
#[test]
fn a_source_of_the_accepted_body_must_be_as_it_was_bound() {
    with_a_source_bound_as_missing(|_| (), Ok(2));
    let back = |world: &World| world.door.put(FILE, BACKUPS);
    with_a_source_bound_as_missing(back, Err(Refusal::SourcesChanged));
    let restless = |world: &World| {
        world.door.put(FILE, BACKUPS);
        world.door.make_unstable(FILE);
    };
    with_a_source_bound_as_missing(restless, Err(Refusal::SourcesChanged));
    let lost = |world: &World| world.door.make_unreachable("/handbook/it");
    with_a_source_bound_as_missing(lost, Err(Refusal::EvidenceUnavailable));
    let shut = |world: &World| world.door.deny("/handbook/it");
    with_a_source_bound_as_missing(shut, Err(Refusal::AccessRemoved));
    let other = |world: &World| world.door.put(ELSEWHERE, "Backups elsewhere now.\n");
    with_a_source_bound_as_missing(other, Err(Refusal::SourcesChanged));
}

// spec: P5
#[test]
fn applying_is_one_commit_with_all_that_belongs_to_it() {
    for channel in [Channel::Cli, Channel::Http, Channel::Library] {
        let world = World::new();
        let result = world.stale().artifact_id;
        let proposal = world.repair(result);
        let presented = proposal.fingerprint.expect("visible");
        world.pass(100);
        let events = world.events();
        world.written();
        let applied = world
            .work
            .apply(proposal.proposal_id, presented, channel, &mut Quiet)
            .expect("applied");
        let batches = world.written();
        assert_eq!(batches.len(), 1, "one commit");
        assert_eq!(world.kinds_after(events), ["proposal_applied"]);
        let at = applied.created_at;
        let approval =
            Approval { fingerprint: presented, proposal: proposal.proposal_id, channel, at };
        assert_eq!(approvals(&batches), [approval]);
        assert_eq!(world.state(proposal.proposal_id), ProposalState::Applied(at));
        check_revision(&world, result, &proposal, &applied);
    }
}

fn approvals(batches: &[Batch]) -> Vec<Approval> {
    let puts = batches.iter().filter_map(|batch| batch.act.as_ref()).flat_map(|act| &act.puts);
    let approval =
        |put: &Put| if let Put::Approval(approval) = put { Some(*approval) } else { None };
    puts.filter_map(approval).collect()
}

/// The new revision is what was proposed, it is the accepted one, and its quotations are indexed.
#[track_caller]
fn check_revision(world: &World, result: ResultId, proposal: &ProposalDoc, applied: &AppliedDoc) {
    let stored = world.stored(proposal.proposal_id);
    let mut tx = world.snapshot();
    let kept = tx.results(Results::Ids(&[result])).expect("results").remove(0).value;
    assert_eq!((kept.accepted, kept.updated_at), (RevisionNo(2), applied.created_at));
    let revision = tx.revisions(Revisions::Keys(&[(result, RevisionNo(2))])).expect("revisions")[0];
    assert_eq!(
        (revision.body, revision.dependencies, revision.verification, revision.scan),
        (stored.body, stored.dependencies, stored.verification, stored.scan)
    );
    assert_eq!((revision.created_at, applied.digest), (applied.created_at, stored.body));
    assert!(matches!(revision.origin, Origin::Repaired { proposal, .. } if proposal == stored.id));
    let indexed = tx.quotations(Quotations::Of(&[result])).expect("quotations");
    let excerpts = &proposal.proposed.as_ref().expect("visible").body.excerpts;
    let cited: Vec<_> = indexed.iter().map(|one| (one.cited.n, one.cited.version)).collect();
    assert_eq!(cited, excerpts.iter().map(|one| (one.n, one.version)).collect::<Vec<_>>());
    drop(tx);
    let shown = world.show(result);
    assert_eq!((shown.state, shown.revision), (ResultState::SourcesChecked, Some(RevisionNo(2))));
    assert_eq!(texts(&shown), ["Backups are kept for 90 days."]);
    let side = proposal.proposed.as_ref().expect("visible");
    assert_eq!(shown.verification, side.verification, "the check is the worker's");
    assert!(world.work.doctor().expect("looks").ok);
    let told = world.proposal(proposal.proposal_id);
    assert_eq!(
        (told.state, told.can_apply, told.rejection_reason),
        ("applied", Some(false), Some("already_used"))
    );
}

// spec: P5
#[test]
fn what_applying_saw_anew_is_kept_in_the_same_commit() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let proposal = world.repair(result);
    world.edit("120");
    world.show(result);
    world.edit("90");
    world.written();
    world.apply(&proposal).expect("applied");
    let batches = world.written();
    let [Batch { act: Some(_), notes, .. }] = &*batches else { panic!("{batches:?}") };
    assert!(matches!(&**notes, [Note::Look(..)]), "{notes:?}");
}

// spec: P5
#[test]
fn a_source_that_was_edited_and_edited_back_may_be_applied() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let proposal = world.repair(result);
    world.edit("120");
    assert_eq!(world.apply(&proposal), Err(ApplyError::Refused(Refusal::SourcesChanged)));
    assert_eq!(world.proposal(proposal.proposal_id).rejection_reason, Some("sources_changed"));
    assert_eq!(world.listed(proposal.proposal_id), Some(("pending", Some("sources_changed"))));
    world.edit("90");
    assert_eq!(world.proposal(proposal.proposal_id), proposal);
    world.apply(&proposal).expect("applied");
}

// spec: P5
#[test]
fn a_new_observation_that_says_the_same_disturbs_nothing() {
    let world = World::new();
    let proposal = world.repair(world.stale().artifact_id);
    world.revoke("/handbook");
    world.pass(5);
    world.written();
    world.approve("/handbook");
    let looked = world.written().iter().any(|batch| !batch.notes.is_empty());
    assert!(looked, "there is a new observation");
    assert_eq!(world.proposal(proposal.proposal_id), proposal);
    world.apply(&proposal).expect("applied");
}

/// What applying comes to when another process, with a door of its own, looks while this one does.
fn while_another_looks(
    happen: impl FnOnce(&Workspace, ResultId) + Send + 'static,
) -> Result<AppliedDoc, ApplyError> {
    let (world, door) = World::with_meanwhile();
    let result = world.stale().artifact_id;
    let proposal = world.repair(result);
    let theirs = Arc::new(files());
    theirs.put(FILE, BACKUPS.replace("35", "90"));
    let other = world.other_process(theirs, 1000);
    door.after_looks(1, move || happen(&other, result));
    world.apply(&proposal)
}

/// The same when what the other one sees is its own.
fn while_another_sees(
    change: fn(&work_core::memory::MemoryDoor),
) -> Result<AppliedDoc, ApplyError> {
    let (world, door) = World::with_meanwhile();
    let result = world.stale().artifact_id;
    let proposal = world.repair(result);
    let theirs = Arc::new(files());
    theirs.put(FILE, BACKUPS.replace("35", "90"));
    change(&theirs);
    let other = world.other_process(theirs, 1000);
    door.after_looks(1, move || drop(other.show(result, None, &mut Quiet).expect("shown")));
    world.apply(&proposal)
}

// spec: P5
#[test]
fn what_another_looker_saw_meanwhile_is_not_overlooked() {
    let refused = |why| Err(ApplyError::Refused(why));
    while_another_sees(|_| ()).expect("both agree");
    let changed = while_another_sees(|theirs| theirs.put(FILE, BACKUPS.replace("35", "120")));
    assert_eq!(changed, refused(Refusal::SourcesChanged));
    let lost = while_another_sees(|theirs| theirs.make_unreachable(FILE));
    assert_eq!(lost, refused(Refusal::EvidenceUnavailable));
    let gone = while_another_sees(|theirs| theirs.remove(FILE));
    assert_eq!(gone, refused(Refusal::EvidenceUnavailable));
    let shut = while_another_sees(|theirs| theirs.deny(FILE));
    assert_eq!(shut, refused(Refusal::AccessRemoved));
}

// spec: I5
#[test]
fn a_folder_that_was_withdrawn_or_approved_anew_meanwhile_is_not_the_one_that_was_looked_at() {
    let root = || HostPath::from_bytes("/handbook");
    let withdrawn = while_another_looks(move |other, _| {
        other.revoke(&FolderName::Root(root())).expect("revoked");
    });
    assert_eq!(withdrawn, Err(ApplyError::Refused(Refusal::AccessRemoved)));
    let anew = while_another_looks(move |other, _| {
        other.revoke(&FolderName::Root(root())).expect("revoked");
        other.approve(&root(), None, &mut Quiet).expect("approved");
    });
    assert_eq!(anew, Err(ApplyError::Refused(Refusal::RefreshIncomplete)));
}

// spec: P5
#[test]
fn the_latest_look_counts_whoever_looked_before() {
    let world = World::new();
    let result = world.stale().artifact_id;
    let proposal = world.repair(result);
    let theirs = Arc::new(files());
    theirs.put(FILE, BACKUPS.replace("35", "120"));
    let other = world.other_process(theirs, 1000);
    let told = other.proposal(proposal.proposal_id, &mut Quiet).expect("shown");
    assert_eq!(told.rejection_reason, Some("sources_changed"));
    let presented = proposal.fingerprint.expect("visible");
    let theirs = other.apply(proposal.proposal_id, presented, Channel::Library, &mut Quiet);
    assert_eq!(theirs, Err(ApplyError::Refused(Refusal::SourcesChanged)));
    world.apply(&proposal).expect("this one looked later");
}

// spec: D1
#[test]
fn a_commit_in_doubt_is_settled_and_applies_once() {
    for doubt in [Doubt::Written, Doubt::Late] {
        let waiting = Waiting::new();
        let Waiting { world, .. } = &waiting;
        world.store.fail_next_commit(Fault::InDoubt(SYNC, doubt));
        let applied = waiting.present(waiting.shown()).expect("it happened");
        assert_eq!(applied.revision, RevisionNo(3), "{doubt:?}");
        assert_eq!(refused(&waiting, waiting.shown(), Refusal::AlreadyUsed), 1);
        assert!(world.work.doctor().expect("looks").ok);
    }
}

// spec: D1
#[test]
fn an_approval_whose_commit_was_not_done_can_be_used_again() {
    let lost = Fault::InDoubt(SYNC, Doubt::Lost);
    for (fault, expected) in [
        (lost, Failure::Lost(SYNC)),
        (Fault::NotDone(StoreError::DiskFull), Failure::Store(StoreError::DiskFull)),
        (Fault::Overtaken, Failure::Overtaken),
    ] {
        let waiting = Waiting::new();
        let before = waiting.world.records();
        waiting.world.store.fail_next_commit(fault);
        assert_eq!(waiting.present(waiting.shown()), Err(ApplyError::Failed(expected)));
        assert_eq!(waiting.world.records(), before, "{fault:?}");
        assert_eq!(waiting.present(waiting.shown()).expect("applied").revision, RevisionNo(3));
        assert_eq!(refused(&waiting, waiting.shown(), Refusal::AlreadyUsed), 1);
    }
}

// spec: D1
#[test]
fn a_doubt_that_cannot_be_settled_never_applies_twice() {
    for (doubt, happened) in [(Doubt::Written, true), (Doubt::Late, true), (Doubt::Lost, false)] {
        let waiting = Waiting::new();
        let Waiting { world, .. } = &waiting;
        world.store.fail_next_commit(Fault::InDoubt(SYNC, doubt));
        world.store.fail_next_commit(Fault::NotDone(StoreError::DiskFull));
        let unknown = waiting.present(waiting.shown()).expect_err("unknown");
        assert_eq!(unknown.code(), Code::UnknownOutcome);
        let again = waiting.present(waiting.shown()).map(|applied| applied.revision);
        let used = Err(ApplyError::Refused(Refusal::AlreadyUsed));
        assert_eq!(again, if happened { used } else { Ok(RevisionNo(3)) }, "{doubt:?}");
        assert_eq!(world.show(waiting.result).revision, Some(RevisionNo(3)));
        assert!(world.work.doctor().expect("looks").ok);
    }
}

/// Both at the same time, each in a process of its own.
#[expect(clippy::disallowed_methods, reason = "the core starts no thread; two people do")]
fn together<T: Send>(one: impl FnOnce() -> T + Send, other: impl FnOnce() -> T + Send) -> [T; 2] {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let one = scope.spawn(|| {
            barrier.wait();
            one()
        });
        let other = scope.spawn(|| {
            barrier.wait();
            other()
        });
        [one.join().expect("sound"), other.join().expect("sound")]
    })
}

/// Which of both won, and why the other did not.
#[track_caller]
fn winner(ended: [Result<AppliedDoc, ApplyError>; 2]) -> Refusal {
    match ended {
        [Ok(_), Err(ApplyError::Refused(why))] | [Err(ApplyError::Refused(why)), Ok(_)] => why,
        other => panic!("exactly one wins: {other:?}"),
    }
}

// spec: P7
#[test]
fn of_two_who_apply_the_same_proposal_at_the_same_time_exactly_one_wins() {
    let Waiting { world, result, .. } = Waiting::new();
    for round in 0..200 {
        let proposal = world.restore(result, 1).expect("prepared").proposal;
        let other = world.other_process(world.door.clone(), 1_000_000 * (round + 1));
        let (id, presented) = (proposal.proposal_id, proposal.fingerprint.expect("visible"));
        let apply = |work: &Workspace| work.apply(id, presented, Channel::Library, &mut Quiet);
        world.written();
        let ended = together(|| apply(&world.work), || apply(&other));
        assert_eq!(winner(ended), Refusal::AlreadyUsed);
        assert_eq!(approvals(&world.written()).len(), 1);
    }
    assert_eq!(world.show(result).revision, Some(RevisionNo(202)));
    assert!(world.work.doctor().expect("looks").ok);
}

// spec: P7
// spec: P8
#[test]
fn of_a_repair_and_a_restore_applied_at_the_same_time_exactly_one_wins() {
    for round in 0..20 {
        let Waiting { world, repair, restore, .. } = Waiting::new();
        let other = world.other_process(world.door.clone(), 1_000_000 * (round + 1));
        let presented = restore.fingerprint.expect("visible");
        let ended = together(
            || world.apply(&repair),
            || other.apply(restore.proposal_id, presented, Channel::Library, &mut Quiet),
        );
        assert_eq!(winner(ended), Refusal::RevisionChanged);
    }
}

/// What tells that a proposal has expired.
type Tell = fn(&Waiting);

const TELL: &[(&str, Tell)] = &[
    ("shown", |one| {
        let shown = one.world.proposal(one.repair.proposal_id);
        assert_eq!((shown.state, shown.rejection_reason), ("expired", Some("expired")));
    }),
    ("listed", |one| {
        let listed = one.world.listed(one.repair.proposal_id);
        assert_eq!(listed, Some(("expired", Some("expired"))));
    }),
    ("refused to be dismissed", |one| {
        let dismissed = one.world.work.dismiss(one.repair.proposal_id);
        assert_eq!(dismissed, Err(ApplyError::Refused(Refusal::Expired)));
    }),
    ("refused", |one| {
        let refused = one.present(one.shown());
        assert_eq!(refused, Err(ApplyError::Refused(Refusal::Expired)));
    }),
];

/// Whether a proposal is still there for another process, after the clock went astray, that was told or not, and the
/// clock came back.
fn after_a_detour(
    ahead: fn(&World),
    tell: Option<Tell>,
    back: fn(&World),
) -> Result<u64, ApplyError> {
    let waiting = Waiting::new();
    let Waiting { world, repair, .. } = &waiting;
    ahead(world);
    tell.into_iter().for_each(|tell| tell(&waiting));
    back(world);
    let fresh = world.other_process(world.door.clone(), 1_000_000);
    if tell.is_some() {
        let shown = fresh.proposal(repair.proposal_id, &mut Quiet).expect("shown");
        assert_eq!((shown.state, shown.can_apply), ("expired", Some(false)));
    }
    let applied = fresh.apply(repair.proposal_id, waiting.shown(), Channel::Library, &mut Quiet);
    applied.map(|applied| applied.revision.0)
}

// spec: T6
// spec: H6
#[test]
fn what_was_told_as_expired_stays_expired_when_the_clock_is_set_back() {
    let expired = Err(ApplyError::Refused(Refusal::Expired));
    let ahead = |world: &World| world.clock.set_ahead(HOUR);
    let back = |world: &World| world.clock.set_back(HOUR);
    assert_eq!(after_a_detour(ahead, None, back), Ok(3), "nobody was told");
    for &(how, tell) in TELL {
        assert_eq!(after_a_detour(ahead, Some(tell), back), expired, "{how}");
    }
}

// spec: T6
#[test]
fn what_was_told_as_expired_after_a_reboot_stays_expired_when_the_clock_is_right_again() {
    let expired = Err(ApplyError::Refused(Refusal::Expired));
    let behind = |world: &World| {
        world.clock.set_back(Duration::from_secs(10));
        world.clock.reboot();
    };
    let right = |world: &World| {
        world.clock.set_ahead(Duration::from_secs(10));
        world.clock.reboot();
    };
    assert_eq!(after_a_detour(behind, None, right), Ok(3), "nobody was told");
    for &(how, tell) in TELL {
        assert_eq!(after_a_detour(behind, Some(tell), right), expired, "{how}");
    }
}

// spec: T6
#[test]
fn time_that_passed_is_not_undone_by_a_wall_clock_set_back() {
    let waiting = Waiting::new();
    waiting.world.pass(3599);
    waiting.world.clock.set_back(HOUR);
    assert_eq!(waiting.world.proposal(waiting.repair.proposal_id).state, "pending");
    waiting.world.pass(1);
    waiting.world.clock.set_back(HOUR);
    assert_eq!(refused(&waiting, waiting.shown(), Refusal::Expired), 1);
}

// spec: P3
#[test]
fn a_proposal_lasts_to_the_end_of_its_hour() {
    let waiting = Waiting::new();
    waiting.world.pass(3599);
    waiting.present(waiting.shown()).expect("applied");
}

// spec: P3
#[test]
fn what_the_owner_said_no_to_has_ended() {
    let waiting = Waiting::new();
    let Waiting { world, repair, restore, .. } = &waiting;
    let events = world.events();
    dismiss(&waiting);
    assert_eq!(world.kinds_after(events), ["proposal_dismissed"]);
    assert!(matches!(world.state(repair.proposal_id), ProposalState::Dismissed(_)));
    assert_eq!(world.state(restore.proposal_id), ProposalState::Pending);
    let told = world.proposal(repair.proposal_id);
    assert_eq!((told.state, told.can_apply), ("dismissed", Some(false)));
    assert_eq!(told.difference, repair.difference, "it stays stored");
}

// spec: P3
#[test]
fn what_has_ended_is_not_dismissed() {
    for (happen, expected) in [
        (apply as Happen, Refusal::AlreadyUsed),
        (repair_again, Refusal::Superseded),
        (dismiss, Refusal::Dismissed),
        (expire, Refusal::Expired),
    ] {
        let waiting = Waiting::new();
        happen(&waiting);
        let Waiting { world, repair, .. } = &waiting;
        let (before, events) = (world.records(), world.events());
        let dismissed = world.work.dismiss(repair.proposal_id);
        assert_eq!(dismissed, Err(ApplyError::Refused(expected)));
        assert_eq!((world.records(), world.events()), (before, events));
    }
}

// spec: P6
#[test]
fn a_proposed_body_that_cannot_be_read_any_more_is_not_what_was_shown() {
    let waiting = Waiting::new();
    let Waiting { world, repair, restore, .. } = &waiting;
    world.lose(world.stored(repair.proposal_id).body);
    world.lose(world.stored(restore.proposal_id).body);
    let before = world.records();
    check(&waiting, waiting.shown(), Refusal::FingerprintMismatch, Code::FingerprintMismatch);
    assert_eq!(world.apply(restore), Err(ApplyError::Refused(Refusal::FingerprintMismatch)));
    assert_eq!(world.records(), before);
}

/// What a proposal is told as whose time is past, when nothing can be written because of this.
fn told_late(why: StoreError) -> Result<&'static str, Code> {
    let waiting = Waiting::new();
    expire(&waiting);
    // The first would keep the looks, the second keeps the time.
    (0..2).for_each(|_| waiting.world.store.fail_next_commit(Fault::NotDone(why)));
    let told = waiting.world.work.proposal(waiting.repair.proposal_id, &mut Quiet);
    told.map(|told| told.state).map_err(|failed| failed.code())
}

// spec: H6
// spec: T6
#[test]
fn an_end_that_could_be_kept_later_is_not_told_before_and_one_that_cannot_be_is_told() {
    assert_eq!(told_late(StoreError::Busy), Err(Code::Busy));
    assert_eq!(told_late(StoreError::ReadOnly), Ok("expired"));
    assert_eq!(told_late(StoreError::DiskFull), Ok("expired"));
}
