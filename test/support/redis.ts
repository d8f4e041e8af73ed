import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RedisClient } from '@redis/client'
import { freePort } from './free-port.ts'
import type { Lifetime } from './service.ts'
import { until } from './until.ts'

const given = process.env.LETHE_TEST_REDIS || null
const program = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => join(folder, name)))
  .find((path) => existsSync(path))

/** Why tests that need some Redis are skipped; `false` when they are not. */
export const noRedis =
  given || program ? false : 'neither LETHE_TEST_REDIS nor redis-server or valkey-server on the PATH'

/** The same for tests that stop, kill or configure Redis, which no one's but our own may be. */
export const noRedisOfOurOwn = program ? false : 'no redis-server or valkey-server on the PATH'

/** The address of some Redis, which others may use too: nothing but keys of the test's own may be touched. */
export async function someRedis(lifetime: Lifetime): Promise<string> {
  return given ?? (await startRedis(lifetime)).url
}

/** A Redis of the test's own. */
export interface TestRedis {
  url: string
  port: number
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again on the same port, empty. */
  start(): Promise<void>
  /** It no longer answers, while its connections stay. */
  pause(): void
  resume(): void
  /** One command over a connection of its own. */
  ask(...command: string[]): Promise<unknown>
}

/** Starts a Redis that goes when the test does. `options` are its own, such as `--requirepass`. */
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
 * Hands out an empty Redis of the tests' own, to one test after the other. It is on the same port every time: to make a client for
 * another address than the last takes longer than most tests do.
 */
export async function redisInTurn(lifetime: Lifetime): Promise<() => Promise<TestRedis>> {
  const redis = await startRedis(lifetime)
  return async () => {
    await redis.kill()
    await redis.start()
    return redis
  }
}

/** Makes a client. `createClient` makes a class of 400 commands first, whenever the address is not the last one's: 15 ms. */
export const makeRedisClient = RedisClient.factory()

/** Sends one command to a Redis over a connection of its own. */
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

/** Somebody between a client and Redis who can hold back what Redis says. */
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
      await pass(proxy.delayMs)
      client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = { url: `redis://127.0.0.1:${portOf(server)}`, delayMs: 0 }
  lifetime.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return proxy
}

/** In small steps: while this process stands still, little time passes for the limiter too. */
async function pass(ms: number): Promise<void> {
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

function portOf(server: Server): number {
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
