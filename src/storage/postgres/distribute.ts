import type { Client } from 'pg'
import { LetheError } from '../../domain/errors.ts'

/**
 * The tables that grow, with their distribution columns: all rows of a subject are on one shard, and all
 * entries of a ledger.
 */
const distributed = [
  { table: 'subjects', by: 'subject_key', beside: 'none' },
  { table: 'sessions', by: 'subject_key', beside: 'subjects' },
  { table: 'events', by: 'subject_key', beside: 'subjects' },
  { table: 'identifiers', by: 'subject_key', beside: 'subjects' },
  { table: 'tombstones', by: 'digest', beside: 'none' },
  { table: 'ledger_entries', by: 'organisation_id', beside: 'none' },
]
/** The reference tables, of which every node has a copy. Tables that foreign keys point to come first. */
const everywhere = [
  ...['organisations', 'trackers', 'api_keys', 'daily_events', 'daily_sessions', 'scrubs', 'sweeps'],
  ...['members', 'sign_ins', 'activity', 'retention_windows', 'secrets', 'refused_lines', 'identifier_names'],
  ...['key_days', 'variable_versions', 'variable_tokens'],
  ...['privacy_requests', 'privacy_request_items', 'privacy_request_people'],
  ...['privacy_request_notes', 'privacy_request_exclusions'],
  ...['organisation_profiles', 'organisation_logos', 'reply_texts'],
  ...['passkeys', 'recovery_codes', 'sign_in_challenges', 'sign_in_rules', 'approval_rules'],
]

/** Whether the tables are distributed over the nodes of a Citus cluster. */
export async function isDistributed(client: Client): Promise<boolean> {
  if (!(await hasCitus(client))) return false
  const { rowCount } = await client.query(
    `SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('subjects') AND partmethod = 'h'`,
  )
  return rowCount === 1
}

/**
 * Distributes the tables over the nodes of a cluster, with their contents. Skips those that are distributed
 * already.
 */
export async function distribute(client: Client): Promise<void> {
  if (!(await hasCitus(client))) {
    throw new LetheError(
      'invalid_request',
      'The Citus extension is not there. Install it on every node, run "CREATE EXTENSION citus" in this database and add the workers, then try again.',
    )
  }
  await client.query('BEGIN')
  try {
    for (const table of everywhere) {
      if (!(await isSpread(client, table))) await client.query('SELECT create_reference_table($1)', [table])
    }
    const added: string[] = []
    for (const { table, by, beside } of distributed) {
      if (await isSpread(client, table)) continue
      await client.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [table, by, beside])
      added.push(table)
    }
    await client.query('COMMIT')
    // Until then the coordinator keeps a copy that no query sees and no erasure deletes.
    for (const table of added) {
      await client.query('SELECT truncate_local_data_after_distributing_table($1)', [table])
    }
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

async function hasCitus(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`)
  return rowCount === 1
}

/**
 * Tables that a foreign key connects with a reference table are listed too, although they are not
 * distributed.
 */
async function isSpread(client: Client, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass($1) AND (partmethod = 'h' OR repmodel = 't')`,
    [table],
  )
  return rowCount === 1
}
