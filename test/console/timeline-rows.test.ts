import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimelineRows } from '../../console/src/pages/timeline-rows.ts'

type Entry = Parameters<TimelineRows['grow']>[0][number]['entries'][number]

/** Seconds after noon in the local time zone; negative values are on earlier days. */
const at = (second: number) => new Date(2026, 10, 17, 12, 0, second).toISOString()
const dayS = 86_400

function event(sessionId: string, second: number, record = 0): Entry {
  const occurredAt = at(second)
  const event = { eventId: `e${second}`, sessionId, name: 'pageview', occurredAt, properties: {} }
  return { record, session: null, event }
}

function session(sessionId: string, second: number, events: number, record = 0): Entry {
  const [startedAt, endedAt] = [at(second), at(second)]
  return {
    record,
    session: { sessionId, startedAt, endedAt, counts: { events }, attributes: {} },
    event: null,
  }
}

/**
 * A summary of rows: `|` for a day, record and name for a session, with `~` if continued, the ID for an
 * event.
 */
function tell(...pages: Entry[][]): string {
  const story = new TimelineRows()
  const all = pages.map((entries) => ({ entries, nextCursor: null }))
  for (let count = 0; count <= all.length; count++) story.grow(all.slice(0, count))
  return story.rows
    .map((row) => {
      if (row.kind === 'day') return '|'
      return row.kind === 'event'
        ? row.event.eventId
        : `${row.isContinued ? '~' : ''}${row.record}${row.sessionId}`
    })
    .join(' ')
}

const cases: [what: string, entries: Entry[], rows: string][] = [
  [
    'events are under their session, newest first',
    [event('b', 9), event('b', 8), session('b', 8, 2), event('a', 3), session('a', 3, 1)],
    '| 0b e9 e8 0a e3',
  ],
  [
    'a session that another one interrupts continues under its name',
    [event('a', 9), event('b', 8), session('b', 8, 1), event('a', 7), session('a', 7, 2)],
    '| 0a e9 0b e8 ~0a e7',
  ],
  [
    'sessions of two records are different, even with the same ID',
    [event('a', 9), event('a', 9, 1), event('a', 8), session('a', 8, 2), session('a', 7, 1, 1)],
    '| 0a e9 1a e9 ~0a e8',
  ],
  [
    'a session without events is at its start',
    [session('late', 9, 0), event('a', 8), event('a', 5), session('a', 5, 2), session('early', 1, 0)],
    '| 0late 0a e8 e5 0early',
  ],
  [
    'a session that lasts over midnight continues on the day before',
    [event('a', 0), event('a', -dayS), session('a', -dayS, 2), session('b', -2 * dayS, 0)],
    `| 0a e0 | ~0a e-${dayS} | 0b`,
  ],
]

for (const [what, entries, rows] of cases) {
  test(what, () => {
    assert.equal(tell(entries), rows)
    assert.equal(tell(...entries.map((entry) => [entry])), rows, 'page by page')
  })
}

test('the details of a session are known once its start is loaded', () => {
  const story = new TimelineRows()
  const first = { entries: [event('a', 9)], nextCursor: 'next' }
  story.grow([first])
  assert.equal(story.session(0, 'a'), null)
  story.grow([first, { entries: [session('a', 8, 1)], nextCursor: null }])
  assert.equal(story.session(0, 'a')?.startedAt, at(8))
  assert.equal(story.session(1, 'a'), null)
})
