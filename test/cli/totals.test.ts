import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { dayOf, formatDay } from '../../src/domain/daily-total.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { assertRefused, type CommandLine, commandLine, jsonLines } from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { at, eventRow, sessionRow } from '../support/rows.ts'
import { eraseIn } from '../support/test-keyring.ts'

async function withRows(t: TestContext, rows: readonly IncomingRow[]): Promise<CommandLine> {
  const cli = commandLine(t)
  await fillStore(cli.storePath, rows)
  return cli
}

function event(text: string, name = 'pageview'): IncomingRow {
  return eventRow({ subjectId: 'anna', sessionId: text, eventId: name, name, occurredAt: at(text) })
}

const rows: IncomingRow[] = [
  event('1969-12-31T23:59:59.999Z'),
  event('2026-01-30T23:59:59.999Z'),
  event('2026-01-31T00:00:00.000Z'),
  event('2026-01-31T23:59:59.999Z'),
  event('2026-01-31T12:00:00.000Z', 'purchase'),
  sessionRow({ subjectId: 'ben', sessionId: 's', startedAt: at('2026-02-02T00:00:00.000Z') }),
]

describe('lethe trackers totals', { concurrency: true }, () => {
  it('prints the days with activity, one object per line or a table', async (t) => {
    const cli = await withRows(t, rows)
    const args = ['trackers', 'totals', 'shop', '--from', '2026-01-30', '--to', '2026-02-02']
    const scripts = await cli.run([...args, '--json'])
    assert.deepEqual([scripts.code, scripts.stderr], [0, ''])
    assert.equal(
      scripts.stdout,
      [
        '{"day":"2026-01-30","sessions":1,"events":{"pageview":1},"otherEvents":0}\n',
        '{"day":"2026-01-31","sessions":3,"events":{"pageview":2,"purchase":1},"otherEvents":0}\n',
        '{"day":"2026-02-02","sessions":1,"events":{},"otherEvents":0}\n',
      ].join(''),
    )
    const people = await cli.run(args)
    assert.deepEqual([people.code, people.stderr], [0, ''])
    assert.deepEqual(
      people.stdout.split('\n').map((line) => line.trimEnd()),
      [
        'DAY         SESSIONS  EVENTS',
        '2026-01-30  1         pageview 1',
        '2026-01-31  3         pageview 2, purchase 1',
        '2026-02-02  1',
        '',
      ],
    )
  })

  it('includes the first and last day, and supports days before 1970', async (t) => {
    const cli = await withRows(t, rows)
    const days = async (...options: string[]) =>
      jsonLines((await cli.run(['trackers', 'totals', 'shop', '--json', ...options])).stdout).map(
        ({ day }) => day,
      )
    assert.deepEqual(await days('--from', '2026-01-31', '--to', '2026-01-31'), ['2026-01-31'])
    assert.deepEqual(await days('--from', '2026-02-01', '--to', '2026-02-01'), [])
    assert.deepEqual(await days('--from', '1969-12-31', '--to', '1970-01-01'), ['1969-12-31'])
    assert.deepEqual(await days('--from', '0000-01-01', '--to', '9999-12-31'), [
      ...['1969-12-31', '2026-01-30', '2026-01-31', '2026-02-02'],
    ])
    assert.deepEqual(await days('--from', '2026-02-02', '--to', '2026-01-30'), [])
  })

  it('covers the last 30 days and today by default', async (t) => {
    const today = dayOf(Date.now())
    const instant = (day: number) => day * 86_400_000 + 1
    const cli = await withRows(
      t,
      [today, today - 30, today - 32].map((day) =>
        eventRow({ subjectId: 'anna', sessionId: `${day}`, eventId: 'e', occurredAt: instant(day) }),
      ),
    )
    const { stdout } = await cli.run(['trackers', 'totals', 'shop', '--json'])
    const shown = jsonLines(stdout).map(({ day }) => day)
    // If midnight has passed meanwhile, the earlier day is no longer covered.
    assert.ok(shown.includes(formatDay(today)), String(shown))
    if (dayOf(Date.now()) === today) assert.deepEqual(shown, [formatDay(today - 30), formatDay(today)])
  })

  it('does not change when the visitor is erased', async (t) => {
    const cli = await withRows(t, rows)
    const args = ['trackers', 'totals', 'shop', '--json', '--from', '1900-01-01']
    const before = await cli.run(args)
    await inStore(cli.storePath, (store) => eraseIn(store, shop, 'anna'))
    assert.deepEqual(await cli.run(args), before)
  })

  it('rejects an invalid day as a usage error', async (t) => {
    const cli = await withRows(t, [])
    for (const text of ['yesterday', '2026-02-30', '2026-1-1', '2026-01-31T00:00:00Z', '', '20260131']) {
      for (const option of ['--from', '--to']) {
        const refused = await cli.run(['trackers', 'totals', 'shop', option, text])
        assertRefused(refused, 2, /Expected a day such as 2026-01-31/)
      }
    }
  })

  it('fails for an unknown tracker, and requires one', async (t) => {
    const cli = await withRows(t, [])
    assertRefused(await cli.run(['trackers', 'totals', 'nothing', '--json']), 1, /no tracker "nothing"/)
    assertRefused(await cli.run(['trackers', 'totals']), 2, /tracker/)
  })
})
