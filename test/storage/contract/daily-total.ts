import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DailySum, type DailyTotal, dayOf, maxNames } from '../../../src/domain/daily-total.ts'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { at, eventRow, sessionRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import type { Fixture } from './fixture.ts'

const midnight = at('2026-11-02T00:00:00.000Z')
const today = dayOf(midnight)
const day = 86_400_000

export function dailyTotalContract(fixture: Fixture): void {
  /**
   * The totals by day, with few event names, so that `otherEvents` must be zero. Checks that the sum of the
   * days is the same.
   */
  async function totals(
    tracker: TrackerView,
    from = -1e6,
    to = 1e6,
  ): Promise<Omit<DailyTotal, 'otherEvents'>[]> {
    const days = await fixture.store.dailyTotals.list(tracker, from, to)
    assert.ok(days, 'the tracker is there')
    assert.deepEqual(await fixture.store.dailyTotals.sum(tracker, from, to), days.map(addedUp))
    return days.map(({ otherEvents, ...total }) => {
      assert.equal(otherEvents, 0)
      return total
    })
  }

  function addedUp({ day, sessions, events, otherEvents }: DailyTotal): DailySum {
    return { day, sessions, events: Object.values(events).reduce((sum, count) => sum + count, otherEvents) }
  }

  describe('daily totals', () => {
    it('count events by their name and sessions by their start, day by day of UTC', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const event = (eventId: string, name: string, occurredAt: number) =>
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's1', eventId, name, occurredAt })
      await fixture.ingest([
        event('e1', 'pageview', midnight - 1),
        event('e2', 'pageview', midnight),
        event('e3', 'pageview', midnight + day - 1),
        event('e4', 'purchase', midnight + day - 1),
        event('e5', 'purchase', midnight + day),
        sessionRow({ trackerId, subjectId: 'ben', sessionId: 's1', startedAt: midnight }),
        sessionRow({ trackerId, subjectId: 'ben', sessionId: 's2', startedAt: midnight + 3 * day }),
      ])
      assert.deepEqual(await totals(tracker), [
        { day: today - 1, sessions: 1, events: { pageview: 1 } },
        { day: today, sessions: 1, events: { pageview: 2, purchase: 1 } },
        { day: today + 1, sessions: 0, events: { purchase: 1 } },
        { day: today + 3, sessions: 1, events: {} },
      ])
    })

    it('include days before 1970', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const instants = [-day - 1, -day, -1, 0, day - 1, at('0000-01-01T00:00:00.000Z')]
      await fixture.ingest(
        instants.map((occurredAt, i) =>
          eventRow({ trackerId, subjectId: 'anna', sessionId: `s${i}`, eventId: 'e', occurredAt }),
        ),
      )
      assert.deepEqual(await totals(tracker), [
        { day: -719_528, sessions: 1, events: { pageview: 1 } },
        { day: -2, sessions: 1, events: { pageview: 1 } },
        { day: -1, sessions: 2, events: { pageview: 2 } },
        { day: 0, sessions: 2, events: { pageview: 2 } },
      ])
    })

    it('are listed from one day to another, both included', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest(
        [0, 1, 2, 3, 4].map((i) =>
          eventRow({ trackerId, subjectId: 'anna', sessionId: `s${i}`, eventId: 'e', occurredAt: i * day }),
        ),
      )
      const days = async (from: number, to: number) =>
        (await totals(tracker, from, to)).map((total) => total.day)
      assert.deepEqual(await days(1, 3), [1, 2, 3])
      assert.deepEqual(await days(2, 2), [2])
      assert.deepEqual(await days(4, 9), [4])
      assert.deepEqual(await days(3, 1), [])
      assert.deepEqual(await days(5, 9), [])
    })

    it('accept any event name', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const names = ['__proto__', 'constructor', 'toString', ' ', '🦦', 'Pageview', 'pageview', '7', "';--"]
      await fixture.ingest(
        names.map((name) =>
          eventRow({ trackerId, subjectId: 'anna', eventId: name, name, occurredAt: midnight }),
        ),
      )
      const [total] = await totals(tracker)
      assert.deepEqual(new Map(Object.entries(total?.events ?? {})), new Map(names.map((name) => [name, 1])))
    })

    it('name the most frequent events, and add up all others', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const nameOf = (number: number) => `name-${String(number).padStart(5, '0')}`
      const event = (eventId: string, number: number, occurredAt: number) =>
        eventRow({ trackerId, subjectId: 'anna', sessionId: 's', eventId, name: nameOf(number), occurredAt })
      // The last name happened twice. Of the others, the first ones are listed.
      const count = maxNames + 50
      const numbers = Array.from({ length: count }, (_, number) => number)
      await fixture.ingest([
        ...numbers.map((number) => event(`${number}`, number, midnight)),
        event('once more', count - 1, midnight + 1),
        event('tomorrow', 7, midnight + day),
      ])
      const days = await fixture.store.dailyTotals.list(tracker, -1e6, 1e6)
      assert.ok(days)
      const told = [
        ...numbers.slice(0, maxNames - 1).map((number) => [nameOf(number), 1]),
        [nameOf(count - 1), 2],
      ]
      assert.deepEqual(days, [
        { day: today, sessions: 1, events: Object.fromEntries(told), otherEvents: count - maxNames },
        { day: today + 1, sessions: 0, events: { [nameOf(7)]: 1 }, otherEvents: 0 },
      ])
      assert.deepEqual(await fixture.store.dailyTotals.sum(tracker, -1e6, 1e6), [
        { day: today, sessions: 1, events: count + 1 },
        { day: today + 1, sessions: 0, events: 1 },
      ])
    })

    it('are empty for a tracker without data, and null for one that is not visible', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      assert.deepEqual(await totals(tracker), [])
      await fixture.ingest([eventRow({ trackerId, subjectId: 'anna', eventId: 'e' })])
      const organisationId = await fixture.createOrganisation()
      for (const foreign of [
        { ...tracker, organisationId },
        { ...tracker, organisationId: 'nobody' },
        { ...tracker, trackerId: 'no-such-tracker' },
      ]) {
        assert.equal(await fixture.store.dailyTotals.list(foreign, -1e6, 1e6), null)
        assert.equal(await fixture.store.dailyTotals.sum(foreign, -1e6, 1e6), null)
      }
    })

    it('are separate for each tracker', async () => {
      const tracker = await fixture.createTracker()
      const sibling = await fixture.createTracker(tracker.organisationId)
      const rows = [tracker, sibling, sibling].map(({ trackerId }, i) =>
        eventRow({ trackerId, subjectId: 'anna', eventId: `e${i}`, occurredAt: midnight }),
      )
      await fixture.ingest(rows)
      assert.deepEqual(await totals(tracker), [{ day: today, sessions: 1, events: { pageview: 1 } }])
      assert.deepEqual(await totals(sibling), [{ day: today, sessions: 1, events: { pageview: 2 } }])
    })
  })

  describe('data in daily totals', () => {
    it('is counted once, however often it is ingested and in which batches', async () => {
      const random = seededRandom()
      const rows: IncomingRow[] = Array.from({ length: 120 }, (_, i) => {
        const session = { subjectId: `visitor-${i % 7}`, sessionId: `s${i % 20}` }
        const startedAt = midnight + (i % 20) * (day / 4) + random.integer(day / 4)
        return i % 3 === 0
          ? sessionRow({ ...session, startedAt })
          : eventRow({ ...session, eventId: `e${i}`, name: `n${i % 4}`, occurredAt: startedAt })
      })
      const first = await fixture.createTracker()
      await fixture.ingest(rows.map((row) => ({ ...row, trackerId: first.trackerId })))
      const expected = await totals(first)
      const added = expected.flatMap((total) => Object.values(total.events)).reduce((a, b) => a + b)
      assert.equal(added, 80)
      const tracker = await fixture.createTracker()
      const own = random.shuffle(rows).map((row) => ({ ...row, trackerId: tracker.trackerId }))
      for (let next = 0; next < own.length; next += 10) {
        // Batches overlap, like those of an import that was interrupted and restarted.
        await fixture.ingest(own.slice(Math.max(0, next - random.integer(15)), next + 10))
      }
      assert.deepEqual(await totals(tracker), expected, `LETHE_TEST_SEED=${random.seed}`)
    })

    it('moves with a session to an earlier start', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const say = (startedAt: number, sessionId = 's1') =>
        fixture.ingest([
          sessionRow({ trackerId, subjectId: 'anna', sessionId, startedAt, endedAt: midnight + day }),
        ])
      await say(midnight)
      await say(midnight, 's2')
      await say(midnight - day)
      assert.deepEqual(await totals(tracker), [
        { day: today - 1, sessions: 1, events: {} },
        { day: today, sessions: 1, events: {} },
      ])
      // A later start changes nothing. Moving the only session of a day removes the empty day.
      await say(midnight - day + 5)
      await say(midnight + day)
      await say(midnight - 2 * day, 's2')
      assert.deepEqual(await totals(tracker), [
        { day: today - 2, sessions: 1, events: {} },
        { day: today - 1, sessions: 1, events: {} },
      ])
    })

    it('moves within one batch too, and for an earlier event', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const session = { trackerId, subjectId: 'anna', sessionId: 's' }
      await fixture.ingest([sessionRow({ ...session, startedAt: midnight })])
      await fixture.ingest([
        sessionRow({ ...session, startedAt: midnight - day }),
        eventRow({ ...session, eventId: 'e', occurredAt: midnight - 3 * day }),
      ])
      assert.deepEqual(await totals(tracker), [{ day: today - 3, sessions: 1, events: { pageview: 1 } }])
    })

    it('is kept after erasure, after retention, and after both', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      await fixture.ingest(
        ['anna', 'ben', 'cleo'].flatMap((subjectId, i) => [
          sessionRow({ trackerId, subjectId, sessionId: 's', startedAt: midnight + i * day }),
          eventRow({ trackerId, subjectId, sessionId: 's', eventId: 'e', occurredAt: midnight + i * day }),
        ]),
      )
      const before = await totals(tracker)
      assert.equal(before.length, 3)
      await eraseIn(fixture.store, tracker, 'anna')
      assert.deepEqual(await totals(tracker), before)
      const swept = await fixture.store.retention.sweep(trackerId, stepBefore(midnight + 2 * day, 100))
      assert.deepEqual(swept, { subjects: 1, sessions: 1, events: 1, isDone: true })
      await eraseIn(fixture.store, { ...tracker, since: midnight + 3 * day }, 'cleo')
      assert.deepEqual(await fixture.listSubjectIds(tracker), [])
      assert.deepEqual(await totals(tracker), before)
    })

    it('shows the most frequent events of the selected days', async () => {
      const tracker = await fixture.createTracker()
      const { trackerId } = tracker
      const on = (day: number, name: string, count: number) =>
        Array.from({ length: count }, (_, i) =>
          eventRow({
            trackerId,
            subjectId: 'anna',
            name,
            eventId: `${day}-${name}-${i}`,
            occurredAt: day * 86_400_000,
          }),
        )
      const rows = [
        ...on(100, 'pageview', 3),
        ...on(101, 'pageview', 2),
        ...on(101, 'sale', 4),
        ...on(101, 'a', 2),
      ]
      await fixture.ingest(rows)
      const { dailyTotals } = fixture.store
      const names = [
        { name: 'pageview', count: 5 },
        { name: 'sale', count: 4 },
        { name: 'a', count: 2 },
      ]
      assert.deepEqual(await dailyTotals.names(tracker, 100, 101, 9), { names, isComplete: true })
      const latest = await dailyTotals.names(tracker, 101, 200, 2)
      assert.deepEqual(latest?.names, [
        { name: 'sale', count: 4 },
        { name: 'a', count: 2 },
      ])
      assert.equal(await dailyTotals.names({ ...tracker, organisationId: 'nobody' }, 100, 101, 9), null)
    })
  })
}
