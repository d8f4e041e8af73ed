import { type Journal, KnownChanges, type KnownLedger } from '../../domain/journal.ts'
import type { Keyring } from '../../domain/keyring.ts'
import { formatEdge, hashLeaf } from '../../domain/merkle-tree.ts'
import type { ReplayedInSetBack } from '../../domain/replay.ts'
import type { Store } from '../../domain/store.ts'
import { readChanges, readKeyChanges } from './read-changes.ts'
import { type RestoredDeps, replayIfSetBack } from './replay-changes.ts'

/** What was done so that a journal and its store agree. */
export interface OpenedJournal {
  /** How many lines the journal lacked. */
  appended: number
  /** Lines that a crash has torn, or that are none of ours. */
  unreadable: number
  /** What the store had forgotten; `null` when it had forgotten nothing. */
  replayed: ReplayedInSetBack | null
}

/**
 * Brings a journal and the store to the same state: replays in a store that was set back what the journal knows, and appends to the
 * journal what the store holds beyond it. Rejects, naming the first entry, when they contradict each other or entries are missing.
 */
export async function openJournal(
  journal: Journal,
  store: Store & RestoredDeps & { keyring: Keyring },
): Promise<OpenedJournal> {
  const unreadable = await journal.load()
  const { known, place } = journal
  const replayed = (await isBehind(store, known, place))
    ? await replayIfSetBack(store, store.keyring, journal.read())
    : null
  if (replayed && replayed.problems.length > 0) {
    throw new Error(`The store is older than the journal ${place}. ${replayed.problems.join(' ')}`)
  }
  let appended = 0
  for await (const lines of readChanges(store, known)) {
    await journal.append(lines)
    appended += lines.length
  }
  for (const [organisationId, ledger] of known.ledgers) {
    const open = ledger.contested.find(({ leaf }) => !ledger.holds(leaf))
    if (open && (await store.organisations.find(organisationId)) !== null) {
      throw contradiction(place, organisationId, open.index)
    }
  }
  return { appended, unreadable, replayed }
}

/** Whether a store lacks what a journal knows. Throws when its ledgers hold other entries. */
async function isBehind(store: Store, known: KnownChanges, place: string): Promise<boolean> {
  let isShort = false
  for (const [organisationId, ledger] of known.ledgers) {
    // One that was deleted has taken its ledger along.
    if ((await store.organisations.find(organisationId)) === null) continue
    const index = await firstDifference(store, organisationId, ledger)
    if (index !== null) throw contradiction(place, organisationId, index)
    const size = (await store.ledger.head(organisationId))?.edge.size ?? 0
    isShort ||= size < ledger.end
  }
  return isShort || (await hasOlderKeys(store, known))
}

/** The first entry of a ledger in whose place a journal holds another; `null` when there is none. */
export async function firstDifference(
  { ledger }: Pick<Store, 'ledger'>,
  organisationId: string,
  known: KnownLedger,
): Promise<number | null> {
  const size = (await ledger.head(organisationId))?.edge.size ?? 0
  const shared = Math.min(size, known.next)
  const [last] = shared > 0 ? await ledger.list(organisationId, shared - 1, 1) : []
  const expected = known.edgeAt(shared)
  const isSame = expected === null || (last && formatEdge(last.edge) === formatEdge(expected))
  for (let next = isSame ? shared : 0; next < Math.min(size, known.end); ) {
    const entries = await ledger.list(organisationId, next, pageEntries)
    const other = entries.find(({ index, record }) => known.leaf(index)?.equals(hashLeaf(record)) === false)
    if (other) return other.index
    const end = entries.at(-1)
    if (!end) break
    next = end.index + 1
  }
  return isSame ? null : shared - 1
}

const pageEntries = 500

async function hasOlderKeys(store: Store, known: KnownChanges): Promise<boolean> {
  const own = new KnownChanges()
  for await (const lines of readKeyChanges(store)) for (const line of lines) own.add(line)
  const older = new Set([
    ...[...known.revoked].filter((id) => !own.revoked.has(id)),
    ...[...known.rotations].filter(([id, at]) => at > (own.rotations.get(id) ?? -1)).map(([id]) => id),
  ])
  for (const id of older) if ((await store.apiKeys.find(id)) !== null) return true
  return false
}

function contradiction(place: string, organisationId: string, index: number): Error {
  return new Error(
    `The ledger of the organisation "${organisationId}" and the journal ${place} hold different entries ${index}: the ledger went on after the store had been set back, or the journal belongs to another store. To put the journal's entries in their places and the ledger's own behind them, run "lethe journal replay ${place} --mend".`,
  )
}
