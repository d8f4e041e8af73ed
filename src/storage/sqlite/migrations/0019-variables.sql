-- Remote config. Each version holds all variables of a tracker; the newest is the current one.
CREATE TABLE variable_versions (
  tracker_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  document TEXT NOT NULL,
  digest TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  added INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  PRIMARY KEY (tracker_id, version)
) STRICT;
-- Credentials that read them.
CREATE TABLE variable_tokens (
  id TEXT NOT NULL PRIMARY KEY,
  tracker_id TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  last_four TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX variable_tokens_by_tracker ON variable_tokens (tracker_id, created_at, id);
