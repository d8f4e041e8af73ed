import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../../src/domain/store.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { scrubCommands } from '../../../src/storage/sqlite/scrub.ts'
import { subjectCommands } from '../../../src/storage/sqlite/subject.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { until } from '../../support/until.ts'
import { stepBefore } from '../../support/windows.ts'
import { logSize, value } from './database-file.ts'
import { openShop } from './open-shop.ts'
import { numbersBeside, tellTale } from './tell-tale.ts'

const start = at('2026-11-01T10:00:00.000Z')
const aYearAgo = start - 365 * 86_400_000
const now = at('2026-11-15T03:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

/** A store of which something was deleted, and in which much is left. */
async function openUsedShop(t: TestContext, count = 3_000): Promise<{ store: Store; path: string }> {
  const shop = await openShop(t)
  for (const subjectId of ['anna', 'ben']) {
    const events = Array.from({ length: count }, (_, i) =>
      eventRow({ subjectId, sessionId: `s${i % 50}`, eventId: `e${i}`, occurredAt: start + i }),
    )
    await shop.store.ingest.ingest(events)
  }
  await shop.store.subjects.erase(tracker, 'ben')
  return shop
}

/** Another process in the middle of a read. */
function beginReading(path: string): DatabaseSync {
  const reader = new DatabaseSync(path)
  reader.exec('BEGIN')
  assert.equal(reader.prepare('SELECT count(*) AS n FROM subjects').get()?.n, 1)
  return reader
}

describe('the files after a scrub', () => {
  it('hold not one text of what was erased or swept, and all of what was not', async (t) => {
    const { store, path } = await openShop(t)
    const random = seededRandom()
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i)
    const erased = numbers(0, 300).map((number) => tellTale(number))
    const swept = numbers(1_000, 60).map((number) => tellTale(number, aYearAgo))
    const kept = numbers(2_000, 240).map((number) => tellTale(number))
    // What they did a year ago goes, what they did of late stays.
    const partlySwept = kept.slice(0, 40).map(({ subjectId }, i) => {
      const { rows } = tellTale(3_000 + i, aYearAgo)
      return { rows: rows.map((row) => ({ ...row, subjectId })) }
    })
    const rows = random.shuffle([...erased, ...swept, ...kept, ...partlySwept].flatMap(({ rows }) => rows))
    for (let next = 0; next < rows.length; next += 100) {
      await store.ingest.ingest(rows.slice(next, next + 100))
    }
    const all = [...numbers(0, 300), ...numbers(1_000, 60), ...numbers(2_000, 240), ...numbers(3_000, 40)]
    assert.deepEqual(numbersBeside(path), new Set(all))

    for (const { subjectId } of random.shuffle(erased)) {
      assert.deepEqual(await store.subjects.erase(tracker, subjectId), { sessions: 2, events: 8 })
    }
    let steps = 0
    while (!(await store.retention.sweep('shop', stepBefore(start, 100))).isDone) steps++
    assert.ok(steps > 5, `${steps} steps`)
    const before = [...numbersBeside(path)].filter((number) => number < 2_000 || number >= 3_000)
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: texts of ${before.length} of 400 before the scrub`)

    await store.upkeep.alone(() => store.upkeep.scrub(now))
    assert.deepEqual(numbersBeside(path), new Set(numbers(2_000, 240)))
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
    for (const { subjectId } of kept) {
      const record = await store.subjects.read(tracker, subjectId)
      assert.deepEqual(record?.counts, { sessions: 2, events: 8 })
    }
  })

  it('are their owner’s alone, and the log is as good as empty', async (t) => {
    const { store, path } = await openUsedShop(t)
    const { size } = statSync(path)
    await store.upkeep.alone(() => store.upkeep.scrub(now))
    assert.equal(logSize(path), 0)
    assert.ok(statSync(path).size < size, 'what was deleted takes no room any more')
    const folder = dirname(path)
    assert.deepEqual(readdirSync(folder).sort(), [
      ...['lethe.db', 'lethe.db-shm', 'lethe.db-upkeep', 'lethe.db-wal'],
    ])
    for (const file of readdirSync(folder)) {
      assert.equal(statSync(join(folder, file)).mode & 0o777, 0o600, file)
    }
  })
})

describe('while a scrub runs', () => {
  it('reads go on, and a write waits for it and is kept', async (t) => {
    const { store, path } = await openUsedShop(t, 20_000)
    const other = await openSqliteStore(path)
    t.after(() => other.close())
    // Its writer runs before the scrub begins.
    await other.organisations.setPlan('acme', 'pro')
    let isDone = false
    const begin = performance.now()
    const scrub = store.upkeep.scrub(now).finally(() => {
      isDone = true
    })
    const write = other.ingest.ingest([eventRow({ subjectId: 'cleo', eventId: 'e' })])
    let reads = 0
    for (; !isDone; reads++) {
      for (const { subjects } of [store, other]) {
        assert.equal((await subjects.read(tracker, 'anna'))?.counts.events, 20_000)
      }
      await nextTurn()
    }
    await scrub
    t.diagnostic(`${reads} reads in the ${Math.round(performance.now() - begin)} ms of a scrub`)
    assert.ok(reads >= 20, `${reads} reads while it ran`)
    assert.deepEqual(await write, { subjects: 1, sessions: 1, events: 1 })
    assert.ok(await store.subjects.read(tracker, 'cleo'))
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
  })

  it('an erasure by another process waits too, and is not lost', async (t) => {
    const { store, path } = await openUsedShop(t)
    const other = await openSqliteStore(path)
    t.after(() => other.close())
    const reader = beginReading(path)
    const scrub = store.upkeep.scrub(now)
    // With its pages in the log it has only to wait for the reader.
    await until(() => logSize(path) > 100_000)
    const erasure = other.subjects.erase(tracker, 'anna')
    reader.close()
    await scrub
    assert.deepEqual(await erasure, { sessions: 50, events: 3_000 })
    assert.equal(await store.subjects.read(tracker, 'anna'), null)
    assert.equal((await store.upkeep.scrubState()).isDue, true)
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
  })
})

describe('what is deleted while a scrub runs', () => {
  it('is left to the next one', async (t) => {
    const { store, path } = await openUsedShop(t)
    const [db, other] = [openWriter(path), openWriter(path)]
    const { eraseSubjects } = subjectCommands(other)
    const run = db.exec.bind(db)
    t.mock.method(db, 'exec', (sql: string) => {
      run(sql)
      if (sql !== 'VACUUM') return
      const counts = eraseSubjects([{ view: tracker, subjectId: 'anna' }])
      assert.deepEqual(counts, [{ sessions: 50, events: 3_000 }])
    })
    scrubCommands(db).scrub(now)
    for (const connection of [db, other]) connection.close()
    assert.deepEqual(await store.upkeep.scrubState(), { lastAt: now, isDue: true })
  })
})

describe('a scrub beside another process that reads old pages', () => {
  it('waits for it, and is done when it is', async (t) => {
    const { store, path } = await openUsedShop(t)
    const reader = beginReading(path)
    const scrub = store.upkeep.scrub(now)
    await until(() => logSize(path) > 100_000)
    assert.equal((await store.upkeep.scrubState()).isDue, true)
    reader.close()
    await scrub
    assert.deepEqual(await store.upkeep.scrubState(), { lastAt: now, isDue: false })
    assert.equal(logSize(path), 0)
  })

  it('that does not end gives up, says why, and can be repeated', async (t) => {
    const { store, path } = await openUsedShop(t)
    const db = openWriter(path)
    const run = db.exec.bind(db)
    // Its minute of patience would be the test's.
    t.mock.method(db, 'exec', (sql: string) => run(sql.replace('busy_timeout = 60000', 'busy_timeout = 1')))
    const { scrub } = scrubCommands(db)
    const reader = beginReading(path)
    assert.throws(() => scrub(now), /^Error: Another process has been using old pages .*; scrub again/)
    assert.equal((await store.upkeep.scrubState()).isDue, true)
    assert.equal((await store.subjects.read(tracker, 'anna'))?.counts.events, 3_000)
    reader.close()
    scrub(now)
    assert.deepEqual(await store.upkeep.scrubState(), { lastAt: now, isDue: false })
    assert.equal(logSize(path), 0)
    db.close()
  })
})
