import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EventLines, maxAttributeLength, type SourceEvent } from '../../src/convert/event-lines.ts'

const minuteMs = 60_000

function event(minutes: number, fields: Partial<SourceEvent> = {}): SourceEvent {
  return { subjectId: 'ada', sessionId: 's1', name: 'view', occurredAt: minutes * minuteMs, ...fields }
}

/** A summary of the lines of several events. */
function linesOf(events: readonly SourceEvent[], maxKnown?: number) {
  const lines = new EventLines(maxKnown)
  return events.map((each) => lines.linesOf(each).map((line) => (line.type === 'event' ? line.name : line)))
}

describe('the lines of events', () => {
  it('start with a session line if an event has new attributes of its session', () => {
    const session = { type: 'session', subjectId: 'ada', sessionId: 's1', startedAt: 0 }
    assert.deepEqual(
      linesOf([
        event(0, { attributes: { browser: 'Firefox', source: 'newsletter' } }),
        event(1, { attributes: { browser: 'Firefox' } }),
        event(2, { attributes: { browser: 'Chrome', country: 'DE' } }),
      ]),
      [
        [{ ...session, endedAt: 0, attributes: { browser: 'Firefox', source: 'newsletter' } }, 'view'],
        ['view'],
        [
          {
            ...session,
            endedAt: 2 * minuteMs,
            attributes: { browser: 'Firefox', source: 'newsletter', country: 'DE' },
          },
          'view',
        ],
      ],
    )
  })

  it('omit attributes that are not short texts or numbers', () => {
    const attributes = { a: 'x'.repeat(maxAttributeLength + 1), b: ['x'], c: null, d: '', e: true, f: {} }
    assert.deepEqual(linesOf([event(0, { attributes })]), [['view']])
    const [[line] = []] = linesOf([event(0, { attributes: { ...attributes, version: 3 } })])
    assert.deepEqual(typeof line === 'object' && line.attributes, { version: '3' })
  })

  it('repeat a session line after too many other sessions', () => {
    const shown = (sessionId: string) => event(0, { sessionId, attributes: { browser: 'Firefox' } })
    const counts = (maxKnown: number) =>
      linesOf(['s1', 's2', 's3', 's1'].map(shown), maxKnown).map((lines) => lines.length)
    assert.deepEqual(counts(3), [2, 2, 2, 1])
    assert.deepEqual(counts(2), [2, 2, 2, 2])
  })

  it('remember a limited number of sessions', () => {
    const lines = new EventLines(10)
    for (let number = 0; number < 100; number++) {
      lines.linesOf(event(0, { sessionId: `s${number}` }))
      assert.ok(lines.knownCount >= Math.min(number, 9) && lines.knownCount <= 10)
    }
  })

  it('start a session after a pause of 30 minutes if the source has none', () => {
    const lines = new EventLines()
    const sessionAt = (minutes: number, subjectId = 'ada') =>
      lines.linesOf(event(minutes, { subjectId, sessionId: undefined }))[0]?.sessionId
    const first = sessionAt(0)
    assert.equal(sessionAt(30), first)
    assert.notEqual(sessionAt(30, 'bob'), first)
    const second = sessionAt(61)
    assert.notEqual(second, first)
    assert.equal(sessionAt(62), second)
  })

  it('assign the identifiers of a sign-in to the earlier subject, and keep the attributes of its session', () => {
    const identifiers = { userId: '42' }
    const before = event(0, { attributes: { source: 'newsletter' } })
    const attributes = { browser: 'Firefox' }
    const signIn = event(5, { subjectId: '42', formerId: 'ada', identifiers, attributes })
    const session = { type: 'session', sessionId: 's1', endedAt: 5 * minuteMs }
    assert.deepEqual(linesOf([before, signIn])[1], [
      { ...session, subjectId: '42', startedAt: 5 * minuteMs, attributes },
      'view',
      {
        ...session,
        subjectId: 'ada',
        startedAt: 0,
        attributes: { browser: 'Firefox', source: 'newsletter' },
        identifiers,
      },
    ])
    const linked = { ...signIn, attributes: {} }
    assert.deepEqual(linesOf([{ ...linked, formerId: '42' }]), [['view']])
    assert.deepEqual(linesOf([{ ...linked, identifiers: undefined }]), [['view']])
  })
})
