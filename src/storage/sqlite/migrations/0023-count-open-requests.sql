-- With `closed_at`, although it is always null, SQLite counts without reading the rows.
DROP INDEX privacy_requests_by_pending_and_due;
CREATE INDEX privacy_requests_by_pending_and_due ON privacy_requests (organisation_id, due_at, id, closed_at) WHERE closed_at IS NULL;
