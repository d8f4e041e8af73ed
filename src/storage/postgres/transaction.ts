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

/** Values in the order of a statement's parameters, or by their names. */
export type Given = readonly Value[] | NamedValues

/** What the driver sends. Made out of a text: an object that says all of it would be copied first, slowly. */
class NamedQuery extends Query<Row> {
  readonly name: string

  constructor(statement: Statement, given: Given, done: Done) {
    super(statement.text, toValues(statement, given), done)
    this.name = statement.name
  }
}

type Done = (error: Error | undefined, result: QueryResult<Row>) => void

/**
 * Asks a server. What the driver answers to a callback is garbage as soon as nobody uses it; the promises that it makes itself kept half
 * of that alive until the whole heap was looked at, with pauses of tens of milliseconds while many rows went by.
 */
export function ask(client: ClientBase, statement: Statement, given: Given): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    client.query(
      new NamedQuery(statement, given, (error, result) => (error ? reject(error) : resolve(result))),
    )
  })
}

/** The same, with rows as their values. */
export function askForValues(client: ClientBase, statement: Statement, given: Given): Promise<Values[]> {
  const { name, text } = statement
  const asked: QueryArrayConfig = { name, text, values: toValues(statement, given), rowMode: 'array' }
  return new Promise((resolve, reject) => {
    client.query<unknown[]>(asked, (error, result) => (error ? reject(error) : resolve(result.rows)))
  })
}

function toValues(statement: Statement, given: Given): unknown[] {
  return isList(given) ? [...given] : valuesOf(statement, given).map(toStored)
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

/** How a transaction begins: as every other, or as one that sees a single moment from its first statement to its last. */
type Begin = 'BEGIN' | 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

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

/** How many transactions may wait for a connection of a pool. */
export const maxWaitingWrites = 1_000
/** Longer than a transaction may wait for a lock: those in front that only wait make room in time. */
const waitTimeoutMs = 60_000
const idleTimeoutMs = 60_000

/**
 * Connections for transactions. They come when they are needed. Whoever finds all of them at work waits outside the driver's pool, whose
 * only time-out is that of connecting.
 */
export class TransactionPool {
  readonly #pool: Pool
  readonly #semaphore: Semaphore
  readonly #begin: Begin

  constructor({ begin = 'BEGIN', ...config }: PoolConfig & { max: number; begin?: Begin }) {
    this.#begin = begin
    this.#pool = new Pool({ ...config, idleTimeoutMillis: idleTimeoutMs })
    // A connection that breaks while nobody uses it: the pool replaces it. Without a listener it would end the process.
    this.#pool.on('error', () => {})
    this.#semaphore = new Semaphore({ permits: config.max, maxWaiting: maxWaitingWrites, waitTimeoutMs })
  }

  /** Runs `work` in a transaction, rolled back when it throws. */
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

/** How many characters are handed to the connection at a time. */
const chunkLength = 65_536

/** Loads rows into a table in bulk, within the transaction that the connection is in. */
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
