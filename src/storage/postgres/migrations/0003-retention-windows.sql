-- The window each organisation was last swept with, and a shorter one that waits for a day before anything is deleted by it. No row:
-- nobody has swept since this table came.
CREATE TABLE retention_windows (
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  -- 'visitors' or 'activity'.
  kind text COLLATE "C" NOT NULL,
  days integer NOT NULL,
  shorter_days integer,
  shorter_since bigint,
  PRIMARY KEY (organisation_id, kind)
);

-- Imports used to take any instant, and what ends in the year 9999 would be visible for ever. An instant from 2050 on becomes the
-- instant of the upgrade; by a fixed bound, so that a clock that is wrong just now moves nothing else. Where nothing is that far
-- ahead, the first two statements find it out along the index of subjects, and the others meet nothing.
-- Of two events that would become one, one stays.
DELETE FROM events e USING events later, subjects s
  WHERE s.last_seen_at >= 2524608000000 AND e.subject_key = s.subject_key AND later.subject_key = s.subject_key
    AND e.occurred_at >= 2524608000000 AND later.occurred_at > e.occurred_at AND later.event_id = e.event_id;
UPDATE events e SET occurred_at = floor(extract(epoch FROM now()) * 1000)::bigint FROM subjects s
  WHERE s.last_seen_at >= 2524608000000 AND e.subject_key = s.subject_key AND e.occurred_at >= 2524608000000;
UPDATE sessions x SET started_at = floor(extract(epoch FROM now()) * 1000)::bigint FROM subjects s
  WHERE s.last_seen_at >= 2524608000000 AND x.subject_key = s.subject_key AND x.started_at >= 2524608000000;
UPDATE sessions x SET attributes_at = floor(extract(epoch FROM now()) * 1000)::bigint FROM subjects s
  WHERE s.last_seen_at >= 2524608000000 AND x.subject_key = s.subject_key AND x.attributes_at >= 2524608000000;
UPDATE sessions x SET ended_at = floor(extract(epoch FROM now()) * 1000)::bigint,
    event_count = (SELECT count(*) FROM events e WHERE e.subject_key = x.subject_key AND e.session_id = x.session_id)
  FROM subjects s
  WHERE s.last_seen_at >= 2524608000000 AND x.subject_key = s.subject_key AND x.ended_at >= 2524608000000;
UPDATE subjects s SET
    first_seen_at = (SELECT min(started_at) FROM sessions x WHERE x.subject_key = s.subject_key),
    last_seen_at = (SELECT max(ended_at) FROM sessions x WHERE x.subject_key = s.subject_key),
    oldest_at = least(oldest_at, (SELECT min(started_at) FROM sessions x WHERE x.subject_key = s.subject_key)),
    event_count = (SELECT sum(event_count) FROM sessions x WHERE x.subject_key = s.subject_key)
  WHERE last_seen_at >= 2524608000000;
