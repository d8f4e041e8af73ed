-- Erasures that a member asked for together. Who holds one works on it, until the instant that stands beside; what it erased stands
-- here once it is over.
CREATE TABLE erasure_batches (
  id text COLLATE "C" PRIMARY KEY,
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  state text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  request_id text,
  created_at bigint NOT NULL,
  finished_at bigint,
  lines bigint NOT NULL,
  nothing_lines bigint NOT NULL,
  invalid_lines bigint NOT NULL,
  repeated_lines bigint NOT NULL,
  subjects bigint NOT NULL,
  erased bigint,
  sessions bigint,
  events bigint,
  holder text,
  held_until bigint NOT NULL,
  stepped_at bigint NOT NULL
);
CREATE INDEX erasure_batches_by_organisation ON erasure_batches (organisation_id, created_at, id);
CREATE INDEX erasure_batches_by_state ON erasure_batches (state, stepped_at, id);
CREATE INDEX erasure_batches_open ON erasure_batches (created_at) WHERE finished_at IS NULL;
CREATE INDEX erasure_batches_finished ON erasure_batches (finished_at) WHERE finished_at IS NOT NULL;

-- Subjects that wait for their turn, with their ids; what became of those that have had it, without. The nonce of a receipt is sealed
-- with a secret that is not in the store: with it, whoever guesses an id could tell that it was this one.
CREATE TABLE erasure_batch_items (
  batch_id text COLLATE "C" NOT NULL REFERENCES erasure_batches (id),
  place bigint NOT NULL,
  line bigint NOT NULL,
  outcome text NOT NULL,
  tracker_id text COLLATE "C",
  subject_id text COLLATE "C",
  sessions bigint,
  events bigint,
  ledger_index bigint,
  sealed_nonce text,
  PRIMARY KEY (batch_id, place)
);
CREATE INDEX erasure_batch_items_waiting ON erasure_batch_items (batch_id, place) WHERE outcome = 'waiting';
CREATE INDEX erasure_batch_items_by_subject ON erasure_batch_items (tracker_id, subject_id) WHERE subject_id IS NOT NULL;
ALTER TABLE erasure_batches ALTER actor_name SET STATISTICS 0, ALTER request_id SET STATISTICS 0;
ALTER TABLE erasure_batch_items ALTER subject_id SET STATISTICS 0, ALTER sealed_nonce SET STATISTICS 0;
