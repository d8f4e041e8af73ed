import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DataCounts } from '../../../src/domain/activity.ts'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { Instant } from '../../../src/domain/instant.ts'
import { type SubjectQuery, subjectSorts } from '../../../src/domain/subject.ts'
import type { TrackerView } from '../../../src/domain/tracker.ts'
import { always, eventRow, sessionRow } from '../../support/rows.ts'
import { type SeededRandom, seededRandom } from '../../support/seeded-random.ts'
import { eraseIn } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import { byCodePoints, type Fixture, type WholeSubject } from './fixture.ts'
import { someIdentifiers } from './ingest.ts'
import { TrackerModel } from './tracker-model.ts'

/** Every instant is a multiple of this, so that many coincide and the days around 1970 have several each. */
const tick = 7 * 3_600_000
/** The minimum number of steps, regardless of the timeout. */
const minSteps = 30
const subjectIds = ['anna', 'ann', 'ben', '🦦', '\uffff']
const eventNames = ['pageview', 'purchase', '__proto__']

/** A tracker and the model of its expected contents. */
interface Pair {
  tracker: TrackerView
  model: TrackerModel
}

/** How many steps to take, and for how long. */
interface AgeingPlan {
  steps: number
  timeoutMs?: number
}

export function ageingModelContract(
  fixture: Fixture,
  { steps, timeoutMs = 40_000 }: AgeingPlan = { steps: 36 },
): void {
  describe('batches, sweeps and erasures in any order, while the window moves', () => {
    it('always show the ingested data, and nothing that has aged out', async (t) => {
      const random = seededRandom()
      const walk = new Walk(fixture, random, await newPair(), await newPair())
      const deadline = performance.now() + timeoutMs
      for (let step = 0; step < steps; step++) {
        // A busy machine takes fewer steps, and the diagnostic reports it.
        if (step >= minSteps && performance.now() > deadline) {
          t.diagnostic(`${step} of ${steps} steps`)
          break
        }
        try {
          await walk.go()
          await walk.check(step % 20 === 0 ? 'both' : 'touched')
        } catch (error) {
          throw new Error(`LETHE_TEST_SEED=${random.seed}, step ${step}: ${walk.said}`, { cause: error })
        }
      }
    })

    async function newPair(): Promise<Pair> {
      return { tracker: await fixture.createTracker(), model: new TrackerModel() }
    }
  })
}

class Walk {
  readonly #fixture: Fixture
  readonly #random: SeededRandom
  readonly #pairs: readonly Pair[]
  #touched: Pair
  #since: Instant = -120 * tick
  /** A description of the last step. */
  said = 'nothing yet'

  constructor(fixture: Fixture, random: SeededRandom, first: Pair, second: Pair) {
    this.#fixture = fixture
    this.#random = random
    this.#pairs = [first, second]
    this.#touched = first
  }

  async go(): Promise<void> {
    const random = this.#random
    this.#touched = random.pick(this.#pairs)
    const kind = random.integer(100)
    if (kind < 55) await this.#ingest(this.#touched)
    else if (kind < 65) await this.#sweep(this.#touched)
    else if (kind < 80) await this.#sweepAStep(this.#touched)
    else if (kind < 88) await this.#erase(this.#touched)
    else {
      // Usually time passes; sometimes the organisation moves to a plan with a longer window.
      this.#since += (random.integer(30) - 8) * tick
      this.said = `the window begins at ${this.#since}`
    }
  }

  async #ingest({ tracker, model }: Pair): Promise<void> {
    const batch = Array.from({ length: 1 + this.#random.integer(10) }, () => this.#row(tracker.trackerId))
    // Some rows are in a batch twice.
    const doubled = this.#random.shuffle([...batch, ...batch.slice(0, this.#random.integer(3))])
    this.said = `ingested ${JSON.stringify(doubled)}`
    // The model does not count the rows that were already stored.
    const { unchanged: _, ...added } = await this.#fixture.ingest(doubled)
    assert.deepEqual(added, model.ingest(doubled))
  }

  /** A row that has not aged out; a session may have started before the window. */
  #row(trackerId: string): IncomingRow {
    const random = this.#random
    const subjectId = random.pick(subjectIds)
    const moment = this.#since + random.integer(30) * tick
    // Most sessions are short; one never ends.
    const sessionId = random.integer(8) === 0 ? 'long' : `s${Math.floor(moment / tick / 4)}`
    if (random.integer(3) === 0) {
      const startedAt = moment - random.integer(6) * tick
      const attributes = { country: random.pick(['AT', 'DE', 'FR']) }
      const said = { startedAt, endedAt: moment, attributes, ...someIdentifiers(random) }
      return sessionRow({ trackerId, subjectId, sessionId, ...said })
    }
    const number = random.integer(3)
    const content = { name: random.pick(eventNames), properties: { number } }
    return eventRow({
      trackerId,
      subjectId,
      sessionId,
      eventId: `e${number}`,
      occurredAt: moment,
      ...content,
      ...someIdentifiers(random),
    })
  }

  async #sweep({ tracker, model }: Pair): Promise<void> {
    const maxRows = 1 + this.#random.integer(20)
    this.said = `swept all before ${this.#since}, ${maxRows} rows at a time`
    const total = { subjects: 0, sessions: 0, events: 0 }
    for (let isDone = false, count = 0; !isDone; count++) {
      assert.ok(count < 1_000, 'a sweep comes to an end')
      const swept = await this.#fixture.store.retention.sweep(
        tracker.trackerId,
        stepBefore(this.#since, maxRows),
      )
      total.subjects += swept.subjects
      total.sessions += swept.sessions
      total.events += swept.events
      isDone = swept.isDone
    }
    assert.deepEqual(total, model.sweep(this.#since))
  }

  async #sweepAStep({ tracker, model }: Pair): Promise<void> {
    const maxRows = 1 + this.#random.integer(6)
    this.said = `swept ${maxRows} rows before ${this.#since}`
    const { isDone, ...swept } = await this.#fixture.store.retention.sweep(
      tracker.trackerId,
      stepBefore(this.#since, maxRows),
    )
    assert.ok(swept.sessions + swept.events <= maxRows, 'no more than it was told')
    const visible = model.view(this.#since)
    const gone = model.keepOnly(await this.#fixture.readAll(tracker))
    assert.deepEqual(swept, gone satisfies DataCounts)
    assert.deepEqual(model.view(this.#since), visible, 'nothing went that was to be seen')
    if (isDone) assert.deepEqual(model.sweep(this.#since), { subjects: 0, sessions: 0, events: 0 })
  }

  async #erase({ tracker, model }: Pair): Promise<void> {
    const subjectId = this.#random.pick(subjectIds)
    this.said = `erased ${subjectId}`
    const counts = await eraseIn(this.#fixture.store, { ...tracker, since: this.#since }, subjectId)
    assert.deepEqual(counts, model.erase(subjectId, this.#since))
  }

  async check(which: 'both' | 'touched'): Promise<void> {
    for (const { tracker, model } of which === 'both' ? this.#pairs : [this.#touched]) {
      assert.deepEqual(await this.#fixture.readAll(tracker), model.view(always), 'all there is')
      const windows = [this.#since, this.#since + 1, this.#since + this.#random.integer(30) * tick]
      const since = this.#random.pick(windows)
      await this.#checkView({ ...tracker, since }, model.view(since))
      assert.deepEqual(await this.#fixture.store.dailyTotals.list(tracker, -1e6, 1e6), model.totals())
    }
  }

  async #checkView(view: TrackerView, expected: readonly WholeSubject[]): Promise<void> {
    const random = this.#random
    assert.deepEqual(await this.#fixture.readAll(view, 1 + random.integer(12)), expected)
    for (const sort of subjectSorts) {
      const query = this.#query(sort)
      const listed = await this.#fixture.listSubjects(view, query)
      assert.deepEqual(listed, listOf(expected, query), JSON.stringify(query))
    }
    const subjectId = random.pick(subjectIds)
    const whole = expected.find(({ record }) => record.subjectId === subjectId)
    const after = null
    if (whole) {
      const { sessionId } = random.pick([...whole.sessions, { sessionId: 'unknown' }])
      const limit = 1 + random.integer(4)
      const events = whole.events.filter((event) => event.sessionId === sessionId)
      assert.deepEqual(await this.#fixture.listEvents(view, subjectId, { sessionId, limit }), events)
    } else {
      const { subjects, sessions, events } = this.#fixture.store
      assert.equal(await subjects.read(view, subjectId), null)
      assert.equal(await sessions.list(view, subjectId, { limit: 9, after }), null)
      assert.equal(await events.list(view, subjectId, { limit: 9, after, sessionId: null }), null)
    }
  }

  #query(sort: SubjectQuery['sort']): SubjectQuery {
    const random = this.#random
    const bound = () => (random.integer(2) ? null : this.#since + (random.integer(40) - 5) * tick)
    const isById = sort === 'subjectId'
    return {
      ...{ sort, limit: 1 + random.integer(3), after: null },
      subjectIdPrefix: isById ? random.pick([null, 'a', 'ann', 'x']) : null,
      lastSeenAfter: isById ? null : bound(),
      lastSeenBefore: isById ? null : bound(),
    }
  }
}

/** The list that a query selects, computed from all subjects. */
function listOf(all: readonly WholeSubject[], query: SubjectQuery) {
  const { sort, subjectIdPrefix, lastSeenAfter, lastSeenBefore } = query
  const rows = all
    .map(({ record: { attributes: _, identifiers: __, ...summary } }) => summary)
    .filter(
      ({ subjectId, lastSeenAt }) =>
        subjectId.startsWith(subjectIdPrefix ?? '') &&
        lastSeenAt >= (lastSeenAfter ?? lastSeenAt) &&
        (lastSeenBefore === null || lastSeenAt < lastSeenBefore),
    )
  if (sort === 'subjectId') return rows
  const ascending = rows.sort((a, b) => a.lastSeenAt - b.lastSeenAt || byCodePoints(a.subjectId, b.subjectId))
  return sort === 'lastSeenAt' ? ascending : ascending.reverse()
}
