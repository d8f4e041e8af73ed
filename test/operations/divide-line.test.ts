import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SubjectRef } from '../../src/domain/person.ts'
import type { KnownRequest } from '../../src/domain/request-group.ts'
import { divideLine, type LineRequest } from '../../src/operations/divide-line.ts'

const refs = (from: number, to: number): SubjectRef[] =>
  Array.from({ length: to - from }, (_, i) => ({ trackerId: `tracker-${from + i}`, subjectId: 'ada' }))
const listed = (from: number, to: number) => refs(from, to).map((each) => ({ ...each, counts: null }))
const unstored = (id: string): LineRequest => ({ id, known: null })
const stored = (id: string, state: KnownRequest['state'], subjects: SubjectRef[]): LineRequest => {
  const person = state === 'done' ? null : { identifiers: [], subjects }
  return { id, known: { state, subjects: subjects.length, person } }
}

/** The numbers of subjects that each request names and finds. */
function divided(requests: LineRequest[], subjects: ReturnType<typeof listed>) {
  const { parts, missing } = divideLine(requests, subjects)
  const sizes = parts.map((each) => [each.request.id, each.person.subjects.length, each.subjects.length])
  return { sizes, missing }
}

describe('the matches of a line', () => {
  it('are divided among as many requests as necessary', () => {
    assert.deepEqual(divided([unstored('a')], listed(0, 32)), { sizes: [['a', 32, 32]], missing: 0 })
    assert.deepEqual(divided([unstored('a')], listed(0, 70)), { sizes: [['a', 32, 32]], missing: 2 })
    assert.deepEqual(divided([unstored('a')], []), { sizes: [], missing: 0 })
  })

  it('are erased by the open requests that name them; new ones get another request', () => {
    const requests = [stored('a', 'open', refs(1, 33)), unstored('b'), stored('c', 'open', refs(33, 40))]
    assert.deepEqual(divided(requests, listed(0, 39)), {
      sizes: [
        ['a', 32, 32],
        ['c', 7, 6],
        ['b', 1, 1],
      ],
      missing: 0,
    })
  })

  it('get no other request after some have started', () => {
    for (const state of ['running', 'done', 'cancelled'] as const) {
      const requests = [stored('a', state, refs(0, 32)), stored('b', 'open', refs(32, 40)), unstored('c')]
      assert.deepEqual(divided(requests, listed(0, 45)), { sizes: [['b', 8, 8]], missing: 0 })
    }
  })
})
