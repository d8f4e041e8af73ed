import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { maxPlainEvents } from '../../../src/storage/rules/interleaving.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { eventRow, sessionRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testKeys } from '../../support/test-keyring.ts'

const minute = 60_000
const start = Date.parse('2026-11-01T00:00:00.000Z')

/** A reproducible generator of numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** A session whose events are spread evenly over its length. */
function session(subjectId: string, sessionId: string, startedAt: number, events: number, length: number) {
  return Array.from({ length: events }, (_, event): IncomingRow => {
    const occurredAt = startedAt + Math.floor((event * length) / events)
    return eventRow({ subjectId, sessionId, eventId: `${sessionId}-${event}`, occurredAt })
  })
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}

/** Stores rows in batches of different sizes, and calls `look` after each. */
async function ingest(t: TestContext, rows: readonly IncomingRow[], look: (db: DatabaseSync) => void) {
  const path = join(temporaryFolder(t), 'lethe.db')
  const store = await openSqliteStore(path, { writesHere: true })
  t.after(() => store.close())
  await addShop(store)
  const db = new DatabaseSync(path, { readOnly: true })
  t.after(() => db.close())
  for (let next = 0, size = 900; next < rows.length; next += size, size = 50 + ((size * 7) % 600)) {
    await store.ingest.ingest(rows.slice(next, next + size), testKeys)
    look(db)
  }
}

/** The most events of other sessions within a session, among subjects not indexed by session. */
function mostOfOthers(db: DatabaseSync): number {
  const row = db
    .prepare(
      `SELECT max((SELECT count(*) FROM events e WHERE e.subject_key = s.subject_key
         AND e.occurred_at BETWEEN s.started_at AND s.ended_at) - s.event_count) AS most
       FROM sessions s JOIN subjects USING (subject_key) WHERE interleaved = 0 AND subjects.event_count > ?`,
    )
    .get(maxPlainEvents)
  return Number(row?.most ?? 0)
}

const indexed = (db: DatabaseSync) =>
  Number(db.prepare('SELECT count(*) AS count FROM events WHERE interleaved = 1').get()?.count)

describe('the events of a session among many others, on SQLite', () => {
  it('are not in the index by session if sessions overlap only a few others', async (t) => {
    const random = numbers(7)
    const rows = Array.from({ length: 400 }, (_, number) =>
      session('anna', `s${number}`, start + Math.floor(random() * 4 * 1_440) * minute, 10, 20 * minute),
    ).flat()
    let [overlapping, seen] = [0, 0]
    await ingest(t, shuffled(rows, random), (db) => {
      seen = indexed(db)
      overlapping = mostOfOthers(db)
    })
    assert.equal(seen, 0)
    assert.ok(overlapping > 0 && overlapping <= maxPlainEvents, `${overlapping} of others`)
  })

  it('are indexed once other events fill the longest session, which was empty at first', async (t) => {
    const after = (sessions: number) => start + sessions * 30 * minute
    const visits = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, number) =>
        session('anna', `s${from + number}`, after(from + number), 10, 20 * minute),
      ).flat()
    const line = sessionRow({
      ...{ subjectId: 'anna', sessionId: 'long', startedAt: after(150), endedAt: after(300) },
    })
    await ingest(t, [...visits(0, 150), line, ...visits(150, 300)], (db) => {
      const most = mostOfOthers(db)
      assert.ok(most <= maxPlainEvents, `${most} events of others`)
    })
  })

  for (const seed of [1, 3, 5]) {
    it(`are indexed or near each other after every batch, however sessions grow (${seed})`, async (t) => {
      const random = numbers(seed * 7_919)
      const some = (most: number) => Math.floor(random() * most)
      const days = 1 + some(40)
      const rows = Array.from({ length: 150 }, (_, number) => {
        const length = (random() < 0.05 ? some(days * 1_440) : some(40)) * minute
        const subject = random() < 0.7 ? 'anna' : 'ben'
        const startedAt = start + some(days * 1_440) * minute
        const owner = { subjectId: subject, sessionId: `s${number}` }
        const line = sessionRow({
          ...owner,
          startedAt: startedAt - some(60) * minute,
          endedAt: startedAt + length,
        })
        return [...session(subject, `s${number}`, startedAt, some(60), length), line]
      }).flat()
      await ingest(t, random() < 0.5 ? rows : shuffled(rows, random), (db) => {
        const most = mostOfOthers(db)
        assert.ok(most <= maxPlainEvents, `${most} events of others`)
      })
    })
  }

  it('are compared in one pass, however many sessions are near each other', async (t) => {
    const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'), { writesHere: true })
    t.after(() => store.close())
    await addShop(store)
    const subjectId = 'anna'
    // The length of the longest puts 900 sessions near each one, but no two overlap.
    const sessions = Array.from({ length: 20_000 }, (_, number) => {
      const startedAt = start + number * 1_000
      const endedAt = number === 19_999 ? startedAt + 225_000 : startedAt
      return sessionRow({ subjectId, sessionId: `s${number}`, startedAt, endedAt })
    })
    const events = (from: number, count: number) =>
      Array.from({ length: count }, (_, number) => {
        const [sessionId, occurredAt] = [`s${from + number}`, start + (from + number) * 1_000]
        return eventRow({ subjectId, sessionId, eventId: sessionId, occurredAt })
      })
    await store.ingest.ingest(sessions, testKeys)
    const before = process.threadCpuUsage()
    await store.ingest.ingest(events(0, maxPlainEvents + 1), testKeys)
    await store.ingest.ingest(events(maxPlainEvents + 1, 9_000), testKeys)
    const { user, system } = process.threadCpuUsage(before)
    const tookMs = (user + system) / 1_000
    // One CPU second, instead of twenty for comparing each with its neighbours. Busy machines add waits.
    assert.ok(tookMs < 10_000, `${Math.round(tookMs)} ms`)
  })
})
