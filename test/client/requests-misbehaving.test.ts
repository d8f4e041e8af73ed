import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ApiError, ConnectionError, LetheClient, type PrivacyRequest } from '@lethe/client'
import { collect, movedTime } from '../support/client.ts'
import { type Behaviour, failure, reply, reset, scriptedServer, success } from '../support/scripted-server.ts'

const requestId = '4f7c1c4e-2f7a-4d38-8a51-0d6f1d2c3b4a'
const nothing = { subjects: 0, sessions: 0, events: 0 }

function request(fields: Partial<PrivacyRequest> = {}): PrivacyRequest {
  return {
    ...{ requestId, kind: 'erasure', state: 'running', reference: null, reason: null },
    ...{ receivedAt: '2026-11-15T11:00:00.000Z', dueAt: '2026-12-15T11:00:00.000Z' },
    ...{ extendedAt: null, closedAt: null, resumesAt: null, left: null, person: null },
    ...{ found: { subjects: 3, sessions: 3, events: 6 }, erased: nothing },
    ...fields,
  }
}

const answer = (fields: Partial<PrivacyRequest> = {}, headers: Record<string, string> = {}) =>
  reply(200, success(request(fields)), { headers })
const refusal = (field: string) =>
  reply(
    422,
    JSON.stringify({
      error: { code: 'validation_error', message: `Check ${field}.`, details: [{ field, message: 'no' }] },
      meta: { requestId: 'r', timestamp: '2026-11-15T12:00:00.000Z' },
    }),
  )

async function meeting(t: TestContext, ...behaviours: [Behaviour, ...Behaviour[]]) {
  const server = await scriptedServer(t, ...behaviours)
  const time = movedTime()
  const client = new LetheClient({ url: server.url, apiKey: 'lethe_x', runtime: time })
  const lines = () => server.requests.map(({ line }) => line.replace(/ HTTP.*| \/v1\/analytics/g, ''))
  return { time, requests: client.requests, lines }
}

describe('waiting for a request', { concurrency: true }, () => {
  it('polls at increasing intervals until the request is closed', async (t) => {
    const running = Array.from({ length: 6 }, () => answer())
    const { requests, time } = await meeting(t, answer(), ...running, answer({ state: 'done' }))
    const seen: string[] = []
    const closed = await requests.wait(requestId, { onProgress: ({ state }) => seen.push(state) })
    assert.equal(closed.state, 'done')
    assert.deepEqual(seen, [...Array.from({ length: 7 }, () => 'running'), 'done'])
    assert.deepEqual(time.waits, [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000])
  })

  for (const state of ['rejected', 'cancelled'] as const) {
    it(`ends if the request is ${state}`, async (t) => {
      const { requests } = await meeting(t, answer(), answer({ state }))
      assert.equal((await requests.wait(requestId)).state, state)
    })
  }

  it('waits until the service continues, by its clock, and polls meanwhile to notice a cancellation', async (t) => {
    // The responses have the time 12:00.
    const soon = answer({ resumesAt: '2026-11-15T12:02:00.000Z' })
    const late = answer({ resumesAt: '2026-11-15T13:00:00.000Z' })
    const { requests, time } = await meeting(t, soon, late, answer({ state: 'cancelled' }))
    await requests.wait(requestId)
    assert.deepEqual(time.waits, [120_000, 300_000])
  })

  it('waits for a used-up budget instead of exceeding it', async (t) => {
    const spent = { 'RateLimit-Policy': '"key";q=120;w=60', RateLimit: '"key";r=0;t=41' }
    const { requests, time } = await meeting(t, answer({}, spent), answer({ state: 'done' }))
    await requests.wait(requestId)
    const [first = 0, second = 0] = time.waits
    assert.equal(first, 250)
    // The budget resets 41 s after the response; some of this time may have passed on a busy machine.
    assert.ok(second > 30_000 && second <= 40_750, `${second} ms`)
  })

  it('waits for a budget that others have used up', async (t) => {
    const refused = failure(429, 'rate_limited', { 'Retry-After': '3600' })
    const { requests, time } = await meeting(t, refused, answer({ state: 'done' }))
    await requests.wait(requestId)
    assert.deepEqual(time.waits, [3_600_125])
  })

  it('ends with the reason of its signal', async (t) => {
    const { requests } = await meeting(t, answer())
    const stop = new AbortController()
    const reason = new Error('enough')
    const onProgress = () => stop.abort(reason)
    await assert.rejects(requests.wait(requestId, { signal: stop.signal, onProgress }), reason)
  })
})

describe('changing a request when a response is lost', { concurrency: true }, () => {
  const reason = 'many of them'
  it('succeeds if the retry is rejected because the change was made', async (t) => {
    const extended = answer({ extendedAt: '2026-11-15T12:00:00.000Z', reason })
    const { requests, lines } = await meeting(t, reset, refusal('extendedAt'), extended)
    assert.equal((await requests.extend(requestId, { reason })).reason, reason)
    const post = `POST/requests/${requestId}/extend`
    assert.deepEqual(lines(), [post, post, `GET/requests/${requestId}`])
  })

  it('fails if someone else made another change', async (t) => {
    const other = answer({ extendedAt: '2026-11-15T12:00:00.000Z', reason: 'another one' })
    const { requests } = await meeting(t, reset, refusal('extendedAt'), other)
    await assert.rejects(
      requests.extend(requestId, { reason }),
      (error) => error instanceof ApiError && error.details[0]?.field === 'extendedAt',
    )
    const cancelled = await meeting(t, reset, refusal('state'), answer({ state: 'done' }))
    await assert.rejects(cancelled.requests.cancel(requestId), { code: 'validation_error' })
  })

  it('fails without a further request if the first attempt is rejected', async (t) => {
    const { requests, lines } = await meeting(t, refusal('state'))
    await assert.rejects(requests.close(requestId), { code: 'validation_error' })
    assert.equal(lines().length, 1)
  })
})

describe('an interrupted export of a request', { concurrency: true }, () => {
  const end = Buffer.concat([Buffer.from([0x50, 0x4b, 5, 6]), Buffer.alloc(18)]).toString('latin1')
  const zip = (body: string) =>
    reply(200, body, { length: undefined, headers: { 'Content-Type': 'application/zip' } })

  async function exported(t: TestContext, behaviour: Behaviour): Promise<Buffer> {
    const { requests } = await meeting(t, behaviour)
    return Buffer.concat(await collect(requests.export(requestId)))
  }

  it('is complete with its end record', async (t) => {
    assert.equal((await exported(t, zip(`content${end}`))).toString('latin1'), `content${end}`)
  })

  for (const [what, body] of Object.entries({
    'in the middle': 'content',
    'before its first byte': '',
    'within its end record': `content${end.slice(0, -1)}`,
    'after the signature of its end record': `content${end.slice(0, 4)}`,
  })) {
    it(`is an error if it ends ${what}, even if the connection was closed normally`, async (t) => {
      await assert.rejects(
        exported(t, zip(body)),
        (error) => error instanceof ConnectionError && /incomplete/.test(error.reason),
      )
    })
  }

  it('is an error if the connection is reset', async (t) => {
    const head = zip('').replace('Connection: close', 'Transfer-Encoding: chunked')
    const behaviour: Behaviour = (socket) => {
      socket.write(`${head}7\r\ncontent\r\n`)
      setTimeout(() => socket.resetAndDestroy(), 50)
    }
    await assert.rejects(exported(t, behaviour), ConnectionError)
  })

  it('is retried only before it begins', async (t) => {
    const { requests, lines } = await meeting(t, reset, failure(500, 'internal_error'), zip(`content${end}`))
    await collect(requests.export(requestId))
    assert.equal(lines().length, 3)
    const refused = await meeting(t, failure(404, 'not_found'))
    await assert.rejects(collect(refused.requests.export(requestId)), { code: 'not_found' })
  })
})

describe('erasing many people', { concurrency: true }, () => {
  const people = ['a', 'b', 'c'].map((subjectId) => ({ subjects: [{ trackerId: 'shop', subjectId }] }))

  it('stops at an error that would affect everyone, and at any error before the first request is accepted', async (t) => {
    for (const error of [failure(401, 'unauthorized'), refusal('reference'), refusal('person')]) {
      const { requests, lines } = await meeting(t, error)
      await assert.rejects(collect(requests.eraseMany(people, { reference: 'x' })), ApiError)
      assert.equal(lines().length, 1)
    }
  })

  it('continues after an error that affects one person', async (t) => {
    const done = answer({ state: 'done' })
    for (const field of ['person', 'reference', 'requestId']) {
      const { requests } = await meeting(t, done, refusal(field), done)
      const outcomes = await collect(requests.eraseMany(people, { reference: 'x' }))
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['closed', 'failed', 'closed'],
        field,
      )
    }
  })
})
