import type { MaintenanceStore, ScrubState } from '../../domain/maintenance.ts'
import { integer, type Row } from '../rows/row.ts'
import { withClient } from './connect.ts'
import type { Connections } from './connections.ts'
import { type Statement, statement } from './statement.ts'
import type { Run } from './transact.ts'

/** Held together by the deletions that are under way, and for a moment by a scrub alone. */
const deletionsLock = 1_279_611_753
/** What joins the deletions that are under way, until the transaction ends. `noteDeleted` comes in a statement behind it. */
export const joiningDeletions = `pg_advisory_xact_lock_shared(${deletionsLock})`

const state = statement('SELECT deleted_round > scrubbed_round AS is_due, scrubbed_at FROM scrubs')
const awaitDeletions = statement(`SELECT pg_advisory_xact_lock(${deletionsLock})`)
const joinDeletions = statement(`SELECT ${joiningDeletions}`)
export const noteDeleted = statement('UPDATE scrubs SET deleted_round = round WHERE deleted_round < round')
const openRound = statement('UPDATE scrubs SET round = round + 1 RETURNING round')
const noteScrubbed = statement('UPDATE scrubs SET scrubbed_round = $1, scrubbed_at = $2')

const adopt = statement(
  'UPDATE scrubs SET scrubbed_at = $1, deleted_round = CASE WHEN $2 THEN round ELSE deleted_round END',
)

const noteSweep = statement(
  'INSERT INTO sweeps VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET begun_at = excluded.begun_at',
)

/** Where whatever leads to a person is deleted from. */
const tablesOfPeople = [
  ...['events', 'sessions', 'identifiers', 'subjects', 'activity', 'members', 'sign_ins'],
  ...['erasure_batches', 'erasure_batch_items', 'tombstones'],
]

/** How the store stands, by whatever connection reads it. */
export async function scrubState(read: (statement: Statement) => Promise<Row[]>): Promise<ScrubState> {
  const row = (await read(state))[0] ?? {}
  return { lastAt: integer(row, 'scrubbed_at'), isDue: row.is_due === true }
}

export function scrubStore(
  connections: Connections,
): Pick<MaintenanceStore, 'noteSweep' | 'scrubState' | 'scrubsEveryByte' | 'scrub'> {
  return {
    noteSweep: (begunAt) =>
      connections.transaction(async (run) => {
        await run(noteSweep, [begunAt])
      }),
    scrubState: () => scrubState((statement) => connections.read(statement, [])),
    scrubsEveryByte: false,
    /**
     * Frees the room of deleted rows in tables and indexes. What PostgreSQL does with it, and until when bytes stand in it, in its
     * log and elsewhere, is in docs/reference/postgres.md.
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

/**
 * Notes, within its transaction, that something was deleted: a scrub is due from then on. The row is written only by the first after
 * a scrub, so deletions do not wait for each other; that none is missed by a scrub that begins meanwhile, the lock sees to.
 */
export function noteDeletion(run: Run): void {
  run(joinDeletions)
  run(noteDeleted)
}

/** Takes over the state of a scrub from another store. Nothing is scrubbed meanwhile. */
export async function adoptScrubState(run: Run, { lastAt, isDue }: ScrubState): Promise<void> {
  await run(adopt, [lastAt, isDue])
}
