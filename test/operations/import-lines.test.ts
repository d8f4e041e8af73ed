import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { importLines } from '../../src/operations/import-lines.ts'
import { addTracker, openParts } from './bench.ts'

const { parts, fresh } = openParts()

interface Options {
  trackerId?: string
  strict?: boolean
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

/** Imports lines, noting the bad ones and how large the batches were. */
async function importAll(lines: readonly string[], { strict = false, ...options }: Options = {}) {
  const bad: [lineNumber: number, reason: string][] = []
  const batches: number[] = []
  const { ingest, trackers } = parts()
  const noting = {
    ingest(batch: readonly IncomingRow[]) {
      batches.push(batch.length)
      return ingest.ingest(batch)
    },
  }
  const summary = await importLines({ ingest: noting, trackers }, each(lines), {
    ...options,
    strict,
    onBadLine: (lineNumber, reason) => bad.push([lineNumber, reason]),
  })
  return { summary, bad, batches }
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
  it('stores sessions and events, and tells what it added', async () => {
    const tracker = await addTracker(parts(), fresh('tracker'))
    const { trackerId } = tracker
    const lines = [
      line({ type: 'session', trackerId, startedAt: '2026-11-01T10:00:00Z', attributes: { country: 'DE' } }),
      line({ trackerId, eventId: 'e1' }),
      line({ trackerId, subjectId: 'ben' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.deepEqual(summary, { lines: 3, badLines: 0, subjects: 2, sessions: 2, events: 2 })
    assert.deepEqual(bad, [])
    const anna = await parts().subjects.read(tracker, 'anna')
    assert.deepEqual(anna?.counts, { sessions: 1, events: 1 })
    assert.deepEqual(anna?.attributes, { country: 'DE' })
  })

  it('adds nothing the second time, to lines without an event id either', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const lines = [line({ trackerId }), line({ trackerId, properties: { url: '/' } }), line({ trackerId })]
    assert.equal((await importAll(lines)).summary.events, 2)
    const { summary } = await importAll(lines)
    assert.deepEqual(summary, { lines: 3, badLines: 0, subjects: 0, sessions: 0, events: 0 })
  })

  it('gives lines that name no tracker the one it was told', async () => {
    const [told, named] = [
      await addTracker(parts(), fresh('tracker')),
      await addTracker(parts(), fresh('tracker')),
    ]
    const lines = [line({ subjectId: 'anna' }), line({ subjectId: 'ben', trackerId: named.trackerId })]
    await importAll(lines, { trackerId: told.trackerId })
    assert.ok(await parts().subjects.read(told, 'anna'))
    assert.ok(await parts().subjects.read(named, 'ben'))
    assert.equal(await parts().subjects.read(told, 'ben'), null)
  })

  it('of nothing does nothing', async () => {
    const { summary, batches } = await importAll([])
    assert.deepEqual(summary, { lines: 0, badLines: 0, subjects: 0, sessions: 0, events: 0 })
    assert.deepEqual(batches, [])
  })

  it('passes over blank lines, and still counts them as lines', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const { summary, bad } = await importAll(['', line({ trackerId }), '  \t', '\r', 'nonsense'])
    assert.deepEqual(summary, { lines: 5, badLines: 1, subjects: 1, sessions: 1, events: 1 })
    assert.deepEqual(bad, [[5, 'not JSON']])
  })

  it('reports bad lines with their number and reason, and skips them', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const lines = [
      line({ trackerId, eventId: 'e1' }),
      '{"type":',
      line({ trackerId, eventId: 'e2', occurredAt: '2026-02-30T00:00:00Z' }),
      line({}),
      line({ trackerId: 'nothing' }),
      line({ trackerId, eventId: 'e3' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.deepEqual(summary, { lines: 6, badLines: 4, subjects: 1, sessions: 1, events: 2 })
    assert.deepEqual(bad, [
      [2, 'not JSON'],
      [3, 'occurredAt must be an ISO 8601 instant with a time zone, such as 2026-01-31T12:00:00Z'],
      [4, 'trackerId is missing'],
      [5, 'there is no tracker "nothing"'],
    ])
  })

  it('skips a line nested deeper than any program can follow', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const lines = [
      line({ trackerId, eventId: 'e1' }),
      line({ trackerId, eventId: 'deep' }).replace(/}$/, `,"properties":{"a":${deep}}}`),
      line({ trackerId, eventId: 'e2' }),
    ]
    const { summary, bad } = await importAll(lines)
    assert.deepEqual(summary, { lines: 3, badLines: 1, subjects: 1, sessions: 1, events: 2 })
    assert.equal(bad[0]?.[0], 2)
  })
})

describe('a long import', () => {
  const many = (trackerId: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      line({ trackerId, subjectId: `visitor-${i % 50}`, eventId: `e${i}` }),
    )

  it('is stored in batches of 5,000 rows, however many lines are bad', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const lines = many(trackerId, 10_001).flatMap((good, i) => (i % 1_000 === 0 ? ['', 'bad', good] : [good]))
    const { summary, batches } = await importAll(lines)
    assert.deepEqual(batches, [5_000, 5_000, 1])
    assert.deepEqual(summary, { lines: 10_023, badLines: 11, subjects: 50, sessions: 50, events: 10_001 })
  })

  it('has no empty batch behind a full one', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    assert.deepEqual((await importAll(many(trackerId, 5_000))).batches, [5_000])
  })

  it('stops at the first bad line when strict, with nothing of the running batch stored', async () => {
    const { trackerId } = await addTracker(parts(), fresh('tracker'))
    const lines = many(trackerId, 6_000)
    lines.splice(5_500, 0, 'bad')
    lines.splice(5_600, 0, 'bad too')
    const { summary, bad, batches } = await importAll(lines, { strict: true })
    assert.deepEqual(batches, [5_000])
    assert.deepEqual(bad, [[5_501, 'not JSON']])
    assert.deepEqual(summary, { lines: 5_501, badLines: 1, subjects: 50, sessions: 50, events: 5_000 })
  })

  it('stores nothing at all when strict and bad in its first batch', async () => {
    const tracker = await addTracker(parts(), fresh('tracker'))
    const lines = [...many(tracker.trackerId, 10), line({ trackerId: 'nothing' })]
    const { summary, bad } = await importAll(lines, { strict: true })
    assert.deepEqual(summary, { lines: 11, badLines: 1, subjects: 0, sessions: 0, events: 0 })
    assert.deepEqual(bad, [[11, 'there is no tracker "nothing"']])
    assert.equal(await parts().subjects.read(tracker, 'visitor-1'), null)
  })
})
