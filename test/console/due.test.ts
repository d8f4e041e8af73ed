import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deadlineOf, isAfterDay } from '../../console/src/due.ts'

// Around noon, so that the days are the same in most time zones.
const receivedAt = '2026-11-03T12:00:00.000Z'
const dueAt = '2026-12-03T12:00:00.000Z'
const at = (now: string) => deadlineOf({ receivedAt, dueAt }, Date.parse(now))

describe('the time limit of a request', () => {
  for (const [now, urgency, words] of [
    ['2026-11-03T12:00:00Z', 'later', '30 days left'],
    ['2026-11-26T12:00:00Z', 'later', '7 days left'],
    ['2026-11-26T12:00:01Z', 'soon', '7 days left'],
    ['2026-12-02T12:00:00Z', 'soon', '1 day left'],
    ['2026-12-03T12:00:00Z', 'soon', 'due today'],
    ['2026-12-03T13:00:00Z', 'soon', 'due today'],
    ['2026-12-04T12:00:00Z', 'overdue', '1 day overdue'],
    ['2027-01-02T12:00:00Z', 'overdue', '30 days overdue'],
  ] as const) {
    test(`is ${words} at ${now}, ${urgency}`, () => {
      const deadline = at(now)
      assert.equal(deadline.words, words)
      assert.equal(deadline.urgency, urgency)
    })
  }

  test('ends with the day of the due date in UTC, as letters say', () => {
    assert.equal(at('2026-12-03T23:59:59Z').urgency, 'soon')
    assert.equal(at('2026-12-04T00:00:00Z').urgency, 'overdue')
    assert.equal(isAfterDay('2026-12-03T23:59:59.999Z', dueAt), false)
    assert.equal(isAfterDay('2026-12-04T00:00:00.000Z', dueAt), true)
  })

  test('fills from receipt to due date, and not beyond', () => {
    assert.equal(at('2026-11-01T12:00:00Z').share, 0)
    assert.equal(at('2026-11-18T12:00:00Z').share, 0.5)
    assert.equal(at('2026-12-31T12:00:00Z').share, 1)
    assert.equal(deadlineOf({ receivedAt: dueAt, dueAt }, Date.parse(receivedAt)).share, 1)
  })
})
