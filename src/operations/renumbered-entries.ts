import type { JournalledEntry } from '../domain/journal-line.ts'
import type { LedgerEntry } from '../domain/ledger.ts'
import { hashLeaf } from '../domain/merkle-tree.ts'

/**
 * Finds the entries of a journal that have had a lower index since a gap was closed. A journal that lacks what was
 * in the gap still has them at their old indexes, as further entries or in the places of others.
 */
export class RenumberedEntries {
  /** Whether there was any. */
  wasFound = false
  readonly #readLedger: () => AsyncIterable<readonly LedgerEntry[]>
  readonly #journals = new Map<number | undefined, JournalIndexes>()
  /** The ledger's entries, read when a journal with a gap is found. */
  #entries: EntryIndexes | null = null

  /** `readLedger` reads all entries that are in the ledger so far. */
  constructor(readLedger: () => AsyncIterable<readonly LedgerEntry[]>) {
    this.#readLedger = readLedger
  }

  /** Records that a journal has an entry. */
  note({ journal, record, index }: JournalledEntry): void {
    const known = this.#journals.get(journal) ?? new JournalIndexes()
    this.#journals.set(journal, known)
    known.add(record, index)
  }

  /** Records that an entry was appended to the ledger. */
  append({ record, index }: JournalledEntry): void {
    this.#entries?.add(nameOf(hashLeaf(record)), index)
  }

  /**
   * Whether the ledger has an entry of a journal at a lower index: behind the journal's first gap, it has more of
   * these records than the journal. Two erasures can have identical ones.
   */
  async has({ journal, record, index }: JournalledEntry): Promise<boolean> {
    const known = this.#journals.get(journal)
    if (!known || known.next >= index) return false
    this.#entries ??= await this.#readEntries()
    const name = nameOf(hashLeaf(record))
    if (this.#entries.has(name, index)) return false
    const isFound = this.#entries.count(name, known.next, index) > known.beyond.count(name, known.next, index)
    this.wasFound ||= isFound
    return isFound
  }

  async #readEntries(): Promise<EntryIndexes> {
    const all = new EntryIndexes()
    for await (const entries of this.#readLedger())
      for (const { leafHash, index } of entries) all.add(nameOf(leafHash), index)
    return all
  }
}

/** The indexes of entries, by leaf hash. */
class EntryIndexes {
  readonly #indexes = new Map<string, number[]>()

  add(name: string, index: number): void {
    const indexes = this.#indexes.get(name)
    if (indexes) indexes.push(index)
    else this.#indexes.set(name, [index])
  }

  has(name: string, index: number): boolean {
    return this.#indexes.get(name)?.includes(index) ?? false
  }

  /** How many are at `from` or later, before `end`. */
  count(name: string, from: number, end: number): number {
    return (this.#indexes.get(name) ?? []).filter((index) => index >= from && index < end).length
  }

  delete(name: string, index: number): void {
    const others = (this.#indexes.get(name) ?? []).filter((each) => each !== index)
    if (others.length > 0) this.#indexes.set(name, others)
    else this.#indexes.delete(name)
  }
}

/** What a journal has, whose lines may be slightly out of order. */
class JournalIndexes {
  /** The first missing index. */
  next = 0
  /** The entries after it. */
  readonly beyond = new EntryIndexes()
  readonly #names = new Map<number, string>()

  add(record: string, index: number): void {
    if (index === this.next) this.next += 1
    else if (index > this.next && !this.#names.has(index)) {
      const name = nameOf(hashLeaf(record))
      this.#names.set(index, name)
      this.beyond.add(name, index)
    }
    for (let name = this.#names.get(this.next); name !== undefined; name = this.#names.get(this.next)) {
      this.#names.delete(this.next)
      this.beyond.delete(name, this.next)
      this.next += 1
    }
  }
}

function nameOf(leaf: Uint8Array): string {
  return Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).toString('latin1')
}
