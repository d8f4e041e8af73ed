import { addCounts, type DataCounts } from '../domain/activity.ts'
import type { Clock } from '../domain/instant.ts'
import { gapsIn, KnownLedger } from '../domain/journal.ts'
import { isEntry, type JournalLine, type JournalledEntry } from '../domain/journal-line.ts'
import type { Keyring, TombstoneKey } from '../domain/keyring.ts'
import type { HeadKeys } from '../domain/ledger.ts'
import type { Replayed, ReplayedInSetBack, ReplayStore } from '../domain/replay.ts'
import { keyOf, type Store, type TransferRow } from '../domain/store.ts'
import { ledgerPages } from './ledger.ts'
import { realignItems } from './realign-items.ts'
import { RenumberedEntries } from './renumbered-entries.ts'
import { ClosingReplay, closingsKeptSince, type KeptSince } from './replay-closing.ts'

type ReplayDeps = Pick<Store, 'replay' | 'ledger' | 'transfer' | 'privacyRequests'>

export interface RestoredDeps extends ReplayDeps, Pick<Store, 'activity'> {
  clock: Clock
  activityDays: number
}

export interface ReplayOptions {
  /** Repairs a ledger: restores the journal's entries, closes gaps, and moves other entries to the end. */
  mend?: boolean
  /** Without it, requests that the store does not have were not swept. */
  keptSince?: KeptSince
}

const batchEntries = 500

/**
 * Repeats changes in a store that lacks them: ledger entries, changes of credentials, closings of requests,
 * and deletions of erased data. Lines may be repeated and slightly out of order. Problems are reported after
 * everything else is done. Idempotent.
 */
export async function replayChanges(
  store: ReplayDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
  { mend = false, keptSince = async () => Number.MIN_SAFE_INTEGER }: ReplayOptions = {},
): Promise<Replayed> {
  const done: Replayed = {
    entries: 0,
    tombstones: 0,
    movedEntries: 0,
    revokedKeys: 0,
    rotatedKeys: 0,
    revokedTokens: 0,
    rotatedTokens: 0,
    closedRequests: 0,
    removed: { subjects: 0, sessions: 0, events: 0 },
    entriesOfOthers: 0,
    problems: [],
  }
  const ledgers = new Map<string, LedgerReplay | null>()
  const closings = new ClosingReplay(store)
  for await (const line of lines) {
    if (isEntry(line)) {
      const { organisationId } = line
      const known = ledgers.get(organisationId)
      const ledger =
        known === undefined ? await openLedger(store, organisationId, done, keyring.headKeys) : known
      ledgers.set(organisationId, ledger)
      if (ledger) await ledger.add(line)
      else done.entriesOfOthers += 1
    } else if (line.kind === 'closing') {
      await closings.add(line)
    } else if (line.kind === 'revocation') {
      if (await store.replay.revoke(line))
        done[line.credential === 'key' ? 'revokedKeys' : 'revokedTokens'] += 1
    } else if (await store.replay.rotate(line)) {
      done[line.credential === 'key' ? 'rotatedKeys' : 'rotatedTokens'] += 1
    }
  }
  for (const ledger of ledgers.values()) await ledger?.end(mend)
  await closings.end(keptSince, done)
  for (const [organisationId, ledger] of ledgers)
    if (ledger && (mend || ledger.isRenumbered)) await realignItems(store, keyring, organisationId)
  done.removed = await removeRefused(store, keyring.tombstoneKeys)
  return done
}

/** As `replayChanges`, for a restored store. Ends what was in progress when the copy was made. */
export async function replayInRestored(
  store: RestoredDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
): Promise<ReplayedInSetBack> {
  const options = { keptSince: closingsKeptSince(store) }
  return endUnfinished(store, await replayChanges(store, keyring, lines, options))
}

/** As `replayInRestored`, but changes nothing in a store that lacks nothing. */
export async function replayIfSetBack(
  store: RestoredDeps,
  keyring: Keyring,
  lines: AsyncIterable<JournalLine>,
  { mend = false }: Pick<ReplayOptions, 'mend'> = {},
): Promise<ReplayedInSetBack> {
  const options = { mend, keptSince: closingsKeptSince(store) }
  const replayed = await replayChanges(store, keyring, lines, options)
  if (hasChanged(replayed)) return endUnfinished(store, replayed)
  return { ...replayed, stoppedErasures: 0, endedSignIns: 0, withdrawnLinks: 0, removedRecoveryCodes: 0 }
}

/** Stops erasures that may have been cancelled since, and ends sign-ins and links that may have ended. */
async function endUnfinished(store: RestoredDeps, replayed: Replayed): Promise<ReplayedInSetBack> {
  return { ...replayed, ...(await store.replay.endUnfinished()) }
}

function hasChanged({
  entries,
  tombstones,
  movedEntries,
  revokedKeys,
  rotatedKeys,
  revokedTokens,
  rotatedTokens,
  closedRequests,
  removed,
}: Replayed): boolean {
  const credentials = revokedKeys + rotatedKeys + revokedTokens + rotatedTokens
  const changes = entries + tombstones + movedEntries + credentials + closedRequests
  return changes + removed.sessions + removed.events > 0
}

/** Orders the entries of one ledger and appends them in batches. */
class LedgerReplay {
  readonly #replay: ReplayStore
  readonly #organisationId: string
  readonly #done: Replayed
  readonly #headKeys: HeadKeys
  readonly #renumbered: RenumberedEntries
  /** All entries so far. The first entry for an index counts, unless it is a renumbered one. */
  readonly #seen = new KnownLedger()
  /** How many entries the ledger had at first. */
  readonly #size: number
  /** The first index that is neither in the ledger nor read yet. */
  #next: number
  /** Entries after that index, or at it if it is the old index of a renumbered entry. */
  readonly #early = new Map<number, JournalledEntry>()
  /** Contiguous entries for the next transaction. */
  #run: JournalledEntry[] = []
  /** Entries from the first one that conflicts with the ledger. */
  #fork: JournalledEntry[] = []
  /** Entries for an index that already had another one. */
  readonly #contested: JournalledEntry[] = []
  /** Whether nothing is left that is missing or contradictory. */
  #isWhole = true

  constructor(
    { replay, ledger }: Pick<Store, 'replay' | 'ledger'>,
    organisationId: string,
    size: number,
    done: Replayed,
    headKeys: HeadKeys,
  ) {
    this.#replay = replay
    this.#organisationId = organisationId
    this.#size = size
    this.#next = size
    this.#done = done
    this.#headKeys = headKeys
    const flush = () => this.#flush()
    this.#renumbered = new RenumberedEntries(async function* () {
      await flush()
      yield* ledgerPages(ledger, organisationId)
    })
  }

  async add(entry: JournalledEntry): Promise<void> {
    this.#renumbered.note(entry)
    const outcome = this.#seen.compare(entry)
    if (outcome === 'known') return
    if (outcome === 'other') {
      const early = this.#early.get(entry.index)
      if (!early || !(await this.#renumbered.has(early))) {
        this.#contested.push(entry)
        return
      }
      this.#seen.replace(entry)
    } else this.#seen.add(entry)
    if (entry.index < this.#next) {
      // The store compares it with the ledger's.
      await this.#push(entry)
      return
    }
    this.#early.set(entry.index, entry)
    for (;;) {
      const next = this.#early.get(this.#next)
      if (!next || (await this.#renumbered.has(next))) return
      this.#early.delete(this.#next)
      await this.#push(next)
      this.#next += 1
    }
  }

  /** Repairs the ledger with the remaining entries, or stores only their tombstones. */
  async end(mend: boolean): Promise<void> {
    await this.#flush()
    for (const [index, entry] of this.#early) if (await this.#renumbered.has(entry)) this.#early.delete(index)
    const entries = [...this.#fork, ...this.#early.values()].sort((a, b) => a.index - b.index)
    const left = [...entries, ...this.#contested]
    if (left.length === 0) return
    const done = this.#done
    const early = [...this.#early.keys()].sort((a, b) => a - b)
    for (const [from, to] of gapsIn(early, this.#next)) {
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
    this.#isWhole = this.#early.size === 0 && withoutEntry === 0
    const [other = this.#contested[0]] = this.#fork
    if (other && withoutEntry > 0) {
      done.problems.push(
        `${this.#ledger} and the journal have different entries at index ${other.index}: the ledger continued after the store was set back, or belongs to another store. "lethe journal replay --mend" restores the journal's entries and appends the ledger's own after them.`,
      )
    }
  }

  /** Whether the ledger is whole, and a journal has some of its entries at other indexes. */
  get isRenumbered(): boolean {
    return this.#isWhole && (this.#renumbered.wasFound || this.#contested.length > 0)
  }

  get #ledger(): string {
    return `the ledger of the organisation "${this.#organisationId}"`
  }

  async #push(entry: JournalledEntry): Promise<void> {
    const last = this.#run.at(-1)
    if (last && (last.index + 1 !== entry.index || this.#run.length >= batchEntries)) await this.#flush()
    // After a conflict, no entry can be appended.
    if (this.#fork.length > 0) {
      if (!(await this.#renumbered.has(entry))) this.#fork.push(entry)
      return
    }
    this.#run.push(entry)
    if (entry.index >= this.#size) this.#renumbered.append(entry)
  }

  async #flush(): Promise<void> {
    const run = this.#run
    this.#run = []
    const appended = await this.#replay.appendEntries(this.#organisationId, run, this.#headKeys)
    if (!appended) return
    this.#done.entries += appended.entries
    this.#done.tombstones += appended.tombstones
    const others = run.slice(run.length - appended.others)
    const own = await this.#withoutRenumbered(others)
    if (own.length === others.length) {
      this.#fork.push(...own)
      return
    }
    for (const entry of own) await this.#push(entry)
    await this.#flush()
  }

  async #withoutRenumbered(entries: readonly JournalledEntry[]): Promise<JournalledEntry[]> {
    const others: JournalledEntry[] = []
    for (const entry of entries) if (!(await this.#renumbered.has(entry))) others.push(entry)
    return others
  }
}

/** `null` if the store does not have the organisation. */
async function openLedger(
  { replay, ledger }: Pick<Store, 'replay' | 'ledger'>,
  organisationId: string,
  done: Replayed,
  headKeys: HeadKeys,
): Promise<LedgerReplay | null> {
  if ((await replay.appendEntries(organisationId, [], headKeys)) === null) return null
  const head = await ledger.head(organisationId)
  return new LedgerReplay({ replay, ledger }, organisationId, head?.frontier.size ?? 0, done, headKeys)
}

const pageSubjects = 250

/** Deletes everything that tombstones refuse. */
async function removeRefused(
  { replay, transfer }: Pick<Store, 'replay' | 'transfer'>,
  keys: readonly TombstoneKey[],
): Promise<DataCounts> {
  const total = { subjects: 0, sessions: 0, events: 0 }
  const table = transfer.tables.find(({ name }) => name === 'subjects')
  if (!table) throw new Error('There is no table subjects.')
  for (const trackerId of await replay.guardedTrackers()) {
    // No ID is empty, so this precedes the tracker's first subject.
    let after: TransferRow | null = [trackerId, '']
    while (after) {
      const rows: TransferRow[] = await transfer.read(table, after, pageSubjects)
      const own = rows.filter(([tracker]) => tracker === trackerId)
      const subjectIds = own.map(([, subjectId]) => String(subjectId))
      if (subjectIds.length > 0) {
        addCounts(total, await replay.removeRefused(trackerId, subjectIds, keys))
      }
      const last = own.at(-1)
      after = last && own.length === pageSubjects ? keyOf(table, last) : null
    }
  }
  return total
}
