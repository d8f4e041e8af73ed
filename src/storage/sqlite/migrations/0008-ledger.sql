-- What keeps an erased subject from coming back: a digest of its tracker and its id that only the installation's secrets can make again.
-- No foreign key: it outlives its tracker, whose id may be given again.
CREATE TABLE tombstones (
  tracker_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  organisation_id TEXT NOT NULL,
  ledger_index INTEGER NOT NULL,
  erased_at INTEGER NOT NULL,
  -- What happened then or before is refused: erased_at, or the newest thing that was deleted where a clock had run ahead.
  refused_until INTEGER NOT NULL,
  PRIMARY KEY (tracker_id, digest, organisation_id, ledger_index)
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstones_by_age ON tombstones (erased_at);

-- An organisation's erasures, each a leaf of a Merkle tree. The edge (see domain/merkle-tree.ts) is what the tree needs to grow behind
-- this leaf, and holds the hash of every complete subtree that ends with it, in base64.
CREATE TABLE ledger_entries (
  organisation_id TEXT NOT NULL REFERENCES organisations (id),
  ledger_index INTEGER NOT NULL,
  record TEXT NOT NULL,
  edge TEXT NOT NULL,
  PRIMARY KEY (organisation_id, ledger_index)
) STRICT, WITHOUT ROWID;

-- The secrets with which something in this store was made. Not the secrets themselves.
CREATE TABLE secrets (
  fingerprint TEXT PRIMARY KEY,
  first_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
