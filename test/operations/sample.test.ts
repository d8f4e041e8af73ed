import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allScopes } from '../../src/domain/api-key.ts'
import { isIdentifier } from '../../src/domain/identifier.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { authenticateKey } from '../../src/operations/api-key.ts'
import { createSample, sampleVisits } from '../../src/operations/sample.ts'
import { always } from '../support/rows.ts'
import { noon, openDeps } from './fixture.ts'

const { deps } = openDeps()
const day = 86_400_000
const rows = [...sampleVisits('shop', noon)]

/** Row by row: the difference between two lists of thousands takes minutes to print. */
function assertSameRows(actual: readonly IncomingRow[], expected: readonly IncomingRow[]): void {
  for (const [i, row] of actual.entries()) assert.deepEqual(row, expected[i], `row ${i}`)
  assert.equal(actual.length, expected.length)
}

describe('the sample visits', () => {
  it('are of about 1,000 subjects, with a few thousand events', () => {
    const subjects = new Set(rows.map((row) => row.subjectId))
    assert.ok(subjects.size >= 950 && subjects.size <= 1_050, `${subjects.size} subjects`)
    const events = rows.filter((row) => row.type === 'event').length
    assert.ok(events > 3_000 && events < 20_000, `${events} events`)
  })

  it('lie within the last 150 days, and before now', () => {
    for (const row of rows) {
      const [from, to] =
        row.type === 'event' ? [row.occurredAt, row.occurredAt] : [row.startedAt, row.endedAt]
      assert.ok(from >= noon - 150 * day && from <= to && to < noon, JSON.stringify(row))
      assert.ok(Number.isInteger(from) && Number.isInteger(to))
    }
  })

  it('are the same every time', () => {
    assertSameRows([...sampleVisits('shop', noon)], rows)
  })

  it('move with the clock, and are the same but for that', () => {
    const later = [...sampleVisits('shop', noon + 30 * day)]
    const shifted = rows.map((row) =>
      row.type === 'event'
        ? { ...row, occurredAt: row.occurredAt + 30 * day }
        : { ...row, startedAt: row.startedAt + 30 * day, endedAt: row.endedAt + 30 * day },
    )
    assertSameRows(later, shifted)
  })

  it('have good ids, each event one of its own, within its session’s span', () => {
    const sessions = new Map(
      rows.filter((row) => row.type === 'session').map((row) => [row.sessionId, row] as const),
    )
    const eventIds = new Set<string>()
    for (const row of rows) {
      assert.equal(row.trackerId, 'shop')
      assert.ok(isIdentifier(row.subjectId) && isIdentifier(row.sessionId))
      if (row.type === 'session') continue
      assert.ok(!eventIds.has(row.eventId), row.eventId)
      eventIds.add(row.eventId)
      const session = sessions.get(row.sessionId)
      assert.equal(session?.subjectId, row.subjectId)
      assert.ok(session && session.startedAt <= row.occurredAt && row.occurredAt <= session.endedAt)
    }
  })
})

describe('the sample', () => {
  it('has a key that works, a subject worth a look, and a person on two trackers', async () => {
    const { organisationId, trackerId, subjectId, issued } = await createSample(deps())
    const caller = await authenticateKey(deps(), issued.keyString)
    assert.equal(caller?.key.organisationId, organisationId)
    assert.deepEqual(caller?.key.scopes, allScopes())
    const record = await deps().subjects.read({ organisationId, trackerId, since: always }, subjectId)
    const ada = { identifier: { name: 'email', value: 'ada@example.com' } }
    const view = { organisationId, since: always }
    const { rows: found } = await deps().search.subjects(view, { sought: ada, limit: 9, after: null })
    assert.deepEqual(found.map((each) => each.trackerId).sort(), ['sample-blog', trackerId, trackerId])
    assert.ok(record && record.counts.events > 3 && record.lastSeenAt > noon - 7 * day)
  })
})
