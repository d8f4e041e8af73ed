-- Ids order by their code points: the bytes of UTF-8 do, so every id is COLLATE "C".
-- Whatever leads to a person gathers no statistics (SET STATISTICS 0): the most common values would outlive an erasure in
-- pg_statistic. The planner then knows nothing of those columns; connections.ts makes up for it.
CREATE TABLE organisations (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE trackers (
  id text COLLATE "C" PRIMARY KEY,
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  name text NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX trackers_by_organisation ON trackers (organisation_id, created_at);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  name text NOT NULL,
  scopes text NOT NULL,
  hash text NOT NULL,
  last_four text NOT NULL,
  created_at bigint NOT NULL,
  rotated_at bigint,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);
CREATE INDEX api_keys_by_organisation ON api_keys (organisation_id, created_at);
ALTER TABLE api_keys ALTER hash SET STATISTICS 0, ALTER last_four SET STATISTICS 0;

-- The tables that grow all hang on the subject key (see domain/subject-key.ts), which a distributed database shards them by. So
-- every unique constraint contains it, and all of a subject is on one shard.
CREATE TABLE subjects (
  subject_key uuid PRIMARY KEY,
  tracker_id text COLLATE "C" NOT NULL REFERENCES trackers (id),
  subject_id text COLLATE "C" NOT NULL,
  first_seen_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  -- Not after the instant at which the first thing of the subject ages out: its earliest event or its earliest end of a session.
  oldest_at bigint NOT NULL,
  session_count bigint NOT NULL,
  event_count bigint NOT NULL
);
CREATE INDEX subjects_by_id ON subjects (tracker_id, subject_id);
CREATE INDEX subjects_by_last_seen ON subjects (tracker_id, last_seen_at, subject_id);
CREATE INDEX subjects_by_oldest ON subjects (tracker_id, oldest_at);
ALTER TABLE subjects ALTER subject_key SET STATISTICS 0, ALTER subject_id SET STATISTICS 0;

CREATE TABLE sessions (
  subject_key uuid NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  event_count bigint NOT NULL,
  attributes text NOT NULL,
  -- The end of the row the attributes came from; null while only events have spoken of the session.
  attributes_at bigint,
  PRIMARY KEY (subject_key, session_id)
);
CREATE INDEX sessions_by_start ON sessions (subject_key, started_at, session_id);
ALTER TABLE sessions ALTER subject_key SET STATISTICS 0, ALTER session_id SET STATISTICS 0,
  ALTER attributes SET STATISTICS 0;

CREATE TABLE events (
  subject_key uuid NOT NULL,
  occurred_at bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  properties text NOT NULL,
  PRIMARY KEY (subject_key, occurred_at, event_id)
);
ALTER TABLE events ALTER subject_key SET STATISTICS 0, ALTER event_id SET STATISTICS 0,
  ALTER session_id SET STATISTICS 0, ALTER properties SET STATISTICS 0;

-- What happened on each day (whole days since 1970-01-01, UTC). Leads to no visitor, so it stays when they go.
CREATE TABLE daily_events (
  tracker_id text COLLATE "C" NOT NULL REFERENCES trackers (id),
  day integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tracker_id, day, name)
);
CREATE TABLE daily_sessions (
  tracker_id text COLLATE "C" NOT NULL REFERENCES trackers (id),
  day integer NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tracker_id, day)
);

-- Deletions are noted with the round they fall into, and each scrub opens a new one: it is due while the last round in which
-- something was deleted has not been scrubbed. A scrub that breaks off leaves it so.
CREATE TABLE scrubs (
  id integer PRIMARY KEY,
  round integer NOT NULL,
  deleted_round integer NOT NULL,
  scrubbed_round integer NOT NULL,
  -- At first, when this table was made.
  scrubbed_at bigint NOT NULL
);
INSERT INTO scrubs VALUES (1, 1, 0, 0, floor(extract(epoch FROM now()) * 1000));
