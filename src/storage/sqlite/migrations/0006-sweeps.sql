-- When the last sweep began that came to its end: a single row, and none before the first.
CREATE TABLE sweeps (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  begun_at INTEGER NOT NULL
) STRICT;
