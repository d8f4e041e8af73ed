-- When it was deleted; null while it is there. From then on nobody sees it, and what it holds is removed in steps: a tracker's row goes
-- last, an organisation's with the last of its activity.
ALTER TABLE organisations ADD COLUMN deleted_at INTEGER;
ALTER TABLE trackers ADD COLUMN deleted_at INTEGER;
