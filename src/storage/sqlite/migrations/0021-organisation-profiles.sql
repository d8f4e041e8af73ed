-- How an organisation appears on documents and replies. The image of a logo is in base64.
CREATE TABLE organisation_profiles (
  organisation_id TEXT NOT NULL PRIMARY KEY,
  display_name TEXT,
  contact TEXT,
  language TEXT NOT NULL
) STRICT;
CREATE TABLE organisation_logos (
  organisation_id TEXT NOT NULL PRIMARY KEY,
  type TEXT NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  digest TEXT NOT NULL,
  image TEXT NOT NULL
) STRICT;
-- The reply texts that an organisation has replaced.
CREATE TABLE reply_texts (
  organisation_id TEXT NOT NULL,
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  body TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (organisation_id, name, language)
) STRICT;
