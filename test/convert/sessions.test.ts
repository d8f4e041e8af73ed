import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Sessions } from '../../src/convert/sessions.ts'

const minuteMs = 60_000

/** Numbers the sessions of visitors, whose records are given in minutes, in the order in which they start. */
function numbersOf(
  records: readonly [visitor: string, minutes: number][],
  sessions = new Sessions(),
): number[] {
  const ids: string[] = []
  return records.map(([visitor, minutes]) => {
    const { sessionId, isNew } = sessions.at(visitor, minutes * minuteMs)
    assert.equal(isNew, !ids.includes(sessionId))
    if (isNew) ids.push(sessionId)
    return ids.indexOf(sessionId)
  })
}

function ofOne(...minutes: number[]): number[] {
  return numbersOf(minutes.map((each) => ['ada', each]))
}

describe('sessions without an ID in the source', () => {
  it('end after a pause of more than 30 minutes', () => {
    assert.deepEqual(ofOne(0, 30, 60, 91, 100), [0, 0, 0, 1, 1])
  })

  it('belong to one visitor', () => {
    assert.deepEqual(
      numbersOf([
        ['ada', 0],
        ['bob', 1],
        ['ada', 2],
      ]),
      [0, 1, 0],
    )
  })

  it('include records that are out of order', () => {
    assert.deepEqual(ofOne(60, 50, 25, 0), [0, 0, 0, 0])
    assert.deepEqual(ofOne(0, 20, 60, 5, 65), [0, 0, 1, 0, 1])
  })

  it('have the same IDs in every conversion', () => {
    const idOf = (at: number) => new Sessions().at('ada', at).sessionId
    assert.equal(idOf(7), idOf(7))
    assert.notEqual(idOf(7), idOf(8))
  })

  it('are the same if the newest files come first, with any number of visitors', () => {
    const visitors = Array.from({ length: 100 }, (_, i) => `v${i}`)
    const day = (number: number) =>
      visitors.flatMap((id) => [0, 10, 20].map((at) => ({ id, at: number * 1_440 + at })))
    const sessions = new Sessions({ kept: 10, max: 1_000 })
    const opened = [day(2), day(1), day(0)]
      .flat()
      .filter(({ id, at }) => sessions.at(id, at * minuteMs).isNew)
    assert.equal(opened.length, 300)
  })

  it('of a limited number of visitors are always kept, and others are forgotten after an hour', () => {
    const sessions = new Sessions({ kept: 80, max: 1_000 })
    for (let visitor = 0; visitor < 500; visitor++) sessions.at(`v${visitor}`, 0)
    assert.equal(sessions.openCount, 500)
    for (let visitor = 0; visitor < 60; visitor++) sessions.at(`late${visitor}`, 61 * minuteMs)
    assert.ok(sessions.openCount >= 80 && sessions.openCount < 150, `${sessions.openCount}`)
    assert.equal(sessions.at('late0', 62 * minuteMs).isNew, false)
  })

  it('are limited in number', () => {
    const sessions = new Sessions({ kept: 5, max: 10 })
    for (let visitor = 0; visitor < 100; visitor++) {
      sessions.at(`v${visitor}`, 0)
      assert.ok(sessions.openCount <= 10)
    }
    assert.equal(sessions.at('v99', minuteMs).isNew, false)
    assert.equal(sessions.at('v0', minuteMs).isNew, true)
  })
})
