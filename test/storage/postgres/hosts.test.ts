import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Client } from 'pg'
import { openPostgresStore } from '../../../src/storage/postgres/open-postgres-store.ts'
import { parsePostgresUrl } from '../../../src/storage/store-address.ts'
import { dataOf } from '../../support/answers.ts'
import { freshStore } from '../../support/fresh-database.ts'
import { inReverse } from '../../support/in-reverse.ts'
import { missing } from '../../support/missing.ts'
import { createCluster, startPostgres, startStandby, withoutDurability } from '../../support/postgres.ts'
import { postgresUser } from '../../support/postgres-program.ts'
import { startShop, subjectPath, visit } from '../../support/shop.ts'
import { until } from '../../support/until.ts'

const store = await freshStore({ after })

/** A server for this file, with a certificate of a private CA if one can be created. */
const certificates = missing('openssl')
let ca = ''
const primary = await startPostgres(
  certificates ? undefined : { ...withoutDurability, ssl: 'on' },
  async (folder) => {
    const password = await createCluster(folder)
    if (!certificates) ca = certify(join(folder, 'data'))
    return password
  },
)
after(primary.remove)

/** The same address with a first host on which nothing listens. */
function withUnusedHost(url: string): string {
  return url.replace(/@([^/]+)/, '@127.0.0.1:1,$1')
}

describe('the address of a PostgreSQL server', () => {
  for (const [url, hosts] of Object.entries({
    'postgres://db/x': [['db', 5432]],
    'postgresql://u:p@db:6000/x?sslmode=verify-full': [['db', 6000]],
    'postgres://u:p,@h1:1,h2/x': [
      ['h1', 1],
      ['h2', 5432],
    ],
    'postgres://[::1]:5433,10.0.0.2,[fd00::7]/x': [
      ['::1', 5433],
      ['10.0.0.2', 5432],
      ['fd00::7', 5432],
    ],
    'postgres:///x?host=a,b&port=1,2': [
      ['a', 1],
      ['b', 2],
    ],
    'postgres:///x?host=a,b&port=7': [
      ['a', 7],
      ['b', 7],
    ],
    'postgres://u@/x?host=/run/postgresql': [['/run/postgresql', 5432]],
    'postgres://%2Frun%2Fpostgresql/x': [['/run/postgresql', 5432]],
  })) {
    it(`may be ${url}`, () => {
      const parsed = parsePostgresUrl(url)?.hosts.map(({ host, port }) => [host, port])
      assert.deepEqual(parsed, hosts)
    })
  }

  for (const url of [
    ...['postgres://', 'postgres:/h/x', 'mysql://h/x', 'postgres://a b/x', 'postgres://h1:x,h2/db'],
    ...['postgres://u:pa/ss@h/x', 'postgres://h1:70000,h2/x', 'postgres:///x?host=a,b,c&port=1,2'],
    ...['postgres://u:%zz@h/x', 'postgres://h1,h2:0/x'],
  ]) {
    it(`cannot be ${url}`, () => assert.equal(parsePostgresUrl(url), null))
  }

  it('requires one of several hosts to accept writes, unless it says otherwise', () => {
    const sessions = (url: string) => parsePostgresUrl(url)?.sessions
    assert.equal(sessions('postgres://h/x'), 'any')
    assert.equal(sessions('postgres://h1,h2/x'), 'read-write')
    assert.equal(sessions('postgres://h1,h2/x?target_session_attrs=any'), 'any')
  })
})

describe('a server with a certificate of a private CA', { skip: certificates }, () => {
  it('is refused with the name of the required parameter, and accepted with that parameter', async () => {
    const open = async (query: string) => (await openPostgresStore(`${primary.url}${query}`)).close()
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      await assert.rejects(open(`?sslmode=${mode}`), /sslmode=verify-full&sslrootcert=FILE/)
      await open(`?sslmode=${mode}&sslrootcert=${encodeURIComponent(ca)}`)
    }
    for (const query of ['', '?sslmode=disable', '?sslmode=no-verify']) await open(query)
    await open('?uselibpqcompat=true&sslmode=require')
  })
})

describe('several hosts', () => {
  it('are tried in order until one responds', async (t) => {
    const opened = await openPostgresStore(withUnusedHost(store))
    t.after(() => opened.close())
    await opened.organisations.create({ id: 'acme', name: 'Acme', plan: 'pro', createdAt: 7 })
    assert.equal((await opened.organisations.list()).length, 1)
    assert.equal(await opened.maintenance.withMaintenanceLock(async () => 'alone'), 'alone')
  })

  it('that all fail are named, without the password', async () => {
    const url = new URL(store)
    const dead = withUnusedHost(store).replace(url.host, '127.0.0.1:2')
    await assert.rejects(openPostgresStore(dead), (error: Error) => {
      assert.match(error.message, /^Cannot open the store postgres:\/\/…@127\.0\.0\.1:1,127\.0\.0\.1:2\//)
      assert.match(error.message, /127\.0\.0\.1:1 does not answer: .*; 127\.0\.0\.1:2 does not answer: /)
      assert.ok(!error.message.includes(url.password))
      return true
    })
  })

  it('cannot be used to select a read-only server', async () => {
    await assert.rejects(
      openPostgresStore(`${withUnusedHost(store)}?target_session_attrs=standby`),
      /target_session_attrs takes any, read-write or primary/,
    )
  })

  it('may be a standby and its primary, and the service follows a promotion', async (t) => {
    const lifetime = inReverse(t)
    const standby = await startStandby(primary)
    lifetime.after(standby.remove)
    const hosts = [standby, primary].map(({ url }) => new URL(url).host)
    const address = primary.url.replace(/@[^/]+/, `@${hosts}`)
    const scopes = ['analytics:view', 'analytics:delete-data'] as const
    const shop = await startShop(lifetime, { env: { LETHE_STORE: address }, scopes })
    await shop.ingest(['anna', 'ben'].flatMap((id) => visit(id)))
    const erase = (id: string) => shop.ask(subjectPath(id), { key: shop.key, method: 'DELETE' })
    assert.equal(dataOf(await erase('anna')).alreadyErased, false)
    const client = new Client(standby.url)
    await client.connect()
    await until(
      async () => (await client.query(`SELECT 1 FROM subjects WHERE subject_id = 'ben'`)).rowCount === 1,
    )
    await until(async () => (await client.query('SELECT 1 FROM tombstones')).rowCount === 1)
    await primary.stop('killed')
    await client.query('SELECT pg_promote()')
    await client.end()
    await until(async () => (await erase('ben')).status === 200)
    assert.equal((await shop.ask(subjectPath('ben'), { key: shop.key })).status, 404)
    await shop.stop()
  })
})

/**
 * Writes a key and certificate for 127.0.0.1 to a server's folder. Returns the path of the CA certificate.
 */
function certify(folder: string): string {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  run('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test CA', '-days', '2')
  run('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1')
  writeFileSync(join(folder, 'san'), 'subjectAltName=IP:127.0.0.1')
  const signed = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san']
  run('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.crt')
  chmodSync(join(folder, 'server.key'), 0o600)
  const user = postgresUser()
  if (user) for (const name of ['server.key', 'server.crt']) chownSync(join(folder, name), user.uid, user.gid)
  return join(folder, 'ca.crt')
}
