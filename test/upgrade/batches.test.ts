import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { Client } from 'pg'
import type { PrivacyRequest } from '../../src/domain/privacy-request.ts'
import type { Store } from '../../src/domain/store.ts'
import * as postgres from '../../src/storage/postgres/migrate.ts'
import * as sqlite from '../../src/storage/sqlite/migrate.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The store of 0.2.0 in test/fixtures has a running and a paused batch of a list. These are the others.

const [startedAt, endedAt] = ['2026-01-31T10:00:00.000Z', '2026-01-31T11:00:00.000Z'].map(Date.parse)
const ada = { identifiers: [{ name: 'email', value: 'ada@example.com' }], subjects: [] }
const batches = {
  finished: 'batch_aaaaaaaaaaaaaaaa',
  stopped: 'batch_bbbbbbbbbbbbbbbb',
  person: 'batch_cccccccccccccccc',
  runningPerson: 'batch_dddddddddddddddd',
  pausedPerson: 'batch_eeeeeeeeeeeeeeee',
}

type Batch = [id: string, kind: string, state: string, subjects: number, isOver: boolean]
type Item = [
  line: number,
  outcome: string,
  tracker: string | null,
  subject: string | null,
  entry: number | null,
]

function insertBatch([id, kind, state, subjects, isOver]: Batch, items: readonly Item[]): string[] {
  const text = (value: string | null) => (value === null ? 'NULL' : `'${value}'`)
  const person = kind === 'person' && !isOver ? JSON.stringify(ada) : null
  return [
    `INSERT INTO erasure_batches (id, organisation_id, state, actor_kind, actor_id, actor_name, request_id, created_at, finished_at, lines,
       nothing_lines, invalid_lines, repeated_lines, subjects, erased, sessions, events, held_until, stepped_at, kind, person, left_subjects)
     VALUES ('${id}', 'acme', '${state}', 'member', 'mem_1', 'ada@acme.example', 'req-1', ${startedAt}, ${isOver ? endedAt : 'NULL'}, 4,
       1, 1, 0, ${subjects}, NULL, NULL, NULL, 0, 0, '${kind}', ${text(person)}, ${isOver && kind === 'person' ? 0 : 'NULL'})`,
    ...items.map(
      ([line, outcome, tracker, subject, entry], place) =>
        `INSERT INTO erasure_batch_items VALUES ('${id}', ${place}, ${line}, '${outcome}', ${text(tracker)}, ${text(subject)},
           ${outcome === 'erased' ? '1, 2' : 'NULL, NULL'}, ${entry ?? 'NULL'}, ${text(entry === null ? null : 'sealed')})`,
    ),
  ]
}

const written = [
  `INSERT INTO organisations (id, name, plan, created_at) VALUES ('acme', 'Acme', 'free', 1)`,
  ...insertBatch(
    [batches.finished, 'list', 'done', 3, true],
    [
      [1, 'erased', 'shop', null, 0],
      [1, 'erased', 'blog', null, 1],
      [2, 'nothing', null, null, null],
      [3, 'invalid', null, null, null],
      [4, 'gone', 'old', null, null],
    ],
  ),
  ...insertBatch(
    [batches.stopped, 'list', 'stopped', 3, true],
    [
      [1, 'erased', 'shop', null, 2],
      [2, 'erased', 'shop', null, 3],
      [2, 'stopped', 'blog', null, null],
      [3, 'stopped', 'shop', null, null],
    ],
  ),
  ...insertBatch(
    [batches.person, 'person', 'done', 2, true],
    [
      [1, 'erased', 'shop', null, 4],
      [1, 'erased', 'blog', null, 5],
    ],
  ),
  ...insertBatch(
    [batches.runningPerson, 'person', 'running', 2, false],
    [
      [1, 'erased', 'shop', null, 6],
      [1, 'waiting', 'blog', 'ada-2', null],
    ],
  ),
  ...insertBatch(
    [batches.pausedPerson, 'person', 'paused', 1, false],
    [[1, 'waiting', 'blog', 'ada-3', null]],
  ),
]

const engines: Record<string, (t: TestContext) => Promise<string>> = {
  async SQLite(t) {
    const path = join(temporaryFolder(t), 'lethe.db')
    const db = new DatabaseSync(path)
    sqlite.migrate(db, path, sqlite.migrations().slice(0, 23))
    for (const sql of written) db.exec(sql)
    db.close()
    return `sqlite:${path}`
  },
  async PostgreSQL(t) {
    const url = await freshDatabase(t)
    const client = new Client(url)
    await client.connect()
    await postgres.migrate(client, postgres.migrations().slice(0, 21))
    for (const sql of written) await client.query(sql)
    await client.end()
    return url
  },
}

for (const [engine, write] of Object.entries(engines)) {
  describe(`batches of 0.2 on ${engine} become requests:`, () => {
    async function open(t: TestContext): Promise<Store> {
      const store = await openStoreAt(await write(t), { writesHere: true })
      t.after(() => store.close())
      return store
    }

    async function requestsOf({ privacyRequests }: Store, reference: string): Promise<PrivacyRequest[]> {
      const query = { limit: 9, after: null, state: null, kind: null, dueBefore: null, reference }
      const { rows } = await privacyRequests.list('acme', query)
      return rows.toSorted((a, b) => a.listLine - b.listLine)
    }

    const outcomesOf = async ({ privacyRequests }: Store, request: PrivacyRequest) =>
      (await privacyRequests.items(request, -1, 9)).map(({ outcome, entry }) => [
        outcome,
        entry?.ledgerIndex ?? null,
      ])

    it('each line of a finished list is done, with its proofs', async (t) => {
      const store = await open(t)
      const [first, last, ...others] = await requestsOf(store, batches.finished)
      assert.ok(first && last)
      assert.equal(others.length, 0, 'a line without data becomes nothing')
      assert.match(first.id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.partialDeepStrictEqual(first, {
        ...{ kind: 'erasure', state: 'done', listLine: 1, person: null, namesIdentifiers: false, left: 0 },
        ...{ receivedAt: startedAt, dueAt: Date.parse('2026-02-28T10:00:00.000Z'), closedAt: endedAt },
        ...{ requestId: 'req-1', startedBy: { kind: 'member', id: 'mem_1', name: 'ada@acme.example' } },
        ...{
          found: { subjects: 2, sessions: 2, events: 4 },
          erased: { subjects: 2, sessions: 2, events: 4 },
        },
      })
      assert.partialDeepStrictEqual(last, { state: 'done', listLine: 4, erased: { subjects: 0 } })
      assert.deepEqual(await outcomesOf(store, first), [
        ['erased', 0],
        ['erased', 1],
      ])
      assert.deepEqual(await outcomesOf(store, last), [['gone', null]])
      assert.partialDeepStrictEqual(await store.requestGroups.find('acme', batches.finished), {
        ...{ counts: { open: 0, running: 0, done: 2, cancelled: 0 }, closedAt: endedAt },
      })
    })

    it('the lines of a stopped list that were not erased are cancelled', async (t) => {
      const store = await open(t)
      const requests = await requestsOf(store, batches.stopped)
      assert.deepEqual(
        requests.map(({ listLine, state, erased, left }) => [listLine, state, erased.subjects, left]),
        [
          [1, 'done', 1, 0],
          [2, 'cancelled', 1, null],
          [3, 'cancelled', 0, null],
        ],
      )
      assert.ok(requests.every(({ person, closedAt }) => person === null && closedAt === endedAt))
    })

    it('a person becomes one request without a line: done, running or open like the batch', async (t) => {
      const store = await open(t)
      const [done, ...others] = await requestsOf(store, batches.person)
      assert.ok(done && others.length === 0)
      assert.partialDeepStrictEqual(done, {
        ...{ state: 'done', person: null, namesIdentifiers: true, listLine: 0, left: 0 },
        erased: { subjects: 2, sessions: 2, events: 4 },
      })
      const [running] = await requestsOf(store, batches.runningPerson)
      assert.ok(running)
      assert.partialDeepStrictEqual(running, {
        ...{ state: 'running', person: ada, closedAt: null, heldIdentifiers: [0], searches: 1 },
      })
      assert.deepEqual(await outcomesOf(store, running), [
        ['erased', 6],
        ['waiting', null],
      ])
      const lease = {
        now: endedAt ?? 0,
        until: (endedAt ?? 0) + 10,
        restsUntil: (endedAt ?? 0) + 20,
        after: '',
      }
      assert.equal((await store.privacyRequests.lease('one', lease))?.id, running.id)
      assert.partialDeepStrictEqual(await store.privacyRequests.next('one', running), {
        ...{ trackerId: 'blog', subjectId: 'ada-2' },
      })
      const [paused] = await requestsOf(store, batches.pausedPerson)
      assert.ok(paused)
      assert.partialDeepStrictEqual(paused, {
        ...{ state: 'open', person: ada, startedBy: null, searches: 0, erased: { subjects: 0 } },
      })
      assert.deepEqual(await outcomesOf(store, paused), [], 'it is searched for again when it is started')
    })

    it('no request is recognised by its person, because the migration does not have the secret', async (t) => {
      const store = await open(t)
      for (const reference of Object.values(batches))
        for (const request of await requestsOf(store, reference))
          assert.deepEqual(await store.requestHandling.personDigests(request), [])
    })
  })
}
