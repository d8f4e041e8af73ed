-- The names of identifiers that people of an organisation are known by, so that a search can try all of them. They tell of nobody, and
-- are kept with their organisation.
CREATE TABLE identifier_names (
  organisation_id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (organisation_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO identifier_names
  SELECT DISTINCT t.organisation_id, i.name FROM identifiers i JOIN trackers t ON t.id = i.tracker_id;

-- Identifiers are compared in NFC, which only text beyond ASCII differs in. `compared_key` is lookupKey of domain/subject-identifier.ts.
INSERT INTO identifiers
  SELECT i.subject_key, compared_key(t.organisation_id, i.name, i.value), i.tracker_id, i.subject_id, i.name, i.value, i.brought_at
  FROM identifiers i JOIN trackers t ON t.id = i.tracker_id
  WHERE i.value GLOB '*[^ -~]*' AND i.lookup_key <> compared_key(t.organisation_id, i.name, i.value)
  ON CONFLICT (subject_key, lookup_key) DO UPDATE SET value = excluded.value, brought_at = excluded.brought_at
  WHERE (excluded.brought_at, excluded.value) > (identifiers.brought_at, identifiers.value);
DELETE FROM identifiers WHERE value GLOB '*[^ -~]*' AND lookup_key <>
  (SELECT compared_key(t.organisation_id, identifiers.name, identifiers.value) FROM trackers t WHERE t.id = identifiers.tracker_id);
