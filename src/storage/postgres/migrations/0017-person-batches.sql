-- A batch erases a list of people or one person, who is kept here until it is over, so that it can look for them once more at its end.
-- It rests until `resumes_at` when its starter has used up a budget of erasures.
ALTER TABLE erasure_batches
  ADD kind text NOT NULL DEFAULT 'list',
  ADD person text,
  ADD checked_at bigint,
  ADD left_subjects bigint,
  ADD resumes_at bigint;
ALTER TABLE erasure_batches ALTER person SET STATISTICS 0;
CREATE INDEX erasure_batch_items_by_entry ON erasure_batch_items (ledger_index) WHERE ledger_index IS NOT NULL;
CREATE INDEX erasure_batches_open_by_kind ON erasure_batches (organisation_id, kind) WHERE finished_at IS NULL;
CREATE INDEX erasure_batches_by_kind ON erasure_batches (organisation_id, kind, created_at, id);
DROP INDEX erasure_batches_by_organisation;
