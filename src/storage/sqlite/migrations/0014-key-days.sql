-- How often each key was used on a day (of UTC), and how many of those requests a scope or a budget refused.
CREATE TABLE key_days (
  key_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  refusals INTEGER NOT NULL,
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
