-- Roles, second factors and single sign-on. Until now, every member could do everything. The secret of one-time codes is sealed with the
-- installation's secret; `totp_step` is the time step of the last code accepted.
ALTER TABLE members ADD role text NOT NULL DEFAULT 'admin';
ALTER TABLE members ADD language text;
ALTER TABLE members ADD totp_secret text;
ALTER TABLE members ADD totp_set_at bigint;
ALTER TABLE members ADD totp_step bigint;
ALTER TABLE members ADD oidc_issuer text COLLATE "C";
ALTER TABLE members ADD oidc_subject text COLLATE "C";
CREATE UNIQUE INDEX members_by_single_sign_on ON members (oidc_subject, oidc_issuer, organisation_id) WHERE oidc_subject IS NOT NULL;

-- `verified_at` is the last proof of identity. The ID is shown to the member; the token's hash is not.
ALTER TABLE sign_ins ADD id text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sign_ins ADD method text NOT NULL DEFAULT 'password';
ALTER TABLE sign_ins ADD verified_at bigint NOT NULL DEFAULT 0;
ALTER TABLE sign_ins ADD device text;
ALTER TABLE sign_ins ADD address text;
UPDATE sign_ins SET id = 'sgn_' || substr(token_hash, 1, 24), verified_at = started_at;
CREATE UNIQUE INDEX sign_ins_by_id ON sign_ins (id);

CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY,
  member_id text COLLATE "C" NOT NULL REFERENCES members (id),
  name text NOT NULL,
  public_key text NOT NULL,
  sign_count bigint NOT NULL,
  transports text NOT NULL,
  device_type text NOT NULL,
  backed_up bigint NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint
);
CREATE INDEX passkeys_by_member ON passkeys (member_id, created_at, id);

-- Only codes that are not used yet.
CREATE TABLE recovery_codes (
  member_id text COLLATE "C" NOT NULL REFERENCES members (id),
  hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (member_id, hash)
);

-- What a browser has to answer next, by the hash of its token. Answering deletes it, so that it is used once.
CREATE TABLE sign_in_challenges (
  token_hash text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  member_id text COLLATE "C" REFERENCES members (id),
  data text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_at);
CREATE INDEX sign_in_challenges_by_member ON sign_in_challenges (member_id) WHERE member_id IS NOT NULL;

-- How the members of an organisation may sign in, if an admin has changed it. `domains` is a list in JSON.
CREATE TABLE sign_in_rules (
  organisation_id text COLLATE "C" PRIMARY KEY,
  second_factor text NOT NULL,
  password_allowed bigint NOT NULL,
  domains text NOT NULL,
  domain_role text NOT NULL
);
