-- An upper bound of the length of the subject's sessions, plus one; 0 while nobody has needed it. With it, the sessions that may overlap
-- another are a range (see storage/rules/interleaving.ts). Subjects that are interleaved already stay so.
ALTER TABLE subjects ADD COLUMN longest_session_ms bigint NOT NULL DEFAULT 0;
