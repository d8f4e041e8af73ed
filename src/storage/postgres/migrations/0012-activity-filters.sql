-- The activity of one kind, of one actor, and of one kind by one actor, each in the order of time.
CREATE INDEX activity_by_kind ON activity (organisation_id, kind, at, id);
CREATE INDEX activity_by_actor ON activity (organisation_id, actor_id, at, id);
CREATE INDEX activity_by_actor_and_kind ON activity (organisation_id, actor_id, kind, at, id);
