-- How an organisation appears on documents and replies. The image of a logo is in base64.
CREATE TABLE organisation_profiles (
  organisation_id text COLLATE "C" PRIMARY KEY,
  display_name text,
  contact text,
  language text NOT NULL
);
CREATE TABLE organisation_logos (
  organisation_id text COLLATE "C" PRIMARY KEY,
  type text NOT NULL,
  width bigint NOT NULL,
  height bigint NOT NULL,
  digest text NOT NULL,
  image text NOT NULL
);
-- The reply texts that an organisation has replaced.
CREATE TABLE reply_texts (
  organisation_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  body text NOT NULL,
  changed_at bigint NOT NULL,
  PRIMARY KEY (organisation_id, name, language)
);
