//! Everything that is put or noted comes back as it was, by every way of asking.

mod support;

use support::*;
use work_core::audit::EventKind;
use work_core::digest::Digest;
use work_core::folder::{Grant, GrantState, Rules};
use work_core::id::*;
use work_core::port::*;
use work_core::proposal::{Approval, Channel, Proposal, ProposalKind, ProposalState};
use work_core::quote::Finding;
use work_core::redact::Sealed;
use work_core::result::{Origin, Revision, RevisionNo, WorkResult};
use work_core::source::{Observation, Seen, Stamp};
use work_core::task::*;
use work_core::time::{Anchor, Era, Timestamp};

fn kept<T>(version: u64, value: T) -> Kept<T> {
    Kept { version: Version(version), value }
}

#[test]
fn a_new_head_comes_back_with_the_clock_read_now() {
    let world = World::new();
    let (head, reading) = world.read().head().expect("a head");
    assert_eq!(head, new_head());
    assert_eq!(reading, Still.reading());
}

#[test]
fn every_field_of_the_head_is_kept() {
    let world = World::new();
    let head = Head {
        anchor: Anchor {
            latest_ms: i64::MAX,
            boot: BootId::from_bytes([8; 16]),
            since_boot_ms: -1,
            era: Era(2),
        },
        access: 5,
        looks: 6,
        refresher: Some((WorkerId::from_bytes([1; 16]), NOW)),
        ..world.head()
    };
    world.commit(&Batch { head: head.clone(), act: None, notes: vec![] }).expect("written");
    assert_eq!(world.head(), head);
}

#[test]
fn grants_come_back_in_the_order_of_their_first_approval() {
    let world = World::new();
    let (first, second) = (world.grant("/b"), world.grant("/a"));
    let changed = Grant {
        rules: Rules::standard(),
        state: GrantState::Revoked,
        since_look: 9,
        swept_at: Some(NOW),
        label: "other".into(),
        ..first
    };
    world.put(vec![Put::Grant(Change::From(Version(1), changed.clone()))]);
    let all = world.read().folders().expect("folders");
    assert_eq!(all, [kept(2, changed), kept(1, second)]);
}

// spec: D3
#[test]
fn a_grant_whose_record_cannot_be_read_is_damage_and_never_a_shorter_list() {
    for state in [GrantState::Active, GrantState::Revoked] {
        let world = World::new();
        let (_outer, inner) = (world.grant("/a"), world.grant("/a/private"));
        let changed = Grant { state, ..inner.clone() };
        world.put(vec![Put::Grant(Change::From(Version(1), changed))]);
        let change =
            "UPDATE folder SET rules = CAST('}' || substr(rules, 2) AS BLOB) WHERE id = ?1";
        world.raw().execute(change, [inner.id.bytes()]).expect("one byte is another");
        assert_eq!(world.read().folders(), Err(StoreError::Damaged), "{state:?}");
    }
}

#[test]
fn a_sweep_is_one_time_for_a_whole_grant() {
    let world = World::new();
    let grant = world.grant("/a");
    assert_eq!(world.note(vec![Note::Swept(grant.id, NOW)]), Ok(()));
    let swept = Grant { swept_at: Some(NOW), ..grant };
    assert_eq!(values(world.read().folders().expect("folders")), [swept]);
    let unknown = GrantId::from_bytes([0xee; 16]);
    assert_eq!(world.note(vec![Note::Swept(unknown, NOW)]), Err(CommitError::Overtaken));
}

fn source_ids(found: Vec<Observed>) -> Vec<SourceId> {
    found.into_iter().map(|observed| observed.source.id).collect()
}

#[test]
fn sources_answer_by_id_by_place_by_grant_and_by_citation() {
    let world = World::new();
    let (one, two) = (world.grant("/a"), world.grant("/b"));
    let [c, a, b] = ["c", "a", "b"].map(|path| world.source(one.id, path));
    let other = world.source(two.id, "a");
    world.result(vec![cited(1, b), cited(2, a), cited(3, b)]);
    let mut tx = world.read();
    let mut ask = |pick: Sources<'_>| source_ids(tx.sources(pick).expect("sources"));
    let unknown = SourceId::from_bytes([0xee; 16]);
    assert_eq!(ask(Sources::Ids(&[b, unknown, c, b])), [b, c, b]);
    assert_eq!(ask(Sources::Ids(&[])), []);
    let places = [(two.id, rel("a")), (one.id, rel("zz")), (one.id, rel("a"))];
    assert_eq!(ask(Sources::At(&places)), [other, a]);
    assert_eq!(ask(Sources::Under { grant: one.id, after: None, most: 2 }), [a, b]);
    assert_eq!(ask(Sources::Under { grant: one.id, after: Some(&rel("b")), most: 2 }), [c]);
    assert_eq!(ask(Sources::CitedNow { after: None, most: 9 }), [a, b]);
    assert_eq!(ask(Sources::CitedNow { after: Some(a), most: 9 }), [b]);
    assert_eq!(ask(Sources::CitedNow { after: None, most: 1 }), [a]);
}

#[track_caller]
fn check_observation(look: Observation) {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "b/\u{1}.md");
    let first = Observation { no: 1, seen: Seen::Denied, owner: grant.id, ..look };
    world.note(vec![Note::Look(source, Change::New(first))]).expect("noted");
    let second = Observation { owner: grant.id, ..look };
    world.note(vec![Note::Look(source, Change::From(Version(1), second))]).expect("noted");
    let found = world.read().sources(Sources::Ids(&[source])).expect("sources").remove(0);
    assert_eq!(found.observation, Some(kept(2, second)));
    assert_eq!(found.source.path, Sealed::new(rel("b/\u{1}.md")));
    assert_eq!(found.source.grant, grant.id);
}

#[test]
fn whatever_is_seen_of_a_source_comes_back() {
    let owner = GrantId::from_bytes([0; 16]);
    let stamp = Stamp {
        device: u64::MAX,
        inode: u64::MAX - 1,
        size: 3,
        modified_ns: i64::MIN,
        changed_ns: -1,
    };
    check_observation(Observation {
        stamp: Some(stamp),
        ..look(2, Seen::Bytes(version(3)), owner)
    });
    check_observation(look(2, Seen::Bytes(version(2)), owner));
    for seen in [Seen::Missing, Seen::Unstable, Seen::Unreachable, Seen::Denied] {
        check_observation(look(7, seen, owner));
    }
}

// spec: W5
#[test]
fn a_source_whose_place_cannot_be_read_belongs_to_no_grant() {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    world.result(vec![cited(1, source)]);
    let change = "DROP TRIGGER source_fixed; UPDATE source SET path = x'2f2e2e';";
    world.raw().execute_batch(change).expect("changed");
    let mut tx = world.read();
    let nobody = GrantId::from_bytes([0; 16]);
    let found = tx.sources(Sources::Ids(&[source])).expect("sources").remove(0);
    assert_eq!((found.source.id, found.source.grant), (source, nobody));
    let page = Quotations::All { after: None, most: 9 };
    let found = tx.quotations(page).expect("quotations").remove(0);
    assert_eq!((found.cited.source, found.observed.source.grant), (source, nobody));
}

#[test]
fn results_answer_by_id_and_the_latest_changed_first() {
    let world = World::new();
    let [old, mid, new] = [0; 3].map(|_| world.result(vec![]));
    let later = WorkResult { updated_at: Timestamp::from_seconds(NOW.seconds() + 1), ..old };
    world.put(vec![Put::Result(Change::From(Version(1), later.clone()))]);
    let mut tx = world.read();
    let by_id = tx.results(Results::Ids(&[new.id, later.id])).expect("results");
    assert_eq!(by_id, [kept(1, new.clone()), kept(2, later.clone())]);
    let mut latest =
        |before, most| values(tx.results(Results::Latest { before, most }).expect("results"));
    assert_eq!(latest(None, 2), [later.clone(), new.clone()]);
    let before = Some((later.updated_at, later.id));
    assert_eq!(latest(before, 9), [new.clone(), mid.clone()]);
    assert_eq!(latest(Some((new.updated_at, new.id)), 9), std::slice::from_ref(&mid));
    assert_eq!(latest(Some((mid.updated_at, mid.id)), 9), []);
}

/// Applies a repair of `result`, whose second revision cites `cited`.
fn applied(world: &World, result: &WorkResult, cited: Vec<work_core::result::Cited>) -> Proposal {
    let repair = world.repair(result.id);
    let ProposalKind::Repair { task, fence } = repair.kind else { unreachable!("a repair") };
    let origin = Origin::Repaired { task, fence, proposal: repair.id };
    let accepted = WorkResult { accepted: RevisionNo(2), ..result.clone() };
    let done = Proposal { state: ProposalState::Applied(NOW), ..repair };
    let approval = Approval {
        fingerprint: repair.fingerprint,
        proposal: repair.id,
        channel: Channel::Http,
        at: NOW,
    };
    world.put(vec![
        Put::Revision(revision(result.id, 2, origin), cited),
        Put::Result(Change::From(Version(1), accepted)),
        Put::Proposal(Change::From(Version(1), done)),
        Put::Approval(approval),
    ]);
    done
}

#[test]
fn an_accepted_revision_replaces_the_quotations_and_never_who_cited() {
    let world = World::new();
    let grant = world.grant("/a");
    let [a, b] = ["a", "b"].map(|path| world.source(grant.id, path));
    let (first, second) =
        (world.result(vec![cited(1, a), cited(2, a)]), world.result(vec![cited(1, a)]));
    applied(&world, &first, vec![cited(1, b)]);
    let mut tx = world.read();
    let mut citing = |pick| {
        values(tx.results(pick).expect("results"))
            .into_iter()
            .map(|result| result.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(citing(Results::CitingNow { source: a, most: 9 }), [second.id]);
    assert_eq!(citing(Results::CitingNow { source: b, most: 9 }), [first.id]);
    assert_eq!(citing(Results::CitingEver { source: a, most: 9 }), [first.id, second.id]);
    assert_eq!(citing(Results::CitingEver { source: a, most: 1 }), [first.id]);
    let unknown = SourceId::from_bytes([0xee; 16]);
    assert_eq!(citing(Results::CitingEver { source: unknown, most: 9 }), []);
}

#[test]
fn quotations_answer_by_result_as_asked_and_by_pages() {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    let [one, two, three] =
        [2, 1, 3].map(|most| world.result((1..=most).rev().map(|n| cited(n, source)).collect()));
    let mut tx = world.read();
    let mut ask = |pick: Quotations<'_>| {
        let found = tx.quotations(pick).expect("quotations");
        found.into_iter().map(|quoted| (quoted.result, quoted.cited.n)).collect::<Vec<_>>()
    };
    let of = ask(Quotations::Of(&[three.id, one.id]));
    assert_eq!(of, [(three.id, 1), (three.id, 2), (three.id, 3), (one.id, 1), (one.id, 2)]);
    let all = ask(Quotations::All { after: None, most: 4 });
    assert_eq!(all, [(one.id, 1), (one.id, 2), (two.id, 1), (three.id, 1)]);
    let rest = ask(Quotations::All { after: Some(two.id), most: 9 });
    assert_eq!(rest, [(three.id, 1), (three.id, 2), (three.id, 3)]);
}

#[track_caller]
fn check_finding(finding: Finding) {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    let seen = look(1, Seen::Bytes(version(2)), grant.id);
    let result = world.result(vec![cited(1, source)]);
    let against = version(2).digest;
    let revision = RevisionNo(1);
    let found = Note::Finding { result: result.id, revision, n: 1, against, finding };
    world.note(vec![found, Note::Look(source, Change::New(seen))]).expect("noted");
    let quoted = world.read().quotations(Quotations::Of(&[result.id])).expect("one").remove(0);
    assert_eq!(quoted.finding, Some((against, Sealed::new(finding))));
    assert_eq!(quoted.cited, cited(1, source));
    assert_eq!(quoted.observed.observation, Some(kept(1, seen)));
}

#[test]
fn every_finding_comes_back_with_the_bytes_it_was_found_against() {
    use Finding::{Altered, Ambiguous, BeyondLimit, Cosmetic, Gone, Intact, Moved};
    for finding in [Intact, Moved(0), Moved(77), Ambiguous, Cosmetic, Altered, BeyondLimit, Gone] {
        check_finding(finding);
    }
}

#[test]
fn revisions_answer_by_number_and_the_latest_first() {
    let world = World::new();
    let (one, two) = (world.result(vec![]), world.result(vec![]));
    let repair = applied(&world, &one, vec![]);
    let restore = Proposal {
        base: RevisionNo(2),
        ..proposal(world.id(ProposalId::from_bytes), one.id, ProposalKind::Restore(RevisionNo(1)))
    };
    let origin = Origin::Restored { proposal: restore.id, from: RevisionNo(1) };
    let third = revision(one.id, 3, origin);
    world.put(vec![Put::Proposal(Change::New(restore)), Put::Revision(third, vec![])]);
    let ProposalKind::Repair { task, fence } = repair.kind else { unreachable!("a repair") };
    let second = revision(one.id, 2, Origin::Repaired { task, fence, proposal: repair.id });
    let mut tx = world.read();
    let keys = [(one.id, RevisionNo(3)), (two.id, RevisionNo(9)), (one.id, RevisionNo(2))];
    assert_eq!(tx.revisions(Revisions::Keys(&keys)).expect("revisions"), [third, second]);
    let mut latest = |before: Option<u64>, each| {
        let before = before.map(RevisionNo);
        let results = [two.id, one.id];
        let found = tx.revisions(Revisions::LatestOf { results: &results, before, each });
        found.expect("revisions").iter().map(|r: &Revision| (r.result, r.no.0)).collect::<Vec<_>>()
    };
    assert_eq!(latest(None, 2), [(two.id, 1), (one.id, 3), (one.id, 2)]);
    assert_eq!(latest(Some(3), 1), [(two.id, 1), (one.id, 2)]);
    assert_eq!(latest(Some(1), 9), []);
}

#[test]
fn documents_come_back_as_stored_and_long_ones_are_not_loaded() {
    let world = World::new();
    let [short, empty, long] = [vec![1, 0, 2], vec![], vec![9; 10_000]].map(|bytes: Vec<u8>| {
        let digest = Digest::of(&bytes);
        world.put(vec![Put::Document { digest, bytes: bytes.clone() }]);
        world.put(vec![Put::Document { digest, bytes }]);
        digest
    });
    let asked = [long, Digest::of(b"unknown"), short, empty];
    let found = world.read().documents(&asked, 9999).expect("documents");
    let expected = [
        (long, Document::TooLong),
        (short, Document::Bytes(vec![1, 0, 2])),
        (empty, Document::Bytes(vec![])),
    ];
    assert_eq!(found, expected.map(|(digest, document)| (digest, Sealed::new(document))));
    world.raw().execute("UPDATE document SET bytes = NULL", []).expect("forgotten");
    let found = world.read().documents(&[short], 9999).expect("documents");
    assert_eq!(found, [(short, Sealed::new(Document::Absent))]);
}

#[track_caller]
fn check_task(world: &World, kind: TaskKind, state: TaskState) {
    let first = Task { kind, ..queued(world.id(TaskId::from_bytes)) };
    let task = Task { state, fence: Fence(4), attempts: 2, ..first.clone() };
    world.put(vec![Put::Task(Change::New(first))]);
    world.put(vec![Put::Task(Change::From(Version(1), task.clone()))]);
    let found = world.read().tasks(Tasks::Ids(&[task.id])).expect("tasks").remove(0);
    assert_eq!(found.task, kept(2, task));
    assert_eq!(found.progress, None);
}

#[test]
fn a_task_comes_back_in_every_state() {
    use FailureReason::*;
    let world = World::new();
    let result = world.result(vec![]);
    let repair = world.repair(result.id);
    let TaskState::Running(lease) = running(TaskId::from_bytes([0; 16])).state else {
        unreachable!("it runs")
    };
    let ended = |success| TaskState::Succeeded(success);
    for state in [
        TaskState::Queued,
        TaskState::Running(lease),
        ended(Success::Published(result.id, RevisionNo(1))),
        ended(Success::Proposed(repair.id)),
        ended(Success::NoChange),
        TaskState::Cancelled,
    ] {
        check_task(&world, TaskKind::Report, state);
        check_task(&world, TaskKind::Repair(result.id), state);
    }
    let reasons = [
        NoMatches,
        NoSources,
        Abandoned,
        EvidenceUnavailable,
        RefreshIncomplete,
        TooLarge,
        Internal,
    ];
    for why in reasons {
        for scan in [None, Some(digests()[3])] {
            check_task(&world, TaskKind::Report, TaskState::Failed(Failure { why, scan }));
        }
    }
}

#[test]
fn tasks_answer_the_latest_first_and_the_open_ones_oldest_first() {
    let world = World::new();
    let [one, two, three] = [0; 3].map(|_| {
        let task = queued(world.id(TaskId::from_bytes));
        world.put(vec![Put::Task(Change::New(task.clone()))]);
        task
    });
    let ended = Task { state: TaskState::Cancelled, ..two.clone() };
    world.put(vec![Put::Task(Change::From(Version(1), ended))]);
    let mut tx = world.read();
    let mut ask = |pick: Tasks<'_>| {
        let found = tx.tasks(pick).expect("tasks");
        found.into_iter().map(|asked| asked.task.value.id).collect::<Vec<_>>()
    };
    assert_eq!(ask(Tasks::Latest { before: None, most: 2 }), [three.id, two.id]);
    assert_eq!(ask(Tasks::Latest { before: Some(two.id), most: 2 }), [one.id]);
    let unknown = TaskId::from_bytes([0xee; 16]);
    assert_eq!(ask(Tasks::Latest { before: Some(unknown), most: 2 }), []);
    assert_eq!(ask(Tasks::Open { most: 9 }), [one.id, three.id]);
    assert_eq!(ask(Tasks::Open { most: 1 }), [one.id]);
}

// spec: T3
#[test]
fn a_renewal_keeps_progress_until_the_next_change_erases_it() {
    let world = World::new();
    let task = world.running(TaskKind::Report);
    let progress = Progress { files_read: 3, of: 10, ..Progress::default() };
    let renewal = Note::Renewal(Version(1), task.clone(), progress);
    world.note(vec![renewal.clone()]).expect("renewed");
    let ask = || world.read().tasks(Tasks::Ids(&[task.id])).expect("tasks").remove(0);
    assert_eq!((ask().task.version, ask().progress), (Version(2), Some(Sealed::new(progress))));
    assert_eq!(world.note(vec![renewal]), Err(CommitError::Overtaken));
    let ended = Task { state: TaskState::Cancelled, ..task.clone() };
    world.put(vec![Put::Task(Change::From(Version(2), ended))]);
    assert_eq!(ask().progress, None);
}

#[test]
fn a_run_comes_back_however_it_ended() {
    let world = World::new();
    for (n, end) in
        [RunEnd::Finished, RunEnd::Failed, RunEnd::GaveBack, RunEnd::Cancelled, RunEnd::Silent]
            .into_iter()
            .enumerate()
    {
        let task = world.running(TaskKind::Report);
        let key = (task.id, task.fence);
        let begun = world.read().runs(&[key]).expect("runs").remove(0);
        let ended = Run { ended: Some((NOW, end)), ..begun.value };
        world.put(vec![Put::Run(Change::From(begun.version, ended))]);
        let found = world.read().runs(&[(task.id, Fence(9)), key]).expect("runs");
        assert_eq!(found, [kept(2, ended)], "ending {n}");
    }
}

// spec: T7
#[test]
fn a_client_key_names_its_latest_request_until_it_is_forgotten() {
    let world = World::new();
    let task = world.running(TaskKind::Report);
    let request = |n: u8, at: i64| Request {
        key: RequestKey(Digest::of(&[n])),
        asks: Digest::of(&[n, n]),
        task: task.id,
        created_at: Timestamp::from_seconds(at),
    };
    for (n, at) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
        world.put(vec![Put::Request(request(n, at))]);
    }
    let later = Request { asks: Digest::of(b"other"), ..request(2, 25) };
    world.put(vec![Put::Request(later)]);
    let before = Timestamp::from_seconds(30);
    world.put(vec![Put::ForgetRequests { before, most: 1 }]);
    let mut tx = world.read();
    let mut ask = |n: u8| tx.request(&RequestKey(Digest::of(&[n]))).expect("an answer");
    assert_eq!([ask(3), ask(2)], [None, Some(later)]);
    drop(tx);
    world.put(vec![Put::ForgetRequests { before, most: 9 }]);
    let mut tx = world.read();
    let mut ask = |n: u8| tx.request(&RequestKey(Digest::of(&[n]))).expect("an answer");
    assert_eq!([ask(1), ask(2), ask(4)], [Some(request(1, 30)), None, Some(request(4, 40))]);
}

#[test]
fn a_proposal_comes_back_in_every_state() {
    let world = World::new();
    let result = world.result(vec![]);
    let other = world.repair(world.result(vec![]).id);
    for state in [
        ProposalState::Applied(NOW),
        ProposalState::Superseded(NOW, other.id),
        ProposalState::Dismissed(NOW),
        ProposalState::Expired(NOW),
    ] {
        let ended = Proposal { state, ..world.repair(result.id) };
        world.put(vec![Put::Proposal(Change::From(Version(1), ended))]);
        let found = world.read().proposals(Proposals::Ids(&[ended.id])).expect("proposals");
        assert_eq!(found, [kept(2, ended)]);
    }
}

#[test]
fn proposals_answer_by_time_by_result_and_by_what_is_pending() {
    let world = World::new();
    let [one, two, three] = [0; 3].map(|_| world.result(vec![]));
    let restore = |result: &WorkResult, ends: i64, era: u64| {
        let id = world.id(ProposalId::from_bytes);
        let kind = ProposalKind::Restore(RevisionNo(1));
        let made = Proposal {
            expires_at: Timestamp::from_seconds(ends),
            era: Era(era),
            ..proposal(id, result.id, kind)
        };
        world.put(vec![Put::Proposal(Change::New(made))]);
        made
    };
    let a = restore(&one, 30, 1);
    let b = world.repair(one.id);
    let c = restore(&two, 20, 1);
    let d = restore(&three, 10, 2);
    let mut tx = world.read();
    let mut ask = |pick: Proposals<'_>| values(tx.proposals(pick).expect("proposals"));
    assert_eq!(ask(Proposals::Ids(&[d.id, a.id])), [d, a]);
    assert_eq!(ask(Proposals::Latest { before: None, most: 2 }), [d, c]);
    assert_eq!(ask(Proposals::Latest { before: Some(c.id), most: 9 }), [b, a]);
    assert_eq!(ask(Proposals::LatestOf { results: &[two.id, one.id], each: 9 }), [c, b, a]);
    assert_eq!(ask(Proposals::LatestOf { results: &[one.id], each: 1 }), [b]);
    assert_eq!(ask(Proposals::PendingOf(one.id)), [b, a]);
    let mut pending = |after, most| {
        let ending_after = Timestamp::from_seconds(after);
        ask(Proposals::PendingRestores { era: Era(1), ending_after, most })
    };
    assert_eq!(pending(0, 9), [c, a]);
    assert_eq!(pending(0, 1), [c]);
    assert_eq!(pending(20, 9), [a]);
}

// spec: D4
#[test]
fn events_answer_by_act_by_number_and_by_subject() {
    let world = World::new();
    let task = TaskId::from_bytes([5; 16]);
    let events = [0, 1, 2].map(|n| {
        let task = if n == 1 { TaskId::from_bytes([6; 16]) } else { task };
        let batch = world.batch(&EventKind::TaskQueued { task }, vec![], vec![]);
        world.commit(&batch).expect("written");
        batch.act.expect("an act").event
    });
    let [first, second, third] = events.clone();
    let mut tx = world.read();
    let mut ask = |pick| tx.events(pick).expect("events");
    assert_eq!(ask(Events::Act(second.act)), std::slice::from_ref(&second));
    assert_eq!(ask(Events::Act(ActId::from_bytes([0xee; 16]))), []);
    assert_eq!(ask(Events::After { seq: 0, most: 2 }), [first.clone(), second.clone()]);
    assert_eq!(ask(Events::After { seq: 2, most: 9 }), std::slice::from_ref(&third));
    let subject = task.bytes();
    assert_eq!(ask(Events::LatestOf { subject, most: 9 }), [third.clone(), first]);
    assert_eq!(ask(Events::LatestOf { subject, most: 1 }), [third]);
}

// spec: C3
#[test]
fn ids_of_each_kind_are_found_by_their_beginning() {
    let world = World::new();
    let grant = world.grant("/a").id;
    let source = world.source(grant, "a");
    let result = world.result(vec![]).id;
    let repair = world.repair(result);
    let ProposalKind::Repair { task, .. } = repair.kind else { unreachable!("a repair") };
    let mut tx = world.read();
    for (kind, id) in [
        (IdKind::Grant, grant.bytes()),
        (IdKind::Source, source.bytes()),
        (IdKind::Result, result.bytes()),
        (IdKind::Task, task.bytes()),
        (IdKind::Proposal, repair.id.bytes()),
    ] {
        let digits = ResultId::from_bytes(id).to_string();
        let mut ask =
            |text: &str, most| tx.ids(kind, &text.parse().expect("a prefix"), most).expect("ids");
        assert_eq!(ask(&digits[..16], 9), [id], "{kind:?}");
        assert_eq!(ask("ffff", 9), [] as [[u8; 16]; 0], "{kind:?}");
    }
    let two = tx.ids(IdKind::Task, &"0000".parse().expect("a prefix"), 9).expect("ids");
    assert_eq!(two.len(), 2);
    assert!(two.is_sorted());
    assert_eq!(tx.ids(IdKind::Task, &"0000".parse().expect("a prefix"), 1).expect("ids").len(), 1);
}

#[test]
fn a_question_that_asks_for_too_much_is_a_fault_of_the_caller() {
    let world = World::new();
    let mut tx = world.read();
    let too_much = |error| matches!(error, StoreError::Internal(_));
    assert!(tx.tasks(Tasks::Open { most: 5001 }).is_ok(), "a page and one more");
    assert!(tx.tasks(Tasks::Open { most: 5002 }).is_err_and(too_much));
    let many = vec![ResultId::from_bytes([0; 16]); 5002];
    assert!(tx.results(Results::Ids(&many)).is_err_and(too_much));
    assert!(tx.quotations(Quotations::Of(&many)).is_err_and(too_much));
}
