-- When it was deleted; null while it is there. From then on nobody sees it, and what it holds is removed in steps: a tracker's row goes
-- last, an organisation's with the last of its activity.
ALTER TABLE organisations ADD COLUMN deleted_at bigint;
ALTER TABLE trackers ADD COLUMN deleted_at bigint;
-- What is in a unique index counts as a key: whoever sets it waits for those who refer to the row, and they for it.
CREATE UNIQUE INDEX organisations_by_deletion ON organisations (id, deleted_at);
CREATE UNIQUE INDEX trackers_by_deletion ON trackers (id, deleted_at);
