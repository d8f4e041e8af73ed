import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { commandLine, type RunningProgram, startServe } from '../../support/command-line.ts'
import { emptyStore } from '../../support/empty-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { noProc } from '../../support/missing.ts'
import type { Lifetime } from '../../support/service.ts'
import { subjectPath, subjectsPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { createKey } from '../kill/server.ts'
import { buildShopAt } from '../kill/visits.ts'
import { median, residentMb } from '../soak/trend.ts'

/** Clients that open connections to a server and misuse them until they are dismissed. */
export class AbusiveClients {
  readonly #address: { host: string; port: number }
  readonly #sockets: Socket[] = []
  /** The number of connections that the server has closed. */
  ended = 0
  /** Everything that the server sent to them. */
  received = ''

  constructor(t: Lifetime, url: string) {
    const { hostname, port } = new URL(url)
    this.#address = { host: hostname, port: Number(port) }
    t.after(() => this.dismiss())
  }

  /** Connects this many clients, each of which sends this text. */
  async connect(count: number, says: string, { reads = true, hangsUp = false } = {}): Promise<void> {
    const arrivals = Array.from({ length: count }, async () => {
      const socket = connect({ ...this.#address, allowHalfOpen: true })
      socket.on('error', () => {})
      socket.once('close', () => {
        this.ended += 1
      })
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
      if (reads) {
        socket.on('data', (bytes) => {
          this.received += bytes
        })
        socket.on('end', () => socket.destroy())
      }
      if (hangsUp) socket.end(says)
      else socket.write(says)
      this.#sockets.push(socket)
    })
    await Promise.all(arrivals)
  }

  dismiss(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }
}

interface Plan {
  /** The number of connections of each abusive kind. */
  connections: number
  /** How many of them pipeline this many requests each without reading an answer. */
  pipelining: { connections: number; requests: number }
  addresses: number
  /** The limit for the server's memory. */
  maxMb: number
}

/** Longer than anything here takes on a busy machine. */
const timeoutMs = 100_000

/** Misuses a server in every way that needs no key, and measures the cost for the server and for others. */
export async function overloadTests({ connections, pipelining, addresses, maxMb }: Plan): Promise<void> {
  const lifetime = inReverse({ after })
  const store = await emptyStore(lifetime)
  describe('a server that is misused', { skip: noProc }, () => {
    const cli = commandLine(lifetime, store)
    let server: RunningProgram & { url: string }
    let key: string
    let peakMb = 0

    before(async () => {
      await buildShopAt(
        store,
        ['anna', 'bert'].flatMap((id) => visit(id)),
      )
      key = await createKey(cli)
      const budgets = { LETHE_LIMIT_KEY: '999999999/minute', LETHE_LIMIT_ERASURE: '999999999/minute' }
      server = await startServe(cli, { ...budgets, LETHE_TRUSTED_PROXIES: '127.0.0.1' })
    })

    let asked = 0
    async function ask(path: string, method = 'GET'): Promise<number> {
      const startedAt = performance.now()
      const from = `2001:db8:${(++asked).toString(16)}::1`
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': from },
        signal: AbortSignal.timeout(timeoutMs),
      })
      assert.equal(response.status, 200, await response.text())
      return performance.now() - startedAt
    }

    /** Checks that others are answered. Returns how long they waited, and the server's memory. */
    async function assertServed(): Promise<string> {
      const waits: number[] = []
      for (let round = 0; round < 3; round++) {
        waits.push(await ask(subjectPath('anna')), await ask(subjectsPath), await ask('/readyz'))
      }
      waits.push(await ask(subjectPath('nobody'), 'DELETE'))
      const memory = residentMb(server.pid)
      peakMb = Math.max(peakMb, memory)
      assert.ok(memory < maxMb, `${memory} MB`)
      return `${Math.round(memory)} MB, others wait ${median(waits).toFixed(1)} ms, ${Math.max(...waits).toFixed(0)} at most`
    }

    const misuses: [what: string, says: string, options?: { reads?: boolean; hangsUp?: boolean }][] = [
      ['say nothing', ''],
      ['send their headers slowly', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '],
      ['send their body slowly', 'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\nabc'],
      ['close their half of the connection', 'GET /healthz HTTP/1.1\r\nHost: a\r\n', { hangsUp: true }],
      ['do not read the answers', 'GET /docs HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20), { reads: false }],
    ]
    for (const [what, says, options] of misuses) {
      it(`serves others while ${connections} clients ${what}`, async (t) => {
        const clients = new AbusiveClients(t, server.url)
        await clients.connect(connections, says, options)
        t.diagnostic(await assertServed())
      })
    }

    it('starts only a few of the requests on a connection on which no answer is read', async (t) => {
      const clients = new AbusiveClients(t, server.url)
      const names = Array.from({ length: pipelining.connections }, (_, number) => `pipelining-${number}`)
      const padding = 'x'.repeat(4_096)
      const request = (id: string) =>
        `GET /docs HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\nX-Padding: ${padding}\r\n\r\n`
      const logBefore = server.stdout().length
      for (const name of names) {
        await clients.connect(1, request(name).repeat(pipelining.requests), { reads: false })
      }
      t.diagnostic(await assertServed())
      clients.dismiss()
      const begun = () => {
        const lines = server.stdout().slice(logBefore).split('\n')
        const dropped = lines.filter((line) => line.includes('"hungUp":true'))
        return names.map((name) => dropped.filter((line) => line.includes(`"requestId":"${name}"`)).length)
      }
      await until(() => begun().every((count) => count > 0), timeoutMs)
      // Node parses the 64 KiB that it has read before a connection can be paused: up to 16 more requests.
      assert.ok(Math.max(...begun()) <= 32 + 16, `${begun()} requests were begun`)
    })

    it('refuses endless headers', async (t) => {
      const clients = new AbusiveClients(t, server.url)
      await clients.connect(50, `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(200_000)}`)
      await until(() => clients.ended === 50, timeoutMs)
      for (const [status] of clients.received.matchAll(/HTTP\/1\.1 \d+/g)) assert.match(status, / (400|429)$/)
      t.diagnostic(await assertServed())
    })

    it(`counts ${addresses} addresses, and serves others meanwhile`, async (t) => {
      const request = (number: number) =>
        `GET /v1/analytics HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.${number >> 16}.${(number >> 8) & 255}.${number & 255}\r\n\r\n`
      const clients = new AbusiveClients(t, server.url)
      const each = 20
      for (let first = 0; first < addresses; first += each * 50) {
        const bundles = Array.from({ length: 50 }, (_, bundle) =>
          Array.from({ length: each }, (_, number) => request(first + bundle * each + number)).join(''),
        )
        await Promise.all(bundles.map((bundle) => clients.connect(1, bundle)))
        await until(() => clients.received.split('HTTP/1.1 401').length - 1 >= 50 * each, timeoutMs)
        clients.received = ''
        clients.dismiss()
        if (first % 10_000 === 0) await ask(subjectPath('anna'))
      }
      t.diagnostic(await assertServed())
    })

    it('survives all of it without logging errors', async (t) => {
      t.diagnostic(`${Math.round(peakMb)} MB at most`)
      server.kill('SIGTERM')
      const { code, stdout, stderr } = await server.ended
      assert.equal(code, 0)
      assert.equal(stderr, '')
      // A log that is read too slowly drops lines and reports that.
      const complaints = stdout.match(/^.*"level":[456]0.*$/gm)?.filter((line) => !isAboutTheLog(line))
      assert.deepEqual(complaints ?? [], [])
    })
  })
}

function isAboutTheLog(line: string): boolean {
  return JSON.parse(line).reason === 'too many lines waited'
}
