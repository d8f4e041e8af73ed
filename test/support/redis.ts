import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RedisClient } from '@redis/client'
import { freePort } from './free-port.ts'
import { listen } from './listen.ts'
import type { Lifetime } from './service.ts'
import { until } from './until.ts'

const given = process.env.LETHE_TEST_REDIS || null
const program = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))

/** Why tests that need a Redis are skipped; `false` if they run. */
export const noRedis =
  given || program ? false : 'neither LETHE_TEST_REDIS nor redis-server or valkey-server on the PATH'

/** The same for tests that stop, kill or configure Redis, which must not be shared. */
export const noOwnRedis = program ? false : 'no redis-server or valkey-server on the PATH'

/** The address of a Redis that others may use too: a test may touch only its own keys. */
export async function anyRedis(lifetime: Lifetime): Promise<string> {
  return given ?? (await startRedis(lifetime)).url
}

/** A Redis for one test. */
export interface TestRedis {
  url: string
  port: number
  /** Kills it with SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
  /** Stops answering; connections stay open. */
  pause(): void
  resume(): void
  /** Sends one command on a separate connection. */
  ask(...command: string[]): Promise<unknown>
}

/** Starts a Redis that is killed when the test ends. `options` are its own, such as `--requirepass`. */
export async function startRedis(lifetime: Lifetime, options: string[] = []): Promise<TestRedis> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let child = await run(port, options)
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  lifetime.after(async () => {
    process.off('exit', endWithUs)
    await kill()
  })

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  return {
    url,
    port,
    kill,
    async start() {
      child = await run(port, options)
    },
    pause: () => assert.ok(child.kill('SIGSTOP')),
    resume: () => assert.ok(child.kill('SIGCONT')),
    ask: (...command) => askRedis(url, ...command),
  }
}

/**
 * Gives each test in turn the same Redis, emptied. Its port stays the same: a client for another address
 * takes longer to create than most tests take to run.
 */
export async function reusedRedis(lifetime: Lifetime): Promise<() => Promise<TestRedis>> {
  const redis = await startRedis(lifetime)
  return async () => {
    await redis.kill()
    await redis.start()
    return redis
  }
}

/** Creates clients without the 15 ms that `createClient` takes to build a class for each address. */
export const makeRedisClient = RedisClient.factory()

/** Sends one command to a Redis on a separate connection. */
export async function askRedis(url: string, ...command: string[]): Promise<unknown> {
  const client = makeRedisClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(command)
  } finally {
    client.destroy()
  }
}

/** A proxy in front of Redis that delays its answers by `delayMs`. */
export async function slowProxy(lifetime: Lifetime, port: number): Promise<{ url: string; delayMs: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1')
    for (const socket of [client, redis]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('close', () => redis.destroy()).pipe(redis)
    redis.on('data', async (bytes) => {
      await waitInSteps(proxy.delayMs)
      client.write(bytes)
    })
  })
  const proxy = { url: `redis://127.0.0.1:${await listen(server)}`, delayMs: 0 }
  lifetime.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return proxy
}

/**
 * Waits in steps as short as the limiter's, so that time in which this process is blocked counts for neither.
 */
async function waitInSteps(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5) await sleep(Math.min(left, 5))
}

async function run(port: number, options: string[]): Promise<ChildProcess> {
  assert.ok(program, 'no Redis to start')
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(program, [...settings, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until(() => {
    assert.equal(child.exitCode, null, said)
    return /ready to accept connections/i.test(said)
  })
  return child
}
