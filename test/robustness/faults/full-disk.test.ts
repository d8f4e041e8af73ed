import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { dataOf, errorOf } from '../../support/answers.ts'
import { commandLine } from '../../support/command-line.ts'
import { askRaw } from '../../support/raw-http.ts'
import { subjectPath, visit } from '../../support/shop.ts'
import { createKey, startRoomyServer, stopServer } from '../kill/server.ts'
import { buildShop, ids, ndjson } from '../kill/visits.ts'
import { fill, noMounts, smallDisk } from './small-disk.ts'

const noLimits = spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not on the PATH'
const rows = ids('keeper', 10).flatMap((id) => visit(id, { events: 20 }))

/** Fills a disk, and frees it again. */
interface Shortage {
  begin(): void
  end(): void
}

/** Runs a service on a full disk: reads continue, writes are refused, and both work once there is room. */
async function runOnFullDisk(t: TestContext, store: string | undefined, shortage: (pid: number) => Shortage) {
  const cli = commandLine(t, store && `sqlite:${store}`)
  const path = store ?? cli.storePath
  await buildShop(path, rows)
  const key = await createKey(cli)
  const server = await startRoomyServer(cli)
  const ask = (id: string, method = 'GET') => askRaw(server.url, subjectPath(id), { key, method })
  const erased = 'keeper-0-keeper'
  assert.equal(dataOf(await ask(erased, 'DELETE')).alreadyErased, false)
  const isReady = async () => (await askRaw(server.url, '/readyz')).status === 200
  assert.equal(await isReady(), true)

  const { begin, end } = shortage(server.pid)
  begin()
  const refused = await ask('keeper-1-keeper', 'DELETE')
  errorOf(refused, 'internal_error')
  assert.deepEqual(dataOf(await ask('keeper-1-keeper')).counts, { sessions: 1, events: 20 })
  errorOf(await ask(erased), 'not_found')
  const line = await server.waitFor('stdout', /.*"level":50.*request failed.*\n/)
  assert.match(line[0], /disk I\/O error|database or disk is full/)
  assert.ok(line[0].includes(refused.headers.get('x-request-id') ?? '-'))
  const unready = await askRaw(server.url, '/readyz')
  assert.equal(errorOf(unready, 'internal_error').message, 'The store does not answer.')
  const id = unready.headers.get('x-request-id') ?? '-'
  const reason = await server.waitFor('stdout', new RegExp(`.*${id}.*request failed.*\\n`))
  assert.match(reason[0], /disk I\/O error|database or disk is full|The disk of the store is full/)

  end()
  // It is ready before anything else is written.
  assert.equal(await isReady(), true)
  assert.equal(dataOf(await ask('keeper-1-keeper', 'DELETE')).alreadyErased, false)
  errorOf(await ask('keeper-1-keeper'), 'not_found')
  errorOf(await ask(erased), 'not_found')
  dataOf(await ask('keeper-2-keeper'))
  await stopServer(server)
  return cli
}

describe('a full disk', () => {
  it('fails writes with a clear message while reads continue, and recovers once there is room', {
    skip: noLimits,
  }, async (t) => {
    await runOnFullDisk(t, undefined, (pid) => {
      const allow = (bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`])
      return { begin: () => allow('4096'), end: () => allow('unlimited') }
    })
  })

  it('does the same for a real disk, and an import reports it and exits with 1', {
    skip: noMounts,
  }, async (t) => {
    const folder = smallDisk(t, 2)
    const filler = join(folder, 'filler')
    const store = join(folder, 'lethe.db')
    const cli = await runOnFullDisk(t, store, () => ({
      begin: () => fill(filler),
      end: () => rmSync(filler),
    }))
    const visits = join(cli.folder, 'visits.ndjson')
    writeFileSync(visits, ndjson(ids('newcomer', 100).flatMap((id) => visit(id, { events: 20 }))))
    fill(filler)
    const { code, stderr } = await cli.run(['import', visits])
    assert.equal(code, 1, stderr)
    assert.match(stderr, /^error: .*(disk I\/O error|database or disk is full)/m)
    assert.ok(readdirSync(folder).includes('lethe.db'))
  })
})
