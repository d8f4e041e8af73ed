-- Proves that the ledger up to an entry was made with the installation's secret (domain/ledger.ts). Empty for the entries of version 0.2;
-- the newest of those gets one when the store is opened with its secrets. A process of version 0.2 cannot append any more.
ALTER TABLE ledger_entries ADD COLUMN head_mac text NOT NULL DEFAULT '';
ALTER TABLE ledger_entries ALTER COLUMN head_mac DROP DEFAULT;
