import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Client } from 'pg'
import { commandLine } from '../../../src/domain/activity.ts'
import { Keyring } from '../../../src/domain/keyring.ts'
import { revokeKey, rotateKey } from '../../../src/operations/api-key.ts'
import { cancelRequest, startRequest } from '../../../src/operations/change-privacy-request.ts'
import { createRequest } from '../../../src/operations/create-privacy-request.ts'
import { eraseSubject } from '../../../src/operations/erase-subject.ts'
import { systemRandomness } from '../../../src/runtime/randomness.ts'
import { subjectKeyText } from '../../../src/storage/postgres/lock-subjects.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { dataOf } from '../../support/answers.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { connectTo, waitForLocks } from '../../support/raw-postgres.ts'
import { always, eventRow } from '../../support/rows.ts'
import { type Shop, startShop, subjectPath, visit } from '../../support/shop.ts'
import { testSecret } from '../../support/test-keyring.ts'
import { until } from '../../support/until.ts'
import { Fixture } from '../contract/fixture.ts'

/** Longer than the timeout for connecting. */
const longerThanConnectingMs = 5_500
const [readers, writers] = [4, 10]

describe('a service on PostgreSQL', () => {
  const lifetime = inReverse({ after })
  let shop: Shop
  let blocker: Client
  let observer: Client
  before(async () => {
    const address = await freshStore(lifetime)
    const env = { LETHE_STORE: address }
    shop = await startShop(lifetime, { scopes: ['analytics:view', 'analytics:delete-data'], env })
    blocker = await connectTo(lifetime, address)
    observer = await connectTo(lifetime, address)
    await shop.ingest(['held', 'anna', 'ben'].flatMap((subject) => visit(subject)))
  })

  /** Runs `work` while a lock is held. */
  async function whileLocked(lock: string, work: () => Promise<void>): Promise<void> {
    await blocker.query('BEGIN')
    await blocker.query(lock)
    try {
      await work()
    } finally {
      await blocker.query('ROLLBACK')
    }
  }

  /** Waits until this many connections wait for a lock. */
  const areWaiting = (count: number) => waitForLocks(observer, count)

  const erase = (subject: string) => shop.ask(subjectPath(subject), { method: 'DELETE', key: shop.key })
  const read = (subject: string) => shop.ask(subjectPath(subject), { key: shop.key })
  const activity = () =>
    shop.services.activity.list(shop.organisationId, { limit: 1, after: null, requestId: null })

  it('lets an erasure wait longer than the connection timeout without failing', async () => {
    let erasures: ReturnType<typeof erase>[] = []
    await whileLocked(`SELECT FROM subjects WHERE subject_id = 'held' FOR UPDATE`, async () => {
      erasures = Array.from({ length: writers }, () => erase('held'))
      await areWaiting(writers)
      erasures.push(erase('ben'))
      await until(() => shop.services.connections?.().waiting === 1)
      await setTimeout(longerThanConnectingMs)
    })
    for (const erasure of erasures) dataOf(await erasure)
    assert.equal((await read('ben')).status, 404)
  })

  it('carries out other erasures of the same batch while one waits', async () => {
    const others = Array.from({ length: 8 }, (_, number) => `other-${number}`)
    await shop.ingest(['late', ...others].flatMap((subject) => visit(subject)))
    const eraseNow = (subject: string) => eraseSubject(shop.services, shop.view, subject)
    let late: ReturnType<typeof eraseNow> | undefined
    await whileLocked(`SELECT FROM subjects WHERE subject_id = 'late' FOR UPDATE`, async () => {
      late = eraseNow('late')
      for (const { counts } of await Promise.all(others.map(eraseNow))) assert.notEqual(counts.events, 0)
    })
    assert.notEqual((await late)?.counts.events, 0)
  })

  it('erases nobody for a request that was cancelled while the erasure waited', async () => {
    const { organisationId, services } = shop
    const view = { organisationId, since: always }
    await shop.ingest(['olga', 'paul', 'quinn'].flatMap((subject) => visit(subject)))
    async function begin(...ids: string[]): Promise<string> {
      const person = { identifiers: [], subjects: ids.map((subjectId) => ({ trackerId: 'shop', subjectId })) }
      const wanted = { kind: 'erasure', person, receivedAt: null, reference: null, requestId: null } as const
      const { id } = await createRequest(services, view, wanted, commandLine)
      await startRequest(services, view, id, commandLine)
      return id
    }
    let cancelled = ''
    await whileLocked(`SELECT FROM subjects WHERE subject_id = 'olga' FOR UPDATE`, async () => {
      cancelled = await begin('olga', 'paul')
      await areWaiting(1)
      const request = await cancelRequest(services, view, cancelled, commandLine)
      assert.deepEqual([request.state, request.erased.subjects], ['cancelled', 0])
    })
    // Requests run one after the other: when this one is done, the first one has ended.
    const next = await begin('quinn')
    const stored = (id: string) => services.privacyRequests.find({ organisationId, id })
    await until(async () => (await stored(next))?.state === 'done', 60_000)
    for (const subject of ['olga', 'paul']) assert.equal((await read(subject)).status, 200, subject)
    const items = await services.privacyRequests.items({ organisationId, id: cancelled }, -1, 10)
    assert.deepEqual(
      items.map(({ outcome }) => outcome),
      ['stopped', 'stopped'],
    )
  })

  it('rotates and revokes keys while every connection for writes is blocked', async () => {
    const { key } = await shop.createKey(shop.organisationId)
    let erasures: Promise<unknown>[] = []
    await whileLocked(`SELECT FROM subjects WHERE subject_id = 'anna' FOR UPDATE`, async () => {
      erasures = Array.from({ length: writers }, () => erase('anna'))
      await areWaiting(writers)
      const { keyString } = await rotateKey(shop.services, key.id)
      dataOf(await shop.ask('/v1/analytics/trackers/shop/subjects', { key: keyString }))
      await revokeKey(shop.services, key.id, key.name)
      assert.equal((await shop.ask(subjectPath('anna'), { key: keyString })).status, 401)
    })
    await Promise.all(erasures)
  })

  it('answers other reads while some wait for a lock, even those sent after them', async () => {
    await shop.ingest(visit('carl'))
    let held: Promise<unknown>[] = []
    await whileLocked('LOCK TABLE activity', async () => {
      held = Array.from({ length: readers }, async () => activity().catch(() => null))
      const behind = Array.from({ length: 10 * readers }, () => read('carl'))
      await areWaiting(readers)
      for (const answer of await Promise.all(behind)) dataOf(answer)
      for (let count = 0; count < 10; count++) dataOf(await read('carl'))
      dataOf(await shop.ask('/readyz'))
      assert.equal((await shop.ask(subjectPath('carl'), { key: 'unknown' })).status, 401)
    })
    await Promise.all(held)
  })

  it('authenticates and is ready while every connection for reads is blocked', async () => {
    const { key, keyString } = await shop.createKey(shop.organisationId)
    let held: Promise<unknown>[] = []
    await whileLocked('LOCK TABLE events', async () => {
      const path = `${subjectPath('carl')}/sessions`
      held = Array.from({ length: 10 * readers }, () => shop.ask(path, { key: shop.key }))
      await areWaiting(readers)
      dataOf(await shop.ask('/readyz'))
      await rotateKey(shop.services, key.id)
      assert.equal((await shop.ask(subjectPath('carl'), { key: keyString })).status, 401)
    })
    await Promise.all(held)
  })
})

describe('an import that waits for a subject while the secret is rotated', () => {
  it('stores no subject that was erased under the new secret meanwhile', async (t) => {
    const lifetime = inReverse(t)
    const address = await freshStore(lifetime)
    const store = await openPostgresStore(address)
    lifetime.after(() => store.close())
    const fixture = new Fixture()
    fixture.use(store)
    const tracker = await fixture.createTracker()
    const { trackerId } = tracker
    const older = new Keyring([testSecret('older')], 'lethe.local')
    const newer = new Keyring([testSecret('newer'), testSecret('older')], 'lethe.local')
    await store.secrets.remember(older.fingerprints, 1)
    // Rows are locked in the order of their keys.
    const names = ['anna', 'ben'].sort((a, b) =>
      subjectKeyText(trackerId, a) < subjectKeyText(trackerId, b) ? -1 : 1,
    )
    const [held = '', erased = ''] = names
    const rows = (eventId: string) =>
      names.map((subjectId) => eventRow({ trackerId, subjectId, eventId, occurredAt: 1_000 }))
    await store.ingest.ingest(rows('e1'), older.tombstoneKeys)
    const [blocker, observer] = [await connectTo(lifetime, address), await connectTo(lifetime, address)]
    await blocker.query('BEGIN')
    await blocker.query('SELECT FROM subjects WHERE subject_id = $1 FOR UPDATE', [held])
    const refused = assert.rejects(store.ingest.ingest(rows('e2'), older.tombstoneKeys), /rotated/)
    await waitForLocks(observer, 1)
    await store.secrets.remember(newer.fingerprints, 2)
    const deps = { ...store, keyring: newer, clock: () => 2_000, randomness: systemRandomness }
    assert.equal((await eraseSubject(deps, tracker, erased)).counts.events, 1)
    await blocker.query('ROLLBACK')
    await refused
    assert.equal(await store.subjects.read(tracker, erased), null)
    assert.equal((await store.subjects.read(tracker, held))?.counts.events, 1)
  })
})
