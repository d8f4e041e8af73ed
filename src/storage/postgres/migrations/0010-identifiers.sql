-- What a subject is known by outside of its tracker, found by its lookup key (see domain/subject-identifier.ts), whose index holds two
-- hashes and nothing that can be read. A distributed database shards it by the subject, so that a search asks every shard.
CREATE TABLE identifiers (
  subject_key uuid NOT NULL,
  lookup_key uuid NOT NULL,
  tracker_id text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- As the newest row wrote it that brought it.
  value text COLLATE "C" NOT NULL,
  -- When that row happened: the identifier ages out with it.
  brought_at bigint NOT NULL,
  PRIMARY KEY (subject_key, lookup_key)
);
CREATE INDEX identifiers_by_lookup ON identifiers (lookup_key, subject_key);
ALTER TABLE identifiers ALTER subject_key SET STATISTICS 0, ALTER lookup_key SET STATISTICS 0,
  ALTER subject_id SET STATISTICS 0, ALTER value SET STATISTICS 0;
