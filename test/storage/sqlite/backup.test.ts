import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { backupCommands } from '../../../src/storage/sqlite/backup.ts'
import { openWriter } from '../../../src/storage/sqlite/connection.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { programPath } from '../../support/command-line.ts'
import { addShop } from '../../support/filled-store.ts'
import { missing } from '../../support/missing.ts'
import { always, at, eventRow } from '../../support/rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eraseIn, testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows, stepBefore } from '../../support/windows.ts'
import { Fixture } from '../contract/fixture.ts'
import { markedSubject, marksIn, value } from './open-shop.ts'

const start = at('2026-11-01T10:00:00.000Z')
const tracker = { organisationId: 'acme', trackerId: 'shop', since: always }

/** A store, and a path for its copy in a separate folder. */
async function openShop(
  t: TestContext,
  options = { writesHere: true },
): Promise<{ store: Store; path: string; copy: string }> {
  const path = join(temporaryFolder(t), 'lethe.db')
  const store = await openSqliteStore(path, options)
  t.after(() => store.close())
  await addShop(store, { plan: 'pro' })
  return { store, path, copy: join(temporaryFolder(t), 'copy.db') }
}

async function openCopy(t: TestContext, path: string): Promise<Store> {
  const store = await openSqliteStore(path, { writesHere: true })
  t.after(() => store.close())
  return store
}

async function contentsOf(store: Store): Promise<unknown> {
  const fixture = new Fixture()
  fixture.use(store)
  return {
    organisations: await store.organisations.list(),
    trackers: await store.trackers.list('acme'),
    totals: await store.dailyTotals.list(tracker, -1e6, 1e6),
    subjects: await fixture.readAll(tracker),
  }
}

describe('a backup', () => {
  it('opens as a store with the same data, readable only by its owner', async (t) => {
    const { store, copy } = await openShop(t)
    for (let number = 0; number < 20; number++)
      await store.ingest.ingest(markedSubject(number).rows, testKeys)
    await store.maintenance.backup(copy)
    assert.equal(statSync(copy).mode & 0o777, 0o600)
    assert.equal(value(copy, 'PRAGMA integrity_check'), 'ok')
    const opened = await openCopy(t, copy)
    assert.deepEqual(await contentsOf(opened), await contentsOf(store))
    // The copy works as a store: it accepts data and erases subjects.
    await opened.ingest.ingest(markedSubject(99).rows, testKeys)
    assert.deepEqual(await eraseIn(opened, tracker, markedSubject(3).subjectId), { sessions: 2, events: 8 })
    assert.ok(await store.subjects.read(tracker, markedSubject(3).subjectId))
    assert.equal(await store.subjects.read(tracker, markedSubject(99).subjectId), null)
  })

  it('creates one file, and nothing beside it', async (t) => {
    const { store, path, copy } = await openShop(t)
    await store.ingest.ingest(markedSubject(1).rows, testKeys)
    const before = readdirSync(join(path, '..'))
    await store.maintenance.backup(copy)
    assert.deepEqual(readdirSync(join(copy, '..')), ['copy.db'])
    assert.deepEqual(readdirSync(join(path, '..')), before)
  })

  it('holds no text of erased or swept data, even without a scrub', async (t) => {
    const { store, copy } = await openShop(t)
    const subjects = Array.from({ length: 120 }, (_, number) =>
      markedSubject(number, number % 3 === 0 ? start - 1e9 : start),
    )
    const rows = subjects.flatMap((subject) => subject.rows)
    // In mixed order, so that subjects share pages.
    const mixed = rows.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
    for (let next = 0; next < mixed.length; next += 500) {
      await store.ingest.ingest(mixed.slice(next, next + 500), testKeys)
    }
    for (const { subjectId } of subjects.filter((_, number) => number % 3 === 1)) {
      await eraseIn(store, tracker, subjectId)
    }
    await rememberWindows(store, keeping(1))
    while (!(await store.retention.sweep('shop', stepBefore(start, 500))).isDone);
    assert.equal((await store.maintenance.scrubState()).isDue, true)
    await store.maintenance.backup(copy)
    const kept = subjects.filter((_, number) => number % 3 === 2)
    assert.deepEqual(marksIn(readFileSync(copy)), new Set(kept.flatMap(({ texts }) => texts)))
  })

  it('is a snapshot, while another process keeps writing', async (t) => {
    const { store, path, copy } = await openShop(t, { writesHere: false })
    const bulk = Array.from({ length: 5_000 }, (_, i) =>
      eventRow({ subjectId: 'bulk', sessionId: `s${i % 50}`, eventId: `e${i}`, occurredAt: start + i }),
    )
    await store.ingest.ingest(bulk, testKeys)
    const other = await openSqliteStore(path)
    t.after(() => other.close())
    const pair = (number: number) =>
      ['anna', 'ben'].map((subjectId) => eventRow({ subjectId, eventId: `e${number}` }))
    await other.ingest.ingest(pair(0), testKeys)
    let isDone = false
    const backup = store.maintenance.backup(copy).finally(() => {
      isDone = true
    })
    let writes = 1
    while (!isDone) await other.ingest.ingest(pair(writes++), testKeys)
    await backup
    t.diagnostic(`${writes} writes meanwhile`)
    const opened = await openCopy(t, copy)
    const counts = async (subjectId: string) => (await opened.subjects.read(tracker, subjectId))?.counts
    const [anna, ben] = [await counts('anna'), await counts('ben')]
    assert.deepEqual(anna, ben)
    assert.ok(anna && anna.events >= 1 && anna.events <= writes)
    assert.deepEqual(await counts('bulk'), { sessions: 50, events: 5_000 })
    assert.equal(value(copy, 'SELECT count(*) FROM events'), 5_000 + 2 * anna.events)
    assert.equal((await store.subjects.read(tracker, 'anna'))?.counts.events, writes)
  })

  it('replaces the partial file of an earlier backup that was killed', async (t) => {
    const { store, copy } = await openShop(t)
    await store.ingest.ingest(markedSubject(1).rows, testKeys)
    writeFileSync(`${copy}.partial`, 'the first half of a store')
    await store.maintenance.backup(copy)
    assert.equal(existsSync(`${copy}.partial`), false)
    assert.deepEqual(await contentsOf(await openCopy(t, copy)), await contentsOf(store))
  })
})

/** Runs `lethe backup` and kills it just before it syncs its copy. */
async function killBackup(path: string, copy: string): Promise<void> {
  const inject = ['-P', `${copy}.partial`, '-e', 'trace=fsync', '-e', 'inject=fsync:signal=SIGKILL:when=1']
  const program = [process.execPath, programPath, 'backup', copy]
  const child = spawn('strace', ['-f', '-qq', '-o', '/dev/null', ...inject, ...program], {
    env: { PATH: process.env.PATH, LETHE_STORE: `sqlite:${path}` },
    stdio: 'ignore',
  })
  const [, signal] = await once(child, 'exit')
  assert.equal(signal, 'SIGKILL')
}

describe('a backup that was killed', () => {
  const skip = missing('strace')

  it('leaves personal data behind, which the next backup in that folder deletes', { skip }, async (t) => {
    const { store, path, copy } = await openShop(t)
    await store.ingest.ingest(markedSubject(1).rows, testKeys)
    await killBackup(path, copy)
    assert.ok(marksIn(readFileSync(`${copy}.partial`)).size > 0)
    const folder = join(copy, '..')
    for (const name of ['film.partial', 'theirs.db-lock'])
      writeFileSync(join(folder, name), 'of somebody else')
    await store.maintenance.backup(join(folder, 'other.db'))
    assert.deepEqual(readdirSync(folder).sort(), ['film.partial', 'other.db', 'theirs.db-lock'])
  })

  it('leaves it behind in the folder of the store, where a scrub deletes it', { skip }, async (t) => {
    const { store, path } = await openShop(t)
    await store.ingest.ingest(markedSubject(1).rows, testKeys)
    const copy = join(path, '..', 'copy.db')
    const left = () => readdirSync(join(path, '..')).filter((name) => name.startsWith('copy.db'))
    await killBackup(path, copy)
    assert.ok(left().includes('copy.db.partial'))
    await store.maintenance.scrub(start)
    assert.deepEqual(left(), [])
  })
})

it('a backup in progress is left alone by others, in this process and in another', async (t) => {
  const { store, path, copy } = await openShop(t)
  await store.ingest.ingest(markedSubject(1).rows, testKeys)
  const other = openWriter(path)
  t.after(() => other.close())
  const folder = join(copy, '..')
  const { fsyncSync } = fs
  let tried = 0
  t.mock.method(fs, 'fsyncSync', (handle: number) => {
    if (existsSync(`${copy}.partial`) && tried++ === 0) {
      backupCommands(other).backup(join(folder, 'second.db'))
      const env = { PATH: process.env.PATH, LETHE_STORE: `sqlite:${path}` }
      execFileSync(process.execPath, [programPath, 'backup', join(folder, 'third.db')], { env })
      assert.throws(() => backupCommands(other).backup(copy), /Another backup is writing/)
    }
    fsyncSync(handle)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  await store.maintenance.backup(copy)
  assert.ok(tried > 0)
  assert.deepEqual(readdirSync(folder).sort(), ['copy.db', 'second.db', 'third.db', 'third.db.json'])
  assert.equal(value(copy, 'PRAGMA integrity_check'), 'ok')
})

describe('a backup is refused', () => {
  it('if the file exists, and leaves it unchanged', async (t) => {
    const { store, copy } = await openShop(t)
    for (const content of ['precious', '']) {
      writeFileSync(copy, content, { mode: 0o640 })
      const before = statSync(copy)
      await assert.rejects(store.maintenance.backup(copy), (error: Error) => {
        assert.ok(error.message.includes(`${copy} already exists`), error.message)
        return true
      })
      assert.equal(readFileSync(copy, 'utf8'), content)
      assert.equal(statSync(copy).mtimeMs, before.mtimeMs)
      assert.deepEqual(readdirSync(join(copy, '..')), ['copy.db'])
    }
  })

  it('onto the store itself', async (t) => {
    const { store, path } = await openShop(t)
    await assert.rejects(store.maintenance.backup(path), /already exists/)
    await store.ping()
  })

  it('if the file cannot be created, with its path', async (t) => {
    const { store, copy } = await openShop(t)
    writeFileSync(copy, '')
    for (const impossible of [join(copy, '..', 'nowhere', 'copy.db'), join(copy, 'copy.db')]) {
      await assert.rejects(store.maintenance.backup(impossible), (error: Error) => {
        assert.ok(error.message.includes(impossible), error.message)
        return true
      })
    }
    await store.ping()
    await store.maintenance.backup(join(copy, '..', 'second.db'))
  })
})

/** Refuses what Windows refuses: opening a folder, and syncing a file that was opened for reading. */
function behaveLikeWindows(t: TestContext): void {
  const { openSync, fsyncSync } = fs
  const readOnly = new Set<number>()
  const refuse = (code: string) => Object.assign(new Error(`${code}: not on Windows`), { code })
  t.mock.method(fs, 'openSync', (path: fs.PathLike, flags: fs.OpenMode = 'r', mode?: fs.Mode) => {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw refuse('EISDIR')
    const handle = openSync(path, flags, mode)
    if (flags === 'r') readOnly.add(handle)
    return handle
  })
  t.mock.method(fs, 'fsyncSync', (handle: number) => {
    if (readOnly.has(handle)) throw refuse('EPERM')
    fsyncSync(handle)
  })
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    Object.defineProperty(process, 'platform', { value: platform })
    syncBuiltinESMExports()
  })
}

it('a backup uses nothing that Windows lacks', async (t) => {
  const { path, copy } = await openShop(t)
  const db = openWriter(path)
  t.after(() => db.close())
  behaveLikeWindows(t)
  backupCommands(db).backup(copy)
  assert.equal(value(copy, 'PRAGMA integrity_check'), 'ok')
  assert.deepEqual(readdirSync(join(copy, '..')), ['copy.db'])
})
