import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../domain/instant.ts'
import type { KnownLedger } from '../domain/journal.ts'
import type { Keyring } from '../domain/keyring.ts'
import {
  ForgedLedger,
  keptTombstoneDays,
  type LedgerEntry,
  type LedgerStore,
  openHead,
  type TombstoneStore,
} from '../domain/ledger.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import {
  appendLeaf,
  type Frontier,
  formatFrontier,
  hashLeaf,
  headAt,
  type TreeHead,
} from '../domain/merkle-tree.ts'
import { parseRecord } from '../domain/receipt.ts'
import type { RetentionPolicy } from '../domain/retention.ts'

/** How a ledger stands by its records alone. */
export interface LedgerVerification {
  /** As far as it could be followed. */
  head: TreeHead
  /** The first thing that is wrong with it, in words; `null` when nothing is. */
  problem: string | null
}

export interface VerifyDeps extends Pick<RetentionPolicy, 'retentionDays' | 'tombstoneDays'> {
  ledger: LedgerStore
  tombstones: TombstoneStore
  keyring: Keyring
  clock: Clock
}

export interface VerifyOptions {
  /** Heads that it had before: of checkpoints and receipts that somebody kept. */
  heads?: readonly TreeHead[]
  /** What journals hold of it. */
  journal?: KnownLedger | undefined
  /** Told how many entries were looked at, now and then. It goes on when that is done. */
  onEntries?(count: number): MaybePromise<void>
  /** Ends the work when it is no longer wanted. */
  signal?: AbortSignal | undefined
}

const chunkSize = 200
const dayMs = 86_400_000

/**
 * Recomputes an organisation's tree from its records, and compares it with what is stored beside them, with the head that the secrets
 * authenticate, with the tombstones, and with what somebody kept elsewhere.
 */
export async function verifyLedger(
  deps: VerifyDeps,
  organisationId: string,
  { heads = [], journal, onEntries = () => {}, signal }: VerifyOptions = {},
): Promise<LedgerVerification> {
  const opened = await openStoredHead(deps, organisationId)
  const expected = [...heads, ...(opened instanceof ForgedLedger ? [] : [opened])]
  let last: Frontier | null = null
  for (let hasMore = true; hasMore; ) {
    signal?.throwIfAborted()
    const entries: LedgerEntry[] = await deps.ledger.list(organisationId, last?.size ?? 0, chunkSize)
    const before = last
    for (const entry of entries) {
      const size: number = last?.size ?? 0
      const frontier: Frontier = appendLeaf(last, hashLeaf(entry.record))
      const problem =
        problemOf(entry, size, frontier) ?? otherThan(expected, frontier) ?? otherIn(journal, entry)
      if (problem !== null) return { head: headAt(last), problem }
      last = frontier
    }
    const unguarded = await entryWithoutTombstone(deps, organisationId, entries)
    if (unguarded !== null) return { head: headAt(before), problem: unguarded }
    await onEntries(entries.length)
    await nextTurn()
    hasMore = entries.length === chunkSize
  }
  const head = headAt(last)
  const problem =
    (opened instanceof ForgedLedger ? opened.message : null) ??
    shorterThan(head, expected, journal) ??
    (await tombstonesWithoutEntry(deps, organisationId))
  return { head, problem }
}

async function openStoredHead(
  { ledger, keyring }: VerifyDeps,
  organisationId: string,
): Promise<TreeHead | ForgedLedger> {
  const stored = await ledger.head(organisationId)
  try {
    return openHead(keyring.headKeys, organisationId, stored)
  } catch (error) {
    if (error instanceof ForgedLedger) return error
    throw error
  }
}

function problemOf(
  { index, record, frontier: stored }: LedgerEntry,
  expected: number,
  frontier: Frontier,
): string | null {
  if (index !== expected) return `Entry ${expected} is missing; the next one is ${index}.`
  if (parseRecord(record) === null) return `Entry ${index} is not a valid record of an erasure.`
  if (formatFrontier(stored) !== formatFrontier(frontier)) {
    return `The hashes stored with entry ${index} do not match the entries up to it: it or an earlier one was changed.`
  }
  return null
}

function otherThan(heads: readonly TreeHead[], frontier: Frontier): string | null {
  const others = heads.filter(({ size }) => size === frontier.size)
  const isSame = others.every(({ rootHash }) => Buffer.compare(headAt(frontier).rootHash, rootHash) === 0)
  return isSame
    ? null
    : `The first ${frontier.size} entries are not those of a checkpoint that was signed for them.`
}

function otherIn(journal: KnownLedger | undefined, { index, record }: LedgerEntry): string | null {
  if (journal?.leaf(index)?.equals(hashLeaf(record)) !== false) return null
  return `Entry ${index} is another than in the journal.`
}

function shorterThan(
  { size }: TreeHead,
  heads: readonly TreeHead[],
  journal: KnownLedger | undefined,
): string | null {
  const had = Math.max(0, ...heads.map((head) => head.size))
  if (had > size) {
    return `The ledger has ${size} entries, and had ${had} when a checkpoint of it was signed: the store was set back, or entries were removed.`
  }
  if (journal && journal.end > size) {
    return `The ledger has ${size} entries, and the journal ${journal.end}: the store was set back, or entries were removed.`
  }
  const [gap] = journal?.gaps() ?? []
  return gap ? `The journal lacks entry ${gap[0]}.` : null
}

/** Tombstones are kept for a while; until then each entry has one, of its tracker and its instant. */
async function entryWithoutTombstone(
  { tombstones, clock, retentionDays, tombstoneDays }: VerifyDeps,
  organisationId: string,
  entries: readonly LedgerEntry[],
): Promise<string | null> {
  const keptDays = keptTombstoneDays(Object.values(retentionDays), tombstoneDays)
  const keptSince = clock() - keptDays * dayMs
  const kept = entries.flatMap(({ index, record }) => {
    const { trackerId, erasedAt } = parseRecord(record) ?? { trackerId: '', erasedAt: 0 }
    return erasedAt > keptSince ? [{ index, trackerId, erasedAt }] : []
  })
  const found = await tombstones.ofEntries(organisationId, kept)
  const trackers = new Map(found.map(({ ledgerIndex, trackerId }) => [ledgerIndex, trackerId]))
  const missing = kept.find(({ index, trackerId }) => trackers.get(index) !== trackerId)
  return missing ? `Entry ${missing.index} has no tombstone: the person can come back with an import.` : null
}

async function tombstonesWithoutEntry(
  { tombstones }: VerifyDeps,
  organisationId: string,
): Promise<string | null> {
  const count = await tombstones.countWithoutEntry(organisationId)
  if (count === 0) return null
  return `${count} ${count === 1 ? 'tombstone has' : 'tombstones have'} no entry: entries were removed, or are missing in a journal that was replayed.`
}
