import type { Journal } from '../../domain/journal.ts'
import type { Store } from '../../domain/store.ts'
import { KnownChanges } from './known-changes.ts'
import { readChanges } from './read-changes.ts'

/** What a journal was told of, and what it knows better. */
export interface CaughtUp {
  /** How many lines it lacked. */
  appended: number
  /** Lines that a crash has torn, or that are none of ours. */
  unreadable: number
  /** The organisations whose ledger lacks entries that the journal holds, or holds others: the store is older than it was. */
  setBack: string[]
}

/** Appends to a journal what the store holds beyond it. Rejects when it cannot be read or written. */
export async function catchUpJournal(
  journal: Pick<Journal, 'read' | 'append'>,
  store: Pick<Store, 'ledger' | 'tombstones' | 'transfer' | 'organisations'>,
): Promise<CaughtUp> {
  const known = new KnownChanges()
  const result: CaughtUp = { appended: 0, unreadable: 0, setBack: [] }
  const onUnreadable = () => {
    result.unreadable += 1
  }
  for await (const line of journal.read(onUnreadable)) known.add(line)
  for (const { organisationId, index, record } of known.lastEntries()) {
    // One that was removed has taken its ledger along.
    if ((await store.organisations.find(organisationId)) === null) continue
    const [entry] = await store.ledger.list(organisationId, index, 1)
    if (entry?.record !== record) result.setBack.push(organisationId)
  }
  for await (const lines of readChanges(store, known)) {
    await journal.append(lines)
    result.appended += lines.length
  }
  return result
}
