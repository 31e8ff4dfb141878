//! Schema 1 becomes schema 2, or stays what it was.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use support::schema_1::{self, dump, id, shipped};
use support::{PATIENT, Still, open};
use work_core::audit::AuditEvent;
use work_core::digest::Digest;
use work_core::document::stored::{self, BoundSource};
use work_core::folder::GrantState;
use work_core::id::*;
use work_core::limits::Limits;
use work_core::port::*;
use work_core::proposal::{Bound, Proposal, ProposalKind, ProposalState};
use work_core::result::{Origin, RevisionNo};
use work_core::source::Seen;
use work_core::task::{FailureReason, Fence, Success, TaskKind, TaskState};
use work_core::time::{Era, Timestamp};
use work_store::sqlite::{Depth, SqliteStore};

/// A copy of the shipped file.
fn copy() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("work.sqlite");
    fs::copy(shipped(), &path).expect("copied");
    (home, path)
}

/// A copy after `sql`.
fn copy_after(sql: &str) -> (tempfile::TempDir, PathBuf) {
    let (home, path) = copy();
    rusqlite::Connection::open(&path).expect("opens").execute_batch(sql).expect(sql);
    (home, path)
}

/// A proposal of the migrated file.
fn proposal(store: &SqliteStore, proposal: [u8; 16]) -> Proposal {
    let ids = [ProposalId::from_bytes(proposal)];
    let found = store.read(PATIENT).expect("a snapshot").proposals(Proposals::Ids(&ids));
    found.expect("proposals").pop().expect("kept").value
}

/// A task of the migrated file.
fn task(store: &SqliteStore, task: [u8; 16]) -> (TaskKind, TaskState) {
    let ids = [TaskId::from_bytes(task)];
    let found = store.read(PATIENT).expect("a snapshot").tasks(Tasks::Ids(&ids));
    let task = found.expect("tasks").pop().expect("kept").task.value;
    (task.kind, task.state)
}

/// The revisions of a result, the first one first.
fn revisions(store: &SqliteStore, result: [u8; 16]) -> Vec<work_core::result::Revision> {
    let results = [ResultId::from_bytes(result)];
    let pick = Revisions::LatestOf { results: &results, before: None, each: 9 };
    let mut found = store.read(PATIENT).expect("a snapshot").revisions(pick).expect("revisions");
    found.reverse();
    found
}

/// One number or text out of a file of schema 1.
fn old<T: rusqlite::types::FromSql>(sql: &str, key: [u8; 16]) -> T {
    let (_home, path) = copy();
    let connection = rusqlite::Connection::open(path).expect("opens");
    connection.query_row(sql, [key], |row| row.get(0)).expect(sql)
}

// spec: D2
#[test]
fn the_shipped_file_is_what_the_program_writes() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("again.sqlite");
    schema_1::write(&path).expect("written");
    let (_kept, shipped) = copy();
    assert_eq!(dump(&path), dump(&shipped));
}

// spec: D2
#[test]
fn the_same_file_always_becomes_the_same() {
    let became = || {
        let (home, path) = copy();
        drop(open(&path));
        (dump(&path), home).0
    };
    let one = became();
    assert!(one.contains("schema 2"));
    assert_eq!(one, became());
}

// spec: D2
#[test]
fn a_migrated_file_is_a_sound_one_of_the_present_schema() {
    let (_home, path) = copy();
    assert_eq!(open(&path).inspect(Depth::Full).expect("looked at").faults, []);
    let mut plain: Vec<String> = support::tables(&support::World::new().path);
    let mut migrated = support::tables(&path);
    plain.sort();
    migrated.sort();
    assert_eq!(migrated, plain, "nothing old is left");
}

// spec: D2 H1
#[test]
fn results_and_revisions_stay_what_they_were() {
    let (_home, path) = copy();
    let store = open(&path);
    let ids =
        [schema_1::REPAIRED, schema_1::UNCHANGED, schema_1::OF_BOTH].map(ResultId::from_bytes);
    let results = store.read(PATIENT).expect("a snapshot").results(Results::Ids(&ids));
    let accepted: Vec<u64> =
        results.expect("results").iter().map(|kept| kept.value.accepted.0).collect();
    assert_eq!(accepted, [3, 1, 1]);
    let revisions = revisions(&store, schema_1::REPAIRED);
    let run = |n| (TaskId::from_bytes(id(0x70, n)), Fence(1));
    let [first, second, third] =
        [(1, None), (4, Some(schema_1::FIRST_APPLIED)), (6, Some(schema_1::SECOND_APPLIED))].map(
            |(n, proposal)| match (run(n), proposal.map(ProposalId::from_bytes)) {
                ((task, fence), None) => Origin::Published { task, fence },
                ((task, fence), Some(proposal)) => Origin::Repaired { task, fence, proposal },
            },
        );
    let origins: Vec<Origin> = revisions.iter().map(|revision| revision.origin).collect();
    assert_eq!(origins, [first, second, third]);
    for (revision, no) in revisions.iter().zip(1_i64..) {
        let of = |column: &str| {
            let sql = format!("SELECT {column} FROM revisions WHERE result = ?1 AND no = {no}");
            Digest::from_bytes(old(&sql, schema_1::REPAIRED))
        };
        assert_eq!(revision.body, of("body"));
        assert_eq!(revision.dependencies, of("dependencies"));
        assert_eq!(revision.verification, of("verification"));
        assert_eq!(revision.scan, of("scan"));
    }
}

// spec: D2
#[test]
fn tasks_stay_in_their_states_and_a_lease_in_the_first_era() {
    let (_home, path) = copy();
    let store = open(&path);
    let unchanged = ResultId::from_bytes(schema_1::UNCHANGED);
    assert_eq!(task(&store, schema_1::QUEUED), (TaskKind::Report, TaskState::Queued));
    assert_eq!(task(&store, schema_1::CANCELLED), (TaskKind::Report, TaskState::Cancelled));
    assert_eq!(
        task(&store, schema_1::NO_CHANGE),
        (TaskKind::Repair(unchanged), TaskState::Succeeded(Success::NoChange))
    );
    let published = Success::Published(ResultId::from_bytes(schema_1::REPAIRED), RevisionNo(1));
    assert_eq!(task(&store, id(0x70, 1)).1, TaskState::Succeeded(published));
    let proposed = Success::Proposed(ProposalId::from_bytes(schema_1::STALE));
    assert_eq!(task(&store, id(0x70, 5)).1, TaskState::Succeeded(proposed));
    let (_, TaskState::Failed(failure)) = task(&store, schema_1::NO_MATCHES) else {
        panic!("it failed");
    };
    assert_eq!(failure.why, FailureReason::NoMatches);
    assert_eq!(failure.scan, Some(revisions(&store, schema_1::REPAIRED)[0].scan));
    let (_, TaskState::Running(lease)) = task(&store, schema_1::RUNNING) else {
        panic!("it runs");
    };
    assert_eq!((lease.holder, lease.era), (WorkerId::from_bytes(id(0xc0, 1)), Era(0)));
    assert_eq!(lease.ends.seconds() - lease.began.seconds(), 30);
}

// spec: D2 D4
#[test]
fn events_keep_their_bytes_and_are_chained_in_their_order() {
    let (_home, path) = copy();
    let store = open(&path);
    let mut tx = store.read(PATIENT).expect("a snapshot");
    let events = tx.events(Events::After { seq: 0, most: 1000 }).expect("events");
    let mut last = AuditEvent::GENESIS;
    for (event, acts) in events.iter().zip(0..) {
        assert!(event.follows(acts, &last), "{event:?}");
        assert_eq!(event.kind().map(|kind| kind.subject()), Some(event.subject));
        assert_eq!(
            event.bytes,
            old::<Vec<u8>>("SELECT bytes FROM events WHERE act = ?1", event.act.bytes())
        );
        last = event.digest;
    }
    let head = tx.head().expect("a head").0;
    assert_eq!((head.acts, head.chain), (events.len() as u64, last));
    assert!(events.len() > 30);
}

// spec: D2 T6
#[test]
fn time_goes_on_from_the_stored_anchor() {
    let (_home, path) = copy();
    let head = open(&path).read(PATIENT).expect("a snapshot").head().expect("a head").0;
    assert_eq!(head.workspace.bytes(), schema_1::WORKSPACE);
    assert_eq!((head.owner.bytes(), head.site.bytes()), (schema_1::OWNER, schema_1::SITE));
    let (_kept, before) = copy();
    let before = rusqlite::Connection::open(before).expect("opens");
    let latest: i64 =
        before.query_row("SELECT latest_ms FROM workspace", [], |row| row.get(0)).expect("one");
    assert_eq!((head.anchor.latest_ms, head.anchor.since_boot_ms), (latest, 777_000));
    assert_eq!((head.anchor.era, head.refresher), (Era(0), None));
}

// spec: D2
#[test]
fn folders_sources_and_looks_are_kept_and_indexed() {
    let (_home, path) = copy();
    let store = open(&path);
    let mut tx = store.read(PATIENT).expect("a snapshot");
    let folders: Vec<(GrantId, GrantState)> = tx
        .folders()
        .expect("folders")
        .iter()
        .map(|kept| (kept.value.id, kept.value.state))
        .collect();
    let (handbook, notes) =
        (GrantId::from_bytes(schema_1::HANDBOOK), GrantId::from_bytes(schema_1::NOTES));
    assert_eq!(folders, [(handbook, GrantState::Active), (notes, GrantState::Revoked)]);
    let ids = [schema_1::BACKUPS, schema_1::LEAVE, schema_1::OLD].map(SourceId::from_bytes);
    let seen: Vec<Option<Seen>> = tx
        .sources(Sources::Ids(&ids))
        .expect("sources")
        .iter()
        .map(|one| one.observation.as_ref().map(|kept| kept.value.seen))
        .collect();
    let now = Seen::Bytes(schema_1::version(schema_1::BACKUPS_NOW));
    assert_eq!(seen, [Some(now), None, Some(Seen::Missing)]);
    let quoted = tx.quotations(Quotations::All { after: None, most: 100 }).expect("quotations");
    let quoted: Vec<_> =
        quoted.iter().map(|one| (one.result.bytes(), one.cited.n, one.cited.source)).collect();
    let [backups, leave, old] = ids;
    let expected = [
        (schema_1::REPAIRED, 1, backups),
        (schema_1::REPAIRED, 2, leave),
        (schema_1::UNCHANGED, 1, leave),
        (schema_1::OF_BOTH, 1, backups),
        (schema_1::OF_BOTH, 2, old),
    ];
    assert_eq!(quoted, expected);
    let ever = Results::CitingEver { source: backups, most: 9 };
    assert_eq!(tx.results(ever).expect("results").len(), 2);
}

/// Whether anything is known of the backups after a migration of a look so many seconds after its folder's approval.
fn look_is_kept(seconds: i64) -> bool {
    let (_home, path) = copy_after(&format!(
        "UPDATE looks SET looked_at = {seconds} + (SELECT approved_at FROM folders f JOIN sources s \
         ON s.folder = f.id WHERE s.id = looks.source)"
    ));
    let backups = [SourceId::from_bytes(schema_1::BACKUPS)];
    let store = open(&path);
    assert_eq!(store.inspect(Depth::Full).expect("looked at").faults, []);
    let mut tx = store.read(PATIENT).expect("a snapshot");
    let found = tx.sources(Sources::Ids(&backups)).expect("sources");
    found.first().expect("it is there").observation.is_some()
}

// spec: D2 I3
#[test]
fn a_look_that_may_be_from_before_its_folders_approval_is_not_taken_over() {
    assert_eq!([-60, -1, 0, 1, 60].map(look_is_kept), [false, false, false, true, true]);
}

// spec: D2 P4 H6
#[test]
fn a_repair_that_waits_is_bound_anew_to_the_accepted_body_the_owner_and_the_sources() {
    let (_home, path) = copy();
    let store = open(&path);
    for (id, base, observed) in [
        (
            schema_1::WAITING,
            3,
            vec![
                (schema_1::BACKUPS, Some(schema_1::BACKUPS_NOW)),
                (schema_1::LEAVE, Some(schema_1::LEAVE_SAYS)),
            ],
        ),
        (
            schema_1::OTHER_WAITING,
            1,
            vec![(schema_1::BACKUPS, Some(schema_1::BACKUPS_NOW)), (schema_1::OLD, None)],
        ),
    ] {
        let waiting = proposal(&store, id);
        assert_eq!(
            (waiting.state, waiting.base, waiting.era),
            (ProposalState::Pending, RevisionNo(base), Era(0))
        );
        let raw = rusqlite::Connection::open(&path).expect("opens");
        let sql = "SELECT bytes FROM document WHERE digest = ?1";
        let bytes = raw.query_row(sql, [waiting.binding.bytes()], |row| row.get(0)).expect("kept");
        let (binding, limits) = (Document::Bytes(bytes), Limits::standard());
        let binding = stored::read_binding((waiting.binding, &binding), &limits).expect("readable");
        let seen = |(source, says): ([u8; 16], Option<&str>)| BoundSource {
            source_id: SourceId::from_bytes(source),
            version: says.map(schema_1::version),
        };
        assert_eq!(binding.0, observed.into_iter().map(seen).collect::<Vec<_>>());
        let base_body = revisions(&store, waiting.result.bytes()).last().expect("one").body;
        let bound = Bound {
            proposal: waiting.id,
            kind: waiting.kind,
            workspace: WorkspaceId::from_bytes(schema_1::WORKSPACE),
            owner: OwnerId::from_bytes(schema_1::OWNER),
            result: waiting.result,
            base: waiting.base,
            base_body,
            body: waiting.body,
            dependencies: waiting.dependencies,
            verification: waiting.verification,
            scan: waiting.scan,
            observed: &binding,
            created_at: waiting.created_at,
            expires_at: waiting.expires_at,
        };
        assert_eq!(waiting.fingerprint, bound.fingerprint());
        let shown: [u8; 32] = old("SELECT fingerprint FROM proposals WHERE id = ?1", id);
        assert_ne!(
            waiting.fingerprint.0,
            Digest::from_bytes(shown),
            "what was shown applies no more"
        );
    }
}

// spec: D2 P3 P8
#[test]
fn a_repair_for_a_revision_that_is_not_accepted_was_superseded_by_the_one_that_is() {
    let (_home, path) = copy();
    let store = open(&path);
    let third = revisions(&store, schema_1::REPAIRED)[2].created_at;
    let by = ProposalId::from_bytes(schema_1::SECOND_APPLIED);
    assert_eq!(proposal(&store, schema_1::STALE).state, ProposalState::Superseded(third, by));
    let waiting = proposal(&store, schema_1::WAITING);
    let overtaken = ProposalState::Superseded(waiting.created_at, waiting.id);
    assert_eq!(proposal(&store, schema_1::OVERTAKEN).state, overtaken);
}

// spec: D2 P3 H6
#[test]
fn a_repair_that_ended_stays_ended_under_the_fingerprint_that_it_had() {
    let (_home, path) = copy();
    let store = open(&path);
    for (id, state) in [
        (schema_1::FIRST_APPLIED, ProposalState::Applied as fn(Timestamp) -> ProposalState),
        (schema_1::SECOND_APPLIED, ProposalState::Applied),
        (schema_1::DISMISSED, ProposalState::Dismissed),
        (schema_1::EXPIRED, ProposalState::Expired),
    ] {
        let ended = proposal(&store, id);
        let at = old("SELECT ended_at FROM proposals WHERE id = ?1", id);
        assert_eq!(ended.state, state(Timestamp::from_seconds(at)));
        let fingerprint = old("SELECT fingerprint FROM proposals WHERE id = ?1", id);
        assert_eq!(ended.fingerprint.0, Digest::from_bytes(fingerprint));
        assert!(matches!(ended.kind, ProposalKind::Repair { .. }));
    }
    let raw = rusqlite::Connection::open(&path).expect("opens");
    let used = "SELECT count(*) FROM approval a JOIN proposal p ON p.id = a.proposal \
        AND p.fingerprint = a.fingerprint AND p.state = 1 AND p.ended_at = a.at";
    assert_eq!(raw.query_row(used, [], |row| row.get(0)), Ok(2));
}

/// A file that is no sound one of schema 1: refused, and left as it is.
#[track_caller]
fn check_refused(sql: &str) {
    let (_home, path) = copy_after(sql);
    let before = dump(&path);
    let refused = SqliteStore::open(&path, Arc::new(Still)).err();
    assert_eq!(refused, Some(StoreError::Damaged), "{sql}");
    assert_eq!(dump(&path), before, "{sql}");
}

// spec: D2 D6
#[test]
fn an_unsound_file_of_schema_1_is_told_and_stays_as_it_is() {
    check_refused("DELETE FROM workspace");
    check_refused("DROP TABLE looks");
    check_refused("CREATE TABLE head (x)");
    check_refused("UPDATE events SET seq = seq + 100 WHERE seq > 7");
    check_refused("UPDATE events SET bytes = x'7b7d' WHERE seq = 7");
    check_refused(
        "PRAGMA foreign_keys = OFF; DELETE FROM sources WHERE path = CAST('leave.md' AS BLOB)",
    );
    check_refused(
        "PRAGMA foreign_keys = OFF; DELETE FROM runs WHERE task IN (SELECT task FROM revisions)",
    );
    check_refused("PRAGMA foreign_keys = OFF; DELETE FROM revisions WHERE no = 2");
    check_refused("UPDATE results SET accepted = 4 WHERE accepted = 3");
    check_refused(
        "UPDATE documents SET bytes = x'00' WHERE digest IN (SELECT dependencies FROM proposals WHERE state = 0)",
    );
    check_refused(
        "UPDATE proposals SET state = 0, ended_at = NULL, channel = NULL WHERE state = 1 AND base = 2",
    );
    check_refused(
        "UPDATE proposals SET state = 1, ended_at = 0, channel = 0 WHERE state = 0 AND base = 2",
    );
    check_refused("UPDATE proposals SET body = verification WHERE state = 1");
}

/// A part of the next test: opens the file that it is told.
#[test]
#[ignore = "a part of another test"]
fn child_migrates() {
    let path = std::env::var_os("WORK_TEST_PATH").expect("a path");
    drop(open(Path::new(&path)));
}

// spec: D2
#[test]
fn of_processes_that_open_at_once_one_migrates_and_the_others_find_it_done() {
    let (_home, path) = copy();
    let children: Vec<_> = (0..4)
        .map(|_| {
            Command::new(std::env::current_exe().expect("this program"))
                .args(["--exact", "child_migrates", "--ignored", "--quiet"])
                .env("WORK_TEST_PATH", &path)
                .spawn()
                .expect("started")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ended").success());
    }
    let (_kept, alone) = copy();
    drop(open(&alone));
    assert_eq!(dump(&path), dump(&alone));
}
