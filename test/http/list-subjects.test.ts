import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant, type Instant } from '../../src/domain/instant.ts'
import { dataOf, errorOf, listIn, pagesOf, problemFields, textIn } from '../support/answers.ts'
import { always } from '../support/rows.ts'
import { anHourAgo, startShop, subjectPath, subjectsPath, visit } from '../support/shop.ts'
import { eraseIn } from '../support/test-keyring.ts'

const minute = 60_000

const shop = await startShop({ after }, { scopes: ['analytics:view', 'analytics:delete-data'] })
// In the order of their last activity; b and c at the same time.
const lastSeen: [subjectId: string, lastSeenAt: Instant][] = [
  ['d', anHourAgo],
  ['b', anHourAgo + minute],
  ['c', anHourAgo + minute],
  ['a', anHourAgo + 2 * minute],
  ['e', anHourAgo + 3 * minute],
]
for (const [subjectId, startedAt] of lastSeen) await shop.ingest(visit(subjectId, { startedAt }))

/** A tracker of its own. */
const ownTracker = () => shop.createTracker(shop.organisationId)
const pathOf = (trackerId: string) => `/v1/analytics/trackers/${trackerId}/subjects`

/** The IDs of a whole list, page by page. */
async function walk(
  trackerId: string,
  query: Record<string, string> = {},
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const ids: string[] = []
  for await (const page of pagesOf((after) =>
    shop.ask(`${pathOf(trackerId)}?${new URLSearchParams({ ...query, ...after })}`, { key: shop.key }),
  )) {
    ids.push(...listIn(page, 'subjects').map((subject) => textIn(subject, 'subjectId')))
    await between()
  }
  return ids
}

describe('the list of subjects', () => {
  test('has the ID, period and counts of each subject', async () => {
    const trackerId = await ownTracker()
    await shop.ingest([
      ...visit('anna', { trackerId, sessionId: 's1', events: 3, attributes: { country: 'DE' } }),
      ...visit('anna', { trackerId, sessionId: 's2', startedAt: anHourAgo + 10 * minute, events: 2 }),
      ...visit('berta', { trackerId, startedAt: anHourAgo + minute, events: 0 }),
    ])
    assert.deepEqual(dataOf(await shop.ask(pathOf(trackerId), { key: shop.key })), {
      subjects: [
        {
          subjectId: 'anna',
          firstSeenAt: formatInstant(anHourAgo),
          lastSeenAt: formatInstant(anHourAgo + 10 * minute + 1_000),
          counts: { sessions: 2, events: 5 },
        },
        {
          subjectId: 'berta',
          firstSeenAt: formatInstant(anHourAgo + minute),
          lastSeenAt: formatInstant(anHourAgo + minute),
          counts: { sessions: 1, events: 0 },
        },
      ],
      nextCursor: null,
    })
  })

  test('is empty for an empty tracker, with any parameters', async () => {
    const trackerId = await ownTracker()
    for (const query of [
      '',
      '?sort=-lastSeenAt',
      '?subjectIdPrefix=a',
      '?lastSeenAfter=2020-01-01T00:00:00Z',
    ]) {
      const path = pathOf(trackerId) + query
      assert.deepEqual(dataOf(await shop.ask(path, { key: shop.key })), { subjects: [], nextCursor: null })
    }
  })

  test('returns 404 for an unknown tracker', async () => {
    errorOf(await shop.ask(pathOf('nowhere'), { key: shop.key }), 'not_found')
  })

  test('ends with null even if its last page is full', async () => {
    for (const limit of ['1', '2', '5', '6']) {
      assert.deepEqual(await walk('shop', { limit }), ['a', 'b', 'c', 'd', 'e'])
    }
    const full = dataOf(await shop.ask(`${subjectsPath}?limit=5`, { key: shop.key }))
    assert.equal(full.nextCursor, null)
  })

  test('contains only the subjects of its tracker', async () => {
    const trackerId = await ownTracker()
    await shop.ingest(visit('elsewhere', { trackerId }))
    assert.ok(!(await walk('shop')).includes('elsewhere'))
  })
})

describe('the sort', () => {
  const orders: [sort: string, ids: string[]][] = [
    ['subjectId', ['a', 'b', 'c', 'd', 'e']],
    ['lastSeenAt', ['d', 'b', 'c', 'a', 'e']],
    ['-lastSeenAt', ['e', 'a', 'c', 'b', 'd']],
  ]
  for (const [sort, ids] of orders) {
    test(`can be ${sort} with any page size`, async () => {
      for (const limit of ['1', '2', '3', '200']) assert.deepEqual(await walk('shop', { sort, limit }), ids)
    })
  }

  test('defaults to subjectId', async () => {
    assert.deepEqual(await walk('shop'), ['a', 'b', 'c', 'd', 'e'])
  })

  test('orders IDs by code point', async () => {
    const trackerId = await ownTracker()
    const ids = ['10', '9', 'Z', 'a', 'a b', 'a!', 'aa', '\u00e4', '\ufffd', '\u{1f600}']
    await shop.ingest(ids.toReversed().flatMap((id) => visit(id, { trackerId })))
    const expected = ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    assert.deepEqual(await walk(trackerId, { limit: '3' }), expected)
  })

  for (const sort of [
    '',
    'lastseenat',
    '+lastSeenAt',
    '-subjectId',
    'firstSeenAt',
    'subjectId,lastSeenAt',
    'asc',
  ]) {
    test(`returns 422 for "${sort}"`, async () => {
      const query = new URLSearchParams({ sort })
      assert.deepEqual(problemFields(await shop.ask(`${subjectsPath}?${query}`, { key: shop.key })), ['sort'])
    })
  }
})

describe('paging to the end', () => {
  test('skips and repeats nothing while subjects are added, erased and active', async () => {
    const trackerId = await ownTracker()
    const steady = Array.from({ length: 30 }, (_, number) => `steady-${String(number).padStart(2, '0')}`)
    const fleeting = Array.from({ length: 30 }, (_, number) => `fleeting-${String(number).padStart(2, '0')}`)
    await shop.ingest([...steady, ...fleeting].flatMap((id) => visit(id, { trackerId })))
    let turn = 0
    const tracker = { organisationId: shop.organisationId, trackerId, since: always }
    const walked = await walk(trackerId, { limit: '7' }, async () => {
      turn++
      const [sessionId, startedAt] = [`turn-${turn}`, anHourAgo + turn * minute]
      await shop.ingest([
        ...steady.flatMap((id) => visit(id, { trackerId, sessionId, startedAt })),
        ...visit(`a-new-${turn}`, { trackerId }),
        ...visit(`z-new-${turn}`, { trackerId }),
      ])
      await eraseIn(shop.services, tracker, fleeting[turn * 3] ?? '')
      await eraseIn(shop.services, tracker, fleeting[29 - turn] ?? '')
    })
    assert.deepEqual(
      walked.filter((id) => id.startsWith('steady')),
      steady,
    )
    assert.equal(new Set(walked).size, walked.length)
  })
})

describe('subjectIdPrefix', () => {
  test('matches IDs that start with it exactly', async () => {
    const trackerId = await ownTracker()
    const ids = [
      'a',
      'a%',
      'a%b',
      'a_c',
      'ab',
      'abc',
      'Ab',
      'b',
      'a\u{10ffff}',
      'a\u{10ffff}z',
      'a\ud7ff',
      'a\ue000',
    ]
    await shop.ingest(ids.flatMap((id) => visit(id, { trackerId })))
    const byCharacters = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
    for (const subjectIdPrefix of [...ids, 'A', 'abcd', '\u{10ffff}', '.', '..', ' ']) {
      assert.deepEqual(
        await walk(trackerId, { subjectIdPrefix, limit: '2' }),
        ids.filter((id) => id.startsWith(subjectIdPrefix)).sort(byCharacters),
        JSON.stringify(subjectIdPrefix),
      )
    }
    assert.deepEqual(await walk(trackerId, { subjectIdPrefix: 'ab', sort: 'subjectId' }), ['ab', 'abc'])
  })

  for (const prefix of ['', '\u0000', 'a\u0085', 'x'.repeat(257)]) {
    test(`returns 422 for ${JSON.stringify(prefix).slice(0, 12)}`, async () => {
      const query = new URLSearchParams({ subjectIdPrefix: prefix })
      assert.deepEqual(problemFields(await shop.ask(`${subjectsPath}?${query}`, { key: shop.key })), [
        'subjectIdPrefix',
      ])
    })
  }
})

describe('lastSeenAfter and lastSeenBefore', () => {
  const at = (minutes: number) => formatInstant(anHourAgo + minutes * minute)

  test('include the start and exclude the end', async () => {
    const rows: [query: Record<string, string>, ids: string[]][] = [
      [{ lastSeenAfter: at(0) }, ['d', 'b', 'c', 'a', 'e']],
      [{ lastSeenAfter: at(1) }, ['b', 'c', 'a', 'e']],
      [{ lastSeenAfter: formatInstant(anHourAgo + minute + 1) }, ['a', 'e']],
      [{ lastSeenBefore: at(1) }, ['d']],
      [{ lastSeenBefore: formatInstant(anHourAgo + minute + 1) }, ['d', 'b', 'c']],
      [{ lastSeenAfter: at(1), lastSeenBefore: at(3) }, ['b', 'c', 'a']],
      [{ lastSeenAfter: at(1), lastSeenBefore: at(1) }, []],
      [{ lastSeenAfter: at(3), lastSeenBefore: at(1) }, []],
      [{ lastSeenAfter: at(10) }, []],
    ]
    for (const [query, ids] of rows) {
      const limit = '2'
      assert.deepEqual(await walk('shop', query), ids, JSON.stringify(query))
      assert.deepEqual(await walk('shop', { ...query, limit, sort: 'lastSeenAt' }), ids)
      assert.deepEqual(await walk('shop', { ...query, limit, sort: '-lastSeenAt' }), ids.toReversed())
    }
  })

  test('may have an offset and a fraction', async () => {
    const shifted = (hours: number, zone: string) =>
      formatInstant(anHourAgo + minute + hours * 60 * minute).replace('Z', zone)
    for (const lastSeenAfter of [
      at(1),
      shifted(2, '+02:00'),
      shifted(-5, '-05:00'),
      at(1).replace('Z', '000Z'),
    ]) {
      assert.deepEqual(await walk('shop', { lastSeenAfter }), ['b', 'c', 'a', 'e'], lastSeenAfter)
    }
    assert.equal((await walk('shop', { lastSeenAfter: '2020-01-01T00:00:00Z' })).length, 5)
  })

  for (const text of [
    ...[
      '',
      'yesterday',
      '2026',
      '2026-01-01',
      '2026-01-01T00:00:00',
      '2026-01-01 00:00:00Z',
      '1763154235004',
    ],
    ...['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z'],
    ...[
      '2026-01-01T00:00:00+25:00',
      '2026-01-01T00:00:00 02:00',
      '2026-W01-1T00:00:00Z',
      '+2026-01-01T00:00:00Z',
    ],
  ]) {
    test(`return 422 for "${text}"`, async () => {
      for (const field of ['lastSeenAfter', 'lastSeenBefore']) {
        const query = new URLSearchParams({ [field]: text })
        assert.deepEqual(problemFields(await shop.ask(`${subjectsPath}?${query}`, { key: shop.key })), [
          field,
        ])
      }
    })
  }
})

describe('filters and sorts that cannot be combined', () => {
  const instant = '2026-01-01T00:00:00Z'
  const wrong: [query: Record<string, string>, fields: string[]][] = [
    [{ sort: 'subjectId', lastSeenAfter: instant }, ['lastSeenAfter']],
    [{ sort: 'subjectId', lastSeenBefore: instant }, ['lastSeenBefore']],
    [
      { sort: 'subjectId', lastSeenAfter: instant, lastSeenBefore: instant },
      ['lastSeenAfter', 'lastSeenBefore'],
    ],
    [{ sort: 'lastSeenAt', subjectIdPrefix: 'a' }, ['subjectIdPrefix']],
    [{ sort: '-lastSeenAt', subjectIdPrefix: 'a' }, ['subjectIdPrefix']],
    [{ subjectIdPrefix: 'a', lastSeenAfter: instant }, ['subjectIdPrefix']],
    [{ subjectIdPrefix: 'a', lastSeenBefore: instant }, ['subjectIdPrefix']],
  ]
  for (const [query, fields] of wrong) {
    test(`return 422: ${new URLSearchParams(query)}`, async () => {
      const path = `${subjectsPath}?${new URLSearchParams(query)}`
      assert.deepEqual(problemFields(await shop.ask(path, { key: shop.key })), fields)
    })
  }
})

test('an erased subject is no longer listed', async () => {
  const trackerId = await ownTracker()
  await shop.ingest([...visit('anna', { trackerId }), ...visit('berta', { trackerId })])
  dataOf(await shop.ask(subjectPath('anna', trackerId), { key: shop.key, method: 'DELETE' }))
  for (const sort of ['subjectId', 'lastSeenAt', '-lastSeenAt'])
    assert.deepEqual(await walk(trackerId, { sort }), ['berta'])
})
