import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { packRows } from '../../../src/storage/rules/packed-rows.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { statementRunner } from '../../../src/storage/sqlite/connections.ts'
import { ingestCommands } from '../../../src/storage/sqlite/ingest.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { eventRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testKeys } from '../../support/test-keyring.ts'

const rows = Array.from({ length: 30 }, (_, number) =>
  eventRow({ subjectId: `visitor-${number % 3}`, eventId: `e${number}`, occurredAt: 1_000 + number }),
)
/** The rows in three pieces, each with rows of every subject. */
const pack = () => [0, 10, 20].map((from) => packRows(rows.slice(from, from + 10)))

async function openShop(t: TestContext) {
  const path = join(temporaryFolder(t), 'lethe.db')
  const store = await openSqliteStore(path)
  t.after(() => store.close())
  await addShop(store)
  return { path, store }
}

describe('a batch sent to the writer', () => {
  it('is freed piece by piece while it is decoded, and stored completely', async (t) => {
    const { path } = await openShop(t)
    const db = openWriter(path)
    t.after(() => db.close())
    const pieces = pack()
    const freedBefore: number[] = []
    // Counts the freed pieces each time the writer takes another.
    const watched = {
      *[Symbol.iterator]() {
        for (const piece of pieces) {
          freedBefore.push(pieces.filter(({ detached }) => detached).length)
          yield piece
        }
      },
    }
    const { ingest } = ingestCommands(db, statementRunner(db))
    const sent = { pieces: Object.assign([...pieces], watched), made: null }
    assert.deepEqual(ingest([sent], testKeys), [{ subjects: 3, sessions: 3, events: 30 }])
    assert.deepEqual(freedBefore, [0, 1, 2])
    assert.deepEqual(
      pieces.map(({ detached }) => detached),
      [true, true, true],
    )
  })

  it('is kept for another attempt if it shared a transaction', async (t) => {
    const { store } = await openShop(t)
    const batch = { rows: rows.length, pieces: pack() }
    const first = await store.ingest.ingestAll([batch], testKeys)
    assert.deepEqual(first, [{ subjects: 3, sessions: 3, events: 30 }])
    const again = await store.ingest.ingestAll([batch], testKeys)
    assert.deepEqual(again, [{ subjects: 0, sessions: 0, events: 0, unchanged: 30 }])
  })
})
