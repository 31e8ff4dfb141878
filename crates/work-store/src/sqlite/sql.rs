//! Every statement that runs while a workspace is used, each with the index that serves it in its plan's test.
//!
//! A pick is one statement; what is asked of several records is the same statement again for each. `CROSS JOIN` pins the order of loops, because after
//! `ANALYZE` the planner turned the quotations of a few results into a sort of the whole workspace.

/// Names each statement, and lists them all for the test of their plans.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* pub(super) const $name: &str = $sql;)*

        /// All of them, by name.
        #[cfg(test)]
        pub(super) const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

/// What is read of a source and its observation.
macro_rules! observed {
    () => {
        "s.id, s.folder, s.path, o.no, o.seen, o.owner, o.digest, o.size, o.cut, o.stamp, o.looked_at, o.version"
    };
}

/// The observation of `s`, if it was ever looked at.
macro_rules! with_observation {
    () => {
        " LEFT JOIN observation o ON o.source = s.key "
    };
}

/// What is read of a quotation.
macro_rules! quoted {
    () => {
        concat!(
            "q.result, q.n, q.digest, q.size, q.cut, q.against, q.finding, q.at_byte, ",
            observed!()
        )
    };
}

/// What is read of a result.
macro_rules! result {
    () => {
        "r.id, r.kind, r.query, r.scope, r.accepted, r.created_at, r.updated_at, r.version"
    };
}

/// What is read of a revision.
macro_rules! revision {
    () => {
        "SELECT result, no, body, dependencies, verification, scan, task, fence, proposal, restored_from, created_at \
         FROM revision "
    };
}

/// What is read of a task.
macro_rules! task {
    () => {
        "t.id, t.kind, t.repairs, t.query, t.scope, t.state, t.fence, t.attempts, t.holder, t.lease_began, \
         t.lease_ends, t.lease_era, t.outcome, t.result, t.revision, t.proposal, t.scan, t.files_read, t.files, \
         t.created_at, t.updated_at, t.version"
    };
}

/// What is read of a proposal.
macro_rules! proposal {
    () => {
        "p.id, p.result, p.kind, p.state, p.base, p.task, p.fence, p.restores, p.body, p.dependencies, \
         p.verification, p.scan, p.binding, p.fingerprint, p.created_at, p.expires_at, p.era, p.ended_at, \
         p.superseded_by, p.version"
    };
}

/// What is read of an event.
macro_rules! event {
    () => {
        "SELECT seq, act, at, subject, bytes, previous, digest FROM event "
    };
}

statements! {
    /// The first read of every transaction: whose schema it is.
    USER_VERSION = "PRAGMA user_version";
    HEAD = "SELECT workspace, owner, site, latest_ms, boot, since_boot_ms, era, acts, chain, access, looks, \
        refresher, refreshes_until FROM head WHERE one = 1";
    FOLDERS = "SELECT id, site, root, label, identity, rules, active, approved_at, since_look, swept_at, version \
        FROM folder ORDER BY key";

    SOURCE = concat!("SELECT ", observed!(), " FROM source s", with_observation!(), "WHERE s.id = ?1");
    SOURCES_AT = concat!("SELECT ", observed!(), " FROM source s", with_observation!(),
        "WHERE s.folder = ?1 AND s.path = ?2");
    SOURCES_UNDER = concat!("SELECT ", observed!(), " FROM source s", with_observation!(),
        "WHERE s.folder = ?1 AND s.path > ?2 ORDER BY s.path LIMIT ?3");
    SOURCES_CITED_NOW = concat!("SELECT ", observed!(), " FROM source s", with_observation!(),
        "WHERE s.id > ?1 AND EXISTS (SELECT 1 FROM quotation q WHERE q.source = s.key) ORDER BY s.id LIMIT ?2");

    RESULT = concat!("SELECT ", result!(), " FROM result r WHERE r.id = ?1");
    RESULTS_LATEST = concat!("SELECT ", result!(), " FROM result r INDEXED BY result_latest \
        WHERE (r.updated_at, r.id) < (?1, ?2) ORDER BY r.updated_at DESC, r.id DESC LIMIT ?3");
    RESULTS_CITING_NOW = concat!("SELECT ", result!(), " FROM (SELECT DISTINCT q.result AS id FROM quotation q \
        WHERE q.source = (SELECT key FROM source WHERE id = ?1) ORDER BY q.result LIMIT ?2) AS citing \
        CROSS JOIN result r ON r.id = citing.id");
    RESULTS_CITING_EVER = concat!("SELECT ", result!(), " FROM (SELECT DISTINCT c.result AS id FROM cite c \
        WHERE c.source = (SELECT key FROM source WHERE id = ?1) ORDER BY c.result LIMIT ?2) AS citing \
        CROSS JOIN result r ON r.id = citing.id");

    QUOTATIONS_OF = concat!("SELECT ", quoted!(), " FROM quotation q CROSS JOIN source s ON s.key = q.source",
        with_observation!(), "WHERE q.result = ?1 ORDER BY q.n");
    QUOTATIONS_ALL = concat!("SELECT ", quoted!(), " FROM quotation q CROSS JOIN source s ON s.key = q.source",
        with_observation!(), "WHERE q.result > ?1 ORDER BY q.result, q.n LIMIT ?2");

    REVISIONS_KEYS = concat!(revision!(), "WHERE result = ?1 AND no = ?2");
    REVISIONS_LATEST_OF = concat!(revision!(), "WHERE result = ?1 AND no < ?2 ORDER BY no DESC LIMIT ?3");

    DOCUMENT = "SELECT d.digest, d.codec, d.size, d.bytes IS NULL, CASE WHEN d.size <= ?2 THEN d.bytes END \
        FROM document d WHERE d.digest = ?1";

    TASK = concat!("SELECT ", task!(), " FROM task t WHERE t.id = ?1");
    TASKS_LATEST = concat!("SELECT ", task!(), " FROM task t WHERE t.key < CASE WHEN ?1 IS NULL \
        THEN 9223372036854775807 ELSE (SELECT key FROM task WHERE id = ?1) END ORDER BY t.key DESC LIMIT ?2");
    TASKS_OPEN = concat!("SELECT ", task!(), " FROM task t INDEXED BY task_open WHERE t.state IN (0, 1) \
        ORDER BY t.key LIMIT ?1");

    RUNS = "SELECT task, fence, id, worker, started_at, ended_at, ended, version FROM run \
        WHERE task = ?1 AND fence = ?2";
    REQUEST = "SELECT key, asks, task, created_at FROM request WHERE key = ?1";

    PROPOSAL = concat!("SELECT ", proposal!(), " FROM proposal p WHERE p.id = ?1");
    PROPOSALS_LATEST = concat!("SELECT ", proposal!(), " FROM proposal p WHERE p.key < CASE WHEN ?1 IS NULL \
        THEN 9223372036854775807 ELSE (SELECT key FROM proposal WHERE id = ?1) END ORDER BY p.key DESC LIMIT ?2");
    PROPOSALS_LATEST_OF = concat!("SELECT ", proposal!(), " FROM proposal p INDEXED BY proposal_of \
        WHERE p.result = ?1 ORDER BY p.key DESC LIMIT ?2");
    PROPOSALS_PENDING_OF = concat!("SELECT ", proposal!(), " FROM proposal p INDEXED BY proposal_one_pending \
        WHERE p.result = ?1 AND p.state = 0 ORDER BY p.kind");
    PROPOSALS_PENDING_RESTORES = concat!("SELECT ", proposal!(), " FROM proposal p INDEXED BY proposal_ending \
        WHERE p.kind = 1 AND p.era = ?1 AND p.expires_at > ?2 AND p.state = 0 ORDER BY p.expires_at LIMIT ?3");

    EVENTS_ACT = concat!(event!(), "WHERE act = ?1");
    EVENTS_AFTER = concat!(event!(), "WHERE seq > ?1 ORDER BY seq LIMIT ?2");
    EVENTS_LATEST_OF = concat!(event!(), "INDEXED BY event_subject WHERE subject = ?1 ORDER BY seq DESC LIMIT ?2");

    IDS_GRANT = "SELECT id FROM folder WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    IDS_SOURCE = "SELECT id FROM source WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    IDS_RESULT = "SELECT id FROM result WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    IDS_TASK = "SELECT id FROM task WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
    IDS_PROPOSAL = "SELECT id FROM proposal WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";

    /// Only forwards, and only from the tail of the log that it was decided on.
    HEAD_UPDATE = "UPDATE head SET latest_ms = ?1, boot = ?2, since_boot_ms = ?3, era = ?4, acts = ?5, chain = ?6, \
        access = ?7, looks = ?8, refresher = ?9, refreshes_until = ?10 WHERE one = 1 AND workspace = ?11 \
        AND owner = ?12 AND site = ?13 AND acts = ?14 AND chain = ?15 AND (era, latest_ms) <= (?4, ?1) \
        AND access <= ?7 AND looks <= ?8";
    EVENT_INSERT = "INSERT INTO event (seq, act, at, subject, bytes, previous, digest) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

    FOLDER_INSERT = "INSERT INTO folder (id, site, root, label, identity, rules, active, approved_at, since_look, \
        swept_at, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1)";
    FOLDER_UPDATE = "UPDATE folder SET site = ?2, root = ?3, label = ?4, identity = ?5, rules = ?6, active = ?7, \
        approved_at = ?8, since_look = ?9, swept_at = ?10, version = version + 1 WHERE id = ?1 AND version = ?11";
    FOLDER_SWEPT = "UPDATE folder SET swept_at = ?2 WHERE id = ?1";
    SOURCE_INSERT = "INSERT INTO source (id, folder, path) VALUES (?1, ?2, ?3)";
    DOCUMENT_INSERT = "INSERT INTO document (digest, codec, size, bytes) VALUES (?1, 0, ?2, ?3) \
        ON CONFLICT (digest) DO NOTHING";

    RESULT_INSERT = "INSERT INTO result (id, kind, query, scope, accepted, created_at, updated_at, version) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)";
    RESULT_UPDATE = "UPDATE result SET kind = ?2, query = ?3, scope = ?4, accepted = ?5, created_at = ?6, \
        updated_at = ?7, version = version + 1 WHERE id = ?1 AND version = ?8";
    RESULT_ACCEPTS = "SELECT 1 FROM result WHERE id = ?1 AND accepted = ?2";
    REVISION_INSERT = "INSERT INTO revision (result, no, body, dependencies, verification, scan, task, fence, \
        proposal, restored_from, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    CITE_INSERT = "INSERT INTO cite (source, result, no) VALUES ((SELECT key FROM source WHERE id = ?1), ?2, ?3) \
        ON CONFLICT (source, result, no) DO NOTHING";
    QUOTATIONS_DELETE = "DELETE FROM quotation WHERE result = ?1";
    QUOTATION_INSERT = "INSERT INTO quotation (result, n, source, digest, size, cut) \
        VALUES (?1, ?2, (SELECT key FROM source WHERE id = ?3), ?4, ?5, ?6)";
    QUOTATION_FOUND = "UPDATE quotation SET against = ?3, finding = ?4, at_byte = ?5 \
        WHERE result = ?1 AND n = ?2 AND EXISTS (SELECT 1 FROM result AS r WHERE r.id = ?1 AND r.accepted = ?6)";

    TASK_INSERT = "INSERT INTO task (id, kind, repairs, query, scope, state, fence, attempts, holder, lease_began, \
        lease_ends, lease_era, outcome, result, revision, proposal, scan, created_at, updated_at, files_read, files, \
        version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, \
        ?21, 1)";
    TASK_UPDATE = "UPDATE task SET kind = ?2, repairs = ?3, query = ?4, scope = ?5, state = ?6, fence = ?7, \
        attempts = ?8, holder = ?9, lease_began = ?10, lease_ends = ?11, lease_era = ?12, outcome = ?13, \
        result = ?14, revision = ?15, proposal = ?16, scan = ?17, created_at = ?18, updated_at = ?19, \
        files_read = ?20, files = ?21, version = version + 1 WHERE id = ?1 AND version = ?22";
    RUN_INSERT = "INSERT INTO run (id, task, fence, worker, started_at, ended_at, ended, version) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)";
    RUN_UPDATE = "UPDATE run SET worker = ?4, started_at = ?5, ended_at = ?6, ended = ?7, version = version + 1 \
        WHERE id = ?1 AND task = ?2 AND fence = ?3 AND version = ?8";
    REQUEST_PUT = "INSERT INTO request (key, asks, task, created_at) VALUES (?1, ?2, ?3, ?4) \
        ON CONFLICT (key) DO UPDATE SET asks = excluded.asks, task = excluded.task, created_at = excluded.created_at";
    REQUESTS_FORGET = "DELETE FROM request WHERE key IN (SELECT key FROM request INDEXED BY request_age \
        WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)";

    PROPOSAL_INSERT = "INSERT INTO proposal (id, result, kind, state, base, task, fence, restores, body, \
        dependencies, verification, scan, binding, fingerprint, created_at, expires_at, era, ended_at, superseded_by, \
        version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, 1)";
    /// Only how it ended. All else is compared, not written again: SQLite checks each reference of a column that an
    /// update names, also if the value stays.
    PROPOSAL_UPDATE = "UPDATE proposal SET state = ?4, ended_at = ?18, superseded_by = ?19, version = version + 1 \
        WHERE id = ?1 AND result = ?2 AND kind = ?3 AND base = ?5 AND task IS ?6 AND fence IS ?7 AND restores IS ?8 \
        AND body = ?9 AND dependencies = ?10 AND verification = ?11 AND scan = ?12 AND binding = ?13 \
        AND fingerprint = ?14 AND created_at = ?15 AND expires_at = ?16 AND era = ?17 AND version = ?20";
    APPROVAL_INSERT = "INSERT INTO approval (fingerprint, proposal, channel, at) VALUES (?1, ?2, ?3, ?4)";

    OBSERVATION_INSERT = "INSERT INTO observation (source, no, seen, owner, digest, size, cut, stamp, looked_at, \
        version) VALUES ((SELECT key FROM source WHERE id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)";
    OBSERVATION_UPDATE = "UPDATE observation SET no = ?2, seen = ?3, owner = ?4, digest = ?5, size = ?6, cut = ?7, \
        stamp = ?8, looked_at = ?9, version = version + 1 \
        WHERE source = (SELECT key FROM source WHERE id = ?1) AND version = ?10";
}
