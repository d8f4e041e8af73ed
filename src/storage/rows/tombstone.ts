import type { Tombstone } from '../../domain/tombstone.ts'

/** Beyond every index that a ledger can have. */
export const beyondLedger = Number.MAX_SAFE_INTEGER

/** The first of tombstones that were found under several digests, the newest entry first. */
export function newest(tombstones: readonly Tombstone[], limit: number): Tombstone[] {
  return tombstones.toSorted((a, b) => b.ledgerIndex - a.ledgerIndex).slice(0, limit)
}
