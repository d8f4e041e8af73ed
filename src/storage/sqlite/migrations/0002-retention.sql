-- Not after the instant at which the first thing of the subject ages out: its earliest event or its earliest end of a session.
-- A sweep walks along the index and meets only subjects that have something to delete.
ALTER TABLE subjects ADD COLUMN oldest_at INTEGER NOT NULL DEFAULT 0;
UPDATE subjects SET oldest_at = min(
  (SELECT min(ended_at) FROM sessions WHERE sessions.subject_key = subjects.subject_key),
  (SELECT coalesce(min(occurred_at), last_seen_at) FROM events WHERE events.subject_key = subjects.subject_key)
);
CREATE INDEX subjects_by_oldest ON subjects (tracker_id, oldest_at);

-- What happened on each day (whole days since 1970-01-01, UTC). Leads to no visitor, so it stays when they go.
CREATE TABLE daily_events (
  tracker_id TEXT NOT NULL REFERENCES trackers (id),
  day INTEGER NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tracker_id, day, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE daily_sessions (
  tracker_id TEXT NOT NULL REFERENCES trackers (id),
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tracker_id, day)
) STRICT, WITHOUT ROWID;

-- SQLite divides towards zero; a day before 1970 begins earlier.
CREATE TEMP TABLE owners (subject_key BLOB PRIMARY KEY, tracker_id TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO owners SELECT subject_key, tracker_id FROM subjects;
INSERT INTO daily_events
  SELECT tracker_id, (occurred_at - (occurred_at % 86400000 + 86400000) % 86400000) / 86400000, name, count(*)
  FROM events JOIN owners USING (subject_key) GROUP BY 1, 2, 3;
INSERT INTO daily_sessions
  SELECT tracker_id, (started_at - (started_at % 86400000 + 86400000) % 86400000) / 86400000, count(*)
  FROM sessions JOIN owners USING (subject_key) GROUP BY 1, 2;
DROP TABLE owners;

-- How often something was deleted, and how far the last scrub had come: it is due while the two differ.
CREATE TABLE scrubs (
  deletions INTEGER NOT NULL,
  scrubbed_deletions INTEGER NOT NULL,
  -- At first, when this table was made.
  scrubbed_at INTEGER NOT NULL
) STRICT;
-- From a store that was in use, something may have been deleted before this was counted.
INSERT INTO scrubs SELECT EXISTS (SELECT 1 FROM organisations), 0, unixepoch() * 1000;
