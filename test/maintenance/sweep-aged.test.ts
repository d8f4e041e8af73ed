import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { DataCounts } from '../../src/domain/activity.ts'
import { defaultRetentionDays, type Plan, plans, type RetentionStore } from '../../src/domain/retention.ts'
import type { TrackerView } from '../../src/domain/tracker.ts'
import { type SweepDeps, type SweepOptions, sweepAged } from '../../src/maintenance/sweep.ts'
import { noon, openDeps } from '../operations/fixture.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { always, eventRow } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { defaultPolicy, rememberWindows } from '../support/windows.ts'

const { deps, fresh } = openDeps()
const day = 86_400_000
const nothing = { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 }

const sweep = (options: SweepOptions = {}, changed: Partial<SweepDeps> = {}) =>
  sweepAged({ ...deps(), ...changed }, options)

async function newTracker(plan: Plan, { isRemembered = true } = {}): Promise<TrackerView> {
  const [organisationId, trackerId] = [fresh('organisation'), fresh('tracker')]
  await deps().organisations.create({ id: organisationId, name: 'Acme', plan, createdAt: 1 })
  await deps().trackers.create({ id: trackerId, organisationId, name: 'Shop', createdAt: 1 })
  if (isRemembered) await rememberWindows(deps(), defaultPolicy, organisationId)
  return { organisationId, trackerId, since: always }
}

/** Stores an event of each subject, this many milliseconds ago. */
async function fill({ trackerId }: TrackerView, agesMs: Record<string, number>): Promise<void> {
  await deps().ingest.ingest(
    Object.entries(agesMs).map(([subjectId, ageMs]) =>
      eventRow({ trackerId, subjectId, eventId: 'e', occurredAt: noon - ageMs }),
    ),
    testKeys,
  )
}

/** Stores this many expired events of one subject, more than fit into a step. */
async function fillLarge({ trackerId }: TrackerView, count: number, ageMs = 5_000 * day): Promise<void> {
  await deps().ingest.ingest(
    Array.from({ length: count }, (_, i) =>
      eventRow({ trackerId, subjectId: 'busy', eventId: `e${i}`, occurredAt: noon - ageMs + i }),
    ),
    testKeys,
  )
}

async function subjectsOf(tracker: TrackerView): Promise<string[]> {
  const filters = { subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
  const page = await deps().subjects.list(tracker, { sort: 'subjectId', limit: 200, after: null, ...filters })
  return (page?.rows ?? []).map(({ subjectId }) => subjectId)
}

describe('sweeping expired data', () => {
  // Leaves nothing for the next test.
  afterEach(() => sweep({}, { clock: () => noon + 99_999 * day }))

  it('applies the window of each organisation’s plan', async () => {
    const trackers = new Map<Plan, TrackerView>()
    for (const plan of plans) {
      const tracker = await newTracker(plan)
      trackers.set(plan, tracker)
      const windowMs = defaultRetentionDays[plan] * day
      await fill(tracker, { young: 0, edge: windowMs, aged: windowMs + 1, ancient: 40_000 * day })
    }
    assert.deepEqual(await sweep(), { subjects: 8, sessions: 8, events: 8, activity: 0, requests: 0 })
    for (const [plan, tracker] of trackers) {
      assert.deepEqual(await subjectsOf(tracker), ['edge', 'young'], plan)
    }
    assert.deepEqual(await sweep(), nothing)
  })

  it('applies the given windows and the current plan, and a shorter one after a day', async () => {
    const tracker = await newTracker('starter')
    const { organisationId } = tracker
    const retentionDays = { free: 15, starter: 25, pro: 25_000, business: 25_000 }
    await rememberWindows(deps(), { ...defaultPolicy, retentionDays }, organisationId)
    await fill(tracker, { a: 10 * day, b: 20 * day, c: 30 * day })
    const later = (ms: number) => sweep({}, { retentionDays, clock: () => noon + ms })
    assert.deepEqual(await later(0), { subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 })
    await deps().organisations.setPlan(organisationId, 'pro')
    assert.deepEqual(await later(0), nothing)
    await deps().organisations.setPlan(organisationId, 'free')
    assert.deepEqual(await later(0), nothing)
    assert.deepEqual(await later(day - 1), nothing)
    assert.deepEqual(await later(day), { subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 })
    assert.deepEqual(await subjectsOf(tracker), ['a'])
  })

  it('deletes nothing without the variable that previous sweeps had', async () => {
    const tracker = await newTracker('free')
    const retentionDays = { ...defaultRetentionDays, free: 3_650 }
    await fill(tracker, { a: 900 * day })
    assert.deepEqual(await sweep({}, { retentionDays }), nothing)
    const hour = 3_600_000
    for (let ms = 0; ms < day; ms += hour) {
      assert.deepEqual(await sweep({}, { clock: () => noon + ms }), nothing)
    }
    // A sweep with the variable restarts the waiting time of the others.
    await sweep({}, { retentionDays, clock: () => noon + day - 1 })
    assert.deepEqual(await sweep({}, { clock: () => noon + day + hour }), nothing)
    assert.deepEqual(await sweep({}, { clock: () => noon + 2 * day }), nothing)
    const swept = await sweep({}, { clock: () => noon + 2 * day + hour })
    assert.deepEqual(swept, { subjects: 1, sessions: 1, events: 1, activity: 0, requests: 0 })
  })

  it('waits for a day if the store has no window, as after an upgrade', async () => {
    const tracker = await newTracker('free', { isRemembered: false })
    await fill(tracker, { a: 900 * day })
    assert.deepEqual(await sweep(), nothing)
    assert.deepEqual(await sweep({}, { clock: () => noon + day - 1 }), nothing)
    assert.partialDeepStrictEqual(await sweep({}, { clock: () => noon + day }), { events: 1 })
  })

  it('deletes closed requests by the window of the activity, and a shorter one after a day', async () => {
    const { organisationId } = await newTracker('free')
    await storeRequest(deps(), organisationId, { receivedAt: noon - 90 * day })
    const closed = ['cancelled', noon - 60 * day] as const
    const ref = await storeRequest(deps(), organisationId, { receivedAt: noon - 90 * day, closed })
    const later = (ms: number) => sweep({}, { activityDays: 50, clock: () => noon + ms })
    assert.deepEqual([await later(0), await later(day - 1)], [nothing, nothing])
    assert.notEqual(await deps().privacyRequests.find(ref), null)
    assert.deepEqual(await later(day), { ...nothing, activity: 3, requests: 1 })
    assert.equal(await deps().privacyRequests.find(ref), null)
  })

  it('reads the plan for each step, so that a running pass stops when it becomes longer', async () => {
    const tracker = await newTracker('free')
    await fill(tracker, { first: 300 * day })
    await fillLarge(tracker, 5_100, 300 * day)
    const retention: RetentionStore = {
      ...deps().retention,
      async sweep(...args) {
        const step = await deps().retention.sweep(...args)
        if (step.events > 0) await deps().organisations.setPlan(tracker.organisationId, 'business')
        return step
      },
    }
    const swept = await sweep({}, { retention })
    assert.ok(swept.events > 0 && swept.events < 5_100, `${swept.events} events`)
    const left = await deps().retention.countBefore(tracker.trackerId, noon)
    assert.equal(left.events, 5_101 - swept.events)
  })

  it('reads the clock for each step, and stops if the clock is doubtful', async () => {
    const tracker = await newTracker('free')
    await fillLarge(tracker, 10_100)
    const times: number[] = []
    let now = noon
    const retention: RetentionStore = {
      ...deps().retention,
      sweep(trackerId, step) {
        if (trackerId === tracker.trackerId) times.push(step.now)
        return deps().retention.sweep(trackerId, step)
      },
    }
    const clock = () => ++now
    const swept = await sweep({ isClockDoubtful: () => times.length === 2 }, { retention, clock })
    assert.equal(times.length, 2)
    assert.ok((times[0] ?? 0) < (times[1] ?? 0))
    assert.equal(swept.events, 10_000)
  })

  it('depends on the clock', async () => {
    const tracker = await newTracker('free')
    await fill(tracker, { a: 0 })
    const after = (ms: number) => sweep({}, { clock: () => noon + ms })
    assert.deepEqual(await after(180 * day), nothing)
    assert.deepEqual(await after(180 * day + 1), {
      subjects: 1,
      sessions: 1,
      events: 1,
      activity: 0,
      requests: 0,
    })
    assert.deepEqual(await subjectsOf(tracker), [])
  })

  it('covers every tracker of an organisation', async () => {
    const first = await newTracker('free')
    const second = { ...first, trackerId: fresh('tracker') }
    const { organisationId, trackerId } = second
    await deps().trackers.create({ id: trackerId, organisationId, name: 'Blog', createdAt: 2 })
    for (const tracker of [first, second]) await fill(tracker, { aged: 200 * day, young: day })
    assert.deepEqual(await sweep(), { subjects: 2, sessions: 2, events: 2, activity: 0, requests: 0 })
    for (const tracker of [first, second]) assert.deepEqual(await subjectsOf(tracker), ['young'])
  })

  it('works in steps, and reports the totals after each', async () => {
    const tracker = await newTracker('free')
    await fillLarge(tracker, 5_100)
    const reports: DataCounts[] = []
    const total = await sweep({ onProgress: (swept) => reports.push(swept) })
    assert.deepEqual(total, { subjects: 1, sessions: 1, events: 5_100, activity: 0, requests: 0 })
    const own = reports.filter(({ events }) => events > 0)
    assert.deepEqual(own.at(-1), total)
    assert.ok(own.length >= 2, `${own.length} steps`)
    assert.ok(own[0] && own[0].events < 5_100, 'the first report came before the end')
    for (const [i, { events }] of own.entries()) assert.ok(events >= (own[i - 1]?.events ?? 0))
  })

  it('can be stopped between two steps, and continues the next time', async () => {
    const [first, second] = [await newTracker('free'), await newTracker('free')]
    await fillLarge(first, 5_100)
    await fill(second, { busy: 5_000 * day })
    const stopping = new AbortController()
    const retention: RetentionStore = {
      ...deps().retention,
      async sweep(...args) {
        const step = await deps().retention.sweep(...args)
        if (step.events > 0) stopping.abort()
        return step
      },
    }
    const swept = await sweep({ signal: stopping.signal }, { retention })
    assert.ok(swept.events > 0 && swept.events < 5_100, `${swept.events} events`)
    assert.deepEqual(await subjectsOf(second), ['busy'])
    const rest = await sweep()
    assert.deepEqual(rest, {
      subjects: 2,
      sessions: 2,
      events: 5_101 - swept.events,
      activity: 0,
      requests: 0,
    })
  })

  it('does nothing if stopped before the start', async () => {
    const tracker = await newTracker('free')
    await fill(tracker, { aged: 200 * day })
    assert.deepEqual(await sweep({ signal: AbortSignal.abort() }), nothing)
    assert.deepEqual(await subjectsOf(tracker), ['aged'])
  })

  it('yields between trackers, even if there is nothing to do', async () => {
    const { organisationId } = await newTracker('free')
    for (let i = 0; i < 30; i++) {
      await deps().trackers.create({ id: fresh('tracker'), organisationId, name: 'Shop', createdAt: i })
    }
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setImmediate(turn)
    }
    setImmediate(turn)
    await sweep()
    isDone = true
    assert.ok(turns >= 30, `${turns} turns`)
  })
})
