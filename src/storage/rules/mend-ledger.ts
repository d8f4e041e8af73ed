import type { JournalledEntry } from '../../domain/journal-line.ts'
import { ForgedLedger, type HeadKeys, headMacs, openHead, type StoredHead } from '../../domain/ledger.ts'
import { instantOf, parseRecord } from '../../domain/ledger-record.ts'
import {
  appendLeaf,
  type Frontier,
  formatFrontier,
  GrowingTree,
  hashLeaf,
  headAt,
} from '../../domain/merkle-tree.ts'
import type { MendedTail } from '../../domain/replay.ts'

/** An entry of a ledger's new tail. */
interface TailEntry {
  index: number
  record: string
  edge: string
  mac: string
  /** Its index before; `null` for an entry from the journal. */
  was: number | null
  /** The journal line, if the ledger did not have the entry. */
  line: JournalledEntry | null
}

/**
 * Computes how a ledger continues from an index. `records` are all records it has now. Throws `ForgedLedger`
 * if they do not lead to its head, or if the head was not made with one of the secrets.
 */
export function mendTail(
  organisationId: string,
  stored: StoredHead | null,
  records: readonly string[],
  { from, entries, contested }: MendedTail,
  headKeys: HeadKeys,
): TailEntry[] {
  let frontier: Frontier | null = null
  let kept: Frontier | null = null
  for (const [index, record] of records.entries()) {
    if (index === from) kept = frontier
    frontier = appendLeaf(frontier, hashLeaf(record))
  }
  if (from >= records.length) kept = frontier
  const head = openHead(headKeys, organisationId, stored)
  if (head.size !== records.length || Buffer.compare(head.rootHash, headAt(frontier).rootHash) !== 0) {
    throw new ForgedLedger(
      `The entries of the ledger of the organisation "${organisationId}" do not lead to its head: they were changed in the database. Restore a backup instead.`,
    )
  }
  const own = new Map(numbered(records.slice(from)).map((name, i) => [name, from + i]))
  const named = (lines: readonly JournalledEntry[]) => {
    const names = numbered(lines.map(({ record }) => record))
    return new Map(lines.map((line, i) => [names[i] ?? '', line]))
  }
  const held = new Set([...records, ...entries.map(({ record }) => record)])
  const [chosen, others] = [named(entries), named(contested.filter(({ record }) => !held.has(record)))]
  const inOrder = new Set([...chosen.keys(), ...own.keys(), ...others.keys()])
  const tree = new GrowingTree(kept)
  return Array.from(inOrder, (name) => {
    const record = name.slice(name.indexOf(' ') + 1)
    const frontier = tree.append(hashLeaf(record))
    const mac = headMacs(headKeys, organisationId, tree.head)
    const was = own.get(name) ?? null
    const line = was === null ? (chosen.get(name) ?? others.get(name) ?? null) : null
    return { index: frontier.size - 1, record, edge: formatFrontier(frontier), mac, was, line }
  })
}

/** Each record after the number of its occurrences before: two erasures can have identical ones. */
function numbered(records: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return records.map((record) => {
    const count = counts.get(record) ?? 0
    counts.set(record, count + 1)
    return `${count} ${record}`
  })
}

/** The instant of an entry, which identifies the tombstone of an erasure. */
export function instantOfEntry({ record }: Pick<TailEntry, 'record'>): number {
  const parsed = parseRecord(record)
  if (!parsed) throw new ForgedLedger('The ledger holds an entry that cannot be read.')
  return instantOf(parsed)
}
