import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import {
  type DroppedLines,
  LetheClient,
  type RefusedLines,
  type SenderOptions,
  type TrackedEvent,
} from '@lethe/client'
import { clientOf, movedTime, recordingFetch, type VirtualTime, virtualTime } from '../support/client.ts'
import {
  accepted,
  answerLost,
  connectionReset,
  failed,
  type IngestServer,
  ingestServer,
  neverAnswered,
  proxyFailed,
} from '../support/ingest-server.ts'
import { startShop } from '../support/shop.ts'
import { until } from '../support/until.ts'

const start = Date.UTC(2026, 10, 15, 12)

/** A sender for a scripted server, with the calls of its listeners. */
async function sending(
  t: TestContext,
  options: Partial<SenderOptions> = {},
  judge?: Parameters<typeof ingestServer>[1],
) {
  const server = await ingestServer(t, judge)
  const time = virtualTime(start)
  const client = new LetheClient({ url: server.url, apiKey: 'lethe_x', runtime: time, timeoutMs: 10_000 })
  const errors: Error[] = []
  const refused: RefusedLines[] = []
  const dropped: DroppedLines[] = []
  const sender = client.sender('shop', {
    onError: (error) => errors.push(error),
    onRefused: (lines) => refused.push(lines),
    onDropped: (lines) => dropped.push(lines),
    ...options,
  })
  t.after(() => sender.close({ timeoutMs: 0 }))
  return { server, time, sender, errors, refused, dropped }
}

function visit(number: number): TrackedEvent {
  return { subjectId: 'anna', sessionId: 's1', name: `page ${number}`, eventId: `e${number}` }
}

function visits(from: number, to: number): TrackedEvent[] {
  return Array.from({ length: to - from }, (_, i) => visit(from + i))
}

/** Advances the clock second by second until a condition is met. */
async function passUntil(time: VirtualTime, isSo: () => boolean): Promise<void> {
  await until(async () => {
    if (time.waiting().length > 0) await time.pass(1_000)
    return isSo()
  })
}

const names = (lines: readonly Record<string, unknown>[]) => lines.map(({ name }) => name)
const sizes = ({ batches }: IngestServer) => batches.map(({ lines }) => lines.length)

describe('a sender', { concurrency: true }, () => {
  it('adds missing fields of an event, and keeps given ones', async (t) => {
    const { sender, server } = await sending(t)
    assert.equal(sender.track({ subjectId: 'anna', sessionId: 's1', name: 'pageview' }), true)
    const own = { eventId: 'mine', occurredAt: new Date(start - 1_000), identifiers: { userId: '42' } }
    sender.track({ subjectId: 'anna', sessionId: 's1', name: 'login', properties: { a: 1 }, ...own })
    sender.trackSession({ subjectId: 'anna', sessionId: 's1', attributes: { country: 'DE' } })
    assert.equal(await sender.flush(), true)
    const visitor = { subjectId: 'anna', sessionId: 's1' }
    const now = '2026-11-15T12:00:00.000Z'
    const eventId = '00000000-0000-4000-8000-000000000001'
    assert.deepEqual(server.stored, [
      { type: 'event', ...visitor, name: 'pageview', eventId, occurredAt: now },
      {
        ...{ type: 'event', ...visitor, name: 'login', properties: { a: 1 }, ...own },
        occurredAt: '2026-11-15T11:59:59.000Z',
      },
      { type: 'session', ...visitor, attributes: { country: 'DE' }, startedAt: now },
    ])
    assert.deepEqual(sender.counts, { waiting: 0, delivered: 3, refused: 0, dropped: 0 })
  })

  it('collects lines, but no longer than configured, and keeps no process running', async (t) => {
    const { sender, server, time } = await sending(t, { flushSeconds: 2 })
    sender.track(visit(1))
    await time.pass(1_000)
    sender.track(visit(2))
    assert.deepEqual(time.waiting(), [{ ms: 1_000, isBackground: true }])
    assert.equal(server.batches.length, 0)
    await time.pass(1_000)
    await until(() => sender.counts.delivered === 2)
    assert.deepEqual(sizes(server), [2])
    assert.deepEqual(time.waiting(), [])
  })

  it('sends a full batch immediately, limited by lines and by bytes', async (t) => {
    const { sender, server, time } = await sending(t, { maxBatchLines: 3 })
    for (const each of visits(0, 7)) sender.track(each)
    await until(() => sender.counts.delivered === 6)
    assert.deepEqual(sizes(server), [3, 3])
    await time.pass(5_000)
    await until(() => sender.counts.delivered === 7)

    const other = await sending(t, { maxBatchBytes: 1_000 })
    for (const each of visits(0, 9)) other.sender.track(each)
    await until(() => other.sender.counts.delivered >= 7)
    assert.ok(other.server.batches.every(({ text }) => Buffer.byteLength(text) <= 1_000))
  })

  it('sends one batch at a time in order, and retries a batch unchanged', async (t) => {
    const { sender, server, time, errors } = await sending(t, { maxBatchLines: 2 })
    server.next(failed(500, 'internal_error'), accepted(), answerLost, connectionReset)
    for (const each of visits(0, 6)) sender.track(each)
    await passUntil(time, () => sender.counts.delivered === 6)
    assert.deepEqual(sizes(server), [2, 2, 2, 2, 2, 2])
    const sent = server.batches.map(({ lines }) => names(lines)[0])
    assert.deepEqual(sent, ['page 0', 'page 0', 'page 2', 'page 2', 'page 2', 'page 4'])
    const distinct = new Map(server.stored.map((line) => [line.eventId, line]))
    assert.deepEqual(
      names([...distinct.values()]),
      visits(0, 6).map(({ name }) => name),
    )
    assert.deepEqual(
      errors.map(({ name }) => name),
      ['ApiError', 'ConnectionError', 'ConnectionError'],
    )
  })

  it('copies an event when it is tracked', async (t) => {
    const { sender, server } = await sending(t)
    const properties = { step: 1 }
    sender.track({ ...visit(1), properties })
    properties.step = 2
    await sender.flush()
    assert.deepEqual(server.stored[0]?.properties, { step: 1 })
  })

  it('waits until a used-up budget resets, even if it is flushed', async (t) => {
    const { sender, server, time } = await sending(t, { maxBatchLines: 1 })
    const spent = {
      'ratelimit-policy': '"ip";q=60;w=60, "key";q=120;w=60',
      ratelimit: '"ip";r=0;t=40, "key";r=9;t=50',
    }
    server.next(accepted(spent))
    for (const each of visits(0, 2)) sender.track(each)
    await until(() => sender.counts.delivered === 1)
    const flushing = sender.flush({ timeoutMs: 60_000 })
    await time.pass(39_000)
    assert.equal(server.batches.length, 1)
    await time.pass(1_000)
    assert.equal(await flushing, true)
  })

  it('retries indefinitely at increasing intervals, and immediately when it is flushed', async (t) => {
    const { sender, server, time, errors } = await sending(t)
    server.next(...Array.from({ length: 8 }, () => failed(500, 'internal_error')))
    sender.track(visit(1))
    await time.pass(5_000)
    const pauses: number[] = []
    for (let tries = 1; tries <= 7; tries++) {
      await until(() => errors.length === tries && time.waiting().length === 1)
      const [pause] = time.waiting()
      assert.ok(pause?.isBackground)
      pauses.push(pause.ms)
      await time.pass(pause.ms)
    }
    assert.deepEqual(pauses, [750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500])
    await until(() => errors.length === 8 && time.waiting().length === 1)
    assert.equal(await sender.flush(), true)
    assert.equal(server.stored.length, 1)
  })

  it('waits for the Retry-After of a 429', async (t) => {
    const { sender, server, time, errors } = await sending(t)
    server.next(failed(429, 'rate_limited', { 'retry-after': '30' }))
    sender.track(visit(1))
    const flushing = sender.flush({ timeoutMs: 60_000 })
    await until(() => errors.length === 1)
    await time.pass(29_000)
    assert.equal(server.batches.length, 1)
    await time.pass(2_000)
    assert.equal(await flushing, true)
  })

  const lasting = [
    ['a 401', failed(401, 'unauthorized')],
    ['a 403', failed(403, 'forbidden')],
    ['a 404', failed(404, 'not_found')],
    ['a redirect', proxyFailed(302)],
  ] as const
  for (const [what, behaviour] of lasting) {
    it(`keeps its lines after ${what}, and retries once a minute`, async (t) => {
      const { sender, server, time, errors, dropped } = await sending(t)
      server.next(behaviour, behaviour)
      sender.track(visit(1))
      await time.pass(5_000)
      for (const tries of [1, 2]) {
        await until(() => errors.length === tries && time.waiting().length === 1)
        sender.track(visit(tries + 1))
        assert.equal(time.waiting()[0]?.ms, 45_000)
        await time.pass(45_000)
      }
      await until(() => sender.counts.delivered === 3)
      assert.deepEqual([sizes(server), dropped], [[1, 2, 3], []])
    })
  }

  for (const [status, code] of [
    [400, 'invalid_request'],
    [422, 'validation_error'],
  ] as const) {
    it(`retries a batch unchanged after a ${status}`, async (t) => {
      const { sender, server, time, errors, dropped } = await sending(t, { maxBatchLines: 3 })
      server.next(failed(status, code), failed(status, code))
      for (const each of visits(0, 2)) sender.track(each)
      await time.pass(5_000)
      for (const [tries, pauseMs] of [750, 1_500].entries()) {
        await until(() => errors.length === tries + 1 && time.waiting().length === 1)
        assert.equal(time.waiting()[0]?.ms, pauseMs)
        sender.track(visit(tries + 2))
        await time.pass(pauseMs)
      }
      await passUntil(time, () => sender.counts.delivered === 4)
      assert.deepEqual([sizes(server), dropped], [[2, 2, 2, 2], []])
    })
  }

  it('divides a batch that is rejected repeatedly, and drops only the rejected line', async (t) => {
    const { sender, server, time, errors, dropped } = await sending(t, { maxBatchLines: 5 })
    const rejected = Array.from({ length: 3 }, () => failed(400, 'invalid_request'))
    // Five lines, then three of them, the other two, the first and the second of those.
    server.next(...rejected, accepted(), ...rejected, ...rejected, accepted())
    for (const each of visits(0, 7)) sender.track(each)
    await passUntil(time, () => sender.counts.waiting === 0)
    assert.deepEqual(sizes(server), [5, 5, 5, 3, 2, 2, 2, 1, 1, 1, 1, 2])
    assert.deepEqual(
      names(server.stored),
      [0, 1, 2, 4, 5, 6].map((number) => `page ${number}`),
    )
    assert.equal(errors.length, 9)
    assert.deepEqual(dropped, [{ count: 1, reason: 'rejected' }])
    assert.deepEqual(sender.counts, { waiting: 0, delivered: 6, refused: 0, dropped: 1 })
  })

  it('divides a batch that is too large for a proxy, without retrying it', async (t) => {
    const { sender, server, time, dropped } = await sending(t, { maxBatchLines: 4 })
    server.next(proxyFailed(413), proxyFailed(413))
    for (const each of visits(0, 4)) sender.track(each)
    await passUntil(time, () => sender.counts.delivered === 4)
    assert.deepEqual([sizes(server), dropped], [[4, 2, 1, 1, 2], []])
  })

  it('drops a line that is too large for a proxy after three attempts', async (t) => {
    const { sender, server, time, dropped } = await sending(t)
    server.next(proxyFailed(413), proxyFailed(413), proxyFailed(413))
    sender.track(visit(1))
    await passUntil(time, () => sender.counts.waiting === 0)
    assert.deepEqual([sizes(server), dropped], [[1, 1, 1], [{ count: 1, reason: 'rejected' }]])
  })

  it('reports lines that the service rejects, and does not retry them', async (t) => {
    const judge = ({ name }: Record<string, unknown>) => (name === 'page 1' ? 'not good' : null)
    const { sender, refused, errors } = await sending(t, {}, judge)
    for (const each of visits(0, 3)) sender.track(each)
    assert.equal(await sender.flush(), true)
    assert.equal(refused.length, 1)
    assert.equal(refused[0]?.count, 1)
    assert.equal(refused[0].requestId, 'of-the-server')
    const [line] = refused[0].lines
    assert.deepEqual([line?.message, line?.line.type], ['not good', 'event'])
    assert.deepEqual(sender.counts, { waiting: 0, delivered: 2, refused: 1, dropped: 0 })
    assert.deepEqual(errors, [])
  })

  it('reports lines that cannot be sent', async (t) => {
    const { sender, server, refused } = await sending(t, { maxBatchBytes: 2_000 })
    const properties: Record<string, unknown> = {}
    properties.self = properties
    assert.equal(sender.track({ ...visit(1), properties }), false)
    assert.equal(sender.track({ ...visit(2), properties: { text: 'a'.repeat(2_000) } }), false)
    sender.track(visit(3))
    await sender.flush()
    assert.deepEqual(
      refused.flatMap(({ lines }) => lines.map(({ message }) => message)),
      ['not JSON', 'longer than a batch'],
    )
    assert.deepEqual(names(server.stored), ['page 3'])
  })

  it('limits its memory: the newest lines are dropped, counted, and reported once per attempt', async (t) => {
    const options = { maxBatchLines: 10, maxQueueLines: 15 }
    const { sender, server, time, dropped } = await sending(t, options)
    server.next(failed(500, 'internal_error'))
    const isAccepted = visits(0, 100).map((each) => sender.track(each))
    assert.deepEqual(
      isAccepted,
      Array.from({ length: 100 }, (_, i) => i < 15),
    )
    assert.equal(sender.counts.dropped, 85)
    await passUntil(time, () => sender.counts.delivered === 15)
    assert.deepEqual(dropped, [{ count: 85, reason: 'queue_full' }])
    assert.deepEqual(
      names(server.stored),
      visits(0, 15).map(({ name }) => name),
    )

    const small = await sending(t, { maxQueueBytes: 1_000 })
    for (const each of visits(0, 100)) small.sender.track(each)
    await small.sender.flush()
    assert.ok(small.server.stored.length < 10)
    assert.equal(small.dropped[0]?.count, 100 - small.server.stored.length)
  })

  it('delivers 20,000 lines in order, and releases each', async (t) => {
    const { sender, server } = await sending(t, { maxBatchLines: 2_000 })
    for (const each of visits(0, 20_000)) assert.ok(sender.track(each))
    assert.equal(await sender.flush(), true)
    assert.equal(server.stored.length, 20_000)
    assert.ok(server.stored.every(({ name }, i) => name === `page ${i}`))
    assert.equal(sender.counts.waiting, 0)
  })
})

describe('closing a sender', { concurrency: true }, () => {
  it('delivers the waiting lines, and accepts no more', async (t) => {
    const { sender, server, dropped } = await sending(t)
    sender.track(visit(1))
    const closing = sender.close()
    assert.equal(sender.track(visit(2)), false)
    assert.deepEqual(await Promise.all([closing, sender.close(), closing]), [true, true, true])
    assert.equal(await sender.flush(), true)
    assert.deepEqual(names(server.stored), ['page 1'])
    assert.deepEqual(dropped, [{ count: 1, reason: 'closed' }])
  })

  it('tries until its timeout, and reports what was not delivered', async (t) => {
    const { sender, server, time, dropped, errors } = await sending(t)
    server.next(...Array.from({ length: 20 }, () => failed(500, 'internal_error')))
    for (const each of visits(0, 3)) sender.track(each)
    const closing = sender.close({ timeoutMs: 8_000 })
    await until(() => errors.length === 1 && time.waiting().length === 2)
    assert.deepEqual(
      time.waiting().map(({ isBackground }) => isBackground),
      [false, false],
    )
    await time.pass(8_000)
    assert.equal(await closing, false)
    assert.equal(await sender.flush(), false)
    assert.deepEqual(dropped, [{ count: 3, reason: 'closed' }])
    assert.deepEqual(sender.counts, { waiting: 0, delivered: 0, refused: 0, dropped: 3 })
  })

  it('aborts a request without a response, without an error', async (t) => {
    const { sender, server, time, dropped, errors } = await sending(t)
    server.next(neverAnswered)
    sender.track(visit(1))
    const closing = sender.close({ timeoutMs: 3_000 })
    await until(() => server.batches.length === 1)
    await time.pass(3_000)
    assert.equal(await closing, false)
    assert.deepEqual([dropped, errors], [[{ count: 1, reason: 'closed' }], []])
    assert.deepEqual(time.waiting(), [])
  })
})

describe('the options of a sender', () => {
  it('are checked when it is created', () => {
    const client = new LetheClient({ url: 'http://127.0.0.1:1', apiKey: 'lethe_x' })
    const onError = () => {}
    const wrong: [options: object, message: string][] = [
      [{}, 'onError must be a function.'],
      [{ onError, flushSeconds: -1 }, 'flushSeconds must be 0 or more.'],
      [{ onError, flushSeconds: Number.NaN }, 'flushSeconds must be 0 or more.'],
      [{ onError, maxBatchLines: 10_001 }, 'maxBatchLines must be an integer from 1 to 10000.'],
      [{ onError, maxBatchBytes: 0 }, 'maxBatchBytes must be an integer from 1 to 4194304.'],
      [{ onError, maxQueueLines: 1.5 }, 'maxQueueLines must be an integer from 1 to 9007199254740991.'],
    ]
    for (const [options, message] of wrong) {
      // @ts-expect-error Programs in JavaScript have no types.
      assert.throws(() => client.sender('shop', options), { message })
    }
    assert.throws(() => client.sender('..', { onError }), { name: 'TypeError' })
  })
})

describe('a sender for the service', () => {
  it('stays within the budgets, and delivers everything once', async (t) => {
    const env = { LETHE_LIMIT_IP: '10/minute', LETHE_LIMIT_KEY: '1000/minute' }
    const shop = await startShop(t, { scopes: ['analytics:collect', 'analytics:view'], env })
    const time = movedTime(shop.passTime)
    const { fetch, exchanges } = recordingFetch()
    const client = clientOf(shop, { runtime: time, fetch })
    const refused: RefusedLines[] = []
    const sender = client.sender('shop', {
      ...{ maxBatchLines: 10, flushSeconds: 0.1, onError: assert.ifError },
      onRefused: (lines) => refused.push(lines),
    })
    for (const each of visits(0, 300)) sender.track(each)
    sender.track({ ...visit(301), subjectId: '' })
    await until(() => sender.counts.waiting === 0)
    assert.deepEqual(sender.counts, { waiting: 0, delivered: 300, refused: 1, dropped: 0 })
    assert.deepEqual(
      exchanges,
      Array.from({ length: 31 }, () => 'POST 200'),
    )
    assert.equal(refused[0]?.lines[0]?.line.subjectId, '')
    assert.deepEqual((await client.readSubject('shop', 'anna')).counts, { sessions: 1, events: 300 })
    await sender.close()
  })
})

const run = promisify(execFile)
const clientModule = new URL('../../client/src/index.ts', import.meta.url).href

/** Runs a program with a sender for the server. */
async function runProgram(server: IngestServer, lines: readonly string[]) {
  const program = [
    `import { LetheClient } from '${clientModule}'`,
    `const client = new LetheClient({ url: '${server.url}', apiKey: 'lethe_x' })`,
    "const sender = client.sender('shop', { onError: ({ name }) => console.log(name), onDropped: console.log })",
    "const visit = { subjectId: 'anna', sessionId: 's1', name: 'pageview' }",
    ...lines,
  ]
  const args = ['--input-type=module', '--eval', program.join('\n')]
  return run(process.execPath, args, { timeout: 60_000 }).then(
    ({ stdout }) => ({ stdout, signal: null }),
    ({ stdout, signal }: { stdout: string; signal: string | null }) => ({ stdout, signal }),
  )
}

describe('a process with a sender', { concurrency: true }, () => {
  it('exits by itself after delivering', async (t) => {
    const server = await ingestServer(t)
    server.next(connectionReset)
    const outcome = await runProgram(server, ['sender.track(visit)'])
    assert.deepEqual(outcome, { stdout: 'ConnectionError\n', signal: null })
    assert.equal(server.stored.length, 1)
  })

  it('delivers on a signal if configured, and exits with the signal', async (t) => {
    const server = await ingestServer(t)
    const outcome = await runProgram(server, [
      'setInterval(() => {}, 1_000)',
      'sender.closeOnSignals()',
      'sender.track(visit)',
      "process.kill(process.pid, 'SIGTERM')",
    ])
    assert.deepEqual(outcome, { stdout: '', signal: 'SIGTERM' })
    assert.equal(server.stored.length, 1)
  })

  it('continues if it handles the signal itself', async (t) => {
    const server = await ingestServer(t)
    const outcome = await runProgram(server, [
      'const timer = setInterval(() => {}, 1_000)',
      'sender.closeOnSignals()',
      "process.on('SIGTERM', async () => { await sender.close(); console.log('closed'); clearInterval(timer) })",
      'sender.track(visit)',
      "process.kill(process.pid, 'SIGTERM')",
    ])
    assert.deepEqual(outcome, { stdout: 'closed\n', signal: null })
    assert.equal(server.stored.length, 1)
  })
})
