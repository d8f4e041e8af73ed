-- How often each key was used on a day (of UTC), and how many of those requests a scope or a budget refused.
CREATE TABLE key_days (
  key_id text COLLATE "C" NOT NULL,
  day bigint NOT NULL,
  requests bigint NOT NULL,
  refusals bigint NOT NULL,
  PRIMARY KEY (key_id, day)
);
