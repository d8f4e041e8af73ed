-- Roles, second factors and single sign-on. Until now, every member could do everything. The secret of one-time codes is sealed with the
-- installation's secret; `totp_step` is the time step of the last code accepted.
ALTER TABLE members ADD COLUMN role TEXT NOT NULL DEFAULT 'admin';
ALTER TABLE members ADD COLUMN language TEXT;
ALTER TABLE members ADD COLUMN totp_secret TEXT;
ALTER TABLE members ADD COLUMN totp_set_at INTEGER;
ALTER TABLE members ADD COLUMN totp_step INTEGER;
ALTER TABLE members ADD COLUMN oidc_issuer TEXT;
ALTER TABLE members ADD COLUMN oidc_subject TEXT;
CREATE UNIQUE INDEX members_by_single_sign_on ON members (oidc_subject, oidc_issuer, organisation_id) WHERE oidc_subject IS NOT NULL;

-- `verified_at` is the last proof of identity. The ID is shown to the member; the token's hash is not.
ALTER TABLE sign_ins ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE sign_ins ADD COLUMN method TEXT NOT NULL DEFAULT 'password';
ALTER TABLE sign_ins ADD COLUMN verified_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sign_ins ADD COLUMN device TEXT;
ALTER TABLE sign_ins ADD COLUMN address TEXT;
UPDATE sign_ins SET id = 'sgn_' || substr(token_hash, 1, 24), verified_at = started_at;
CREATE UNIQUE INDEX sign_ins_by_id ON sign_ins (id);

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  sign_count INTEGER NOT NULL,
  transports TEXT NOT NULL,
  device_type TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_by_member ON passkeys (member_id, created_at, id);

-- Only codes that are not used yet.
CREATE TABLE recovery_codes (
  member_id TEXT NOT NULL REFERENCES members (id),
  hash TEXT NOT NULL,
  PRIMARY KEY (member_id, hash)
) STRICT, WITHOUT ROWID;

-- What a browser has to answer next, by the hash of its token. Answering deletes it, so that it is used once.
CREATE TABLE sign_in_challenges (
  token_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  member_id TEXT REFERENCES members (id),
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_at);
CREATE INDEX sign_in_challenges_by_member ON sign_in_challenges (member_id) WHERE member_id IS NOT NULL;

-- How the members of an organisation may sign in, if an admin has changed it. `domains` is a list in JSON.
CREATE TABLE sign_in_rules (
  organisation_id TEXT PRIMARY KEY,
  second_factor TEXT NOT NULL,
  password_allowed INTEGER NOT NULL,
  domains TEXT NOT NULL,
  domain_role TEXT NOT NULL
) STRICT, WITHOUT ROWID;
