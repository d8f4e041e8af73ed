-- A batch is now many requests with one reference. A request from a list knows its line, so that requests from elsewhere are served
-- before it.
ALTER TABLE privacy_requests ADD COLUMN list_line INTEGER NOT NULL DEFAULT 0;
DROP INDEX privacy_requests_in_turn;
CREATE INDEX privacy_requests_in_turn ON privacy_requests (organisation_id, list_line, runs_at, id) WHERE state = 'running';
CREATE INDEX privacy_requests_by_reference_and_state_and_kind_and_due
  ON privacy_requests (organisation_id, reference, state, kind, due_at, id);

-- Each line of a batch that matched data becomes a request; the ID of the batch becomes their reference. The ID of a request is made from
-- the random part of the batch's ID and the number of the line. Subjects that waited are named by the request as long as it is not closed.
-- A paused batch becomes open requests, which a member can start. Those that waited are searched for once more at the end, as others are.
INSERT INTO privacy_requests (organisation_id, id, kind, state, reference, received_at, due_at, closed_at, person, names_identifiers,
  content_digest, created_at, creator_kind, creator_id, creator_name, actor_kind, actor_id, actor_name, request_id, found_subjects,
  found_sessions, found_events, erased_subjects, erased_sessions, erased_events, searches, held_identifiers, searched_at, left_subjects,
  runs_at, list_line)
SELECT organisation_id, substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-8' || substr(digits, 13, 3) || '-8' || substr(digits, 16, 3) || '-' || substr(digits, 19, 12),
  'erasure', state, batch_id, created_at, due_at, CASE WHEN is_open THEN NULL ELSE ended_at END, CASE WHEN is_open THEN person END,
  CASE WHEN names_identifiers THEN 1 ELSE 0 END, '', created_at, actor_kind, actor_id, actor_name,
  CASE WHEN state <> 'open' THEN actor_kind END, CASE WHEN state <> 'open' THEN actor_id END, CASE WHEN state <> 'open' THEN actor_name END,
  CASE WHEN state <> 'open' THEN request_id END, subjects, sessions, events, erased, sessions, events,
  CASE WHEN is_open AND state = 'open' AND erased = 0 THEN 0 WHEN is_checked THEN 2 ELSE 1 END, held_identifiers,
  CASE WHEN is_open AND state = 'open' AND erased = 0 THEN NULL ELSE created_at END, CASE WHEN state = 'done' THEN left_subjects END,
  0, line
FROM (
  SELECT b.organisation_id, l.digits, l.batch_id, b.created_at, b.actor_kind, b.actor_id, b.actor_name, b.request_id,
    unixepoch(b.created_at / 1000, 'unixepoch', '+1 month', 'floor') * 1000 + b.created_at % 1000 AS due_at,
    coalesce(b.finished_at, unixepoch() * 1000) AS ended_at,
    coalesce(b.person, json_object('identifiers', json_array(), 'subjects', json(l.subjects))) AS person,
    b.finished_at IS NULL AND (l.waiting > 0 OR b.kind = 'person') AS is_open,
    CASE WHEN b.finished_at IS NULL AND (l.waiting > 0 OR b.kind = 'person')
        THEN CASE b.state WHEN 'paused' THEN 'open' ELSE 'running' END
      WHEN l.stopped > 0 THEN 'cancelled' ELSE 'done' END AS state,
    b.kind = 'person' AND (b.subjects > 1 OR coalesce(json_array_length(b.person, '$.identifiers') > 0, 0)) AS names_identifiers,
    l.items AS subjects, l.erased, l.sessions, l.events, b.checked_at IS NOT NULL AS is_checked,
    coalesce((SELECT json_group_array(key) FROM json_each(b.person, '$.identifiers')), '[]') AS held_identifiers,
    coalesce(b.left_subjects, 0) AS left_subjects, CASE WHEN b.kind = 'person' THEN 0 ELSE l.line END AS line
  FROM erasure_batches b JOIN (
    SELECT i.batch_id, i.line, lower(hex(substr(i.batch_id, 7, 12)) || printf('%06x', i.line)) AS digits, count(*) AS items,
      sum(CASE WHEN i.outcome = 'waiting' THEN 1 ELSE 0 END) AS waiting,
      sum(CASE WHEN i.outcome = 'stopped' THEN 1 ELSE 0 END) AS stopped,
      sum(CASE WHEN i.outcome = 'erased' THEN 1 ELSE 0 END) AS erased,
      coalesce(sum(i.sessions), 0) AS sessions, coalesce(sum(i.events), 0) AS events,
      json_group_array(json_object('trackerId', i.tracker_id, 'subjectId', i.subject_id)) FILTER (WHERE i.outcome = 'waiting') AS subjects
    FROM erasure_batch_items i WHERE i.outcome IN ('waiting', 'erased', 'gone', 'stopped')
    GROUP BY i.batch_id, i.line
  ) l ON l.batch_id = b.id
) converted;

INSERT INTO privacy_request_items (organisation_id, request_id, place, outcome, tracker_id, subject_id, held, sessions, events,
  ledger_index, sealed_nonce)
SELECT organisation_id, substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-8' || substr(digits, 13, 3) || '-8' || substr(digits, 16, 3) || '-' || substr(digits, 19, 12),
  place, outcome, tracker_id, subject_id, 1, sessions, events, ledger_index, sealed_nonce
FROM (
  SELECT b.organisation_id, b.state AS batch_state, lower(hex(substr(i.batch_id, 7, 12)) || printf('%06x', i.line)) AS digits,
    row_number() OVER (PARTITION BY i.batch_id, i.line ORDER BY i.place) - 1 AS place,
    i.outcome, i.tracker_id, i.subject_id, i.sessions, i.events, i.ledger_index, i.sealed_nonce
  FROM erasure_batch_items i JOIN erasure_batches b ON b.id = i.batch_id
  WHERE i.outcome IN ('waiting', 'erased', 'gone', 'stopped')
) converted
WHERE NOT (outcome = 'waiting' AND batch_state = 'paused');

DROP TABLE erasure_batch_items;
DROP TABLE erasure_batches;
