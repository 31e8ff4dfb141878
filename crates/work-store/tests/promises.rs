//! What the schema refuses by itself, whoever writes.

mod support;

use rusqlite::Connection;
use support::*;
use work_core::id::*;
use work_core::port::*;
use work_core::proposal::{Approval, Channel, Proposal, ProposalKind, ProposalState};
use work_core::result::{Origin, RevisionNo, WorkResult};
use work_core::task::{Fence, Run, RunEnd, Task, TaskKind, TaskState};
use work_store::sqlite::{Depth, Fault};

/// A workspace in which something of everything has happened.
fn lived_in() -> World {
    let world = World::new();
    let grant = world.grant("/a");
    let source = world.source(grant.id, "a");
    let seen = look(1, work_core::source::Seen::Missing, grant.id);
    world.note(vec![Note::Look(source, Change::New(seen))]).expect("noted");
    let result = world.result(vec![cited(1, source)]);
    let repair = world.repair(result.id);
    let ProposalKind::Repair { task, fence } = repair.kind else { unreachable!("a repair") };
    let origin = Origin::Repaired { task, fence, proposal: repair.id };
    let approval = Approval {
        fingerprint: repair.fingerprint,
        proposal: repair.id,
        channel: Channel::Cli,
        at: NOW,
    };
    let accepted = WorkResult { accepted: RevisionNo(2), ..result.clone() };
    let applied = Proposal { state: ProposalState::Applied(NOW), ..repair };
    world.put(vec![
        Put::Proposal(Change::From(Version(1), applied)),
        Put::Approval(approval),
        Put::Result(Change::From(Version(1), accepted)),
        Put::Revision(revision(result.id, 2, origin), vec![cited(1, source)]),
    ]);
    world.repair(result.id);
    world
}

#[track_caller]
fn check_refused(raw: &Connection, sql: &str) {
    let refused = raw.execute_batch(&format!("BEGIN; {sql}; COMMIT;"));
    let code = refused.as_ref().err().and_then(rusqlite::Error::sqlite_error_code);
    assert_eq!(code, Some(rusqlite::ErrorCode::ConstraintViolation), "{sql}: {refused:?}");
    raw.execute_batch("ROLLBACK").expect("rolled back");
}

/// A row of `table` again, with some columns changed.
fn again(table: &str, columns: &str, changed: &str, which: &str, verb: &str) -> String {
    format!("{verb} INTO {table} ({columns}) SELECT {changed} FROM {table} WHERE {which}")
}

const REVISION: &str = "result, no, body, dependencies, verification, scan, task, fence, proposal, restored_from, created_at";
const EVENT: &str = "seq, act, at, subject, bytes, previous, digest";
const PROPOSAL: &str = "id, result, kind, state, base, task, fence, restores, body, dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, version";

// spec: H1
#[test]
fn a_revision_is_never_changed_erased_replaced_or_skipped() {
    let world = lived_in();
    let raw = world.raw();
    check_refused(&raw, "UPDATE revision SET created_at = 0");
    check_refused(&raw, "DELETE FROM revision");
    let next = |no: &str, proposal: &str| {
        let changed = REVISION.replace("no,", &format!("{no},")).replace("proposal", proposal);
        again("revision", REVISION, &changed, "no = 2", "REPLACE")
    };
    check_refused(&raw, &next("2", "NULL"));
    check_refused(&raw, &next("4", "NULL"));
    check_refused(&raw, &next("0", "NULL"));
    check_refused(&raw, &next("3", "proposal"));
    raw.execute_batch(&format!("BEGIN; {}; ROLLBACK;", next("3", "NULL"))).expect("the next one");
}

// spec: H1
#[test]
fn what_results_rest_on_is_never_erased() {
    let world = lived_in();
    let raw = world.raw();
    for table in [
        "document", "result", "proposal", "approval", "event", "task", "run", "folder", "source",
        "cite", "head",
    ] {
        check_refused(&raw, &format!("DELETE FROM {table}"));
    }
    check_refused(&raw, "UPDATE document SET digest = zeroblob(32)");
    check_refused(&raw, "UPDATE source SET path = x'61'");
    check_refused(&raw, "UPDATE folder SET root = x'61'");
    check_refused(&raw, "UPDATE cite SET no = 1 WHERE no = 2");
}

// spec: D4
#[test]
fn the_log_is_only_ever_carried_on() {
    let world = lived_in();
    let raw = world.raw();
    check_refused(&raw, "UPDATE event SET at = 0");
    check_refused(&raw, "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)");
    let last = "seq = (SELECT max(seq) FROM event)";
    let fork = |seq: &str, act: &str, previous: &str, digest: &str| {
        let changed = format!("{seq}, {act}, at, subject, bytes, {previous}, {digest}");
        again("event", EVENT, &changed, last, "REPLACE")
    };
    let (act, digest) = ("randomblob(16)", "randomblob(32)");
    check_refused(&raw, &fork("seq + 1", act, "previous", digest));
    check_refused(&raw, &fork("seq + 2", act, "digest", digest));
    check_refused(&raw, &fork("seq", act, "previous", digest));
    check_refused(&raw, &fork("seq + 1", "act", "digest", digest));
    check_refused(&raw, &fork("seq + 1", act, "digest", "digest"));
    check_refused(&raw, "UPDATE head SET acts = acts + 1");
    check_refused(&raw, "UPDATE head SET acts = acts - 1");
    check_refused(&raw, "UPDATE head SET chain = zeroblob(32)");
    let sound = fork("seq + 1", act, "digest", digest);
    raw.execute_batch(&format!("BEGIN; {sound}; ROLLBACK;")).expect("the next one");
}

// spec: T6
#[test]
fn time_and_counters_are_never_turned_back() {
    let world = lived_in();
    let raw = world.raw();
    raw.execute_batch("UPDATE head SET era = 1, access = 1, looks = 1").expect("forward");
    for column in ["latest_ms", "era", "access", "looks"] {
        check_refused(&raw, &format!("UPDATE head SET {column} = {column} - 1"));
    }
    check_refused(&raw, "UPDATE head SET workspace = zeroblob(16)");
    check_refused(
        &raw,
        "INSERT INTO head SELECT 2, workspace, owner, site, latest_ms, boot, since_boot_ms, era, acts, chain, access, looks, refresher, refreshes_until FROM head",
    );
}

// spec: P3, H6
#[test]
fn an_ended_proposal_never_comes_back_and_is_used_once() {
    let world = lived_in();
    let raw = world.raw();
    check_refused(&raw, "UPDATE proposal SET state = 0, ended_at = NULL WHERE state = 1");
    check_refused(&raw, "UPDATE proposal SET ended_at = 1 WHERE state = 1");
    check_refused(&raw, "UPDATE proposal SET body = scan WHERE state = 0");
    check_refused(&raw, "UPDATE proposal SET expires_at = expires_at + 1 WHERE state = 0");
    check_refused(&raw, "UPDATE approval SET at = 0");
    check_refused(
        &raw,
        "REPLACE INTO approval SELECT fingerprint, proposal, channel, 1 FROM approval",
    );
    check_refused(
        &raw,
        "INSERT INTO approval SELECT fingerprint, (SELECT proposal FROM approval), 0, 0 FROM proposal WHERE state = 0",
    );
}

// spec: P8, H5
#[test]
fn a_result_has_one_pending_proposal_of_each_kind() {
    let world = lived_in();
    let raw = world.raw();
    let twin = PROPOSAL
        .replace("id, result", "randomblob(16), result")
        .replace("fingerprint", "randomblob(32)");
    check_refused(&raw, &again("proposal", PROPOSAL, &twin, "state = 0", "INSERT"));
    check_refused(&raw, &again("proposal", PROPOSAL, &twin, "state = 0", "REPLACE"));
}

// spec: T3
#[test]
fn an_ended_task_and_an_ended_run_stay_ended() {
    let world = lived_in();
    let task = world.running(TaskKind::Report);
    let run = world.read().runs(&[(task.id, Fence(1))]).expect("runs").remove(0);
    let ended = Run { ended: Some((NOW, RunEnd::Silent)), ..run.value };
    let cancelled = Task { state: TaskState::Cancelled, ..task.clone() };
    world.put(vec![
        Put::Run(Change::From(Version(1), ended)),
        Put::Task(Change::From(Version(1), cancelled)),
    ]);
    let again = Put::Task(Change::From(Version(2), task));
    assert_eq!(world.try_put(vec![again]), Err(CommitError::Overtaken));
    let revived = Put::Run(Change::From(Version(2), run.value));
    assert_eq!(world.try_put(vec![revived]), Err(CommitError::Overtaken));
    let raw = world.raw();
    check_refused(&raw, "UPDATE task SET state = 0 WHERE state = 4");
    check_refused(&raw, "UPDATE task SET fence = fence - 1 WHERE state = 1");
    check_refused(&raw, "UPDATE task SET query = x'61' WHERE state = 1");
}

#[test]
fn a_result_names_a_revision_that_is_there_and_never_an_earlier_one() {
    let world = lived_in();
    let raw = world.raw();
    check_refused(&raw, "UPDATE result SET accepted = 9, version = version + 1");
    check_refused(&raw, "UPDATE result SET accepted = 1, version = version + 1");
    check_refused(&raw, "UPDATE result SET query = x'61', version = version + 1");
    check_refused(&raw, "UPDATE result SET updated_at = 0");
    let alone = Put::Result(Change::New(result(world.id(ResultId::from_bytes), 1)));
    assert_eq!(world.try_put(vec![alone]), Err(CommitError::Overtaken));
}

#[test]
fn nothing_refers_to_what_is_not_there() {
    let world = lived_in();
    let nobody = GrantId::from_bytes([0xee; 16]);
    let source = Put::Source { id: world.id(SourceId::from_bytes), grant: nobody, path: rel("b") };
    assert_eq!(world.try_put(vec![source]), Err(CommitError::Overtaken));
    let unknown = SourceId::from_bytes([0xee; 16]);
    let look = look(1, work_core::source::Seen::Missing, nobody);
    assert_eq!(
        world.note(vec![Note::Look(unknown, Change::New(look))]),
        Err(CommitError::Overtaken)
    );
    let run = run(world.id(RunId::from_bytes), TaskId::from_bytes([0xee; 16]), Fence(1));
    assert_eq!(world.try_put(vec![Put::Run(Change::New(run))]), Err(CommitError::Overtaken));
}

// spec: P8
#[test]
fn a_new_repair_takes_the_place_of_the_pending_one_in_one_act() {
    let world = World::new();
    let result = world.result(vec![]);
    let old = world.repair(result.id);
    let new = Proposal { id: world.id(ProposalId::from_bytes), ..old };
    let new = Proposal {
        fingerprint: work_core::proposal::Fingerprint(work_core::digest::Digest::of(b"new")),
        ..new
    };
    let superseded = Proposal { state: ProposalState::Superseded(NOW, new.id), ..old };
    world.put(vec![
        Put::Proposal(Change::From(Version(1), superseded)),
        Put::Proposal(Change::New(new)),
    ]);
    let pending = world.read().proposals(Proposals::PendingOf(result.id)).expect("proposals");
    assert_eq!(values(pending), [new]);
}

// spec: D4
#[test]
fn a_sound_file_has_no_faults_and_a_broken_one_names_them() {
    let world = lived_in();
    assert_eq!(world.store.inspect(Depth::Full).expect("looked at").faults, []);
    let raw = world.raw();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF; DROP TRIGGER event_kept; DROP TRIGGER cite_kept; DELETE FROM cite; \
         DROP TRIGGER revision_kept; DELETE FROM revision WHERE no = 1; CREATE TABLE mine (x);",
    )
    .expect("broken");
    let faults = world.store.inspect(Depth::Quick).expect("looked at").faults;
    for expected in [
        Fault::Schema { name: "event_kept".into() },
        Fault::Stranger { name: "mine".into() },
        Fault::Numbering { results: 1 },
        Fault::Citations { results: 1 },
    ] {
        assert!(faults.contains(&expected), "{expected:?} in {faults:?}");
    }
    assert!(faults.iter().any(|fault| matches!(fault, Fault::Dangling { .. })), "{faults:?}");
}
