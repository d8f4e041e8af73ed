import { commandLine } from '../domain/activity.ts'
import type { Clock } from '../domain/instant.ts'
import { KnownLedger } from '../domain/journal.ts'
import type { JournalLine, JournalledErasure } from '../domain/journal-line.ts'
import type { Keyring, TombstoneKey } from '../domain/keyring.ts'
import type { HeadKeys } from '../domain/ledger.ts'
import type { Randomness } from '../domain/randomness.ts'
import type { Replayed, ReplayedInSetBack, ReplayStore } from '../domain/replay.ts'
import type { SweptCounts } from '../domain/retention.ts'
import { keyOf, type Store, type TransferRow } from '../domain/store.ts'
import { stopOpenBatches } from './erasure-batch.ts'

export interface RestoredDeps extends Pick<Store, 'replay' | 'ledger' | 'transfer' | 'erasureBatches'> {
  clock: Clock
  randomness: Randomness
}

export interface ReplayOptions {
  /** Puts entries in the places that others have in the ledger, closes gaps, and appends the others behind them. */
  mend?: boolean
}

/** So many entries share a transaction. */
const batchEntries = 500

/**
 * Does once more, in a store that is older than it was, what is told of: appends what ledgers lack, takes keys away, and deletes the
 * data of the erased. Lines may come more than once, and entries not quite in order. Where entries are missing, or the ledger holds
 * others, everything else is done and `problems` says so. Doing it all again is safe.
 */
export async function replayChanges(
  store: Pick<Store, 'replay' | 'ledger' | 'transfer'>,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
  { mend = false }: ReplayOptions = {},
): Promise<Replayed> {
  const done: Replayed = {
    entries: 0,
    tombstones: 0,
    movedEntries: 0,
    revokedKeys: 0,
    rotatedKeys: 0,
    removed: { subjects: 0, sessions: 0, events: 0 },
    entriesOfOthers: 0,
    problems: [],
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
  for (const ledger of ledgers.values()) await ledger?.end(mend)
  done.removed = await removeRefused(store, keyring.tombstoneKeys)
  return done
}

/** The same in a store that was restored. What was under way when it was copied is ended. */
export async function replayInRestored(
  store: RestoredDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
): Promise<ReplayedInSetBack> {
  return endUnfinished(store, await replayChanges(store, keyring, lines))
}

/** The same in a store that may have been set back. One that had forgotten nothing is left alone. */
export async function replayIfSetBack(
  store: RestoredDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
  options?: ReplayOptions,
): Promise<ReplayedInSetBack> {
  const replayed = await replayChanges(store, keyring, lines, options)
  if (hasChanged(replayed)) return endUnfinished(store, replayed)
  return { ...replayed, stoppedBatches: 0, endedSignIns: 0, withdrawnLinks: 0 }
}

/** Ends what may be over since: batches, in which people may wait who have come back, sign-ins, and links to set a password. */
async function endUnfinished(store: RestoredDeps, replayed: Replayed): Promise<ReplayedInSetBack> {
  const ended = await store.replay.endAccess()
  const stoppedBatches = await stopOpenBatches(store, Number.MAX_SAFE_INTEGER, () => commandLine)
  return { ...replayed, stoppedBatches, ...ended }
}

function hasChanged({
  entries,
  tombstones,
  movedEntries,
  revokedKeys,
  rotatedKeys,
  removed,
}: Replayed): boolean {
  const { sessions, events } = removed
  return entries + tombstones + movedEntries + revokedKeys + rotatedKeys + sessions + events > 0
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
  /** What has come so far. The first entry that comes for an index counts. */
  readonly #seen = new KnownLedger()
  /** The first entry that is neither in the ledger nor has come yet. */
  #next: number
  /** Entries that come behind that one. */
  readonly #early = new Map<number, JournalledErasure>()
  /** Entries without a gap, to be handed over together. */
  #run: JournalledErasure[] = []
  /** From the first on in whose place the ledger holds another entry. */
  #fork: JournalledErasure[] = []
  /** Entries that came for an index that has one already. */
  readonly #contested: JournalledErasure[] = []

  constructor(replay: ReplayStore, organisationId: string, size: number, done: Replayed, headKeys: HeadKeys) {
    this.#replay = replay
    this.#organisationId = organisationId
    this.#next = size
    this.#done = done
    this.#headKeys = headKeys
  }

  async add(entry: JournalledErasure): Promise<void> {
    const outcome = this.#seen.compare(entry)
    if (outcome === 'known') return
    if (outcome === 'other') {
      this.#contested.push(entry)
      return
    }
    this.#seen.add(entry)
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

  /** What does not fit into the ledger is put there if it is to be mended; otherwise its tombstones guard without it. */
  async end(mend: boolean): Promise<void> {
    await this.#flush()
    const early = [...this.#early.values()].sort((a, b) => a.index - b.index)
    const entries = [...this.#fork, ...early].sort((a, b) => a.index - b.index)
    const left = [...entries, ...this.#contested]
    if (left.length === 0) return
    const done = this.#done
    for (const [from, to] of gapsBefore(early, this.#next)) {
      const missing = from === to ? `entry ${from}` : `entries ${from} to ${to}`
      done.problems.push(`No journal holds ${missing} of ${this.#ledger}.`)
    }
    if (mend) {
      const from = Math.min(this.#next, ...left.map(({ index }) => index))
      const tail = { from, entries, contested: this.#contested }
      const mended = await this.#replay.mendLedger(this.#organisationId, tail, this.#headKeys)
      done.entries += mended.entries
      done.tombstones += mended.tombstones
      done.movedEntries += mended.moved
      return
    }
    const { added, withoutEntry } = await this.#replay.addTombstones(this.#organisationId, left)
    done.tombstones += added
    const [other = this.#contested[0]] = this.#fork
    if (other && withoutEntry > 0) {
      done.problems.push(
        `${this.#ledger} and the journal hold different entries ${other.index}: the ledger went on after the store had been set back, or belongs to another store. "lethe journal replay --mend" puts the journal's entries in their places and the ledger's own behind them.`,
      )
    }
  }

  get #ledger(): string {
    return `the ledger of the organisation "${this.#organisationId}"`
  }

  async #push(entry: JournalledErasure): Promise<void> {
    // Behind an entry that is another, nothing of the journal belongs into the ledger as it is.
    if (this.#fork.length > 0) {
      this.#fork.push(entry)
      return
    }
    const last = this.#run.at(-1)
    if (last && (last.index + 1 !== entry.index || this.#run.length >= batchEntries)) await this.#flush()
    this.#run.push(entry)
  }

  async #flush(): Promise<void> {
    const run = this.#run
    this.#run = []
    const appended = await this.#replay.appendEntries(this.#organisationId, run, this.#headKeys)
    if (!appended) return
    this.#done.entries += appended.entries
    this.#done.tombstones += appended.tombstones
    this.#fork = run.slice(run.length - appended.others)
  }
}

/** The indexes that are missing before some entries, as ranges of the first and the last. */
function gapsBefore(entries: readonly JournalledErasure[], from: number): [number, number][] {
  const gaps: [number, number][] = []
  let next = from
  for (const { index } of entries) {
    if (index > next) gaps.push([next, index - 1])
    next = index + 1
  }
  return gaps
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
  return new LedgerReplay(replay, organisationId, head?.frontier.size ?? 0, done, headKeys)
}

const pageSubjects = 250

/** Goes through the subjects of every tracker that has tombstones, and deletes what those refuse. */
async function removeRefused(
  { replay, transfer }: Pick<Store, 'replay' | 'transfer'>,
  keys: readonly TombstoneKey[],
): Promise<SweptCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  const table = transfer.tables.find(({ name }) => name === 'subjects')
  if (!table) throw new Error('There is no table subjects.')
  for (const trackerId of await replay.guardedTrackers()) {
    // No id is empty, so that this comes before the tracker's first subject.
    let after: TransferRow | null = [trackerId, '']
    while (after) {
      const rows: TransferRow[] = await transfer.read(table, after, pageSubjects)
      const own = rows.filter(([tracker]) => tracker === trackerId)
      const subjectIds = own.map(([, subjectId]) => String(subjectId))
      if (subjectIds.length > 0) {
        const { subjects, sessions, events } = await replay.removeRefused(trackerId, subjectIds, keys)
        total.subjects += subjects
        total.sessions += sessions
        total.events += events
      }
      const last = own.at(-1)
      after = last && own.length === pageSubjects ? keyOf(table, last) : null
    }
  }
  return total
}
