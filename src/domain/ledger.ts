import { createHmac } from 'node:crypto'
import type { Instant } from './instant.ts'
import { type Frontier, headAt, type Subtree, type TreeHead } from './merkle-tree.ts'
import type { TrackerRef } from './tracker.ts'

/** An entry of an organisation's ledger, as it was appended. */
export interface LedgerEntry {
  /** From 0. */
  index: number
  record: string
  leafHash: Buffer
  /** The frontier that is stored with it. */
  frontier: Frontier
}

/** The end of a ledger as it is stored: the frontier of its tree, and the MACs of its head. */
export interface StoredHead {
  frontier: Frontier
  mac: string
}

/** Keys for the MACs of heads, one for each secret. */
export type HeadKeys = readonly [Uint8Array, ...Uint8Array[]]

/**
 * Proves that the head of an organisation's ledger was made with the secrets: writing to the store does not suffice to make one. There
 * is a MAC for each secret, as with signatures, so that a process which lacks the newest one can go on.
 */
export function headMacs(keys: HeadKeys, organisationId: string, head: TreeHead): string {
  return keys.map((key) => headMac(key, organisationId, head)).join(' ')
}

function headMac(key: Uint8Array, organisationId: string, { size, rootHash }: TreeHead): string {
  const mac = createHmac('sha256', key).update(`${organisationId}\0${size}\0`).update(rootHash)
  return mac.digest('base64url')
}

/** The head of a ledger as it is stored. Throws `ForgedLedger` when none of the secrets made it; nothing may be signed then. */
export function openHead(keys: HeadKeys, organisationId: string, stored: StoredHead | null): TreeHead {
  const head = headAt(stored?.frontier ?? null)
  if (!stored) return head
  const macs = stored.mac.split(' ')
  const isOwn = keys.some((key) => macs.includes(headMac(key, organisationId, head)))
  if (isOwn) return head
  throw new ForgedLedger(
    `The head of the ledger of the organisation "${organisationId}" was not made with this installation's secrets: its entries were changed in the database, or by a process with another secret file. Run "lethe ledger verify".`,
  )
}

/** What an append demands of the ledger that it builds on. */
export interface LedgerGuard {
  headKeys: HeadKeys
  /** As many entries as the journal holds; 0 without a journal. A shorter ledger was set back, and must not fork. */
  minEntries: number
}

/** The head of a ledger that an append may build on. Throws `ForgedLedger` or `ShortLedger`. */
export function guardHead(guard: LedgerGuard, organisationId: string, stored: StoredHead | null): TreeHead {
  const head = openHead(guard.headKeys, organisationId, stored)
  if (head.size < guard.minEntries) throw new ShortLedger(organisationId, head.size, guard.minEntries)
  return head
}

/** A ledger that has fewer entries than the journal: the store was set back while the service was running. */
export class ShortLedger extends Error {
  override name = 'ShortLedger'

  constructor(organisationId: string, size: number, journalled: number) {
    super(
      `The ledger of the organisation "${organisationId}" has ${size} entries and the journal ${journalled}: the store was set back to an earlier state. Restart the service; it then replays its journal.`,
    )
  }
}

/** A ledger that was changed by someone who does not have the secrets. */
export class ForgedLedger extends Error {
  override name = 'ForgedLedger'
}

/** The ledger of an organisation's erasures. Nothing of it is ever changed; `subjects.erase` appends to it. */
export interface LedgerStore {
  /** The end of the ledger as it is now; `null` for one without entries, as of an organisation that does not exist. */
  head(organisationId: string): Promise<StoredHead | null>
  /** The hashes of subtrees that are complete, in the order in which they are asked for. Rejects when one is not there. */
  hashes(organisationId: string, subtrees: readonly Subtree[]): Promise<Buffer[]>
  /** Entries from an index on, oldest first, at most `limit`. */
  list(organisationId: string, from: number, limit: number): Promise<LedgerEntry[]>
}

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
