import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { inspect } from 'node:util'
import { ApiError, type ExportEntry, LetheClient } from '@lethe/client'
import { clientOf, collect, movedTime, recordingFetch } from '../support/client.ts'
import { anHourAgo, startShop, visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const client = clientOf(shop)
const { keyString: eraser } = await shop.createKey(shop.organisationId)
const erasing = clientOf({ ...shop, key: eraser })
const names = Array.from({ length: 120 }, (_, number) => `v${String(number).padStart(3, '0')}`)
await shop.ingest(
  names.flatMap((subjectId, number) => visit(subjectId, { startedAt: anHourAgo + number * 1_000 })),
)
const busy = 'busy visitor'
const sessions = Array.from({ length: 60 }, (_, number) => `s${number}`)
await shop.ingest(
  sessions.flatMap((sessionId, number) =>
    visit(busy, { sessionId, startedAt: anHourAgo - number * 10_000, events: 3, attributes: { number } }),
  ),
)

describe('listing data subjects', () => {
  it('returns all data subjects across pages', async () => {
    const listed = (await collect(client.listSubjects('shop'))).map(({ subjectId }) => subjectId)
    assert.deepEqual(listed, [busy, ...names])
  })

  it('returns pages of the requested size', async () => {
    const pages = await collect(client.listSubjects('shop', { limit: 40 }).pages())
    assert.deepEqual(
      pages.map(({ subjects }) => subjects.length),
      [40, 40, 40, 1],
    )
    assert.equal(pages.at(-1)?.nextCursor, null)
  })

  it('returns a single page, and the one after a cursor', async () => {
    const first = await client.listSubjects('shop', { limit: 2, subjectIdPrefix: 'v' }).page()
    assert.deepEqual(
      first.subjects.map(({ subjectId }) => subjectId),
      ['v000', 'v001'],
    )
    const query = { limit: 2, subjectIdPrefix: 'v', cursor: first.nextCursor ?? '' }
    const second = await client.listSubjects('shop', query).page()
    assert.deepEqual(
      second.subjects.map(({ subjectId }) => subjectId),
      ['v002', 'v003'],
    )
    const rest = await collect(client.listSubjects('shop', query))
    assert.equal(rest.length, names.length - 2)
  })

  it('supports the sorts and filters of the service', async () => {
    const newest = await client.listSubjects('shop', { sort: '-lastSeenAt', limit: 1 }).page()
    assert.equal(newest.subjects[0]?.subjectId, 'v119')
    const lastSeenAfter = new Date(anHourAgo + 110_000).toISOString()
    const late = await collect(client.listSubjects('shop', { lastSeenAfter }))
    assert.deepEqual(
      late.map(({ subjectId }) => subjectId),
      names.slice(110),
    )
  })

  it('sends a request only when its page is needed', async () => {
    const { fetch, exchanges } = recordingFetch()
    const listing = clientOf(shop, { fetch }).listSubjects('shop', { limit: 10 })
    assert.deepEqual(exchanges, [])
    for await (const { subjectId } of listing) if (subjectId === 'v010') break
    assert.deepEqual(exchanges, ['GET 200', 'GET 200'])
  })

  it('waits for a used-up budget instead of exceeding it', async (t) => {
    const slow = await startShop(t, { scopes: ['analytics:view'], env: { LETHE_LIMIT_KEY: '3/minute' } })
    await slow.ingest(names.slice(0, 20).flatMap((subjectId) => visit(subjectId)))
    const time = movedTime(slow.passTime)
    const { fetch, exchanges } = recordingFetch()
    const slowClient = clientOf(slow, { runtime: time, fetch })
    assert.equal((await collect(slowClient.listSubjects('shop', { limit: 2 }))).length, 20)
    assert.equal(time.waits.length, 3)
    assert.deepEqual(
      exchanges,
      Array.from({ length: 10 }, () => 'GET 200'),
    )
  })
})

describe('a data subject', () => {
  it('is returned with its counts and attributes', async () => {
    const subject = await client.readSubject('shop', busy)
    assert.partialDeepStrictEqual(subject, {
      trackerId: 'shop',
      subjectId: busy,
      counts: { sessions: 60, events: 180 },
      attributes: { number: 0 },
    })
  })

  it('has sessions and events, newest first, optionally of one session', async () => {
    const listed = await collect(client.listSessions('shop', busy))
    assert.deepEqual(
      listed.map(({ sessionId }) => sessionId),
      sessions,
    )
    assert.equal((await collect(client.listEvents('shop', busy))).length, 180)
    const some = await collect(client.listEvents('shop', busy, { sessionId: 's7', limit: 1 }))
    assert.deepEqual(
      some.map(({ eventId }) => eventId),
      ['s7-3', 's7-2', 's7-1'],
    )
  })

  it('is exported completely: the record, all sessions, all events', async () => {
    const entries = await collect(client.exportSubject('shop', busy))
    assert.equal(entries[0]?.type, 'subject')
    const count = (type: ExportEntry['type']) => entries.filter((entry) => entry.type === type).length
    assert.deepEqual([count('subject'), count('session'), count('event')], [1, 60, 180])
    const exported = client.exportSubject('shop', busy)
    const lines = (await collect(exported.ndjson())).join('').split('\n')
    assert.deepEqual(
      lines.slice(0, -1).map((line) => JSON.parse(line)),
      entries,
    )
    const whole = JSON.parse((await collect(exported.json())).join(''))
    const owner = { trackerId: 'shop', subjectId: busy }
    const withType = [
      { type: 'subject', ...whole.subject },
      ...whole.sessions.map((session: object) => ({ type: 'session', ...owner, ...session })),
      ...whole.events.map((event: object) => ({ type: 'event', ...owner, ...event })),
    ]
    assert.deepEqual(withType, entries)
  })

  it('is exported as it was at the start, even if it is erased meanwhile', async () => {
    const leaving = 'z leaving'
    await shop.ingest(sessions.flatMap((sessionId) => visit(leaving, { sessionId })))
    let events = 0
    for await (const { type } of erasing.exportSubject('shop', leaving)) {
      if (type === 'subject') await erasing.eraseSubject('shop', leaving)
      if (type === 'event') events += 1
    }
    assert.equal(events, sessions.length)
    await assert.rejects(collect(erasing.exportSubject('shop', leaving)), { code: 'not_found' })
  })
})

describe('a person', () => {
  it('is found by an identifier or an ID, with a list of results', async () => {
    const known = visit('known', { events: 2 }).map((row) => ({ ...row, identifiers: { userId: 'u-7' } }))
    await shop.ingest(known)
    const sought = { identifier: { name: 'userId', value: 'u-7' } }
    const found = await collect(client.searchSubjects(sought))
    assert.deepEqual(
      found.map(({ trackerId, subjectId }) => [trackerId, subjectId]),
      [['shop', 'known']],
    )
    assert.deepEqual(await collect(client.searchSubjects({ subjectId: 'known' }, { limit: 1 })), found)
    assert.deepEqual(await collect(client.searchSubjects({ subjectId: 'no one' })), [])
    const { identifiers } = await client.readSubject('shop', 'known')
    assert.deepEqual(identifiers, [sought.identifier])
  })

  it('is exported completely, one data subject after another', async () => {
    await shop.createTracker(shop.organisationId, 'blog')
    const known = (subjectId: string, trackerId: string) =>
      visit(subjectId, { trackerId }).map((row) => ({ ...row, identifiers: { userId: 'u-8' } }))
    await shop.ingest([...known('anna', 'shop'), ...known('anna', 'blog'), ...visit('ben')])
    const sought = { identifier: { name: 'userId', value: 'u-8' } }
    const exported: string[] = []
    for await (const { found, export: whole } of client.exportPerson(sought)) {
      const entries = await collect(whole)
      exported.push(`${found.trackerId} ${entries.length}`)
    }
    assert.deepEqual(exported.sort(), ['blog 3', 'shop 3'])
  })
})

describe('IDs', () => {
  const odd = ['a/b//c', 'a.b..c.', '...', '../../etc', ' a  b ', 'a+b', 'visitor-\u{1f600}', 'a%2Fb', '100%']
  const odder = [
    '?a=b&c#d;e',
    '<script>',
    "'; DROP TABLE subjects; --",
    'é',
    '\u{1f600}'.repeat(256),
    '__proto__',
  ]
  for (const id of [...odd, ...odder]) {
    it(`reach the service unchanged: ${id.slice(0, 20)}`, async () => {
      await shop.ingest(visit(id))
      assert.equal((await client.readSubject('shop', id)).subjectId, id)
      const [found] = await collect(client.listSubjects('shop', { subjectIdPrefix: id }))
      assert.equal(found?.subjectId, id)
      assert.equal((await collect(client.listEvents('shop', id))).length, 1)
    })
  }

  for (const id of ['', '.', '..', 'a\nb', '\u0000', 'x'.repeat(257), '\ud800']) {
    it(`that are invalid or ambiguous are rejected before a request: ${JSON.stringify(id).slice(0, 20)}`, async () => {
      const silent = clientOf(shop, { fetch: () => assert.fail('something was sent') })
      const refusal = { name: 'TypeError', message: /^(tracker|subject)Id must be 1 to 256 characters/ }
      await assert.rejects(silent.readSubject('shop', id), refusal)
      await assert.rejects(silent.eraseSubject('shop', id), refusal)
      assert.throws(() => silent.listSubjects(id), refusal)
      assert.throws(() => silent.listSessions('shop', id), refusal)
    })
  }
})

describe('errors of the service', () => {
  async function errorOf(work: Promise<unknown>): Promise<ApiError> {
    const error = await work.then(
      () => assert.fail('it succeeded'),
      (error: unknown) => error,
    )
    assert.ok(error instanceof ApiError, String(error))
    return error
  }

  it('have their code, status, message and request ID', async () => {
    const unknown = await errorOf(client.readSubject('shop', 'nobody'))
    assert.deepEqual([unknown.code, unknown.status, unknown.details], ['not_found', 404, []])
    assert.match(unknown.message, /does not exist/)
    assert.match(unknown.requestId ?? '', /^[0-9a-f-]{36}$/)
    const forbidden = await errorOf(client.eraseSubject('shop', 'v000'))
    assert.deepEqual([forbidden.code, forbidden.status], ['forbidden', 403])
    assert.match(forbidden.message, /analytics:delete-data/)
    const stranger = new LetheClient({ url: shop.url, apiKey: 'lethe_wrong' })
    assert.equal((await errorOf(stranger.readSubject('shop', 'v000'))).code, 'unauthorized')
  })

  it('have a detail for each invalid field', async () => {
    const wrong = await errorOf(client.listSubjects('shop', { limit: 201, cursor: 'made up' }).page())
    assert.deepEqual([wrong.code, wrong.status], ['validation_error', 422])
    assert.deepEqual(
      wrong.details.map(({ field }) => field),
      ['limit', 'cursor'],
    )
  })

  it('are not retried if they would recur', async () => {
    const { fetch, exchanges } = recordingFetch()
    await errorOf(clientOf(shop, { fetch }).readSubject('shop', 'nobody'))
    assert.deepEqual(exchanges, ['GET 404'])
  })

  it('never contain the key, and neither does an inspected client', async () => {
    const error = await errorOf(client.readSubject('shop', 'nobody'))
    for (const shown of [
      inspect(error, { showHidden: true, depth: 9 }),
      inspect(client, { showHidden: true }),
    ]) {
      assert.equal(shown.includes(shop.key), false)
    }
  })
})

describe('a request ID', () => {
  it('is sent to the service, and returned with errors', async () => {
    await client.readSubject('shop', busy, { requestId: 'nightly 42' })
    await until(() => shop.logged.some((line) => line.includes('"requestId":"nightly 42"')))
    const wanted = { requestId: 'nightly-43' }
    await assert.rejects(client.readSubject('shop', 'nobody', wanted), wanted)
  })

  it('is rejected before a request if the service would reject it', async () => {
    const silent = clientOf(shop, { fetch: () => assert.fail('something was sent') })
    for (const requestId of ['', ' a', 'é', 'a\nb', 'x'.repeat(201)]) {
      await assert.rejects(silent.readSubject('shop', busy, { requestId }), /requestId must be/)
    }
  })
})

describe('the address of the service', () => {
  it('may have a path and trailing slashes', async () => {
    assert.equal(
      (await clientOf({ ...shop, url: `${shop.url}//` }).readSubject('shop', busy)).subjectId,
      busy,
    )
    const seen: string[] = []
    const behindProxy = clientOf(
      { ...shop, url: 'https://proxy.example/lethe/' },
      {
        fetch: async (input) => {
          seen.push(String(input))
          throw new Error('enough')
        },
        retry: { maxAttempts: 1 },
      },
    )
    await assert.rejects(behindProxy.readSubject('shop', 'a/b'))
    assert.deepEqual(seen, ['https://proxy.example/lethe/v1/analytics/trackers/shop/subjects/a%2Fb'])
  })

  for (const url of [
    '',
    'lethe.example',
    'ftp://lethe.example',
    'http://a:b@lethe.example',
    'http://x/?a=b',
  ]) {
    it(`is rejected if it is invalid: ${JSON.stringify(url)}`, () => {
      assert.throws(() => new LetheClient({ url, apiKey: shop.key }), /url must be/)
    })
  }

  it('requires a key that can be sent in a header', () => {
    for (const apiKey of ['', 'two words', 'lethe_\n']) {
      assert.throws(() => new LetheClient({ url: shop.url, apiKey }), /apiKey must be/)
    }
  })
})
