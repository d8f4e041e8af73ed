-- When the last sweep began that came to its end: a single row, and none before the first.
CREATE TABLE sweeps (
  id integer PRIMARY KEY,
  begun_at bigint NOT NULL
);
