import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { always, eventRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { logSize } from './open-shop.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const key = newApiKey({ id: '0123456789ABCDEF', organisationId: 'acme', name: 'nightly' })

describe('two stores on one file', () => {
  const lifetime = inReverse({ after })
  const path = join(temporaryFolder(lifetime), 'lethe.db')
  let here: Store
  let there: Store
  before(async () => {
    here = await openSqliteStore(path)
    there = await openSqliteStore(path)
    lifetime.after(async () => void (await Promise.all([here.close(), there.close()])))
    await here.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
    await there.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
  })

  it('see a key rotated and revoked by the other at the next read', async () => {
    const [first, second] = ['01'.repeat(32), '02'.repeat(32)]
    await here.apiKeys.create(key, first)
    assert.equal((await there.apiKeys.findCaller(key.id))?.hash, first)
    await here.apiKeys.rotate(key.id, { hash: second, lastFour: '2222' }, 5)
    assert.equal((await there.apiKeys.findCaller(key.id))?.hash, second)
    await there.apiKeys.revoke(key.id, 6)
    assert.equal((await here.apiKeys.findCaller(key.id))?.key.revokedAt, 6)
    assert.equal(await here.apiKeys.rotate(key.id, { hash: first, lastFour: '1111' }, 7), null)
  })

  it('see a subject added and erased by the other', async () => {
    await here.ingest.ingest([eventRow({ subjectId: 'anna', eventId: 'e' })], testKeys)
    assert.ok(await there.subjects.read(tracker, 'anna'))
    assert.deepEqual(await eraseIn(there, tracker, 'anna'), { sessions: 1, events: 1 })
    assert.equal(await here.subjects.read(tracker, 'anna'), null)
    assert.deepEqual(await eraseIn(here, tracker, 'anna'), { sessions: 0, events: 0 })
    assert.equal(logSize(path), 0)
  })

  it('report an erasure once between them', async () => {
    await here.ingest.ingest([eventRow({ subjectId: 'ben', eventId: 'e' })], testKeys)
    const counts = await Promise.all(
      Array.from({ length: 10 }, () => [here, there])
        .flat()
        .map((store) => eraseIn(store, tracker, 'ben')),
    )
    assert.equal(counts.filter((count) => count?.events === 1).length, 1)
    assert.equal(counts.filter((count) => count?.events === 0).length, 19)
  })

  it('write at the same time, and wait for each other', async () => {
    const batches = Array.from({ length: 60 }, (_, i) =>
      (i % 2 ? here : there).ingest.ingest(
        [
          eventRow({ subjectId: 'carl', eventId: `e${i}` }),
          eventRow({ subjectId: `visitor-${i}`, eventId: 'e' }),
        ],
        testKeys,
      ),
    )
    await Promise.all(batches)
    for (const store of [here, there]) {
      assert.deepEqual((await store.subjects.read(tracker, 'carl'))?.counts, { sessions: 1, events: 60 })
    }
  })
})
