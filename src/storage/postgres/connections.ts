import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient, type PoolConfig, types } from 'pg'
import { tooBusy } from '../../domain/errors.ts'
import type { Row, Values } from '../rows/row.ts'
import { isConnectionLost, toFailure } from './failures.ts'
import type { Statement, Value } from './statement.ts'
import { type Run, transact } from './transact.ts'

/** How many connections requests read through. Each carries any number of reads at once, one behind the other. */
const readerCount = 4
/** How many erasures and other small writes run at a time; more wait for their turn. */
const writerCount = 10
/** How many bulk loads run at a time. */
const loaderCount = 2
/** How many reads may wait on a connection, and how many writes for one. */
export const mostWaiting = 1_000

const connectTimeoutMs = 5_000
/** How soon a connection on which nothing comes is asked whether its other end is still there. */
const keepAliveMs = 10_000
const readTimeoutMs = 5_000
/** An erasure of many millions of events takes minutes. */
const writeTimeoutMs = 600_000
const lockTimeoutMs = 30_000

/** Marks the work that only one process of a fleet does at a time. */
const aloneLock = 1_279_611_752

/**
 * Id columns gather no statistics, so the planner takes a subject for a good part of its table. Every statement here is a range of
 * an index and is planned as one; what costs nothing to plan once is planned once.
 */
const everyConnection = 'SET enable_seqscan = off; SET jit = off'
const readConnection = 'SET enable_bitmapscan = off; SET enable_sort = off'
/** On a cluster a plan depends on which shards the values lead to. */
const oneMachine = 'SET plan_cache_mode = force_generic_plan'

interface Reader {
  client: Promise<Client> | null
  waiting: number
}

function settings(url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'lethe',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types: { getTypeParser },
  }
}

/** Does `work` with a connection of its own that waits as long as it takes. */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(settings(url))
  // Whoever uses it hears of a broken connection by the statement that fails.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } catch (error) {
    throw toFailure(error)
  } finally {
    await client.end()
  }
}

/** All connections of this process to one PostgreSQL. They come when they are needed, and again after the server was away. */
export class Connections {
  readonly url: string
  /** Whether the tables are spread over the nodes of a cluster. */
  readonly isDistributed: boolean
  readonly #forReading: string
  readonly #readers: Reader[] = Array.from({ length: readerCount }, () => ({ client: null, waiting: 0 }))
  readonly #writers: Pool
  readonly #loaders: Pool
  #underWay = 0
  #isClosed = false
  #onQuiet: (() => void) | null = null

  constructor(url: string, isDistributed: boolean) {
    this.url = url
    this.isDistributed = isDistributed
    const planning = isDistributed ? everyConnection : `${everyConnection}; ${oneMachine}`
    this.#forReading = `${planning}; ${readConnection}`
    const writing = { ...settings(url), statement_timeout: writeTimeoutMs, lock_timeout: lockTimeoutMs }
    const onConnect = (client: ClientBase) => client.query(planning)
    this.#writers = pool({ ...writing, onConnect, pipeline: true, max: writerCount })
    this.#loaders = pool({ ...writing, onConnect, max: loaderCount })
  }

  /** Runs one statement that only reads; once more when its connection had broken, as after a restart of the server. */
  read(statement: Statement, values: readonly Value[]): Promise<Row[]> {
    return this.#whileOpen(() =>
      this.#read(async (client) => {
        const { rows } = await client.query<Row>({ ...statement, values: [...values] })
        return rows
      }),
    )
  }

  /** Like `read`, with rows as their values. */
  readValues(statement: Statement, values: readonly Value[]): Promise<Values[]> {
    return this.#whileOpen(() =>
      this.#read(async (client) => {
        const { rows } = await client.query<unknown[]>({
          ...statement,
          values: [...values],
          rowMode: 'array',
        })
        return rows
      }),
    )
  }

  /** Runs `work` in a transaction, rolled back when it throws. Statements may be sent without waiting for the one before. */
  transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(async () => {
      if (this.#writers.waitingCount >= mostWaiting) throw tooBusy()
      return transact(this.#writers, (_, run) => work(run))
    })
  }

  /** Like `transaction`, on a connection that can be copied into. */
  load<Result>(work: (client: PoolClient, run: Run) => Promise<Result>): Promise<Result> {
    return this.#whileOpen(() => transact(this.#loaders, work))
  }

  /** Does `work` while holding a lock that only one process can have; `null` when another has it. It dies with its connection. */
  alone<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.#whileOpen(() =>
      withClient(this.url, async (client) => {
        const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS is_mine', [aloneLock])
        return rows[0]?.is_mine === true ? work() : null
      }),
    )
  }

  /** How the connections are used. */
  use(): { open: number; busy: number; waiting: number } {
    const pools = [this.#writers, this.#loaders]
    const sum = (count: (pool: Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0)
    const readers = this.#readers.filter(({ client }) => client !== null)
    return {
      open: readers.length + sum((pool) => pool.totalCount),
      busy:
        readers.filter(({ waiting }) => waiting > 0).length + sum((pool) => pool.totalCount - pool.idleCount),
      waiting: sum((pool) => pool.waitingCount),
    }
  }

  /** Lets what is under way finish, then lets go of the server. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#onQuiet = resolve))
    await Promise.all([
      this.#writers.end(),
      this.#loaders.end(),
      ...this.#readers.map(async ({ client }) => (await client?.catch(() => null))?.end()),
    ])
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

  async #read<Result>(ask: (client: Client) => Promise<Result>): Promise<Result> {
    const reader = this.#readers.reduce((least, next) => (next.waiting < least.waiting ? next : least))
    if (reader.waiting >= mostWaiting) throw tooBusy()
    reader.waiting += 1
    try {
      return await this.#askWith(reader, ask)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      return await this.#askWith(reader, ask)
    } finally {
      reader.waiting -= 1
    }
  }

  async #askWith<Result>(reader: Reader, ask: (client: Client) => Promise<Result>): Promise<Result> {
    const connected = reader.client ?? this.#connect(reader)
    reader.client = connected
    try {
      return await ask(await connected)
    } catch (error) {
      if (isConnectionLost(error) && reader.client === connected) reader.client = null
      throw error
    }
  }

  #connect(reader: Reader): Promise<Client> {
    const client = new Client({
      ...settings(this.url),
      pipeline: true,
      statement_timeout: readTimeoutMs,
      // For a server that no longer answers at all.
      query_timeout: readTimeoutMs + 1_000,
    })
    const forget = () => {
      if (reader.client === connected) reader.client = null
    }
    client.on('error', forget)
    client.on('end', forget)
    const connected = client.connect().then(async () => {
      await client.query(this.#forReading)
      return client
    })
    connected.catch(() => {
      forget()
      client.end().catch(() => {})
    })
    return connected
  }
}

function pool(config: PoolConfig): Pool {
  const made = new Pool({ ...config, idleTimeoutMillis: 60_000 })
  // A connection that breaks while nobody uses it: the pool replaces it. Without a listener it would end the process.
  made.on('error', () => {})
  return made
}

/** Instants and counts fit a JavaScript number; the driver hands big integers over as text unless told otherwise. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 && format !== 'binary' ? Number : types.getTypeParser(oid, format)
}
