import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isInTime } from '../../src/domain/request-report.ts'
import { at } from '../support/rows.ts'

describe('an answer', () => {
  const dueAt = at('2026-12-03T12:00:00.000Z')
  const [before, after] = [at('2026-12-03T23:59:59.999Z'), at('2026-12-04T00:00:00.000Z')]

  it('is in time until the end of the due day in UTC, which letters name', () => {
    for (const state of ['done', 'rejected'] as const) {
      assert.equal(isInTime({ state, dueAt, closedAt: before }, after), true)
      assert.equal(isInTime({ state, dueAt, closedAt: after }, after), false)
    }
  })

  it('is late from the next day on if the request is still open, and undecided until then', () => {
    assert.equal(isInTime({ state: 'open', dueAt, closedAt: null }, before), null)
    assert.equal(isInTime({ state: 'running', dueAt, closedAt: null }, after), false)
  })

  it('is neither if the request was cancelled', () => {
    assert.equal(isInTime({ state: 'cancelled', dueAt, closedAt: after }, after), null)
  })
})
