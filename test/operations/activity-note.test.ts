import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandLine } from '../../src/domain/activity.ts'
import type { Instant } from '../../src/domain/instant.ts'
import { activityNote } from '../../src/operations/activity.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'

const what = { organisationId: 'acme', kind: 'request.created', target: null } as const

function noteAt(at: Instant) {
  return activityNote({ clock: () => at, randomness: systemRandomness }, commandLine, what)
}

test('notes of the same time are listed in the order of their creation, each with a UUID of version 7', () => {
  const now = Date.now()
  const ids = Array.from({ length: 1_000 }, () => noteAt(now).id)
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
  for (const id of [...ids, noteAt(0).id])
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
