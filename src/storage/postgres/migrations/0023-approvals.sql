-- Above how many people a member's erasures within a day need another member's approval.
CREATE TABLE approval_rules (
  organisation_id text COLLATE "C" PRIMARY KEY,
  above bigint NOT NULL
);
-- Who wants to start the erasure of a request that waits for an approval.
ALTER TABLE privacy_requests ADD approval_asked_at bigint, ADD approval_asker_id text, ADD approval_asker_name text;
ALTER TABLE privacy_requests ALTER approval_asker_name SET STATISTICS 0;
