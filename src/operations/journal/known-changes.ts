import type { Instant } from '../../domain/instant.ts'
import type { JournalLine } from '../../domain/journal.ts'

interface KnownLedger {
  /** The first entry that is not known. */
  next: number
  /** Known entries behind it: processes that share a journal need not write in order. */
  beyond: Set<number>
  last: { index: number; record: string }
}

/** What a journal knows of, out of its lines. Holds little of them: how far each ledger goes, and the last change of each key. */
export class KnownChanges {
  readonly #ledgers = new Map<string, KnownLedger>()
  readonly #rotations = new Map<string, Instant>()
  readonly #revoked = new Set<string>()

  add(line: JournalLine): void {
    if (line.kind === 'erasure') this.#addEntry(line)
    else if (line.kind === 'key.revoked') this.#revoked.add(line.keyId)
    else this.#rotations.set(line.keyId, Math.max(line.at, this.#rotations.get(line.keyId) ?? line.at))
  }

  has(line: JournalLine): boolean {
    if (line.kind === 'key.revoked') return this.#revoked.has(line.keyId)
    if (line.kind === 'key.rotated') return line.at <= (this.#rotations.get(line.keyId) ?? -1)
    const ledger = this.#ledgers.get(line.organisationId)
    return ledger !== undefined && (line.index < ledger.next || ledger.beyond.has(line.index))
  }

  /** The first entry of an organisation's ledger that is not known. */
  firstUnknown(organisationId: string): number {
    return this.#ledgers.get(organisationId)?.next ?? 0
  }

  /** The last entry that is known of each organisation's ledger. */
  lastEntries(): { organisationId: string; index: number; record: string }[] {
    return Array.from(this.#ledgers, ([organisationId, { last }]) => ({ organisationId, ...last }))
  }

  #addEntry({ organisationId, index, record }: JournalLine & { kind: 'erasure' }): void {
    const last = { index, record }
    const ledger = this.#ledgers.get(organisationId) ?? { next: 0, beyond: new Set(), last }
    this.#ledgers.set(organisationId, ledger)
    if (index >= ledger.last.index) ledger.last = last
    if (index >= ledger.next) ledger.beyond.add(index)
    while (ledger.beyond.delete(ledger.next)) ledger.next += 1
  }
}
