import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { Connections, connectionsWithin, maxUnreadBytes } from '../../../src/http/connections.ts'
import { readSendQueues } from '../../../src/http/streamed-body.ts'
import { dataOf } from '../../support/answers.ts'
import { commandLine, programPath } from '../../support/command-line.ts'
import { listen } from '../../support/listen.ts'
import { noProc } from '../../support/missing.ts'
import { askRaw, openRawConnection, requestText } from '../../support/raw-http.ts'
import { startShop, subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'
import { createKey } from '../kill/server.ts'
import { buildShop } from '../kill/visits.ts'
import { AbusiveClients } from './overload-tests.ts'

const scopes = ['analytics:view', 'analytics:delete-data'] as const

describe('answers that nobody reads', () => {
  it('hold a limited number of bytes: the client that has not read for longest is disconnected, and one that reads is not', async (t) => {
    const shop = await startShop(t, { scopes })
    await shop.ingest(visit('anna'))
    const megabyte = { text: 'x'.repeat(1024 * 1024) }
    const event = { eventId: 'e', sessionId: 's', name: 'n', occurredAt: 1, properties: megabyte }
    shop.services.events.list = () => ({ rows: [event], next: null })
    const page = (id: string) =>
      requestText(`${subjectPath('anna')}/events`, { key: shop.key, headers: { 'X-Request-Id': id } })
    const reader = await openRawConnection(shop.url)
    const readOne = async () => {
      reader.send(page('reader'))
      assert.equal((await reader.answer()).status, 200)
    }
    const logged = (id: string) => shop.logged.filter((line) => line.includes(`"requestId":"${id}"`))
    const isCut = (id: string) => logged(id).some((line) => line.includes('"hungUp":true'))
    const names = Array.from({ length: 3 }, (_, number) => `silent-${number}`)
    const silent = new AbusiveClients(t, shop.url)
    for (const name of names) {
      await readOne()
      await silent.connect(1, page(name).repeat(30), { reads: false })
      // Its socket buffers are full: from here on, its answers wait.
      await until(() => logged(name).length > 0)
    }
    await readOne()
    // Each has thirty answers of a megabyte, of which the system buffers some: two such clients may stay.
    const staying = () => names.filter((name) => !isCut(name))
    await until(() => staying().length * 30 * megabyte.text.length <= maxUnreadBytes)
    assert.ok(staying().length > 0)
    assert.deepEqual(staying(), names.slice(-staying().length), 'the first to have come are the first to go')
    await readOne()
    dataOf(await shop.ask(subjectPath('anna'), { key: shop.key }))
    reader.hangUp()
  })

  /** A server that counts its connections, and answers when the test does. */
  async function startServer(t: TestContext) {
    const server = createServer()
    // The tests pass the time to each check; one by the real clock would find every connection stalled.
    t.mock.timers.enable({ apis: ['setInterval'] })
    const connections = new Connections(server, 10)
    t.after(() => server.close())
    const arrived: ServerResponse[] = []
    server.on('request', (request, response) => {
      connections.begin({ request, response })
      arrived.push(response)
    })
    const port = await listen(server)
    return { server, connections, arrived, port, url: `http://127.0.0.1:${port}` }
  }

  it('close their connection if the client does not read, but not while they are generated', async (t) => {
    const { server, connections, arrived, url } = await startServer(t)
    // Shorter than the real timeout, but long enough for a client on a busy machine to send its request.
    server.timeout = 500
    const patient = fetch(url)
    await until(() => arrived.length === 1)
    const [timedOut] = await once(server, 'timeout')
    assert.equal(timedOut, arrived[0]?.socket)
    // The next client may take longer to send its request.
    server.timeout = 0
    await new AbusiveClients(t, url).connect(1, requestText('/'), { reads: false })
    await until(() => arrived.length === 2)
    // More than the system buffers for a client that does not read.
    arrived[1]?.end(Buffer.alloc(64 * 1024 * 1024))
    for (let now = 0; arrived[1]?.destroyed !== true; now += 30_000) {
      await connections.closeStalled(now)
      await nextTurn()
    }
    arrived[0]?.end('made at last')
    assert.equal(await (await patient).text(), 'made at last')
  })

  it('continue while the client reads, however little', { skip: noProc }, async (t) => {
    const { connections, arrived, port } = await startServer(t)
    const slow = connect(port, '127.0.0.1').pause()
    t.after(() => slow.destroy())
    slow.write(requestText('/'))
    await until(() => arrived.length === 1)
    const [response] = arrived
    const socket = response?.socket
    assert.ok(response && socket)
    response.end(Buffer.alloc(64 * 1024 * 1024))
    const seen = async () => {
      // The system's list of connections may omit one while others open and close.
      for (let queue = ''; ; await delay(1)) {
        queue = (await readSendQueues())(socket)
        if (queue !== '') return `${socket.bytesWritten - socket.writableLength} ${queue}`
      }
    }
    const settled = async () => {
      for (let before = ''; before !== (await seen()); await delay(50)) before = await seen()
    }
    await settled()
    let now = 0
    const lookLater = () => {
      now += 30_000
      return connections.closeStalled(now)
    }
    await lookLater()
    const waiting = socket.writableLength
    for (let i = 0; i < 5; i += 1) {
      const before = await seen()
      for (let taken = 0; before === (await seen()); ) {
        slow.resume()
        taken += (await once(slow, 'data'))[0].length
        slow.pause()
        assert.ok(taken < 1_000_000, 'the system tells of what is taken')
        await delay(10)
      }
      await lookLater()
      assert.equal(socket.destroyed, false)
    }
    assert.ok(waiting > 60_000_000 && socket.writableLength > 0, 'Node sees nothing of it')
    await settled()
    await lookLater()
    await lookLater()
    assert.equal(socket.destroyed, true)
  })

  it('of one organisation disconnect no client of another', async (t) => {
    const { connections, arrived, url } = await startServer(t)
    const clients = new AbusiveClients(t, url)
    const unread = async (owner: string, bytes: number) => {
      const number = arrived.length
      await clients.connect(1, requestText('/'), { reads: false })
      await until(() => arrived.length > number)
      const response = arrived[number]
      assert.ok(response)
      connections.addUnread({ request: response.req, response, owner, unreadBytes: 0 }, bytes)
      return response
    }
    const first = await unread('ben', 1024 * 1024)
    const [second, third] = [await unread('anna', 40 * 1024 * 1024), await unread('anna', 40 * 1024 * 1024)]
    assert.deepEqual(
      [first, second, third].map(({ socket }) => socket?.destroyed),
      [false, true, false],
    )
    assert.equal(connections.unreadBytes, 41 * 1024 * 1024)
  })
})

describe('connections', () => {
  it('give way to newer ones, starting with the longest idle one', async (t) => {
    const shop = await startShop(t, { scopes, env: { LETHE_MAX_CONNECTIONS: '10' } })
    const busy = await openRawConnection(shop.url)
    const silent = new AbusiveClients(t, shop.url)
    // Once answered, they are known to the server.
    await silent.connect(9, requestText('/healthz'))
    await until(() => silent.received.split('HTTP/1.1 200').length === 10)
    busy.send(requestText('/healthz'))
    dataOf(await busy.answer())
    await silent.connect(5, '')
    await until(() => silent.ended === 5)
    busy.send(requestText('/healthz'))
    dataOf(await busy.answer())
    busy.hangUp()
  })

  it('never give way while their answer is generated', async (t) => {
    const shop = await startShop(t, { scopes, env: { LETHE_MAX_CONNECTIONS: '10' } })
    await shop.ingest(visit('anna'))
    const { read } = shop.services.subjects
    const released = Promise.withResolvers<void>()
    let reached = 0
    shop.services.subjects.read = async (...args) => {
      reached += 1
      await released.promise
      return read(...args)
    }
    const awaiting = await Promise.all(Array.from({ length: 10 }, () => openRawConnection(shop.url)))
    for (const connection of awaiting) connection.send(requestText(subjectPath('anna'), { key: shop.key }))
    await until(() => reached === 10)
    const late = new AbusiveClients(t, shop.url)
    await late.connect(5, '')
    await until(() => late.ended === 5)
    released.resolve()
    for (const connection of awaiting) {
      dataOf(await connection.answer())
      connection.hangUp()
    }
  })

  it('are limited by the file handles of the system, minus those that the service needs', () => {
    const limits = (handles: string) =>
      `Max file locks   unlimited\nMax open files            ${handles}   524288  files\n`
    const within = (text: string) => {
      const { maxConnections, listeners } = connectionsWithin(10_000, text)
      return [maxConnections, listeners]
    }
    assert.deepEqual(within(limits('1024')), [928, 32])
    assert.deepEqual(within(limits('524288')), [10_000, 64])
    assert.deepEqual(connectionsWithin(10_000, limits('2048'), 2), { maxConnections: 928, listeners: 32 })
    assert.deepEqual(within(limits('unlimited')), [10_000, 64])
    assert.deepEqual(within(limits('20')), [1, 1])
    assert.deepEqual(within(''), [10_000, 64])
  })

  const needsShell = process.platform === 'linux' ? false : 'only Linux tells how many handles there are'
  it('leave the service the handles that it needs to start writing', { skip: needsShell }, async (t) => {
    const cli = commandLine(t)
    await buildShop(cli.storePath, visit('anna'))
    const key = await createKey(cli)
    const env = { ...process.env, LETHE_STORE: `sqlite:${cli.storePath}`, LETHE_PORT: '0' }
    const limited = ['-c', 'ulimit -n 128 && exec "$@"', 'sh', process.execPath, programPath, 'serve']
    const child = spawn('/bin/sh', limited, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    let log = ''
    child.stdout.on('data', (text) => {
      log += text
    })
    await until(() => /"url":"/.test(log))
    const [, url = ''] = /"url":"([^"]+)"/.exec(log) ?? []
    await new AbusiveClients(t, url).connect(300, '')
    dataOf(await askRaw(url, subjectPath('anna'), { key, method: 'DELETE' }))
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    assert.equal(code, 0)
    assert.doesNotMatch(log, /"level":[456]0/)
  })
})
