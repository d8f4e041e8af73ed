import type { TombstoneKey } from '../../domain/keyring.ts'
import type { SweptCounts } from '../../domain/retention.ts'
import type { Store } from '../../domain/store.ts'
import { keyOf, type TransferRow } from '../../domain/transfer.ts'

const pageSubjects = 250

/** Goes through the subjects of every tracker that has tombstones, and deletes what those refuse. */
export async function removeRefused(
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
