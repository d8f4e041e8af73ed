import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimelineRows } from '../../console/src/pages/timeline-rows.ts'

const at = (second: number) => `2026-11-17T10:00:${String(second).padStart(2, '0')}.000Z`
const event = (sessionId: string, second: number) => ({
  ...{ eventId: `e${second}`, sessionId, name: 'pageview', occurredAt: at(second), properties: {} },
})
const session = (sessionId: string, second: number, events: number) => ({
  ...{ sessionId, startedAt: at(second), endedAt: at(second), counts: { events }, attributes: {} },
})

type Grown = Parameters<TimelineRows['grow']>

/** Rows in short: a session by its name, with `~` if continued, an event by its ID. */
function told(story: TimelineRows): string {
  return story.rows
    .map((row) =>
      row.kind === 'event' ? row.event.eventId : `${row.isContinued ? '~' : ''}${row.sessionId}`,
    )
    .join(' ')
}

function tell(...steps: Grown[]): string {
  const story = new TimelineRows()
  for (const step of steps) story.grow(...step)
  return told(story)
}

test('events are under their session, newest first', () => {
  const events = [[event('b', 9), event('b', 8)], [event('a', 3)]]
  const sessions = [[session('b', 8, 2), session('a', 3, 1)]]
  assert.equal(
    tell([
      { items: events, hasMore: false },
      { items: sessions, hasMore: false },
    ]),
    'b e9 e8 a e3',
  )
})

test('a session that another one interrupts continues under its name', () => {
  const events = [[event('a', 9), event('b', 8), event('a', 7)]]
  const sessions = [[session('b', 8, 1), session('a', 7, 2)]]
  const all: Grown = [
    { items: events, hasMore: false },
    { items: sessions, hasMore: false },
  ]
  assert.equal(tell(all), 'a e9 b e8 ~a e7')
  assert.equal(tell(all, all), 'a e9 b e8 ~a e7', 'told again, it is the same')
})

test('a session without events is placed at its start, once nothing can precede it', () => {
  const sessions = [[session('late', 9, 0), session('a', 5, 2), session('early', 1, 0)]]
  const events = [[event('a', 8), event('a', 5)]]
  const known = { items: sessions, hasMore: false }
  assert.equal(tell([{ items: events, hasMore: true }, known]), 'late a e8 e5')
  assert.equal(
    tell([{ items: events, hasMore: true }, known], [{ items: events, hasMore: false }, known]),
    'late a e8 e5 early',
  )
})

test('an event waits for the sessions that may precede it, in either order of arrival', () => {
  const events = [[event('a', 8), event('b', 3)], [event('b', 2)]]
  const sessions = [[session('a', 6, 1)], [session('silent', 5, 0), session('b', 2, 2)]]
  const first: Grown = [
    { items: events.slice(0, 1), hasMore: true },
    { items: sessions.slice(0, 1), hasMore: true },
  ]
  assert.equal(
    tell([
      { items: events, hasMore: false },
      { items: [], hasMore: true },
    ]),
    '',
  )
  assert.equal(tell(first), 'a e8')
  assert.equal(
    tell(first, [
      { items: events, hasMore: false },
      { items: sessions, hasMore: false },
    ]),
    'a e8 silent b e3 e2',
  )
})
