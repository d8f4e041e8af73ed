import type { ClientBase, PoolClient } from 'pg'
import type { ArgumentsOf, Engine, ResultOf } from '../nouns/engine.ts'
import type { Row, Values } from '../nouns/row.ts'
import type { Statement } from '../nouns/statement.ts'
import { runTransaction, type SharedTransactions, type TransactionName } from '../nouns/transactions.ts'
import { maxConnections, settings, withClient } from './connect.ts'
import { toFailure } from './failures.ts'
import { Readers } from './readers.ts'
import { ask, askForValues, type Given, type Run, TransactionPool } from './transaction.ts'

/** How many connections reads use unless some are blocked. */
const usualReaders = 3

const readTimeoutMs = 5_000
/** Erasing many millions of events takes minutes. */
const writeTimeoutMs = 600_000
export const lockTimeoutMs = 30_000

const snapshotBegin = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** Advisory lock for work that only one process of a fleet may do at a time. */
const maintenanceLock = 1_279_611_752

/**
 * ID columns have no statistics, so the planner overestimates the rows of a subject. Every statement here is
 * an index range and is planned as one, and only once.
 */
const everyConnection = 'SET enable_seqscan = off; SET jit = off'
const readConnection = 'SET enable_bitmapscan = off; SET enable_sort = off'
/** On a cluster a plan depends on the shards that the values belong to. */
const oneMachine = 'SET plan_cache_mode = force_generic_plan'
/**
 * How many connections to a worker one connection uses, and keeps open. Four are as fast as sixteen, and few
 * enough that all connections of some processes fit into a worker.
 */
const perWorker = 4
const perWorkerLimits = `SET citus.max_adaptive_executor_pool_size = ${perWorker}; SET citus.max_cached_conns_per_worker = ${perWorker}`
/** Workers wait for locks as long as a transaction says, too. */
const cluster = `${perWorkerLimits}; SET citus.propagate_set_commands = 'local'`
/** Each shard then applies the limit of a subquery, as pages of subjects need. */
const clusterReads = 'SET citus.subquery_pushdown = on'
// Not in the startup message, where a pooler would reject them.
const readTimeout = `SET statement_timeout = ${readTimeoutMs}`
const writeTimeouts = `SET statement_timeout = ${writeTimeoutMs}; SET lock_timeout = ${lockTimeoutMs}`

/** Runs one read-only statement and returns rows as arrays of values. */
export type ReadValues = (statement: Statement, given: Given) => Promise<Values[]>

/**
 * All connections of this process to one PostgreSQL. They are opened on demand, and again after the server
 * was unavailable.
 */
export class Connections implements Engine<SharedTransactions> {
  readonly url: string
  /** The least hash of each shard, in order, where the tables of subjects are distributed over a cluster. */
  readonly shards: readonly number[]
  readonly #readers: Readers
  readonly #credentialReaders: Readers
  readonly #readinessReaders: Readers
  readonly #writers: TransactionPool
  readonly #credentialWriters: TransactionPool
  readonly #loaders: TransactionPool
  readonly #exporters: TransactionPool
  #underWay = 0
  #isClosed = false
  #onQuiet: (() => void) | null = null

  constructor(url: string, shards: readonly number[] = []) {
    this.url = url
    this.shards = shards
    const planning = `${everyConnection}; ${shards.length > 0 ? cluster : oneMachine}`
    const config = settings(url)
    const max = maxConnections
    const reading = shards.length > 0 ? `${readConnection}; ${clusterReads}` : readConnection
    const forReading = `${readTimeout}; ${planning}; ${reading}`
    this.#readers = new Readers(config, forReading, { usual: usualReaders, max: max.reads })
    this.#credentialReaders = new Readers(config, forReading, { usual: 1, max: max.credentials })
    this.#readinessReaders = new Readers(config, forReading, { usual: 1, max: max.readiness })
    const onConnect = (client: ClientBase) => client.query(`${writeTimeouts}; ${planning}`)
    const writing = { ...config, onConnect }
    this.#writers = new TransactionPool({ ...writing, pipeline: true, max: max.writes })
    this.#credentialWriters = new TransactionPool({ ...writing, pipeline: true, max: max.revocations })
    this.#loaders = new TransactionPool({ ...writing, max: max.imports })
    this.#exporters = new TransactionPool({ ...writing, max: max.exports, begin: snapshotBegin })
  }

  get isDistributed(): boolean {
    return this.shards.length > 0
  }

  /**
   * Runs one read-only statement; retries it if the connection was broken, as after a restart of the server.
   */
  read(statement: Statement, given: Given = []): Promise<Row[]> {
    return this.#whileOpen(() => rowsOf(this.#readers, statement, given))
  }

  /** Like `read`, with rows as arrays of values. */
  readValues(statement: Statement, given: Given): Promise<Values[]> {
    return this.#whileOpen(() => this.#readers.read((client) => askForValues(client, statement, given)))
  }

  /**
   * Runs several read-only statements on one connection, in this order: each sees at least what the one
   * before it has seen.
   */
  readInOrder(asked: readonly (readonly [Statement, Given])[]): Promise<Values[][]> {
    return this.#whileOpen(() =>
      this.#readers.read((client) =>
        Promise.all(asked.map(([statement, given]) => askForValues(client, statement, given))),
      ),
    )
  }

  /** Like `read`, for authentication: does not queue behind other reads. */
  readCredential(statement: Statement, given: Given): Promise<Row[]> {
    return this.#whileOpen(() => rowsOf(this.#credentialReaders, statement, given))
  }

  /** Like `read`, without its timeout of a few seconds. */
  readLong(statement: Statement, given: Given = []): Promise<Row[]> {
    return this.transaction(async (run) => (await run(statement, given)).rows)
  }

  /** Other processes write unnoticed, so nothing is cached. */
  cacheUntilWrite<Find>(find: Find): Find {
    return find
  }

  /** Like `read`, for the readiness check: does not queue behind anything else. */
  async probe(statement: Statement): Promise<void> {
    await this.#whileOpen(() => rowsOf(this.#readinessReaders, statement, []))
  }

  /**
   * Runs `work` in a transaction; rolls it back if it throws. Statements can be sent without awaiting the
   * previous one.
   */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() => this.#writers.run((_, run) => work(run)))
  }

  transact<Name extends TransactionName>(
    name: Name,
    ...args: ArgumentsOf<SharedTransactions[Name]>
  ): Promise<ResultOf<SharedTransactions[Name]>> {
    return this.transaction((run) => runTransaction(run, name, args))
  }

  revoke<Name extends TransactionName>(
    name: Name,
    ...args: ArgumentsOf<SharedTransactions[Name]>
  ): Promise<ResultOf<SharedTransactions[Name]>> {
    return this.revocation((run) => runTransaction(run, name, args))
  }

  /** Like `transaction`, for revoking a credential: does not queue behind other writes. */
  revocation<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() => this.#credentialWriters.run((_, run) => work(run)))
  }

  /** Like `transaction`, on a connection that supports COPY. */
  load<Result>(work: (client: PoolClient, run: Run) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() => this.#loaders.run(work))
  }

  /**
   * Runs read-only `work` in one snapshot, however long it takes. Uses separate connections, so that it
   * delays no other work.
   */
  inSnapshot<Result>(work: (read: ReadValues) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() =>
      this.#exporters.run((client) => work((statement, given) => askForValues(client, statement, given))),
    )
  }

  /**
   * Runs `work` while holding a lock that only one process can hold; `null` if another process holds it. The
   * lock ends with its connection.
   */
  withMaintenanceLock<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.#whileOpen(() =>
      withClient(this.url, async (client) => {
        const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS is_mine', [maintenanceLock])
        return rows[0]?.is_mine === true ? work() : null
      }),
    )
  }

  /** How many connections are open, busy and waited for. */
  use(): { open: number; busy: number; waiting: number } {
    const total = { open: 0, busy: 0, waiting: 0 }
    for (const { open, busy, waiting } of this.#all().map((group) => group.use())) {
      total.open += open
      total.busy += busy
      total.waiting += waiting
    }
    return total
  }

  /** Waits for running work, then closes all connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onQuiet = resolve))
    await Promise.all(this.#all().map((group) => group.close()))
  }

  #all(): (Readers | TransactionPool)[] {
    return [
      ...[this.#readers, this.#credentialReaders, this.#readinessReaders],
      ...[this.#writers, this.#credentialWriters, this.#loaders, this.#exporters],
    ]
  }

  async #whileOpen<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new Error('The store is closed.')
    this.#underWay += 1
    try {
      return await work()
    } catch (error) {
      throw toFailure(error)
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) this.#onQuiet?.()
    }
  }
}

function rowsOf(readers: Readers, statement: Statement, given: Given): Promise<Row[]> {
  return readers.read(async (client) => {
    const { rows } = await ask(client, statement, given)
    return rows
  })
}
