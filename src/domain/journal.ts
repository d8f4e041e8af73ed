import type { Instant } from './instant.ts'
import type { JournalLine, JournalledErasure } from './journal-line.ts'
import { appendLeaf, type Frontier, hashLeaf } from './merkle-tree.ts'

/** What is told of a journal. */
export interface JournalReports {
  /** A write failed; what was to be written waits. */
  onFailed(error: Error): void
  /** Everything that waited is written. */
  onRecovered(): void
  /** The store turned out to be older than the journal, or another one: nothing is erased any more. */
  onSetBack(error: Error): void
}

/** Keeps, apart from the store, what must not be lost with it. */
export interface Journal {
  /** Where it is, as it may stand in a log. */
  readonly place: string
  /** What it holds, as far as it was read or written here. */
  readonly known: KnownChanges
  /** Reads it for the first time. Resolves to the number of lines that a crash has torn, or that are none of ours. */
  load(): Promise<number>
  /** Every line that is there, in the order of the file. */
  read(): AsyncIterable<JournalLine>
  /**
   * Resolves when the lines are on the disk, and before them every entry of their ledgers that was missing. Rejects when they cannot be
   * written: they then wait for the next write that succeeds. Rejects, too, when it holds another entry in the place of one.
   */
  append(lines: readonly JournalLine[]): Promise<void>
  /**
   * How many entries an organisation's ledger has at least, as far as the journal knows. Rejects once the store was found to be set
   * back: nothing may be erased then.
   */
  entryCount(organisationId: string): Promise<number>
  /** Looks at a ledger after an erasure that failed: it may have been committed, or the store may be set back. Never rejects. */
  checkLedger(organisationId: string): Promise<void>
  /** Writes what waits since a write failed. Rejects when that still fails, or the store was set back. */
  recover(): Promise<void>
  /** How many lines wait since a write failed. */
  waitingLines(): number
  /** Has the reports told from now on, in place of others. */
  watch(reports: JournalReports): void
}

/** How a journal is read. */
export interface JournalReading {
  /** Told the number of each line that is none, such as one that a crash has torn. */
  onUnreadable?: ((line: number) => void) | undefined
  /** The byte to begin at, which is the beginning of a line. */
  from?: number
  /** Told the byte at which to go on later. */
  onEnd?: (offset: number) => void
}

/** The file that a journal is. Processes of one machine may share it. */
export interface JournalFile extends Pick<Journal, 'place' | 'recover' | 'waitingLines'> {
  /** As `Journal.append`, of these lines alone. */
  append(lines: readonly JournalLine[]): Promise<void>
  /** Every line that is there, in the order of the file. What a crash has torn, or is no line of ours, is left out and told of. */
  read(reading?: JournalReading): AsyncIterable<JournalLine>
  watch(reports: Pick<JournalReports, 'onFailed' | 'onRecovered'>): void
}

const hashBytes = 32

/** The entries of one ledger that a journal holds, by the hashes of their leaves. The first entry that came for an index counts. */
export class KnownLedger {
  /** The leaves without a gap, from the first on. */
  #leaves = Buffer.alloc(64 * hashBytes)
  /** Leaves behind the first gap: processes that share a journal need not write in order. */
  readonly #beyond = new Map<number, Buffer>()
  /** The first entry that is not known. */
  next = 0
  /** Behind the last entry that is known. */
  end = 0
  /** Entries that came for an index that another entry has, by index. */
  readonly contested: { index: number; leaf: Buffer }[] = []

  leaf(index: number): Buffer | null {
    if (index >= this.next) return this.#beyond.get(index) ?? null
    return this.#leaves.subarray(index * hashBytes, (index + 1) * hashBytes)
  }

  /** Whether an entry is new, known already, or another than the one that is known. */
  compare({ index, record }: Pick<JournalledErasure, 'index' | 'record'>): 'new' | 'known' | 'other' {
    const known = this.leaf(index)
    if (known === null) return 'new'
    return known.equals(hashLeaf(record)) ? 'known' : 'other'
  }

  add({ index, record }: Pick<JournalledErasure, 'index' | 'record'>): void {
    const leaf = hashLeaf(record)
    const known = this.leaf(index)
    if (known) {
      if (!known.equals(leaf)) this.contested.push({ index, leaf })
      return
    }
    this.#beyond.set(index, leaf)
    this.end = Math.max(this.end, index + 1)
    for (let next = this.#beyond.get(this.next); next; next = this.#beyond.get(this.next)) {
      this.#beyond.delete(this.next)
      this.#push(next)
    }
  }

  /** Whether an entry with this leaf is known, wherever. */
  holds(leaf: Buffer): boolean {
    const leaves = this.#leaves.subarray(0, this.next * hashBytes)
    for (let at = leaves.indexOf(leaf); at !== -1; at = leaves.indexOf(leaf, at + 1)) {
      if (at % hashBytes === 0) return true
    }
    return [...this.#beyond.values()].some((each) => each.equals(leaf))
  }

  /** The frontier of the tree over the first `size` entries, none of which is missing. */
  frontierAt(size: number): Frontier | null {
    let frontier: Frontier | null = null
    for (let index = 0; index < size; index++) {
      frontier = appendLeaf(frontier, Buffer.from(this.leaf(index) ?? []))
    }
    return frontier
  }

  /** The indexes before the end that are missing, as ranges of the first and the last. */
  gaps(): [first: number, last: number][] {
    const known = [...this.#beyond.keys()].sort((a, b) => a - b)
    const gaps: [number, number][] = []
    let next = this.next
    for (const index of known) {
      if (index > next) gaps.push([next, index - 1])
      next = index + 1
    }
    return gaps
  }

  #push(leaf: Buffer): void {
    const at = this.next * hashBytes
    if (at === this.#leaves.length) this.#leaves = Buffer.concat([this.#leaves, Buffer.alloc(at)])
    leaf.copy(this.#leaves, at)
    this.next += 1
  }
}

/** What a journal knows of, out of its lines: a hash for each entry of a ledger, and the last change of each key. */
export class KnownChanges {
  readonly ledgers = new Map<string, KnownLedger>()
  readonly rotations = new Map<string, Instant>()
  readonly revoked = new Set<string>()

  add(line: JournalLine): void {
    if (line.kind === 'erasure') this.ledger(line.organisationId).add(line)
    else if (line.kind === 'key.revoked') this.revoked.add(line.keyId)
    else this.rotations.set(line.keyId, Math.max(line.at, this.rotations.get(line.keyId) ?? line.at))
  }

  has(line: JournalLine): boolean {
    if (line.kind === 'key.revoked') return this.revoked.has(line.keyId)
    if (line.kind === 'key.rotated') return line.at <= (this.rotations.get(line.keyId) ?? -1)
    return (this.ledgers.get(line.organisationId)?.leaf(line.index) ?? null) !== null
  }

  ledger(organisationId: string): KnownLedger {
    const known = this.ledgers.get(organisationId) ?? new KnownLedger()
    this.ledgers.set(organisationId, known)
    return known
  }
}
