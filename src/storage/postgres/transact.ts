import type { Pool, PoolClient } from 'pg'
import type { Result } from '../nouns/engine.ts'
import type { Statement } from '../nouns/statement.ts'
import { ask, type Given } from './ask.ts'
import { isConflict, isConnectionLost } from './failures.ts'

/** Runs a statement within a transaction. */
export type Run = (statement: Statement, given?: Given) => Promise<Result>

/** How a transaction begins: as every other, or as one that sees a single moment from its first statement to its last. */
export type Begin = 'BEGIN' | 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

type Work<Result> = (client: PoolClient, run: Run) => Promise<Result>

/** How long a server may be silent about the beginning and the end of a transaction, which take no time. */
const silenceMs = 5_000
const rollBack = { text: 'ROLLBACK', query_timeout: silenceMs }

const maxConflicts = 10
/** More than a pool has connections that may all have broken unnoticed. */
const maxStale = 20

/**
 * Runs `work` in a transaction, rolled back when it throws. Tries again what another transaction was in the way of, and what met a
 * connection that was broken before it began, as after a restart of the server.
 */
export async function transact<Result>(
  pool: Pool,
  work: Work<Result>,
  begin: Begin = 'BEGIN',
): Promise<Result> {
  let [conflicts, stale] = [0, 0]
  for (;;) {
    const attempt = { hasBegun: false }
    try {
      return await attemptOnce(pool, attempt, work, begin)
    } catch (error) {
      const isConflicting = isConflict(error) && ++conflicts < maxConflicts
      const isStale = isConnectionLost(error) && !attempt.hasBegun && ++stale < maxStale
      if (!isConflicting && !isStale) throw error
    }
  }
}

async function attemptOnce<Result>(
  pool: Pool,
  attempt: { hasBegun: boolean },
  work: Work<Result>,
  begin: Begin,
): Promise<Result> {
  const client = await pool.connect()
  // The statement that is under way hears of a broken connection; without a listener it would end the process.
  const ignore = () => {}
  client.on('error', ignore)
  let isSound = false
  /** What is under way, and what has failed; not what was answered, which may be large. */
  const sent = new Set<Promise<unknown>>()
  try {
    const first = { text: begin, query_timeout: silenceMs }
    const begun = client.query(first).then(() => {
      attempt.hasBegun = true
    })
    // Where statements can be sent behind each other, none need wait; should this one fail, all behind it do.
    let last: Promise<unknown> = begun
    const run: Run = (statement, given = []) => {
      const send = () => ask(client, statement, given)
      const asked = client.pipeline ? send() : last.then(send, send)
      last = asked
      const answered = Promise.all([asked, begun]).then(([{ rows, rowCount }]) => ({
        rows,
        count: rowCount ?? 0,
      }))
      sent.add(answered)
      answered.then(
        () => sent.delete(answered),
        () => {},
      )
      return answered
    }
    if (client.pipeline) begun.catch(() => {})
    else await begun
    const result = await work(client, run)
    // The last statements may still be under way; the commit is sent behind them, and counts only with all of them.
    if (!client.pipeline) await Promise.all(sent)
    await Promise.all([...sent, client.query('COMMIT')])
    isSound = true
    return result
  } catch (error) {
    // Nothing may be sent behind the end of the transaction.
    await Promise.allSettled(sent)
    if (!isConnectionLost(error)) isSound = await didRollBack(client)
    throw error
  } finally {
    client.off('error', ignore)
    client.release(!isSound)
  }
}

async function didRollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query(rollBack)
    return true
  } catch {
    return false
  }
}
