-- A batch erases a list of people or one person, who is kept here until it is over, so that it can look for them once more at its end.
-- It rests until `resumes_at` when its starter has used up a budget of erasures.
ALTER TABLE erasure_batches ADD COLUMN kind TEXT NOT NULL DEFAULT 'list';
ALTER TABLE erasure_batches ADD COLUMN person TEXT;
ALTER TABLE erasure_batches ADD COLUMN checked_at INTEGER;
ALTER TABLE erasure_batches ADD COLUMN left_subjects INTEGER;
ALTER TABLE erasure_batches ADD COLUMN resumes_at INTEGER;
CREATE INDEX erasure_batch_items_by_entry ON erasure_batch_items (ledger_index) WHERE ledger_index IS NOT NULL;
CREATE INDEX erasure_batches_open_by_kind ON erasure_batches (organisation_id, kind) WHERE finished_at IS NULL;
CREATE INDEX erasure_batches_by_kind ON erasure_batches (organisation_id, kind, created_at, id);
DROP INDEX erasure_batches_by_organisation;
