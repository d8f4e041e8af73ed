import type { MaintenanceStore, ScrubState } from '../../domain/maintenance.ts'
import { integer, type Row } from '../nouns/row.ts'
import { deletionsLock } from '../nouns/scrub.ts'
import { postgresOnly, type Statement } from '../nouns/statement.ts'
import { withClient } from './connect.ts'
import type { Connections } from './connections.ts'

const state = postgresOnly('SELECT deleted_round > scrubbed_round AS is_due, scrubbed_at FROM scrubs')
const awaitDeletions = postgresOnly(`SELECT pg_advisory_xact_lock(${deletionsLock})`)
const openRound = postgresOnly('UPDATE scrubs SET round = round + 1 RETURNING round')
const noteScrubbed = postgresOnly('UPDATE scrubs SET scrubbed_round = $1, scrubbed_at = $2')

/** The tables from which data about people is deleted. */
const tablesOfPeople = [
  ...['events', 'sessions', 'identifiers', 'subjects', 'activity', 'tombstones'],
  ...['members', 'sign_ins', 'passkeys', 'recovery_codes', 'sign_in_challenges'],
  ...['variable_versions'],
  ...['privacy_requests', 'privacy_request_items', 'privacy_request_people', 'privacy_request_notes'],
  ...['privacy_request_exclusions'],
]

/** The state of the scrub, read through any connection. */
export async function scrubState(read: (statement: Statement) => Promise<Row[]>): Promise<ScrubState> {
  const row = (await read(state))[0] ?? {}
  return { lastAt: integer(row, 'scrubbed_at'), isDue: row.is_due === true }
}

export function scrubStore(
  connections: Connections,
): Pick<MaintenanceStore, 'noteSweep' | 'scrubState' | 'scrubsEveryByte' | 'scrub'> {
  return {
    noteSweep: (begunAt) => connections.transact('noteSweep', begunAt),
    scrubState: () => scrubState((statement) => connections.read(statement)),
    scrubsEveryByte: false,
    /**
     * Frees the space of deleted rows in tables and indexes. docs/reference/postgres.md describes how long
     * PostgreSQL may keep their bytes there, in its log and elsewhere.
     */
    async scrub(now, { signal, onProgress } = {}) {
      const round = await connections.transaction(async (run) => {
        await run(awaitDeletions)
        return integer((await run(openRound)).rows[0] ?? {}, 'round')
      })
      await withClient(connections.url, async (client) => {
        for (const [i, table] of tablesOfPeople.entries()) {
          signal?.throwIfAborted()
          await client.query(`VACUUM (INDEX_CLEANUP ON) ${table}`)
          onProgress?.((i + 1) / tablesOfPeople.length)
        }
      })
      await connections.transaction(async (run) => run(noteScrubbed, [round - 1, now]))
    },
  }
}
