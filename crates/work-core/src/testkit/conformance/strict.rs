//! What only the store in memory refuses, because it sees the whole batch: faults of the rules, not of two callers.

use super::Opening;
use super::desk::{Desk, nobody};
use crate::audit::EventKind;
use crate::folder::{Grant, GrantState};
use crate::id::{GrantId, ResultId, SourceId, TaskId, WorkerId};
use crate::memory::MemoryStore;
use crate::port::{Batch, Change, CommitError, Note, Put, Store, StoreError};
use crate::proposal::{Approval, Proposal, ProposalKind, ProposalState};
use crate::result::{Cited, Revision, RevisionNo, WorkResult};
use crate::source::{Observation, Seen, Stamp};
use crate::task::{
    Ask, Failure, FailureReason, Fence, Lease, Outcome, Progress, Run, RunEnd, Success, Task,
    TaskKind, TaskState,
};
use crate::time::Era;

/// A desk over the store in memory, with a folder, a source and a result.
fn desk() -> (Desk, GrantId, SourceId, ResultId) {
    let make = |o: Opening| -> Box<dyn Store> {
        Box::new(MemoryStore::new(o.workspace, o.owner, o.site, o.clock))
    };
    let desk = Desk::new(&make);
    let grant = desk.approve("/a");
    let source = desk.source(grant, "a.md");
    let result = desk.report(grant, &[source]);
    desk.pass(1);
    (desk, grant, source, result)
}

#[track_caller]
fn check(desk: &Desk, batch: &Batch, why: &str) {
    let CommitError::NotDone(StoreError::Internal(said)) = desk.refuse(batch) else {
        panic!("a fault was expected: {why}");
    };
    assert_eq!(said, why);
}

#[track_caller]
fn check_puts(desk: &Desk, puts: Vec<Put>, why: &str) {
    check(desk, &desk.batch(puts, vec![]), why);
}

/// A change of a folder.
fn folder(desk: &Desk, id: GrantId, change: impl FnOnce(&mut Grant)) -> Vec<Put> {
    let mut kept = desk.folder(id);
    change(&mut kept.value);
    vec![Put::Grant(Change::From(kept.version, kept.value))]
}

/// A change of a task.
fn moved(desk: &Desk, id: TaskId, change: impl FnOnce(&mut Task)) -> Vec<Put> {
    let mut kept = desk.task(id);
    kept.value.updated_at = desk.now().at;
    change(&mut kept.value);
    vec![Put::Task(Change::From(kept.version, kept.value))]
}

/// Changes the revision among some changes.
fn revised(mut puts: Vec<Put>, how: impl Fn(&mut Revision, &mut Vec<Cited>)) -> Vec<Put> {
    for put in &mut puts {
        if let Put::Revision(revision, cited) = put {
            how(revision, cited);
        }
    }
    puts
}

#[test]
fn a_counter_moves_exactly_when_something_happened() {
    let (desk, grant, source, _) = desk();
    let revoke = folder(&desk, grant, |grant| grant.state = GrantState::Revoked);
    let mut batch = desk.batch(revoke, vec![]);
    batch.head.access -= 1;
    check(&desk, &batch, "access moved unseen");
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.access += 1;
    check(&desk, &batch, "access grew without a reason");
    let mut batch = desk.batch(vec![], vec![]);
    batch.head.looks += 1;
    check(&desk, &batch, "looks grew without a look");
    let look = Note::Look(source, Change::New(desk.a_look(grant, Seen::Missing)));
    let mut batch = desk.batch(vec![], vec![look]);
    batch.head.looks -= 1;
    check(&desk, &batch, "a look that was not counted");
}

#[test]
fn a_look_that_says_something_new_has_a_new_number() {
    let (desk, grant, source, _) = desk();
    let first = desk.a_look(grant, Seen::Missing);
    desk.note(vec![Note::Look(source, Change::New(first))]);
    let from = |look| vec![Note::Look(source, Change::From(crate::port::Version(1), look))];
    let news = Observation { seen: Seen::Denied, ..first };
    let why = "a look that differs and was not counted";
    check(&desk, &desk.batch(vec![], from(news)), why);
    let older = Observation { no: 0, ..first };
    check(&desk, &desk.batch(vec![], from(older)), "a look that went back");
    let stamp = Stamp { device: 0, inode: 0, size: 0, modified_ns: 0, changed_ns: 0 };
    let stamped = Observation { stamp: Some(stamp), ..first };
    check(&desk, &desk.batch(vec![], from(stamped)), "a stamp of a file without bytes");
    desk.note(from(first));
}

#[test]
fn an_event_says_what_its_head_says() {
    let (desk, ..) = desk();
    let kind = EventKind::TaskQueued { task: desk.id(TaskId::from_bytes) };
    let mut batch = desk.event(&kind);
    batch.head.chain = crate::digest::Digest::of(b"elsewhere");
    check(&desk, &batch, "a head that skips its event");
    let mut batch = desk.event(&kind);
    batch.head.anchor.latest_ms += 1000;
    check(&desk, &batch, "an event of another moment than its head");
    let mut batch = desk.event(&kind);
    let event = &mut batch.act.as_mut().expect("an act").event;
    event.digest = event.previous;
    check(&desk, &batch, "an event whose digest is not its own");
    let mut batch = desk.event(&kind);
    let event = &mut batch.act.as_mut().expect("an act").event;
    event.subject = Some(nobody());
    (event.digest, batch.head.chain) = (event.computed(), event.computed());
    check(&desk, &batch, "an event about something else than it says");
}

#[test]
fn a_folder_stays_where_it_was_approved_and_goes_on_in_time() {
    let (desk, grant, ..) = desk();
    let earlier = |grant: &mut Grant| grant.approved_at = crate::time::Timestamp::from_seconds(1);
    let moved = |grant: &mut Grant| grant.root = crate::path::HostPath::from_bytes("/b");
    let later =
        |grant: &mut Grant| grant.approved_at = crate::time::Timestamp::from_seconds(1 << 40);
    check_puts(&desk, folder(&desk, grant, moved), "a folder that moved");
    check_puts(&desk, folder(&desk, grant, earlier), "an approval that went back in time");
    check_puts(&desk, folder(&desk, grant, later), "a record from the future");
    check_puts(
        &desk,
        folder(&desk, grant, |g| g.since_look = 99),
        "an approval after looks to come",
    );
    desk.note(vec![Note::Swept(grant, desk.now().at)]);
    let forget = |grant: &mut Grant| grant.swept_at = None;
    check_puts(&desk, folder(&desk, grant, forget), "a sweep that went back in time");
    let again = |grant: &mut Grant| (grant.approved_at, grant.swept_at) = (desk.now().at, None);
    desk.keep(folder(&desk, grant, again));
    let same_label = Grant { label: "a".into(), ..desk.a_grant("/c") };
    check_puts(&desk, vec![Put::Grant(Change::New(same_label))], "two folders with one label");
}

#[test]
fn a_task_moves_only_as_the_rules_say() {
    let (desk, grant, ..) = desk();
    let why = "a task that cannot have become this";
    let failed = TaskState::Failed(Failure { why: FailureReason::Internal, scan: None });
    let queued = desk.queue(grant);
    check_puts(&desk, moved(&desk, queued, |task| task.state = failed), why);
    check_puts(&desk, moved(&desk, queued, |task| task.attempts = 1), why);
    check_puts(
        &desk,
        moved(&desk, queued, |task| task.request.scope = vec![]),
        "a task that became another",
    );
    let held = desk.claim(queued).fence;
    let lease = Lease {
        holder: desk.id(WorkerId::from_bytes),
        began: desk.now().at,
        ends: super::desk::later(desk.now().at, 30),
        era: Era(0),
    };
    let stolen = |task: &mut Task| {
        (task.state, task.fence) = (TaskState::Running(lease), Fence(held.0 + 1));
        task.attempts += 1;
    };
    check_puts(&desk, moved(&desk, queued, stolen), why);
    let abandoned = TaskState::Failed(Failure { why: FailureReason::Abandoned, scan: None });
    check_puts(&desk, moved(&desk, queued, |task| task.state = abandoned), why);
    desk.pass(30);
    check_puts(&desk, moved(&desk, queued, |task| task.state = failed), why);
    check_puts(&desk, moved(&desk, queued, |task| task.state = TaskState::Queued), why);
}

#[test]
fn a_lease_has_its_run_and_a_run_its_lease() {
    let (desk, grant, ..) = desk();
    let (_, mut puts) = desk.leasing(desk.queue(grant));
    let run = puts.pop();
    check_puts(&desk, puts.clone(), "a lease without its run");
    let Some(Put::Run(Change::New(run))) = run else { panic!("a run") };
    let other = Run { worker: desk.id(WorkerId::from_bytes), ..run };
    puts.push(Put::Run(Change::New(other)));
    check_puts(&desk, puts.clone(), "a run without its lease");
    puts.pop();
    puts.push(Put::Run(Change::New(run)));
    desk.keep(puts);
    let kept = desk.ask(|tx| tx.runs(&[(run.task, run.fence)])).expect("runs")[0].clone();
    check_puts(
        &desk,
        vec![Put::Run(Change::From(kept.version, run))],
        "a run that changed without an end",
    );
}

#[test]
fn a_renewal_is_of_a_lease_that_lasts_and_only_of_its_end() {
    let (desk, grant, ..) = desk();
    let id = desk.queue(grant);
    desk.claim(id);
    let half = Progress { files_read: 1, of: 2, entries: 0 };
    let renewal = |change: &dyn Fn(&mut Lease)| {
        let mut kept = desk.task(id);
        if let TaskState::Running(lease) = &mut kept.value.state {
            change(lease);
        }
        desk.batch(vec![], vec![Note::Renewal(kept.version, kept.value, half)])
    };
    let why = "a renewal that is none";
    check(&desk, &renewal(&|lease| lease.ends = super::desk::later(lease.began, 29)), why);
    check(&desk, &renewal(&|lease| lease.holder = WorkerId::from_bytes(nobody())), why);
    check(&desk, &renewal(&|lease| lease.era = Era(1)), why);
    desk.send(&renewal(&|lease| lease.ends = super::desk::later(lease.began, 40))).expect("sound");
    desk.pass(40);
    check(&desk, &renewal(&|lease| lease.ends = super::desk::later(lease.began, 90)), why);
}

#[test]
fn a_task_tells_only_what_came_of_it() {
    let (desk, grant, _, result) = desk();
    let why = "a task that says what did not come of it";
    for success in [Success::NoChange, Success::Published(result, RevisionNo::FIRST)] {
        let task = desk.claim(desk.queue(grant));
        let ask = Ask::Finish(task.fence, Outcome::Success(success));
        check_puts(&desk, desk.ending(task.id, ask, RunEnd::Finished), why);
    }
}

#[test]
fn a_revision_is_what_was_proposed_and_a_restore_what_was_there() {
    let (desk, _, source, result) = desk();
    let repair = desk.propose_repair(result);
    let puts = desk.applying(repair.id, &[source]);
    let other = revised(puts.clone(), |revision, _| revision.body = revision.scan);
    check_puts(&desk, other, "a revision that is not what was proposed");
    let unnumbered = revised(puts.clone(), |_, cited| cited[0].n = 2);
    check_puts(&desk, unnumbered, "quotations that are not numbered from 1");
    let empty = revised(puts, |_, cited| cited.clear());
    check_puts(&desk, empty, "a revision that quotes nothing");
    let restore = desk.propose_restore(result, 1);
    let puts = desk.applying(restore.id, &[source, source]);
    check_puts(&desk, puts, "a restore with other quotations");
}

#[test]
fn a_later_revision_needs_an_approval() {
    let (desk, _, source, result) = desk();
    let repair = desk.propose_repair(result);
    let mut puts = desk.applying(repair.id, &[source]);
    puts.pop();
    check_puts(&desk, puts.clone(), "an applied proposal without revision or approval");
    puts.pop();
    check_puts(&desk, puts, "a revision from a proposal that was not applied");
    let first = desk.revision(result, RevisionNo::FIRST).origin;
    let mut puts = desk.applying(repair.id, &[source]);
    puts.truncate(2);
    let unapproved = revised(puts, |revision, _| revision.origin = first);
    check_puts(&desk, unapproved, "a later revision that nobody approved");
}

#[test]
fn a_result_changes_by_its_next_revision_alone() {
    let (desk, _, source, result) = desk();
    let kept = desk.result(result);
    let other = WorkResult { query: "another".into(), ..kept.value.clone() };
    let put = |value| vec![Put::Result(Change::From(kept.version, value))];
    check_puts(&desk, put(other), "a result that became another");
    let why = "a result that did not move to its next revision";
    check_puts(&desk, put(kept.value.clone()), why);
    let repair = desk.propose_repair(result);
    let mut puts = desk.applying(repair.id, &[source]);
    puts.retain(|put| !matches!(put, Put::Result(_)));
    check_puts(&desk, puts, "a revision that its result does not accept");
}

#[test]
fn a_proposal_ends_as_its_time_allows() {
    let (desk, _, source, result) = desk();
    let why = "a proposal that cannot have ended like this now";
    let pending = desk.propose_restore(result, 1);
    let at = desk.now().at;
    check_puts(&desk, vec![desk.closing(pending.id, ProposalState::Expired(at))], why);
    let used = Approval {
        fingerprint: pending.fingerprint,
        proposal: pending.id,
        channel: crate::proposal::Channel::Cli,
        at,
    };
    check_puts(&desk, vec![Put::Approval(used)], "an approval that applies nothing");
    let by = desk.propose_repair(result).id;
    let superseded = desk.closing(pending.id, ProposalState::Superseded(at, by));
    check_puts(&desk, vec![superseded], "a proposal superseded by none of its kind");
    desk.pass(3600);
    check_puts(&desk, desk.applying(pending.id, &[source]), why);
    desk.clock.reboot();
    desk.clock.set_back(std::time::Duration::from_secs(9000));
    desk.keep(vec![desk.closing(pending.id, ProposalState::Expired(desk.now().at))]);
}

#[test]
fn a_proposal_is_for_the_accepted_revision() {
    let (desk, _, source, result) = desk();
    desk.repair(result, &[source]);
    let (proposal, mut puts) = desk.a_proposal(result, ProposalKind::Restore(RevisionNo(1)));
    let stale = Proposal { base: RevisionNo(1), ..proposal };
    puts.push(Put::Proposal(Change::New(stale)));
    check_puts(&desk, puts.clone(), "a proposal for another revision than the accepted one");
    puts.pop();
    let lost = Proposal { kind: ProposalKind::Restore(RevisionNo(3)), ..proposal };
    puts.push(Put::Proposal(Change::New(lost)));
    check_puts(&desk, puts, "a proposal out of nothing");
}

#[test]
fn a_task_begins_in_the_queue_with_words_and_folders() {
    let (desk, grant, ..) = desk();
    let new = |change: &dyn Fn(&mut Task)| {
        let mut task = desk.a_task(vec![grant], TaskKind::Report);
        change(&mut task);
        vec![Put::Task(Change::New(task))]
    };
    check_puts(&desk, new(&|task| task.fence = Fence(1)), "a task that began before it was asked");
    let why = "a query without words or folders";
    check_puts(&desk, new(&|task| task.request.query.clear()), why);
    check_puts(&desk, new(&|task| task.request.scope.clear()), why);
    let unknown = GrantId::from_bytes(nobody());
    check_puts(
        &desk,
        new(&|task| task.request.scope = vec![unknown]),
        "a scope of unknown folders",
    );
}
