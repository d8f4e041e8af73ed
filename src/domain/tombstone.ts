import type { Instant } from './instant.ts'
import type { TrackerRef } from './tracker.ts'

/** Tombstones are kept for so much longer than the data that they refuse. */
const marginDays = 30

/** For how many days tombstones are kept, where data is kept for these days; at least for as many as are configured. */
export function keptTombstoneDays(windows: readonly number[], configured: number | null | undefined): number {
  return Math.max(configured ?? 0, marginDays + Math.max(...windows))
}

/** What an erasure leaves behind of its subject: a digest that only the installation's secrets can make again, and until when. */
export interface Tombstone {
  organisationId: string
  trackerId: string
  digest: Uint8Array
  erasedAt: Instant
  /**
   * What happened then or before is refused when it comes again: `erasedAt`, or the newest thing that was deleted where a clock had
   * run ahead.
   */
  refusedUntil: Instant
  /** The entry of the organisation's ledger that tells of it, from 0. */
  ledgerIndex: number
}

/** The newest tombstones, or those whose entries come before one. */
export interface TombstoneQuery {
  limit: number
  before: number | null
}

export interface TombstoneStore {
  /** Tombstones of a subject of an organisation, by its digests, the newest entry first. Empty when there are none. */
  find(tracker: TrackerRef, digests: readonly Uint8Array[], query: TombstoneQuery): Promise<Tombstone[]>
  /** Whether a tracker has any, of whichever organisation. */
  has(trackerId: string): Promise<boolean>
  /**
   * Until when what is said of a tracker's subjects is refused, for each of their digests, in their order; `null` where nothing is. Of
   * whichever organisation: ids of trackers may be given again.
   */
  refusedUntil(trackerId: string, digests: readonly Uint8Array[]): Promise<(Instant | null)[]>
  /** The tombstones that came with entries of an organisation's ledger; not those that were swept. */
  ofEntries(
    organisationId: string,
    entries: readonly { index: number; erasedAt: Instant }[],
  ): Promise<Tombstone[]>
  /** How many of an organisation have no entry in its ledger. Looks at every tombstone. */
  countWithoutEntry(organisationId: string): Promise<number>
  /** Deletes the earliest that are older than an instant, at most `maxRows`, in one transaction. How many; fewer when none is left. */
  sweep(before: Instant, maxRows: number): Promise<number>
}
