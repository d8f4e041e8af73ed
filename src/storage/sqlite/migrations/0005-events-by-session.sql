-- The sessions of most subjects come one after the other, so the span of one holds its own events and no others. Only where sessions
-- overlap and events are many (see storage/interleaving.ts) is there an index by session: everybody else's erasure would pay for it.
ALTER TABLE subjects ADD COLUMN interleaved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN interleaved INTEGER NOT NULL DEFAULT 0;
UPDATE subjects SET interleaved = 1 WHERE event_count > 1000 AND EXISTS (
  SELECT 1 FROM sessions a JOIN sessions b ON b.subject_key = a.subject_key AND b.session_id <> a.session_id
    AND b.started_at >= a.started_at AND b.started_at <= a.ended_at
  WHERE a.subject_key = subjects.subject_key
);
UPDATE events SET interleaved = 1
  WHERE subject_key IN (SELECT subject_key FROM subjects WHERE interleaved = 1);
CREATE INDEX events_by_session ON events (subject_key, session_id, occurred_at, event_id) WHERE interleaved = 1;
