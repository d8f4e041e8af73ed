import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineRows } from '../../console/src/pages/timeline-rows.ts'

const at = (second: number) => `2026-11-17T10:00:${String(second).padStart(2, '0')}.000Z`
const event = (sessionId: string, second: number) => ({
  ...{ eventId: `e${second}`, sessionId, name: 'pageview', occurredAt: at(second), properties: {} },
})
const session = (sessionId: string, second: number, events: number) => ({
  ...{ sessionId, startedAt: at(second), endedAt: at(second), counts: { events }, attributes: {} },
})

/** Rows in short: a session by its name, `~` when it goes on, an event by its id. */
function told(...args: Parameters<typeof timelineRows>): string {
  return timelineRows(...args)
    .map((row) =>
      row.kind === 'event' ? row.event.eventId : `${row.isContinued ? '~' : ''}${row.sessionId}`,
    )
    .join(' ')
}

test('events stand under their session, newest first', () => {
  const events = [event('b', 9), event('b', 8), event('a', 3)]
  assert.equal(told(events, [session('b', 8, 2), session('a', 3, 1)], false), 'b e9 e8 a e3')
})

test('a session that another one interrupts goes on under its name', () => {
  const events = [event('a', 9), event('b', 8), event('a', 7)]
  assert.equal(told(events, [], false), 'a e9 b e8 ~a e7')
})

test('a session without events stands where it began, once it is known that nothing comes before it', () => {
  const sessions = [session('late', 9, 0), session('a', 5, 2), session('early', 1, 0)]
  const events = [event('a', 8), event('a', 5)]
  assert.equal(told(events, sessions, true), 'late a e8 e5')
  assert.equal(told(events, sessions, false), 'late a e8 e5 early')
})

test('a session that has not come yet is told by its id', () => {
  const [row] = timelineRows([event('a', 1)], [], true)
  assert.deepEqual(row, { kind: 'session', sessionId: 'a', session: null, isContinued: false })
})
