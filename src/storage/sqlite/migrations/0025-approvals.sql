-- Above how many people a member's erasures within a day need another member's approval.
CREATE TABLE approval_rules (
  organisation_id TEXT PRIMARY KEY,
  above INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Who wants to start the erasure of a request that waits for an approval.
ALTER TABLE privacy_requests ADD COLUMN approval_asked_at INTEGER;
ALTER TABLE privacy_requests ADD COLUMN approval_asker_id TEXT;
ALTER TABLE privacy_requests ADD COLUMN approval_asker_name TEXT;
