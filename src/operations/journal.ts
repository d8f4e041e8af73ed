import {
  credentialNamed,
  type Journal,
  type JournalFile,
  type JournalReports,
  KnownChanges,
  type KnownLedger,
} from '../domain/journal.ts'
import { isEntry, type JournalLine, type JournalledEntry } from '../domain/journal-line.ts'
import type { Keyring } from '../domain/keyring.ts'
import { ShortLedger } from '../domain/ledger.ts'
import { formatFrontier, hashLeaf } from '../domain/merkle-tree.ts'
import type { ReplayedInSetBack } from '../domain/replay.ts'
import type { Store } from '../domain/store.ts'
import { type ChangesSource, readChanges, readCredentialChanges, readEntries } from './journal-changes.ts'
import { lacksClosing } from './replay-closing.ts'
import { type RestoredDeps, replayIfSetBack } from './replay-journal.ts'

/** How long after a failure an erasure may still be committed. */
const undecidedMs = 60_000

/**
 * A journal without gaps: before an entry, it appends earlier entries of the ledger that it lacks, for
 * example after a lost commit response. A conflicting entry shows that the store was set back.
 */
export class LedgerJournal implements Journal {
  readonly #file: JournalFile
  readonly #store: ChangesSource
  readonly known = new KnownChanges()
  #offset = 0
  #loading: Promise<number> | null = null
  #reports: JournalReports = { onFailed() {}, onRecovered() {}, onSetBack() {} }
  #setBack: Error | null = null
  /** Organisations with a failed erasure, and the time of the failure. */
  readonly #undecided = new Map<string, number>()

  constructor(file: JournalFile, store: ChangesSource) {
    this.#file = file
    this.#store = store
    file.completeWith((lines) => this.#missingBeside(lines))
  }

  get place(): string {
    return this.#file.place
  }

  load(): Promise<number> {
    this.#loading ??= this.#readOn()
    return this.#loading
  }

  read(): AsyncIterable<JournalLine> {
    return this.#file.read()
  }

  async append(lines: readonly JournalLine[]): Promise<void> {
    const others = lines.filter((line) => !isEntry(line))
    // Before anything is read from the store: if that fails, only entries can be found again.
    const handed = others.length > 0 ? this.#file.append(this.#takeAll(others)) : null
    handed?.catch(() => {})
    try {
      const entries = lines.filter(isEntry)
      const missing = await this.#missingFor(entries)
      this.#requireWhole()
      const fresh = this.#takeAll([...missing, ...entries])
      if (handed === null || fresh.length > 0) await this.#file.append(fresh)
    } finally {
      await handed
    }
  }

  async entryCount(organisationId: string): Promise<number> {
    await this.load()
    this.#requireWhole()
    return this.known.ledgers.get(organisationId)?.end ?? 0
  }

  async checkLedger(organisationId: string): Promise<void> {
    this.#undecided.set(organisationId, performance.now())
    await this.append([]).catch(() => {})
  }

  async recover(): Promise<void> {
    this.#requireWhole()
    if (this.#undecided.size > 0) await this.append([])
    await this.#file.recover()
  }

  waitingLines(): number {
    return this.#file.waitingLines()
  }

  watch(reports: JournalReports): void {
    this.#reports = reports
    this.#file.watch(reports)
  }

  /** Reads lines appended by any process since the last read. */
  async #readOn(): Promise<number> {
    let unreadable = 0
    const reading = {
      from: this.#offset,
      onUnreadable: () => {
        unreadable += 1
      },
      onEnd: (offset: number) => {
        this.#offset = offset
      },
    }
    for await (const line of this.#file.read(reading)) this.known.add(line)
    return unreadable
  }

  /**
   * What a file that was begun again lacks. What was in the file before stays known, so that a store that was set
   * back is still found.
   */
  async *#missingBeside(lines: readonly JournalLine[]): AsyncGenerator<JournalLine[]> {
    const held = new KnownChanges()
    for await (const line of this.#file.read()) held.add(line)
    for (const line of lines) held.add(line)
    this.#offset = 0
    for await (const missing of readChanges(this.#store, held)) {
      for (const line of missing) this.#takeFresh(line)
      if (missing.length > 0) yield missing
    }
  }

  /** What no process has written yet, before these entries and of erasures whose outcome is unknown. */
  async #missingFor(entries: readonly JournalledEntry[]): Promise<JournalLine[]> {
    const first = new Map<string, number>()
    for (const { organisationId, index } of entries)
      first.set(organisationId, Math.min(index, first.get(organisationId) ?? index))
    if (first.size > 0) await this.load()
    const missing: JournalLine[] = []
    for (const [organisationId, index] of first)
      missing.push(...(await this.#missingBefore(organisationId, index)))
    for (const organisationId of this.#undecided.keys())
      missing.push(...(await this.#undecidedOf(organisationId)))
    return missing
  }

  /** The entries of a ledger before an index that no process has written. */
  async #missingBefore(organisationId: string, end: number): Promise<JournalLine[]> {
    const ledger = this.known.ledger(organisationId)
    if (ledger.next >= end) return []
    await this.#readOn()
    const missing: JournalLine[] = []
    for await (const lines of readEntries(this.#store, organisationId, this.known, end))
      missing.push(...lines)
    return missing
  }

  /** The entries that a failed erasure may have added to the ledger. */
  async #undecidedOf(organisationId: string): Promise<JournalLine[]> {
    const since = this.#undecided.get(organisationId) ?? 0
    await this.load()
    const size = (await this.#store.ledger.head(organisationId))?.frontier.size ?? 0
    const known = this.known.ledgers.get(organisationId)?.end ?? 0
    if (size < known) this.#stop(new ShortLedger(organisationId, size, known))
    const missing = await this.#missingBefore(organisationId, size)
    if (performance.now() - since > undecidedMs) this.#undecided.delete(organisationId)
    return missing
  }

  /** Checks and adds synchronously, so that no line is written twice. */
  #takeAll(lines: readonly JournalLine[]): JournalLine[] {
    return lines.filter((line) => this.#takeFresh(line))
  }

  /** Adds a line and returns whether to write it. Throws if the journal has another entry at its index. */
  #takeFresh(line: JournalLine): boolean {
    const outcome = isEntry(line) ? this.known.ledger(line.organisationId).compare(line) : 'new'
    if (outcome === 'new') this.known.add(line)
    if (!isEntry(line) || outcome !== 'other') return outcome === 'new'
    const { organisationId, index } = line
    return this.#stop(
      new Error(
        `Entry ${index} of the ledger of the organisation "${organisationId}" differs from that in the journal ${this.place}: the store was set back to an earlier state. Restart the service.`,
      ),
    )
  }

  #stop(error: Error): never {
    if (!this.#setBack) this.#reports.onSetBack(error)
    this.#setBack ??= error
    throw error
  }

  #requireWhole(): void {
    if (this.#setBack) throw this.#setBack
  }
}

export interface OpenedJournal {
  /** How many lines the journal lacked. */
  appended: number
  /** Lines that are torn or invalid. */
  unreadable: number
  /** What was replayed into the store; `null` if nothing was missing. */
  replayed: ReplayedInSetBack | null
}

/**
 * Reconciles a journal and its store: replays the journal into a store that was set back, and appends what
 * the journal lacks. Rejects if they contradict each other or entries are missing.
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
  await requireAllEntries(store, known, place)
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

/** Throws if a ledger is shorter than in the journal: its gaps were closed, so a replay changes nothing. */
async function requireAllEntries(store: Store, known: KnownChanges, place: string): Promise<void> {
  for (const [organisationId, { end }] of known.ledgers) {
    if ((await store.organisations.find(organisationId)) === null) continue
    const size = (await store.ledger.head(organisationId))?.frontier.size ?? 0
    if (size < end)
      throw new Error(
        `The ledger of the organisation "${organisationId}" has ${size} entries, but the journal ${place} has indexes up to ${end - 1}: the ledger was repaired since. Move the journal away to start a new one.`,
      )
  }
}

/** Whether a store lacks changes of a journal. Throws if its ledgers have other entries. */
async function isBehind(store: Store & RestoredDeps, known: KnownChanges, place: string): Promise<boolean> {
  let isShort = false
  for (const [organisationId, ledger] of known.ledgers) {
    // A deleted organisation has no ledger any more.
    if ((await store.organisations.find(organisationId)) === null) continue
    const index = await firstDifference(store, organisationId, ledger)
    if (index !== null) throw contradiction(place, organisationId, index)
    const size = (await store.ledger.head(organisationId))?.frontier.size ?? 0
    isShort ||= size < ledger.end
  }
  return isShort || (await hasOlderCredentials(store, known)) || lacksClosing(store, known)
}

/** The first index at which a ledger and a journal have different entries; `null` if there is none. */
async function firstDifference(
  { ledger }: Pick<Store, 'ledger'>,
  organisationId: string,
  known: KnownLedger,
): Promise<number | null> {
  const size = (await ledger.head(organisationId))?.frontier.size ?? 0
  const shared = Math.min(size, known.next)
  const [last] = shared > 0 ? await ledger.list(organisationId, shared - 1, 1) : []
  const expected = known.frontierAt(shared)
  const isSame = expected === null || (last && formatFrontier(last.frontier) === formatFrontier(expected))
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

/** Whether a key or token was revoked or rotated since. */
async function hasOlderCredentials(store: Store, known: KnownChanges): Promise<boolean> {
  const own = new KnownChanges()
  for await (const lines of readCredentialChanges(store)) for (const line of lines) own.add(line)
  const older = new Set([
    ...[...known.revoked].filter((name) => !own.revoked.has(name)),
    ...[...known.rotations]
      .filter(([name, at]) => at > (own.rotations.get(name) ?? -1))
      .map(([name]) => name),
  ])
  const stores = { key: store.apiKeys, 'variable-token': store.variableTokens }
  for (const name of older) {
    const { credential, id } = credentialNamed(name)
    // It may have been removed with its organisation.
    if ((await stores[credential].find(id)) !== null) return true
  }
  return false
}

function contradiction(place: string, organisationId: string, index: number): Error {
  return new Error(
    `The ledger of the organisation "${organisationId}" and the journal ${place} have different entries at index ${index}: the ledger continued after the store was set back, or the journal belongs to another store. To restore the journal's entries and append the ledger's own after them, run "lethe journal replay ${place} --mend".`,
  )
}
