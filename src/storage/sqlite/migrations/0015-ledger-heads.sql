-- Proves that the ledger up to an entry was made with the installation's secret (domain/ledger.ts). Empty for the entries of version 0.2;
-- the newest of those gets one when the store is opened with its secrets.
ALTER TABLE ledger_entries ADD COLUMN head_mac TEXT NOT NULL DEFAULT '';
