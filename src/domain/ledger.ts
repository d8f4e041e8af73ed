import { createHmac } from 'node:crypto'
import type { Instant } from './instant.ts'
import { type Frontier, headAt, type InclusionProof, type Subtree, type TreeHead } from './merkle-tree.ts'
import type { TrackerRef } from './tracker.ts'

export interface LedgerEntry {
  index: number
  record: string
  leafHash: Buffer
  /** The frontier stored with the entry. */
  frontier: Frontier
}

/** An entry that a transaction has appended. */
export interface AppendedEntry {
  record: string
  /** Against the head after the transaction. */
  proof: InclusionProof
}

/** The end of a stored ledger: the frontier of its tree, and the MACs of its head. */
export interface StoredHead {
  frontier: Frontier
  mac: string
}

/** One key for each secret. */
export type HeadKeys = readonly [Uint8Array, ...Uint8Array[]]

/**
 * Authenticates a ledger's head, so that write access to the store is not enough to forge one. There is a MAC
 * for each secret, so that a process without the newest secret can continue.
 */
export function headMacs(keys: HeadKeys, organisationId: string, head: TreeHead): string {
  return keys.map((key) => headMac(key, organisationId, head)).join(' ')
}

function headMac(key: Uint8Array, organisationId: string, { size, rootHash }: TreeHead): string {
  const mac = createHmac('sha256', key).update(`${organisationId}\0${size}\0`).update(rootHash)
  return mac.digest('base64url')
}

/** Throws `ForgedLedger` if none of the secrets authenticated the stored head; it must not be signed then. */
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

/** The condition for appending to a ledger. */
export interface LedgerGuard {
  headKeys: HeadKeys
  /** The journal's number of entries, or 0. A shorter ledger was set back and must not fork. */
  minEntries: number
}

/** Throws `ForgedLedger` or `ShortLedger`. */
export function guardHead(guard: LedgerGuard, organisationId: string, stored: StoredHead | null): TreeHead {
  const head = openHead(guard.headKeys, organisationId, stored)
  if (head.size < guard.minEntries) throw new ShortLedger(organisationId, head.size, guard.minEntries)
  return head
}

/** The ledger has fewer entries than the journal: the store was set back while the service was running. */
export class ShortLedger extends Error {
  override name = 'ShortLedger'

  constructor(organisationId: string, size: number, journalled: number) {
    super(
      `The ledger of the organisation "${organisationId}" has ${size} entries, but the journal has ${journalled}: the store was set back to an earlier state. Restart the service; it then replays its journal.`,
    )
  }
}

/** The ledger was changed by someone without the secrets. */
export class ForgedLedger extends Error {
  override name = 'ForgedLedger'
}

/** Organisations' append-only ledgers. Erasures append to them in their own transactions. */
export interface LedgerStore {
  /** `null` if the ledger is empty or the organisation does not exist. */
  head(organisationId: string): Promise<StoredHead | null>
  /** The hashes of complete subtrees, in the given order. Rejects if one is missing. */
  hashes(organisationId: string, subtrees: readonly Subtree[]): Promise<Buffer[]>
  /** Entries from an index on, in ascending order. */
  list(organisationId: string, from: number, limit: number): Promise<LedgerEntry[]>
  /**
   * Appends records, in one transaction. `null` if there is no such organisation. Rejects if the guard
   * forbids it.
   */
  append(
    organisationId: string,
    records: readonly string[],
    guard: LedgerGuard,
  ): Promise<AppendedEntry[] | null>
}

/** How much longer tombstones are kept than the data that they refuse. */
const marginDays = 30

/** How long tombstones are kept, given the retention windows; at least as long as configured. */
export function keptTombstoneDays(windows: readonly number[], configured: number | null | undefined): number {
  return Math.max(configured ?? 0, marginDays + Math.max(...windows))
}

/** What an erasure leaves of its subject: a digest that only the installation's secrets can reproduce. */
export interface Tombstone {
  organisationId: string
  trackerId: string
  digest: Uint8Array
  erasedAt: Instant
  /** Data up to this instant is refused: `erasedAt`, or the newest deleted data if its clock was ahead. */
  refusedUntil: Instant
  /** The index of the erasure's entry in the organisation's ledger, from 0. */
  ledgerIndex: number
}

/** The newest tombstones, or those with a ledger index below `before`. */
export interface TombstoneQuery {
  limit: number
  before: number | null
}

export interface TombstoneStore {
  /** The tombstones of a subject, newest first. */
  find(tracker: TrackerRef, digests: readonly Uint8Array[], query: TombstoneQuery): Promise<Tombstone[]>
  /** Whether a tracker has tombstones, of any organisation. */
  has(trackerId: string): Promise<boolean>
  /**
   * For each digest, until when data is refused, or `null`. Tracker IDs may be reused across organisations.
   */
  refusedUntil(trackerId: string, digests: readonly Uint8Array[]): Promise<(Instant | null)[]>
  /** The tombstones of ledger entries that have not been swept. */
  ofEntries(
    organisationId: string,
    entries: readonly { index: number; erasedAt: Instant }[],
  ): Promise<Tombstone[]>
  /** How many tombstones of an organisation have no ledger entry. Reads every tombstone, in steps. */
  countWithoutEntry(organisationId: string, signal?: AbortSignal): Promise<number>
  /** Deletes up to `maxRows` of the oldest tombstones before an instant, in one transaction. */
  sweep(before: Instant, maxRows: number): Promise<number>
}
