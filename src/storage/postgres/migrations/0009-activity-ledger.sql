-- Which entry of its organisation's ledger an erasure left, so that the activity leads to the proof of it.
ALTER TABLE activity ADD COLUMN ledger_index bigint;
