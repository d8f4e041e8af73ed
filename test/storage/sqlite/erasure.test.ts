import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { Store } from '../../../src/domain/store.ts'
import { subjectKey } from '../../../src/domain/subject.ts'
import type { ExportPart } from '../../../src/domain/subject-export.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { LogTruncation } from '../../../src/storage/sqlite/write-ahead-log.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { stepBefore } from '../../support/windows.ts'
import { Fixture } from '../contract/fixture.ts'
import { deletions } from '../contract/maintenance.ts'
import { filesOf, logSize, markedSubject, marksIn, openShop } from './open-shop.ts'
import { runChild } from './run-child.ts'

const start = at('2026-11-01T10:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

async function ingest(store: Store, rows: readonly IncomingRow[], batchSize: number): Promise<void> {
  for (let next = 0; next < rows.length; next += batchSize) {
    await store.ingest.ingest(rows.slice(next, next + batchSize), testKeys)
  }
}

function eventsOf(subjectId: string, count: number): IncomingRow[] {
  return Array.from({ length: count }, (_, i) =>
    eventRow({
      subjectId,
      sessionId: `s${i % 100}`,
      eventId: `e${i}`,
      occurredAt: start + i,
      properties: { url: `https://shop.example/products/${i}` },
    }),
  )
}

/** A second connection with an open read transaction. */
function beginReading(path: string, table = 'events'): DatabaseSync {
  const other = new DatabaseSync(path)
  other.exec('BEGIN')
  other.prepare(`SELECT count(*) FROM ${table}`).get()
  return other
}

function openNumbers(t: TestContext): { path: string; db: DatabaseSync } {
  const path = join(temporaryFolder(t), 'lethe.db')
  const db = openWriter(path)
  t.after(() => db.close())
  db.exec('CREATE TABLE numbers (number INTEGER) STRICT')
  return { path, db }
}

describe('the write-ahead log', () => {
  it('is empty when an erasure has been answered', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    await ingest(store, [...eventsOf('anna', 100), ...eventsOf('ben', 100)], 50)
    assert.notEqual(logSize(path), 0)
    await eraseIn(store, tracker, 'anna')
    assert.equal(logSize(path), 0)
  })

  it('is empty even if there was nothing left to erase', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    await ingest(store, eventsOf('anna', 10), 10)
    assert.notEqual(logSize(path), 0)
    assert.deepEqual(await eraseIn(store, tracker, 'nobody'), { sessions: 0, events: 0 })
    assert.equal(logSize(path), 0)
  })

  for (const [what, prepare] of Object.entries(deletions)) {
    it(`is empty when ${what} was deleted`, async (t) => {
      const { store, path } = await openShop(t, { writesHere: true })
      const fixture = new Fixture()
      fixture.use(store)
      const act = await prepare(fixture)
      await ingest(store, eventsOf('ben', 1), 1)
      assert.notEqual(logSize(path), 0)
      await act()
      assert.equal(logSize(path), 0)
    })
  }

  it('is emptied soon after a step of an unfinished sweep, even if no other step follows', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    await ingest(store, [...eventsOf('anna', 10), ...eventsOf('ben', 10)], 20)
    const swept = await store.retention.sweep('shop', stepBefore(start + 100, 5))
    assert.equal(swept.isDone, false)
    await until(() => logSize(path) === 0)
  })

  const nextOwners: Record<string, (t: TestContext, store: Store, path: string) => Promise<unknown>> = {
    async start(t, _store, path) {
      const restarted = await openSqliteStore(path)
      t.after(() => restarted.close())
      await restarted.prepareToWrite?.()
    },
    writer: (_t, store) => store.organisations.setPlan('acme', 'pro'),
  }
  for (const [owner, begin] of Object.entries(nextOwners)) {
    it(`is emptied by the next ${owner} if the process of an erasure was killed first`, async (t) => {
      const { store, path } = await openShop(t, { writesHere: true })
      await ingest(store, eventsOf('anna', 100), 100)
      const other = beginReading(path)
      const child = runChild('child-erases.ts', path)
      const ended = once(child, 'exit')
      await until(async () => (await store.subjects.read(tracker, 'anna')) === null)
      child.kill('SIGKILL')
      await ended
      await begin(t, store, path)
      assert.notEqual(logSize(path), 0)
      other.close()
      await until(() => logSize(path) === 0)
    })
  }

  it('is not changed by a start once everything is scrubbed', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    await store.maintenance.scrub(start)
    await ingest(store, eventsOf('anna', 10), 10)
    const size = logSize(path)
    assert.notEqual(size, 0)
    const second = await openSqliteStore(path, { writesHere: true })
    await second.prepareToWrite?.()
    await second.close()
    assert.equal(logSize(path), size)
  })

  it('is emptied once another process ends its read, without delaying other writes', async (t) => {
    const { store, path } = await openShop(t)
    await ingest(store, eventsOf('anna', 100), 100)
    const other = beginReading(path)
    let isAnswered = false
    const erasure = eraseIn(store, tracker, 'anna').finally(() => {
      isAnswered = true
    })
    while ((await store.subjects.read(tracker, 'anna')) !== null) await nextTurn()
    // The erasure waits for the reader, which closes only afterwards.
    for (const plan of ['pro', 'free'] as const) await store.organisations.setPlan('acme', plan)
    assert.notEqual(logSize(path), 0)
    assert.equal(isAnswered, false)
    other.close()
    assert.deepEqual(await erasure, { sessions: 100, events: 100 })
    assert.equal(logSize(path), 0)
  })

  for (const who of ['this process', 'another process']) {
    it(`is emptied for ${who} during exports, which then continue`, async (t) => {
      const { store, path } = await openShop(t)
      const others = who === 'this process' ? store : await openSqliteStore(path)
      if (others !== store) t.after(() => others.close())
      const names = Array.from({ length: 6 }, (_, i) => `visitor-${i}`)
      await ingest(
        store,
        [...names, 'anna'].flatMap((name) => eventsOf(name, 300)),
        1_000,
      )
      const { promise: goOn, resolve: letGoOn } = Promise.withResolvers<void>()
      const begun = new Set<string>()
      const exports = names.map(async (name) => {
        const eventIds: string[] = []
        const take = async (part: ExportPart) => {
          if (part.kind !== 'events') return
          eventIds.push(...part.rows.map(({ eventId }) => eventId))
          begun.add(name)
          await goOn
        }
        assert.equal(await store.exports.subject(tracker, name, take, async () => {}), true)
        return eventIds
      })
      while (begun.size < names.length) await nextTurn()
      for (const name of ['anna', 'visitor-5']) {
        await eraseIn(others, tracker, name)
        assert.equal(logSize(path), 0)
      }
      letGoOn()
      const outcomes = await Promise.allSettled(exports)
      const all = eventsOf('anna', 300).map((row) => (row.type === 'event' ? row.eventId : ''))
      for (const outcome of outcomes.slice(0, 5)) {
        assert.deepEqual(outcome, { status: 'fulfilled', value: all })
      }
      assert.equal(outcomes[5]?.status, 'rejected', 'of the one that was erased nothing more is read')
    })
  }

  it('is emptied while another process writes and checkpoints', async (t) => {
    const { store, path } = await openShop(t)
    const names = Array.from({ length: 3 }, (_, i) => `visitor-${i}-`)
    const page = (name: string) => `${name}at-`
    for (const name of names) {
      const rows = Array.from({ length: 200 }, (_, i) =>
        eventRow({
          subjectId: name,
          eventId: `e${i}`,
          occurredAt: start + i,
          properties: { url: page(name) },
        }),
      )
      await store.ingest.ingest(rows, testKeys)
    }
    const child = runChild('child-checkpoints.ts', path)
    t.after(async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    await once(child.stdout, 'data')
    for (const name of names) {
      assert.deepEqual(await eraseIn(store, tracker, name), { sessions: 1, events: 200 })
      const bytes = Buffer.concat(filesOf(path).map((file) => file.bytes)).toString('latin1')
      // A few may remain in the gaps of pages, as below.
      const left = bytes.split(page(name)).length - 1
      assert.ok(left <= 10, `${left} of 200 events of ${name} are left in the files`)
    }
  })

  it('that another process holds too long is reported, and emptied within a second after its end', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { path, db } = openNumbers(t)
    const other = beginReading(path, 'numbers')
    db.exec('INSERT INTO numbers VALUES (1)')
    const told: (number | null)[] = []
    const log = new LogTruncation(db, { timeoutMs: 0, onHeld: (heldMs) => told.push(heldMs) })
    let answers = 0
    const done = (error?: unknown) => {
      assert.equal(error, undefined)
      answers++
    }
    log.request(done)
    assert.deepEqual([answers, told], [1, [0]])
    assert.notEqual(logSize(path), 0)
    log.request(done)
    assert.equal(answers, 2, 'one that comes when the log has been held too long already does not wait')
    t.mock.timers.tick(1_000)
    assert.notEqual(logSize(path), 0)
    other.close()
    t.mock.timers.tick(999)
    assert.equal(logSize(path), 0)
    assert.deepEqual(told, [0, null])
    db.exec('INSERT INTO numbers VALUES (2)')
    t.mock.timers.tick(10_000)
    assert.notEqual(logSize(path), 0, 'once it is empty nothing more is tried')
    log.request(done)
    assert.deepEqual([answers, told, logSize(path)], [3, [0, null], 0])
  })

  it('is not waited for on close, unless an erasure waits for it', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { path, db } = openNumbers(t)
    const other = beginReading(path, 'numbers')
    db.exec('INSERT INTO numbers VALUES (1)')
    const log = new LogTruncation(db, { onHeld: () => assert.fail('it is not held for long') })
    const order: string[] = []
    log.end(() => order.push('nobody waits'))
    log.request(() => order.push('answered'))
    log.end(() => order.push('ended'))
    assert.deepEqual(order, ['nobody waits'])
    other.close()
    t.mock.timers.tick(999)
    assert.deepEqual(order, ['nobody waits', 'answered', 'ended'])
  })

  it('that cannot be emptied fails the erasures, and is tried again', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { path, db } = openNumbers(t)
    db.exec('INSERT INTO numbers VALUES (1)')
    const log = new LogTruncation(db, { onHeld: () => assert.fail('nobody holds it') })
    const broken = new Error('disk I/O error')
    const mock = t.mock.method(db, 'prepare', () => {
      throw broken
    })
    const errors: unknown[] = []
    log.request((error) => errors.push(error))
    assert.deepEqual(errors, [broken])
    mock.mock.restore()
    t.mock.timers.tick(1_000)
    assert.equal(logSize(path), 0)
  })
})

describe('the files after erasures', () => {
  it('hold no erased data in the log, and only fragments in the gaps of live pages', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    const random = seededRandom()
    const subjects = Array.from({ length: 100 }, (_, i) => markedSubject(i))
    await ingest(store, random.shuffle(subjects.flatMap(({ rows }) => rows)), 100)
    const before = marksIn(Buffer.concat(filesOf(path).map(({ bytes }) => bytes)))
    for (const { texts } of subjects) for (const text of texts) assert.ok(before.has(text), text)

    const [erased, kept] = [subjects.slice(0, 20), subjects.slice(20)]
    for (const { subjectId } of random.shuffle(erased)) {
      assert.deepEqual(await eraseIn(store, tracker, subjectId), { sessions: 2, events: 8 })
    }
    assert.equal(logSize(path), 0)

    const texts = new Set(erased.flatMap((subject) => subject.texts))
    assert.equal(texts.size, 20 * 24)
    const [database, ...others] = filesOf(path)
    assert.ok(database)
    for (const { name, bytes } of others) {
      assert.deepEqual(
        [...marksIn(bytes)].filter((text) => texts.has(text)),
        [],
        name,
      )
    }
    // SQLite moves rows between pages without overwriting the old bytes; a scrub overwrites them. That
    // affects a few in a thousand.
    const left = [...marksIn(database.bytes)].filter((text) => texts.has(text))
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${left.length} of ${texts.size} texts left in gaps`)
    assert.ok(left.length <= texts.size / 20, `${left.length} left: ${left.slice(0, 9)}`)
    const live = marksIn(database.bytes)
    for (const text of kept.flatMap((subject) => subject.texts)) assert.ok(live.has(text), text)
  })

  it('hold not one byte of a subject that had pages of its own, in UTF-8 or UTF-16', async (t) => {
    const { store, path } = await openShop(t, { writesHere: true })
    const rows = Array.from({ length: 1_000 }, (_, i) =>
      eventRow({
        subjectId: 'Änna-subject',
        sessionId: `Änna-session-${i % 20}`,
        eventId: `Änna-event-${i}`,
        occurredAt: start + i,
        properties: { url: `Änna-property-${i}` },
      }),
    )
    await ingest(store, rows, 500)
    assert.ok(filesOf(path).some(({ bytes }) => bytes.includes('Änna-')))
    await eraseIn(store, tracker, 'Änna-subject')
    for (const { name, bytes } of filesOf(path)) {
      for (const encoding of ['utf8', 'utf16le', 'latin1'] as const) {
        assert.equal(bytes.includes(Buffer.from('Änna-', encoding)), false, `${encoding} in ${name}`)
      }
      assert.equal(bytes.includes(Buffer.from('Änna-', 'utf16le').swap16()), false, `UTF-16BE in ${name}`)
    }
  })
})

/** The CPU time of this thread, and of all threads of this process. */
function cpuMs(): { thread: number; process: number } {
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()]
  return { thread: (thread.user + thread.system) / 1_000, process: (whole.user + whole.system) / 1_000 }
}

describe('a large erasure', () => {
  it('is atomic for others, and does not block the event loop or other reads', async (t) => {
    const { store, path } = await openShop(t)
    const events = 15_000
    await ingest(store, [...eventsOf('anna', events), ...eventsOf('ben', 10)], 10_000)
    const other = new DatabaseSync(path)
    t.after(() => other.close())
    const parts = other.prepare(
      `SELECT EXISTS (SELECT 1 FROM subjects WHERE subject_key = ?1) + EXISTS (SELECT 1 FROM sessions WHERE subject_key = ?1)
         + EXISTS (SELECT 1 FROM events WHERE subject_key = ?1) AS n`,
    )
    const anna = subjectKey('shop', 'anna')
    const seen = new Set<unknown>()
    let isDone = false
    const before = cpuMs()
    const erasure = eraseIn(store, tracker, 'anna').finally(() => {
      isDone = true
    })
    let longestMs = 0
    let turns = 0
    for (let last = before.thread; !isDone; turns++) {
      seen.add(parts.get(anna)?.n)
      assert.ok(await store.subjects.read(tracker, 'ben'))
      await nextTurn()
      const now = cpuMs().thread
      longestMs = Math.max(longestMs, now - last)
      last = now
    }
    const after = cpuMs()
    seen.add(parts.get(anna)?.n)
    assert.deepEqual([...seen], [3, 0])
    assert.equal((await erasure)?.events, events)
    const elsewhereMs = after.process - before.process - (after.thread - before.thread)
    const figures = `${turns} turns, the longest ${Math.round(longestMs)} ms, and ${Math.round(elsewhereMs)} ms in other threads`
    t.diagnostic(figures)
    // CPU time, because a busy machine may delay any thread. A blocked event loop would turn once or twice.
    assert.ok(turns >= 5, figures)
    assert.ok(longestMs < elsewhereMs / 2, figures)
  })
})

describe('erasures in a batch', () => {
  /** Blocks all writers until the returned function is called. */
  function lock(path: string): () => void {
    const other = openWriter(path)
    other.exec('BEGIN IMMEDIATE')
    return () => other.close()
  }

  const lifetime = inReverse({ after })
  let store: Store
  let path: string
  before(async () => {
    ;({ store, path } = await openShop(lifetime))
  })

  it('are done together, each with its own result', async (t) => {
    const names = Array.from({ length: 12 }, (_, i) => `visitor-${i}`)
    for (const [i, name] of names.entries()) await store.ingest.ingest(eventsOf(name, i + 1), testKeys)
    const stranger = { ...tracker, organisationId: 'other' }
    const other = new DatabaseSync(path)
    t.after(() => other.close())
    const subjects = other.prepare('SELECT count(*) AS count FROM subjects')

    const unlock = lock(path)
    const erasures = names.map((name) => eraseIn(store, tracker, name))
    const again = eraseIn(store, tracker, 'visitor-11')
    const unseen = eraseIn(store, stranger, 'visitor-7')
    unlock()
    let isDone = false
    const all = Promise.all(erasures).finally(() => {
      isDone = true
    })
    const seen = new Set<unknown>()
    for (; !isDone; await nextTurn()) seen.add(subjects.get()?.count)
    seen.add(subjects.get()?.count)

    assert.deepEqual(
      (await all).map((counts) => counts?.events),
      names.map((_, i) => i + 1),
    )
    assert.deepEqual(await again, { sessions: 0, events: 0 })
    assert.equal(await unseen, null)
    assert.equal(logSize(path), 0)
    // The writer may have started with the first ones before the others were queued.
    assert.ok(seen.size <= 3 && seen.has(0), `${[...seen]} were seen, one after the other`)
  })

  it('fail individually', async () => {
    const names = ['anna', 'ben', 'carl', 'dora']
    for (const name of names) await store.ingest.ingest(eventsOf(name, 3), testKeys)
    const other = new DatabaseSync(path)
    other.exec(`CREATE TRIGGER refusal BEFORE DELETE ON subjects WHEN old.subject_id = 'carl'
                BEGIN SELECT RAISE(ABORT, 'carl stays'); END`)
    other.close()
    const unlock = lock(path)
    const erasures = Promise.allSettled(names.map((name) => eraseIn(store, tracker, name)))
    unlock()
    const erased = { status: 'fulfilled', value: { sessions: 3, events: 3 } }
    const [anna, ben, carl, dora] = await erasures
    assert.deepEqual([anna, ben, dora], [erased, erased, erased])
    assert.match(carl?.status === 'rejected' ? carl.reason.message : '', /carl stays/)
    assert.deepEqual((await store.subjects.read(tracker, 'carl'))?.counts, { sessions: 3, events: 3 })
    for (const name of ['anna', 'ben', 'dora']) assert.equal(await store.subjects.read(tracker, name), null)
  })

  it('run before other queued writes', async () => {
    const found: (number | undefined)[] = []
    // The writer may take the first one before the others are queued; then the test tries again.
    for (let attempt = 0; attempt < 10 && !found.includes(1); attempt++) {
      const [first, second] = [`anna-${attempt}`, `ben-${attempt}`]
      await store.ingest.ingest([...eventsOf(first, 1), ...eventsOf(second, 1)], testKeys)
      const unlock = lock(path)
      const taken = eraseIn(store, tracker, first)
      await pause(5)
      const writes = [
        taken,
        store.ingest.ingest(eventsOf(second, 2), testKeys),
        eraseIn(store, tracker, second).then((counts) => found.push(counts?.events)),
      ]
      unlock()
      await Promise.all(writes)
    }
    assert.ok(found.includes(1), `what was imported meanwhile came after it: ${found}`)
  })

  it('are all done if the store is closed meanwhile', async () => {
    const names = ['emil', 'frida', 'gerd']
    for (const name of names) await store.ingest.ingest(eventsOf(name, 2), testKeys)
    const second = await openSqliteStore(path)
    const unlock = lock(path)
    const erasures = names.map((name) => eraseIn(second, tracker, name))
    const closed = second.close()
    unlock()
    for (const counts of await Promise.all(erasures)) assert.deepEqual(counts, { sessions: 2, events: 2 })
    await closed
  })
})
