import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { packRows, unpackRows } from '../../../src/storage/sqlite/prepare-ingest.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'

describe('rows packed for the writer thread', () => {
  it('come out as they went in, in their order, in however many pieces', () => {
    const rows = Array.from({ length: 1_201 }, (_, i) =>
      i % 2 === 0
        ? eventRow({ subjectId: `visitor-${i}`, eventId: `e${i}` })
        : sessionRow({ subjectId: `visitor-${i}`, sessionId: `s${i}` }),
    )
    const pieces = packRows(rows)
    assert.equal(pieces.length, 3)
    assert.deepEqual(unpackRows(pieces), rows)
  })

  it('keep every text and name that JSON can hold', () => {
    const properties = JSON.parse('{"__proto__":{"a":1},"toJSON":"x","":[null,1e-7,"ü\\u2028\\ud800🦦"]}')
    const [row] = unpackRows(packRows([eventRow({ subjectId: '🦦', eventId: 'e', properties })]))
    assert.deepEqual(row, eventRow({ subjectId: '🦦', eventId: 'e', properties }))
    assert.ok(row?.type === 'event')
    assert.equal(JSON.stringify(row.properties), JSON.stringify(properties))
  })

  it('leave no memory behind in their pieces', () => {
    const pieces = packRows([eventRow({ subjectId: 'anna', eventId: 'e' })])
    unpackRows(pieces)
    assert.deepEqual(
      pieces.map(({ byteLength }) => byteLength),
      [0],
    )
  })

  it('are no piece when there are none', () => {
    assert.deepEqual(packRows([]), [])
    assert.deepEqual(unpackRows([]), [])
  })
})
