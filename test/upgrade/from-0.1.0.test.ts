import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { verifyReceipt } from '@lethe/client'
import { Client } from 'pg'
import { version as postgresVersion } from '../../src/storage/postgres/migrate.ts'
import { version } from '../../src/storage/sqlite/migrate.ts'
import { dataOf, listIn, textIn } from '../support/answers.ts'
import { childProgram } from '../support/child-program.ts'
import { type CommandLine, commandLine, jsonLines } from '../support/command-line.ts'
import { visitor } from '../support/console.ts'
import { inReverse } from '../support/in-reverse.ts'
import { scryptOnce } from '../support/scrypt-once.ts'
import { type Lifetime, startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { manifest, oldAnswers, oldDatabase, putOldStore } from './old-store.ts'

// Both engines hold the same hash of the same password.
after(scryptOnce())

interface OldStore {
  cli: CommandLine
  address: string
}

const engines = {
  async SQLite(t: Lifetime): Promise<OldStore> {
    const cli = commandLine(t)
    putOldStore(cli.storePath)
    return { cli, address: `sqlite:${cli.storePath}` }
  },
  async PostgreSQL(t: Lifetime): Promise<OldStore> {
    const address = await oldDatabase(t)
    return { cli: commandLine(t, address), address }
  },
}

/** The current service on a store of 0.1.0, with the clock at the time when the answers were recorded. */
async function serve(t: Lifetime, { address }: OldStore): Promise<TestService> {
  const shiftMs = Date.parse(manifest.recordedAt) - Date.now()
  return startTestService(t, { LETHE_STORE: address }, { shiftMs })
}

async function assertAnswersAsBefore(service: TestService, answers = oldAnswers): Promise<void> {
  for (const { org, path, status, data } of answers) {
    const answer = await service.ask(path, { key: manifest.keys[org] })
    assert.equal(answer.status, status, path)
    // Fields that 0.1.0 did not have may be added.
    if (data) assert.partialDeepStrictEqual(dataOf(answer), data, path)
  }
}

for (const [engine, open] of Object.entries(engines)) {
  describe(`a store of 0.1.0 on ${engine}`, () => {
    const lifetime = inReverse({ after })
    let store: OldStore
    let service: TestService
    before(async () => {
      store = await open(lifetime)
      service = await serve(lifetime, store)
    })

    it('returns the same data about the same people', () => assertAnswersAsBefore(service))

    it('accepts the keys and the members that it accepted', async () => {
      const { keys, member } = manifest
      const subjects = '/v1/analytics/trackers/shop/subjects'
      assert.equal((await service.ask(subjects, { key: keys.renewed })).status, 200)
      for (const [state, key] of Object.entries(keys.refused)) {
        assert.equal((await service.ask(subjects, { key })).status, 401, state)
      }
      const anna = visitor(service)
      assert.equal((await anna.ask('/sign-in', { method: 'POST', body: member })).status, 200)
    })

    it('erases with a valid receipt and ledger, and continues its activity', async () => {
      const key = manifest.keys.acme
      const subjectId = '😀 family 👨‍👩‍👧'
      const path = `/v1/analytics/trackers/shop/subjects/${encodeURIComponent(subjectId)}`
      const erased = dataOf(await service.ask(path, { method: 'DELETE', key }))
      assert.deepEqual(erased.counts, { sessions: 2, events: 6 })
      const ledger = dataOf(await service.ask('/v1/analytics/ledger', { key }))
      const { record } = await verifyReceipt(textIn(erased, 'receipt'), {
        verifierKeys: listIn(ledger, 'verifierKeys').map(String),
        trackerId: 'shop',
        subjectId,
      })
      assert.equal(record.erasedAt, erased.erasedAt)
      assert.equal((await service.ask(path, { key })).status, 404)
      await service.stop()
      const verified = await store.cli.run(['ledger', 'verify', '--json'])
      assert.equal(verified.code, 0, verified.stdout + verified.stderr)
      const { stdout } = await store.cli.run(['activity', '--org', 'acme', '--json'])
      const kinds = jsonLines(stdout).map(({ kind }) => kind)
      assert.equal(kinds.filter((kind) => kind === 'subject.erased').length, 2)
      assert.ok(kinds.includes('member.joined') && kinds.includes('key.rotated'))
    })
  })
}

describe('an upgrade from 0.1.0 that is killed halfway', () => {
  const someAnswers = oldAnswers.filter((_, i) => i % 10 === 0)

  it('leaves the embedded store unchanged, and the next start upgrades it', async (t) => {
    const store = await engines.SQLite(t)
    const program = childProgram(new URL('child-migrates.ts', import.meta.url))
    const child = spawn(process.execPath, [program, store.cli.storePath], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    assert.ok(statSync(`${store.cli.storePath}-wal`).size > 0, 'it had written nothing yet')
    const db = new DatabaseSync(store.cli.storePath)
    assert.equal(version(db), 3)
    db.close()
    await assertAnswersAsBefore(await serve(t, store), someAnswers)
  })

  it('leaves the database unchanged, and the next start upgrades it', async (t) => {
    const store = await engines.PostgreSQL(t)
    const [other, watcher] = [new Client(store.address), new Client(store.address)]
    await Promise.all([other.connect(), watcher.connect()])
    // Without this table, the upgrade stops shortly before its end.
    await other.query('BEGIN; LOCK TABLE activity')
    const upgrade = store.cli.startProgram(['migrate'])
    const connections = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await until(
      async () => (await watcher.query(`${connections} AND wait_event_type = 'Lock'`)).rowCount === 1,
    )
    upgrade.kill('SIGKILL')
    await upgrade.ended
    await other.end()
    await until(async () => (await watcher.query(connections)).rowCount === 0)
    assert.equal(await postgresVersion(watcher), 2)
    await watcher.end()
    await assertAnswersAsBefore(await serve(t, store), someAnswers)
  })
})
