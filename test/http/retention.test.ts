import assert from 'node:assert/strict'
import { after, describe, mock, type TestContext, test } from 'node:test'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { formatInstant, type Instant } from '../../src/domain/instant.ts'
import { dataOf, errorOf, listIn, objectIn, textIn } from '../support/answers.ts'
import { always, at, eventRow, sessionRow } from '../support/rows.ts'
import { type Shop, startShop, subjectPath } from '../support/shop.ts'
import { until } from '../support/until.ts'

const day = 86_400_000
/** The window of the plan free. */
const windowMs = 180 * day
const noon = at('2026-11-15T12:00:00.000Z')
// Time is frozen unless a test advances it, because retention is exact to the millisecond.
mock.timers.enable({ apis: ['Date'], now: noon })
after(() => mock.timers.reset())

// The service has completed its sweep at startup and will not sweep again.
const env = { LETHE_SWEEP_SECONDS: '86400', LETHE_SCRUB_HOUR: 'off', LETHE_METRICS_PORT: '0' }
const service = await startShop({ after }, { env, scopes: ['analytics:view', 'analytics:delete-data'] })
const isSwept = /^lethe_sweep_duration_seconds_count\{outcome="complete"\} 1$/m
await until(async () => isSwept.test(await (await fetch(String(service.metricsUrl))).text()))

/** The service from the view of an organisation with one tracker and one key. */
interface OwnShop extends Shop {
  /** The tracker of all rows that it ingests. */
  trackerId: string
}

/** A new organisation for each test. The clock is set back after the test. */
async function ownShop(t: TestContext): Promise<OwnShop> {
  const organisationId = await service.createOrganisation()
  const trackerId = await service.createTracker(organisationId)
  const { key, keyString } = await service.createKey(organisationId)
  let passedMs = 0
  t.after(() => service.passTime(-passedMs))
  return {
    ...service,
    ...{ organisationId, trackerId, key: keyString, keyId: key.id },
    ingest: (rows) => service.ingest(rows.map((row) => ({ ...row, trackerId }))),
    passTime(ms) {
      passedMs += ms
      service.passTime(ms)
    },
  }
}

const listPath = ({ trackerId }: OwnShop) => `/v1/analytics/trackers/${trackerId}/subjects`

/** A session with its events at these times. */
function visit(subjectId: string, sessionId: string, instants: readonly Instant[]): IncomingRow[] {
  const attributes = { visit: sessionId }
  const [startedAt, endedAt] = [Math.min(...instants), Math.max(...instants)]
  return [
    sessionRow({ subjectId, sessionId, startedAt, endedAt, attributes }),
    ...instants.map((occurredAt, i) =>
      eventRow({ subjectId, sessionId, eventId: `${sessionId}-${i + 1}`, occurredAt }),
    ),
  ]
}

/** A summary of the four pages of a subject, or `null` if none of them is found. */
async function seen(shop: OwnShop, subjectId: string) {
  const { key } = shop
  const ask = (path: string) => shop.ask(path, { key })
  const path = subjectPath(subjectId, shop.trackerId)
  const list = dataOf(await ask(`${listPath(shop)}?subjectIdPrefix=${subjectId}`))
  const read = await ask(path)
  const [sessions, events] = [await ask(`${path}/sessions`), await ask(`${path}/events`)]
  if (read.status === 404) {
    for (const answer of [read, sessions, events]) errorOf(answer, 'not_found')
    assert.deepEqual(list, { subjects: [], nextCursor: null })
    return null
  }
  const { trackerId, identifiers, attributes, ...summary } = dataOf(read)
  assert.deepEqual(identifiers, [])
  assert.equal(trackerId, shop.trackerId)
  assert.deepEqual(list.subjects, [summary])
  return {
    first: summary.firstSeenAt,
    last: summary.lastSeenAt,
    counts: summary.counts,
    attributes,
    sessions: listIn(dataOf(sessions), 'sessions').map((session) => [
      textIn(session, 'sessionId'),
      objectIn(session, 'counts').events,
    ]),
    events: listIn(dataOf(events), 'events').map((event) => textIn(event, 'eventId')),
  }
}

const stored = ({ services, organisationId, trackerId }: OwnShop, subjectId: string) =>
  services.subjects.read({ organisationId, trackerId, since: always }, subjectId)

describe('expired data', () => {
  test('is hidden from the exact millisecond on, before it is swept', async (t) => {
    const shop = await ownShop(t)
    const [old, recent] = [noon - 10 * day, noon - 5 * day]
    await shop.ingest([...visit('anna', 's1', [old, old + 1_000]), ...visit('anna', 's2', [recent])])
    const all = {
      first: formatInstant(old),
      last: formatInstant(recent),
      counts: { sessions: 2, events: 3 },
      attributes: { visit: 's2' },
      sessions: [
        ['s2', 1],
        ['s1', 2],
      ],
      events: ['s2-1', 's1-2', 's1-1'],
    }
    assert.deepEqual(await seen(shop, 'anna'), all)
    // The first event is exactly as old as the window, then older.
    shop.passTime(windowMs - 10 * day)
    assert.deepEqual(await seen(shop, 'anna'), all)
    shop.passTime(1)
    assert.deepEqual(await seen(shop, 'anna'), {
      ...all,
      counts: { sessions: 2, events: 2 },
      sessions: [
        ['s2', 1],
        ['s1', 1],
      ],
      events: ['s2-1', 's1-2'],
    })
    shop.passTime(1_000)
    const rest = {
      ...all,
      first: formatInstant(recent),
      counts: { sessions: 1, events: 1 },
      sessions: [['s2', 1]],
      events: ['s2-1'],
    }
    assert.deepEqual(await seen(shop, 'anna'), rest)
    shop.passTime(5 * day - 1_001)
    assert.deepEqual(await seen(shop, 'anna'), rest)
    shop.passTime(1)
    assert.equal(await seen(shop, 'anna'), null)
    assert.deepEqual((await stored(shop, 'anna'))?.counts, { sessions: 2, events: 3 }, 'unswept')
  })

  test('is in no list of subjects, with any sort and filters', async (t) => {
    const shop = await ownShop(t)
    const ages = { anna: 9, berta: 1, clara: 8, dora: 0 }
    await shop.ingest(
      Object.entries(ages).flatMap(([subjectId, age]) => visit(subjectId, 's', [noon - age * day])),
    )
    const ids = async (query: string) =>
      listIn(dataOf(await shop.ask(`${listPath(shop)}?${query}`, { key: shop.key })), 'subjects').map(
        (subject) => textIn(subject, 'subjectId'),
      )
    assert.deepEqual(await ids('sort=lastSeenAt'), ['anna', 'clara', 'berta', 'dora'])
    shop.passTime(windowMs - 5 * day)
    assert.deepEqual(await ids('sort=lastSeenAt'), ['berta', 'dora'])
    assert.deepEqual(await ids('sort=-lastSeenAt'), ['dora', 'berta'])
    assert.deepEqual(await ids(''), ['berta', 'dora'])
    assert.deepEqual(await ids('subjectIdPrefix=anna'), [])
    assert.deepEqual(await ids('lastSeenAfter=2000-01-01T00:00:00Z'), ['berta', 'dora'])
    assert.deepEqual(await ids(`lastSeenBefore=${formatInstant(noon - 3 * day)}`), [])
    assert.deepEqual(await ids('limit=1'), ['berta'])
  })

  test('depends on the plan of the key’s own organisation', async (t) => {
    const shop = await ownShop(t)
    const other = await shop.createOrganisation('other')
    await shop.services.organisations.setPlan(other, 'business')
    await shop.createTracker(other, 'blog')
    const { keyString } = await shop.createKey(other)
    const rows = visit('anna', 's', [noon])
    await shop.ingest(rows)
    await service.ingest(rows.map((row) => ({ ...row, trackerId: 'blog' })))
    shop.passTime(windowMs + 1)
    assert.equal(await seen(shop, 'anna'), null)
    dataOf(await shop.ask(subjectPath('anna', 'blog'), { key: keyString }))
    shop.passTime(1_825 * day - windowMs)
    errorOf(await shop.ask(subjectPath('anna', 'blog'), { key: keyString }), 'not_found')
  })
})

describe('a change of plan', () => {
  test('applies to the next request, in both directions', async (t) => {
    const shop = await ownShop(t)
    await shop.ingest([...visit('anna', 's1', [noon - 300 * day]), ...visit('anna', 's2', [noon])])
    for (const [plan, counts] of [
      ['free', { sessions: 1, events: 1 }],
      ['starter', { sessions: 2, events: 2 }],
      ['free', { sessions: 1, events: 1 }],
      ['business', { sessions: 2, events: 2 }],
    ] as const) {
      await shop.services.organisations.setPlan(shop.organisationId, plan)
      assert.deepEqual((await seen(shop, 'anna'))?.counts, counts, plan)
    }
  })
})

describe('erasing', () => {
  const erase = (shop: OwnShop, subjectId: string) =>
    shop.ask(subjectPath(subjectId, shop.trackerId), { key: shop.key, method: 'DELETE' })

  test('an expired subject reports no deleted data but deletes it', async (t) => {
    const shop = await ownShop(t)
    await shop.ingest(visit('anna', 's', [noon]))
    shop.passTime(windowMs + 1)
    for (let time = 0; time < 2; time++) {
      const { receipt, ...told } = dataOf(await erase(shop, 'anna'))
      assert.equal(typeof receipt, 'string')
      assert.deepEqual(told, {
        ...{ trackerId: shop.trackerId, subjectId: 'anna', alreadyErased: true },
        counts: { sessions: 0, events: 0 },
        erasedAt: formatInstant(noon + windowMs + 1),
      })
      assert.equal(await stored(shop, 'anna'), null)
    }
  })

  test('a partly expired subject reports only the counts that a client could see', async (t) => {
    const shop = await ownShop(t)
    await shop.ingest([
      ...visit('anna', 's1', [noon - 9 * day]),
      ...visit('anna', 's2', [noon - 8 * day, noon - 2 * day]),
    ])
    shop.passTime(windowMs - 5 * day)
    const { counts } = (await seen(shop, 'anna')) ?? {}
    assert.deepEqual(counts, { sessions: 1, events: 1 })
    assert.partialDeepStrictEqual(dataOf(await erase(shop, 'anna')), { alreadyErased: false, counts })
    assert.equal(await stored(shop, 'anna'), null)
  })
})
