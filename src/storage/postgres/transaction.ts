import { pipeline } from 'node:stream/promises'
import {
  type ClientBase,
  Pool,
  type PoolClient,
  type PoolConfig,
  Query,
  type QueryArrayConfig,
  type QueryResult,
} from 'pg'
import { from } from 'pg-copy-streams'
import { Semaphore } from '../../domain/semaphore.ts'
import type { Result } from '../nouns/engine.ts'
import type { Row, Values } from '../nouns/row.ts'
import { keyText } from '../nouns/row.ts'
import { type NamedValues, type Statement, type Value, valuesOf } from '../nouns/statement.ts'
import { isConflict, isConnectionLost } from './failures.ts'

/** Values in the order of a statement's parameters, or by name. */
export type Given = readonly Value[] | NamedValues

/**
 * What the driver sends. Created from a text: the driver would copy a configuration object, which is slow.
 */
class NamedQuery extends Query<Row> {
  readonly name: string

  constructor(statement: Statement, given: Given, done: Done) {
    super(statement.text, toValues(statement, given), done)
    this.name = statement.name
  }
}

type Done = (error: Error | undefined, result: QueryResult<Row>) => void

/**
 * Sends a query. With a callback, results become garbage as soon as they are unused; the driver's own
 * promises kept half of them alive until a full collection, with pauses of tens of milliseconds.
 */
export function ask(client: ClientBase, statement: Statement, given: Given): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query(
      new NamedQuery(statement, given, (error, result) => (error ? reject(error) : resolve(result))),
    )
  })
}

/** Like `ask`, with rows as arrays of values. */
export function askForValues(client: ClientBase, statement: Statement, given: Given): Promise<Values[]> {
  const { name, text } = statement
  const asked: QueryArrayConfig = { name, text, values: toValues(statement, given), rowMode: 'array' }
  return new Promise((resolve, reject) => {
    client.query<unknown[]>(asked, (error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}

function toValues(statement: Statement, given: Given): unknown[] {
  return isList(given) ? [...given] : valuesOf(statement, given, toStored)
}

function isList(given: Given): given is readonly Value[] {
  return Array.isArray(given)
}

/** Bytes are the keys and digests that PostgreSQL stores as uuids. */
function toStored(value: Value): unknown {
  if (value instanceof Uint8Array) return keyText(value)
  return Array.isArray(value)
    ? value.map((each) => (each instanceof Uint8Array ? keyText(each) : each))
    : value
}

/** Runs a statement within a transaction. */
export type Run = (statement: Statement, given?: Given) => Promise<Result>

/** How a transaction begins: normally, or as a read-only snapshot. */
type Begin = 'BEGIN' | 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

type Work<Result> = (client: PoolClient, run: Run) => Promise<Result>

/** How long the server may take to begin or end a transaction, which needs no work. */
const silenceMs = 5_000
const rollBack = { text: 'ROLLBACK', query_timeout: silenceMs }

const maxConflicts = 10
/** More than a pool has connections that may all have broken unnoticed. */
const maxStale = 20

/**
 * Runs `work` in a transaction; rolls it back if it throws. Retries after a conflict with another
 * transaction, and if the connection was broken before the transaction began, as after a restart of the
 * server.
 */
async function transact<Result>(pool: Pool, work: Work<Result>, begin: Begin = 'BEGIN'): Promise<Result> {
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
  // A broken connection is reported by the running statement; without a listener it would end the process.
  const ignore = () => {}
  client.on('error', ignore)
  let isSound = false
  /** Statements that are running or have failed; not their results, which may be large. */
  const sent = new Set<Promise<unknown>>()
  try {
    const first = { text: begin, query_timeout: silenceMs }
    const begun = client.query(first).then(() => {
      attempt.hasBegun = true
    })
    // With pipelining no statement waits for BEGIN; if that fails, all later ones fail.
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
    // The last statements may still be running; the commit is sent after them and only counts if all succeed.
    if (!client.pipeline) await Promise.all(sent)
    await Promise.all([...sent, client.query('COMMIT')])
    isSound = true
    return result
  } catch (error) {
    // Nothing may be sent after the end of the transaction.
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

/** How many transactions may wait for a connection of a pool. */
export const maxWaitingWrites = 1_000
/** Longer than a transaction may wait for a lock, so that those that only wait end in time. */
const waitTimeoutMs = 60_000
const idleTimeoutMs = 60_000

/**
 * Connections for transactions, opened on demand. If all are busy, callers wait outside the driver's pool,
 * which has no other timeout than that of connecting.
 */
export class TransactionPool {
  readonly #pool: Pool
  readonly #semaphore: Semaphore
  readonly #begin: Begin

  constructor({ begin = 'BEGIN', ...config }: PoolConfig & { max: number; begin?: Begin }) {
    this.#begin = begin
    this.#pool = new Pool({ ...config, idleTimeoutMillis: idleTimeoutMs })
    // The pool replaces idle connections that break. Without a listener this would end the process.
    this.#pool.on('error', () => {})
    this.#semaphore = new Semaphore({ permits: config.max, maxWaiting: maxWaitingWrites, waitTimeoutMs })
  }

  /** Runs `work` in a transaction; rolls it back if it throws. */
  run<Result>(work: (client: PoolClient, run: Run) => Promise<Result>): Promise<Result> {
    return this.#semaphore.run(() => transact(this.#pool, work, this.#begin))
  }

  use(): { open: number; busy: number; waiting: number } {
    const { totalCount: open, idleCount } = this.#pool
    return { open, busy: open - idleCount, waiting: this.#semaphore.waiting }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }
}

export type CopyValue = string | number | null

/** How many characters are passed to the connection at a time. */
const chunkLength = 65_536

/** Loads rows into a table with COPY, within the current transaction of the connection. */
export async function copyRows(
  client: PoolClient,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly CopyValue[])[],
): Promise<void> {
  if (rows.length === 0) return
  const copy = client.query(from(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  await pipeline(chunks(rows), copy)
}

function* chunks(rows: readonly (readonly CopyValue[])[]): Generator<Buffer> {
  let chunk = ''
  for (const row of rows) {
    chunk += `${row.map(toField).join('\t')}\n`
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

const special = /[\\\n\r\t]/
const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A value in PostgreSQL's text format for COPY. */
function toField(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  return special.test(value)
    ? value.replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '')
    : value
}
