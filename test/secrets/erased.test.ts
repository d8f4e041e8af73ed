import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readPages } from '../../src/operations/verify-copy.ts'
import { createKey, startRoomyServer } from '../robustness/kill/server.ts'
import { buildShopAt } from '../robustness/kill/visits.ts'
import { dataOf } from '../support/answers.ts'
import { commandLine, onlyJson, type RunningProgram } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { askRaw } from '../support/raw-http.ts'
import { subjectPath, visit } from '../support/shop.ts'
import { assertAbsent } from './markers.ts'

/** IDs that a component might encode differently when it writes them. */
const ids = [
  'plain-erased-marker',
  'ünïcödé/erased-marker?#%2F&=+',
  'emoji-🦦-erased-marker',
  `quotes-"'\\-erased-marker`,
  ' spaces  erased-marker ',
  '%_*-erased-marker-{}[]()$^',
  `long-erased-marker-${'x'.repeat(237)}`,
  '__proto__-erased-marker',
  '‮right-to-left-erased-marker',
]
/** Everything stored about them. */
const facts = { session: 'session-erased-marker', attribute: 'attribute-erased-marker' }
const secrets: Record<string, string> = {
  ...Object.fromEntries(ids.map((id, i) => [`id ${i}`, id])),
  ...facts,
  any: 'erased-marker',
}
const rows = ids.flatMap((id) =>
  visit(id, { sessionId: `${facts.session}-1`, attributes: { note: facts.attribute } }),
)
const ndjson = rows
  .map((row) =>
    JSON.stringify({
      ...row,
      ...(row.type === 'session'
        ? { startedAt: iso(row.startedAt), endedAt: iso(row.endedAt) }
        : { occurredAt: iso(row.occurredAt) }),
    }),
  )
  .join('\n')

function iso(at: number): string {
  return new Date(at).toISOString()
}

describe('an erased person', () => {
  const cli = commandLine({ after })
  const journal = join(cli.folder, 'journal', 'lethe.journal')
  const env = { LETHE_JOURNAL: journal, LETHE_LOG_LEVEL: 'trace', LETHE_METRICS_PORT: '0' }
  const input = join(cli.folder, 'input.ndjson')
  const old = join(cli.folder, 'old.backup')
  /** The output of programs, with its source. */
  const said: [where: string, text: string][] = []
  let server: RunningProgram & { url: string }

  async function run(args: readonly string[], code = 0): Promise<void> {
    const outcome = await cli.run(args, { env })
    assert.equal(outcome.code, code, outcome.stderr)
    said.push([`lethe ${args[0]}`, outcome.stdout + outcome.stderr])
  }

  async function stop(): Promise<void> {
    const [, metricsUrl = ''] = await server.waitFor('stdout', /"metricsUrl":"([^"]+)"/)
    said.push(['the metrics', await (await fetch(metricsUrl)).text()])
    server.kill('SIGTERM')
    const { stdout, stderr, code } = await server.ended
    assert.equal(code, 0)
    said.push(['the log', stdout + stderr])
  }

  /** Erases all of them, after requests that fail in every way. */
  async function eraseAll(key: string): Promise<void> {
    for (const id of ids) {
      const path = subjectPath(id)
      // A longer ID would be refused.
      const requestId = encodeURIComponent(`erase ${id}`)
      const headers: [string, string][] = requestId.length <= 200 ? [['X-Request-Id', requestId]] : []
      const ask = (target: string, method: string) => askRaw(server.url, target, { key, method, headers })
      await ask(`${path}?dryRun=${encodeURIComponent(id)}`, 'DELETE')
      await ask(`${path}/${encodeURIComponent(id)}`, 'DELETE')
      await ask(path, 'PATCH')
      await ask(path.replace('/shop/', '/nowhere/'), 'DELETE')
      await askRaw(server.url, `${path}%00`, { key, method: 'DELETE' })
      dataOf(await ask(path, 'DELETE'))
      dataOf(await ask(path, 'DELETE'))
      await ask(`${path}/receipts`, 'GET')
    }
  }

  before(async () => {
    await buildShopAt(`sqlite:${cli.storePath}`, [...rows, ...visit('somebody-else')])
    writeFileSync(input, `${ndjson}\n`)
    await run(['ledger', 'verify'])
    await run(['backup', old])
    const key = await createKey(cli)
    server = await startRoomyServer(cli, env)
    // The first erasure fails, because a folder is in the place of its journal.
    rmSync(journal, { force: true })
    mkdirSync(journal, { recursive: true })
    const failed = await askRaw(server.url, subjectPath(ids[0] ?? ''), { key, method: 'DELETE' })
    assert.equal(failed.status, 500)
    rmdirSync(journal)
    await eraseAll(key)
    await run(['import', input])
    await run(['import', '--strict', input])
    const bad = join(cli.folder, 'bad.ndjson')
    writeFileSync(
      bad,
      ids.map((id) => `{"type":"event","trackerId":"nowhere","subjectId":${JSON.stringify(id)}`).join('\n'),
    )
    await run(['import', bad], 1)
    rmSync(bad)
    await stop()
  })

  function assertGone(exceptions: readonly string[]): void {
    const names = readdirSync(cli.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !exceptions.includes(path))
    assert.ok(names.some((name) => name.endsWith('lethe.journal')))
    for (const name of names) assertAbsent(secrets, readFileSync(name), name)
    for (const [where, text] of said) assertAbsent(secrets, text, where)
  }

  it('is in no file after a scrub, nor in the journal, a backup, the log, the metrics or command output', async () => {
    await run(['scrub'])
    await run(['backup', join(cli.folder, 'new.backup')])
    for (const args of [
      ['activity', '--org', 'acme', '--json'],
      ['ledger', 'verify', '--json'],
      ['status'],
    ]) {
      await run(args)
    }
    assertGone([input, old, `${old}.json`])
    assertAbsent(secrets, readFileSync(`${old}.json`), 'what is told of a backup')
  })

  it('stays erased if an older backup is restored, by the replaced store or by the journal', async () => {
    await run(['restore', old, '--yes'])
    assertGone([input, old])
    for (const suffix of ['', '-wal', '-shm']) rmSync(cli.storePath + suffix, { force: true })
    await run(['restore', old, '--journal', journal])
    await run(['import', input])
    assertGone([input, old])
  })

  it('stays erased if a backup is restored by other means and the journal is replayed', async () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(cli.storePath + suffix, { force: true })
    writeFileSync(cli.storePath, readFileSync(old))
    await run(['journal', 'replay', journal])
    await run(['scrub'])
    assertGone([input, old])
  })

  it('is in no table of a PostgreSQL database that an old store was copied to', async (t) => {
    const [from, to] = [join(cli.folder, 'copied.db'), await freshStore(t)]
    writeFileSync(from, readFileSync(old))
    const secret = { LETHE_SECRET_FILE: join(cli.folder, 'lethe.secret') }
    const args = ['copy', '--from', `sqlite:${from}`, '--to', to, '--json']
    const outcome = await cli.run(args, { env: { ...env, ...secret } })
    onlyJson({ ...outcome, stderr: '' })
    rmSync(from)
    said.push(['lethe copy', outcome.stdout + outcome.stderr])
    const store = await openStoreAt(to)
    t.after(() => store.close())
    let rowsSeen = 0
    for (const table of store.transfer.tables) {
      for await (const page of readPages(store.transfer, table)) {
        rowsSeen += page.length
        assertAbsent(secrets, JSON.stringify(page), table.name)
      }
    }
    assert.ok(rowsSeen > 2 * ids.length)
    assertGone([input, old, `${from}-upkeep`])
  })
})
