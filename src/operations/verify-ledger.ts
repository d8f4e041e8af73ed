import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, dayMs } from '../domain/instant.ts'
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
import { parseErasureRecord, parseRecord } from '../domain/ledger-record.ts'
import type { MaybePromise } from '../domain/maybe-promise.ts'
import {
  appendLeaf,
  type Frontier,
  formatFrontier,
  hashLeaf,
  headAt,
  type TreeHead,
} from '../domain/merkle-tree.ts'
import type { RetentionPolicy } from '../domain/retention.ts'

export interface LedgerVerification {
  /** The head up to the first problem. */
  head: TreeHead
  /** The first problem, as a sentence. */
  problem: string | null
}

interface VerifyDeps extends Pick<RetentionPolicy, 'retentionDays' | 'tombstoneDays'> {
  ledger: LedgerStore
  tombstones: TombstoneStore
  keyring: Keyring
  clock: Clock
}

interface VerifyOptions {
  /** Earlier heads, from checkpoints and receipts that someone kept. */
  heads?: readonly TreeHead[]
  journal?: KnownLedger | undefined
  /** Called with the number of entries verified; awaited. */
  onEntries?(count: number): MaybePromise<void>
  signal?: AbortSignal | undefined
}

const chunkSize = 200
/**
 * Recomputes an organisation's tree from its records and compares it with the stored hashes, the
 * authenticated head, the tombstones, and the given heads and journal.
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
    (await tombstonesWithoutEntry(deps, organisationId, signal))
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
  if (parseRecord(record) === null) return `Entry ${index} is not a valid record.`
  if (formatFrontier(stored) !== formatFrontier(frontier)) {
    return `The hashes stored with entry ${index} do not match the entries up to it: it or an earlier one was changed.`
  }
  return null
}

function otherThan(heads: readonly TreeHead[], frontier: Frontier): string | null {
  const others = heads.filter(({ size }) => size === frontier.size)
  const isSame = others.every(({ rootHash }) => Buffer.compare(headAt(frontier).rootHash, rootHash) === 0)
  return isSame ? null : `The first ${frontier.size} entries do not match a signed checkpoint.`
}

function otherIn(journal: KnownLedger | undefined, { index, record }: LedgerEntry): string | null {
  if (journal?.leaf(index)?.equals(hashLeaf(record)) !== false) return null
  return `Entry ${index} differs from the journal.`
}

function shorterThan(
  { size }: TreeHead,
  heads: readonly TreeHead[],
  journal: KnownLedger | undefined,
): string | null {
  const had = Math.max(0, ...heads.map((head) => head.size))
  if (had > size) {
    return `The ledger has ${size} entries, but had ${had} when a checkpoint was signed: the store was set back, or entries were removed.`
  }
  if (journal && journal.end > size) {
    return `The ledger has ${size} entries, but the journal has ${journal.end}: the store was set back, or entries were removed.`
  }
  const [gap] = journal?.gaps() ?? []
  return gap ? `The journal lacks entry ${gap[0]}.` : null
}

/** Until its tombstone is swept, each erasure has one with the same tracker and time. */
async function entryWithoutTombstone(
  { tombstones, clock, retentionDays, tombstoneDays }: VerifyDeps,
  organisationId: string,
  entries: readonly LedgerEntry[],
): Promise<string | null> {
  const keptDays = keptTombstoneDays(Object.values(retentionDays), tombstoneDays)
  const keptSince = clock() - keptDays * dayMs
  const kept = entries.flatMap(({ index, record }) => {
    const erasure = parseErasureRecord(record)
    if (!erasure || erasure.erasedAt <= keptSince) return []
    return [{ index, trackerId: erasure.trackerId, erasedAt: erasure.erasedAt }]
  })
  const found = await tombstones.ofEntries(organisationId, kept)
  const trackers = new Map(found.map(({ ledgerIndex, trackerId }) => [ledgerIndex, trackerId]))
  const missing = kept.find(({ index, trackerId }) => trackers.get(index) !== trackerId)
  return missing ? `Entry ${missing.index} has no tombstone: an import could bring the person back.` : null
}

async function tombstonesWithoutEntry(
  { tombstones }: VerifyDeps,
  organisationId: string,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const count = await tombstones.countWithoutEntry(organisationId, signal)
  if (count === 0) return null
  return `${count} ${count === 1 ? 'tombstone has' : 'tombstones have'} no entry: entries were removed, or are missing in a journal that was replayed.`
}
