import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { always, at, eventRow } from '../../support/rows.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { openShop } from './open-shop.ts'

const view = { organisationId: 'acme', trackerId: 'shop', since: always }

/** A store with one subject, and a separate connection to it. */
async function openWithAnna(t: TestContext) {
  const { store, path } = await openShop(t, { writesHere: true })
  await store.ingest.ingest(
    [
      eventRow({ subjectId: 'anna', eventId: 'old', occurredAt: at('2026-01-01T00:00:00Z') }),
      eventRow({ subjectId: 'anna', eventId: 'new', occurredAt: at('2026-11-01T00:00:00Z') }),
    ],
    testKeys,
  )
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  return { store, other }
}

describe('batched reads', () => {
  it('see one snapshot of the store, whatever others write meanwhile', async (t) => {
    const { store, other } = await openWithAnna(t)
    const seen: unknown[] = []
    store.batchReads(() => {
      seen.push(store.subjects.read(view, 'anna'))
      other.exec('UPDATE subjects SET event_count = 7')
      seen.push(store.subjects.read(view, 'anna'))
    })
    assert.deepEqual(seen[1], seen[0])
    assert.equal((await store.subjects.read(view, 'anna'))?.counts.events, 7)
  })

  it('see everything written before they started', async (t) => {
    const { store, other } = await openWithAnna(t)
    await store.subjects.read(view, 'anna')
    other.exec('UPDATE subjects SET event_count = 7')
    let events: unknown
    store.batchReads(() => {
      const record = store.subjects.read(view, 'anna')
      events = record instanceof Promise ? null : record?.counts.events
    })
    assert.equal(events, 7)
  })

  it('can include a subject of which something has aged out', async (t) => {
    const { store } = await openWithAnna(t)
    const later = { ...view, since: at('2026-06-01T00:00:00Z') }
    const seen: unknown[] = []
    store.batchReads(() => {
      seen.push(store.subjects.read(later, 'anna'))
    })
    assert.deepEqual(seen, [await store.subjects.read(later, 'anna')])
  })

  it('leave the store usable if one of them fails', async (t) => {
    const { store, other } = await openWithAnna(t)
    assert.throws(() =>
      store.batchReads(() => {
        throw new Error('no')
      }),
    )
    other.exec('UPDATE subjects SET event_count = 7')
    assert.equal((await store.subjects.read(view, 'anna'))?.counts.events, 7)
  })
})
