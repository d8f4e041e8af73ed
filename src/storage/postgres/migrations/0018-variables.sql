-- Remote config. Each version holds all variables of a tracker; the newest is the current one.
CREATE TABLE variable_versions (
  tracker_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  document text NOT NULL,
  digest text NOT NULL,
  changed_at bigint NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  added bigint NOT NULL,
  changed bigint NOT NULL,
  removed bigint NOT NULL,
  PRIMARY KEY (tracker_id, version)
);
-- Credentials that read them.
CREATE TABLE variable_tokens (
  id text COLLATE "C" PRIMARY KEY,
  tracker_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  hash text NOT NULL,
  last_four text NOT NULL,
  created_at bigint NOT NULL,
  rotated_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
CREATE INDEX variable_tokens_by_tracker ON variable_tokens (tracker_id, created_at, id);
