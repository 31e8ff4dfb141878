//! Tasks, runs and renewals.

use super::Make;
use super::desk::{Desk, later, next, nobody};
use super::picture::task_ids;
use crate::digest::Digest;
use crate::id::{GrantId, RunId, TaskId, WorkerId};
use crate::port::{Asked, Change, CommitError, Kept, Note, Put, Tasks, Version};
use crate::redact::for_checking;
use crate::task::{
    Ask, Failure, FailureReason, Fence, Outcome, Progress, Run, RunEnd, Success, Task, TaskKind,
    TaskState,
};

/// A desk with one folder.
fn desk(make: Make<'_>) -> (Desk, GrantId) {
    let desk = Desk::new(make);
    let grant = desk.approve("/a");
    (desk, grant)
}

/// The tasks that a pick finds.
fn tasks(desk: &Desk, pick: Tasks<'_>) -> Vec<Asked> {
    desk.ask(|tx| tx.tasks(pick)).expect("tasks")
}

/// How far a task has come.
fn progress(desk: &Desk, id: TaskId) -> Option<Progress> {
    let found = tasks(desk, Tasks::Ids(&[id])).into_iter().next().expect("a known task");
    found.progress.map(for_checking)
}

/// The run of a lease.
fn run(desk: &Desk, task: TaskId, fence: u64) -> Option<Kept<Run>> {
    desk.ask(|tx| tx.runs(&[(task, Fence(fence))])).expect("runs").into_iter().next()
}

/// A renewal of a task's lease, some seconds on.
fn renewal(desk: &Desk, id: TaskId, progress: Progress) -> (Task, Note) {
    desk.pass(5);
    let old = desk.task(id);
    let task = desk.moved(&old.value, Ask::Renew(old.value.fence));
    (task.clone(), Note::Renewal(old.version, task, progress))
}

/// How far some task has come.
const HALF: Progress = Progress { files_read: 50, of: 100, entries: 0 };

// spec: T1
pub(super) fn a_task_reads_back_as_it_was_asked(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let other = desk.approve("/b");
    let mut task = desk.a_task(vec![other, grant], TaskKind::Report);
    task.request.query = "\"a phrase\" -word \u{0} é\n".into();
    desk.keep(vec![Put::Task(Change::New(task.clone()))]);
    assert_eq!(desk.task(task.id), Kept { version: Version(1), value: task.clone() });
    assert_eq!(progress(&desk, task.id), None);
}

// spec: T2
pub(super) fn a_lease_and_its_run_read_back(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let (task, puts) = desk.leasing(id);
    desk.keep(puts.clone());
    assert_eq!(desk.task(id), Kept { version: Version(2), value: task });
    let Some(Put::Run(written)) = puts.last() else { panic!("a lease has a run") };
    assert_eq!(run(&desk, id, 1), Some(Kept { version: Version(1), value: *written.value() }));
}

// spec: T1
pub(super) fn every_end_of_a_task_reads_back(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let ([.., scan], documents) = Desk::documents("scanned");
    desk.keep(documents);
    let failures = [
        FailureReason::NoMatches,
        FailureReason::NoSources,
        FailureReason::EvidenceUnavailable,
        FailureReason::RefreshIncomplete,
        FailureReason::TooLarge,
        FailureReason::Internal,
    ];
    for why in failures {
        for scan in [None, Some(scan)] {
            let failure = Failure { why, scan };
            let task = desk.claim(desk.queue(grant));
            let ask = Ask::Finish(task.fence, Outcome::Failure(failure));
            desk.keep(desk.ending(task.id, ask, RunEnd::Failed));
            assert_eq!(desk.task(task.id).value.state, TaskState::Failed(failure));
        }
    }
    let cancelled = desk.queue(grant);
    desk.keep(desk.ending(cancelled, Ask::Cancel, RunEnd::Cancelled));
    assert_eq!(desk.task(cancelled).value.state, TaskState::Cancelled);
}

// spec: T4
pub(super) fn an_abandoned_task_reads_back(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    for _ in 0..3 {
        desk.claim(id);
        desk.pass(60);
    }
    let ask = Ask::Claim(desk.id(WorkerId::from_bytes));
    desk.keep(desk.ending(id, ask, RunEnd::Silent));
    let failure = Failure { why: FailureReason::Abandoned, scan: None };
    assert_eq!(desk.task(id).value.state, TaskState::Failed(failure));
    assert_eq!(desk.task(id).value.attempts, 3);
}

// spec: P1
pub(super) fn a_repair_task_reads_back_with_what_came_of_it(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let source = desk.source(grant, "a.md");
    let result = desk.report(grant, &[source]);
    let proposal = desk.propose_repair(result);
    let latest = tasks(&desk, Tasks::Latest { before: None, most: 1 });
    let found = &latest[0].task.value;
    assert_eq!(found.kind, TaskKind::Repair(result));
    assert_eq!(found.state, TaskState::Succeeded(Success::Proposed(proposal.id)));
    let idle = desk.a_task(vec![grant], TaskKind::Repair(result));
    desk.keep(vec![Put::Task(Change::New(idle.clone()))]);
    let idle = desk.claim(idle.id);
    let ask = Ask::Finish(idle.fence, Outcome::Success(Success::NoChange));
    desk.keep(desk.ending(idle.id, ask, RunEnd::Finished));
    assert_eq!(desk.task(idle.id).value.state, TaskState::Succeeded(Success::NoChange));
}

pub(super) fn tasks_answer_to_ids_in_the_order_asked(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let [a, b] = [desk.queue(grant), desk.queue(grant)];
    let found = tasks(&desk, Tasks::Ids(&[b, TaskId::from_bytes(nobody()), a, b]));
    assert_eq!(task_ids(&found), [b, a, b]);
}

pub(super) fn tasks_come_latest_asked_first_before_one_and_bounded(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let latest = |before, most| task_ids(&tasks(&desk, Tasks::Latest { before, most }));
    assert!(latest(None, 10).is_empty());
    let all = [(); 4].map(|()| desk.queue(grant));
    desk.pass(5);
    desk.claim(all[0]);
    let newest_first = [all[3], all[2], all[1], all[0]];
    assert_eq!(latest(None, 10), newest_first, "in the order of asking, not of change");
    assert_eq!(latest(None, 2), newest_first[..2]);
    assert_eq!(latest(Some(all[2]), 2), [all[1], all[0]]);
    assert!(latest(Some(all[0]), 2).is_empty());
    assert!(latest(Some(TaskId::from_bytes(nobody())), 2).is_empty());
}

// spec: T2
pub(super) fn open_tasks_come_oldest_first_queued_and_running_alike(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let open = |most| task_ids(&tasks(&desk, Tasks::Open { most }));
    assert!(open(10).is_empty());
    let all = [(); 5].map(|()| desk.queue(grant));
    desk.claim(all[1]);
    desk.keep(desk.ending(all[2], Ask::Cancel, RunEnd::Cancelled));
    let task = desk.claim(all[0]);
    let failure = Failure { why: FailureReason::NoMatches, scan: None };
    let ask = Ask::Finish(task.fence, Outcome::Failure(failure));
    desk.keep(desk.ending(all[0], ask, RunEnd::Failed));
    assert_eq!(open(10), [all[1], all[3], all[4]]);
    assert_eq!(open(2), [all[1], all[3]]);
    let held = desk.task(all[1]).value.fence;
    desk.keep(desk.ending(all[1], Ask::GiveBack(held), RunEnd::GaveBack));
    assert_eq!(open(10), [all[1], all[3], all[4]], "one given back keeps its place");
}

// spec: T3
pub(super) fn of_two_claims_the_second_is_overtaken(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let (_, late) = desk.leasing(id);
    desk.claim(id);
    desk.overtaken(late, vec![]);
    assert_eq!(desk.task(id).value.fence, Fence(1));
}

// spec: T3
pub(super) fn a_publication_after_another_took_over_is_refused_whole(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let source = desk.source(grant, "a.md");
    let id = desk.queue(grant);
    let old = desk.claim(id);
    let (_, late) = desk.publishing(&old, &[source]);
    desk.pass(31);
    desk.claim(id);
    desk.overtaken(late, vec![]);
}

// spec: T5
pub(super) fn what_has_ended_stays_ended(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let open = desk.task(id).value;
    desk.keep(desk.ending(id, Ask::Cancel, RunEnd::Cancelled));
    let ended = desk.task(id);
    for state in [TaskState::Queued, TaskState::Succeeded(Success::NoChange)] {
        let task = Task { state, updated_at: desk.now().at, ..open.clone() };
        desk.refuse_puts(vec![Put::Task(Change::From(ended.version, task))]);
    }
}

// spec: T2
pub(super) fn a_fencing_number_never_goes_down(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let held = desk.claim(id);
    desk.pass(31);
    desk.claim(id);
    let old = desk.task(id);
    let task = Task { fence: held.fence, updated_at: desk.now().at, ..old.value };
    desk.refuse_puts(vec![Put::Task(Change::From(old.version, task))]);
}

pub(super) fn a_task_id_is_given_once_and_an_unknown_one_is_not_changed(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let known = desk.task(desk.queue(grant)).value;
    desk.overtaken(vec![Put::Task(Change::New(known))], vec![]);
    let unknown = desk.a_task(vec![grant], TaskKind::Report);
    desk.overtaken(vec![Put::Task(Change::From(Version(1), unknown))], vec![]);
}

// spec: T2
pub(super) fn a_renewal_keeps_progress_and_is_no_change_of_the_task(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let claimed = desk.claim(id);
    let before = desk.task(id);
    let (task, note) = renewal(&desk, id, HALF);
    desk.note(vec![note]);
    assert_eq!(desk.task(id), Kept { version: next(before.version), value: task });
    assert_eq!(desk.task(id).value.updated_at, claimed.updated_at);
    assert_eq!(progress(&desk, id), Some(HALF));
    let whole = Progress { files_read: 100, of: 100, entries: 0 };
    let (_, note) = renewal(&desk, id, whole);
    desk.note(vec![note]);
    assert_eq!(progress(&desk, id), Some(whole));
}

// spec: T3
pub(super) fn a_renewal_of_what_changed_meanwhile_is_overtaken(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    desk.claim(id);
    let (_, late) = renewal(&desk, id, HALF);
    desk.keep(desk.ending(id, Ask::Cancel, RunEnd::Cancelled));
    desk.overtaken(vec![], vec![late]);
    assert_eq!(progress(&desk, id), None);
}

// spec: T3
pub(super) fn a_renewal_of_what_does_not_run_is_refused(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let queued = desk.task(id);
    let note = Note::Renewal(queued.version, queued.value, HALF);
    desk.refuse(&desk.batch(vec![], vec![note]));
}

// spec: T1
pub(super) fn progress_is_erased_with_the_lease(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let renewed = || {
        let (task, note) = renewal(&desk, id, HALF);
        desk.note(vec![note]);
        assert_eq!(progress(&desk, id), Some(HALF));
        task.fence
    };
    desk.claim(id);
    let held = renewed();
    desk.keep(desk.ending(id, Ask::GiveBack(held), RunEnd::GaveBack));
    assert_eq!(progress(&desk, id), None, "given back");
    desk.claim(id);
    renewed();
    desk.pass(60);
    desk.claim(id);
    assert_eq!(progress(&desk, id), None, "taken over");
    renewed();
    desk.keep(desk.ending(id, Ask::Cancel, RunEnd::Cancelled));
    assert_eq!(progress(&desk, id), None, "ended");
}

pub(super) fn runs_answer_to_keys_in_the_order_asked(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let [a, b] = [desk.queue(grant), desk.queue(grant)];
    desk.claim(a);
    desk.claim(b);
    desk.pass(31);
    desk.claim(a);
    let keys = [(a, 2), (b, 2), (b, 1), (a, 1), (a, 0), (a, 2)].map(|(id, n)| (id, Fence(n)));
    let found = desk.ask(|tx| tx.runs(&keys)).expect("runs");
    let found: Vec<_> = found.iter().map(|kept| (kept.value.task, kept.value.fence.0)).collect();
    assert_eq!(found, [(a, 2), (b, 1), (a, 1), (a, 2)]);
}

// spec: T4
pub(super) fn every_end_of_a_run_reads_back(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let ends =
        [RunEnd::Finished, RunEnd::Failed, RunEnd::GaveBack, RunEnd::Cancelled, RunEnd::Silent];
    for (how, fence) in ends.into_iter().zip(1..) {
        let task = desk.claim(id);
        desk.pass(1);
        desk.keep(desk.ending(id, Ask::GiveBack(task.fence), how));
        let found = run(&desk, id, fence).expect("a run");
        assert_eq!(found.value.ended, Some((desk.now().at, how)));
        assert_eq!(found.version, Version(2));
    }
}

pub(super) fn a_run_ends_once(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let id = desk.queue(grant);
    let task = desk.claim(id);
    let open = run(&desk, id, 1).expect("a run");
    desk.keep(desk.ending(id, Ask::GiveBack(task.fence), RunEnd::GaveBack));
    let ended =
        Run { ended: Some((later(open.value.started_at, 0), RunEnd::Silent)), ..open.value };
    desk.overtaken(vec![Put::Run(Change::From(open.version, ended))], vec![]);
    desk.overtaken(vec![Put::Run(Change::New(open.value))], vec![]);
}

pub(super) fn a_run_names_a_task_that_is_there(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let (_, mut puts) = desk.leasing(desk.queue(grant));
    let Some(Put::Run(Change::New(run))) = puts.last().cloned() else { panic!("a run") };
    let lost = Run { task: TaskId::from_bytes(nobody()), ..run };
    puts.push(Put::Run(Change::New(Run { id: desk.id(RunId::from_bytes), ..lost })));
    let refusal = desk.refuse_puts(puts);
    assert!(matches!(refusal, CommitError::NotDone(_) | CommitError::Overtaken));
}

pub(super) fn a_repair_names_a_result_that_is_there(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let lost = TaskKind::Repair(crate::id::ResultId::from_bytes(nobody()));
    desk.refuse_puts(vec![Put::Task(Change::New(desk.a_task(vec![grant], lost)))]);
}

pub(super) fn a_failure_keeps_the_digest_of_its_scan(make: Make<'_>) {
    let (desk, grant) = desk(make);
    let task = desk.claim(desk.queue(grant));
    let bytes = b"{\"scan\":1}".to_vec();
    let scan = Digest::tagged("scan", &bytes);
    let failure = Failure { why: FailureReason::NoMatches, scan: Some(scan) };
    let mut puts = vec![Put::Document { digest: scan, bytes }];
    let ask = Ask::Finish(task.fence, Outcome::Failure(failure));
    puts.extend(desk.ending(task.id, ask, RunEnd::Failed));
    desk.keep(puts);
    assert_eq!(desk.task(task.id).value.state, TaskState::Failed(failure));
}
