-- Schema 2 of work.sqlite. Ids are 16 bytes, digests 32, names and texts are bytes; times are whole seconds since the
-- epoch unless a column says _ms. `version` is a row's own count of changes: an update names the one it was decided on.
-- Two foreign keys wait for the commit: a result names its revision, and an ended proposal the one that took its place,
-- before that is there. All others hold at once. (While a deferred key is open, SQLite looks for rows that each insert
-- into its parent would mend: deferring them all made storing a document scan every revision.)

CREATE TABLE head (                          -- one row: read first and written by every batch
  one INTEGER PRIMARY KEY CHECK (one = 1),
  workspace BLOB NOT NULL CHECK (length(workspace) = 16),
  owner BLOB NOT NULL CHECK (length(owner) = 16),
  site BLOB NOT NULL CHECK (length(site) = 16),
  latest_ms INTEGER NOT NULL,                -- the anchor of time, which is never turned back
  boot BLOB NOT NULL CHECK (length(boot) = 16),
  since_boot_ms INTEGER NOT NULL,
  era INTEGER NOT NULL CHECK (era >= 0),     -- grows when time had to start anew: what was pending has ended
  acts INTEGER NOT NULL CHECK (acts >= 0),   -- the tail of the audit log
  chain BLOB NOT NULL CHECK (length(chain) = 32),
  access INTEGER NOT NULL CHECK (access >= 0), -- grows when something may show that did not, or the other way round
  looks INTEGER NOT NULL CHECK (looks >= 0), -- grows with every approval and every observation that says something new
  refresher BLOB CHECK (length(refresher) = 16), -- the one worker that looks at the interval
  refreshes_until INTEGER,
  CHECK ((refresher IS NULL) = (refreshes_until IS NULL))
) STRICT;

CREATE TABLE folder (                        -- grants, revoked ones too ("grant" is reserved in SQL)
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  site BLOB NOT NULL CHECK (length(site) = 16),
  root BLOB NOT NULL,
  label BLOB NOT NULL,
  identity BLOB NOT NULL,                    -- JSON
  rules BLOB NOT NULL,                       -- JSON
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  approved_at INTEGER NOT NULL,
  since_look INTEGER NOT NULL,               -- head.looks at approval: older observations do not count
  swept_at INTEGER,                          -- the last look that covered every source of it and found nothing new
  version INTEGER NOT NULL CHECK (version >= 1),
  UNIQUE (site, root)
) STRICT;

CREATE TABLE source (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  folder BLOB NOT NULL REFERENCES folder (id),
  path BLOB NOT NULL,
  UNIQUE (folder, path)
) STRICT;

CREATE TABLE observation (                   -- the latest look at a source
  source INTEGER PRIMARY KEY REFERENCES source (key),
  no INTEGER NOT NULL,                       -- head.looks when it was saved
  seen INTEGER NOT NULL CHECK (seen BETWEEN 0 AND 4), -- bytes, missing, unstable, unreachable, denied
  owner BLOB NOT NULL REFERENCES folder (id), -- the grant that decided
  digest BLOB CHECK (length(digest) = 32),
  size INTEGER CHECK (size >= 0),
  cut INTEGER CHECK (cut IN (0, 1)),
  stamp BLOB CHECK (length(stamp) = 40),     -- device, inode, size, modified, changed: eight bytes each, highest first
  looked_at INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  CHECK ((seen = 0) = (digest IS NOT NULL)),
  CHECK ((digest IS NULL) = (size IS NULL)),
  CHECK ((digest IS NULL) = (cut IS NULL))
) STRICT;

CREATE TABLE document (                      -- body, dependencies, verification, scan, binding: once, hashed as stored
  key INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  codec INTEGER NOT NULL,                    -- 0: as it is; room for compression
  size INTEGER NOT NULL CHECK (size >= 0),   -- of the plain bytes
  bytes BLOB                                 -- NULL: only the digest is kept
) STRICT;

CREATE TABLE result (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  kind INTEGER NOT NULL CHECK (kind = 0),    -- an excerpt report
  query BLOB NOT NULL,
  scope BLOB NOT NULL CHECK (length(scope) % 16 = 0), -- ids of folders, one after the other
  accepted INTEGER NOT NULL CHECK (accepted >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  FOREIGN KEY (id, accepted) REFERENCES revision (result, no) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX result_latest ON result (updated_at, id);

CREATE TABLE revision (
  key INTEGER PRIMARY KEY,
  result BLOB NOT NULL REFERENCES result (id),
  no INTEGER NOT NULL CHECK (no >= 1),
  body BLOB NOT NULL REFERENCES document (digest),
  dependencies BLOB NOT NULL REFERENCES document (digest),
  verification BLOB NOT NULL REFERENCES document (digest),
  scan BLOB NOT NULL REFERENCES document (digest),
  task BLOB,                                 -- the run that published or prepared it
  fence INTEGER,
  proposal BLOB UNIQUE REFERENCES proposal (id), -- what was approved
  restored_from INTEGER,                     -- the earlier revision that it brought back
  created_at INTEGER NOT NULL,
  UNIQUE (result, no),
  FOREIGN KEY (task, fence) REFERENCES run (task, fence),
  FOREIGN KEY (result, restored_from) REFERENCES revision (result, no),
  CHECK ((task IS NULL) = (fence IS NULL)),
  CHECK ((task IS NULL) = (restored_from IS NOT NULL)),
  CHECK (task IS NOT NULL OR proposal IS NOT NULL),
  CHECK (restored_from < no)
) STRICT;

CREATE TABLE quotation (                     -- of accepted revisions alone, replaced by each apply
  result BLOB NOT NULL REFERENCES result (id),
  n INTEGER NOT NULL CHECK (n >= 1),
  source INTEGER NOT NULL REFERENCES source (key),
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  size INTEGER NOT NULL CHECK (size >= 0),
  cut INTEGER NOT NULL CHECK (cut IN (0, 1)),
  against BLOB CHECK (length(against) = 32), -- a finding counts only while this is the observed digest
  finding INTEGER CHECK (finding BETWEEN 0 AND 6),
  at_byte INTEGER CHECK (at_byte >= 0),
  PRIMARY KEY (result, n),
  CHECK ((against IS NULL) = (finding IS NULL)),
  CHECK ((finding IS 1) = (at_byte IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX quotation_source ON quotation (source, result);

CREATE TABLE cite (                          -- who ever cited a source; an index, never an authority
  source INTEGER NOT NULL REFERENCES source (key),
  result BLOB NOT NULL,
  no INTEGER NOT NULL,
  PRIMARY KEY (source, result, no),
  FOREIGN KEY (result, no) REFERENCES revision (result, no)
) STRICT, WITHOUT ROWID;

CREATE TABLE task (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)), -- report, repair
  repairs BLOB REFERENCES result (id),
  query BLOB NOT NULL,
  scope BLOB NOT NULL CHECK (length(scope) % 16 = 0),
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4), -- queued, running, succeeded, failed, cancelled
  fence INTEGER NOT NULL CHECK (fence >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  holder BLOB CHECK (length(holder) = 16),
  lease_began INTEGER,
  lease_ends INTEGER,
  lease_era INTEGER,
  outcome INTEGER,                           -- succeeded: published, proposed, no change; failed: why
  result BLOB,                               -- what was published
  revision INTEGER,
  proposal BLOB REFERENCES proposal (id), -- what was proposed
  scan BLOB REFERENCES document (digest), -- what was scanned before it failed
  files_read INTEGER,                        -- progress of the present lease
  files INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  FOREIGN KEY (result, revision) REFERENCES revision (result, no),
  CHECK ((kind = 1) = (repairs IS NOT NULL)),
  CHECK ((state = 1) = (holder IS NOT NULL)),
  CHECK ((holder IS NULL) = (lease_began IS NULL)),
  CHECK ((holder IS NULL) = (lease_ends IS NULL)),
  CHECK ((holder IS NULL) = (lease_era IS NULL)),
  CHECK (state = 1 OR (files_read IS NULL AND files IS NULL)),
  CHECK ((state IN (2, 3)) = (outcome IS NOT NULL)),
  CHECK ((state = 2 AND outcome = 0) = (result IS NOT NULL)),
  CHECK ((result IS NULL) = (revision IS NULL)),
  CHECK ((state = 2 AND outcome = 1) = (proposal IS NOT NULL)),
  CHECK (state = 3 OR scan IS NULL)
) STRICT;
CREATE INDEX task_open ON task (key) WHERE state IN (0, 1);

CREATE TABLE run (
  task BLOB NOT NULL REFERENCES task (id),
  fence INTEGER NOT NULL CHECK (fence >= 1),
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  worker BLOB NOT NULL CHECK (length(worker) = 16),
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  ended INTEGER CHECK (ended BETWEEN 0 AND 4), -- finished, failed, gave back, cancelled, silent
  version INTEGER NOT NULL CHECK (version >= 1),
  PRIMARY KEY (task, fence),
  CHECK ((ended_at IS NULL) = (ended IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE request (                       -- digests of client keys; forgotten a few at a time
  key BLOB PRIMARY KEY CHECK (length(key) = 32),
  asks BLOB NOT NULL CHECK (length(asks) = 32),
  task BLOB NOT NULL REFERENCES task (id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX request_age ON request (created_at);

CREATE TABLE proposal (
  key INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  result BLOB NOT NULL REFERENCES result (id),
  kind INTEGER NOT NULL CHECK (kind IN (0, 1)), -- repair, restore
  state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4), -- pending, applied, superseded, dismissed, expired
  base INTEGER NOT NULL,                     -- the accepted revision that it was made for
  task BLOB,                                 -- the run that prepared a repair
  fence INTEGER,
  restores INTEGER,                          -- the revision that a restore brings back
  body BLOB NOT NULL REFERENCES document (digest),
  dependencies BLOB NOT NULL REFERENCES document (digest),
  verification BLOB NOT NULL REFERENCES document (digest),
  scan BLOB NOT NULL REFERENCES document (digest),
  binding BLOB NOT NULL REFERENCES document (digest),
  fingerprint BLOB NOT NULL UNIQUE CHECK (length(fingerprint) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  era INTEGER NOT NULL CHECK (era >= 0),
  ended_at INTEGER,
  superseded_by BLOB REFERENCES proposal (id) DEFERRABLE INITIALLY DEFERRED,
  version INTEGER NOT NULL CHECK (version >= 1),
  FOREIGN KEY (task, fence) REFERENCES run (task, fence),
  FOREIGN KEY (result, base) REFERENCES revision (result, no),
  FOREIGN KEY (result, restores) REFERENCES revision (result, no),
  CHECK ((kind = 0) = (task IS NOT NULL)),
  CHECK ((task IS NULL) = (fence IS NULL)),
  CHECK ((kind = 1) = (restores IS NOT NULL)),
  CHECK ((state = 0) = (ended_at IS NULL)),
  CHECK ((state = 2) = (superseded_by IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX proposal_one_pending ON proposal (result, kind) WHERE state = 0;
CREATE INDEX proposal_successor ON proposal (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX proposal_of ON proposal (result, key);
CREATE INDEX proposal_ending ON proposal (kind, era, expires_at) WHERE state = 0;

CREATE TABLE approval (                      -- the second lock on "once"
  fingerprint BLOB PRIMARY KEY REFERENCES proposal (fingerprint),
  proposal BLOB NOT NULL UNIQUE REFERENCES proposal (id),
  channel INTEGER NOT NULL CHECK (channel BETWEEN 0 AND 2), -- command line, HTTP, library
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE event (                         -- the audit log
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  act BLOB NOT NULL UNIQUE CHECK (length(act) = 16),
  at INTEGER NOT NULL,
  subject BLOB CHECK (length(subject) = 16),
  bytes BLOB NOT NULL,
  previous BLOB NOT NULL UNIQUE CHECK (length(previous) = 32), -- unique: the chain cannot fork
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32)
) STRICT;
CREATE INDEX event_subject ON event (subject, seq);

-- The second lock on what is never changed, erased or turned back. Whoever inserts over a unique key with REPLACE
-- deletes the row that was there; where a key is not the one that is counted up, the insert itself is refused.

-- Time goes back only where an era begins, which ends all that was pending: the owner's word after a wrong clock.
CREATE TRIGGER head_forward BEFORE UPDATE ON head
  WHEN NEW.one <> OLD.one OR NEW.workspace <> OLD.workspace OR NEW.owner <> OLD.owner OR NEW.site <> OLD.site
    OR (NEW.era, NEW.latest_ms) < (OLD.era, OLD.latest_ms) OR NEW.access < OLD.access OR NEW.looks < OLD.looks
    OR NEW.acts <> (SELECT coalesce(max(seq), 0) FROM event)
    OR NEW.chain <> coalesce((SELECT digest FROM event WHERE seq = NEW.acts), zeroblob(32))
  BEGIN SELECT raise(ABORT, 'head: forward'); END;
CREATE TRIGGER head_kept BEFORE DELETE ON head BEGIN SELECT raise(ABORT, 'head: kept'); END;

CREATE TRIGGER event_next BEFORE INSERT ON event
  WHEN NEW.seq <> 1 + (SELECT acts FROM head) OR NEW.previous <> (SELECT chain FROM head)
    OR EXISTS (SELECT 1 FROM event WHERE act = NEW.act) OR EXISTS (SELECT 1 FROM event WHERE digest = NEW.digest)
  BEGIN SELECT raise(ABORT, 'event: next'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT raise(ABORT, 'event: fixed'); END;
CREATE TRIGGER event_kept BEFORE DELETE ON event BEGIN SELECT raise(ABORT, 'event: kept'); END;

CREATE TRIGGER revision_next BEFORE INSERT ON revision
  WHEN NEW.no <> 1 + coalesce((SELECT max(no) FROM revision WHERE result = NEW.result), 0)
    OR EXISTS (SELECT 1 FROM revision WHERE proposal = NEW.proposal)
  BEGIN SELECT raise(ABORT, 'revision: next'); END;
CREATE TRIGGER revision_fixed BEFORE UPDATE ON revision BEGIN SELECT raise(ABORT, 'revision: fixed'); END;
CREATE TRIGGER revision_kept BEFORE DELETE ON revision BEGIN SELECT raise(ABORT, 'revision: kept'); END;

CREATE TRIGGER approval_once BEFORE INSERT ON approval
  WHEN EXISTS (SELECT 1 FROM approval WHERE fingerprint = NEW.fingerprint)
    OR EXISTS (SELECT 1 FROM approval WHERE proposal = NEW.proposal)
  BEGIN SELECT raise(ABORT, 'approval: once'); END;
CREATE TRIGGER approval_fixed BEFORE UPDATE ON approval BEGIN SELECT raise(ABORT, 'approval: fixed'); END;
CREATE TRIGGER approval_kept BEFORE DELETE ON approval BEGIN SELECT raise(ABORT, 'approval: kept'); END;

CREATE TRIGGER result_forward BEFORE UPDATE ON result
  WHEN NEW.id <> OLD.id OR NEW.kind <> OLD.kind OR NEW.query <> OLD.query OR NEW.scope <> OLD.scope
    OR NEW.created_at <> OLD.created_at OR NEW.accepted < OLD.accepted OR NEW.version <> OLD.version + 1
  BEGIN SELECT raise(ABORT, 'result: forward'); END;
CREATE TRIGGER result_kept BEFORE DELETE ON result BEGIN SELECT raise(ABORT, 'result: kept'); END;

CREATE TRIGGER proposal_fixed BEFORE UPDATE ON proposal
  WHEN NEW.id <> OLD.id OR NEW.result <> OLD.result OR NEW.kind <> OLD.kind OR NEW.base <> OLD.base
    OR NEW.task IS NOT OLD.task OR NEW.fence IS NOT OLD.fence OR NEW.restores IS NOT OLD.restores
    OR NEW.body <> OLD.body OR NEW.dependencies <> OLD.dependencies OR NEW.verification <> OLD.verification
    OR NEW.scan <> OLD.scan OR NEW.binding <> OLD.binding OR NEW.fingerprint <> OLD.fingerprint
    OR NEW.created_at <> OLD.created_at OR NEW.expires_at <> OLD.expires_at OR NEW.era <> OLD.era
  BEGIN SELECT raise(ABORT, 'proposal: fixed'); END;
CREATE TRIGGER proposal_ended BEFORE UPDATE ON proposal WHEN OLD.state <> 0
  BEGIN SELECT raise(ABORT, 'proposal: ended'); END;
CREATE TRIGGER proposal_kept BEFORE DELETE ON proposal BEGIN SELECT raise(ABORT, 'proposal: kept'); END;

CREATE TRIGGER task_fixed BEFORE UPDATE ON task
  WHEN NEW.id <> OLD.id OR NEW.kind <> OLD.kind OR NEW.repairs IS NOT OLD.repairs OR NEW.query <> OLD.query
    OR NEW.scope <> OLD.scope OR NEW.created_at <> OLD.created_at OR NEW.fence < OLD.fence
  BEGIN SELECT raise(ABORT, 'task: fixed'); END;
CREATE TRIGGER task_ended BEFORE UPDATE ON task WHEN OLD.state > 1
  BEGIN SELECT raise(ABORT, 'task: ended'); END;
CREATE TRIGGER task_kept BEFORE DELETE ON task BEGIN SELECT raise(ABORT, 'task: kept'); END;

CREATE TRIGGER run_ended BEFORE UPDATE ON run
  WHEN OLD.ended IS NOT NULL OR NEW.task <> OLD.task OR NEW.fence <> OLD.fence OR NEW.id <> OLD.id
    OR NEW.worker <> OLD.worker OR NEW.started_at <> OLD.started_at
  BEGIN SELECT raise(ABORT, 'run: ended'); END;
CREATE TRIGGER run_kept BEFORE DELETE ON run BEGIN SELECT raise(ABORT, 'run: kept'); END;

CREATE TRIGGER folder_fixed BEFORE UPDATE ON folder
  WHEN NEW.id <> OLD.id OR NEW.site <> OLD.site OR NEW.root <> OLD.root
  BEGIN SELECT raise(ABORT, 'folder: fixed'); END;
CREATE TRIGGER folder_kept BEFORE DELETE ON folder BEGIN SELECT raise(ABORT, 'folder: kept'); END;
CREATE TRIGGER source_fixed BEFORE UPDATE ON source BEGIN SELECT raise(ABORT, 'source: fixed'); END;
CREATE TRIGGER source_kept BEFORE DELETE ON source BEGIN SELECT raise(ABORT, 'source: kept'); END;
CREATE TRIGGER cite_fixed BEFORE UPDATE ON cite BEGIN SELECT raise(ABORT, 'cite: fixed'); END;
CREATE TRIGGER cite_kept BEFORE DELETE ON cite BEGIN SELECT raise(ABORT, 'cite: kept'); END;

CREATE TRIGGER document_fixed BEFORE UPDATE ON document WHEN NEW.digest <> OLD.digest OR NEW.size <> OLD.size
  BEGIN SELECT raise(ABORT, 'document: fixed'); END;
CREATE TRIGGER document_kept BEFORE DELETE ON document BEGIN SELECT raise(ABORT, 'document: kept'); END;
