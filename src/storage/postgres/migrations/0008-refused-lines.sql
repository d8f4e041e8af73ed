-- How many lines of imports were refused, for each reason, since the store was made. Imports are processes of their own: what a service
-- tells of them, it knows from here.
CREATE TABLE refused_lines (
  reason text COLLATE "C" PRIMARY KEY,
  lines bigint NOT NULL
);
