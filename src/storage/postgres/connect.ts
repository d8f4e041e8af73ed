import { Socket } from 'node:net'
import { Client, type ClientConfig, types } from 'pg'
import { type PostgresHost, parsePostgresUrl } from '../store-address.ts'
import { toFailure } from './failures.ts'

/** The most connections of a process, by purpose, so that one kind of work cannot use up another's. */
export const maxConnections = {
  reads: 8,
  credentials: 2,
  readiness: 1,
  writes: 10,
  revocations: 2,
  imports: 2,
  exports: 2,
  maintenance: 1,
}

const connectTimeoutMs = 5_000
/** How soon an idle connection is probed. */
const keepAliveMs = 10_000
/** How long a pooler may take to hand out another connection. */
const poolerTimeoutMs = 5_000

/** How every connection is made. `Client` picks one of several hosts. */
export interface Settings extends ClientConfig {
  Client: new (config?: ClientConfig) => Client
}

export function settings(url: string): Settings {
  const address = parsePostgresUrl(url)
  if (!address) throw new Error('The address cannot be read.')
  const { hosts, sessions } = address
  if (sessions !== 'any' && sessions !== 'read-write' && sessions !== 'primary') {
    throw new Error('target_session_attrs takes any, read-write or primary: the service has to write.')
  }
  const config: ClientConfig = {
    connectionString: address.url,
    application_name: 'lethe',
    connectionTimeoutMillis: connectTimeoutMs * hosts.length,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types: { getTypeParser },
    stream: () => new BatchingSocket(),
  }
  if (hosts.length === 1 && sessions === 'any') return { ...config, Client }
  return { ...config, Client: clientOfHosts(config, hosts, sessions) }
}

/** Runs `work` on its own connection, without a statement timeout. */
export async function withClient<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  try {
    return await connected(settings(url), async (client) => {
      await requireSession(url, client)
      return work(client)
    })
  } catch (error) {
    throw toFailure(error)
  }
}

async function connected<Result>(
  { Client, ...config }: Settings,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client(config)
  // A broken connection is reported by the statement that fails.
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Rejects a pooler in transaction mode: prepared statements, settings and advisory locks belong to a session.
 * A pooler is detected by a backend process ID that differs from the one announced.
 */
async function requireSession(url: string, client: Client): Promise<void> {
  const own = [await backendOf(client)]
  if ('processID' in client && client.processID === own[0]) return
  const others = await connected(settings(url), async (other) => {
    const seen = [await backendOf(other).catch(tooFew)]
    // Each asks twice in a row: a pooler that assigns connections in turn would otherwise look the same.
    for (let round = 0; round < 3; round++) {
      seen.push(await backendOf(other))
      own.push(await backendOf(client), await backendOf(client))
      seen.push(await backendOf(other))
    }
    return seen
  })
  if (new Set(own).size === 1 && new Set(others).size === 1 && own[0] !== others[0]) return
  throw new Error(
    'The pooler in front of PostgreSQL hands out connections by transaction or statement. Set pool_mode = session for this database, or connect to PostgreSQL directly.',
  )
}

function tooFew(error: unknown): never {
  const total = Object.values(maxConnections).reduce((sum, count) => sum + count)
  throw new Error(
    `The pooler in front of PostgreSQL has no second connection to hand out. Let it open at least ${total} for each process, in PgBouncer by default_pool_size.`,
    { cause: error },
  )
}

async function backendOf(client: Client): Promise<number> {
  const first = { text: 'SELECT pg_backend_pid() AS pid', query_timeout: poolerTimeoutMs }
  const { rows } = await client.query<{ pid: number }>(first)
  return rows[0]?.pid ?? 0
}

type Connected = ((error: Error) => void) & ((error: null, client: Client) => void)

/** Creates clients that connect to the first suitable host, as psql does; each connection checks again. */
function clientOfHosts(
  config: ClientConfig,
  hosts: readonly PostgresHost[],
  sessions: 'any' | 'read-write' | 'primary',
): Settings['Client'] {
  let choosing: Promise<PostgresHost> | null = null
  /** Clients that connect at the same time share one check. */
  function choose(): Promise<PostgresHost> {
    choosing ??= chooseHost(config, hosts, sessions).finally(() => {
      choosing = null
    })
    return choosing
  }
  return class extends Client {
    override connect(): Promise<Client>
    override connect(callback: Connected): void
    override connect(callback?: Connected): Promise<Client> | undefined {
      const connecting = choose().then((host) => {
        // The caller has given up meanwhile.
        if (this.connection.stream.destroyed) throw new Error('Connection terminated')
        leadTo(this, host)
        return super.connect()
      })
      if (!callback) return connecting
      connecting.then(
        (client) => callback(null, client),
        (error) => callback(error),
      )
      return undefined
    }
  }
}

function leadTo(client: Client, { host, port }: PostgresHost): void {
  client.host = host
  client.port = port
}

async function chooseHost(
  config: ClientConfig,
  hosts: readonly PostgresHost[],
  sessions: 'any' | 'read-write' | 'primary',
): Promise<PostgresHost> {
  const reasons: string[] = []
  for (const host of hosts) {
    const reason = await reasonAgainst(config, host, sessions)
    if (reason === null) return host
    reasons.push(`${host.host}:${host.port} ${reason}`)
  }
  throw new Error(`No host is suitable: ${reasons.join('; ')}.`)
}

/** Why a host cannot be used; `null` if it can. */
async function reasonAgainst(
  config: ClientConfig,
  host: PostgresHost,
  sessions: 'any' | 'read-write' | 'primary',
): Promise<string | null> {
  const client = new Client({ ...config, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  leadTo(client, host)
  try {
    await client.connect()
    if (sessions === 'any') return null
    const { rows } = await client.query<{ in_recovery: boolean; read_only: string }>(
      `SELECT pg_is_in_recovery() AS in_recovery, current_setting('transaction_read_only') AS read_only`,
    )
    if (rows[0]?.in_recovery !== false) return 'is a standby'
    return sessions === 'read-write' && rows[0].read_only !== 'off' ? 'is read-only' : null
  } catch (error) {
    return `does not answer: ${toFailure(error).message}`
  } finally {
    client.end().catch(() => {})
  }
}

/** Timestamps and counts fit a JavaScript number; by default the driver returns bigints as text. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 && format !== 'binary' ? Number : types.getTypeParser(oid, format)
}

/**
 * Sends statements issued at the same time in one write, which saves system calls. The driver corks the
 * socket for each statement; this keeps it corked until the next tick.
 */
export class BatchingSocket extends Socket {
  #isHolding = false

  override cork(): void {
    super.cork()
    if (this.#isHolding) return
    this.#isHolding = true
    super.cork()
    process.nextTick(() => {
      this.#isHolding = false
      super.uncork()
    })
  }
}
