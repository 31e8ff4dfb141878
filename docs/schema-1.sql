-- Schema 1 of work.sqlite, as trial versions wrote it: results, revisions, tasks, a log, and repairs that wait for
-- approval. `application_id` is 0x776f726b as ever, `user_version` is 1. Opening such a file for writing brings it to
-- schema 2 (crates/work-store/src/sqlite/schema.sql) in one transaction; nothing writes schema 1 any more, but
-- `cargo run -p work-store --example schema_1 -- FILE` makes a file of it. This text never changes.
--
-- Ids are 16 bytes, digests 32, names and texts are bytes; times are whole seconds since the epoch unless a column says
-- _ms. Stored documents (bodies, dependencies, verifications, scan records) have the bytes and digests that they have
-- today. What version 1 did not know: restores, eras, the chain of the log, which grant decided a look, client keys,
-- how often a row had changed, and an index of what is cited.

CREATE TABLE workspace (                     -- one row
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id BLOB NOT NULL CHECK (length(id) = 16),
  owner BLOB NOT NULL CHECK (length(owner) = 16),
  site BLOB NOT NULL CHECK (length(site) = 16),
  latest_ms INTEGER NOT NULL,                -- the anchor of time, in one era that never ended
  boot BLOB NOT NULL CHECK (length(boot) = 16),
  since_boot_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE folders (                       -- none lies in another
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  root BLOB NOT NULL UNIQUE,
  label BLOB NOT NULL,
  identity BLOB NOT NULL,                    -- JSON
  rules BLOB NOT NULL,                       -- JSON
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  approved_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sources (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  folder BLOB NOT NULL REFERENCES folders (id),
  path BLOB NOT NULL,
  UNIQUE (folder, path)
) STRICT;

CREATE TABLE looks (                         -- the latest look at a source
  source BLOB PRIMARY KEY REFERENCES sources (id),
  seen INTEGER NOT NULL CHECK (seen BETWEEN 0 AND 4), -- bytes, missing, unstable, unreachable, denied
  digest BLOB CHECK (length(digest) = 32),
  size INTEGER CHECK (size >= 0),
  cut INTEGER CHECK (cut IN (0, 1)),
  looked_at INTEGER NOT NULL,
  CHECK ((seen = 0) = (digest IS NOT NULL)),
  CHECK ((digest IS NULL) = (size IS NULL)),
  CHECK ((digest IS NULL) = (cut IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
  key INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE results (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  query BLOB NOT NULL,
  scope BLOB NOT NULL CHECK (length(scope) % 16 = 0), -- ids of folders, one after the other
  accepted INTEGER NOT NULL CHECK (accepted >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE revisions (                     -- from 1 without gaps; the first is published, each later one a repair
  key INTEGER PRIMARY KEY,
  result BLOB NOT NULL REFERENCES results (id),
  no INTEGER NOT NULL CHECK (no >= 1),
  body BLOB NOT NULL REFERENCES documents (digest),
  dependencies BLOB NOT NULL REFERENCES documents (digest),
  verification BLOB NOT NULL REFERENCES documents (digest),
  scan BLOB NOT NULL REFERENCES documents (digest),
  task BLOB NOT NULL,                        -- the run that published or prepared it
  fence INTEGER NOT NULL,
  proposal BLOB UNIQUE REFERENCES proposals (id), -- what was approved
  created_at INTEGER NOT NULL,
  UNIQUE (result, no),
  FOREIGN KEY (task, fence) REFERENCES runs (task, fence),
  CHECK ((no = 1) = (proposal IS NULL))
) STRICT;

CREATE TABLE tasks (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  repairs BLOB REFERENCES results (id),      -- a repair; else a report
  query BLOB NOT NULL,
  scope BLOB NOT NULL CHECK (length(scope) % 16 = 0),
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4), -- queued, running, succeeded, failed, cancelled
  fence INTEGER NOT NULL CHECK (fence >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  lease_ends INTEGER,                        -- of the run with this fencing number
  outcome INTEGER,                           -- succeeded: published, proposed, no change; failed: why
  result BLOB,                               -- what was published, as its first revision
  proposal BLOB REFERENCES proposals (id),   -- what was proposed
  scan BLOB REFERENCES documents (digest),   -- what was scanned before it failed
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((state = 1) = (lease_ends IS NOT NULL)),
  CHECK ((state IN (2, 3)) = (outcome IS NOT NULL)),
  CHECK ((state = 2 AND outcome = 0) = (result IS NOT NULL)),
  CHECK ((state = 2 AND outcome = 1) = (proposal IS NOT NULL))
) STRICT;

CREATE TABLE runs (
  task BLOB NOT NULL REFERENCES tasks (id),
  fence INTEGER NOT NULL CHECK (fence >= 1),
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  worker BLOB NOT NULL CHECK (length(worker) = 16),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  ended INTEGER CHECK (ended BETWEEN 0 AND 4), -- finished, failed, gave back, cancelled, silent
  PRIMARY KEY (task, fence),
  CHECK ((ended_at IS NULL) = (ended IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (                     -- repairs; several of one result may wait, and applying one ends no other
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  result BLOB NOT NULL REFERENCES results (id),
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3), -- pending, applied, dismissed, expired
  base INTEGER NOT NULL,                     -- the accepted revision that it was made for
  task BLOB NOT NULL,
  fence INTEGER NOT NULL,
  body BLOB NOT NULL REFERENCES documents (digest),
  dependencies BLOB NOT NULL REFERENCES documents (digest),
  verification BLOB NOT NULL REFERENCES documents (digest),
  scan BLOB NOT NULL REFERENCES documents (digest),
  fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 32), -- canonical bytes `work.fingerprint/1`: id, result,
                                             -- base, digest of the proposed body, created_at, expires_at
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  channel INTEGER CHECK (channel BETWEEN 0 AND 2), -- of the approval: command line, HTTP, library
  FOREIGN KEY (result, base) REFERENCES revisions (result, no),
  FOREIGN KEY (task, fence) REFERENCES runs (task, fence),
  CHECK ((state = 0) = (ended_at IS NULL)),
  CHECK ((state = 1) = (channel IS NOT NULL))
) STRICT;

CREATE TABLE events (                        -- the log, in the order in which things happened
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  act BLOB NOT NULL UNIQUE CHECK (length(act) = 16),
  at INTEGER NOT NULL,
  bytes BLOB NOT NULL                        -- JSON, as today
) STRICT;
