import type { Pool, PoolClient, QueryResult } from 'pg'
import type { Row } from '../rows/row.ts'
import { isConflict, isConnectionLost } from './failures.ts'
import type { Statement, Value } from './statement.ts'

/** Runs a statement within a transaction. */
export type Run = (statement: Statement, values?: readonly Value[]) => Promise<QueryResult<Row>>

type Work<Result> = (client: PoolClient, run: Run) => Promise<Result>

const maxConflicts = 10

/**
 * Runs `work` in a transaction, rolled back when it throws. Tries again what another transaction was in the way of, and once what
 * met a broken connection before it could commit, as after a restart of the server.
 */
export async function transact<Result>(pool: Pool, work: Work<Result>): Promise<Result> {
  let conflicts = 0
  let hasLost = false
  for (;;) {
    const attempt = { isCommitting: false }
    try {
      return await attemptOnce(pool, attempt, work)
    } catch (error) {
      if (isConflict(error) && ++conflicts < maxConflicts) continue
      // Once the commit is on its way nobody knows whether it came to pass.
      if (!isConnectionLost(error) || hasLost || attempt.isCommitting) throw error
      hasLost = true
    }
  }
}

async function attemptOnce<Result>(
  pool: Pool,
  attempt: { isCommitting: boolean },
  work: Work<Result>,
): Promise<Result> {
  const client = await pool.connect()
  let isSound = false
  const run: Run = ({ name, text }, values = []) => client.query<Row>({ name, text, values: [...values] })
  try {
    const begun = client.query('BEGIN')
    // Where statements can be sent behind each other, the first need not wait; should this one fail, it fails too.
    if (client.pipeline) begun.catch(() => {})
    else await begun
    const result = await work(client, run)
    attempt.isCommitting = true
    await client.query('COMMIT')
    isSound = true
    return result
  } catch (error) {
    if (!isConnectionLost(error)) isSound = await didRollBack(client)
    throw error
  } finally {
    client.release(!isSound)
  }
}

async function didRollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK')
    return true
  } catch {
    return false
  }
}
