import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  converter,
  convertFixture,
  convertFixtureText,
  convertSummary,
  convertToApi,
  linesOf,
} from '../support/convert.ts'

const events = convertFixtureText('umami-events.csv')
const visitor = (number: number) => `5f1c0c5e-0000-4000-8000-00000000000${number}`
const visit = (number: number) => `7a0d4b1e-0000-4000-8000-00000000000${number}`

describe('lethe convert umami', { concurrency: true }, () => {
  it('converts events and sessions to subjects in the API', async (t) => {
    const files = [convertFixture('umami-events.csv'), convertFixture('umami-sessions.csv')]
    const { subjectIds, subject } = await convertToApi(t, 'umami', files)
    assert.deepEqual(subjectIds, [visitor(1), visitor(2), visitor(3)])
    const ada = await subject(visitor(1))
    assert.partialDeepStrictEqual(ada, {
      identifiers: [{ name: 'email', value: 'ada@example.com' }],
      attributes: { country: 'DE', region: 'DE-NW', city: 'Köln', browser: 'firefox', screen: '1920x1080' },
      sessions: [
        { sessionId: visit(1), startedAt: '2026-10-01T09:00:00.000Z', endedAt: '2026-10-01T09:05:30.000Z' },
      ],
      events: [
        {
          name: 'pageview',
          eventId: 'e0000000-0000-4000-8000-000000000001',
          properties: {
            url: '/?utm_source=news',
            referrer: 'search.example/search?q=shoes',
            title: 'The "shop", of Ada',
            utmSource: 'news',
          },
        },
        { name: 'signup', properties: { url: '/login', tag: 'spring' } },
      ],
    })
    assert.doesNotMatch(JSON.stringify(ada), /\\N/)
    assert.partialDeepStrictEqual(await subject(visitor(2)), {
      identifiers: [{ name: 'userId', value: 'customer-7' }],
      events: [{ name: 'pageview', sessionId: visit(2) }],
    })
    assert.partialDeepStrictEqual(await subject(visitor(3)), {
      identifiers: [{ name: 'email', value: 'bob@example.com' }],
      attributes: { country: 'GB', browser: 'chrome' },
      counts: { sessions: 1, events: 0 },
      sessions: [{ sessionId: visitor(3), startedAt: '2026-10-01T08:00:00.123Z' }],
    })
  })

  it('reads events of versions without visits, in which the visitor has one session', async (t) => {
    const { convert, file } = converter(t)
    const old = 'event_id,session_id,created_at,url_path,subdivision1\ne1,v1,2026-10-01 09:00:00,/,NW\n'
    const lines = linesOf(await convert('umami', file('old', old)))
    assert.partialDeepStrictEqual(lines, [
      { type: 'session', subjectId: 'v1', sessionId: 'v1', attributes: { region: 'NW' } },
      { type: 'event', subjectId: 'v1', sessionId: 'v1', eventId: 'e1', name: 'pageview' },
    ])
  })

  it('rejects other tables, and files of other systems', async (t) => {
    const { convert, file } = converter(t)
    for (const [header, reason] of [
      ['event_id,session_id,data_key,created_at', /it contains event_data or session_data/],
      ['event_id,visit_id,created_at', /it does not have the columns session_id, url_path/],
      ['session_id,created_at', /it has no column browser/],
      ['date,visitors,pageviews', /session_id, created_at, browser; its columns are date, visitors/],
    ] as const) {
      const outcome = await convert('umami', file('wrong', `${header}\n`))
      assert.deepEqual([outcome.code, outcome.stdout], [1, ''])
      assert.match(outcome.stderr, reason)
    }
  })

  it('reports a row that it cannot use, and continues', async (t) => {
    const { convert, file } = converter(t)
    const [header = '', first = '', ...rest] = events.split('\n')
    for (const [row, reason] of [
      [first.replace(/2026-10-01 09:00:00/, 'now'), 'created_at is not a time'],
      [first.replace(visitor(1), '\\N'), 'session_id is missing'],
      [first.replace('e0000000-0000-4000-8000-000000000001', ''), 'event_id is missing'],
      [first.slice(0, 200), 'has more or fewer fields than the first line'],
    ] as const) {
      const outcome = await convert('umami', '--json', file('rows', [header, row, ...rest].join('\n')))
      assert.equal(outcome.code, 1)
      assert.partialDeepStrictEqual(convertSummary(outcome), {
        ...{ records: 3, unusable: 1, events: 2 },
        reasons: [{ reason, records: 1, first: { number: 2 } }],
      })
    }
  })
})
