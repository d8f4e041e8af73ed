import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { tooBusy } from '../../../src/domain/errors.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { maxWaiting, Writer, writeHere, writeInThread } from '../../../src/storage/sqlite/writer.ts'
import { fillStore, shop } from '../../support/filled-store.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { eventRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'

const acme = { id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 } as const

/** Counts the threads started from now on. */
function countThreads(t: TestContext): () => number {
  let threads = 0
  const count = () => {
    threads++
  }
  process.on('worker', count)
  t.after(() => process.off('worker', count))
  return () => threads
}

const notLinux = process.platform !== 'linux' && 'only Linux has a priority for each thread'

/** The priority of each thread of this process. */
function niceness(): number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}

/** Fails unless a failed write leaves the following writes unaffected. */
async function assertContinues({ organisations, trackers }: Store): Promise<void> {
  const other = { ...acme, id: 'other' }
  const results = await Promise.allSettled([
    // An integer column cannot hold it.
    organisations.create({ ...other, createdAt: 0.5 }),
    organisations.create(other),
    trackers.create({ id: 'shop', organisationId: 'other', name: 'Shop', createdAt: 1 }),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
}

describe('a writer in a separate thread', () => {
  const lifetime = inReverse({ after })
  let store: Store
  before(async () => {
    store = await openSqliteStore(join(temporaryFolder(lifetime), 'lethe.db'))
    lifetime.after(() => store.close())
  })

  it('starts it when prepared or with the first write, not for reads', async (t) => {
    const threads = countThreads(t)
    await store.organisations.list()
    await store.ping()
    assert.equal(threads(), 0)
    await store.prepareToWrite?.()
    assert.equal(threads(), 1)
    assert.equal(await store.organisations.create(acme), true)
    assert.equal(threads(), 1)
  })

  it('continues after a failed write', () => assertContinues(store))

  it('rejects values that cannot be sent to it, and continues', async () => {
    const withFunction = { ...acme, run: () => {} }
    const withBigInteger = eventRow({ subjectId: 'anna', eventId: 'e', properties: { count: 1n } })
    // Not `async`: a port always returns a promise.
    await assert.rejects(() => store.organisations.create(withFunction), { name: 'DataCloneError' })
    await assert.rejects(() => store.ingest.ingest([withBigInteger], testKeys), TypeError)
    const others = [{ ...acme, id: 'second' }, withFunction, { ...acme, id: 'third' }]
    const together = others.map((each) => store.organisations.create(each))
    assert.deepEqual(
      (await Promise.allSettled(together)).map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
  })
})

describe('the writer', () => {
  it('needs no thread if it writes in the calling thread', async (t) => {
    const threads = countThreads(t)
    const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'), { writesHere: true })
    assert.equal(await store.organisations.create(acme), true)
    assert.equal(await store.organisations.create(acme), false)
    await store.close()
    await assert.rejects(store.organisations.create(acme), /closed/)
    assert.equal(threads(), 0)
  })

  it('lets the event loop turn between two writes in the calling thread, so that signals are handled', async (t) => {
    const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'), { writesHere: true })
    t.after(() => store.close())
    let turns = 0
    const turn = () => {
      turns++
      turning = setImmediate(turn)
    }
    let turning = setImmediate(turn)
    for (let write = 0; write < 10; write++) await store.organisations.create(acme)
    clearImmediate(turning)
    assert.ok(turns >= 9, `${turns} turns`)
  })

  it('answers in the calling thread once the reader has released the log', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    await fillStore(path, [eventRow({ subjectId: 'anna', eventId: 'e' })])
    const store = await openSqliteStore(path, { writesHere: true })
    const reader = new DatabaseSync(path)
    reader.exec('BEGIN; SELECT * FROM subjects')
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const erased = eraseIn(store, shop, 'anna')
    await new Promise(setImmediate)
    assert.equal(timers(), before + 1, 'nothing else keeps the process')
    reader.close()
    assert.deepEqual(await erased, { sessions: 1, events: 1 })
    assert.equal(statSync(`${path}-wal`).size, 0)
    await store.close()
  })

  it('starts a new thread for the next write if the last one died', async (t) => {
    const folder = join(temporaryFolder(t), 'data')
    writeFileSync(folder, 'a file where the folder should be')
    const writer = new Writer(join(folder, 'lethe.db'), writeInThread)
    const writes = [1, 2, 3].map(() => writer.transact('createOrganisation', acme))
    for (const result of await Promise.allSettled(writes)) {
      assert.equal(result.status, 'rejected')
      if (result.status === 'rejected') assert.match(String(result.reason), /EEXIST|ENOTDIR|unable to open/)
    }
    rmSync(folder)
    await (await openSqliteStore(join(folder, 'lethe.db'))).close()
    assert.equal(await writer.transact('createOrganisation', acme), true)
    await writer.close()
  })

  it('runs at a lower priority once a service is ready to write', { skip: notLinux }, async (t) => {
    const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'))
    const own = getPriority()
    const lowest = Math.min(own + 5, 19)
    const others = niceness().filter((nice) => nice === lowest).length
    await store.prepareToWrite?.()
    assert.equal(niceness().filter((nice) => nice === lowest).length, others + 1)
    assert.equal(getPriority(), own)
    await store.close()
  })

  it('continues after a failed write in the calling thread', async (t) => {
    const store = await openSqliteStore(join(temporaryFolder(t), 'lethe.db'), { writesHere: true })
    await assertContinues(store)
    await store.close()
  })

  it('finishes the queued writes before it closes', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    await (await openSqliteStore(path)).close()
    for (const start of [writeInThread, writeHere]) {
      const writer = new Writer(path, start)
      const organisation = { ...acme, id: start.name }
      const [created] = await Promise.all([
        writer.transact('createOrganisation', organisation),
        writer.close(),
      ])
      assert.equal(created, true)
    }
  })

  it('immediately refuses writes that would wait for a thousand others, and accepts more afterwards', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    await (await openSqliteStore(path)).close()
    const writer = new Writer(path, writeInThread)
    const writes = Array.from({ length: maxWaiting + 1 }, () => writer.transact('createOrganisation', acme))
    await assert.rejects(Promise.all(writes), { message: tooBusy().message })
    const results = await Promise.allSettled(writes)
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, maxWaiting)
    assert.equal(await writer.transact('createOrganisation', acme), false)
    await writer.close()
  })
})
