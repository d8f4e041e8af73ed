-- The window each organisation was last swept with, and a shorter one that waits for a day before anything is deleted by it. No row:
-- nobody has swept since this table came.
CREATE TABLE retention_windows (
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  -- 'visitors' or 'activity'.
  kind TEXT NOT NULL,
  days INTEGER NOT NULL,
  shorter_days INTEGER,
  shorter_since INTEGER,
  PRIMARY KEY (organisation_id, kind)
) STRICT, WITHOUT ROWID;

-- Imports used to take any instant, and what ends in the year 9999 would be visible for ever. An instant from 2050 on becomes the
-- instant of the upgrade; by a fixed bound, so that a clock that is wrong just now moves nothing else.
CREATE TEMP TABLE upgrade AS SELECT unixepoch() * 1000 AS at, 2524608000000 AS bound;
CREATE TEMP TABLE far AS SELECT tracker_id, subject_id, subject_key FROM subjects, upgrade WHERE last_seen_at >= bound;
-- Of two events that then are one, one stays.
UPDATE OR REPLACE events SET occurred_at = (SELECT at FROM upgrade)
  WHERE subject_key IN (SELECT subject_key FROM far) AND occurred_at >= (SELECT bound FROM upgrade);
UPDATE sessions SET
    started_at = iif(started_at >= bound, at, started_at),
    ended_at = at,
    attributes_at = iif(attributes_at >= bound, at, attributes_at),
    event_count = (SELECT count(*) FROM events e
                   WHERE e.subject_key = sessions.subject_key AND e.session_id = sessions.session_id)
  FROM upgrade WHERE subject_key IN (SELECT subject_key FROM far) AND ended_at >= bound;
UPDATE subjects SET
    first_seen_at = first_start, last_seen_at = last_end, oldest_at = min(first_start, oldest_at), event_count = events
  FROM (SELECT tracker_id, subject_id, min(started_at) AS first_start, max(ended_at) AS last_end, sum(event_count) AS events
        FROM far JOIN sessions USING (subject_key) GROUP BY tracker_id, subject_id) AS rest
  WHERE subjects.tracker_id = rest.tracker_id AND subjects.subject_id = rest.subject_id;
DROP TABLE far;
DROP TABLE upgrade;
