-- Erasures that a member asked for together. Who holds one works on it, until the instant that stands beside; what it erased stands
-- here once it is over.
CREATE TABLE erasure_batches (
  id TEXT PRIMARY KEY,
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  state TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  request_id TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  lines INTEGER NOT NULL,
  nothing_lines INTEGER NOT NULL,
  invalid_lines INTEGER NOT NULL,
  repeated_lines INTEGER NOT NULL,
  subjects INTEGER NOT NULL,
  erased INTEGER,
  sessions INTEGER,
  events INTEGER,
  holder TEXT,
  held_until INTEGER NOT NULL,
  stepped_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX erasure_batches_by_organisation ON erasure_batches (organisation_id, created_at, id);
CREATE INDEX erasure_batches_by_state ON erasure_batches (state, stepped_at, id);
CREATE INDEX erasure_batches_open ON erasure_batches (created_at) WHERE finished_at IS NULL;
CREATE INDEX erasure_batches_finished ON erasure_batches (finished_at) WHERE finished_at IS NOT NULL;

-- Subjects that wait for their turn, with their ids; what became of those that have had it, without. The nonce of a receipt is sealed
-- with a secret that is not in the store: with it, whoever guesses an id could tell that it was this one.
CREATE TABLE erasure_batch_items (
  batch_id TEXT NOT NULL REFERENCES erasure_batches (id),
  place INTEGER NOT NULL,
  line INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  tracker_id TEXT,
  subject_id TEXT,
  sessions INTEGER,
  events INTEGER,
  ledger_index INTEGER,
  sealed_nonce TEXT,
  PRIMARY KEY (batch_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX erasure_batch_items_waiting ON erasure_batch_items (batch_id, place) WHERE outcome = 'waiting';
CREATE INDEX erasure_batch_items_by_subject ON erasure_batch_items (tracker_id, subject_id) WHERE subject_id IS NOT NULL;
