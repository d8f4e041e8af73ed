import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Client } from 'pg'
import type { runCli } from '../../src/cli/run-cli.ts'
import { root } from '../docs/markdown.ts'
import { commandLine } from '../support/command-line.ts'
import { missing } from '../support/missing.ts'
import { oldDatabase, putOldStore, putOldTables } from './old-store.ts'

const release = '6a71166'
const clone = fileURLToPath(root)

function noOldProgram(): string | false {
  const { status } = spawnSync('git', ['cat-file', '-e', `${release}^{commit}`], { cwd: clone })
  return status !== 0 && `the history here does not reach back to ${release}, which was 0.1.0`
}

describe('the program of 0.1.0, after an upgrade', { skip: missing('git') || noOldProgram() }, () => {
  const outer = mkdtempSync(join(tmpdir(), 'lethe-0.1.0-'))
  const folder = join(outer, 'lethe')
  after(() => rmSync(outer, { recursive: true }))
  let runOld: typeof runCli
  before(async () => {
    const archive = execFileSync('git', ['archive', release, 'src', 'client', 'package.json'], {
      cwd: clone,
      maxBuffer: 1 << 28,
    })
    mkdirSync(join(folder, 'node_modules', '@lethe'), { recursive: true })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    // Its own client, and the dependencies of this clone.
    symlinkSync(join(folder, 'client'), join(folder, 'node_modules', '@lethe', 'client'))
    symlinkSync(join(clone, 'node_modules'), join(outer, 'node_modules'))
    runOld = (await import(pathToFileURL(join(folder, 'src/cli/run-cli.ts')).href)).runCli
  })

  /** Runs a command of 0.1.0 in this process, so that its sources are loaded only once. */
  async function old(store: string, ...args: string[]) {
    let [stdout, stderr] = ['', '']
    const status = await runOld(args, {
      env: { LETHE_STORE: store },
      print(line) {
        stdout += `${line}\n`
      },
      tell(line) {
        stderr += `${line}\n`
      },
      pour: async () => assert.fail('no command here does that'),
      ask: async () => null,
      columns: () => null,
      draw() {},
    })
    return { status, stdout, stderr }
  }

  it('refuses the embedded store in one line, and opens the backup made before', async (t) => {
    const cli = commandLine(t)
    putOldStore(cli.storePath)
    const store = `sqlite:${cli.storePath}`
    const backup = join(cli.folder, 'before-upgrade.db')
    assert.equal((await old(store, 'backup', backup)).status, 0)
    assert.equal((await cli.run(['migrate'])).code, 0)
    const refused = await old(store, 'orgs', 'list')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /^[^\n]*written by a newer Lethe \([^\n]+\)\. Upgrade Lethe to open it\.\n$/)
    assert.equal((await cli.run(['orgs', 'list'])).code, 0, 'the refusal has changed nothing')

    for (const ending of ['', '-wal', '-shm']) rmSync(cli.storePath + ending, { force: true })
    execFileSync('cp', [backup, cli.storePath])
    assert.match((await old(store, 'orgs', 'list')).stdout, /^acme .*free$/m)
    assert.equal((await cli.run(['status'])).code, 0, 'and the way forward is open again')
  })

  it('refuses the database in one line, and opens the dump made before', async (t) => {
    const url = await oldDatabase(t)
    assert.equal((await commandLine(t, url).run(['migrate'])).code, 0)
    const refused = await old(url, 'orgs', 'list')
    assert.equal(refused.status, 1)
    assert.match(refused.stderr, /^[^\n]*written by a newer Lethe \([^\n]+\)\. Upgrade Lethe to open it\.\n$/)
    const client = new Client(url)
    await client.connect()
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    await client.end()
    await putOldTables(url)
    assert.match((await old(url, 'orgs', 'list')).stdout, /^acme .*free$/m)
  })
})
