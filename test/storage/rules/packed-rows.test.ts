import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { bySubject } from '../../../src/storage/rules/ingest-batch.ts'
import { packRows, unpackRows, unpackSubjects } from '../../../src/storage/rules/packed-rows.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'

const unpacked = (...pieces: (readonly IncomingRow[])[]) =>
  unpackSubjects(pieces.map(packRows)).map(unpackRows)

describe('packed rows', () => {
  it('are unpacked grouped by subject, in the order of their keys, from any number of pieces', () => {
    const rows = Array.from({ length: 1_201 }, (_, i) =>
      i % 2 === 0
        ? eventRow({ subjectId: `visitor-${i % 97}`, eventId: `e${i}` })
        : sessionRow({ subjectId: `visitor-${i % 89}`, sessionId: `s${i}` }),
    )
    assert.deepEqual(unpacked(rows), bySubject(rows))
    assert.deepEqual(unpacked(rows.slice(0, 500), rows.slice(500, 1_000), rows.slice(1_000)), bySubject(rows))
  })

  it('keep every text and name that JSON can hold', () => {
    const properties = JSON.parse(
      '{"__proto__":{"a":1},"toJSON":"x","":[null,1e-7,"\\t\\n\\u0000ü\\u2028\\ud800🦦"]}',
    )
    const identifiers = { email: 'ü🦦@shop.example', userId: '"7"' }
    const row = eventRow({ subjectId: '🦦', eventId: 'e "\\', name: 'ü', properties, identifiers })
    const [subject] = unpacked([row])
    assert.equal(subject?.subjectId, '🦦')
    const { type, trackerId, subjectId, ...event } = row
    assert.deepEqual(subject?.events, [{ ...event, properties: JSON.stringify(properties) }])
  })
})
