import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type IncomingRow, InvalidLine } from '../../src/domain/ingest.ts'
import type { Plan, RetentionPolicy, WindowSettling } from '../../src/domain/retention.ts'
import { subjectKey } from '../../src/domain/subject.ts'
import {
  type ImportOptions,
  importLines,
  maxBatchRows,
  transactionRows,
  withTicks,
} from '../../src/operations/import.ts'
import type { LineBlock } from '../../src/operations/ingest.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { always } from '../support/rows.ts'
import { testKeys } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'
import { defaultPolicy, keeping } from '../support/windows.ts'
import { addTracker, noon, openDeps } from './fixture.ts'

const { deps, fresh } = openDeps()

type Lines = readonly (string | InvalidLine)[]

async function* blockOf(lines: Lines): AsyncGenerator<LineBlock> {
  yield { source: 'visits', firstNumber: 1, lines }
}

/** Blocks that the test feeds and ends. */
function pipe() {
  const waiting: (string[] | null)[] = []
  let isFed = Promise.withResolvers<void>()
  return {
    feed(...lines: string[]): void {
      waiting.push(lines)
      isFed.resolve()
    },
    end(): void {
      waiting.push(null)
      isFed.resolve()
    },
    async *blocks(): AsyncGenerator<LineBlock> {
      for (let firstNumber = 1; ; ) {
        await isFed.promise
        isFed = Promise.withResolvers()
        for (const lines of waiting.splice(0)) {
          if (lines === null) return
          yield { source: 'pipe', firstNumber, lines }
          firstNumber += lines.length
        }
      }
    },
  }
}

/** Imports, and records the bad lines and the sizes of the batches. */
async function importAll(from: Lines | AsyncIterable<LineBlock>, options: Partial<ImportOptions> = {}) {
  const bad: [lineNumber: number, reason: string][] = []
  const batches: number[] = []
  const noting = {
    ...deps().ingest,
    ingest(batch: readonly IncomingRow[]) {
      batches.push(batch.length)
      return deps().ingest.ingest(batch, testKeys)
    },
  }
  const summary = await importLines(
    { ...deps(), ingest: noting },
    Symbol.asyncIterator in from ? from : blockOf(from),
    { onBadLine: (_source, lineNumber, reason) => bad.push([lineNumber, reason]), ...options },
  )
  return { summary, bad, batches }
}

interface Owned {
  organisationId: string
  trackerId: string
}

function readSubject(tracker: Owned, subjectId: string) {
  return deps().subjects.read({ ...tracker, since: always }, subjectId)
}

function line(fields: Record<string, unknown>): string {
  return JSON.stringify({
    type: 'event',
    subjectId: 'anna',
    sessionId: 's1',
    name: 'pageview',
    occurredAt: '2026-11-01T10:00:00Z',
    ...fields,
  })
}

describe('importing lines', () => {
  it('stores sessions and events, and returns the counts', async () => {
    const tracker = await addTracker(deps(), fresh('tracker'))
    const { trackerId } = tracker
    const lines = [
      line({ type: 'session', trackerId, startedAt: '2026-11-01T10:00:00Z', attributes: { country: 'DE' } }),
      line({ trackerId, eventId: 'e1' }),
      line({ trackerId, subjectId: 'ben' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.deepEqual(summary, {
      lines: 3,
      badLines: 0,
      tooOld: 0,
      tooOldRows: [],
      unchanged: 0,
      ofErased: 0,
      rows: 3,
      subjects: 2,
      sessions: 2,
      events: 2,
    })
    assert.deepEqual(bad, [])
    const anna = await readSubject(tracker, 'anna')
    assert.deepEqual(anna?.counts, { sessions: 1, events: 1 })
    assert.deepEqual(anna?.attributes, { country: 'DE' })
  })

  it('adds nothing the second time, even for lines without an event ID', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const lines = [line({ trackerId }), line({ trackerId, properties: { url: '/' } }), line({ trackerId })]
    assert.equal((await importAll(lines)).summary.events, 2)
    const { summary } = await importAll(lines)
    assert.deepEqual(summary, {
      lines: 3,
      badLines: 0,
      tooOld: 0,
      tooOldRows: [],
      unchanged: 3,
      ofErased: 0,
      rows: 3,
      subjects: 0,
      sessions: 0,
      events: 0,
    })
  })

  it('uses the given tracker for lines without one', async () => {
    const [told, named] = [
      await addTracker(deps(), fresh('tracker')),
      await addTracker(deps(), fresh('tracker')),
    ]
    const lines = [line({ subjectId: 'anna' }), line({ subjectId: 'ben', trackerId: named.trackerId })]
    await importAll(lines, { trackerId: told.trackerId })
    assert.ok(await readSubject(told, 'anna'))
    assert.ok(await readSubject(named, 'ben'))
    assert.equal(await readSubject(told, 'ben'), null)
  })

  it('does nothing without input', async () => {
    const { summary, batches } = await importAll([])
    assert.deepEqual(summary, {
      lines: 0,
      badLines: 0,
      tooOld: 0,
      tooOldRows: [],
      unchanged: 0,
      ofErased: 0,
      rows: 0,
      subjects: 0,
      sessions: 0,
      events: 0,
    })
    assert.deepEqual(batches, [])
  })

  it('skips blank lines, but counts them as lines', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const { summary, bad } = await importAll(['', line({ trackerId }), '  \t', '\r', 'nonsense'])
    assert.partialDeepStrictEqual(summary, { lines: 5, badLines: 1, rows: 1, events: 1 })
    assert.deepEqual(bad, [[5, 'not JSON']])
  })

  it('reports bad lines with number and reason, and skips them', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const lines = [
      line({ trackerId, eventId: 'e1' }),
      '{"type":',
      line({ trackerId, eventId: 'e2', occurredAt: '2026-02-30T00:00:00Z' }),
      line({}),
      line({ trackerId: 'nothing' }),
      line({ trackerId, eventId: 'e3' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.partialDeepStrictEqual(summary, { lines: 6, badLines: 4, rows: 2, events: 2 })
    assert.deepEqual(bad, [
      [2, 'not JSON'],
      [3, 'occurredAt must be an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'],
      [4, 'trackerId is missing'],
      [5, 'there is no tracker "nothing"'],
    ])
  })

  it('skips a line that is nested too deeply', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const lines = [
      line({ trackerId, eventId: 'e1' }),
      line({ trackerId, eventId: 'deep' }).replace(/}$/, `,"properties":{"a":${deep}}}`),
      line({ trackerId, eventId: 'e2' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.partialDeepStrictEqual(summary, { lines: 3, badLines: 1, rows: 2, events: 2 })
    assert.equal(bad[0]?.[0], 2)
  })
})

describe('data in the future', () => {
  const day = 86_400_000
  const ahead = (ms: number) => new Date(noon + ms).toISOString()

  it('makes a line bad if any of its times is more than a day ahead', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const session = (fields: object) => line({ type: 'session', trackerId, startedAt: ahead(0), ...fields })
    const { summary, bad } = await importAll([
      session({ sessionId: 'a day', startedAt: ahead(day), endedAt: ahead(day) }),
      session({ sessionId: 'ever', endedAt: '9999-12-31T23:59:59Z' }),
      session({ sessionId: 'over', startedAt: ahead(day + 1), endedAt: ahead(day + 2) }),
      line({ trackerId, eventId: 'a day', occurredAt: ahead(day) }),
      line({ trackerId, eventId: 'over', occurredAt: ahead(day + 1) }),
    ])
    assert.partialDeepStrictEqual(summary, { badLines: 3, rows: 2 })
    assert.deepEqual(bad, [
      [2, 'endedAt is more than a day in the future'],
      [3, 'startedAt is more than a day in the future'],
      [5, 'occurredAt is more than a day in the future'],
    ])
  })
})

describe('data older than the window', () => {
  const day = 86_400_000
  const ago = (ms: number) => new Date(noon - ms).toISOString()

  async function onPlan(plan: Plan): Promise<Owned> {
    const tracker = await addTracker(deps(), fresh('tracker'))
    await deps().organisations.setPlan(tracker.organisationId, plan)
    return tracker
  }

  it('is counted and not stored, by the plan of each tracker’s organisation', async () => {
    const [free, pro] = [await onPlan('free'), await onPlan('pro')]
    const ages = [0, 180 * day, 180 * day + 1, 730 * day, 730 * day + 1]
    const lines = [free, pro].flatMap(({ trackerId }) =>
      ages.map((age, i) => line({ trackerId, eventId: `e${i}`, occurredAt: ago(age) })),
    )
    const { summary, bad } = await importAll(lines)
    assert.deepEqual(bad, [])
    assert.partialDeepStrictEqual(summary, { lines: 10, badLines: 0, tooOld: 4, rows: 6, events: 6 })
    assert.deepEqual(summary.tooOldRows, [
      {
        organisationId: free.organisationId,
        plan: 'free',
        days: 180,
        rows: 3,
        oldestAt: noon - 730 * day - 1,
      },
      { organisationId: pro.organisationId, plan: 'pro', days: 730, rows: 1, oldestAt: noon - 730 * day - 1 },
    ])
    assert.equal((await readSubject(free, 'anna'))?.counts.events, 2)
    assert.equal((await readSubject(pro, 'anna'))?.counts.events, 4)
  })

  it('includes sessions that ended before the window', async () => {
    const { trackerId } = await onPlan('free')
    const startedAt = ago(190 * day)
    const session = (fields: object) => line({ type: 'session', trackerId, startedAt, ...fields })
    const { summary } = await importAll([
      session({ sessionId: 'over', endedAt: ago(180 * day + 1) }),
      session({ sessionId: 'reaching in', endedAt: ago(180 * day) }),
    ])
    assert.partialDeepStrictEqual(summary, { tooOld: 1, rows: 1, sessions: 1 })
  })

  it('is kept under a window longer than the stored one, which is stored first', async () => {
    const { organisationId, trackerId } = await addTracker(deps(), fresh('tracker'))
    const retentionDays = { ...defaultPolicy.retentionDays, free: 3_650 }
    const lines = [line({ trackerId, occurredAt: ago(900 * day) })]
    const options = { onBadLine: assert.fail }
    const swept = async (policy: RetentionPolicy) =>
      (await deps().retention.sweep(trackerId, { policy, now: noon, maxRows: 9 })).events
    await importLines({ ...deps(), retentionDays }, blockOf(lines), { ...options, dryRun: true })
    const windowOf = async () => {
      const settling = { policy: keeping(1), now: noon, rule: 'longer-only', kind: 'visitors' } as const
      return (await deps().retention.settleWindows({ ...settling, organisationId }))[0]?.window
    }
    assert.deepEqual(await windowOf(), { days: 180, shorter: null }, 'a dry run changes nothing')
    await importLines({ ...deps(), retentionDays }, blockOf(lines), options)
    assert.deepEqual(await windowOf(), { days: 3_650, shorter: null })
    assert.equal(await swept(defaultPolicy), 0, 'a sweep without the variable waits')
  })

  it('is checked for each batch, because a plan can change while a pipe is read', async () => {
    const { organisationId, trackerId } = await onPlan('free')
    const old = (eventId: string) => line({ trackerId, eventId, occurredAt: ago(200 * day) })
    const feed = pipe()
    const importing = importAll(feed.blocks())
    feed.feed(line({ trackerId, eventId: 'e0' }), old('e1'))
    await until(async () => (await readSubject({ organisationId, trackerId }, 'anna')) !== null)
    await deps().organisations.setPlan(organisationId, 'starter')
    feed.feed(old('e2'))
    feed.end()
    assert.partialDeepStrictEqual((await importing).summary, { tooOld: 1, rows: 2, events: 2 })
  })

  it('needs one lookup of tracker, plan and window per batch, which has a limited size even with bad lines', async () => {
    const { trackerId } = await onPlan('free')
    const asked: string[] = []
    const batches: number[] = []
    const { trackers, organisations, retention, ingest } = deps()
    const counting = {
      ...deps(),
      trackers: {
        ...trackers,
        find(id: string) {
          asked.push('tracker')
          return trackers.find(id)
        },
      },
      organisations: {
        ...organisations,
        find(id: string) {
          asked.push('plan')
          return organisations.find(id)
        },
      },
      retention: {
        ...retention,
        settleWindows(settling: WindowSettling) {
          asked.push('window')
          return retention.settleWindows(settling)
        },
      },
      ingest: {
        ...ingest,
        ingest(batch: readonly IncomingRow[]) {
          batches.push(batch.length)
          // The other rows are duplicates.
          return ingest.ingest(batch.slice(0, 1), testKeys)
        },
      },
    }
    const good = line({ trackerId, eventId: 'e' })
    const lines = Array.from({ length: transactionRows + 1 }, () => good).flatMap((each, i) =>
      i % 5_000 === 0 ? ['', 'bad', each] : [each],
    )
    const summary = await importLines(counting, blockOf(lines), { onBadLine() {} })
    assert.deepEqual(asked, ['tracker', 'plan', 'window', 'tracker', 'plan', 'window'])
    assert.deepEqual(batches, [transactionRows, 1])
    assert.partialDeepStrictEqual(summary, { lines: lines.length, badLines: 5, rows: transactionRows + 1 })
  })
})

describe('a dry run', () => {
  it('checks everything and stores nothing', async () => {
    const tracker = await addTracker(deps(), fresh('tracker'))
    const { trackerId } = tracker
    const lines = [
      line({ trackerId, eventId: 'e1' }),
      line({ trackerId: 'nothing' }),
      line({ trackerId, occurredAt: '2020-01-01T00:00:00Z' }),
    ]
    const { summary, bad, batches } = await importAll(lines, { dryRun: true })
    const counts = { lines: 3, badLines: 1, tooOld: 1, rows: 1, subjects: 0, sessions: 0, events: 0 }
    assert.partialDeepStrictEqual(summary, { ...counts, tooOldRows: [{ plan: 'free', rows: 1 }] })
    assert.deepEqual(bad, [[2, 'there is no tracker "nothing"']])
    assert.deepEqual(batches, [])
    assert.equal(await readSubject(tracker, 'anna'), null)
  })
})

describe('lines that are not text', () => {
  it('are bad lines with their reason, between good ones', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const lines = [line({ trackerId }), new InvalidLine('not UTF-8'), line({ trackerId, name: 'second' })]
    const { summary, bad } = await importAll(lines)
    assert.partialDeepStrictEqual(summary, { lines: 3, badLines: 1, events: 2 })
    assert.deepEqual(bad, [[2, 'not UTF-8']])
  })
})

describe('a long import', () => {
  /** The events of 50 visitors, repeated, so that storing them takes no time. */
  const many = (trackerId: string, count: number) => {
    const visitors = Array.from({ length: 50 }, (_, i) =>
      line({ trackerId, subjectId: `visitor-${i}`, eventId: 'e' }),
    )
    return Array.from({ length: count }, (_, i) => visitors[i % 50] ?? '')
  }

  it('reads only the next batch while one is stored, with at most two passed to the store and none empty', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const gate = Promise.withResolvers<void>()
    let read = 0
    let storing = 0
    let most = 0
    const batches: number[] = []
    async function* blocks(): AsyncGenerator<LineBlock> {
      const lines = many(trackerId, transactionRows / 100)
      for (let block = 0; block < 500; block++) {
        read += lines.length
        yield { source: 'visits', firstNumber: read - lines.length + 1, lines }
      }
    }
    const slow = {
      ...deps().ingest,
      async ingest(batch: readonly IncomingRow[]) {
        batches.push(batch.length)
        most = Math.max(most, ++storing)
        await gate.promise
        // The other rows are duplicates.
        const added = await deps().ingest.ingest(batch.slice(0, 50), testKeys)
        storing -= 1
        return added
      },
    }
    const options = { onBadLine: assert.fail }
    const held = { ...deps(), ingest: slow }
    const importing = importLines(held, blocks(), options)
    await until(() => read === transactionRows + maxBatchRows)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(read, transactionRows + maxBatchRows)
    gate.resolve()
    assert.equal((await importing).rows, 5 * transactionRows)
    assert.equal(batches[0], transactionRows)
    assert.ok(batches.every((rows) => rows > 0))
    // One is stored while the next one is passed to the store.
    assert.equal(most, 2)
  })

  it('stores a large batch in transactions, each with all rows of its range of subjects', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const gate = Promise.withResolvers<void>()
    const stored: { rows: number; keys: Set<string> }[] = []
    let isRead = false
    const slow = {
      ...deps().ingest,
      async ingest(batch: readonly IncomingRow[]) {
        const keys = batch.map((row) => Buffer.from(subjectKey(row.trackerId, row.subjectId)).toString('hex'))
        stored.push({ rows: batch.length, keys: new Set(keys) })
        await gate.promise
        return { subjects: 0, sessions: 0, events: 0 }
      },
    }
    async function* blocks(): AsyncGenerator<LineBlock> {
      const lines = Array.from({ length: transactionRows + maxBatchRows }, (_, i) =>
        line({ trackerId, subjectId: `visitor-${(i * 7_919) % 10_000}`, eventId: `e${i}` }),
      )
      const first = lines.splice(0, transactionRows)
      yield { source: 'visits', firstNumber: 1, lines: first }
      isRead = true
      yield { source: 'visits', firstNumber: transactionRows + 1, lines }
    }
    const importing = importLines({ ...deps(), ingest: slow }, blocks(), { onBadLine: assert.fail })
    await until(() => isRead)
    gate.resolve()
    assert.equal((await importing).rows, transactionRows + maxBatchRows)
    const [whole, ...parts] = stored
    assert.equal(whole?.keys.size, 10_000)
    assert.equal(parts.length, maxBatchRows / transactionRows)
    assert.equal(parts.flatMap(({ keys }) => [...keys]).length, 10_000)
    const ranges = parts.map(({ keys }) => [...keys].sort()).map((keys) => [keys.at(0), keys.at(-1)])
    assert.deepEqual(ranges.flat(), ranges.flat().sort())
    for (const { rows } of parts) assert.ok(rows < 1.1 * transactionRows, `${rows} rows`)
  })

  it('stops at the first bad line if strict, and stores nothing of that batch', async () => {
    const tracker = await addTracker(deps(), fresh('tracker'))
    const lines = many(tracker.trackerId, transactionRows + 100)
    lines.splice(transactionRows + 50, 0, 'bad')
    lines.splice(transactionRows + 60, 0, 'bad too')
    const { summary, bad, batches } = await importAll(lines, { strict: true })
    assert.deepEqual(batches, [transactionRows])
    assert.deepEqual(bad, [[transactionRows + 51, 'not JSON']])
    assert.deepEqual(summary, {
      lines: transactionRows + 51,
      badLines: 1,
      tooOld: 0,
      tooOldRows: [],
      unchanged: 19_950,
      ofErased: 0,
      rows: transactionRows,
      subjects: 50,
      sessions: 50,
      events: 50,
    })
    assert.equal((await readSubject(tracker, 'visitor-1'))?.counts.events, 1)
  })

  it('stores nothing if strict and the first batch has a bad line', async () => {
    const tracker = await addTracker(deps(), fresh('tracker'))
    const lines = [...many(tracker.trackerId, 10), line({ trackerId: 'nothing' })]
    const { summary, bad } = await importAll(lines, { strict: true })
    assert.partialDeepStrictEqual(summary, { lines: 11, badLines: 1, rows: 0, events: 0 })
    assert.deepEqual(bad, [[11, 'there is no tracker "nothing"']])
    assert.equal(await readSubject(tracker, 'visitor-1'), null)
  })

  it('is stored in batches with a limited number of characters', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const properties = { text: 'x'.repeat(1024 * 1024) }
    const lines = Array<string>(17).fill(line({ trackerId, eventId: 'e', properties }))
    assert.deepEqual((await importAll(lines)).batches, [16, 1])
  })
})

describe('an import from a pipe that pauses', () => {
  it('stores what it has read within a second', async () => {
    const tracker = await addTracker(deps(), fresh('tracker'))
    const feed = pipe()
    const importing = importAll(feed.blocks())
    for (const eventId of ['e1', 'e2']) {
      const fedAt = performance.now()
      feed.feed(line({ trackerId: tracker.trackerId, subjectId: eventId, eventId }))
      await until(async () => (await readSubject(tracker, eventId)) !== null)
      const tookMs = performance.now() - fedAt
      assert.ok(tookMs < 15_000, `it took ${Math.round(tookMs)} ms`)
    }
    feed.end()
    assert.deepEqual((await importing).batches, [1, 1])
  })

  it('fails if the store fails, without waiting for another line', async () => {
    const { trackerId } = await addTracker(deps(), fresh('tracker'))
    const feed = pipe()
    feed.feed(line({ trackerId }))
    const full = { ...deps().ingest, ingest: () => Promise.reject(new Error('disk full')) }
    const broken = { ...deps(), ingest: full }
    await assert.rejects(importLines(broken, feed.blocks(), { onBadLine: assert.fail }), /disk full/)
  })
})

/** Items that arrive or fail when the test says so. */
function source() {
  let coming = Promise.withResolvers<IteratorResult<string>>()
  let isOver = false
  return {
    isOver: () => isOver,
    items: {
      [Symbol.asyncIterator]: () => ({
        next() {
          coming = Promise.withResolvers()
          return coming.promise
        },
        async return() {
          isOver = true
          return { done: true as const, value: undefined }
        },
      }),
    },
    coming: () => coming,
  }
}

describe('items with ticks', () => {
  it('arrive in order, with a tick whenever none has arrived for a while', async () => {
    const { items, coming, isOver } = source()
    const ticked = withTicks<string>(items, 1)
    const next = async () => (await ticked.next()).value
    assert.deepEqual([await next(), await next()], [null, null])
    coming().resolve({ done: false, value: 'one' })
    assert.equal(await next(), 'one')
    assert.equal(await next(), null)
    coming().resolve({ done: true, value: undefined })
    assert.deepEqual(await ticked.next(), { done: true, value: undefined })
    assert.equal(isOver(), true)
  })

  it('include ticks even while items arrive, unless they arrive as fast as they are taken', async () => {
    const { items, coming } = source()
    let ticks = 0
    for await (const item of withTicks<string>(items, 1)) {
      if (item === null) ticks += 1
      if (ticks > 10) break
      setTimeout(() => coming().resolve({ done: false, value: 'another' }), 2)
    }
  })

  it('fail if their source fails', async () => {
    const { items, coming } = source()
    const ticked = withTicks<string>(items, 1)
    assert.equal((await ticked.next()).value, null)
    coming().reject(new Error('it broke off'))
    await assert.rejects(async () => {
      while (!(await ticked.next()).done);
    }, /it broke off/)
  })

  it('accumulate no callbacks while no item arrives', async (t) => {
    const { items, coming } = source()
    const ticked = withTicks<string>(items, 0)
    const first = ticked.next()
    const waits = t.mock.method(coming().promise, 'then')
    await first
    for (let tick = 0; tick < 100; tick++) assert.equal((await ticked.next()).value, null)
    // The only callback was added before the first tick.
    assert.equal(waits.mock.callCount(), 0)
    await ticked.return(null)
  })
})

it('an import keeps no row of a batch after it was passed to the store', async (t) => {
  const { trackerId } = await addTracker(deps(), fresh('tracker'))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lineOf = (eventId: number) =>
    JSON.stringify({
      type: 'event',
      ...{ trackerId, subjectId: 'anna', sessionId: 's1', eventId: `e${eventId}` },
      ...{ name: 'pageview', occurredAt: '2026-11-01T10:00:00Z' },
    })
  const lines = Array.from({ length: transactionRows }, (_, i) => lineOf(i))
  const handedOver: WeakRef<readonly IncomingRow[]>[] = []
  const ingest = {
    ...deps().ingest,
    async ingest(batch: readonly IncomingRow[]) {
      handedOver.push(new WeakRef(batch))
      return { subjects: 0, sessions: 0, events: 0 }
    },
  }
  async function* blocks(): AsyncGenerator<LineBlock> {
    yield { source: 'visits', firstNumber: 1, lines: lines.slice(0, 1) }
    t.mock.timers.tick(500)
    await nextTurn()
    yield { source: 'visits', firstNumber: 2, lines: lines.slice(1) }
    await nextTurn()
    collectGarbage()
    assert.deepEqual(
      handedOver.map((batch) => batch.deref()?.length),
      [undefined],
    )
  }
  const importing = { ...deps(), ingest }
  const { rows } = await importLines(importing, blocks(), { onBadLine: assert.fail })
  assert.equal(rows, transactionRows)
})
