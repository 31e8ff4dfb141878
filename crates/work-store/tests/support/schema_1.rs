//! A workspace of schema 1 in which something of everything has happened, always the same.

#![allow(dead_code, unreachable_pub, reason = "each program uses a part of it")]

use rusqlite::{Connection, OpenFlags, params};
use std::path::{Path, PathBuf};
use work_core::audit::EventKind;
use work_core::canonical::Canonical;
use work_core::digest::Digest;
use work_core::document::stored::{self, Dependencies, Dependency, Stored, Verification};
use work_core::id::*;
use work_core::limits::Limits;
use work_core::path::RelPath;
use work_core::quote::Quotation;
use work_core::report::{Body, FolderScan, Reached, ScanCounts, ScanRecord};
use work_core::result::RevisionNo;
use work_core::retrieve::Passage;
use work_core::source::SourceVersion;
use work_core::text::Encoding;
use work_core::time::Timestamp;

/// What every file of schema 1 begins as.
pub const TABLES: &str = include_str!("../../../../docs/schema-1.sql");

/// The moment at which the story begins.
pub const START: i64 = 1_700_000_000;

pub const WORKSPACE: [u8; 16] = [0x11; 16];
pub const OWNER: [u8; 16] = [0x22; 16];
pub const SITE: [u8; 16] = [0x33; 16];

/// Folders.
pub const HANDBOOK: [u8; 16] = id(0xf0, 1);
pub const NOTES: [u8; 16] = id(0xf0, 2);

/// Sources.
pub const BACKUPS: [u8; 16] = id(0x50, 1);
pub const LEAVE: [u8; 16] = id(0x50, 2);
pub const OLD: [u8; 16] = id(0x50, 3);

/// Results: one that was repaired twice, one that was never changed, one out of both folders.
pub const REPAIRED: [u8; 16] = id(0xa0, 1);
pub const UNCHANGED: [u8; 16] = id(0xa0, 2);
pub const OF_BOTH: [u8; 16] = id(0xa0, 3);

/// Proposals, in the order in which they were made.
pub const FIRST_APPLIED: [u8; 16] = id(0x90, 1);
pub const STALE: [u8; 16] = id(0x90, 2);
pub const SECOND_APPLIED: [u8; 16] = id(0x90, 3);
pub const OVERTAKEN: [u8; 16] = id(0x90, 4);
pub const WAITING: [u8; 16] = id(0x90, 5);
pub const DISMISSED: [u8; 16] = id(0x90, 6);
pub const EXPIRED: [u8; 16] = id(0x90, 7);
pub const OTHER_WAITING: [u8; 16] = id(0x90, 8);

/// Tasks that are no part of a result's story.
pub const QUEUED: [u8; 16] = id(0x70, 101);
pub const RUNNING: [u8; 16] = id(0x70, 102);
pub const NO_MATCHES: [u8; 16] = id(0x70, 103);
pub const ABANDONED: [u8; 16] = id(0x70, 104);
pub const CANCELLED: [u8; 16] = id(0x70, 105);
pub const NO_CHANGE: [u8; 16] = id(0x70, 106);

/// What the files said, in the order of time.
pub const BACKUPS_THEN: &str = "# Backups\n\nBackups are kept for 35 days.\n";
pub const BACKUPS_LATER: &str = "# Backups\n\nBackups are kept for 60 days.\n";
pub const BACKUPS_NOW: &str = "# Backups\n\nBackups are kept for 90 days.\n";
pub const LEAVE_SAYS: &str = "# Leave\n\nUnused leave is kept until March.\n";
pub const OLD_SAYS: &str = "Old backups were kept on tape.\n";

/// What version 1 said that a check does not say.
const LIMITS: [&str; 4] = [
    "The stored source versions matched when checked. This is no proof of any claim in them.",
    "Looking at sources is a series of reads, not a snapshot of a file system.",
    "A check locks no file: a source may change the moment after.",
    "At most 256 KiB of a file are read and hashed.",
];

/// A quotation: the source, its path, what the file said, and the passage.
pub type Quoted = ([u8; 16], &'static str, &'static str, &'static str);

const THEN: Quoted = (BACKUPS, "it/backups.md", BACKUPS_THEN, "Backups are kept for 35 days.");
const LATER: Quoted = (BACKUPS, "it/backups.md", BACKUPS_LATER, "Backups are kept for 60 days.");
const NOW: Quoted = (BACKUPS, "it/backups.md", BACKUPS_NOW, "Backups are kept for 90 days.");
const KEPT: Quoted = (LEAVE, "leave.md", LEAVE_SAYS, "Unused leave is kept until March.");
const TAPE: Quoted = (OLD, "old.md", OLD_SAYS, "Old backups were kept on tape.");

/// An id of a kind with a number.
pub const fn id(kind: u8, n: u8) -> [u8; 16] {
    let mut id = [kind; 16];
    id[15] = n;
    id
}

/// The file that trial versions left behind.
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema-1.sqlite")
}

/// Writes such a file.
pub fn write(path: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN;")?;
    connection.execute_batch(TABLES)?;
    Story { connection: &connection, now: START, task: 0, acts: 0 }.tell()?;
    connection.execute_batch(
        "PRAGMA application_id = 0x776f726b; PRAGMA user_version = 1; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);",
    )?;
    connection.close().map_err(|(_, error)| error)
}

/// The fingerprint as version 1 made it.
pub fn fingerprint(
    proposal: [u8; 16],
    result: [u8; 16],
    base: u64,
    body: Digest,
    at: i64,
) -> Digest {
    Canonical::new("work.fingerprint/1")
        .bytes(&proposal)
        .bytes(&result)
        .number(base)
        .bytes(body.bytes())
        .at(Timestamp::from_seconds(at))
        .at(Timestamp::from_seconds(at + 3600))
        .digest()
}

/// The version of a file that says this.
pub fn version(text: &str) -> SourceVersion {
    SourceVersion { digest: Digest::of(text.as_bytes()), size: text.len() as u64, cut: false }
}

/// Digests of a body, its dependencies, its verification and its scan record.
pub type Content = [Digest; 4];

/// What happens, a minute after the other.
struct Story<'c> {
    connection: &'c Connection,
    now: i64,
    task: u8,
    acts: u8,
}

impl Story<'_> {
    fn tell(mut self) -> rusqlite::Result<()> {
        self.folders()?;
        let first = self.published(REPAIRED, "how long are backups kept", &[HANDBOOK], &[THEN])?;
        self.published(UNCHANGED, "unused leave", &[HANDBOOK], &[KEPT])?;
        self.published(OF_BOTH, "old backups", &[HANDBOOK, NOTES], &[THEN, TAPE])?;
        let one = self.proposed(FIRST_APPLIED, REPAIRED, 1, &[LATER])?;
        self.applied(FIRST_APPLIED, REPAIRED, 2, one)?;
        self.proposed(STALE, REPAIRED, 2, &[NOW])?;
        let two = self.proposed(SECOND_APPLIED, REPAIRED, 2, &[NOW, KEPT])?;
        self.applied(SECOND_APPLIED, REPAIRED, 3, two)?;
        self.proposed(DISMISSED, UNCHANGED, 1, &[KEPT, NOW])?;
        self.ended(DISMISSED, 2)?;
        self.proposed(EXPIRED, UNCHANGED, 1, &[KEPT, NOW])?;
        self.now += 3600;
        self.ended(EXPIRED, 3)?;
        self.proposed(OVERTAKEN, REPAIRED, 3, &[KEPT])?;
        self.proposed(WAITING, REPAIRED, 3, &[NOW])?;
        self.proposed(OTHER_WAITING, OF_BOTH, 1, &[NOW])?;
        self.other_tasks(first)?;
        self.looks()?;
        self.revoked(NOTES)?;
        self.insert(
            "INSERT INTO workspace VALUES (1, ?1, ?2, ?3, ?4, ?5, 777000)",
            params![WORKSPACE, OWNER, SITE, self.now * 1000 + 250, [0x44_u8; 16]],
        )
    }

    fn folders(&mut self) -> rusqlite::Result<()> {
        for (folder, root, label) in
            [(HANDBOOK, "/home/ann/handbook", "handbook"), (NOTES, "/home/ann/notes", "notes")]
        {
            let identity = format!(
                r#"{{"inode":{},"born_ns":null,"filesystem":9,"device":2,"boot":"{}"}}"#,
                folder[15],
                "44".repeat(16)
            );
            let rules = r#"{"extensions":["md"],"exclude":[],"hidden":"skipped","ignore_files":"honoured"}"#;
            self.minute();
            self.insert(
                "INSERT INTO folders (id, root, label, identity, rules, active, approved_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)",
                params![
                    folder,
                    root.as_bytes(),
                    label.as_bytes(),
                    identity.as_bytes(),
                    rules.as_bytes(),
                    self.now
                ],
            )?;
            self.event(&EventKind::FolderApproved { folder: GrantId::from_bytes(folder) })?;
        }
        for (source, folder, path) in [
            (BACKUPS, HANDBOOK, "it/backups.md"),
            (LEAVE, HANDBOOK, "leave.md"),
            (OLD, NOTES, "old.md"),
        ] {
            self.insert(
                "INSERT INTO sources (id, folder, path) VALUES (?1, ?2, ?3)",
                params![source, folder, path.as_bytes()],
            )?;
        }
        Ok(())
    }

    /// A report, from asking to its first revision.
    fn published(
        &mut self,
        result: [u8; 16],
        query: &str,
        scope: &[[u8; 16]],
        quotes: &[Quoted],
    ) -> rusqlite::Result<Content> {
        let task = self.begun(None, query, scope)?;
        let content = self.content(quotes)?;
        self.minute();
        self.insert(
            "INSERT INTO results (id, query, scope, accepted, created_at, updated_at) VALUES (?1, ?2, ?3, 1, ?4, ?4)",
            params![result, query.as_bytes(), scope.concat(), self.now],
        )?;
        self.revision(result, 1, content, task, None)?;
        self.insert(
            "UPDATE tasks SET state = 2, outcome = 0, lease_ends = NULL, result = ?2, updated_at = ?3 WHERE id = ?1",
            params![task, result, self.now],
        )?;
        self.run_ended(task, 0)?;
        self.event(&EventKind::ResultPublished {
            result: ResultId::from_bytes(result),
            revision: RevisionNo(1),
            task: TaskId::from_bytes(task),
            fence: 1,
        })?;
        Ok(content)
    }

    /// A repair, from asking to its proposal.
    fn proposed(
        &mut self,
        proposal: [u8; 16],
        result: [u8; 16],
        base: u64,
        quotes: &[Quoted],
    ) -> rusqlite::Result<([u8; 16], Content)> {
        let task = self.begun(Some(result), "as before", &[HANDBOOK])?;
        let content = self.content(quotes)?;
        self.minute();
        let [body, dependencies, verification, scan] = content;
        self.insert(
            "INSERT INTO proposals (id, result, state, base, task, fence, body, dependencies, verification, scan, \
             fingerprint, created_at, expires_at) VALUES (?1, ?2, 0, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                proposal,
                result,
                base as i64,
                task,
                body.bytes(),
                dependencies.bytes(),
                verification.bytes(),
                scan.bytes(),
                fingerprint(proposal, result, base, body, self.now).bytes(),
                self.now,
                self.now + 3600,
            ],
        )?;
        self.insert(
            "UPDATE tasks SET state = 2, outcome = 1, lease_ends = NULL, proposal = ?2, updated_at = ?3 WHERE id = ?1",
            params![task, proposal, self.now],
        )?;
        self.run_ended(task, 0)?;
        self.event(&EventKind::ProposalPrepared {
            proposal: ProposalId::from_bytes(proposal),
            result: ResultId::from_bytes(result),
        })?;
        Ok((task, content))
    }

    /// What was proposed becomes a revision.
    fn applied(
        &mut self,
        proposal: [u8; 16],
        result: [u8; 16],
        no: u64,
        (task, content): ([u8; 16], Content),
    ) -> rusqlite::Result<()> {
        self.minute();
        self.revision(result, no, content, task, Some(proposal))?;
        self.insert(
            "UPDATE results SET accepted = ?2, updated_at = ?3 WHERE id = ?1",
            params![result, no as i64, self.now],
        )?;
        self.insert(
            "UPDATE proposals SET state = 1, ended_at = ?2, channel = 0 WHERE id = ?1",
            params![proposal, self.now],
        )?;
        self.event(&EventKind::ProposalApplied {
            proposal: ProposalId::from_bytes(proposal),
            result: ResultId::from_bytes(result),
            revision: RevisionNo(no),
        })
    }

    /// A proposal that came to nothing.
    fn ended(&mut self, proposal: [u8; 16], state: i64) -> rusqlite::Result<()> {
        self.minute();
        self.insert(
            "UPDATE proposals SET state = ?2, ended_at = ?3 WHERE id = ?1",
            params![proposal, state, self.now],
        )
    }

    /// Tasks in every other state.
    fn other_tasks(&mut self, [.., scan]: Content) -> rusqlite::Result<()> {
        for (id, repairs, state, outcome, scan, how) in [
            (QUEUED, None, 0, None, None, 0),
            (RUNNING, None, 1, None, None, 0),
            (NO_MATCHES, None, 3, Some(0), Some(scan), 1),
            (ABANDONED, None, 3, Some(2), None, 4),
            (CANCELLED, None, 4, None, None, 3),
            (NO_CHANGE, Some(UNCHANGED), 2, Some(2), None, 0),
        ] {
            self.minute();
            let leases = i64::from(state > 0);
            let ends = (state == 1).then_some(self.now + 30);
            self.insert(
                "INSERT INTO tasks (id, repairs, query, scope, state, fence, attempts, lease_ends, outcome, scan, \
                 created_at, updated_at) VALUES (?1, ?2, x'71', ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?9)",
                params![id, repairs, HANDBOOK, state, leases, ends, outcome, scan.map(|scan| *scan.bytes()), self.now],
            )?;
            self.event(&EventKind::TaskQueued { task: TaskId::from_bytes(id) })?;
            if leases == 1 {
                self.run(id)?;
            }
            if state > 1 {
                self.run_ended(id, how)?;
            }
        }
        Ok(())
    }

    /// The latest look at each source but one that was never looked at.
    fn looks(&mut self) -> rusqlite::Result<()> {
        self.minute();
        let seen = version(BACKUPS_NOW);
        let digest = *seen.digest.bytes();
        self.insert(
            "INSERT INTO looks VALUES (?1, 0, ?2, ?3, 0, ?4)",
            params![BACKUPS, digest, seen.size as i64, self.now],
        )?;
        self.insert(
            "INSERT INTO looks VALUES (?1, 1, NULL, NULL, NULL, ?2)",
            params![OLD, self.now],
        )
    }

    fn revoked(&mut self, folder: [u8; 16]) -> rusqlite::Result<()> {
        self.minute();
        self.insert("UPDATE folders SET active = 0 WHERE id = ?1", params![folder])?;
        self.event(&EventKind::FolderRevoked { folder: GrantId::from_bytes(folder) })
    }

    /// A task that was asked for and that a worker has.
    fn begun(
        &mut self,
        repairs: Option<[u8; 16]>,
        query: &str,
        scope: &[[u8; 16]],
    ) -> rusqlite::Result<[u8; 16]> {
        self.minute();
        self.task += 1;
        let task = id(0x70, self.task);
        self.insert(
            "INSERT INTO tasks (id, repairs, query, scope, state, fence, attempts, lease_ends, created_at, updated_at) \
             VALUES (?1, ?2, ?3, ?4, 1, 1, 1, ?5, ?6, ?6)",
            params![task, repairs, query.as_bytes(), scope.concat(), self.now + 30, self.now],
        )?;
        self.event(&EventKind::TaskQueued { task: TaskId::from_bytes(task) })?;
        self.run(task)?;
        self.event(&EventKind::TaskLeased { task: TaskId::from_bytes(task), fence: 1 })?;
        Ok(task)
    }

    fn run(&self, task: [u8; 16]) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO runs (task, fence, id, worker, started_at) VALUES (?1, 1, ?2, ?3, ?4)",
            params![task, id(0xb0, task[15]), id(0xc0, 1), self.now],
        )
    }

    fn run_ended(&self, task: [u8; 16], how: i64) -> rusqlite::Result<()> {
        self.insert(
            "UPDATE runs SET ended_at = ?2, ended = ?3 WHERE task = ?1",
            params![task, self.now, how],
        )
    }

    fn revision(
        &self,
        result: [u8; 16],
        no: u64,
        [body, dependencies, verification, scan]: Content,
        task: [u8; 16],
        proposal: Option<[u8; 16]>,
    ) -> rusqlite::Result<()> {
        self.insert(
            "INSERT INTO revisions (result, no, body, dependencies, verification, scan, task, fence, proposal, \
             created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9)",
            params![
                result,
                no as i64,
                body.bytes(),
                dependencies.bytes(),
                verification.bytes(),
                scan.bytes(),
                task,
                proposal,
                self.now
            ],
        )
    }

    /// The documents of what was quoted just now.
    fn content(&self, quotes: &[Quoted]) -> rusqlite::Result<Content> {
        let limits = Limits::standard();
        let body = Body { quotations: quotes.iter().map(quotation).collect() };
        let dependencies = Dependencies((1..).zip(quotes).map(dependency).collect());
        let dependencies = stored::write_dependencies(&dependencies, &limits).expect("short");
        let at = Timestamp::from_seconds(self.now);
        let verification = Verification {
            method: "cited_sources_read_again".to_owned(),
            checked_at: at,
            limits: LIMITS.map(ToOwned::to_owned).to_vec(),
            dependencies: dependencies.digest,
        };
        let scan = FolderScan {
            grant: GrantId::from_bytes(HANDBOOK),
            reached: Reached::Yes,
            counts: ScanCounts {
                entries: 5,
                files_seen: 2,
                files_read: 2,
                ..ScanCounts::default()
            },
        };
        let scan = ScanRecord {
            elapsed_ms: 12,
            limit: None,
            folders: vec![scan],
            left_out: vec![],
            rules: vec![],
        };
        Ok([
            self.document(stored::write_body(&body, &limits).expect("short"))?,
            self.document(dependencies)?,
            self.document(stored::write_verification(&verification, &limits).expect("short"))?,
            self.document(stored::write_scan(&scan, &limits).expect("short"))?,
        ])
    }

    fn document(&self, Stored { digest, bytes }: Stored) -> rusqlite::Result<Digest> {
        let sql = "INSERT OR IGNORE INTO documents (digest, bytes) VALUES (?1, ?2)";
        self.insert(sql, params![digest.bytes(), bytes])?;
        Ok(digest)
    }

    fn event(&mut self, kind: &EventKind) -> rusqlite::Result<()> {
        self.acts += 1;
        let bytes = serde_json::to_vec(kind).expect("ids and numbers");
        self.insert(
            "INSERT INTO events (seq, act, at, bytes) VALUES (?1, ?2, ?3, ?4)",
            params![self.acts, id(0xe0, self.acts), self.now, bytes],
        )
    }

    fn minute(&mut self) {
        self.now += 60;
    }

    fn insert(&self, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.connection.execute(sql, params).map(drop)
    }
}

fn quotation(&(_, path, file, text): &Quoted) -> Quotation {
    let start = file.find(text).expect("in the file");
    let line = 1 + file[..start].matches('\n').count() as u32;
    let passage = Passage {
        range: start as u64..(start + text.len()) as u64,
        lines: (line, line),
        heading: file
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .map(str::to_owned)
            .collect(),
        text: text.to_owned(),
        before: String::new(),
        after: String::new(),
    };
    let path = RelPath::new(path).expect("a path");
    Quotation::from_bytes(path, version(file), file.as_bytes(), passage).expect("in the file")
}

fn dependency((n, &(source, _, file, _)): (u32, &Quoted)) -> Dependency {
    Dependency {
        n,
        source_id: SourceId::from_bytes(source),
        folder: GrantId::from_bytes(if source == OLD { NOTES } else { HANDBOOK }),
        version: version(file),
        encoding: Encoding::Utf8,
    }
}

/// Everything that is in a file: its marks, its tables and their rows, as text.
pub fn dump(path: &Path) -> String {
    let connection = Connection::open(path).expect("opens");
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).expect(sql);
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).expect(sql);
        rows.collect::<Result<_, _>>().expect(sql)
    };
    let mut all = texts("SELECT 'application ' || application_id FROM pragma_application_id");
    all.extend(texts("SELECT 'schema ' || user_version FROM pragma_user_version"));
    all.extend(texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"));
    for table in texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
        all.push(format!("-- {table}"));
        let columns =
            texts(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')"));
        all.extend(texts(&format!(
            "SELECT {} AS row FROM {table} ORDER BY row",
            columns.join(" || ', ' || ")
        )));
    }
    all.join("\n")
}
