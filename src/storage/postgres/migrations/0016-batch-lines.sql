-- The lines of a list that name nobody: the empty ones; and of a CSV file its header, and lines that begin inside of quotes.
ALTER TABLE erasure_batches ADD COLUMN empty_lines bigint NOT NULL DEFAULT 0;
ALTER TABLE erasure_batches ADD COLUMN other_lines bigint NOT NULL DEFAULT 0;
