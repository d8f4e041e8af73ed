import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { openStoreAt } from '../../support/empty-store.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'

const lifetime = inReverse({ after })
const address = await freshStore(lifetime)
const store = await openStoreAt(address)
lifetime.after(() => store.close())
for (const id of ['acme', 'rival'])
  await store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 })
await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
await store.ingest.ingest([eventRow({ subjectId: 'anna', eventId: 'e' })], testKeys)

describe('while a subject is locked by a write', () => {
  it('an erasure by another organisation does not wait, so it does not reveal the subject', async () => {
    const writer = new Client(address)
    await writer.connect()
    await writer.query('BEGIN')
    await writer.query("SELECT FROM subjects WHERE subject_id = 'anna' FOR UPDATE")
    const strange = eraseIn(store, { organisationId: 'rival', trackerId: 'shop', since: always }, 'anna')
    const outcome = await Promise.race([strange, sleep(30_000, 'it waits', { ref: false })])
    await writer.query('ROLLBACK')
    await writer.end()
    assert.equal(outcome, null)
    assert.deepEqual(
      await eraseIn(store, { organisationId: 'acme', trackerId: 'shop', since: always }, 'anna'),
      { sessions: 1, events: 1 },
    )
  })
})
