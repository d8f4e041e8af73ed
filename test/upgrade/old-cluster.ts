import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { withDatabase } from '../robustness/fleet/fleet.ts'
import { startCitus } from '../support/citus.ts'
import type { Lifetime } from '../support/service.ts'

/** The tables that 0.2.0 copied to every node, in its order. */
const everywhere = [
  ...['organisations', 'trackers', 'api_keys', 'daily_events', 'daily_sessions', 'scrubs', 'sweeps'],
  ...['members', 'sign_ins', 'activity', 'retention_windows', 'secrets', 'refused_lines'],
  ...['erasure_batches', 'erasure_batch_items', 'key_days'],
]

/** The tables that it distributed, with their distribution column and colocated table. */
const distributed = [
  ['subjects', 'subject_key', 'none'],
  ['sessions', 'subject_key', 'subjects'],
  ['events', 'subject_key', 'subjects'],
  ['identifiers', 'subject_key', 'subjects'],
  ['tombstones', 'digest', 'none'],
  ['ledger_entries', 'organisation_id', 'none'],
]

/**
 * Starts a cluster with a store that 0.2.0 filled and distributed, and returns its address. With `isKilled`,
 * its command was killed before it removed the coordinator's copy.
 */
export async function oldCluster(
  t: Lifetime,
  programs: string,
  { dump = 'store.sql.gz', isKilled = false } = {},
): Promise<string> {
  const address = await startCitus(t, programs)
  const file = readFileSync(new URL(`../fixtures/0.2.0/postgres/${dump}`, import.meta.url))
  await withDatabase(address, async (client) => {
    await client.query(gunzipSync(file).toString())
    await client.query('SET search_path = public; BEGIN')
    for (const table of everywhere) await client.query('SELECT create_reference_table($1)', [table])
    for (const values of distributed)
      await client.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', values)
    await client.query('COMMIT')
    if (isKilled) return
    for (const [table] of distributed)
      await client.query('SELECT truncate_local_data_after_distributing_table($1)', [table])
  })
  return address
}
