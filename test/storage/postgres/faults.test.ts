import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import type { Store } from '../../../src/domain/store.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { always, eventRow } from '../../support/rows.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { until, watchTimers } from '../../support/until.ts'
import { keeping, rememberWindows, stepBefore } from '../../support/windows.ts'

const shop = { organisationId: 'acme', trackerId: 'shop', since: always }
/** Long enough for a busy machine, and far below every timeout of the store. */
const promptMs = 3_000
/** Longer than all timeouts before a write, even on a busy machine. */
const silentMs = 40_000

describe('a PostgreSQL store that loses its server', () => {
  let server: PostgresServer
  let store: Store
  let visits = 0
  before(async () => {
    server = await startPostgres()
    store = await openPostgresStore(server.url)
    await addShop(store)
    await rememberWindows(store, keeping(1))
  })
  after(async () => {
    await store.close()
    await server.remove()
  })
  beforeEach(() => visit('anna'))

  async function visit(subjectId: string, events = 1): Promise<void> {
    const owner = { trackerId: 'shop', subjectId }
    await store.ingest.ingest(
      Array.from({ length: events }, () =>
        eventRow({ ...owner, eventId: `e${++visits}`, occurredAt: visits }),
      ),
      testKeys,
    )
  }

  const read = async () => (await store.subjects.read(shop, 'anna'))?.subjectId
  const everything: Record<string, () => Promise<unknown>> = {
    reading: read,
    listing: async () => store.subjects.list(shop, { sort: 'subjectId', limit: 50, ...none }),
    'looking up a key': async () => store.apiKeys.findCaller('nobody'),
    erasing: () => eraseIn(store, shop, 'nobody'),
    'taking in': () => visit('anna'),
    sweeping: () => store.retention.sweep('shop', stepBefore(0, 100)),
    'being alone': () => store.maintenance.withMaintenanceLock(async () => 'alone'),
    'a ping': () => store.ping(),
  }

  /** Whether all operations fail at the same time. Backends can outlive a killed server briefly. */
  async function allFail(): Promise<boolean> {
    const outcomes = await Promise.allSettled(Object.values(everything).map((work) => work()))
    return outcomes.every(({ status }) => status === 'rejected')
  }

  for (const ending of ['fast', 'immediate', 'killed'] as const) {
    it(`survives a server that is ${ending === 'killed' ? 'killed' : `stopped (${ending})`} in the middle of reads and writes, fails promptly while it is, and works immediately when it is back`, async () => {
      let [failed, done] = [0, 0]
      let isOver = false
      const workers = Object.values(everything).map(async (work) => {
        while (!isOver) {
          try {
            await work()
            done += 1
          } catch {
            failed += 1
          }
        }
      })
      await until(() => done > 20)
      await server.stop(ending)
      const before = failed
      await until(() => failed > before + 5)
      isOver = true
      await Promise.all(workers)
      await until(allFail)
      for (const [what, work] of Object.entries(everything)) {
        const lateness = watchTimers()
        const from = performance.now()
        await assert.rejects(work(), what)
        const tookMs = performance.now() - from
        // Time in which this process was blocked does not count.
        assert.ok(tookMs - (await lateness.stop()) < promptMs, `${what} took too long to fail`)
      }
      await server.start()
      for (const [what, work] of Object.entries(everything)) await assert.doesNotReject(work(), what)
      assert.equal(await read(), 'anna')
    })
  }

  it('does not wait indefinitely for a silent server, and recovers when it responds again', async () => {
    const fresh = await openPostgresStore(server.url)
    const works = [store, fresh].flatMap(({ subjects, ping }) => [
      () => eraseIn({ subjects }, shop, 'nobody'),
      () => subjects.read(shop, 'nobody'),
      ping,
    ])
    await eraseIn(store, shop, 'nobody')
    await server.pause()
    const settled = Promise.allSettled(works.map((work) => work()))
    const outcomes = await Promise.race([settled, setTimeout(silentMs, [], { ref: false })])
    await server.resume()
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      works.map(() => 'rejected'),
    )
    for (const work of works) await assert.doesNotReject(async () => work())
    await fresh.close()
  })

  it('recovers without an error if only its connections were closed', async () => {
    const admin = new Client(server.url)
    await admin.connect()
    for (const [what, work] of Object.entries(everything)) {
      await work()
      await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lethe'`,
      )
      await assert.doesNotReject(work(), what)
    }
    await admin.end()
  })

  it('leaves maintenance to another process if the first one loses its connection', async () => {
    const admin = new Client(server.url)
    await admin.connect()
    const other = await openPostgresStore(server.url)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const first = store.maintenance.withMaintenanceLock(async () => {
      begin()
      await held
    })
    await begun
    assert.equal(await other.maintenance.withMaintenanceLock(async () => 'mine'), null)
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted`,
    )
    await until(async () => (await other.maintenance.withMaintenanceLock(async () => 'mine')) === 'mine')
    release()
    await first
    await other.close()
    await admin.end()
  })

  it('keeps what was acknowledged, and erases completely or not at all', async () => {
    await visit('ben', 2_000)
    const erasing = eraseIn(store, shop, 'ben').catch(() => null)
    await server.stop('immediate')
    const erased = await erasing
    await server.start()
    const left = await store.subjects.read(shop, 'ben')
    if (erased) assert.equal(left, null)
    else assert.ok(left === null || left.counts.events === 2_000)
    const events = await store.events.list(shop, 'ben', { limit: 1, after: null, sessionId: null })
    assert.equal(events === null, left === null)
  })
})

const none = { after: null, subjectIdPrefix: null, lastSeenAfter: null, lastSeenBefore: null }
