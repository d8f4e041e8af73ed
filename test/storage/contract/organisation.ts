import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityNote } from '../../../src/domain/activity.ts'
import type { Organisation } from '../../../src/domain/organisation.ts'
import { plans } from '../../../src/domain/retention.ts'
import type { Fixture } from './fixture.ts'
import { kindsOf, memberNote } from './member.ts'

export function organisationContract(fixture: Fixture): void {
  function organisation(fields: Partial<Organisation> = {}): Organisation {
    return { id: fixture.fresh('organisation'), name: 'Acme', plan: 'free', createdAt: 5, ...fields }
  }

  describe('an organisation', () => {
    it('is found as it was stored', async () => {
      const stored = organisation({
        name: `Ünïcode "🦦" 'quoted'`,
        plan: 'business',
        createdAt: 1_794_000_000_123,
      })
      assert.equal(await fixture.store.organisations.create(stored), true)
      assert.deepEqual(await fixture.store.organisations.find(stored.id), stored)
    })

    it('is null for an unknown ID', async () => {
      assert.equal(await fixture.store.organisations.find('nobody'), null)
    })

    it('does not replace another with the same ID', async () => {
      const first = organisation()
      await fixture.store.organisations.create(first)
      assert.equal(await fixture.store.organisations.create({ ...first, name: 'Other', plan: 'pro' }), false)
      assert.deepEqual(await fixture.store.organisations.find(first.id), first)
    })

    it('is stored once if created many times concurrently', async () => {
      const same = organisation()
      const created = await Promise.all(
        Array.from({ length: 10 }, () => fixture.store.organisations.create(same)),
      )
      assert.equal(created.filter(Boolean).length, 1)
    })

    it('is listed with all others, oldest first, ties by ID', async () => {
      const [young, old, twinB, twinA] = [
        organisation({ createdAt: 9_000 }),
        organisation({ createdAt: -9_000 }),
        organisation({ id: fixture.fresh('twin-b'), createdAt: 8_000 }),
        organisation({ id: fixture.fresh('twin-a'), createdAt: 8_000 }),
      ]
      for (const one of [young, old, twinB, twinA]) await fixture.store.organisations.create(one)
      const ours = new Set([young.id, old.id, twinB.id, twinA.id])
      const listed = (await fixture.store.organisations.list()).filter(({ id }) => ours.has(id))
      assert.deepEqual(listed, [old, twinA, twinB, young])
    })

    it('moves to another plan', async () => {
      const [moved, other] = [organisation(), organisation()]
      for (const one of [moved, other]) await fixture.store.organisations.create(one)
      for (const plan of plans) {
        assert.equal(await fixture.store.organisations.setPlan(moved.id, plan), true)
        assert.deepEqual(await fixture.store.organisations.find(moved.id), { ...moved, plan })
      }
      assert.deepEqual(await fixture.store.organisations.find(other.id), other)
    })

    it('records a change of plan, but not the plan it already has', async () => {
      const { id } = organisation()
      await fixture.store.organisations.create(organisation({ id, plan: 'free' }))
      const note = (noteId: string): ActivityNote => ({
        ...{ id: noteId, organisationId: id, at: 7, actor: { kind: 'command-line' } },
        ...{ kind: 'organisation.plan-changed', target: 'pro', requestId: null },
      })
      await fixture.store.organisations.setPlan(id, 'pro', note('first'))
      await fixture.store.organisations.setPlan(id, 'pro', note('second'))
      const query = { limit: 9, after: null, requestId: null }
      const { rows } = await fixture.store.activity.list(id, query)
      assert.deepEqual(rows, [{ ...note('first'), counts: null, ledgerIndex: null }])
    })

    it('can be moved to the plan it has', async () => {
      const stored = organisation({ plan: 'pro' })
      await fixture.store.organisations.create(stored)
      assert.equal(await fixture.store.organisations.setPlan(stored.id, 'pro'), true)
    })

    it('can be renamed, which its activity records, without changing others', async () => {
      const [renamed, other] = [organisation(), organisation()]
      for (const one of [renamed, other]) await fixture.store.organisations.create(one)
      const note = memberNote(fixture, renamed.id, 'organisation.renamed')
      assert.equal(await fixture.store.organisations.rename(renamed.id, `L'été 🦦`, note), true)
      assert.deepEqual(await fixture.store.organisations.find(renamed.id), { ...renamed, name: `L'été 🦦` })
      assert.deepEqual(await fixture.store.organisations.find(other.id), other)
      assert.deepEqual(await kindsOf(fixture, renamed.id), ['organisation.renamed'])
    })

    it('that does not exist cannot be renamed', async () => {
      const note = memberNote(fixture, 'nobody', 'organisation.renamed')
      assert.equal(await fixture.store.organisations.rename('nobody', 'Acme', note), false)
    })

    it('that does not exist cannot be moved to a plan', async () => {
      assert.equal(await fixture.store.organisations.setPlan('nobody', 'pro'), false)
      assert.equal(await fixture.store.organisations.find('nobody'), null)
    })
  })
}
