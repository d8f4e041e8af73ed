-- The names of identifiers that people of an organisation are known by, so that a search can try all of them. They tell of nobody, and
-- are kept with their organisation. What SQL cannot do of this migration, `rekeyIdentifiers` does.
CREATE TABLE identifier_names (
  organisation_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (organisation_id, name)
);
INSERT INTO identifier_names
  SELECT DISTINCT t.organisation_id, i.name FROM identifiers i JOIN trackers t ON t.id = i.tracker_id;
