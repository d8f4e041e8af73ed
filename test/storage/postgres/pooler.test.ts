import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { rotateKey } from '../../../src/operations/api-key.ts'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { dataOf } from '../../support/answers.ts'
import { assertRefused, commandLine } from '../../support/command-line.ts'
import { freePort } from '../../support/free-port.ts'
import { freshDatabase, freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { missing } from '../../support/missing.ts'
import { postgresUser } from '../../support/postgres-program.ts'
import type { Lifetime } from '../../support/service.ts'
import { startShop, subjectPath, subjectsPath, visit } from '../../support/shop.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'

/** Starts a PgBouncer in front of a database. Returns its address. */
async function pooled(lifetime: Lifetime, store: string, settings: readonly string[]): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(store)
  const folder = temporaryFolder(lifetime)
  const file = join(folder, 'pgbouncer.ini')
  const own = await freePort()
  const behind = `host=${hostname} port=${port} user=${username} password=${password}`
  const lines = [
    ...['[databases]', `* = ${behind}`, '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${own}`],
    ...['unix_socket_dir =', 'auth_type = any', 'max_client_conn = 200', ...settings],
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  // Like PostgreSQL, it refuses to run as root.
  const user = postgresUser()
  if (user) for (const path of [folder, file]) chownSync(path, user.uid, user.gid)
  chmodSync(folder, 0o755)
  const env = { PATH: [process.env.PATH, '/usr/sbin'].join(delimiter) }
  const child: ChildProcess = spawn('pgbouncer', [file], { ...user, env, stdio: 'ignore' })
  lifetime.after(async () => {
    const exited = once(child, 'exit')
    if (child.kill('SIGKILL')) await exited
  })
  const url = `postgres://lethe@127.0.0.1:${own}${pathname}`
  await until(async () => {
    assert.equal(child.exitCode, null, 'it ended')
    const client = new Client(url)
    client.on('error', () => {})
    return client.connect().then(
      () => client.end().then(() => true),
      () => false,
    )
  })
  return url
}

describe('a pooler in front of PostgreSQL', { skip: missing('pgbouncer'), concurrency: true }, () => {
  it('with too few connections is refused, with the number that is needed', async (t) => {
    const lifetime = inReverse(t)
    const settings = ['pool_mode = session', 'default_pool_size = 1']
    const url = await pooled(lifetime, await freshDatabase(lifetime), settings)
    await assert.rejects(openPostgresStore(url), /The pooler .* at least 28 .* default_pool_size/)
  })

  it('that pools by session is no different from PostgreSQL', async (t) => {
    const lifetime = inReverse(t)
    const url = await pooled(lifetime, await freshStore(lifetime), [
      'pool_mode = session',
      'default_pool_size = 60',
    ])
    const scopes = ['analytics:view', 'analytics:delete-data'] as const
    const shop = await startShop(lifetime, { env: { LETHE_STORE: url }, scopes })
    const { key, services, keyId } = shop
    await shop.ingest(['anna', 'ben'].flatMap((id) => visit(id)))
    const reads = Array.from({ length: 40 }, () => shop.ask(subjectPath('anna'), { key }))
    for (const { status } of await Promise.all(reads)) assert.equal(status, 200)
    const erased = await Promise.all(
      ['anna', 'ben'].map((id) => shop.ask(subjectPath(id), { key, method: 'DELETE' })),
    )
    for (const answer of erased) assert.equal(dataOf(answer).alreadyErased, false)
    assert.deepEqual(dataOf(await shop.ask(subjectsPath, { key })).subjects, [])
    const isAlone = await services.maintenance.withMaintenanceLock(() =>
      services.maintenance.withMaintenanceLock(async () => true),
    )
    assert.equal(isAlone, null, 'the lock is held for as long as the session')
    await rotateKey(services, keyId)
    assert.equal((await shop.ask(subjectsPath, { key })).status, 401)
    await shop.stop()
    assert.match((await commandLine(t, url).run(['status'])).stdout, /^Store +PostgreSQL/m)
  })

  for (const mode of ['transaction', 'statement']) {
    for (const [how, settings] of Object.entries({
      last: [],
      next: ['server_round_robin = 1', 'min_pool_size = 3'],
    })) {
      it(`that pools by ${mode} and gives out the ${how} connection is refused before anything is changed`, async (t) => {
        const lifetime = inReverse(t)
        const database = await freshDatabase(lifetime)
        const url = await pooled(lifetime, database, [`pool_mode = ${mode}`, ...settings])
        await assert.rejects(openPostgresStore(url), (error: Error) => {
          assert.match(error.message, /^Cannot open the store .*: The pooler .* pool_mode = session/)
          return true
        })
        const cli = commandLine(lifetime, url)
        for (const args of [['serve'], ['init'], ['orgs', 'list']]) {
          assertRefused(await cli.run(args), 1, /pooler/)
        }
        assert.match((await cli.run(['status'])).stdout, /^Problem +The pooler/m)
        const client = new Client(database)
        await client.connect()
        const { rows } = await client.query(`SELECT to_regclass('lethe_migrations') AS made`)
        await client.end()
        assert.deepEqual(rows, [{ made: null }])
      })
    }
  }
})
