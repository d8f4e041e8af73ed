import { type Journal, type JournalFile, type JournalReports, KnownChanges } from '../../domain/journal.ts'
import type { JournalLine } from '../../domain/journal-line.ts'
import { ShortLedger } from '../../domain/ledger.ts'
import type { Store } from '../../domain/store.ts'
import { readEntries } from './read-changes.ts'

/** For so long after a failure an erasure may still be committed. */
const undecidedMs = 60_000

/**
 * A journal without gaps: before it appends an entry, it appends those that the ledger holds and it does not, such as one whose commit
 * was never answered. An entry in whose place it holds another one shows that the store was set back.
 */
export class LedgerJournal implements Journal {
  readonly #file: JournalFile
  readonly #store: Pick<Store, 'ledger' | 'tombstones'>
  /** What the file holds, as far as it was read or written here. */
  readonly known = new KnownChanges()
  #offset = 0
  #loading: Promise<number> | null = null
  #reports: JournalReports = { onFailed() {}, onRecovered() {}, onSetBack() {} }
  #setBack: Error | null = null
  /** Organisations with an erasure that failed, and when it did. */
  readonly #undecided = new Map<string, number>()

  constructor(file: JournalFile, store: Pick<Store, 'ledger' | 'tombstones'>) {
    this.#file = file
    this.#store = store
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
    const missing: JournalLine[] = []
    const first = new Map<string, number>()
    for (const line of lines) {
      if (line.kind !== 'erasure') continue
      const { organisationId, index } = line
      first.set(organisationId, Math.min(index, first.get(organisationId) ?? index))
    }
    if (first.size > 0) await this.load()
    for (const [organisationId, index] of first)
      missing.push(...(await this.#missingBefore(organisationId, index)))
    for (const organisationId of this.#undecided.keys())
      missing.push(...(await this.#undecidedOf(organisationId)))
    this.#requireWhole()
    // Nothing is awaited between looking whether a line is known and making it known, so none is written twice here.
    const fresh = [...missing, ...lines].filter((line) => this.#takeFresh(line))
    await this.#file.append(fresh)
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

  /** Reads what was appended to the file since it was last read, by this process or another. */
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

  /** The entries of a ledger before an index that neither this process nor another has written. */
  async #missingBefore(organisationId: string, end: number): Promise<JournalLine[]> {
    const ledger = this.known.ledger(organisationId)
    if (ledger.next >= end) return []
    await this.#readOn()
    const missing: JournalLine[] = []
    for await (const lines of readEntries(this.#store, organisationId, this.known, end))
      missing.push(...lines)
    return missing
  }

  /** What an erasure that failed may have left in the ledger. */
  async #undecidedOf(organisationId: string): Promise<JournalLine[]> {
    const since = this.#undecided.get(organisationId) ?? 0
    await this.load()
    const size = (await this.#store.ledger.head(organisationId))?.edge.size ?? 0
    const known = this.known.ledgers.get(organisationId)?.end ?? 0
    if (size < known) this.#stop(new ShortLedger(organisationId, size, known))
    const missing = await this.#missingBefore(organisationId, size)
    if (performance.now() - since > undecidedMs) this.#undecided.delete(organisationId)
    return missing
  }

  /** Makes a line known, and tells whether it is to be written. Throws when the journal holds another entry in its place. */
  #takeFresh(line: JournalLine): boolean {
    const outcome = line.kind === 'erasure' ? this.known.ledger(line.organisationId).compare(line) : 'new'
    if (outcome === 'new') this.known.add(line)
    if (line.kind !== 'erasure' || outcome !== 'other') return outcome === 'new'
    const { organisationId, index } = line
    return this.#stop(
      new Error(
        `The ledger of the organisation "${organisationId}" has another entry ${index} than the journal ${this.place}: the store was set back to an earlier state. Restart the service.`,
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
