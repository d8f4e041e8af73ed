CREATE TABLE organisations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE trackers (
  id TEXT PRIMARY KEY,
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trackers_by_organisation ON trackers (organisation_id, created_at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  hash TEXT NOT NULL,
  last_four TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_organisation ON api_keys (organisation_id, created_at);

-- A subject's id stands in its row here and in no other table. Clustered in the order in which pages list it.
CREATE TABLE subjects (
  tracker_id TEXT NOT NULL REFERENCES trackers (id),
  subject_id TEXT NOT NULL,
  subject_key BLOB NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  session_count INTEGER NOT NULL,
  event_count INTEGER NOT NULL,
  PRIMARY KEY (tracker_id, subject_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX subjects_by_last_seen ON subjects (tracker_id, last_seen_at, subject_id);

-- Sessions and events hang on the subject key (see domain/subject-key.ts), clustered so that all of a subject is one range.
-- No foreign key leads up from them: it would cost a look-up per event, and every write keeps them in one transaction anyway.
CREATE TABLE sessions (
  subject_key BLOB NOT NULL,
  session_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  event_count INTEGER NOT NULL,
  attributes TEXT NOT NULL,
  -- The end of the row the attributes came from; null while only events have spoken of the session.
  attributes_at INTEGER,
  PRIMARY KEY (subject_key, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_start ON sessions (subject_key, started_at, session_id);

CREATE TABLE events (
  subject_key BLOB NOT NULL,
  occurred_at INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  properties TEXT NOT NULL,
  PRIMARY KEY (subject_key, occurred_at, event_id)
) STRICT, WITHOUT ROWID;
