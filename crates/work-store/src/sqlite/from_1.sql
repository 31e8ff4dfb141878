-- What schema 2 takes from schema 1 as it is (docs/schema-1.sql), beside the tables that it stands in. The log, the
-- index of what is cited, and proposals follow by program. Every `key` stays, because it is the order in which things
-- were made; what counted no changes of a row begins at 1.

INSERT INTO head
  SELECT 1, id, owner, site, latest_ms, boot, since_boot_ms, 0, 0, zeroblob(32),
    (SELECT count(*) FROM folders), (SELECT count(*) FROM looks), NULL, NULL
  FROM workspace;

INSERT INTO folder (key, id, site, root, label, identity, rules, active, approved_at, since_look, swept_at, version)
  SELECT f.key, f.id, w.site, f.root, f.label, f.identity, f.rules, f.active, f.approved_at, 0, NULL, 1
  FROM folders f CROSS JOIN workspace w ORDER BY f.key;

INSERT INTO source (key, id, folder, path)
  SELECT key, id, folder, path FROM sources ORDER BY key;

-- No folder lay in another, so each decided about its own files. A look from before its folder's latest approval counts
-- no more, and neither does one of the same second, of which it cannot be told.
INSERT INTO observation (source, no, seen, owner, digest, size, cut, stamp, looked_at, version)
  SELECT s.key, row_number() OVER (ORDER BY s.key), l.seen, s.folder, l.digest, l.size, l.cut, NULL, l.looked_at, 1
  FROM looks l JOIN sources s ON s.id = l.source JOIN folders f ON f.id = s.folder
  WHERE l.looked_at > f.approved_at;

INSERT INTO document (key, digest, codec, size, bytes)
  SELECT key, digest, 0, length(bytes), bytes FROM documents ORDER BY key;

INSERT INTO result (key, id, kind, query, scope, accepted, created_at, updated_at, version)
  SELECT key, id, 0, query, scope, accepted, created_at, updated_at, 1 FROM results ORDER BY key;

INSERT INTO task (key, id, kind, repairs, query, scope, state, fence, attempts, holder, lease_began, lease_ends,
    lease_era, outcome, result, revision, proposal, scan, files_read, files, created_at, updated_at, version)
  SELECT t.key, t.id, t.repairs IS NOT NULL, t.repairs, t.query, t.scope, t.state, t.fence, t.attempts,
    CASE t.state WHEN 1 THEN r.worker END, CASE t.state WHEN 1 THEN r.started_at END, t.lease_ends,
    CASE t.state WHEN 1 THEN 0 END, t.outcome, t.result, CASE WHEN t.result IS NOT NULL THEN 1 END, t.proposal,
    t.scan, NULL, NULL, t.created_at, t.updated_at, 1
  FROM tasks t LEFT JOIN runs r ON r.task = t.id AND r.fence = t.fence ORDER BY t.key;

INSERT INTO run (task, fence, id, worker, started_at, ended_at, ended, version)
  SELECT task, fence, id, worker, started_at, ended_at, ended, 1 FROM runs;

INSERT INTO revision (key, result, no, body, dependencies, verification, scan, task, fence, proposal, restored_from,
    created_at)
  SELECT key, result, no, body, dependencies, verification, scan, task, fence, proposal, NULL, created_at
  FROM revisions ORDER BY no, key;
