import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  converter,
  convertFixture,
  convertFixtureText,
  convertSummary,
  convertToApi,
} from '../support/convert.ts'

describe('lethe convert matomo', { concurrency: true }, () => {
  it('converts visits to subjects in the API', async (t) => {
    const { subjectIds, subject } = await convertToApi(t, 'matomo', [convertFixture('matomo.json')])
    assert.deepEqual(subjectIds, ['1111222233334444', '9f2ab0c4d5e6f708'])
    const ada = await subject('9f2ab0c4d5e6f708')
    assert.partialDeepStrictEqual(ada, {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      attributes: { country: 'de', city: 'Köln', browser: 'Firefox', os: 'GNU/Linux', dimension1: 'member' },
      sessions: [
        { sessionId: '4711', startedAt: '2026-10-01T09:00:00.000Z', endedAt: '2026-10-01T09:01:40.000Z' },
      ],
      events: [
        { name: 'pageview', eventId: '101', properties: { title: 'The "shop" {of Ada}' } },
        {
          name: 'add to basket',
          eventId: '102',
          properties: { category: 'Basket', action: 'add to basket', name: 'Red shoes', value: 59.9 },
        },
        { name: 'search', properties: { keyword: 'shoes', results: 12 } },
        { name: 'download', properties: { url: 'https://shop.example/sizes.pdf' } },
        { name: 'outlink', properties: { url: 'https://partner.example/' } },
        { name: 'goal', properties: { goalId: 3, goalName: 'Newsletter', revenue: 0 } },
        {
          name: 'ecommerceOrder',
          properties: { orderId: 'A-1001', revenue: 59.9, tax: '9.90', itemCount: 1 },
        },
      ],
    })
    assert.doesNotMatch(JSON.stringify(ada), /203\.0\.113|d58a483a3cfef87b/)
    assert.partialDeepStrictEqual(await subject('1111222233334444'), {
      identifiers: [],
      attributes: { country: 'fr' },
      counts: { sessions: 1, events: 0 },
      sessions: [{ startedAt: '2026-10-01T10:20:00.000Z', endedAt: '2026-10-01T10:20:00.000Z' }],
    })
  })

  it('reads the same from one line, and from one visit per line', async (t) => {
    const { convert, file } = converter(t)
    const visits: unknown[] = JSON.parse(convertFixtureText('matomo.json'))
    const expected = await convert('matomo', convertFixture('matomo.json'))
    const asLines = visits.map((visit) => `${JSON.stringify(visit)}\n`).join('')
    for (const text of [JSON.stringify(visits), `${JSON.stringify(visits)}\n`, asLines, asLines.trimEnd()]) {
      const { code, stdout } = await convert('matomo', file('visits', text))
      assert.deepEqual([code, stdout], [0, expected.stdout])
    }
  })

  const visit = { visitorId: 'a', idVisit: 1, serverTimestamp: 1790850000, actionDetails: [] }
  const bad: [unknown, string][] = [
    [{ ...visit, visitorId: false }, 'visitorId is missing'],
    [{ ...visit, idVisit: undefined }, 'idVisit is missing'],
    [{ ...visit, serverTimestamp: undefined }, 'serverTimestamp is missing'],
    [{ ...visit, serverTimestamp: 'today' }, 'serverTimestamp is not a time'],
    [{ ...visit, serverTimestamp: 1e30 }, 'serverTimestamp is not a time'],
    [{ ...visit, actionDetails: 'none' }, 'actionDetails is not a list'],
    [{ ...visit, actionDetails: [7] }, 'actionDetails contains something other than objects'],
    [{ ...visit, actionDetails: [{ type: 'action' }] }, 'timestamp of an action is missing'],
    [{ result: 'error', message: 'Unable to authenticate' }, 'it is an error of the Matomo API, not a visit'],
  ]
  for (const [record, reason] of bad) {
    it(`reports a visit that it cannot use, and continues: ${reason}, as in ${JSON.stringify(record)}`, async (t) => {
      const { convert, file } = converter(t)
      const path = file('visits', JSON.stringify([visit, record, visit]))
      const outcome = await convert('matomo', '--json', path)
      assert.equal(outcome.code, 1)
      assert.deepEqual(convertSummary(outcome), {
        ...{ format: 'matomo', records: 3, unusable: 1, skipped: 0, sessions: 2, events: 0 },
        reasons: [{ reason, records: 1, first: { file: path, number: 2 } }],
      })
    })
  }
})
