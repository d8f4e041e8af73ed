import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { type EraseManyProgress, type LetheClientOptions, verifyReceipt } from '@lethe/client'
import { clientOf, collect, movedTime, recordingFetch } from '../support/client.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'
import { fileIn, readZip } from '../support/zip.ts'

const scopes = ['analytics:view', 'analytics:delete-data', 'analytics:manage-requests'] as const
const shop = await startShop({ after }, { scopes })
await shop.createTracker(shop.organisationId, 'blog')
const { requests } = clientOf(shop)

let people = 0

/** A person with two data subjects on two trackers, different in each test. */
async function withPerson() {
  const email = `person-${++people}@example.com`
  const ids = ['shop', 'blog'].map((trackerId) => ({ trackerId, subjectId: `visitor-${people}` }))
  await shop.ingest(
    ids.flatMap(({ trackerId, subjectId }) =>
      visit(subjectId, { trackerId, events: 2, identifiers: { email } }),
    ),
  )
  return { email, ids, person: { identifiers: [{ name: 'email', value: email }] } }
}

describe('a request', { concurrency: true }, () => {
  it('is created with what it finds, and only once if it is sent again', async () => {
    const { person } = await withPerson()
    const created = await requests.create({ kind: 'access', person, reference: 'ticket 1' })
    assert.partialDeepStrictEqual(created, {
      ...{ kind: 'access', state: 'open', reference: 'ticket 1', extendedAt: null },
      ...{ found: { subjects: 2, sessions: 2, events: 4 }, erased: { subjects: 0 } },
    })
    const { requestId } = created
    const same = { kind: 'access', person, reference: 'ticket 1', requestId } as const
    assert.deepEqual(await requests.create(same), created)
    assert.notEqual((await requests.create({ kind: 'access', person })).requestId, requestId)
    await assert.rejects(requests.create({ ...same, reference: 'ticket 2' }), { code: 'validation_error' })
  })

  it('is created once even if the response is lost', async () => {
    const { person } = await withPerson()
    let sent = 0
    const fetchLosing: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      sent += 1
      if (sent === 1) throw new TypeError('broken off')
      return response
    }
    const reference = `lost ${people}`
    const losing = clientOf(shop, { fetch: fetchLosing })
    const { requestId } = await losing.requests.create({ kind: 'access', person, reference })
    assert.equal(sent, 2)
    const all = await collect(requests.list())
    assert.deepEqual(
      all.filter((each) => each.reference === reference).map((each) => each.requestId),
      [requestId],
    )
  })

  it('is due a month after it was received, given as a date or text, and two months later if extended', async () => {
    const { person } = await withPerson()
    const receivedAt = new Date(Date.now() - 5 * 86_400_000)
    const { requestId, dueAt } = await requests.create({ kind: 'access', person, receivedAt })
    const text = receivedAt.toISOString()
    const same = await requests.create({ kind: 'access', person, receivedAt: text, requestId })
    assert.equal(same.receivedAt, text)
    const extended = await requests.extend(requestId, { reason: 'many requests' })
    assert.ok(extended.dueAt > dueAt)
    assert.equal(extended.reason, 'many requests')
    await assert.rejects(requests.extend(requestId, { reason: 'again' }), { code: 'validation_error' })
  })

  it('is listed by state, kind and due date across pages', async (t) => {
    const own = await startShop(t, { scopes })
    const client = clientOf(own)
    const person = { identifiers: [{ name: 'email', value: 'ada@example.com' }] }
    const ids: string[] = []
    for (const days of [3, 2, 1]) {
      const receivedAt = new Date(Date.now() - days * 86_400_000)
      ids.push((await client.requests.create({ kind: 'access', person, receivedAt })).requestId)
    }
    await client.requests.cancel(ids[1] ?? '')
    const listed = async (query: Parameters<typeof requests.list>[0]) =>
      (await collect(client.requests.list(query))).map(({ requestId }) => ids.indexOf(requestId))
    assert.deepEqual(await listed({ limit: 1 }), [0, 1, 2])
    assert.deepEqual(await listed({ state: 'open' }), [0, 2])
    assert.deepEqual(await listed({ kind: 'erasure' }), [])
    const { dueAt } = await client.requests.get(ids[2] ?? '')
    assert.deepEqual(await listed({ dueBefore: dueAt }), [0, 1])
  })

  for (const [end, act] of Object.entries({
    rejected: (id: string) => requests.reject(id, { reason: 'not who they say' }),
    cancelled: (id: string) => requests.cancel(id),
    done: (id: string) => requests.close(id),
  })) {
    it(`that is ${end} has no person any more, and ends a wait`, async () => {
      const { person } = await withPerson()
      const { requestId } = await requests.create({ kind: 'access', person })
      const waiting = requests.wait(requestId)
      const { state, person: forgotten, closedAt } = await act(requestId)
      assert.deepEqual([state, forgotten], [end, null])
      assert.ok(closedAt)
      assert.equal((await waiting).state, end)
    })
  }

  it('of another organisation is not found by any method', async () => {
    const { person } = await withPerson()
    const { requestId: id } = await requests.create({ kind: 'erasure', person })
    const organisationId = await shop.createOrganisation()
    const { keyString: key } = await shop.createKey(organisationId, scopes)
    const other = clientOf({ ...shop, key }).requests
    const reason = 'x'
    const calls = [
      ...[other.get(id), other.extend(id, { reason }), other.reject(id, { reason }), other.cancel(id)],
      ...[other.close(id), other.erase(id), other.wait(id), other.certificate(id)],
      collect(other.export(id)),
    ]
    for (const call of await Promise.allSettled(calls))
      assert.equal(call.status === 'rejected' && call.reason.code, 'not_found')
    assert.deepEqual(await collect(other.list()), [])
    assert.equal((await requests.get(id)).state, 'open')
  })

  it('needs an ID that can be part of a URL', async () => {
    for (const id of ['', '.', '..']) await assert.rejects(requests.get(id), TypeError)
    await assert.rejects(requests.get('x'), { name: 'ApiError' })
  })
})

describe('an access request', { concurrency: true }, () => {
  it('returns a ZIP file with everything', async () => {
    const { person, email } = await withPerson()
    const { requestId } = await requests.create({ kind: 'access', person })
    const bytes = Buffer.concat(await collect(requests.export(requestId)))
    const files = readZip(bytes)
    assert.ok(fileIn(files, 'index.html').includes(email))
  })

  it('aborts its export with the reason of a signal', async () => {
    const { person } = await withPerson()
    const { requestId } = await requests.create({ kind: 'access', person })
    const reason = new Error('enough')
    const stop = new AbortController()
    stop.abort(reason)
    await assert.rejects(collect(requests.export(requestId, { signal: stop.signal })), reason)
  })
})

describe('an erasure request', { concurrency: true }, () => {
  it('is carried out by the service, and certified', async () => {
    const { person, ids } = await withPerson()
    const { requestId } = await requests.create({ kind: 'erasure', person })
    await requests.erase(requestId)
    const done = await requests.wait(requestId)
    assert.partialDeepStrictEqual(done, {
      ...{ state: 'done', person: null, left: 0 },
      erased: { subjects: 2, sessions: 2, events: 4 },
    })
    assert.deepEqual(await requests.erase(requestId).catch(({ code }) => code), 'validation_error')
    const { entries, nothingHeld, complete } = await requests.certificate(requestId)
    assert.deepEqual([entries.length, nothingHeld, complete], [2, [], true])
    const { verifierKeys } = await clientOf(shop).readLedger()
    for (const { trackerId, receipt, counts } of entries) {
      const subjectId = ids[0]?.subjectId ?? ''
      const { record } = await verifyReceipt(receipt, { verifierKeys, trackerId, subjectId })
      assert.deepEqual(record.counts, counts)
    }
  })

  it('of a person without data ends with a no-data certificate', async () => {
    const identifier = { name: 'email', value: 'nobody@example.com' }
    const { requestId } = await requests.create({ kind: 'erasure', person: { identifiers: [identifier] } })
    await requests.erase(requestId)
    assert.equal((await requests.wait(requestId)).erased.subjects, 0)
    const { entries, nothingHeld } = await requests.certificate(requestId)
    assert.deepEqual(entries, [])
    const { verifierKeys } = await clientOf(shop).readLedger()
    const [{ receipt } = { receipt: '' }] = nothingHeld
    assert.ok((await verifyReceipt(receipt, { verifierKeys, identifier })).isSubjectProven)
  })
})

describe('erasing many people', { concurrency: true }, () => {
  /** A shop with visitors, and a client that records its requests. */
  async function withVisitors(
    t: TestContext,
    count: number,
    env: Record<string, string> = {},
    options: Partial<LetheClientOptions> = {},
  ) {
    const own = await startShop(t, { scopes, env })
    const ids = Array.from({ length: count }, (_, number) => `visitor ${number}`)
    await own.ingest(ids.flatMap((subjectId) => visit(subjectId, { events: 2 })))
    const list = ids.map((subjectId) => ({ subjects: [{ trackerId: 'shop', subjectId }] }))
    const recorded = recordingFetch()
    const client = clientOf(own, { fetch: recorded.fetch, ...options })
    const held = async () => (await collect(client.listSubjects('shop'))).length
    return { ...own, ...recorded, client, list, held }
  }

  it('creates a request for each, with a common reference, and reports progress', async (t) => {
    const { client, list, held } = await withVisitors(t, 5)
    const progress: EraseManyProgress[] = []
    const outcomes = await collect(
      client.requests.eraseMany(list, { reference: 'x', onProgress: (state) => progress.push(state) }),
    )
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === 'closed' && outcome.request.state),
      Array.from({ length: 5 }, () => 'done'),
    )
    assert.deepEqual(outcomes.map(({ person }) => person).sort(), list)
    assert.partialDeepStrictEqual(progress[0], { total: 5, started: 0, done: 0 })
    assert.deepEqual(progress.at(-1), {
      ...{ total: 5, started: 5, done: 5, doneBefore: 0, stopped: 0, failed: 0, resumesAt: null },
      erased: { subjects: 5, sessions: 5, events: 10 },
    })
    assert.equal(await held(), 0)
    const all = await collect(client.requests.list())
    assert.deepEqual(
      all.map(({ reference, kind, state }) => [reference, kind, state]),
      Array.from({ length: 5 }, () => ['x', 'erasure', 'done']),
    )
  })

  it('creates no request twice if it is repeated, in another order and with more people', async (t) => {
    const { client, list } = await withVisitors(t, 4)
    await collect(client.requests.eraseMany(list.slice(0, 3), { reference: 'x' }))
    let last: EraseManyProgress | null = null
    const onProgress = (state: EraseManyProgress) => {
      last = state
    }
    const again = [...list, ...list].reverse()
    await collect(client.requests.eraseMany(again, { reference: 'x', onProgress }))
    assert.partialDeepStrictEqual(last, { total: 4, done: 4, doneBefore: 3, erased: { subjects: 4 } })
    assert.equal((await collect(client.requests.list())).length, 4)
    await collect(client.requests.eraseMany(list, { reference: 'y' }))
    assert.equal((await collect(client.requests.list())).length, 8)
  })

  it('continues after an interruption', async (t) => {
    const { client, list, held } = await withVisitors(t, 6)
    let seen = 0
    for await (const _ of client.requests.eraseMany(list, { reference: 'x' })) if (++seen === 2) break
    const outcomes = await collect(client.requests.eraseMany(list, { reference: 'x' }))
    assert.equal(outcomes.length, 6)
    assert.equal((await collect(client.requests.list())).length, 6)
    assert.equal(await held(), 0)
  })

  it('creates no request twice if two run concurrently and responses are lost', async (t) => {
    const random = seededRandom()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    const fetchLosing: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      if (random.integer(4) === 0) throw new TypeError('broken off')
      return response
    }
    const { list, held, ...own } = await withVisitors(t, 8)
    const retry = { maxAttempts: 50, firstPauseMs: 1 }
    const run = async () => {
      const { requests } = clientOf(own, { fetch: fetchLosing, retry })
      return collect(requests.eraseMany(list, { reference: 'x' }))
    }
    const runs = await Promise.all([run(), run()])
    for (const outcomes of runs) assert.ok(outcomes.every(({ status }) => status === 'closed'))
    assert.equal((await collect(own.client.requests.list({ state: 'done' }))).length, 8)
    assert.equal(await held(), 0)
  })

  it('continues while the service waits for the budget', async (t) => {
    const { client, list, held } = await withVisitors(t, 7, { LETHE_LIMIT_ERASURE: '3/second' })
    await collect(client.requests.eraseMany(list, { reference: 'x' }))
    assert.equal(await held(), 0)
    assert.equal((await collect(client.requests.list({ state: 'done' }))).length, 7)
  })

  it('waits for budgets instead of exceeding them', async (t) => {
    const { client, list, exchanges } = await withVisitors(t, 6, { LETHE_LIMIT_KEY: '3/second' })
    await collect(client.requests.eraseMany(list, { reference: 'x' }))
    assert.deepEqual([...new Set(exchanges)].sort(), ['POST 200'])
  })

  it('only starts the requests if told not to wait', async (t) => {
    const { client, list } = await withVisitors(t, 3, { LETHE_LIMIT_ERASURE: '1/hour' })
    const outcomes = await collect(client.requests.eraseMany(list, { reference: 'x', isAwaited: false }))
    const [first, ...others] = outcomes.map(({ status }) => status)
    // The first response has the closed request, unless closing it takes more than two seconds.
    assert.ok(first === 'closed' || first === 'started')
    assert.deepEqual(others, ['started', 'started'])
  })

  it('counts a request that is cancelled meanwhile as stopped, and ends', async (t) => {
    const runtime = movedTime()
    const { client, list } = await withVisitors(t, 2, { LETHE_LIMIT_ERASURE: '1/hour' }, { runtime })
    const progress: EraseManyProgress[] = []
    let cancelling: Promise<unknown> | null = null
    const onProgress = (state: EraseManyProgress) => {
      progress.push(state)
      if (state.started === 2) cancelling ??= cancelAll()
    }
    const cancelAll = async () => {
      await until(async () => (await collect(client.requests.list({ state: 'done' }))).length === 1)
      for await (const { requestId } of client.requests.list({ state: 'running' }))
        await client.requests.cancel(requestId)
    }
    await collect(client.requests.eraseMany(list, { reference: 'x', onProgress }))
    await cancelling
    assert.partialDeepStrictEqual(progress.at(-1), { done: 1, stopped: 1, erased: { subjects: 1 } })
  })

  it('has IDs that do not reveal the people without the key', async (t) => {
    const { client, list, url, createKey, organisationId } = await withVisitors(t, 1)
    const { keyString } = await createKey(organisationId, scopes)
    const other = clientOf({ url, key: keyString })
    for (const each of [client, other]) await collect(each.requests.eraseMany(list, { reference: 'x' }))
    const ids = (await collect(client.requests.list())).map(({ requestId }) => requestId)
    assert.equal(new Set(ids).size, 2)
    for (const id of ids)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('reports a person whom the reference names, and continues', async (t) => {
    const { client, list } = await withVisitors(t, 3)
    const reference = 'What visitor 1 asked for'
    const outcomes = await collect(client.requests.eraseMany(list, { reference }))
    const failed = outcomes.filter((outcome) => outcome.status === 'failed')
    assert.deepEqual(
      failed.map(({ person, error }) => [person, error.details[0]?.field]),
      [[list[1], 'reference']],
    )
    const left = await collect(client.listSubjects('shop'))
    assert.deepEqual(
      left.map(({ subjectId }) => subjectId),
      ['visitor 1'],
    )
  })

  it('reports people whom the service rejects, and continues', async (t) => {
    const { client, list, held } = await withVisitors(t, 2)
    const wrong = { identifiers: [{ name: 'Not A Name', value: 'x' }] }
    const [first, ...others] = list
    assert.ok(first)
    const outcomes = await collect(client.requests.eraseMany([first, wrong, ...others], { reference: 'x' }))
    const failed = outcomes.filter((outcome) => outcome.status === 'failed')
    assert.deepEqual(
      failed.map(({ person, error }) => [person, error.code]),
      [[wrong, 'validation_error']],
    )
    assert.equal(await held(), 0)
  })
})
