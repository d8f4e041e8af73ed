import assert from 'node:assert/strict'
import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import { dataOf, errorOf } from '../../support/answers.ts'
import { assertRefused, commandLine } from '../../support/command-line.ts'
import { askRaw } from '../../support/raw-http.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { startTestService } from '../../support/service.ts'
import { subjectPath, subjectsPath, visit } from '../../support/shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { createKey, startRoomyServer } from '../kill/server.ts'
import { buildShop, fillShop, ids } from '../kill/visits.ts'

const pageBytes = 4_096
const random = seededRandom()
const folder = temporaryFolder({ after })
const sound = join(folder, 'sound.db')
const subjectIds = ids('visitor', 120)

before(() =>
  buildShop(
    sound,
    subjectIds.flatMap((id) => visit(id, { events: 30 })),
  ),
)

/** Overwrites bytes with random ones. */
function corrupt(path: string, from: number, length: number): void {
  const nonsense = Uint8Array.from({ length }, () => random.integer(256))
  const file = openSync(path, 'r+')
  writeSync(file, nonsense, 0, length, from)
  closeSync(file)
}

describe('a damaged database file', () => {
  const unusable: [what: string, damage: (path: string) => void][] = [
    ['with random bytes at its start', (path) => corrupt(path, 0, 100)],
    ['with random bytes as its schema', (path) => corrupt(path, 100, pageBytes - 100)],
    ['truncated within its header', (path) => truncateSync(path, 60)],
    ['truncated after its first page', (path) => truncateSync(path, pageBytes)],
    ['truncated to half its size', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['truncated by one page', (path) => truncateSync(path, statSync(path).size - pageBytes)],
    [
      'that is a text file',
      (path) => writeFileSync(path, 'Dear diary, today I was overwritten.'.repeat(500)),
    ],
  ]
  for (const [what, damage] of unusable) {
    it(`${what} is refused in one line with exit code 1, and left unchanged`, async (t) => {
      const cli = commandLine(t)
      copyFileSync(sound, cli.storePath)
      damage(cli.storePath)
      const found = readFileSync(cli.storePath)
      for (const command of [['orgs', 'list'], ['serve']]) {
        assertRefused(
          await cli.run(command),
          1,
          /lethe\.db.*(not a database|malformed|not a store|not Lethe)/,
        )
      }
      assert.ok(readFileSync(cli.storePath).equals(found))
    })
  }

  it('with random bytes in its middle causes only a 500 and a log line where they are read', async (t) => {
    const path = join(folder, 'middle.db')
    copyFileSync(sound, path)
    const pages = statSync(path).size / pageBytes
    // After the first pages, which hold the schema and the key that every request needs.
    for (let page = Math.ceil(pages / 2); page < pages; page += 4) corrupt(path, page * pageBytes, pageBytes)
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${path}` })
    const { keyString: key } = await service.createKey('acme')
    const statuses = new Map<number, number>()
    for (const id of subjectIds.filter((_, number) => number % 10 === 0)) {
      for (const part of ['', '/events', '/sessions']) {
        const answer = await service.ask(subjectPath(id) + part, { key })
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (answer.status === 500) errorOf(answer, 'internal_error')
      }
    }
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${JSON.stringify([...statuses])}`)
    assert.ok((statuses.get(500) ?? 0) > 0)
    assert.ok((statuses.get(200) ?? 0) > 0)
    assert.match(service.logged.join('\n'), /"level":50.*malformed/)
    dataOf(await service.ask('/healthz'))
  })

  it('truncated under a running service causes 500s and is refused at the next start, or ends the process', async (t) => {
    const cli = commandLine(t)
    copyFileSync(sound, cli.storePath)
    const key = await createKey(cli)
    const server = await startRoomyServer(cli)
    const ask = (id: string) => askRaw(server.url, subjectPath(id), { key })
    dataOf(await ask('visitor-7-visitor'))
    truncateSync(cli.storePath, 2 * pageBytes)
    // SQLite maps the file into memory. The system ends a process that reads beyond the end of the file.
    const answer = await ask('visitor-8-visitor').catch(() => null)
    server.kill('SIGKILL')
    const { signal } = await server.ended
    t.diagnostic(answer ? 'a 500' : `ended by ${signal}`)
    assert.equal(signal, answer ? 'SIGKILL' : 'SIGBUS')
    if (answer === null) return
    errorOf(answer, 'internal_error')
    assertRefused(await cli.run(['serve']), 1, /malformed/)
  })

  it('with random bytes in its write-ahead log recovers to the last complete state before them', async (t) => {
    const live = join(folder, 'live.db')
    const left = join(folder, 'left.db')
    const store = await openSqliteStore(live, { writesHere: true })
    t.after(() => store.close())
    await fillShop(store, visit('first', { events: 3 }))
    for (let batch = 0; batch < 20; batch++)
      await store.ingest.ingest(visit(`later-${batch}`, { events: 50 }), testKeys)
    // As a killed process leaves them.
    for (const end of ['', '-wal']) copyFileSync(live + end, left + end)
    const size = statSync(`${left}-wal`).size
    assert.ok(size > 20 * pageBytes)
    corrupt(`${left}-wal`, Math.floor(size / 2), 3 * pageBytes)
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${left}` })
    const { keyString: key } = await service.createKey('acme')
    const { subjects } = dataOf(await service.ask(`${subjectsPath}?limit=200`, { key }))
    assert.ok(Array.isArray(subjects))
    assert.ok(subjects.length > 0 && subjects.length < 21, `${subjects.length} subjects`)
    for (const { subjectId, counts } of subjects) {
      const { events } = dataOf(await service.ask(`${subjectPath(subjectId)}/events?limit=200`, { key }))
      assert.ok(Array.isArray(events))
      assert.equal(events.length, counts.events)
    }
  })
})
