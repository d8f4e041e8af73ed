import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../src/domain/instant.ts'
import type { Store } from '../../src/domain/store.ts'
import {
  isScrubDue,
  type MaintenanceSchedule,
  runMaintenance,
  type SweepPass,
} from '../../src/maintenance/maintenance.ts'
import { type SweptTotals, sweepAged } from '../../src/maintenance/sweep.ts'
import { emptyStore, openStoreAt } from '../support/empty-store.ts'
import { addShop } from '../support/filled-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { always, at, eventRow } from '../support/rows.ts'
import { eraseIn, testKeys } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'
import { defaultPolicy, keeping, rememberWindows } from '../support/windows.ts'

const noon = at('2026-11-15T12:00:00.000Z')
const hour = 3_600_000
const day = 24 * hour
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

describe('whether a scrub is due', () => {
  const three = at('2026-11-15T03:00:00.000Z')
  const cases: [what: string, lastAt: Instant, now: Instant, expected: boolean][] = [
    ['yesterday’s, just before the hour', three - day, three - 1, false],
    ['yesterday’s, at the hour', three - day, three, true],
    ['yesterday’s, later in the day', three - day + 5, three + 9 * hour, true],
    ['today’s at the hour, a moment later', three, three + 1, false],
    ['today’s, late in the evening', three + 5, three + 20 * hour, false],
    ['today’s, run manually before the hour', three - 1, three, true],
    ['today’s, run manually after the hour, the next night', three + 12 * hour, three + day, true],
    ['an old one, before the hour', three - 9 * day, three - 2 * hour, true],
    ['one of a clock slightly ahead', three + day + hour, three + day, false],
    ['one from the future, after the clock was set back', three + 9 * day, three + day, true],
  ]
  for (const [what, lastAt, now, expected] of cases) {
    it(`after ${what}: ${expected ? 'yes' : 'no'}`, () => {
      assert.equal(isScrubDue({ lastAt, isDue: true }, 3, now), expected)
      assert.equal(isScrubDue({ lastAt, isDue: false }, 3, now), false, 'never with nothing to do')
    })
  }

  it('depends on the configured hour', () => {
    const midnight = at('2026-11-15T00:00:00.000Z')
    for (let scrubHour = 0; scrubHour < 24; scrubHour++) {
      const state = { lastAt: midnight + scrubHour * hour - 1, isDue: true }
      assert.equal(isScrubDue(state, scrubHour, midnight + scrubHour * hour - 1), false)
      assert.equal(isScrubDue(state, scrubHour, midnight + scrubHour * hour), true)
    }
  })
})

/** A store for one test, with the maintenance of one or more services. */
async function openMaintained(t: TestContext) {
  const lifetime = inReverse(t)
  const address = await emptyStore(lifetime)
  const store = await openStore()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await addShop(store)
  await rememberWindows(store)
  let now = noon

  async function openStore(): Promise<Store> {
    const opened = await openStoreAt(address, { writesHere: true })
    lifetime.after(() => opened.close())
    return opened
  }

  return {
    store,
    openStore,
    clock: () => now,
    moveClock(to: Instant) {
      now = to
    },
    /** Adds events that have expired on every plan. */
    async addAged(subjectId: string, count = 1) {
      await store.ingest.ingest(
        Array.from({ length: count }, (_, i) =>
          eventRow({ subjectId, eventId: `e${i}`, occurredAt: noon - 9_999 * day + i }),
        ),
        testKeys,
      )
    },
    hasAged: async (subjectId: string) => (await store.subjects.read(tracker, subjectId)) !== null,
    /** Starts the maintenance of a store, with some ports replaced; it stops with the test at the latest. */
    keep(own: Store = store, rules: Partial<MaintenanceSchedule> = {}, policy = defaultPolicy) {
      const passes: SweepPass[] = []
      /** The totals of the passes that deleted something. */
      const swept: SweptTotals[] = []
      const durations: number[] = []
      const errors: unknown[] = []
      const waiting: [count: number, added: string[]][] = []
      const rounds = { begun: 0, ended: 0 }
      const withMaintenanceLock: Store['maintenance']['withMaintenanceLock'] = async (work) => {
        rounds.begun++
        try {
          return await own.maintenance.withMaintenanceLock(work)
        } finally {
          rounds.ended++
        }
      }
      const maintenance = runMaintenance(
        {
          ...own,
          maintenance: { ...own.maintenance, withMaintenanceLock },
          ...policy,
          clock: () => now,
          passedMs: () => now,
        },
        { sweepSeconds: 60, scrubHour: 'off', ...rules },
        {
          onWaitingWindows: (count, added) =>
            waiting.push([count, added.map(({ organisationId }) => organisationId)]),
          onSwept: (pass) => {
            passes.push(pass)
            if (pass.swept.events === 0) return
            swept.push(pass.swept)
            durations.push(pass.durationMs)
          },
          onScrubbed: (durationMs) => durations.push(durationMs),
          onClockJumped: () => assert.fail('time passes as it should here'),
          onError: (error) => errors.push(error),
        },
      )
      lifetime.after(() => maintenance.stop())
      /** Waits until this number of rounds have ended, and the next is scheduled. */
      async function ended(count: number): Promise<void> {
        await until(() => rounds.ended >= count)
        await nextTurn()
        assert.deepEqual(rounds, { begun: count, ended: count })
      }
      return { stop: () => maintenance.stop(), passes, swept, durations, errors, waiting, ended }
    },
  }
}

/** Blocks a sweep: `reached` resolves when it starts, and `open()` lets it continue. */
function gated(store: Store) {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const sweep: Store['retention']['sweep'] = async (...args) => {
    reach()
    await opened
    return store.retention.sweep(...args)
  }
  return { store: { ...store, retention: { ...store.retention, sweep } }, reached, open }
}

describe('the maintenance of a service', () => {
  it('sweeps at startup and after every interval', async (t) => {
    const { keep, addAged, hasAged } = await openMaintained(t)
    await addAged('anna')
    const maintenance = keep()
    await maintenance.ended(1)
    assert.deepEqual(maintenance.swept, [{ subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 }])
    for (const round of [2, 3]) {
      await addAged('ben')
      t.mock.timers.tick(59_999)
      await nextTurn()
      await maintenance.ended(round - 1)
      assert.equal(await hasAged('ben'), true)
      t.mock.timers.tick(1)
      await maintenance.ended(round)
      assert.equal(await hasAged('ben'), false)
      assert.equal(maintenance.swept.length, round)
    }
    assert.ok(maintenance.durations.every((durationMs) => durationMs > 0))
    assert.deepEqual(maintenance.errors, [])
  })

  it('reports a shortened window once, and the number of waiting ones each time', async (t) => {
    const { keep, store, addAged, hasAged, moveClock } = await openMaintained(t)
    await addAged('anna')
    await rememberWindows(store, keeping(36_500), 'acme')
    const maintenance = keep()
    await maintenance.ended(1)
    t.mock.timers.tick(60_000)
    await maintenance.ended(2)
    assert.deepEqual(maintenance.waiting, [
      [2, ['acme', 'acme']],
      [2, []],
    ])
    assert.equal(await hasAged('anna'), true)
    moveClock(noon + day)
    t.mock.timers.tick(60_000)
    await maintenance.ended(3)
    assert.deepEqual(maintenance.waiting.at(-1), [0, []])
    assert.equal(await hasAged('anna'), false)
  })

  it('prevents another process from deleting by a shorter window, even while that process holds the lock', async (t) => {
    const { keep, store, openStore, addAged, hasAged, moveClock } = await openMaintained(t)
    await addAged('anna')
    const long = { ...defaultPolicy, retentionDays: { ...defaultPolicy.retentionDays, free: 36_500 } }
    await rememberWindows(store, long, 'acme')
    const other = await openStore()
    await other.maintenance.withMaintenanceLock(async () => {
      // The other process holds the lock, and sweeps without the variable of this process.
      const sweep = () => sweepAged({ ...other, ...defaultPolicy, clock: () => noon + 2 * day })
      await other.retention.settleWindows({ policy: defaultPolicy, now: noon, rule: 'grace' })
      moveClock(noon + day)
      const maintenance = keep(store, {}, long)
      await maintenance.ended(1)
      await sweep()
      assert.equal(await hasAged('anna'), true)
      await maintenance.stop()
    })
  })

  it('finishes interrupted deletions, and sweeps even if that fails', async (t) => {
    const { keep, store, addAged, hasAged } = await openMaintained(t)
    await addAged('anna')
    const doomed = { id: 'blog', organisationId: 'acme', name: 'Blog', createdAt: 1 }
    await store.trackers.create(doomed)
    await store.ingest.ingest([eventRow({ trackerId: 'blog', subjectId: 'ben', eventId: 'e' })], testKeys)
    const actor = { kind: 'command-line' } as const
    const note = { id: 'n', organisationId: 'acme', at: noon, actor, target: null, requestId: null }
    const kind = 'tracker.deleted'
    await store.deletions.deleteTracker({ ...tracker, trackerId: 'blog' }, 'Blog', noon, { ...note, kind })
    const removeTracker = () => Promise.reject(new Error('the disk is full'))
    const failing = keep({ ...store, deletions: { ...store.deletions, removeTracker } })
    await failing.ended(1)
    assert.equal(failing.errors.length, 1)
    assert.equal(await hasAged('anna'), false)
    await failing.stop()
    const maintenance = keep()
    await maintenance.ended(1)
    assert.deepEqual([await store.deletions.listTrackers(), maintenance.errors], [[], []])
  })

  it('reports every pass, even without deletions', async (t) => {
    const { keep } = await openMaintained(t)
    const maintenance = keep()
    await maintenance.ended(1)
    const [{ durationMs = 0, ...pass } = {}, ...others] = maintenance.passes
    const nothing = { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 }
    assert.deepEqual(pass, { swept: nothing, begunAt: noon, isComplete: true })
    assert.ok(durationMs > 0)
    assert.deepEqual([others, maintenance.errors], [[], []])
  })

  it('reports what a pass deleted before it failed', async (t) => {
    const { keep, addAged, store } = await openMaintained(t)
    await addAged('busy', 5_100)
    let steps = 0
    const sweep: Store['retention']['sweep'] = (...args) =>
      ++steps === 2 ? Promise.reject(new Error('the disk is full')) : store.retention.sweep(...args)
    const maintenance = keep({ ...store, retention: { ...store.retention, sweep } })
    await maintenance.ended(1)
    assert.partialDeepStrictEqual(maintenance.passes, [{ isComplete: false, swept: { events: 5_000 } }])
    assert.equal(maintenance.errors.length, 1)
  })

  it('runs in one of two processes at a time, and in the other one later', async (t) => {
    const { keep, addAged, hasAged, store, openStore } = await openMaintained(t)
    await addAged('anna')
    const gate = gated(store)
    const first = keep(gate.store)
    await gate.reached
    const second = keep(await openStore())
    await second.ended(1)
    assert.equal(await hasAged('anna'), true)
    assert.deepEqual([second.swept, second.errors], [[], []])
    gate.open()
    await first.ended(1)
    assert.deepEqual(first.swept, [{ subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 }])
    await first.stop()
    await addAged('ben')
    t.mock.timers.tick(60_000)
    await second.ended(2)
    assert.deepEqual(second.swept, [{ subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 }])
  })

  it('reports an error, and continues after the interval', async (t) => {
    const { keep, addAged, store } = await openMaintained(t)
    await addAged('anna')
    const disk = new Error('the disk is full')
    let tries = 0
    const sweep: Store['retention']['sweep'] = (...args) =>
      ++tries === 1 ? Promise.reject(disk) : store.retention.sweep(...args)
    const maintenance = keep({ ...store, retention: { ...store.retention, sweep } })
    await maintenance.ended(1)
    assert.deepEqual([maintenance.errors, maintenance.swept], [[disk], []])
    t.mock.timers.tick(60_000)
    await maintenance.ended(2)
    assert.deepEqual(maintenance.swept, [{ subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 }])
    assert.deepEqual(maintenance.errors, [disk])
  })

  it('finishes its current step when stopped, and starts no other', async (t) => {
    const { keep, addAged, hasAged, store } = await openMaintained(t)
    await store.maintenance.scrub(noon - 2 * day)
    await addAged('busy', 5_100)
    const gate = gated(store)
    const maintenance = keep(gate.store, { scrubHour: 0 })
    await gate.reached
    let isStopped = false
    const stop = maintenance.stop().then(() => {
      isStopped = true
    })
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.equal(isStopped, false)
    gate.open()
    await stop
    assert.equal(maintenance.swept.length, 1)
    assert.equal(maintenance.passes[0]?.isComplete, false)
    assert.ok(maintenance.swept[0] && maintenance.swept[0].events > 0 && maintenance.swept[0].events < 5_100)
    assert.equal(await hasAged('busy'), true)
    assert.equal((await store.maintenance.scrubState()).isDue, true, 'no scrub was begun either')
    t.mock.timers.tick(600_000)
    await nextTurn()
    await maintenance.ended(1)
    assert.deepEqual(await store.maintenance.withMaintenanceLock(async () => 'free'), 'free')
  })

  it('can be stopped between two rounds, and twice', async (t) => {
    const { keep } = await openMaintained(t)
    const maintenance = keep()
    await maintenance.ended(1)
    await maintenance.stop()
    await maintenance.stop()
    t.mock.timers.tick(600_000)
    await nextTurn()
    await maintenance.ended(1)
  })
})

describe('the nightly scrub', () => {
  const three = at('2026-11-16T03:00:00.000Z')

  it('runs once at its hour if something was deleted', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    await addAged('anna')
    const maintenance = keep(store, { scrubHour: 3 })
    await maintenance.ended(1)
    assert.equal(maintenance.durations.length, 1, 'the sweep')
    moveClock(three - 1)
    t.mock.timers.tick(60_000)
    await maintenance.ended(2)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: noon, isDue: true })
    moveClock(three)
    t.mock.timers.tick(60_000)
    await maintenance.ended(3)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: three, isDue: false })
    assert.equal(maintenance.durations.length, 2, 'and the scrub')
    moveClock(three + 1)
    t.mock.timers.tick(60_000)
    await maintenance.ended(4)
    assert.equal(maintenance.durations.length, 2)
    assert.deepEqual(maintenance.errors, [])
  })

  it('is caught up on by a service that starts later', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    await addAged('anna')
    await eraseIn(store, tracker, 'anna')
    moveClock(three + 5 * hour)
    await keep(store, { scrubHour: 3 }).ended(1)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: three + 5 * hour, isDue: false })
  })

  it('does not run if nothing was deleted or it is off', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    moveClock(three)
    await keep(store, { scrubHour: 3 }).ended(1)
    assert.equal((await store.maintenance.scrubState()).lastAt, noon)
    await addAged('anna')
    await keep(store, { scrubHour: 'off' }).ended(1)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: noon, isDue: true })
  })

  it('is reported if it fails, and retried in the next round', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    await addAged('anna')
    moveClock(three)
    const reader = new Error('Another process has been using old pages for a minute.')
    let tries = 0
    const scrub: Store['maintenance']['scrub'] = (now) =>
      ++tries === 1 ? Promise.reject(reader) : store.maintenance.scrub(now)
    const maintenance = keep({ ...store, maintenance: { ...store.maintenance, scrub } }, { scrubHour: 3 })
    await maintenance.ended(1)
    assert.deepEqual(maintenance.errors, [reader])
    assert.equal((await store.maintenance.scrubState()).isDue, true)
    t.mock.timers.tick(60_000)
    await maintenance.ended(2)
    assert.deepEqual(maintenance.errors, [reader])
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: three, isDue: false })
  })

  it('is retried at increasing intervals, at least once a day, if it keeps failing, while sweeps continue', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    await addAged('anna')
    moveClock(three)
    let tries = 0
    const scrub: Store['maintenance']['scrub'] = async () => {
      tries++
      throw new Error('database or disk is full')
    }
    const full = { ...store, maintenance: { ...store.maintenance, scrub } }
    const maintenance = keep(full, { scrubHour: 3, sweepSeconds: 6 * 3_600 })
    const triesAfter = []
    for (let round = 1; round <= 16; round++) {
      await maintenance.ended(round)
      triesAfter.push(tries)
      t.mock.timers.tick(6 * hour)
    }
    assert.deepEqual(triesAfter, [1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6])
    assert.equal(maintenance.errors.length, 6)
    assert.equal(maintenance.passes.length, 16)
  })

  it('stops with the service, without an error', async (t) => {
    const { keep, addAged, moveClock, store } = await openMaintained(t)
    await store.maintenance.scrub(noon)
    await addAged('anna')
    moveClock(three)
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const scrub: Store['maintenance']['scrub'] = async (_, { signal } = {}) => {
      begin()
      await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    }
    const maintenance = keep({ ...store, maintenance: { ...store.maintenance, scrub } }, { scrubHour: 3 })
    await begun
    await maintenance.stop()
    assert.deepEqual(maintenance.errors, [])
    assert.equal((await store.maintenance.scrubState()).isDue, true)
  })
})
