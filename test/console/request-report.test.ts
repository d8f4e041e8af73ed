import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { formatInstant } from '../../src/domain/instant.ts'
import { formatMonth, monthOf, parseMonth, startOfMonth } from '../../src/domain/month.ts'
import { reportRequests } from '../../src/operations/request-report.ts'
import { dataOf, listIn, problemFields, textIn } from '../support/answers.ts'
import { openConsole } from '../support/console.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { startShop } from '../support/shop.ts'

const dayMs = 86_400_000
const shop = await startShop({ after }, { scopes: ['analytics:view'] })
const { organisationId, services } = shop
// The middle of next month, so that no month ends during the test.
shop.passTime(startOfMonth(monthOf(services.clock()) + 1) + 14 * dayMs - services.clock())
const month = monthOf(services.clock())
const [thisMonth, lastMonth] = [formatMonth(month), formatMonth(month - 1)]
const client = await openConsole(shop, organisationId)

const start = startOfMonth(month - 1)
const late = start + 30 * dayMs
const store = (fields: Partial<Parameters<typeof storeRequest>[2]>, owner = organisationId) =>
  storeRequest(services, owner, { receivedAt: start, dueAt: late, ...fields })
for (const days of [3, 40, 1, 10]) await store({ closed: ['done', start + days * dayMs] })
for (const days of [2, 31]) await store({ closed: ['rejected', start + days * dayMs] })
await store({ closed: ['cancelled', start + 90 * dayMs] })
await store({ dueAt: start + dayMs })
await store({ dueAt: start + 90 * dayMs })
const answerMs = 2 * dayMs
const receivedAt = startOfMonth(month)
// Uses the length of its own month, which differs from the previous one.
await store({
  kind: 'access',
  receivedAt,
  dueAt: receivedAt + 28 * dayMs,
  closed: ['done', receivedAt + answerMs],
})
await store({ receivedAt: startOfMonth(month) - 1, kind: 'access', closed: ['cancelled', late] })
await store({ receivedAt: startOfMonth(month - 12), closed: ['done', late] })
await store({ closed: ['done', start] }, await shop.createOrganisation())

const erasures = {
  ...{ received: 8, done: 4, rejected: 2, open: 2, overdue: 1, inTime: 4, late: 3 },
  ...{ medianMs: 6.5 * dayMs, worstMs: 40 * dayMs },
}
const access = {
  ...{ received: 1, done: 1, rejected: 0, open: 0, overdue: 0, inTime: 1, late: 0 },
  ...{ medianMs: answerMs, worstMs: answerMs },
}

async function exported(query = ''): Promise<Response> {
  const headers = { cookie: client.cookie ?? '' }
  return fetch(`${shop.url}/console/api/requests/report/export${query}`, { headers })
}

describe('the report of requests', () => {
  test('has the counts of each month and kind for the last 12 months, without cancelled requests', async () => {
    const report = dataOf(await client.ask('/requests/report'))
    assert.deepEqual([report.from, report.to], [formatMonth(month - 11), thisMonth])
    assert.equal(report.keptDays, services.activityDays)
    assert.deepEqual(report.months, [
      { month: lastMonth, kind: 'erasure', ...erasures },
      { month: thisMonth, kind: 'access', ...access },
    ])
    const both = {
      ...{ received: 9, done: 5, rejected: 2, open: 2, overdue: 1, inTime: 5, late: 3 },
      ...{ medianMs: [dayMs, 3 * dayMs, 10 * dayMs, answerMs, 40 * dayMs].sort((a, b) => a - b)[2] },
      worstMs: 40 * dayMs,
    }
    assert.deepEqual(report.totals, [
      { kind: 'access', ...access },
      { kind: 'erasure', ...erasures },
      { kind: null, ...both },
    ])
  })

  test('covers only the chosen months', async () => {
    const months = async (from: number, to: number) => {
      const query = `from=${formatMonth(from)}&to=${formatMonth(to)}`
      return dataOf(await client.ask(`/requests/report?${query}`)).months
    }
    assert.deepEqual(await months(month - 1, month - 1), [{ month: lastMonth, kind: 'erasure', ...erasures }])
    assert.deepEqual(await months(month, month + 3), [{ month: thisMonth, kind: 'access', ...access }])
    assert.deepEqual(await months(month - 5, month - 2), [])
    assert.equal(((await months(month - 119, month)) as unknown[]).length, 3)
  })

  const refused: [query: string, fields: string[]][] = [
    ['from=2026-13', ['from']],
    ['from=2026-1&to=x', ['to', 'from']],
    ['to=2026-01-01', ['to']],
    ['from=2026-02&to=2026-01', ['from']],
    ['from=2010-01&to=2020-01', ['from']],
    ['from=2026-01&from=2026-02', ['from']],
    ['months=3', ['months']],
  ]
  for (const [query, fields] of refused) {
    test(`is rejected for ${query}`, async () => {
      assert.deepEqual(problemFields(await client.ask(`/requests/report?${query}`)), fields)
      assert.equal((await exported(`?${query}`)).status, 422)
    })
  }

  test('is exported as CSV with a line per month and kind', async () => {
    const response = await exported()
    const { headers } = response
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    const name = `lethe-requests-${formatMonth(month - 11)}-to-${thisMonth}.csv`
    assert.equal(headers.get('content-disposition'), `attachment; filename="${name}"`)
    const days = Math.round((answerMs / dayMs) * 1_000) / 1_000
    assert.deepEqual((await response.text()).split('\r\n'), [
      'month,kind,received,done,rejected,open,overdue,inTime,late,shareInTime,medianDays,worstDays',
      `${lastMonth},erasure,8,4,2,2,1,4,3,0.571,6.5,40`,
      `${thisMonth},access,1,1,0,0,0,1,0,1,${days},${days}`,
      '',
    ])
    const empty = await (
      await exported(`?from=${formatMonth(month + 2)}&to=${formatMonth(month + 3)}`)
    ).text()
    assert.equal(empty.split('\r\n').length, 2)
    const entries = listIn(dataOf(await client.ask('/activity?kind=request-report.exported')), 'entries')
    assert.deepEqual(
      entries.map((entry) => textIn(entry, 'target')),
      [
        `${formatMonth(month + 2)} to ${formatMonth(month + 3)}`,
        `${formatMonth(month - 11)} to ${thisMonth}`,
      ],
    )
  })

  test('is empty for an organisation without requests', async () => {
    const stranger = await openConsole(shop, await shop.createOrganisation())
    const { months, totals } = dataOf(await stranger.ask('/requests/report'))
    const nothing = { received: 0, done: 0, rejected: 0, open: 0, overdue: 0, inTime: 0, late: 0 }
    assert.deepEqual([months, totals], [[], [{ kind: null, ...nothing, medianMs: null, worstMs: null }]])
  })

  test('reads in steps, and ends when its client disconnects', async () => {
    const owner = await shop.createOrganisation()
    for (let i = 0; i < 5; i++) await store({ receivedAt: start + i, closed: ['done', start + 2 * i] }, owner)
    const { requestReports } = services
    let steps = 0
    const disconnecting = new AbortController()
    const inTwos: typeof requestReports = {
      ...requestReports,
      received: (id, query) => {
        steps += 1
        return requestReports.received(id, { ...query, limit: 2 })
      },
    }
    const deps = { ...services, requestReports: inTwos }
    const report = await reportRequests(deps, owner, { from: month - 1, to: month - 1 })
    assert.deepEqual([steps, report.totals.at(-1)?.medianMs], [3, 2])
    disconnecting.abort(new Error('gone'))
    const abandoned = reportRequests(deps, owner, { from: month - 1, to: month - 1 }, disconnecting.signal)
    await assert.rejects(abandoned, /gone/)
  })
})

describe('a month', () => {
  const cases: [text: string, month: number | null][] = [
    ['1970-01', 0],
    ['1969-12', -1],
    ['2026-11', 682],
    ['9999-12', 96_359],
    ['2026-00', null],
    ['2026-13', null],
    ['26-11', null],
    ['2026-11-01', null],
    ['+2026-11', null],
    ['', null],
  ]
  for (const [text, expected] of cases) {
    test(`is parsed and formatted: ${text || 'nothing'}`, () => {
      assert.equal(parseMonth(text), expected)
      if (expected === null) return
      assert.equal(formatMonth(expected), text)
      assert.equal(formatInstant(startOfMonth(expected)), `${text}-01T00:00:00.000Z`)
      assert.deepEqual(
        [monthOf(startOfMonth(expected)), monthOf(startOfMonth(expected) - 1)],
        [expected, expected - 1],
      )
    })
  }
})
