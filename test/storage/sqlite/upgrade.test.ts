import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { Store } from '../../../src/domain/store.ts'
import { subjectKey } from '../../../src/domain/subject.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/migrate.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { always, at, eventRow, sessionRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows, stepBefore } from '../../support/windows.ts'
import { Fixture } from '../contract/fixture.ts'
import {
  assertComparedInNfc,
  assertUpgraded,
  oldIdentifiersSql,
  oldStoreSql,
} from '../upgraded-identifiers.ts'
import { ask, value } from './open-shop.ts'

const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const day = 86_400_000
const start = at('2026-06-01T00:00:00.000Z')

/** Rows with everything that the old store records of a session, so that it is filled without ingest. */
const rows: IncomingRow[] = [
  ...visit('anna', 'old', start - 9 * day, start - 8 * day, [start - 9 * day, start - 8 * day]),
  ...visit('anna', 'over', start - 3 * day, start + day, [start - 2 * day, start - 1, start, start + day]),
  ...visit('ben', 'silent', start - 5 * day, start - 4 * day, []),
  ...visit('ben', 'quiet', start - 6 * day, start + 2 * day, []),
  ...visit('cleo', 'ancient', -2 * day - 1, -1, [-2 * day - 1, -day, -1]),
  ...visit('cleo', 'epoch', 0, day - 1, [0, day - 1]),
  ...visit('dan', 'young', start, start + day, [start]),
]

function visit(
  subjectId: string,
  sessionId: string,
  startedAt: number,
  endedAt: number,
  events: number[],
): IncomingRow[] {
  return [
    sessionRow({ subjectId, sessionId, startedAt, endedAt, attributes: { visit: sessionId } }),
    ...events.map((occurredAt, i) =>
      eventRow({
        ...{ subjectId, sessionId, eventId: `${sessionId}-${i}`, occurredAt },
        name: i % 2 ? 'purchase' : 'pageview',
      }),
    ),
  ]
}

/** A store of the first version with these rows, as that version stored them. */
function oldStore(t: TestContext): string {
  const path = join(temporaryFolder(t), 'lethe.db')
  const db = openWriter(path)
  migrate(db, path, migrations().slice(0, 1))
  db.exec(`INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1)`)
  db.exec(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
  const putSession = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, 0, ?, ?)')
  const putEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)')
  const countEvent = db.prepare('UPDATE sessions SET event_count = event_count + 1 WHERE session_id = ?')
  for (const row of rows) {
    const key = subjectKey(row.trackerId, row.subjectId)
    if (row.type === 'session') {
      const attributes = JSON.stringify(row.attributes)
      putSession.run(key, row.sessionId, row.startedAt, row.endedAt, attributes, row.endedAt)
    } else {
      const { occurredAt, eventId, sessionId, name } = row
      putEvent.run(key, occurredAt, eventId, sessionId, name, JSON.stringify(row.properties))
      countEvent.run(sessionId)
    }
  }
  const putSubject = db.prepare(
    `INSERT INTO subjects SELECT 'shop', ?1, ?2, min(started_at), max(ended_at), count(*), sum(event_count)
     FROM sessions WHERE subject_key = ?2`,
  )
  for (const subjectId of new Set(rows.map((row) => row.subjectId))) {
    putSubject.run(subjectId, subjectKey('shop', subjectId))
  }
  db.close()
  return path
}

async function open(t: TestContext, path: string): Promise<Store> {
  const store = await openSqliteStore(path, { writesHere: true })
  t.after(() => store.close())
  return store
}

/** A store created in the newest version, with the same rows. */
async function newStore(t: TestContext): Promise<Store> {
  const store = await open(t, join(temporaryFolder(t), 'lethe.db'))
  await addShop(store, { plan: 'pro' })
  await store.ingest.ingest(rows, testKeys)
  return store
}

function readAll(store: Store, since: number): Promise<unknown> {
  const fixture = new Fixture()
  fixture.use(store)
  return fixture.readAll({ ...tracker, since })
}

const totalsOf = (store: Store) => store.dailyTotals.list(tracker, -1e6, 1e6)

describe('a store of the first version, upgraded', () => {
  it('keeps its data, and shows what has not aged out', async (t) => {
    const [upgraded, fresh] = [await open(t, oldStore(t)), await newStore(t)]
    for (const since of [always, -day, 0, start - 8 * day + 1, start, start + 2 * day, start + 9 * day]) {
      assert.deepEqual(await readAll(upgraded, since), await readAll(fresh, since), `since ${since}`)
    }
    assert.deepEqual(await upgraded.organisations.list(), await fresh.organisations.list())
  })

  it('records when the oldest data of each subject ages out', async (t) => {
    const path = oldStore(t)
    await (await openSqliteStore(path)).close()
    assert.deepEqual(
      ask(path, 'SELECT subject_id, oldest_at FROM subjects ORDER BY subject_id').map((row) => [
        row.subject_id,
        row.oldest_at,
      ]),
      [
        ['anna', start - 9 * day],
        ['ben', start - 4 * day],
        ['cleo', -2 * day - 1],
        ['dan', start],
      ],
    )
  })

  it('has the daily totals of all its data, including days before 1970', async (t) => {
    const [upgraded, fresh] = [await open(t, oldStore(t)), await newStore(t)]
    const totals = await totalsOf(upgraded)
    assert.deepEqual(totals, await totalsOf(fresh))
    assert.deepEqual(totals?.slice(0, 3), [
      { day: -3, sessions: 1, events: { pageview: 1 }, otherEvents: 0 },
      { day: -1, sessions: 0, events: { pageview: 1, purchase: 1 }, otherEvents: 0 },
      { day: 0, sessions: 1, events: { pageview: 1, purchase: 1 }, otherEvents: 0 },
    ])
  })

  it('keeps counting: stored rows add nothing, others do', async (t) => {
    const upgraded = await open(t, oldStore(t))
    const before = await totalsOf(upgraded)
    const none = { subjects: 0, sessions: 0, events: 0 }
    const again = await upgraded.ingest.ingest(rows, testKeys)
    assert.deepEqual(again, { ...none, unchanged: rows.length })
    assert.deepEqual(await totalsOf(upgraded), before)
    await upgraded.ingest.ingest([eventRow({ subjectId: 'eve', eventId: 'e', occurredAt: -day })], testKeys)
    const [, second] = (await totalsOf(upgraded)) ?? []
    assert.deepEqual(second, { day: -1, sessions: 1, events: { pageview: 2, purchase: 1 }, otherEvents: 0 })
  })

  it('is swept correctly', async (t) => {
    const path = oldStore(t)
    const [upgraded, fresh] = [await open(t, path), await newStore(t)]
    const totals = await totalsOf(upgraded)
    const visible = await readAll(upgraded, start)
    for (const store of [upgraded, fresh]) {
      await rememberWindows(store, keeping(1))
      const swept = await store.retention.sweep('shop', stepBefore(start, 1_000))
      assert.deepEqual(swept, { subjects: 1, sessions: 4, events: 9, isDone: true })
      assert.deepEqual(await readAll(store, always), visible)
    }
    assert.equal(value(path, 'SELECT count(*) FROM events'), 3)
    assert.equal(value(path, 'SELECT count(*) FROM sessions'), 3)
    assert.deepEqual(await totalsOf(upgraded), totals)
  })

  it('is due for a scrub, because earlier deletions were not counted', async (t) => {
    const path = oldStore(t)
    const upgraded = await open(t, path)
    const { lastAt, isDue } = await upgraded.maintenance.scrubState()
    assert.equal(isDue, true)
    const agoMs = Number(value(path, 'SELECT unixepoch() * 1000')) - lastAt
    assert.ok(agoMs >= 0 && agoMs < 60_000, 'counted from the upgrade on')
    await upgraded.maintenance.scrub(start)
    assert.deepEqual(await upgraded.maintenance.scrubState(), { lastAt: start, isDue: false })
  })

  it('is not due for a scrub if it was never used', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 1))
    db.close()
    assert.equal((await (await open(t, path)).maintenance.scrubState()).isDue, false)
  })
})

describe('a store of the third version, upgraded', () => {
  it('indexes the events of a session if sessions overlap and events are many', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 3))
    db.exec(`INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1)`)
    db.exec(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
    const subjects = { many: 1_200, few: 900, orderly: 1_200 }
    const put = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)')
    for (const [subjectId, count] of Object.entries(subjects)) {
      const key = subjectKey('shop', subjectId)
      const sessionOf = (number: number) =>
        subjectId === 'orderly' ? (number < count / 2 ? 'a' : 'b') : number % 300 === 7 ? 'a' : 'b'
      for (let number = 0; number < count; number++) {
        put.run(key, start + number, `e${number}`, sessionOf(number), 'pageview', '{}')
      }
      db.prepare(
        `INSERT INTO sessions SELECT ?1, session_id, min(occurred_at), max(occurred_at), count(*), '{}', NULL
         FROM events WHERE subject_key = ?1 GROUP BY session_id`,
      ).run(key)
      db.prepare(
        `INSERT INTO subjects SELECT 'shop', ?1, ?2, min(started_at), max(ended_at), count(*), sum(event_count), min(started_at)
         FROM sessions WHERE subject_key = ?2`,
      ).run(subjectId, key)
    }
    db.close()
    const store = await open(t, path)
    assert.deepEqual(
      ask(path, 'SELECT subject_id, interleaved FROM subjects ORDER BY subject_id').map((row) => [
        row.subject_id,
        row.interleaved,
      ]),
      [
        ['few', 0],
        ['many', 1],
        ['orderly', 0],
      ],
    )
    assert.equal(value(path, 'SELECT count(*) FROM events WHERE interleaved = 1'), 1_200)
    const listed = await store.events.list(tracker, 'many', { limit: 200, after: null, sessionId: 'a' })
    assert.deepEqual(
      listed?.rows.map(({ eventId }) => eventId),
      ['e907', 'e607', 'e307', 'e7'],
    )
  })
})

describe('a store of the second version, upgraded', () => {
  it('keeps its data, and accepts members, sign-ins and activity', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 2))
    db.exec(`INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1)`)
    db.exec(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
    db.exec(
      `INSERT INTO api_keys VALUES ('k1', 'acme', 'old', 'analytics:view', 'h', 'abcd', 1, null, null, null, null)`,
    )
    db.close()
    const store = await open(t, path)
    assert.deepEqual(
      (await store.apiKeys.list('acme')).map(({ name }) => name),
      ['old'],
    )
    await store.ingest.ingest(rows, testKeys)
    assert.deepEqual(await store.members.list('acme'), [])
    const actor = { kind: 'command-line' } as const
    const note = {
      id: 'a',
      organisationId: 'acme',
      at: 2,
      actor,
      kind: 'key.revoked',
      target: 'old',
      requestId: null,
    } as const
    assert.equal(await store.apiKeys.revoke('k1', 2, note), true)
    await eraseIn(store, tracker, 'anna', { ...note, id: 'b', at: 3, kind: 'subject.erased', target: 'shop' })
    const { rows: entries } = await store.activity.list('acme', { limit: 9, after: null, requestId: null })
    assert.deepEqual(
      entries.map(({ id, counts }) => [id, counts]),
      [
        ['b', { sessions: 2, events: 6 }],
        ['a', null],
      ],
    )
  })
})

describe('a store of the third version, upgraded', () => {
  const far = at('9999-12-31T23:59:59.000Z')

  /** A store of that version with rows that imports no longer accept. */
  function farStore(t: TestContext): string {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 3))
    db.exec(`INSERT INTO organisations VALUES ('acme', 'Acme', 'pro', 1)`)
    db.exec(`INSERT INTO trackers VALUES ('shop', 'acme', 'Shop', 1)`)
    const putSubject = db.prepare(
      `INSERT INTO subjects (tracker_id, subject_id, subject_key, first_seen_at, last_seen_at, oldest_at, session_count,
         event_count) VALUES ('shop', ?, ?, ?, ?, ?, ?, ?)`,
    )
    const putSession = db.prepare(`INSERT INTO sessions VALUES (?, ?, ?, ?, ?, '{}', ?)`)
    const putEvent = db.prepare(`INSERT INTO events VALUES (?, ?, ?, ?, 'pageview', '{}')`)
    const [open, lost, sound] = ['open', 'lost', 'sound'].map((id) => subjectKey('shop', id))
    assert.ok(open && lost && sound)
    putSubject.run('open', open, start, far, start, 2, 1)
    putSession.run(open, 's1', start, far, 1, far)
    putEvent.run(open, start, 'e', 's1')
    putSession.run(open, 's2', start + 1, start + 2, 0, start + 2)
    putSubject.run('lost', lost, far - 9, far, far - 9, 1, 3)
    putSession.run(lost, 's', far - 9, far, 3, far)
    // Two of these become one.
    putEvent.run(lost, far - 9, 'e', 's')
    putEvent.run(lost, far, 'e', 's')
    putEvent.run(lost, far, 'f', 's')
    putSubject.run('sound', sound, start, start + 5, start, 1, 0)
    putSession.run(sound, 's', start, start + 5, 0, start + 5)
    db.close()
    return path
  }

  it('remembers no window, so that its first sweep waits for a day', async (t) => {
    const path = farStore(t)
    const store = await open(t, path)
    assert.equal(value(path, 'SELECT count(*) FROM retention_windows'), 0)
    const policy = keeping(1)
    const step = (now: number) => store.retention.sweep('shop', { policy, now, maxRows: 9 })
    const now = start + 99 * day
    await store.retention.settleWindows({ policy, now, rule: 'grace' })
    assert.equal((await step(now + day - 1)).sessions, 0)
    assert.ok((await step(now + day)).sessions > 0)
  })

  it('holds nothing that stays visible forever: dates after 2050 become that of the upgrade', async (t) => {
    const path = farStore(t)
    const before = Math.floor(Date.now() / 1_000) * 1_000
    const store = await open(t, path)
    const [opened, lost, sound] = await Promise.all(
      ['open', 'lost', 'sound'].map(async (id) => store.subjects.read(tracker, id)),
    )
    assert.deepEqual([sound?.firstSeenAt, sound?.lastSeenAt], [start, start + 5])
    assert.deepEqual([opened?.firstSeenAt, opened?.counts], [start, { sessions: 2, events: 1 }])
    assert.deepEqual(lost?.counts, { sessions: 1, events: 2 })
    for (const at of [opened?.lastSeenAt, lost?.firstSeenAt, lost?.lastSeenAt]) {
      assert.ok(at !== undefined && at >= before && at <= Date.now(), String(at))
    }
    await rememberWindows(store, keeping(1))
    const late = { policy: keeping(1), now: Date.now() + 2 * day, maxRows: 99 }
    const swept = await store.retention.sweep('shop', late)
    assert.deepEqual(swept, { subjects: 3, sessions: 4, events: 3, isDone: true })
  })
})

describe('a store of the sixth version, upgraded', () => {
  it('keeps its data, and its trackers and organisations can be deleted', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 6))
    // Such IDs were once allowed.
    db.exec(`INSERT INTO organisations VALUES ('../x', 'Odd', 'pro', 1), ('acme', 'Acme', 'pro', 1)`)
    db.exec(`INSERT INTO trackers VALUES ('odd', '../x', 'Odd', 1), ('shop', 'acme', 'Shop', 1)`)
    db.exec(`INSERT INTO activity (organisation_id, at, id, kind, actor_kind)
             VALUES ('../x', 1, 'a', 'tracker.created', 'command-line')`)
    db.close()
    const store = await open(t, path)
    await store.ingest.ingest(rows, testKeys)
    assert.equal((await store.organisations.list()).length, 2)
    const actor = { kind: 'command-line' } as const
    const note = { id: 'b', organisationId: '../x', at: start, actor, target: null, requestId: null }
    const isDeleted = await store.deletions.deleteOrganisation('../x', 'Odd', start, {
      ...note,
      kind: 'organisation.deleted',
    })
    assert.equal(isDeleted, true)
    assert.equal((await store.deletions.removeTracker('odd', 99)).isDone, true)
    assert.deepEqual(
      (await store.organisations.list()).map(({ id }) => id),
      ['acme'],
    )
    const { rows: entries } = await store.activity.list('../x', { limit: 9, after: null, requestId: null })
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['organisation.deleted', 'tracker.created'],
    )
    assert.equal((await store.subjects.read(tracker, 'dan'))?.counts.events, 1)
  })
})

describe('a store of the tenth version, upgraded', () => {
  it('keeps its data, and finds people by their identifiers', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 10))
    const key = Buffer.from(subjectKey('shop', 'anna')).toString('hex')
    for (const sql of oldStoreSql(`x'${key}'`)) db.exec(sql)
    db.close()
    await assertUpgraded(await open(t, path))
  })
})

describe('a store of 0.2.0, upgraded', () => {
  it('finds people however an accent in an identifier is encoded', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = openWriter(path)
    migrate(db, path, migrations().slice(0, 14))
    const key = `x'${Buffer.from(subjectKey('shop', 'anna')).toString('hex')}'`
    for (const sql of oldIdentifiersSql(key, (hex) => `x'${hex}'`)) db.exec(sql)
    db.close()
    await assertComparedInNfc(await open(t, path))
  })
})
