import { setTimeout as delay } from 'node:timers/promises'
import { type Client, escapeIdentifier } from 'pg'
import { LetheError } from '../../domain/errors.ts'
import { postgresOnly } from '../nouns/statement.ts'
import { isLockTimeout } from './failures.ts'
import type { Run } from './transaction.ts'

/**
 * The tables that grow with what is collected. All rows of a subject are on one shard. Every other table is
 * on the coordinator alone, so that no change to one involves a worker.
 */
const distributed = [
  { table: 'subjects', beside: 'none' },
  { table: 'sessions', beside: 'subjects' },
  { table: 'events', beside: 'subjects' },
  { table: 'identifiers', beside: 'subjects' },
]

/**
 * A table of the coordinator that Citus knows. It commits a transaction that writes to a local table and to
 * one worker in two phases only if it knows one of the local tables: see `commitInTwoPhases`.
 */
const knownTable = 'scrubs'

const touchKnownTable = postgresOnly(`UPDATE ${knownTable} SET id = id WHERE id = 0`)

/**
 * Makes a transaction that writes on the coordinator and on one worker commit on both or on neither.
 * Deletions need not call it, because they note that a scrub is due.
 */
export function commitInTwoPhases(run: Run): void {
  run(touchKnownTable)
}

/** Connections to workers do not inherit these from the connections of a process. */
const planning = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']

/** Whether the tables are distributed over the nodes of a Citus cluster. */
export async function isDistributed(client: Client): Promise<boolean> {
  if (!(await hasCitus(client))) return false
  return (await kindOf(client, 'subjects')) === 'distributed'
}

/** The least hash of each shard, in order. */
export async function listShards(client: Client): Promise<number[]> {
  const { rows } = await client.query<{ least: number }>(
    `SELECT shardminvalue::int AS least FROM pg_dist_shard WHERE logicalrelid = to_regclass('subjects') ORDER BY 1`,
  )
  return rows.map(({ least }) => least)
}

/** Held while tables are moved; other processes wait. */
const distributionLock = 1_279_611_756

/**
 * Distributes the tables over the nodes of a cluster, with their contents, or brings a store that an earlier
 * version has distributed into this layout. Each step is a transaction and skips what is done already.
 */
export async function distribute(client: Client): Promise<void> {
  if (!(await hasCitus(client))) {
    throw new LetheError(
      'invalid_request',
      'The Citus extension is not installed. Install it on every node, run "CREATE EXTENSION citus" in this database and add the workers, then try again.',
    )
  }
  await whileOthersWait(client, async () => {
    for (const setting of planning) await setForRole(client, setting)
    await moveToCoordinator(client)
    await distributeSubjects(client)
  })
}

/**
 * Brings a store that an earlier version has distributed, or whose distribution was interrupted, into this
 * layout. Usually there is nothing to do.
 */
export async function upgradeDistribution(client: Client): Promise<void> {
  const isComplete =
    (await nextToMove(client)) === null &&
    (await kindOf(client, knownTable)) !== null &&
    (await localCopies(client)).length === 0
  if (!isComplete) await distribute(client)
}

/** Prepares a distributed store for migrations: Citus allows them on tables of the coordinator only. */
export async function prepareToMigrate(client: Client): Promise<void> {
  if ((await nextToMove(client)) !== null) await whileOthersWait(client, () => moveToCoordinator(client))
}

async function whileOthersWait(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [distributionLock])
  try {
    await work()
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [distributionLock])
  }
}

async function distributeSubjects(client: Client): Promise<void> {
  await dropReferenceBesideOthers(client)
  await inTransaction(client, async () => {
    for (const { table, beside } of distributed) {
      if ((await kindOf(client, table)) === 'distributed') continue
      await client.query("SELECT create_distributed_table($1, 'subject_key', colocate_with => $2)", [
        table,
        beside,
      ])
    }
    if ((await kindOf(client, knownTable)) === null) {
      await client.query('SELECT citus_add_local_table_to_metadata($1)', [knownTable])
    }
  })
  for (const table of await localCopies(client)) {
    await client.query('SELECT truncate_local_data_after_distributing_table($1)', [table])
  }
}

/**
 * The tables of which the coordinator still has a copy, which no query sees and no erasure deletes. It is
 * truncated after the data has moved, so an interruption leaves it.
 */
async function localCopies(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE pg_relation_size(name::regclass) > 0',
    [distributed.map(({ table }) => table)],
  )
  return rows.map(({ name }) => name)
}

/** Trackers are on the coordinator, and a distributed table cannot refer to them. */
const dropReference = 'ALTER TABLE subjects DROP CONSTRAINT IF EXISTS subjects_tracker_id_fkey'

/** Each less than the second after which PostgreSQL looks for a deadlock, and ends one of those in it. */
const lockWaitsMs = [100, 200, 400, ...Array.from({ length: 40 }, () => 800)]

/**
 * Drops the reference while requests are served. By itself, because reads wait for it, and not for what comes
 * next. Batches lock trackers first and reads subjects, so it gives up its locks and tries again.
 */
async function dropReferenceBesideOthers(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_constraint WHERE conrelid = to_regclass('subjects') AND conname = 'subjects_tracker_id_fkey'`,
  )
  if (rowCount === 0) return
  for (const [tries, waitMs] of lockWaitsMs.entries()) {
    try {
      return await inTransaction(client, async () => {
        await client.query(`SET LOCAL lock_timeout = ${waitMs}`)
        await client.query('LOCK TABLE trackers, subjects IN ACCESS EXCLUSIVE MODE')
        await client.query(dropReference)
      })
    } catch (error) {
      const isLast = tries === lockWaitsMs.length - 1
      if (isLast || !isLockTimeout(error)) throw error
      await delay(waitMs)
    }
  }
}

/**
 * Earlier versions copied most tables to every node, and distributed the ledgers and the tombstones. Tables
 * that foreign keys connect move together.
 */
async function moveToCoordinator(client: Client): Promise<void> {
  // Otherwise the subjects would move along with the trackers.
  if ((await nextToMove(client)) !== null) await client.query(dropReference)
  for (let table = await nextToMove(client); table !== null; table = await nextToMove(client)) {
    await client.query('SELECT undistribute_table($1, cascade_via_foreign_keys => true)', [table])
  }
}

/** A table that Citus keeps although it belongs to the coordinator alone. */
async function nextToMove(client: Client): Promise<string | null> {
  const { rows } = await client.query(
    `SELECT relname AS name FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
     WHERE relnamespace = current_schema()::regnamespace AND relname <> ALL ($1)
       AND NOT (relname = $2 AND partmethod = 'n' AND repmodel = 's') ORDER BY relname LIMIT 1`,
    [distributed.map(({ table }) => table), knownTable],
  )
  return rows[0]?.name ?? null
}

/** Citus passes it on to the workers, and to workers that are added later. */
async function setForRole(client: Client, setting: string): Promise<void> {
  const { rows } = await client.query('SELECT current_database() AS name')
  await client.query(
    `ALTER ROLE CURRENT_USER IN DATABASE ${escapeIdentifier(rows[0].name)} SET ${setting} = off`,
  )
}

async function inTransaction<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`)
  return rowCount === 1
}

/** How Citus keeps a table; `null` if it does not know it. */
async function kindOf(client: Client, table: string): Promise<'distributed' | 'other' | null> {
  const { rows } = await client.query(
    'SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = to_regclass($1)',
    [table],
  )
  if (rows.length === 0) return null
  return rows[0].partmethod === 'h' ? 'distributed' : 'other'
}
