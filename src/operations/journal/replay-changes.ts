import { commandLine } from '../../domain/activity.ts'
import type { Clock } from '../../domain/instant.ts'
import type { JournalLine, JournalledErasure } from '../../domain/journal.ts'
import type { Keyring } from '../../domain/keyring.ts'
import type { HeadKeys } from '../../domain/ledger.ts'
import type { Randomness } from '../../domain/randomness.ts'
import { type EndedAccess, LedgerConflict, type ReplayStore } from '../../domain/replay.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import type { Store } from '../../domain/store.ts'
import { stopOpenBatches } from '../erasure-batch/stop-open-batches.ts'
import { removeRefused } from './remove-refused.ts'

/** What a replay did. All zeros when the store had forgotten nothing. */
export interface Replayed {
  /** Entries of ledgers that were missing, and the tombstones that came with them. */
  entries: number
  tombstones: number
  revokedKeys: number
  rotatedKeys: number
  /** What tombstones refuse, and the store held. */
  removed: SweptCounts
  /** Entries of organisations that the store does not have. */
  entriesOfOthers: number
}

/** What was done to a store that was set back. */
export interface ReplayedInRestored extends Replayed, EndedAccess {
  /** Batches of erasures that were not over when it was copied. */
  stoppedBatches: number
}

export interface RestoredDeps extends Pick<Store, 'replay' | 'ledger' | 'transfer' | 'erasureBatches'> {
  clock: Clock
  randomness: Randomness
}

/** So many entries share a transaction. */
const batchEntries = 500

/**
 * Does once more, in a store that is older than it was, what is told of: appends what ledgers lack, takes keys away, and deletes
 * whoever was erased. Lines may come more than once, and entries not quite in order. Throws `LedgerConflict` where one is missing or
 * another stands in its place; what was done before that stays, and doing it all again is safe.
 */
export async function replayChanges(
  store: Pick<Store, 'replay' | 'ledger' | 'transfer'>,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
): Promise<Replayed> {
  const done: Replayed = {
    entries: 0,
    tombstones: 0,
    revokedKeys: 0,
    rotatedKeys: 0,
    removed: { subjects: 0, sessions: 0, events: 0 },
    entriesOfOthers: 0,
  }
  const ledgers = new Map<string, LedgerReplay | null>()
  for await (const line of lines) {
    if (line.kind === 'erasure') {
      const { organisationId } = line
      const known = ledgers.get(organisationId)
      const ledger =
        known === undefined ? await openLedger(store, organisationId, done, keyring.headKeys) : known
      ledgers.set(organisationId, ledger)
      if (ledger) await ledger.add(line)
      else done.entriesOfOthers += 1
    } else if (await replayKeyChange(store.replay, line)) {
      done[line.kind === 'key.revoked' ? 'revokedKeys' : 'rotatedKeys'] += 1
    }
  }
  for (const ledger of ledgers.values()) await ledger?.end()
  done.removed = await removeRefused(store, keyring.tombstoneKeys)
  return done
}

/**
 * The same in a store that was restored. What went on when it was copied may be over since, and is ended: batches, in which people may
 * wait who have come back, sign-ins, and links to set a password.
 */
export async function replayInRestored(
  store: RestoredDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
): Promise<ReplayedInRestored> {
  const ended = await store.replay.endAccess()
  const stoppedBatches = await stopOpenBatches(store, Number.MAX_SAFE_INTEGER, () => commandLine)
  return { ...(await replayChanges(store, keyring, lines)), stoppedBatches, ...ended }
}

function replayKeyChange(
  replay: ReplayStore,
  line: Exclude<JournalLine, JournalledErasure>,
): Promise<boolean> {
  if (line.kind === 'key.revoked') return replay.revokeKey(line.keyId, line.at)
  const { keyId, hash, lastFour, at } = line
  return replay.rotateKey(keyId, { hash, lastFour }, at)
}

/** Brings the entries of one ledger into order, and appends them in batches. */
class LedgerReplay {
  readonly #replay: ReplayStore
  readonly #organisationId: string
  readonly #done: Replayed
  readonly #headKeys: HeadKeys
  /** The first entry that is neither in the ledger nor has come yet. */
  #next: number
  /** Entries that come behind that one. */
  readonly #early = new Map<number, JournalledErasure>()
  /** Entries without a gap, to be handed over together. */
  #run: JournalledErasure[] = []

  constructor(replay: ReplayStore, organisationId: string, size: number, done: Replayed, headKeys: HeadKeys) {
    this.#replay = replay
    this.#organisationId = organisationId
    this.#next = size
    this.#done = done
    this.#headKeys = headKeys
  }

  async add(entry: JournalledErasure): Promise<void> {
    if (entry.index > this.#next) {
      this.#early.set(entry.index, entry)
      return
    }
    // One that is there already is handed over all the same: whether it is the same entry, the store can tell.
    await this.#push(entry)
    if (entry.index < this.#next) return
    this.#next += 1
    for (let next = this.#early.get(this.#next); next; next = this.#early.get(this.#next)) {
      this.#early.delete(this.#next)
      await this.#push(next)
      this.#next += 1
    }
  }

  async end(): Promise<void> {
    await this.#flush()
    if (this.#early.size === 0) return
    throw LedgerConflict.gap(this.#organisationId, this.#next, Math.min(...this.#early.keys()))
  }

  async #push(entry: JournalledErasure): Promise<void> {
    const last = this.#run.at(-1)
    if (last && (last.index + 1 !== entry.index || this.#run.length >= batchEntries)) await this.#flush()
    this.#run.push(entry)
  }

  async #flush(): Promise<void> {
    const run = this.#run
    this.#run = []
    const appended = await this.#replay.appendEntries(this.#organisationId, run, this.#headKeys)
    this.#done.entries += appended?.entries ?? 0
    this.#done.tombstones += appended?.tombstones ?? 0
  }
}

/** Where to put an organisation's entries; `null` when the store does not have the organisation. */
async function openLedger(
  { replay, ledger }: Pick<Store, 'replay' | 'ledger'>,
  organisationId: string,
  done: Replayed,
  headKeys: HeadKeys,
): Promise<LedgerReplay | null> {
  if ((await replay.appendEntries(organisationId, [], headKeys)) === null) return null
  const head = await ledger.head(organisationId)
  return new LedgerReplay(replay, organisationId, head?.edge.size ?? 0, done, headKeys)
}
