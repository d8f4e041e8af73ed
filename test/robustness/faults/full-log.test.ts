import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as passTime } from 'node:timers/promises'
import { type CommandLine, commandLine, jsonLines, programPath } from '../../support/command-line.ts'
import { listen } from '../../support/listen.ts'
import { readMetrics, sampleValue } from '../../support/metrics.ts'
import { openRawConnection, requestText } from '../../support/raw-http.ts'
import { until } from '../../support/until.ts'
import { fill, noMounts, smallDisk } from './small-disk.ts'

const noFullDevice = existsSync('/dev/full') ? false : 'there is no /dev/full here'
const timeout = 90_000
/** The number of requests that are pipelined: fewer than a connection may have waiting. */
const together = 20

/**
 * Starts a service whose standard output is `stdout`, so that it cannot report its address. If a port was
 * taken meanwhile, tries others.
 */
async function startMuted(t: TestContext, cli: CommandLine, stdout: number | 'pipe') {
  for (;;) {
    const service = await tryMuted(t, cli, stdout)
    if (service) return service
  }
}

/**
 * A loopback address that no other test uses, so that nothing else answers on the service's ports. Only Linux
 * accepts more than one by default.
 */
function ownAddress(): string {
  const part = () => 1 + Math.floor(Math.random() * 250)
  return process.platform === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1'
}

/** Starts it on two free ports; `null` if one of them was taken meanwhile. */
async function tryMuted(t: TestContext, cli: CommandLine, stdout: number | 'pipe') {
  const host = ownAddress()
  const [port, metricsPort] = await freePorts(host)
  const env = {
    LETHE_STORE: `sqlite:${cli.storePath}`,
    LETHE_HOST: host,
    LETHE_METRICS_HOST: host,
    LETHE_PORT: String(port),
    LETHE_METRICS_PORT: String(metricsPort),
    LETHE_LIMIT_IP: '1000000/day',
  }
  const child = spawn(process.execPath, [programPath, 'serve'], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', stdout, 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const url = `http://${host}:${port}`
  const isHealthy = () => fetch(`${url}/healthz`).then(({ status }) => status === 200)
  // With pauses, because the service needs the CPU to start.
  await until(() => isHealthy().catch(() => passTime(50, child.exitCode !== null)), timeout)
  if (child.exitCode !== null) {
    await until(() => stderr.includes('\n'))
    assert.match(stderr, /Port \d+ of .* is taken/)
    return null
  }
  return {
    child,
    isHealthy,
    /** Makes it write this many log lines. */
    async makeLines(count: number): Promise<void> {
      const connection = await openRawConnection(url)
      const request = requestText('/nowhere', { headers: { 'X-Request-Id': 'x'.repeat(200) } })
      for (let at = 0; at < count; at += together) {
        connection.send(request.repeat(together))
        for (let answer = 0; answer < together; answer++) await connection.answer()
      }
      connection.hangUp()
    },
    async droppedLines(): Promise<number> {
      const samples = await readMetrics(`http://${host}:${metricsPort}/metrics`)
      return sampleValue(samples, 'lethe_log_lines_dropped_total') ?? 0
    },
    /** Stops it with SIGTERM, and fails unless it ends cleanly. */
    async stop(): Promise<void> {
      assert.equal(await isHealthy(), true)
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null], stderr)
      assert.equal(stderr, '')
    },
  }
}

async function freePorts(host: string): Promise<[number, number]> {
  const servers = [createServer(), createServer()]
  const [first = 0, second = 0] = await Promise.all(servers.map((server) => listen(server, { host })))
  for (const server of servers) server.close()
  return [first, second]
}

describe('a log that cannot be written', { concurrency: true }, () => {
  it('because its disk is always full loses only its lines, which are counted', {
    skip: noFullDevice,
  }, async (t) => {
    const cli = commandLine(t)
    const full = openSync('/dev/full', 'w')
    t.after(() => closeSync(full))
    const service = await startMuted(t, cli, full)
    await until(async () => (await service.droppedLines()) > 0, timeout)
    await service.stop()
  })

  it('because its disk is full for a while reports how many lines it lost, and cuts none', {
    skip: noMounts,
  }, async (t) => {
    const cli = commandLine(t)
    const folder = smallDisk(t, 1)
    const filler = join(folder, 'filler')
    const file = join(folder, 'log')
    const log = openSync(file, 'a')
    t.after(() => closeSync(log))
    const service = await startMuted(t, cli, log)
    fill(filler)
    await until(async () => {
      await service.makeLines(100)
      return (await service.droppedLines()) > 0
    }, timeout)
    rmSync(filler)
    await until(async () => {
      await service.makeLines(100)
      return readFileSync(file, 'utf8').includes('log lines were dropped')
    }, timeout)
    await service.stop()
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const broken = lines.filter((line) => !isJson(line))
    assert.ok(broken.length <= 1, `only what was being written may be cut off: ${broken.join('\n')}`)
    const told = lines.find((line) => line.includes('log lines were dropped'))
    const [{ level, dropped, reason } = {}] = jsonLines(`${told}\n`)
    assert.deepEqual([level, reason], [40, 'ENOSPC'])
    assert.ok(Number(dropped) > 0)
    assert.ok(lines.at(-1)?.includes('"msg":"stopped"'))
  })

  it('because its reader has closed it loses only its lines', async (t) => {
    const service = await startMuted(t, commandLine(t), 'pipe')
    readingEnd(service.child).destroy()
    await until(async () => {
      await service.makeLines(100)
      return (await service.droppedLines()) > 0
    }, timeout)
    await service.stop()
  })

  it('because nobody reads it does not keep the process from exiting', async (t) => {
    const service = await startMuted(t, commandLine(t), 'pipe')
    readingEnd(service.child).pause()
    await service.makeLines(1_000)
    const ended = once(service.child, 'exit')
    service.child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })
})

function readingEnd({ stdout }: ChildProcess) {
  assert.ok(stdout)
  return stdout
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
