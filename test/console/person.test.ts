import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { dataOf, isObject, listIn, pagesOf, problemFields, textIn } from '../support/answers.ts'
import { type ConsoleClient, openConsole } from '../support/console.ts'
import { anHourAgo, type Shop, startShop, subjectPath, visit } from '../support/shop.ts'
import { hideByPlan } from '../support/windows.ts'

interface Asked {
  identifiers?: { name: string; value: string }[]
  subjects?: { trackerId: string; subjectId: string }[]
}

const scopes = ['analytics:view'] as const
const dayMs = 86_400_000

async function open(): Promise<{ shop: Shop; client: ConsoleClient; blog: string }> {
  const shop = await startShop({ after }, { scopes })
  const blog = `${shop.organisationId}-blog`
  await shop.createTracker(shop.organisationId, blog)
  return { shop, blog, client: await openConsole(shop, shop.organisationId) }
}

const { shop, client, blog } = await open()
const stranger = await openConsole(shop, await shop.createOrganisation())
const ada = { email: 'Ada@Example.com' }
await shop.ingest([
  ...visit('laptop', { events: 40, identifiers: { ...ada, userId: '42' } }),
  ...visit('laptop', { sessionId: 's2', startedAt: anHourAgo - dayMs, events: 40 }),
  // The same times and event IDs as on the laptop.
  ...visit('reader', { trackerId: blog, events: 30, identifiers: ada }),
  ...visit('reader', { trackerId: blog, sessionId: 'silent', startedAt: anHourAgo + 5_500, events: 0 }),
  ...visit('phone', { startedAt: anHourAgo - 2 * dayMs, identifiers: { userId: '42' } }),
  ...visit('reader', { startedAt: anHourAgo - dayMs, events: 2 }),
  ...visit('ben', { identifiers: { email: 'ben@example.com' } }),
])
const [laptop, reader] = [
  { trackerId: 'shop', subjectId: 'laptop' },
  { trackerId: blog, subjectId: 'reader' },
]

function read(body: { address?: unknown; person?: Asked }, browser = client) {
  const { person, ...others } = body
  const full = person && { person: { identifiers: [], subjects: [], ...person } }
  return browser.ask('/person', { method: 'POST', body: { ...others, ...full } })
}

function ofEmail(value: string): Asked {
  return { identifiers: [{ name: 'email', value }] }
}

function idsOf(list: unknown[]): string[] {
  return list.map((each) => `${textIn(each, 'trackerId')} ${textIn(each, 'subjectId')}`)
}

describe('a person', () => {
  test('has records on all trackers, last seen first, with their identifiers', async () => {
    const found = dataOf(await read({ person: ofEmail('ADA@example.com') }))
    const records = listIn(found, 'records')
    assert.deepEqual(idsOf(records), ['shop laptop', `${blog} reader`])
    assert.partialDeepStrictEqual(records[0], {
      counts: { sessions: 2, events: 80 },
      identifiers: [
        { name: 'email', value: 'Ada@Example.com' },
        { name: 'userId', value: '42' },
      ],
      hasMoreIdentifiers: false,
    })
    assert.deepEqual([found.hidden, found.hasMore], [[], false])
  })

  test('suggests records that may belong to the same person, and can include them', async () => {
    const found = dataOf(await read({ person: ofEmail('ada@example.com') }))
    const others = listIn(found, 'others').filter(isObject)
    const userId = { name: 'userId', value: '42' }
    assert.deepEqual(
      others.map(({ identifier, subjects }) => [identifier, Array.isArray(subjects) ? idsOf(subjects) : []]),
      [
        [userId, ['shop phone']],
        [null, ['shop reader']],
      ],
    )
    const identifiers = [...(ofEmail('ada@example.com').identifiers ?? []), userId]
    const all = dataOf(
      await read({ person: { identifiers, subjects: [{ trackerId: 'shop', subjectId: 'reader' }] } }),
    )
    assert.equal(listIn(all, 'records').length, 4)
    assert.deepEqual(all.others, [])
  })

  test('includes records hidden by a shorter plan', async () => {
    const { shop: small, client: theirs } = await open()
    const eve = { email: 'eve@example.com' }
    await small.ingest([
      ...visit('now', { identifiers: eve }),
      ...visit('then', { startedAt: Date.now() - 300 * dayMs, identifiers: eve }),
    ])
    await hideByPlan(small)
    const then = { trackerId: 'shop', subjectId: 'then' }
    for (const person of [ofEmail('eve@example.com'), { ...ofEmail('eve@example.com'), subjects: [then] }]) {
      const found = dataOf(await read({ person }, theirs))
      assert.deepEqual(idsOf(listIn(found, 'records')), ['shop now'])
      assert.deepEqual(found.hidden, [then])
    }
  })

  test('suggests records that may belong to the same person, even if a shorter plan hides them', async () => {
    const { shop: small, client: theirs, blog: hidden } = await open()
    const long = { startedAt: Date.now() - 300 * dayMs }
    await small.ingest([
      ...visit('now', { identifiers: { email: 'eve@example.com', userId: '7' } }),
      ...visit('then', { ...long, identifiers: { userId: '7' } }),
      ...visit('now', { ...long, trackerId: hidden }),
      ...visit('old', long),
      ...visit('old', { ...long, trackerId: hidden }),
    ])
    await hideByPlan(small)
    const othersOf = async (person: Asked) =>
      listIn(dataOf(await read({ person }, theirs)), 'others').filter(isObject)
    assert.deepEqual(await othersOf(ofEmail('eve@example.com')), [
      {
        identifier: { name: 'userId', value: '7' },
        ...{ subjects: [], hidden: [{ trackerId: 'shop', subjectId: 'then' }], hasMore: false },
      },
      {
        identifier: null,
        ...{ subjects: [], hidden: [{ trackerId: hidden, subjectId: 'now' }], hasMore: false },
      },
    ])
    const [other] = await othersOf({ subjects: [{ trackerId: 'shop', subjectId: 'old' }] })
    assert.deepEqual(other?.hidden, [{ trackerId: hidden, subjectId: 'old' }])
  })

  test('with more than 200 records is reported as incomplete', async (t) => {
    const organisationId = await shop.createOrganisation()
    await shop.createTracker(organisationId, 'kiosk')
    const member = await openConsole(shop, organisationId)
    const kiosk = { trackerId: 'kiosk', identifiers: { email: 'all@example.com' } }
    await shop.ingest(Array.from({ length: 201 }, (_, i) => visit(`v${i}`, kiosk)).flat())
    t.signal.throwIfAborted()
    const found = dataOf(await read({ person: ofEmail('all@example.com') }, member))
    assert.deepEqual([listIn(found, 'records').length, found.hasMore], [200, true])
  })

  test('needs 1 to 32 identifiers and records, or an address', async () => {
    const many = Array.from({ length: 33 }, (_, i) => ({ name: 'email', value: `${i}@example.com` }))
    const { address } = dataOf(await read({ person: ofEmail('ada@example.com') }))
    for (const [body, fields] of [
      [{}, ['person']],
      [{ person: {} }, ['person']],
      [{ person: { identifiers: many } }, ['person']],
      [{ person: { identifiers: many.slice(1), subjects: [laptop] } }, ['person']],
      [{ person: { subjects: [{ trackerId: 'shop', subjectId: '\ud800' }] } }, ['person']],
      [{ address, person: ofEmail('ada@example.com') }, ['address']],
    ] as const) {
      assert.deepEqual(problemFields(await read(body as { person?: Asked })), fields, JSON.stringify(body))
    }
  })
})

describe('the address of a person', () => {
  test('does not depend on the order or notation of the person, and leads to it', async () => {
    const one = dataOf(await read({ person: { ...ofEmail('Ada@EXAMPLE.com'), subjects: [laptop, reader] } }))
    const other = dataOf(
      await read({ person: { ...ofEmail('ada@example.com'), subjects: [reader, laptop] } }),
    )
    assert.equal(one.address, other.address)
    const found = dataOf(await read({ address: one.address }))
    assert.deepEqual(found.records, one.records)
    assert.deepEqual(found.person, {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      subjects: [laptop, reader].toSorted((a, b) => (a.trackerId < b.trackerId ? -1 : 1)),
    })
  })

  test('is part of each record, and of each person that a search finds', async () => {
    const recordAt = async ({ trackerId, subjectId }: typeof laptop) =>
      dataOf(await client.ask(`/trackers/${trackerId}/subjects/${subjectId}`))
    const identifiers = [...(ofEmail('ada@example.com').identifiers ?? []), { name: 'userId', value: '42' }]
    const [whole, byEmail, alone] = await Promise.all(
      [{ identifiers }, ofEmail('ada@example.com'), { subjects: [{ ...reader, trackerId: 'shop' }] }].map(
        async (person) => dataOf(await read({ person })).address,
      ),
    )
    assert.equal((await recordAt(laptop)).personAddress, whole)
    assert.equal((await recordAt(reader)).personAddress, byEmail)
    assert.equal((await recordAt({ ...reader, trackerId: 'shop' })).personAddress, alone)
    const found = await client.ask('/find', { method: 'POST', body: { text: 'ADA@example.com' } })
    assert.deepEqual(
      listIn(dataOf(found), 'people').map((each) => textIn(each, 'address')),
      [byEmail],
    )
  })

  test('is unreadable, and leads nowhere if damaged or of another organisation', async () => {
    const address = textIn(dataOf(await read({ person: ofEmail('ada@example.com') })), 'address')
    assert.match(address, /^[\w-]+$/)
    assert.doesNotMatch(Buffer.from(address, 'base64url').toString('latin1'), /ada|example|email/i)
    const flipped = address.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    for (const wrong of ['', 'A', address.slice(1), address.slice(0, -4), flipped, `${address}AAAA`])
      assert.deepEqual(problemFields(await read({ address: wrong })), ['address'], wrong)
    assert.deepEqual(problemFields(await read({ address }, stranger)), ['address'])
    assert.deepEqual(problemFields(await read({ address: 'ada@example.com' })), ['address'])
  })
})

interface Entry {
  record: number
  at: string
  id: string
}

/** All pages of a timeline. */
async function timeline(
  records: object[],
  limit: number,
  { until, browser = client }: { until?: string; browser?: ConsoleClient } = {},
): Promise<{ entries: Entry[]; sizes: number[] }> {
  const entries: Entry[] = []
  const sizes: number[] = []
  const query = { records, limit, ...(until && { until }) }
  for await (const page of pagesOf((after) =>
    browser.ask('/person/timeline', { method: 'POST', body: { ...query, ...after } }),
  )) {
    const rows = listIn(page, 'entries').filter(isObject)
    sizes.push(rows.length)
    for (const { record, session, event } of rows) {
      assert.equal((session === null) !== (event === null), true)
      const [at, id] = session
        ? [textIn(session, 'startedAt'), `session ${textIn(session, 'sessionId')}`]
        : [textIn(event, 'occurredAt'), textIn(event, 'eventId')]
      entries.push({ record: Number(record), at, id })
    }
  }
  return { entries, sizes }
}

/** The sessions and events of a record as the API lists them. */
async function listed({ trackerId, subjectId }: typeof laptop, record: number): Promise<Entry[]> {
  const ask = async (list: string) =>
    listIn(
      dataOf(await shop.ask(`${subjectPath(subjectId, trackerId)}/${list}?limit=200`, { key: shop.key })),
      list,
    )
  const events = (await ask('events')).map((each) => ({
    ...{ record, at: textIn(each, 'occurredAt'), id: textIn(each, 'eventId') },
  }))
  const sessions = (await ask('sessions')).map((each) => ({
    ...{ record, at: textIn(each, 'startedAt'), id: `session ${textIn(each, 'sessionId')}` },
  }))
  return [...events, ...sessions]
}

const inOrder = ({ record, at, id }: Entry) => `${at} ${id} ${record}`

describe('the timeline of a person', () => {
  test('has each session and event of all records once, newest first, for any page size', async () => {
    const expected = [...(await listed(laptop, 0)), ...(await listed(reader, 1))].map(inOrder).sort()
    assert.equal(expected.length, 114)
    for (const limit of [1, 7, 50, 200]) {
      const { entries, sizes } = await timeline([laptop, reader], limit)
      assert.deepEqual(entries.map(inOrder).sort(), expected, `${limit} on a page`)
      assert.deepEqual(
        entries.map(({ at }) => at),
        entries
          .map(({ at }) => at)
          .toSorted()
          .reverse(),
      )
      // Entries of two records with the same time and ID are on one page.
      assert.ok(sizes.every((size) => size <= limit + 1) && sizes.slice(0, -1).every((size) => size >= limit))
    }
  })

  test('starts at a time, and includes only the requested records', async () => {
    const until = new Date(anHourAgo - dayMs + 10_000).toISOString()
    const { entries } = await timeline([laptop, reader], 50, { until })
    assert.deepEqual([entries.length, new Set(entries.map(({ record }) => record)).size], [11, 1])
    assert.ok(entries.every(({ at }) => at < until))
    assert.equal((await timeline([reader], 200)).entries.length, 32)
  })

  test('is empty for erased and unknown records and for those of another organisation', async () => {
    await shop.ingest(visit('gone'))
    await eraseSubject(shop.services, shop.view, 'gone')
    const gone = { trackerId: 'shop', subjectId: 'gone' }
    assert.deepEqual((await timeline([gone, { ...laptop, trackerId: 'nothing' }], 50)).entries, [])
    assert.deepEqual((await timeline([laptop, reader], 50, { browser: stranger })).entries, [])
    const { entries } = await timeline([gone, { trackerId: 'shop', subjectId: 'ben' }], 50)
    assert.deepEqual(
      entries.map(({ record }) => record),
      [1, 1],
    )
  })

  test('is limited to 50 records, and accepts only its own cursors', async () => {
    const ask = async (body: object) =>
      problemFields(await client.ask('/person/timeline', { method: 'POST', body }))
    const records = Array.from({ length: 51 }, (_, i) => ({ trackerId: 'shop', subjectId: `v${i}` }))
    assert.deepEqual(await ask({ records }), ['records'])
    assert.deepEqual(await ask({ records: [] }), ['records'])
    assert.deepEqual(await ask({ records: [{ trackerId: 'shop', subjectId: '\ud800' }] }), ['records'])
    assert.deepEqual(await ask({ records: [laptop], until: 'today', limit: 201 }), ['until', 'limit'])
    const body = { records: [laptop, reader], limit: 1 }
    const { nextCursor: cursor } = dataOf(await client.ask('/person/timeline', { method: 'POST', body }))
    assert.deepEqual(await ask({ records: [reader, laptop], cursor }), ['cursor'])
    assert.deepEqual(await ask({ records: [laptop], cursor: 'AAAA' }), ['cursor'])
  })

  test('ends a page at about 1 MiB', async () => {
    const large = (trackerId: string) =>
      Array.from({ length: 8 }, (_, i) =>
        visit('large', {
          ...{ trackerId, sessionId: `s${i}`, events: 0, startedAt: anHourAgo - i * 60_000 },
          attributes: { note: 'x'.repeat(200_000) },
        }),
      ).flat()
    await shop.ingest([...large('shop'), ...large(blog)])
    const records = ['shop', blog].map((trackerId) => ({ trackerId, subjectId: 'large' }))
    const { entries, sizes } = await timeline(records, 200)
    assert.equal(entries.length, 16)
    assert.ok(sizes.every((size) => size <= 6) && sizes.length <= 4, sizes.join())
  })

  test('reads no more of a long record than it returns, and not all records in one turn', async (t) => {
    const { events } = shop.services
    const { list } = events
    const limits: number[] = []
    t.mock.method(events, 'list', (...args: Parameters<typeof list>) => {
      limits.push(args[2].limit)
      return list.apply(events, args)
    })
    const body = { records: [laptop, reader], limit: 20 }
    dataOf(await client.ask('/person/timeline', { method: 'POST', body }))
    const rows = limits.reduce((sum, limit) => sum + limit, 0)
    assert.ok(rows <= 40, `${rows} events for 20 entries`)
  })

  test('is not logged, and neither is the person', () => {
    const logged = shop.logged.join('\n')
    assert.match(logged, /\/console\/api\/person\/timeline/)
    assert.doesNotMatch(logged, /ada@example|laptop|reader|phone/i)
  })
})
