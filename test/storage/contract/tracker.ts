import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fixture } from './fixture.ts'
import { kindsOf, memberNote } from './member.ts'

export function trackerContract(fixture: Fixture): void {
  describe('a tracker', () => {
    it('is found as it was stored, regardless of its owner', async () => {
      const organisationId = await fixture.createOrganisation()
      const tracker = {
        id: `a/b?c=%20 🦦 ${fixture.fresh('t')}`,
        organisationId,
        name: `L'été "shop"`,
        createdAt: 42,
      }
      assert.equal(await fixture.store.trackers.create(tracker), true)
      assert.deepEqual(await fixture.store.trackers.find(tracker.id), tracker)
    })

    it('is null for an unknown ID', async () => {
      assert.equal(await fixture.store.trackers.find('nothing'), null)
    })

    it('has an id that is unique in the whole store', async () => {
      const [mine, theirs] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const tracker = { id: fixture.fresh('tracker'), organisationId: mine, name: 'Shop', createdAt: 1 }
      await fixture.store.trackers.create(tracker)
      for (const organisationId of [mine, theirs]) {
        assert.equal(
          await fixture.store.trackers.create({ ...tracker, organisationId, name: 'Other' }),
          false,
        )
      }
      assert.deepEqual(await fixture.store.trackers.find(tracker.id), tracker)
      assert.deepEqual(await fixture.store.trackers.list(theirs), [])
    })

    it('has a case-sensitive ID', async () => {
      const organisationId = await fixture.createOrganisation()
      const id = fixture.fresh('tracker')
      for (const same of [id, id.toUpperCase()]) {
        const tracker = { id: same, organisationId, name: 'Shop', createdAt: 1 }
        assert.equal(await fixture.store.trackers.create(tracker), true)
      }
      assert.equal((await fixture.store.trackers.list(organisationId)).length, 2)
    })

    it('cannot be stored for an organisation that does not exist', async () => {
      const id = fixture.fresh('tracker')
      const tracker = { id, organisationId: 'nobody', name: 'Shop', createdAt: 1 }
      assert.equal(await fixture.store.trackers.create(tracker), false)
      assert.equal(await fixture.store.trackers.find(id), null)
    })

    it('can be renamed only by its organisation', async () => {
      const { organisationId, trackerId } = await fixture.createTracker()
      const other = await fixture.createOrganisation()
      const before = await fixture.store.trackers.find(trackerId)
      const rename = (owner: string, id: string, name: string) =>
        fixture.store.trackers.rename(
          { organisationId: owner, trackerId: id },
          name,
          memberNote(fixture, owner, 'tracker.renamed'),
        )
      assert.equal(await rename(other, trackerId, 'Theirs'), false)
      assert.equal(await rename(organisationId, 'nothing', 'None'), false)
      assert.deepEqual(await fixture.store.trackers.find(trackerId), before)
      assert.equal(await rename(organisationId, trackerId, `L'été`), true)
      assert.deepEqual(await fixture.store.trackers.find(trackerId), { ...before, name: `L'été` })
      assert.deepEqual(await kindsOf(fixture, organisationId), ['tracker.renamed'])
      assert.deepEqual(await kindsOf(fixture, other), [])
    })

    it('is listed with all others of its organisation, oldest first, ties by ID', async () => {
      const [mine, theirs] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const tracker = (kind: string, organisationId: string, createdAt: number) => ({
        id: fixture.fresh(kind),
        organisationId,
        name: kind,
        createdAt,
      })
      const [young, old, twinB, twinA] = [
        tracker('young', mine, 30),
        tracker('old', mine, 10),
        tracker('twin-b', mine, 20),
        tracker('twin-a', mine, 20),
      ]
      for (const one of [young, old, tracker('foreign', theirs, 15), twinB, twinA]) {
        await fixture.store.trackers.create(one)
      }
      assert.deepEqual(await fixture.store.trackers.list(mine), [old, twinA, twinB, young])
      assert.deepEqual(await fixture.store.trackers.list('nobody'), [])
    })
  })
}
