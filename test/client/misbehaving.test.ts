import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { ApiError, ConnectionError, LetheClient, TimeoutError, UnexpectedAnswerError } from '@lethe/client'
import { collect, movedTime } from '../support/client.ts'
import {
  type Behaviour,
  failure,
  reply,
  reset,
  scriptedServer,
  silence,
  success,
} from '../support/scripted-server.ts'

const subject = {
  trackerId: 'shop',
  subjectId: 'anna',
  firstSeenAt: '2026-11-01T00:00:00.000Z',
  lastSeenAt: '2026-11-02T00:00:00.000Z',
  counts: { sessions: 1, events: 1 },
  identifiers: [],
  attributes: {},
}
const good = reply(200, success(subject))
const erased = (alreadyErased: boolean) => {
  const counts = alreadyErased ? { sessions: 0, events: 0 } : { sessions: 1, events: 1 }
  const erasedAt = '2026-11-15T12:00:00.000Z'
  return reply(
    200,
    success({ trackerId: 'shop', subjectId: 'anna', alreadyErased, counts, erasedAt, receipt: 'r' }),
  )
}

async function meeting(t: TestContext, ...behaviours: [Behaviour, ...Behaviour[]]) {
  const server = await scriptedServer(t, ...behaviours)
  const time = movedTime()
  // A short timeout only where responses never end, because a busy machine needs time for everything else.
  const endless = behaviours.filter((each) => typeof each === 'function' && each !== reset).length
  const timeoutMs = endless === 0 ? 60_000 : endless === behaviours.length ? 800 : 4_000
  const client = new LetheClient({ url: server.url, apiKey: 'lethe_x', timeoutMs, runtime: time })
  return { ...server, time, client }
}

/** A date this many seconds after the timestamp of the scripted responses. */
const dateAfter = (seconds: number) => new Date(Date.UTC(2026, 10, 15, 12) + seconds * 1_000).toUTCString()

describe('a client that fails temporarily', { concurrency: true }, () => {
  const passing: [what: string, behaviour: Behaviour, pauses: number[]][] = [
    ['a 429 with seconds', failure(429, 'rate_limited', { 'Retry-After': '7' }), [7_125]],
    ['a 429 with a date', failure(429, 'rate_limited', { 'Retry-After': dateAfter(9) }), [9_125]],
    ['a 429 with a date gone by', failure(429, 'rate_limited', { 'Retry-After': dateAfter(-9) }), [125]],
    ['a 429 without a word', failure(429, 'rate_limited'), [125]],
    ['a 429 that makes no sense', failure(429, 'rate_limited', { 'Retry-After': 'soon' }), [125]],
    [
      'a 429 that says when its budget resets',
      failure(429, 'rate_limited', {
        'RateLimit-Policy': '"ip";q=60;w=60, "key";q=120;w=60',
        RateLimit: '"ip";r=0;t=30, "key";r=7;t=50',
      }),
      [30_125],
    ],
    ['a 500', failure(500, 'internal_error'), [125]],
    ['a connection that is reset', reset, [125]],
    ['a connection that is closed', '', [125]],
    ['a body that breaks off', good.slice(0, -30), [125]],
    [
      'a body without length that breaks off',
      reply(200, success(subject).slice(0, -30), { length: undefined }),
      [125],
    ],
    ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.2p1\r\n', [125]],
    ['a 502 of a proxy', reply(502, '<html>', { headers: { 'Content-Type': 'text/html' } }), [125]],
    [
      'a 503 of a proxy that says when',
      reply(503, '<html>', { headers: { 'Content-Type': 'text/html', 'Retry-After': '3' } }),
      [3_125],
    ],
    ['silence', silence, [125]],
  ]
  for (const [what, behaviour, pauses] of passing) {
    it(`retries a read after ${what}`, async (t) => {
      const { client, requests, time } = await meeting(t, behaviour, good)
      assert.deepEqual(await client.readSubject('shop', 'anna'), subject)
      assert.deepEqual(time.waits, pauses)
      assert.deepEqual(new Set(requests.map(({ line }) => line)).size, 1)
    })
  }

  it('retries a slow read after its timeout', async (t) => {
    const drip = (socket: Socket) => {
      socket.write(good.slice(0, -30))
      const timer = setInterval(() => socket.write(' '), 20)
      socket.on('close', () => clearInterval(timer))
    }
    const { client, time } = await meeting(t, drip, good)
    assert.deepEqual(await client.readSubject('shop', 'anna'), subject)
    assert.deepEqual(time.waits, [125])
  })

  it('sends the same request ID each time', async (t) => {
    const { client, requests } = await meeting(t, reset, good)
    await client.readSubject('shop', 'anna', { requestId: 'mine' })
    assert.deepEqual(
      requests.map(({ headers }) => headers.get('x-request-id')),
      ['mine', 'mine'],
    )
  })

  it('doubles its pauses, and draws each between zero and that limit', async (t) => {
    const { client, time } = await meeting(t, reset)
    await assert.rejects(client.readSubject('shop', 'anna'), ConnectionError)
    assert.deepEqual(time.waits, [125, 250, 500, 1_000])
    const longest = { ...movedTime(), random: () => 0.999 }
    const { url } = await scriptedServer(t, reset)
    const impatient = new LetheClient({
      ...{ url, apiKey: 'x', runtime: longest },
      retry: { maxAttempts: 9, maxPauseMs: 1_000 },
    })
    await assert.rejects(impatient.readSubject('shop', 'anna'), ConnectionError)
    assert.deepEqual(
      longest.waits.map((ms) => Math.ceil(ms / 10) * 10),
      [250, 500, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000],
    )
  })
})

describe('a client that keeps failing', { concurrency: true }, () => {
  const lasting: [what: string, behaviour: Behaviour, attempts: number, expected: object][] = [
    ['a 500', failure(500, 'internal_error'), 5, { name: 'ApiError', code: 'internal_error', status: 500 }],
    ['resets', reset, 5, { name: 'ConnectionError', requestId: null }],
    [
      'silence',
      silence,
      5,
      { name: 'TimeoutError', message: 'No complete response was received within 800 ms.' },
    ],
    ['a 401', failure(401, 'unauthorized'), 1, { name: 'ApiError', code: 'unauthorized', status: 401 }],
    ['a 404', failure(404, 'not_found'), 1, { code: 'not_found', requestId: 'of-the-server' }],
    ['a 502', reply(502, 'no'), 5, { name: 'UnexpectedAnswerError', status: 502 }],
    [
      'HTML where an answer should be',
      reply(200, '<html>', { headers: { 'Content-Type': 'text/html' } }),
      1,
      {
        name: 'UnexpectedAnswerError',
        message: 'The response is not from Lethe: status 200 with text/html.',
      },
    ],
    [
      'JSON of something else',
      reply(200, '{"hello":"world"}'),
      1,
      { name: 'UnexpectedAnswerError', status: 200 },
    ],
    ['data of another shape', reply(200, success({ a: 1 })), 1, { message: /does not match the API/ }],
    [
      'an error with an unknown code',
      failure(418, 'teapot'),
      1,
      { name: 'UnexpectedAnswerError', status: 418 },
    ],
    [
      'a redirect',
      reply(302, '', { headers: { Location: 'http://127.0.0.1:1/elsewhere' } }),
      1,
      { message: 'The address redirects (status 302). Use the target of the redirect.' },
    ],
    [
      'a 429 that asks for more time than there is',
      failure(429, 'rate_limited', { 'Retry-After': '3600' }),
      1,
      { code: 'rate_limited', retryAfterMs: 3_600_000 },
    ],
  ]
  for (const [what, behaviour, attempts, expected] of lasting) {
    it(`gives up on ${what} after ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}`, async (t) => {
      const { client, requests } = await meeting(t, behaviour)
      await assert.rejects(client.readSubject('shop', 'anna'), expected)
      assert.equal(requests.length, attempts)
    })
  }

  it('reports a refused connection', async () => {
    const closed: (() => void | Promise<void>)[] = []
    const { url } = await scriptedServer({ after: (work) => closed.push(work) }, silence)
    for (const close of closed) await close()
    const client = new LetheClient({ url, apiKey: 'x', runtime: movedTime() })
    await assert.rejects(client.readSubject('shop', 'anna'), {
      name: 'ConnectionError',
      message: 'No complete response was received: ECONNREFUSED.',
    })
  })

  it('stops when all attempts have taken too long in total', async (t) => {
    const { client, requests, time } = await meeting(t, failure(429, 'rate_limited', { 'Retry-After': '50' }))
    await assert.rejects(client.readSubject('shop', 'anna'), { code: 'rate_limited' })
    assert.equal(requests.length, 3)
    assert.deepEqual(time.waits, [50_125, 50_250])
  })

  it('does not loop if a page names itself as the next', async (t) => {
    const page = reply(200, success({ subjects: [], nextCursor: 'again' }))
    const { client, requests } = await meeting(t, page)
    await assert.rejects(async () => {
      for await (const _ of client.listSubjects('shop'));
    }, UnexpectedAnswerError)
    assert.equal(requests.length, 2)
  })
})

describe('a time limit', { concurrency: true }, () => {
  const exported = success({ ...subject, sessions: [], events: [] })
  const respond = (body: string | ReadableStream, status = 200) =>
    new Response(body, { status, headers: { 'content-type': 'application/json' } })

  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`of ${timeoutMs} ms ends nothing early`, async () => {
      // Later than a timer that overflows, which fires after 1 ms.
      const fetch = async (_: unknown, init: RequestInit = {}) => {
        await setTimeout(5)
        init.signal?.throwIfAborted()
        return respond(exported)
      }
      const retry = { maxAttempts: 1, maxTotalMs: timeoutMs }
      const client = new LetheClient({ url: 'http://lethe.test', apiKey: 'x', fetch, timeoutMs, retry })
      assert.equal((await client.readSubject('shop', 'anna')).subjectId, 'anna')
      assert.equal((await collect(client.exportSubject('shop', 'anna'))).length, 1)
    })
  }

  /** A client that gets a 500, and has 5 ms of its total time left for the next attempt. */
  function hurried(next: (init: RequestInit) => Response | Promise<Response>) {
    let clock = 0
    const wait = async (ms: number) => {
      clock += ms
    }
    const runtime = { now: () => clock, random: () => 0.5, wait }
    const responses = [() => respond('', 500), next]
    const fetch = async (_: unknown, init: RequestInit = {}) => (responses.shift() ?? next)(init)
    return new LetheClient({
      url: 'http://lethe.test',
      apiKey: 'x',
      fetch,
      runtime,
      retry: { maxTotalMs: 130 },
    })
  }

  it('for all attempts ends when an export starts; each chunk has the one of the client', async () => {
    async function* slowly(signal: RequestInit['signal']) {
      const encoder = new TextEncoder()
      yield encoder.encode(exported.slice(0, 50))
      await setTimeout(20)
      signal?.throwIfAborted()
      yield encoder.encode(exported.slice(50))
    }
    const client = hurried(({ signal }) => respond(ReadableStream.from(slowly(signal))))
    assert.equal((await collect(client.exportSubject('shop', 'anna'))).length, 1)
  })

  it('for all attempts applies to an export that does not start', async () => {
    const client = hurried(
      ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    )
    await assert.rejects(collect(client.exportSubject('shop', 'anna')), {
      name: 'TimeoutError',
      message: 'No data was received within 5 ms.',
    })
  })
})

describe('a signal', { concurrency: true }, () => {
  it('aborts a request with its own reason', async (t) => {
    const stop = new AbortController()
    const { client, requests } = await meeting(t, () => stop.abort(new Error('enough')))
    const reading = client.readSubject('shop', 'anna', { signal: stop.signal, timeoutMs: 30_000 })
    await assert.rejects(reading, { message: 'enough' })
    assert.equal(requests.length, 1)
  })

  it('ends a pause between attempts', async (t) => {
    const { url } = await scriptedServer(t, failure(429, 'rate_limited', { 'Retry-After': '60' }))
    const client = new LetheClient({ url, apiKey: 'x' })
    await assert.rejects(client.readSubject('shop', 'anna', { signal: AbortSignal.timeout(100) }), {
      name: 'TimeoutError',
    })
  })

  it('prevents the request if it is already aborted', async (t) => {
    const { client, requests } = await meeting(t, good)
    const signal = AbortSignal.abort()
    await assert.rejects(client.readSubject('shop', 'anna', { signal }), { name: 'AbortError' })
    assert.equal(requests.length, 0)
  })
})

describe('an erasure', { concurrency: true }, () => {
  it('is retried without a response, and then reports that its counts are unknown', async (t) => {
    const { client, requests } = await meeting(t, reset, erased(true))
    const report = await client.eraseSubject('shop', 'anna')
    assert.deepEqual([report.alreadyErased, report.countsKnown], [true, false])
    assert.ok(requests.every(({ line }) => line.startsWith('DELETE ')))
  })

  it('reports its counts if a retry deleted the data, or no response was lost', async (t) => {
    const meetings: [behaviours: [Behaviour, ...Behaviour[]], alreadyErased: boolean][] = [
      [[reset, erased(false)], false],
      [[erased(true)], true],
      [[failure(429, 'rate_limited'), erased(true)], true],
    ]
    for (const [behaviours, alreadyErased] of meetings) {
      const { client } = await meeting(t, ...behaviours)
      const report = await client.eraseSubject('shop', 'anna')
      assert.deepEqual([report.alreadyErased, report.countsKnown], [alreadyErased, true])
      assert.equal(report.requestId, 'of-the-server')
    }
  })

  it('never follows a redirect', async (t) => {
    const { url, requests } = await scriptedServer(t, good)
    const { client } = await meeting(t, reply(303, '', { headers: { Location: url } }))
    await assert.rejects(client.eraseSubject('shop', 'anna'), UnexpectedAnswerError)
    assert.deepEqual(requests, [])
  })
})

describe('the errors', () => {
  it('can be distinguished from each other and from other errors', async (t) => {
    const { client } = await meeting(t, failure(403, 'forbidden'))
    const error = await client.readSubject('shop', 'anna').catch((error: unknown) => error)
    assert.ok(error instanceof ApiError && error instanceof Error)
    assert.ok(!(error instanceof ConnectionError) && !(error instanceof TimeoutError))
  })
})
