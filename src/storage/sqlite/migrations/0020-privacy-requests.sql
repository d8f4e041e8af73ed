-- What people asked for. A request holds its person until it is closed. A process that works on a request moves `runs_at` to the end of
-- its lease; otherwise it is the instant from which the request may be leased.
CREATE TABLE privacy_requests (
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  reference TEXT,
  received_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  extended_at INTEGER,
  extension_reason TEXT,
  closed_at INTEGER,
  rejection_reason TEXT,
  person TEXT,
  names_identifiers INTEGER NOT NULL,
  content_digest TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  creator_kind TEXT NOT NULL,
  creator_id TEXT,
  creator_name TEXT,
  actor_kind TEXT,
  actor_id TEXT,
  actor_name TEXT,
  request_id TEXT,
  found_subjects INTEGER NOT NULL,
  found_sessions INTEGER NOT NULL,
  found_events INTEGER NOT NULL,
  erased_subjects INTEGER NOT NULL,
  erased_sessions INTEGER NOT NULL,
  erased_events INTEGER NOT NULL,
  searches INTEGER NOT NULL,
  held_identifiers TEXT NOT NULL,
  searched_at INTEGER,
  left_subjects INTEGER,
  resumes_at INTEGER,
  holder TEXT,
  runs_at INTEGER NOT NULL,
  assignee_id TEXT,
  PRIMARY KEY (organisation_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX privacy_requests_by_due ON privacy_requests (organisation_id, due_at, id);
CREATE INDEX privacy_requests_by_state_and_due ON privacy_requests (organisation_id, state, due_at, id);
CREATE INDEX privacy_requests_by_kind_and_due ON privacy_requests (organisation_id, kind, due_at, id);
CREATE INDEX privacy_requests_by_state_and_kind_and_due ON privacy_requests (organisation_id, state, kind, due_at, id);
CREATE INDEX privacy_requests_by_pending_and_due ON privacy_requests (organisation_id, due_at, id) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_by_pending_and_kind_and_due ON privacy_requests (organisation_id, kind, due_at, id) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_received ON privacy_requests (organisation_id, received_at, id, kind, state, due_at, closed_at);
-- With `closed_at`, although it is always null, SQLite counts without reading the rows.
CREATE INDEX privacy_requests_due ON privacy_requests (due_at, closed_at) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_closed ON privacy_requests (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX privacy_requests_running ON privacy_requests (runs_at) WHERE state = 'running';
CREATE INDEX privacy_requests_in_turn ON privacy_requests (organisation_id, runs_at, id) WHERE state = 'running';
CREATE INDEX privacy_requests_leased ON privacy_requests (runs_at) WHERE state = 'running' AND holder IS NOT NULL;
CREATE INDEX privacy_requests_by_assignee_and_state_and_kind_and_due
  ON privacy_requests (organisation_id, assignee_id, state, kind, due_at, id);

-- The subjects that a request erases: the ID only while a subject waits. `held` is 0 for a subject that the person named, but about
-- which nothing was stored. A row without a subject is an identifier about which nothing was stored.
CREATE TABLE privacy_request_items (
  organisation_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  tracker_id TEXT,
  subject_id TEXT,
  held INTEGER NOT NULL,
  identifier TEXT,
  sessions INTEGER,
  events INTEGER,
  ledger_index INTEGER,
  sealed_nonce TEXT,
  PRIMARY KEY (organisation_id, request_id, place),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX privacy_request_items_waiting ON privacy_request_items (organisation_id, request_id, place) WHERE outcome = 'waiting';
CREATE INDEX privacy_request_items_by_subject ON privacy_request_items (tracker_id, subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX privacy_request_items_by_entry ON privacy_request_items (organisation_id, ledger_index) WHERE ledger_index IS NOT NULL;

-- Keyed digests of the identifiers and subjects of each request's person, kept after the request is closed.
CREATE TABLE privacy_request_people (
  organisation_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  received_at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  PRIMARY KEY (organisation_id, digest, received_at, request_id),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX privacy_request_people_by_request ON privacy_request_people (organisation_id, request_id);

-- What members write down about a request that is not closed. It may name the person, so closing the request deletes it.
CREATE TABLE privacy_request_notes (
  organisation_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  id TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  body TEXT NOT NULL,
  PRIMARY KEY (organisation_id, request_id, id),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
) STRICT, WITHOUT ROWID;

-- The subjects that members excluded from a request, as keyed digests.
CREATE TABLE privacy_request_exclusions (
  organisation_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  tracker_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  PRIMARY KEY (organisation_id, request_id, digest),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
) STRICT, WITHOUT ROWID;

-- The activity of each request, in the order of time.
CREATE INDEX activity_by_privacy_request ON activity (organisation_id, target, at, id) WHERE kind >= 'request.' AND kind < 'request/';
