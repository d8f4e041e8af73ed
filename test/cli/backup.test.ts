import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import {
  assertRefused,
  type CommandLine,
  callApi,
  commandLine,
  jsonLines,
  onlyJson,
  textOf,
} from '../support/command-line.ts'
import { fillStore } from '../support/filled-store.ts'
import { eventRow } from '../support/rows.ts'
import { startTestService } from '../support/service.ts'

async function withShop(t: TestContext, rows: readonly IncomingRow[] = []): Promise<CommandLine> {
  const cli = commandLine(t)
  await fillStore(cli.storePath, rows)
  return cli
}

/** Opens the backup as a store and lists its organisations. */
async function organisationsIn(cli: CommandLine, file: string): Promise<unknown[]> {
  const env = { LETHE_STORE: `sqlite:${file}` }
  return jsonLines((await cli.run(['orgs', 'list', '--json'], { env })).stdout)
}

describe('lethe backup', { concurrency: true }, () => {
  it('writes a backup that opens as a store, and reports its path and size', async (t) => {
    const cli = await withShop(t)
    const [one, two] = [join(cli.folder, 'one.db'), join(cli.folder, 'two.db')]
    const people = await cli.run(['backup', one])
    assert.deepEqual([people.code, people.stderr], [0, ''])
    const megabytes = (statSync(one).size / 1e6).toFixed(1)
    assert.equal(
      people.stdout,
      `Wrote ${one} (${megabytes} MB), and a description of its contents to ${one}.json.\n`,
    )
    const scripts = onlyJson(await cli.run(['backup', two, '--json']))
    assert.partialDeepStrictEqual(scripts, {
      file: two,
      bytes: statSync(two).size,
      ledgers: [],
      rows: { trackers: 1 },
    })
    assert.deepEqual({ file: two, ...JSON.parse(readFileSync(`${two}.json`, 'utf8')) }, scripts)
    for (const file of [one, two]) {
      assert.equal(statSync(file).mode & 0o777, 0o600)
      assert.deepEqual(await organisationsIn(cli, file), [{ id: 'acme', name: 'Acme', plan: 'free' }])
    }
  })

  it('accepts a path relative to the working directory', async (t) => {
    const cli = await withShop(t)
    const written = onlyJson(await cli.runProgram(['backup', 'copy.db', '--json']))
    assert.equal(written.file, 'copy.db')
    assert.equal((await organisationsIn(cli, join(cli.folder, 'copy.db'))).length, 1)
  })

  it('copies while the service runs, and includes its latest changes', async (t) => {
    const events = ['anna', 'ben'].map((subjectId) =>
      eventRow({ subjectId, eventId: `event-of-${subjectId}`, occurredAt: Date.now() }),
    )
    const cli = await withShop(t, events)
    const scopes = ['--scope', 'analytics:view', 'analytics:delete-data']
    const created = await cli.run([
      ...['keys', 'create', '--org', 'acme', '--name', 'k', '--json'],
      ...scopes,
    ])
    const key = textOf(onlyJson(created), 'key')
    const server = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
    const subject = (id: string) => `${server.url}/v1/analytics/trackers/shop/subjects/${id}`
    assert.equal((await callApi(subject('anna'), key, 'DELETE')).status, 200)
    const copy = join(cli.folder, 'copy.db')
    const outcome = await cli.run(['backup', copy])
    assert.equal(outcome.code, 0, outcome.stderr)
    assert.equal((await callApi(subject('ben'), key)).status, 200)
    const bytes = readFileSync(copy)
    assert.equal(bytes.includes('event-of-ben'), true)
    assert.equal(bytes.includes('event-of-anna'), false)
  })

  it('fails if the file exists, and leaves it unchanged', async (t) => {
    const cli = await withShop(t)
    const file = join(cli.folder, 'precious.db')
    writeFileSync(file, 'precious')
    const before = readdirSync(cli.folder)
    assertRefused(await cli.run(['backup', file, '--json']), 1, /precious\.db already exists/)
    assert.equal(readFileSync(file, 'utf8'), 'precious')
    assertRefused(await cli.run(['backup', cli.storePath]), 1, /already exists/)
    assert.deepEqual(readdirSync(cli.folder), before)
    const other = join(cli.folder, 'other')
    writeFileSync(`${other}.json`, 'precious')
    assertRefused(await cli.run(['backup', other]), 1, /other\.json already exists\. Choose another file/)
    assert.equal(readFileSync(`${other}.json`, 'utf8'), 'precious')
    assert.ok(!existsSync(other))
  })

  it('fails if the file cannot be created, and names it', async (t) => {
    const cli = await withShop(t)
    assertRefused(await cli.run(['backup', join(cli.folder, 'nowhere', 'copy.db')]), 1, /nowhere.copy\.db/)
  })

  it('rejects -, which means standard output elsewhere, as a usage error', async (t) => {
    const cli = await withShop(t)
    const { code, stderr } = await cli.run(['backup', '-'])
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^error: A backup cannot be written to standard output\. .*\.\/-/)
    assert.ok(!existsSync('-'))
  })

  it('requires exactly one file', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['backup']), 2, /file/)
    assertRefused(await cli.run(['backup', 'a.db', 'b.db']), 2, /too many arguments/)
  })
})
