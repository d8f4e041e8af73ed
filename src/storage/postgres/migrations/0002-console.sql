-- Who may sign in to the console. The hash of a password says how it was made; the one of a link's token is a plain SHA-256.
CREATE TABLE members (
  id text COLLATE "C" PRIMARY KEY,
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  email text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  password_hash text,
  password_set_at bigint,
  invitation_hash text COLLATE "C",
  invitation_expires_at bigint
);
CREATE UNIQUE INDEX members_by_email ON members (email, organisation_id);
CREATE INDEX members_by_organisation ON members (organisation_id, created_at);
CREATE UNIQUE INDEX members_by_invitation ON members (invitation_hash) WHERE invitation_hash IS NOT NULL;
ALTER TABLE members ALTER email SET STATISTICS 0, ALTER password_hash SET STATISTICS 0,
  ALTER invitation_hash SET STATISTICS 0;

CREATE TABLE sign_ins (
  token_hash text COLLATE "C" PRIMARY KEY,
  member_id text COLLATE "C" NOT NULL REFERENCES members (id),
  started_at bigint NOT NULL,
  last_seen_at bigint NOT NULL
);
CREATE INDEX sign_ins_by_member ON sign_ins (member_id);
CREATE INDEX sign_ins_by_last_seen ON sign_ins (last_seen_at);
ALTER TABLE sign_ins ALTER token_hash SET STATISTICS 0;

-- What was done, by whom. Actors and targets stand by their names of that time, and outlive those they speak of. No subject's id.
CREATE TABLE activity (
  organisation_id text COLLATE "C" NOT NULL REFERENCES organisations (id),
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  actor_kind text NOT NULL,
  actor_id text,
  actor_name text,
  target text,
  request_id text COLLATE "C",
  sessions bigint,
  events bigint,
  PRIMARY KEY (organisation_id, at, id)
);
CREATE INDEX activity_by_request ON activity (organisation_id, request_id, at, id) WHERE request_id IS NOT NULL;
ALTER TABLE activity ALTER actor_name SET STATISTICS 0, ALTER target SET STATISTICS 0,
  ALTER request_id SET STATISTICS 0;
