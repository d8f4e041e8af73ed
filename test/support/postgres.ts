import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { postgresProgram, postgresUser, preparePostgres } from './postgres-program.ts'

const execute = promisify(execFile)

/** Settings for a server that may lose its data if the machine stops. */
export const withoutDurability = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** How a server ends: it closes its connections, drops them, or is killed. */
const endings = { fast: 'SIGINT', immediate: 'SIGQUIT', killed: 'SIGKILL' } as const

/** A PostgreSQL server for one owner. It keeps its port and its data until it is removed. */
export interface PostgresServer {
  /** The address of the database `postgres`, as superuser. */
  url: string
  folder: string
  /** Starts it again. Resolves when it accepts connections. */
  start(): Promise<void>
  /** Stops it. Resolves when it has ended. */
  stop(ending: keyof typeof endings): Promise<void>
  /** Stops answering; connections stay open. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Stops it and deletes its data. This also happens when this process ends, for any reason. */
  remove(): Promise<void>
}

/**
 * Creates and starts a server: fast, without durability, or with these settings and PostgreSQL's defaults.
 */
export async function startPostgres(
  settings: Record<string, string> = withoutDurability,
  makeCluster = createCluster,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'lethe-postgres-'))
  const password = await makeCluster(folder)
  const port = await freePort()
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const parameters = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '300',
    ...settings,
  }).map(([name, value]) => `--${name}=${value}`)
  let guardian: ChildProcess
  let paused: Awaited<ReturnType<typeof pauseAll>> | null = null

  async function start(): Promise<void> {
    const deadline = performance.now() + 120_000
    guardian = spawnGuardian(folder, parameters)
    while (!(await takesConnections(url))) {
      const log = readFileSync(join(folder, 'log'), 'utf8')
      const isKeptOut = hasEnded(guardian) && log.includes('pre-existing shared memory block')
      if (performance.now() > deadline || (hasEnded(guardian) && !isKeptOut)) {
        throw new Error(`PostgreSQL did not start: ${log}`)
      }
      // The remains of a killed server briefly prevent a new one from starting.
      if (isKeptOut) guardian = spawnGuardian(folder, parameters)
      await setTimeout(20)
    }
  }
  async function ended(): Promise<void> {
    if (hasEnded(guardian)) return
    guardian.ref()
    await once(guardian, 'exit')
  }
  async function remove(): Promise<void> {
    guardian.stdin?.end()
    await ended()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await remove()
    throw error
  }
  return {
    url,
    folder,
    start,
    async stop(ending) {
      guardian.stdin?.write(`${endings[ending]}\n`)
      await ended()
    },
    async pause() {
      paused = await pauseAll(url, folder)
    },
    async resume() {
      for (const pid of paused?.pids ?? []) process.kill(pid, 'SIGCONT')
      await paused?.client.end()
      paused = null
    },
    remove,
  }
}

/** Starts a streaming replica of a server. Restarts the server to copy its files. */
export async function startStandby(
  primary: PostgresServer,
  settings: Record<string, string> = {},
): Promise<PostgresServer> {
  const { hostname, port, username, password } = new URL(primary.url)
  const primary_conninfo = `host=${hostname} port=${port} user=${username} password=${password}`
  await primary.stop('fast')
  const standby = startPostgres({ primary_conninfo, ...settings }, async (folder) => {
    const user = postgresUser()
    // It runs the same programs.
    const own = ['data', 'native']
      .map((part) => join(primary.folder, part))
      .filter((path) => existsSync(path))
    await execute('cp', ['-a', ...own, folder])
    writeFileSync(join(folder, 'data', 'standby.signal'), '')
    if (user)
      for (const path of [folder, join(folder, 'data', 'standby.signal')]) chownSync(path, user.uid, user.gid)
    await preparePostgres(folder)
    await primary.start()
    return password
  })
  return standby
}

/** Stops the processes of a server, the parent first, so that no new ones start. */
async function pauseAll(url: string, folder: string): Promise<{ client: Client; pids: number[] }> {
  const client = new Client(url)
  await client.connect()
  const parent = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  process.kill(parent, 'SIGSTOP')
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP')
  return { client, pids: [...rows.map(({ pid }) => pid), parent] }
}

/** Creates the files of a server and returns its superuser's password. */
export async function createCluster(folder: string): Promise<string> {
  const user = postgresUser()
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, hashed(password))
  if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid)
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  const initdb = ['--no-locale', '--encoding=UTF8', '--no-sync', ...access, join(folder, 'data')]
  await preparePostgres(folder)
  await execute(postgresProgram('initdb', folder), initdb, { ...user, cwd: folder })
  return password
}

/** A password as PostgreSQL stores it, hashed once instead of 4,096 times for each connection. */
function hashed(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, 1, 32, 'sha256')
  const keyOf = (whose: string) => createHmac('sha256', salted).update(`${whose} Key`).digest()
  const keys = [createHash('sha256').update(keyOf('Client')).digest(), keyOf('Server')]
  return `SCRAM-SHA-256$1:${salt.toString('base64')}$${keys.map((key) => key.toString('base64')).join(':')}`
}

function spawnGuardian(folder: string, parameters: readonly string[]): ChildProcess {
  const log = openSync(join(folder, 'log'), 'w')
  const program = join(import.meta.dirname, 'postgres-guardian.ts')
  const guardian = spawn(process.execPath, [program, folder, ...parameters], {
    stdio: ['pipe', log, log],
    detached: true,
  })
  closeSync(log)
  guardian.unref()
  return guardian
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function takesConnections(url: string): Promise<boolean> {
  const client = new Client(url)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}
