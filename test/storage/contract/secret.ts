import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Keyring } from '../../../src/domain/keyring.ts'
import type { Store } from '../../../src/domain/store.ts'
import { at, eventRow } from '../../support/rows.ts'
import { testSecret } from '../../support/test-keyring.ts'
import { Fixture } from './fixture.ts'

const start = at('2026-11-01T10:00:00.000Z')
const older = new Keyring([testSecret('older')], 'lethe.local')
const newer = new Keyring([testSecret('newer'), testSecret('older')], 'lethe.local')

/** In a separate store with its own secrets: a store refuses processes with other secrets. */
export function secretContract(folder: string, open: (folder: string) => Promise<Store>): void {
  describe('the secrets that a store belongs to', () => {
    const fixture = new Fixture()
    before(async () => fixture.use(await open(join(folder, 'secrets'))))
    after(() => fixture.store.close())

    it('are required to add data or remove erased data: after a rotation, processes without them change nothing', async () => {
      const { secrets, ingest, replay } = fixture.store
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const row = (eventId: string) => eventRow({ trackerId, subjectId: 'anna', eventId, occurredAt: start })
      await secrets.remember(older.fingerprints, start)
      await ingest.ingest([row('e1')], older.tombstoneKeys)
      await secrets.remember(newer.fingerprints, start)
      const [fingerprint = ''] = newer.fingerprints
      const outdated = new RegExp(`rotated.*${fingerprint}`)
      await assert.rejects(ingest.ingest([row('e2')], older.tombstoneKeys), outdated)
      await assert.rejects(replay.removeRefused(trackerId, ['anna'], older.tombstoneKeys), outdated)
      assert.equal((await fixture.listEvents(tracker, 'anna')).length, 1)
      assert.equal((await ingest.ingest([row('e2')], newer.tombstoneKeys)).events, 1)
      await replay.removeRefused(trackerId, ['anna'], newer.tombstoneKeys)
    })

    it('are remembered by their fingerprints, each once', async () => {
      const { secrets } = fixture.store
      const names = [...(await secrets.list()), fixture.fresh('fingerprint'), fixture.fresh('fingerprint')]
      assert.deepEqual(await secrets.remember(names.slice(0, -1), start), [])
      assert.deepEqual(await secrets.remember(names, start + 1), [])
      assert.deepEqual((await secrets.list()).sort(), [...names].sort())
    })

    it('are the only ones accepted: others are refused, even at the same time', async () => {
      const { secrets } = fixture.store
      const known = await secrets.list()
      const names = Array.from({ length: 4 }, () => fixture.fresh('fingerprint'))
      const missing = await Promise.all(names.map((name) => secrets.remember([...known, name], start)))
      const [first, ...others] = (await secrets.list()).filter((name) => !known.includes(name))
      assert.ok(first !== undefined)
      assert.deepEqual(others, [])
      for (const [index, name] of names.entries())
        assert.deepEqual(missing[index], name === first ? [] : [first])
    })
  })
}
