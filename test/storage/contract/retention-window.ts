import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ActivityNote } from '../../../src/domain/activity.ts'
import type { RetentionPolicy, WindowRule } from '../../../src/domain/retention.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { keeping } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

const now = at('2026-06-01T00:00:00.000Z')
const day = 86_400_000

/** Plans with different windows. */
const policy: RetentionPolicy = {
  retentionDays: { free: 10, starter: 20, pro: 30, business: 40 },
  activityDays: 50,
}

export function retentionWindowContract(fixture: Fixture): void {
  const settle = async (organisationId: string, rule: WindowRule, kept = policy, instant = now) =>
    (await fixture.store.retention.settleWindows({ policy: kept, now: instant, rule, organisationId })).map(
      ({ kind, plan, window }) => ({ kind, plan, ...window }),
    )
  const step = (instant = now, maxRows = 100) => ({ policy, now: instant, maxRows })
  const eventsOf = async (trackerId: string) =>
    (await fixture.store.retention.countBefore(trackerId, now + 999 * day)).events

  /** Adds one subject per age in days, each with one event of that age. */
  async function fill(trackerId: string, ages: readonly number[]): Promise<void> {
    await fixture.ingest(
      ages.map((age) =>
        eventRow({ trackerId, subjectId: `s${age}`, eventId: 'e', occurredAt: now - age * day }),
      ),
    )
  }

  describe('a remembered window', () => {
    it('is settled and remembered for each kind, by the plan of the organisation', async () => {
      const id = await fixture.createOrganisation()
      await fixture.store.organisations.setPlan(id, 'starter')
      const [visitors, activity] = [
        { kind: 'visitors', plan: 'starter', days: 20, shorter: null },
        { kind: 'activity', plan: 'starter', days: 50, shorter: null },
      ]
      assert.deepEqual(await settle(id, 'immediately'), [visitors, activity])
      const since = now + 5
      const shorter = [
        { ...visitors, shorter: { days: 2, since } },
        { ...activity, shorter: { days: 2, since } },
      ]
      assert.deepEqual(await settle(id, 'grace', keeping(2), since), shorter)
      assert.deepEqual(await settle(id, 'grace', keeping(2), since + 9), shorter, 'since it was first told')
      assert.deepEqual(await settle(id, 'longer-only', keeping(3)), shorter)
      assert.deepEqual(await settle(id, 'grace'), [visitors, activity])
    })

    it('is not changed for other organisations, kinds and plans', async () => {
      const [one, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      for (const id of [one, other]) await settle(id, 'immediately')
      const settling = { policy: keeping(90), now, rule: 'immediately', organisationId: one } as const
      assert.deepEqual(await fixture.store.retention.settleWindows({ ...settling, plan: 'pro' }), [])
      await fixture.store.retention.settleWindows({ ...settling, kind: 'visitors' })
      const days = async (id: string) => (await settle(id, 'longer-only', keeping(1))).map(({ days }) => days)
      assert.deepEqual(
        [await days(one), await days(other)],
        [
          [90, 50],
          [10, 50],
        ],
      )
    })

    it('is settled for every organisation together, and returned', async () => {
      const ids = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      const all = await fixture.store.retention.settleWindows({ policy: keeping(1), now, rule: 'grace' })
      for (const id of ids) assert.equal(all.filter(({ organisationId }) => organisationId === id).length, 2)
    })

    it('is null for an unknown organisation', async () => {
      assert.deepEqual(await settle('nobody', 'immediately'), [])
    })
  })

  describe('a sweep by a window', () => {
    it('uses the longer of the remembered and the given window, until the shorter has applied for a day', async () => {
      const { organisationId, trackerId } = await fixture.createTracker()
      await fixture.store.organisations.setPlan(organisationId, 'pro')
      await settle(organisationId, 'immediately')
      await fill(trackerId, [5, 15, 25, 35])
      await fixture.store.organisations.setPlan(organisationId, 'free')
      await settle(organisationId, 'grace')
      assert.partialDeepStrictEqual(await fixture.store.retention.sweep(trackerId, step()), { events: 1 })
      assert.partialDeepStrictEqual(await fixture.store.retention.sweep(trackerId, step(now + day - 1)), {
        events: 0,
      })
      assert.partialDeepStrictEqual(await fixture.store.retention.sweep(trackerId, step(now + day)), {
        events: 2,
      })
      assert.equal(await eventsOf(trackerId), 1)
    })

    it('deletes nothing newer than a hundred years if no window is remembered', async () => {
      const id = fixture.fresh('organisation')
      await fixture.store.organisations.create({ id, name: id, plan: 'free', createdAt: 1 })
      const { trackerId } = await fixture.createTracker(id)
      await fill(trackerId, [5, 500, 36_501])
      for (const instant of [now, now + 2 * day])
        await fixture.store.retention.sweep(trackerId, step(instant))
      assert.equal(await eventsOf(trackerId), 2)
    })

    it('stops deleting by a plan once a change to a longer one has succeeded', async () => {
      const { organisationId, trackerId } = await fixture.createTracker()
      await settle(organisationId, 'immediately')
      await fill(
        trackerId,
        Array.from({ length: 20 }, (_, i) => 11 + i / 100),
      )
      for (let round = 0; round < 5; round++) {
        const sweeping = [1, 2].map(() => fixture.store.retention.sweep(trackerId, step(now, 4)))
        await fixture.store.organisations.setPlan(organisationId, 'business')
        const left = await eventsOf(trackerId)
        await Promise.all(sweeping)
        await fixture.store.retention.sweep(trackerId, step())
        assert.equal(await eventsOf(trackerId), left)
        await fixture.store.organisations.setPlan(organisationId, 'free')
      }
      assert.equal((await fixture.store.retention.sweep(trackerId, step())).isDone, true)
    })
  })

  it('data from before an instant is counted as a sweep would delete it', async () => {
    const { trackerId } = await fixture.createTracker()
    const session = (subjectId: string, startedAt: number, endedAt: number) =>
      sessionRow({ trackerId, subjectId, sessionId: 's', startedAt, endedAt })
    await fill(trackerId, [1, 3])
    await fixture.ingest([
      session('over', now - 5 * day, now - day),
      session('old', now - 5 * day, now - 4 * day),
    ])
    const counts = await fixture.store.retention.countBefore(trackerId, now - 2 * day)
    assert.deepEqual(counts, { subjects: 2, sessions: 2, events: 1 })
    const none = { subjects: 0, sessions: 0, events: 0 }
    assert.deepEqual(await fixture.store.retention.countBefore('nothing', now), none)
  })

  describe('the activity', () => {
    /** Adds one activity entry for each age in days. */
    async function leave(organisationId: string, ages: readonly number[]): Promise<void> {
      for (const [number, age] of ages.entries()) {
        const note: ActivityNote = {
          ...{ id: `n${number}`, organisationId, at: now - age * day, actor: { kind: 'command-line' } },
          ...{ kind: 'organisation.plan-changed', target: null, requestId: null },
        }
        await fixture.store.organisations.setPlan(organisationId, number % 2 ? 'free' : 'pro', note)
      }
    }
    const agesOf = async (organisationId: string) => {
      const query = { limit: 99, after: null, requestId: null }
      const { rows } = await fixture.store.activity.list(organisationId, query)
      return rows.map((entry) => (now - entry.at) / day)
    }

    it('is swept in steps of limited size, oldest first, for one organisation', async () => {
      const [one, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      for (const id of [one, other]) {
        await settle(id, 'immediately')
        await leave(id, [1, 50, 51, 52, 53, 54])
      }
      assert.equal(await fixture.store.retention.countActivityBefore(one, now - 50 * day), 4)
      const steps = []
      for (let isDone = false; !isDone; isDone = steps.at(-1)?.isDone ?? true) {
        steps.push(await fixture.store.retention.sweepActivity(one, step(now, 3)))
      }
      assert.deepEqual(steps, [
        { entries: 3, isDone: false },
        { entries: 1, isDone: true },
      ])
      assert.deepEqual(await agesOf(one), [1, 50])
      assert.deepEqual(await agesOf(other), [1, 50, 51, 52, 53, 54])
    })

    it('waits for a day after its window was shortened, and while no window is remembered', async () => {
      const id = await fixture.createOrganisation()
      await settle(id, 'immediately', keeping(100))
      await leave(id, [60])
      await settle(id, 'grace')
      const swept = async (instant: number) =>
        (await fixture.store.retention.sweepActivity(id, step(instant))).entries
      assert.deepEqual([await swept(now), await swept(now + day - 1), await swept(now + day)], [0, 0, 1])
      assert.deepEqual(await fixture.store.retention.sweepActivity('nobody', step()), {
        entries: 0,
        isDone: true,
      })
    })
  })
}
