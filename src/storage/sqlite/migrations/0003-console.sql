-- Who may sign in to the console. The hash of a password says how it was made; the one of a link's token is a plain SHA-256.
CREATE TABLE members (
  id TEXT PRIMARY KEY,
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  password_hash TEXT,
  password_set_at INTEGER,
  invitation_hash TEXT,
  invitation_expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_by_email ON members (email, organisation_id);
CREATE INDEX members_by_organisation ON members (organisation_id, created_at);
CREATE UNIQUE INDEX members_by_invitation ON members (invitation_hash) WHERE invitation_hash IS NOT NULL;

CREATE TABLE sign_ins (
  token_hash TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ins_by_member ON sign_ins (member_id);
CREATE INDEX sign_ins_by_last_seen ON sign_ins (last_seen_at);

-- What was done, by whom. Actors and targets stand by their names of that time, and outlive those they speak of. No subject's id.
CREATE TABLE activity (
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  target TEXT,
  request_id TEXT,
  sessions INTEGER,
  events INTEGER,
  PRIMARY KEY (organisation_id, at, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_by_request ON activity (organisation_id, request_id, at, id) WHERE request_id IS NOT NULL;
