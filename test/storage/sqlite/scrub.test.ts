import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../../src/domain/store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { scrubInPieces } from '../../../src/storage/sqlite/scrub.ts'
import { Writer, writeInThread } from '../../../src/storage/sqlite/writer.ts'
import { newApiKey } from '../../support/new-api-key.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { stepBefore } from '../../support/windows.ts'
import { logSize, markedSubject, openShop, subjectNumbersIn, value } from './open-shop.ts'
import { runChild } from './run-child.ts'

const start = at('2026-11-01T10:00:00.000Z')
const aYearAgo = start - 365 * 86_400_000
const now = at('2026-11-15T03:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

/** A store from which some data was deleted, and much remains. */
async function openUsedShop(t: TestContext, options = {}): Promise<{ store: Store; path: string }> {
  const shop = await openShop(t, options)
  for (const subjectId of ['anna', 'ben']) {
    const events = Array.from({ length: 300 }, (_, i) =>
      eventRow({ subjectId, sessionId: `s${i % 50}`, eventId: `e${i}`, occurredAt: start + i }),
    )
    await shop.store.ingest.ingest(events, testKeys)
  }
  await eraseIn(shop.store, tracker, 'ben')
  return shop
}

/** A second connection with an open read transaction. */
function beginReading(path: string): DatabaseSync {
  const reader = new DatabaseSync(path)
  reader.exec('BEGIN')
  assert.equal(reader.prepare('SELECT count(*) AS n FROM subjects').get()?.n, 1)
  return reader
}

describe('the files after a scrub', () => {
  it('hold no text of erased or swept data, and all other data', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    const random = seededRandom()
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
    const erased = numbers(0, 25).map((number) => markedSubject(number))
    const swept = numbers(1_000, 10).map((number) => markedSubject(number, aYearAgo))
    const kept = numbers(2_000, 25).map((number) => markedSubject(number))
    // Their data from a year ago is deleted; their recent data stays.
    const partlySwept = kept.slice(0, 5).map(({ subjectId }, i) => {
      const { rows } = markedSubject(3_000 + i, aYearAgo)
      return { rows: rows.map((row) => ({ ...row, subjectId })) }
    })
    const rows = random.shuffle([...erased, ...swept, ...kept, ...partlySwept].flatMap(({ rows }) => rows))
    for (let next = 0; next < rows.length; next += 100) {
      await store.ingest.ingest(rows.slice(next, next + 100), testKeys)
    }
    const all = [...numbers(0, 25), ...numbers(1_000, 10), ...numbers(2_000, 25), ...numbers(3_000, 5)]
    assert.deepEqual(subjectNumbersIn(path), new Set(all))

    for (const { subjectId } of random.shuffle(erased)) {
      assert.deepEqual(await eraseIn(store, tracker, subjectId), { sessions: 2, events: 8 })
    }
    let steps = 0
    while (!(await store.retention.sweep('shop', stepBefore(start, 15))).isDone) steps++
    assert.ok(steps > 5, `${steps} steps`)
    const before = [...subjectNumbersIn(path)].filter((number) => number < 2_000 || number >= 3_000)
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: texts of ${before.length} of 40 before the scrub`)

    await store.maintenance.withMaintenanceLock(() => store.maintenance.scrub(now))
    assert.deepEqual(subjectNumbersIn(path), new Set(numbers(2_000, 25)))
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
    for (const { subjectId } of kept) {
      const record = await store.subjects.read(tracker, subjectId)
      assert.deepEqual(record?.counts, { sessions: 2, events: 8 })
    }
  })

  it('are accessible only to their owner, and the log is almost empty', async (t) => {
    const { store, path } = await openUsedShop(t, { writesHere: true })
    await store.maintenance.withMaintenanceLock(() => store.maintenance.scrub(now))
    assert.equal(logSize(path), 0)
    const folder = dirname(path)
    assert.deepEqual(readdirSync(folder).sort(), [
      ...['lethe.db', 'lethe.db-shm', 'lethe.db-upkeep', 'lethe.db-wal'],
    ])
    for (const file of readdirSync(folder)) {
      assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
    }
  })
})

/** A store of several pieces with a key, from which some data was deleted. */
async function openLargeShop(t: TestContext, options = {}): Promise<{ store: Store; path: string }> {
  const shop = await openUsedShop(t, options)
  for (let batch = 0; batch < 3; batch++) {
    const events = Array.from({ length: 10 }, (_, i) =>
      eventRow({
        ...{ subjectId: 'large', eventId: `e${batch}-${i}`, occurredAt: start + batch * 10 + i },
        properties: { text: String(i).repeat(300_000) },
      }),
    )
    await shop.store.ingest.ingest(events, testKeys)
  }
  await shop.store.apiKeys.create(key, '01'.repeat(32))
  return shop
}

const key = newApiKey({ id: 'key', organisationId: 'acme' })

describe('while a scrub runs', () => {
  it('reads continue, and revocations and erasures run between its pieces, in this process and in another', async (t) => {
    const { store, path } = await openLargeShop(t)
    const other = await openSqliteStore(path)
    t.after(() => other.close())
    const shares: number[] = []
    const writes: Promise<unknown>[] = []
    let isDone = false
    const scrub = store.maintenance.scrub(now, {
      onProgress(share) {
        if (shares.push(share) > 1) return
        const revoked = store.apiKeys.revoke(key.id, 5)
        const erased = eraseIn(other, tracker, 'anna')
        writes.push(revoked.then(() => assert.equal(isDone, false, 'the revocation did not wait')))
        writes.push(erased.then((counts) => assert.deepEqual(counts, { sessions: 50, events: 300 })))
      },
    })
    const over = scrub.finally(() => {
      isDone = true
    })
    for (; !isDone; await nextTurn()) {
      for (const { subjects } of [store, other]) {
        assert.equal((await subjects.read(tracker, 'large'))?.counts.events, 30)
      }
    }
    await over
    await Promise.all(writes)
    assert.equal(writes.length, 2)
    assert.ok(shares.length >= 3 && shares.every((share, i) => share > (shares[i - 1] ?? 0)), String(shares))
    assert.equal(shares.at(-1), 1)
    assert.notEqual((await store.apiKeys.find(key.id))?.revokedAt, null)
    assert.equal(await store.subjects.read(tracker, 'anna'), null)
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
  })

  it('data deleted meanwhile is left to the next scrub', async (t) => {
    const { store } = await openLargeShop(t, { writesHere: true })
    const erasures: Promise<unknown>[] = []
    await store.maintenance.scrub(now, { onProgress: () => erasures.push(eraseIn(store, tracker, 'anna')) })
    await Promise.all(erasures)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: now, isDue: true })
    await store.maintenance.scrub(now + 1)
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: now + 1, isDue: false })
  })

  it('it can be stopped between two pieces, and is still due', async (t) => {
    const { store } = await openLargeShop(t, { writesHere: true })
    const stopping = new AbortController()
    const before = await store.maintenance.scrubState()
    const onProgress = () => stopping.abort()
    await assert.rejects(store.maintenance.scrub(now, { signal: stopping.signal, onProgress }), {
      name: 'AbortError',
    })
    assert.deepEqual(await store.maintenance.scrubState(), before)
    assert.equal(before.isDue, true)
  })

  it('nothing breaks while another process writes and checkpoints continuously', async (t) => {
    const { store, path } = await openUsedShop(t)
    const child = runChild('child-checkpoints.ts', path)
    t.after(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    await store.maintenance.scrub(now)
    child.kill('SIGKILL')
    await ended
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
    assert.equal((await store.subjects.read(tracker, 'anna'))?.counts.events, 300)
  })
})

describe('a scrub while another process reads old pages', () => {
  it('waits for it without blocking other writes, and ends when it does', async (t) => {
    const { store, path } = await openUsedShop(t)
    await store.ingest.ingest([eventRow({ subjectId: 'anna', eventId: 'late' })], testKeys)
    const reader = beginReading(path)
    let isDone = false
    const scrub = store.maintenance.scrub(now).finally(() => {
      isDone = true
    })
    // Each write is queued behind an attempt of the scrub.
    for (let i = 0; i < 10; i++) await store.organisations.setPlan('acme', 'pro')
    assert.equal(isDone, false)
    assert.equal((await store.maintenance.scrubState()).isDue, true)
    reader.close()
    await scrub
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: now, isDue: false })
    assert.equal(logSize(path), 0)
  })

  it('that does not end gives up with the reason, and can be repeated', async (t) => {
    const { store, path } = await openUsedShop(t, { writesHere: true })
    const reader = beginReading(path)
    const writer = new Writer(path, writeInThread)
    t.after(() => writer.close())
    const scope = { deletions: 1, pages: 10 }
    const scrub = () => scrubInPieces(path, writer, scope, now, { readersTimeoutMs: 100 })
    await assert.rejects(scrub(), /^Error: Another process has been using old pages .*; scrub again/)
    assert.equal((await store.subjects.read(tracker, 'anna'))?.counts.events, 300)
    reader.close()
    await scrub()
    assert.deepEqual(await store.maintenance.scrubState(), { lastAt: now, isDue: false })
    assert.equal(logSize(path), 0)
  })
})
