import type { JournalledClosing } from './closed-request.ts'
import type { CredentialKind } from './credential.ts'
import type { Instant } from './instant.ts'
import {
  isEntry,
  type JournalLine,
  type JournalledEntry,
  type JournalledRevocation,
  type JournalledRotation,
} from './journal-line.ts'
import { appendLeaf, type Frontier, hashLeaf } from './merkle-tree.ts'
import type { CreatedRef } from './privacy-request.ts'

export interface JournalReports {
  /** A write failed; its lines wait for the next one. */
  onFailed(error: Error): void
  /** All waiting lines are written. */
  onRecovered(): void
  /** The store is older than the journal, or another store. Erasure is disabled. */
  onSetBack(error: Error): void
}

/** Keeps, outside the store, the changes that must survive its loss. */
export interface Journal {
  /** The journal's path, for logs. */
  readonly place: string
  /** The changes read or written so far. */
  readonly known: KnownChanges
  /** Reads the journal for the first time. Resolves to the number of lines that are torn or invalid. */
  load(): Promise<number>
  /** All lines in file order. */
  read(): AsyncIterable<JournalLine>
  /**
   * Resolves when the lines, preceded by any missing entries of their ledgers, are on disk. Rejects if the
   * write fails, in which case the lines wait for the next one, or if the journal has another entry at an
   * index. If the ledgers cannot be read, lines that are not entries are written before it rejects.
   */
  append(lines: readonly JournalLine[]): Promise<void>
  /** The number of entries of a ledger. Rejects after the store was found to be set back. */
  entryCount(organisationId: string): Promise<number>
  /** Checks a ledger after a failed erasure, which may have been committed. Never rejects. */
  checkLedger(organisationId: string): Promise<void>
  /** Writes the waiting lines. Rejects if that fails, or if the store was set back. */
  recover(): Promise<void>
  waitingLines(): number
  /** Replaces the callbacks. */
  watch(reports: JournalReports): void
}

export interface JournalReading {
  /** Called with the number of each invalid line, for example one torn by a crash. */
  onUnreadable?: ((line: number) => void) | undefined
  /** The byte offset to start at, which must be the start of a line. */
  from?: number
  /** Called with the byte offset at which a later read can continue. */
  onEnd?: (offset: number) => void
}

/** What the file lacks besides the lines that are about to be written. */
export type MissingLines = (lines: readonly JournalLine[]) => AsyncIterable<readonly JournalLine[]>

/** The journal's file, which processes of one machine may share. */
export interface JournalFile extends Pick<Journal, 'place' | 'recover' | 'waitingLines'> {
  /** As `Journal.append`, without missing ledger entries. */
  append(lines: readonly JournalLine[]): Promise<void>
  /** All valid lines in file order. */
  read(reading?: JournalReading): AsyncIterable<JournalLine>
  /**
   * Sets what is written before the next lines if the file was moved away, replaced or cut since it was last
   * read or written. If that fails, the lines wait and it is tried again.
   */
  completeWith(missing: MissingLines): void
  watch(reports: Pick<JournalReports, 'onFailed' | 'onRecovered'>): void
}

const hashBytes = 32

/** The entries of one ledger in a journal, by leaf hash. The first entry for an index counts. */
export class KnownLedger {
  /** The leaves before the first gap. */
  #leaves = Buffer.alloc(64 * hashBytes)
  /** Leaves after the first gap, which occurs because processes may write out of order. */
  readonly #beyond = new Map<number, Buffer>()
  /** The first missing index. */
  next = 0
  /** One past the last known index. */
  end = 0
  /** Entries for an index that already had a different entry. */
  readonly contested: { index: number; leaf: Buffer }[] = []

  leaf(index: number): Buffer | null {
    if (index >= this.next) return this.#beyond.get(index) ?? null
    return this.#leaves.subarray(index * hashBytes, (index + 1) * hashBytes)
  }

  compare({ index, record }: Pick<JournalledEntry, 'index' | 'record'>): 'new' | 'known' | 'other' {
    const known = this.leaf(index)
    if (known === null) return 'new'
    return known.equals(hashLeaf(record)) ? 'known' : 'other'
  }

  add({ index, record }: Pick<JournalledEntry, 'index' | 'record'>): void {
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

  /** Takes an entry instead of the one that is known at its index. */
  replace({ index, record }: Pick<JournalledEntry, 'index' | 'record'>): void {
    hashLeaf(record).copy(this.leaf(index) ?? Buffer.alloc(0))
  }

  /** Whether the entry with this leaf is known at any index. */
  holds(leaf: Buffer): boolean {
    const leaves = this.#leaves.subarray(0, this.next * hashBytes)
    for (let at = leaves.indexOf(leaf); at !== -1; at = leaves.indexOf(leaf, at + 1)) {
      if (at % hashBytes === 0) return true
    }
    return [...this.#beyond.values()].some((each) => each.equals(leaf))
  }

  /** The frontier of the tree over the first `size` entries, all of which must be known. */
  frontierAt(size: number): Frontier | null {
    let frontier: Frontier | null = null
    for (let index = 0; index < size; index++) {
      frontier = appendLeaf(frontier, Buffer.from(this.leaf(index) ?? []))
    }
    return frontier
  }

  gaps(): IndexRange[] {
    const known = [...this.#beyond.keys()].sort((a, b) => a - b)
    return gapsIn(known, this.next)
  }

  #push(leaf: Buffer): void {
    const at = this.next * hashBytes
    if (at === this.#leaves.length) this.#leaves = Buffer.concat([this.#leaves, Buffer.alloc(at)])
    leaf.copy(this.#leaves, at)
    this.next += 1
  }
}

interface KnownClosing extends CreatedRef {
  at: Instant
  isWhole: boolean
}

/**
 * The changes in a journal: a hash for each ledger entry, the last change of each credential, and the
 * closings of requests.
 */
export class KnownChanges {
  /** By kind and ID. */
  readonly ledgers = new Map<string, KnownLedger>()
  readonly rotations = new Map<string, Instant>()
  readonly revoked = new Set<string>()
  /** By request. A closing is whole when its last line is known, because lines are in order. */
  readonly closings = new Map<string, KnownClosing>()

  add(line: JournalLine): void {
    if (isEntry(line)) this.ledger(line.organisationId).add(line)
    else if (line.kind === 'closing') this.#addClosing(line)
    else if (line.kind === 'revocation') this.revoked.add(nameOf(line))
    else this.rotations.set(nameOf(line), Math.max(line.at, this.rotations.get(nameOf(line)) ?? line.at))
  }

  has(line: JournalLine): boolean {
    if (line.kind === 'closing') return this.hasClosing(refOf(line))
    if (line.kind === 'revocation') return this.revoked.has(nameOf(line))
    if (line.kind === 'rotation') return line.at <= (this.rotations.get(nameOf(line)) ?? -1)
    return (this.ledgers.get(line.organisationId)?.leaf(line.index) ?? null) !== null
  }

  hasClosing(ref: CreatedRef): boolean {
    return this.closings.get(closingName(ref))?.isWhole ?? false
  }

  ledger(organisationId: string): KnownLedger {
    const known = this.ledgers.get(organisationId) ?? new KnownLedger()
    this.ledgers.set(organisationId, known)
    return known
  }

  #addClosing(line: JournalledClosing): void {
    const ref = refOf(line)
    const isWhole = line.isLast || this.hasClosing(ref)
    this.closings.set(closingName(ref), { ...ref, at: line.at, isWhole })
  }
}

/** The request that a line closes. */
export function refOf({ organisationId, id, request }: JournalledClosing): CreatedRef {
  return { organisationId, id, createdAt: request.createdAt }
}

export function closingName({ organisationId, id, createdAt }: CreatedRef): string {
  return `${organisationId} ${id} ${createdAt}`
}

function nameOf({ credential, id }: JournalledRevocation | JournalledRotation): string {
  return `${credential} ${id}`
}

/** The kind and ID in a name. */
export function credentialNamed(name: string): { credential: CredentialKind; id: string } {
  const [kind, id = ''] = name.split(' ')
  return { credential: kind === 'key' ? 'key' : 'variable-token', id }
}

/** Inclusive. */
type IndexRange = [first: number, last: number]

/** The indexes from `from` on that are missing among sorted ones. */
export function gapsIn(indexes: readonly number[], from: number): IndexRange[] {
  const gaps: IndexRange[] = []
  let next = from
  for (const index of indexes) {
    if (index > next) gaps.push([next, index - 1])
    next = index + 1
  }
  return gaps
}
