import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ApiError, type BatchOutcome, type BatchProgress, LetheClient } from '@lethe/client'
import { clientOf, movedTime, recordingFetch } from '../support/client.ts'
import { failure, reply, reset, scriptedServer, success } from '../support/scripted-server.ts'
import { startShop, visit } from '../support/shop.ts'

const minute = 60_000

/** The budgets as they are without any configuration. */
const defaults = {
  LETHE_LIMIT_IP: '60/minute',
  LETHE_LIMIT_KEY: '120/minute',
  LETHE_LIMIT_ERASURE: '60/hour',
}

/** A shop with visitors, and a client of it for which, as for the shop, waiting takes no time. */
async function withVisitors(t: TestContext, count: number, env: Record<string, string> = defaults) {
  const shop = await startShop(t, { scopes: ['analytics:delete-data'], env })
  const ids = Array.from({ length: count }, (_, number) => `visitor ${number}`)
  await shop.ingest(ids.flatMap((subjectId) => visit(subjectId, { events: 2 })))
  const time = movedTime(shop.passTime)
  const recorded = recordingFetch()
  const client = clientOf(shop, { runtime: time, fetch: recorded.fetch })
  return { ...shop, ids, time, client, ...recorded }
}

async function collect(outcomes: AsyncIterable<BatchOutcome>): Promise<BatchOutcome[]> {
  const all: BatchOutcome[] = []
  for await (const outcome of outcomes) all.push(outcome)
  return all
}

function allErased(count: number): string[] {
  return Array.from({ length: count }, () => 'DELETE 200')
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** An answer to an erasure, with whatever headers. */
function erasure(subjectId: string, headers: Record<string, string> = {}): string {
  const rest = {
    alreadyErased: false,
    counts: { sessions: 1, events: 2 },
    erasedAt: '2026-11-15T12:00:00.000Z',
    receipt: 'r',
  }
  return reply(200, success({ trackerId: 'shop', subjectId, ...rest }), { headers })
}

describe('a batch of erasures', { concurrency: true }, () => {
  it('erases as many as the default budgets allow without a pause, waits out the hour, and meets no refusal', async (t) => {
    const { client, ids, exchanges, time } = await withVisitors(t, 62)
    const outcomes = await collect(client.eraseSubjects('shop', ids))
    assert.deepEqual(exchanges, allErased(62))
    assert.deepEqual(
      outcomes.map(({ subjectId, status }) => [subjectId, status]),
      ids.map((id) => [id, 'erased']),
    )
    for (const outcome of outcomes) {
      assert.ok(outcome.status === 'erased')
      assert.deepEqual(outcome.erasure.counts, { sessions: 1, events: 2 })
    }
    assert.deepEqual(
      time.waits.map((ms) => Math.round(ms / minute)),
      [60],
    )
  })

  for (const [what, env] of Object.entries({
    'of the address': { LETHE_LIMIT_IP: '2/minute' },
    'of the key': { LETHE_LIMIT_KEY: '3/minute' },
    'for erasures': { LETHE_LIMIT_ERASURE: '3/minute' },
    'of one a second': { LETHE_LIMIT_ERASURE: '1/second' },
  })) {
    it(`meets no refusal where the budget ${what} is the tightest`, async (t) => {
      const { client, ids, exchanges } = await withVisitors(t, 7, env)
      await collect(client.eraseSubjects('shop', ids))
      assert.deepEqual(exchanges, allErased(7))
    })
  }

  it('meets no refusal while the budget of the address hides that for erasures', async (t) => {
    const { client, ids, exchanges, time, ask, key } = await withVisitors(t, 14, {
      LETHE_LIMIT_IP: '12/minute',
      LETHE_LIMIT_ERASURE: '12/hour',
    })
    for (let i = 0; i < 4; i++) await ask('/v1/analytics/trackers/shop/subjects', { key })
    await collect(client.eraseSubjects('shop', ids))
    assert.deepEqual(exchanges, allErased(14))
    const [last = 0, ...others] = time.waits.toReversed()
    assert.ok(last > 45 * minute && last < 60 * minute, 'for erasures')
    assert.ok(
      sum(others) < 2 * minute,
      'for the address, unless all that went before took longer than its window',
    )
  })

  it('makes do with what others have left of the budget', async (t) => {
    const { client, ids, exchanges, time, ask, key } = await withVisitors(t, 4, {
      LETHE_LIMIT_ERASURE: '6/hour',
    })
    for (let i = 0; i < 4; i++) {
      await ask(`/v1/analytics/trackers/shop/subjects/other`, { method: 'DELETE', key })
    }
    await collect(client.eraseSubjects('shop', ids))
    assert.deepEqual(exchanges, allErased(4))
    assert.ok(sum(time.waits) > 45 * minute, 'the second is the last of its hour')
  })

  it('waits and goes on when another client takes the last erasure of the hour', async (t) => {
    const { client, ids, exchanges, ask, key } = await withVisitors(t, 4, { LETHE_LIMIT_ERASURE: '2/hour' })
    const outcomes = client.eraseSubjects('shop', ids)
    await outcomes.next()
    await ask(`/v1/analytics/trackers/shop/subjects/other`, { method: 'DELETE', key })
    assert.equal((await collect(outcomes)).length, 3)
    assert.deepEqual(exchanges, ['DELETE 200', 'DELETE 429', ...allErased(3)])
  })

  it('counts what was sent as spent when its answer is lost, and says that the counts are not known', async (t) => {
    // Two are left of this hour: the lost one is its last.
    const shop = await withVisitors(t, 4, { LETHE_LIMIT_ERASURE: '2/hour' })
    let sent = 0
    const client = clientOf(shop, {
      runtime: shop.time,
      fetch: async (...request) => {
        const response = await shop.fetch(...request)
        sent += 1
        if (sent === 2) throw new TypeError('broken off')
        return response
      },
    })
    const outcomes = await collect(client.eraseSubjects('shop', shop.ids))
    assert.deepEqual(shop.exchanges, allErased(5))
    const reports = outcomes.map((outcome) => outcome.status === 'erased' && outcome.erasure.countsKnown)
    assert.deepEqual(reports, [true, false, true, true])
  })

  it('goes by the documented budget while the headers are absent', async (t) => {
    const { url } = await scriptedServer(t, erasure('a'))
    const time = movedTime()
    const client = new LetheClient({ url, apiKey: 'x', runtime: time })
    await collect(client.eraseSubjects('shop', ['a', 'b', 'c']))
    assert.deepEqual(
      time.waits.map((ms) => Math.round(ms / 1_000)),
      [60, 60],
    )
    await collect(client.eraseSubjects('shop', ['a', 'b'], { erasuresPerHour: 3_600 }))
    assert.equal(Math.round((time.waits[2] ?? 0) / 100), 10)
  })

  it('goes no faster than the budget that it has seen once the headers went away', async (t) => {
    const slow = {
      'RateLimit-Policy': '"ip";q=60;w=60, "erasure";q=6;w=3600',
      RateLimit: '"ip";r=59;t=60, "erasure";r=5;t=3600',
    }
    const { url } = await scriptedServer(t, erasure('a', slow), erasure('b'))
    const time = movedTime()
    await collect(new LetheClient({ url, apiKey: 'x', runtime: time }).eraseSubjects('shop', ['a', 'b', 'c']))
    assert.deepEqual(
      time.waits.map((ms) => Math.round(ms / minute)),
      [10],
    )
  })

  it('waits for every budget that is used up, whichever that is, and for no other', async (t) => {
    const named = (key: string, erasures: string) => ({
      'RateLimit-Policy': '"key";q=120;w=60, "erasure";q=60;w=3600',
      RateLimit: `"key";${key}, "erasure";${erasures}`,
    })
    const { url } = await scriptedServer(
      ...([
        t,
        erasure('a', named('r=7;t=20', 'r=3;t=3000')),
        erasure('b', named('r=0;t=20', 'r=2;t=2980')),
      ] as const),
      ...[erasure('c', named('r=0;t=60', 'r=0;t=1800')), erasure('d', named('r=119;t=60', 'r=59;t=3600'))],
    )
    const time = movedTime()
    const client = new LetheClient({ url, apiKey: 'x', runtime: time })
    await collect(client.eraseSubjects('shop', ['a', 'b', 'c', 'd', 'e']))
    assert.deepEqual(
      time.waits.map((ms) => Math.round(ms / 1_000)),
      [20, 1_800],
    )
  })

  it('reports one that fails, and goes on with the others', async (t) => {
    const broken = failure(500, 'internal_error')
    const { url, requests } = await scriptedServer(
      ...([t, erasure('a'), broken, broken, broken, broken, broken, erasure('c')] as const),
    )
    const client = new LetheClient({ url, apiKey: 'x', runtime: movedTime() })
    const progress: BatchProgress[] = []
    const onProgress = (state: BatchProgress) => progress.push(state)
    const outcomes = await collect(client.eraseSubjects('shop', ['a', 'b', 'c'], { onProgress }))
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['erased', 'failed', 'erased'],
    )
    const [, failed] = outcomes
    assert.ok(failed?.status === 'failed' && failed.error instanceof ApiError)
    assert.equal(failed.error.code, 'internal_error')
    assert.equal(requests.length, 7)
    assert.partialDeepStrictEqual(progress.at(-1), { total: 3, done: 2, erased: 2, failed: 1, leftMs: 0 })
  })

  for (const code of ['unauthorized', 'forbidden', 'not_found']) {
    it(`stops at ${code}, which every other one would meet too`, async (t) => {
      const status = { unauthorized: 401, forbidden: 403, not_found: 404 }[code] ?? 0
      const { url, requests } = await scriptedServer(t, erasure('a'), failure(status, code))
      const client = new LetheClient({ url, apiKey: 'x', runtime: movedTime() })
      await assert.rejects(collect(client.eraseSubjects('shop', ['a', 'b', 'c'])), { code })
      assert.equal(requests.length, 2)
    })
  }

  it('stops when no answer ever came', async (t) => {
    const { url, requests } = await scriptedServer(t, reset)
    const client = new LetheClient({ url, apiKey: 'x', runtime: movedTime() })
    await assert.rejects(collect(client.eraseSubjects('shop', ['a', 'b'])), { name: 'ConnectionError' })
    assert.equal(requests.length, 5)
  })

  it('takes each id once, and refuses a list with one that cannot be, before anything is sent', async (t) => {
    const { client, ids, exchanges } = await withVisitors(t, 3)
    assert.equal((await collect(client.eraseSubjects('shop', [...ids, ...ids]))).length, 3)
    assert.equal(exchanges.length, 3)
    assert.throws(() => client.eraseSubjects('shop', ['a', '..']), /position 1 of the list/)
    assert.throws(() => client.eraseSubjects('..', ['a']), /trackerId/)
    assert.deepEqual(await collect(client.eraseSubjects('shop', [])), [])
    assert.equal(exchanges.length, 3)
  })

  it('ends with the reason of its signal, also while it waits', async (t) => {
    const { url, requests } = await scriptedServer(t, erasure('a'))
    const stop = new AbortController()
    const outcomes = new LetheClient({ url, apiKey: 'x' }).eraseSubjects('shop', ['a', 'b'], {
      signal: stop.signal,
    })
    await outcomes.next()
    setTimeout(() => stop.abort(new Error('enough')), 20)
    await assert.rejects(outcomes.next(), { message: 'enough' })
    assert.equal(requests.length, 1)
  })
})

describe('the progress of a batch', { concurrency: true }, () => {
  it('tells the time it will take before the first request, by the documented budget', async (t) => {
    const { url, requests } = await scriptedServer(t, reset)
    const client = new LetheClient({ url, apiKey: 'x' })
    const many = Array.from({ length: 400 }, (_, number) => `visitor ${number}`)
    const plan = await client.planErasures('shop', many)
    assert.deepEqual(plan, {
      ...{ total: 400, done: 0, erased: 0, alreadyErased: 0, unknown: 0, resumed: 0, failed: 0 },
      counts: { sessions: 0, events: 0 },
      leftMs: 6 * 60 * minute,
    })
    assert.deepEqual(requests, [])
  })

  it('tells the time it will take by the budget there is, and comes true', async (t) => {
    const { client, ids, time } = await withVisitors(t, 12, { LETHE_LIMIT_ERASURE: '5/hour' })
    const told: number[] = []
    const elapsed: number[] = []
    const onProgress = ({ leftMs }: BatchProgress) => {
      told.push(leftMs)
      elapsed.push(sum(time.waits))
    }
    await collect(client.eraseSubjects('shop', [...ids, 'nobody'], { onProgress }))
    assert.equal(told.length, 14)
    assert.equal(told.at(-1), 0)
    for (const [i, leftMs] of told.entries()) {
      const actualMs = sum(time.waits) - (elapsed[i] ?? 0)
      if (i > 0) assert.ok(Math.abs(leftMs - actualMs) < 2 * minute, `${i}: ${leftMs}, in fact ${actualMs}`)
    }
  })

  it('adds up what was deleted, and counts those that held nothing apart', async (t) => {
    const { client, ids } = await withVisitors(t, 3)
    let last: BatchProgress | undefined
    const onProgress = (state: BatchProgress) => {
      last = state
    }
    await collect(client.eraseSubjects('shop', ['nobody', ...ids], { onProgress }))
    assert.partialDeepStrictEqual(last, {
      ...{ total: 4, done: 4, erased: 3, alreadyErased: 1, unknown: 0, failed: 0 },
      counts: { sessions: 3, events: 6 },
    })
  })
})
