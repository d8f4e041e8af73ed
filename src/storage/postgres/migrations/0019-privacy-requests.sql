-- What people asked for. A request holds its person until it is closed. A process that works on a request moves `runs_at` to the end of
-- its lease; otherwise it is the instant from which the request may be leased.
CREATE TABLE privacy_requests (
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  state text NOT NULL,
  reference text,
  received_at bigint NOT NULL,
  due_at bigint NOT NULL,
  extended_at bigint,
  extension_reason text,
  closed_at bigint,
  rejection_reason text,
  person text,
  names_identifiers bigint NOT NULL,
  content_digest text NOT NULL,
  created_at bigint NOT NULL,
  creator_kind text NOT NULL,
  creator_id text,
  creator_name text,
  actor_kind text,
  actor_id text,
  actor_name text,
  request_id text,
  found_subjects bigint NOT NULL,
  found_sessions bigint NOT NULL,
  found_events bigint NOT NULL,
  erased_subjects bigint NOT NULL,
  erased_sessions bigint NOT NULL,
  erased_events bigint NOT NULL,
  searches bigint NOT NULL,
  held_identifiers text NOT NULL,
  searched_at bigint,
  left_subjects bigint,
  resumes_at bigint,
  holder text,
  runs_at bigint NOT NULL,
  assignee_id text COLLATE "C",
  PRIMARY KEY (organisation_id, id)
);
CREATE INDEX privacy_requests_by_due ON privacy_requests (organisation_id, due_at, id);
CREATE INDEX privacy_requests_by_state_and_due ON privacy_requests (organisation_id, state, due_at, id);
CREATE INDEX privacy_requests_by_kind_and_due ON privacy_requests (organisation_id, kind, due_at, id);
CREATE INDEX privacy_requests_by_state_and_kind_and_due ON privacy_requests (organisation_id, state, kind, due_at, id);
CREATE INDEX privacy_requests_by_pending_and_due ON privacy_requests (organisation_id, due_at, id) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_by_pending_and_kind_and_due ON privacy_requests (organisation_id, kind, due_at, id) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_received ON privacy_requests (organisation_id, received_at, id, kind, state, due_at, closed_at);
CREATE INDEX privacy_requests_due ON privacy_requests (due_at) WHERE closed_at IS NULL;
CREATE INDEX privacy_requests_closed ON privacy_requests (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX privacy_requests_running ON privacy_requests (runs_at) WHERE state = 'running';
CREATE INDEX privacy_requests_in_turn ON privacy_requests (organisation_id, runs_at, id) WHERE state = 'running';
CREATE INDEX privacy_requests_leased ON privacy_requests (runs_at) WHERE state = 'running' AND holder IS NOT NULL;
CREATE INDEX privacy_requests_by_assignee_and_state_and_kind_and_due
  ON privacy_requests (organisation_id, assignee_id, state, kind, due_at, id);

-- The subjects that a request erases: the ID only while a subject waits. `held` is 0 for a subject that the person named, but about
-- which nothing was stored. A row without a subject is an identifier about which nothing was stored.
CREATE TABLE privacy_request_items (
  organisation_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  place bigint NOT NULL,
  outcome text NOT NULL,
  tracker_id text COLLATE "C",
  subject_id text COLLATE "C",
  held bigint NOT NULL,
  identifier text,
  sessions bigint,
  events bigint,
  ledger_index bigint,
  sealed_nonce text,
  PRIMARY KEY (organisation_id, request_id, place),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
);
CREATE INDEX privacy_request_items_waiting ON privacy_request_items (organisation_id, request_id, place) WHERE outcome = 'waiting';
CREATE INDEX privacy_request_items_by_subject ON privacy_request_items (tracker_id, subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX privacy_request_items_by_entry ON privacy_request_items (organisation_id, ledger_index) WHERE ledger_index IS NOT NULL;

-- Keyed digests of the identifiers and subjects of each request's person, kept after the request is closed.
CREATE TABLE privacy_request_people (
  organisation_id text COLLATE "C" NOT NULL,
  digest uuid NOT NULL,
  received_at bigint NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (organisation_id, digest, received_at, request_id),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
);
CREATE INDEX privacy_request_people_by_request ON privacy_request_people (organisation_id, request_id);
-- What members write down about a request that is not closed. It may name the person, so closing the request deletes it.
CREATE TABLE privacy_request_notes (
  organisation_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  body text NOT NULL,
  PRIMARY KEY (organisation_id, request_id, id),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
);

-- The subjects that members excluded from a request, as keyed digests.
CREATE TABLE privacy_request_exclusions (
  organisation_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  digest uuid NOT NULL,
  tracker_id text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  at bigint NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  PRIMARY KEY (organisation_id, request_id, digest),
  FOREIGN KEY (organisation_id, request_id) REFERENCES privacy_requests (organisation_id, id)
);

-- The activity of each request, in the order of time.
CREATE INDEX activity_by_privacy_request ON activity (organisation_id, target, at, id) WHERE kind COLLATE "C" >= 'request.' AND kind COLLATE "C" < 'request/';
ALTER TABLE privacy_requests ALTER person SET STATISTICS 0, ALTER reference SET STATISTICS 0,
  ALTER extension_reason SET STATISTICS 0, ALTER rejection_reason SET STATISTICS 0, ALTER content_digest SET STATISTICS 0,
  ALTER creator_name SET STATISTICS 0, ALTER actor_name SET STATISTICS 0, ALTER request_id SET STATISTICS 0;
ALTER TABLE privacy_request_items ALTER subject_id SET STATISTICS 0, ALTER sealed_nonce SET STATISTICS 0;
ALTER TABLE privacy_request_notes ALTER body SET STATISTICS 0, ALTER actor_name SET STATISTICS 0;
ALTER TABLE privacy_request_exclusions ALTER reason SET STATISTICS 0, ALTER actor_name SET STATISTICS 0;
