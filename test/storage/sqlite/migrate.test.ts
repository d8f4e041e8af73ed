import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import type { IncomingRow } from '../../../src/domain/ingest.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { migrate, migrations } from '../../../src/storage/sqlite/migrate.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { addShop } from '../../support/filled-store.ts'
import { always, eventRow, sessionRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { ask, value } from './open-shop.ts'
import { runChild } from './run-child.ts'

const newest = migrations().length
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }
const rows: IncomingRow[] = [
  sessionRow({ subjectId: 'anna', sessionId: 's1', attributes: { country: 'DE' } }),
  eventRow({ subjectId: 'anna', sessionId: 's1', eventId: 'e1', properties: { url: '/' } }),
]

/** A store with some data, closed. */
async function storeWithData(t: TestContext): Promise<string> {
  const path = join(temporaryFolder(t), 'lethe.db')
  const store = await openSqliteStore(path, { writesHere: true })
  await addShop(store, { plan: 'pro' })
  await store.ingest.ingest(rows, testKeys)
  await store.close()
  return path
}

async function assertHasData(path: string): Promise<void> {
  const store = await openSqliteStore(path, { writesHere: true })
  const record = await store.subjects.read(tracker, 'anna')
  assert.deepEqual(record?.counts, { sessions: 1, events: 1 })
  assert.deepEqual(record?.attributes, { country: 'DE' })
  await store.close()
}

function upgrade(path: string, steps: readonly string[]): void {
  const db = openWriter(path)
  try {
    migrate(db, path, steps)
  } finally {
    db.close()
  }
}

describe('a file that does not exist yet', () => {
  it('becomes a store of the newest version, marked as a Lethe store', async (t) => {
    const path = join(temporaryFolder(t), 'deep', 'down', 'lethe.db')
    await (await openSqliteStore(path)).close()
    assert.equal(value(path, 'PRAGMA user_version'), newest)
    assert.equal(value(path, 'PRAGMA application_id'), Buffer.from('Leth').readUInt32BE())
    assert.equal(value(path, 'PRAGMA integrity_check'), 'ok')
  })

  it('becomes one store when several processes open it concurrently', async (t) => {
    const path = join(temporaryFolder(t), 'lethe.db')
    const children = ['a', 'b', 'c'].map((id) => runChild('child-opens.ts', path, id))
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))
    assert.deepEqual(codes, [0, 0, 0])
    assert.deepEqual(
      ask(path, 'SELECT id FROM organisations ORDER BY id').map(({ id }) => id),
      ['a', 'b', 'c'],
    )
  })
})

describe('a store of the newest version', () => {
  it('is not changed when it is opened again', async (t) => {
    const path = await storeWithData(t)
    const before = readFileSync(path)
    await (await openSqliteStore(path)).close()
    assert.ok(readFileSync(path).equals(before))
    await assertHasData(path)
  })
})

describe('a store of an older version', () => {
  const next = [
    ...migrations(),
    `ALTER TABLE organisations ADD COLUMN motto TEXT NOT NULL DEFAULT 'none';
     UPDATE organisations SET motto = 'of ' || name;
     CREATE TABLE notes (text TEXT NOT NULL) STRICT;`,
  ]

  it('is upgraded in place, and keeps its data', async (t) => {
    const path = await storeWithData(t)
    upgrade(path, next)
    assert.equal(value(path, 'PRAGMA user_version'), newest + 1)
    assert.equal(value(path, 'SELECT motto FROM organisations'), 'of Acme')
    assert.equal(value(path, 'SELECT count(*) FROM events'), 1)
    assert.equal(value(path, 'SELECT count(*) FROM notes'), 0)
  })

  it('is upgraded once: a second time changes nothing', async (t) => {
    const path = await storeWithData(t)
    upgrade(path, next)
    const before = readFileSync(path)
    upgrade(path, next)
    assert.ok(readFileSync(path).equals(before))
  })

  it('is upgraded over several versions in one step', async (t) => {
    const path = await storeWithData(t)
    upgrade(path, [...next, `INSERT INTO notes VALUES ('second')`, `INSERT INTO notes VALUES ('third')`])
    assert.equal(value(path, 'PRAGMA user_version'), newest + 3)
    assert.equal(value(path, 'SELECT count(*) FROM notes'), 2)
  })

  it('is unchanged if an upgrade fails halfway', async (t) => {
    const path = await storeWithData(t)
    assert.throws(
      () => upgrade(path, [...next, `INSERT INTO notes VALUES ('x'); DROP TABLE nothing;`]),
      /nothing/,
    )
    assert.equal(value(path, 'PRAGMA user_version'), newest)
    assert.deepEqual(ask(path, `SELECT 1 FROM sqlite_schema WHERE name = 'notes'`), [])
    await assertHasData(path)
  })
})

describe('a file that this program cannot use is refused and left unchanged', () => {
  async function assertRefused(path: string, message: RegExp): Promise<void> {
    const before = readFileSync(path)
    await assert.rejects(openSqliteStore(path), (error) => {
      assert.ok(error instanceof Error)
      assert.match(error.message, message)
      assert.doesNotMatch(error.message, /\n/)
      assert.ok(error.message.includes(path), 'the line names the file')
      return true
    })
    assert.ok(readFileSync(path).equals(before), 'not one byte of the file has changed')
  }

  it('if a newer Lethe wrote it', async (t) => {
    const path = await storeWithData(t)
    upgrade(path, [...migrations(), 'CREATE TABLE later (a TEXT) STRICT'])
    await assertRefused(path, new RegExp(`newer Lethe.*version ${newest + 1}.*up to ${newest}`))
    assert.equal(value(path, 'SELECT count(*) FROM events'), 1)
  })

  for (const [what, setUp] of [
    ['a database of another program', ''],
    ['a database of another program that numbers its versions', 'PRAGMA user_version = 7'],
    ['a database of another program at our version', `PRAGMA user_version = ${newest}`],
    ['a database of another program that marks its files', 'PRAGMA application_id = 7'],
  ] as const) {
    it(`if it is ${what}`, async (t) => {
      const path = join(temporaryFolder(t), 'theirs.db')
      const theirs = new DatabaseSync(path)
      theirs.exec(`CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup'); ${setUp}`)
      theirs.close()
      await assertRefused(path, /not a Lethe store/)
      assert.equal(value(path, 'SELECT name FROM recipes'), 'soup')
    })
  }

  it('if it is not a database', async (t) => {
    const path = join(temporaryFolder(t), 'notes.txt')
    writeFileSync(path, 'Buy milk.\n'.repeat(200))
    await assertRefused(path, /not a (database|Lethe store)/)
  })
})
