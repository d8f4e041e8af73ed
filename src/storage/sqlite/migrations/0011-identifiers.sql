-- What a subject is known by outside of its tracker. Clustered so that all of a subject is one range, and found by its lookup key (see
-- domain/subject-identifier.ts), whose index holds two hashes and nothing that can be read. The subject's own row is found by the ids.
CREATE TABLE identifiers (
  subject_key BLOB NOT NULL,
  lookup_key BLOB NOT NULL,
  tracker_id TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- As the newest row wrote it that brought it.
  value TEXT NOT NULL,
  -- When that row happened: the identifier ages out with it.
  brought_at INTEGER NOT NULL,
  PRIMARY KEY (subject_key, lookup_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX identifiers_by_lookup ON identifiers (lookup_key, subject_key);
