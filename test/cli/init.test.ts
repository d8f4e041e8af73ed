import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { Command } from 'commander'
import { Client } from 'pg'
import { programForHelp } from '../../scripts/packaging/man-page.ts'
import { assertRefused, commandLine, onlyJson } from '../support/command-line.ts'
import { freshDatabase } from '../support/fresh-database.ts'

const program = await programForHelp()

/** Commands that create a missing store, and commands that never open the configured one. */
const makers = ['serve', 'quickstart', 'init', 'migrate', 'orgs create', 'restore']
const others = [
  ...['receipts get', 'receipts key', 'receipts verify', 'backup verify'],
  ...['copy', 'completion', 'config', 'convert', 'health', 'ship'],
  // Shows a missing store among other facts (status.test.ts).
  'status',
]

/** Clients of the API. */
const remote = ['subjects', 'requests']

/** Options of which a command needs at least one. */
const oneOfThese: Record<string, string[]> = { 'identifiers derive': ['--attribute', 'x'] }

/** Every other command, with values for all required arguments. */
function storeCommands(command: Command, words: string[] = []): string[][] {
  if (command.commands.length > 0)
    return command.commands.flatMap((inner) => storeCommands(inner, [...words, inner.name()]))
  if (remote.includes(words[0] ?? '') || [...makers, ...others].includes(words.join(' '))) return []
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long ?? '')
  const values = command.registeredArguments.map((each) =>
    each.name() === 'version' ? '1' : (each.argChoices?.[0] ?? 'x'),
  )
  const also = oneOfThese[words.join(' ')] ?? []
  return [[...words, ...values, ...required.flatMap((flag) => [flag, 'x']), ...also]]
}

const commands = storeCommands(program)

describe('a command that needs a store', () => {
  it('rejects a missing store, names its location and LETHE_STORE, and creates nothing', async (t) => {
    const cli = commandLine(t)
    assert.ok(commands.length > 10)
    for (const args of commands) {
      assertRefused(await cli.run(args), 1, /^error: There is no store at .*lethe\.db.*LETHE_STORE/)
    }
    assert.deepEqual(readdirSync(cli.folder), [])
  })

  it('treats an empty file as a missing store, and leaves it empty', async (t) => {
    const cli = commandLine(t)
    writeFileSync(cli.storePath, '')
    for (const args of commands) assertRefused(await cli.run(args), 1, /There is no store at .*LETHE_STORE/)
    assert.deepEqual(readdirSync(cli.folder), ['lethe.db'])
    assert.equal(statSync(cli.storePath).size, 0)
  })

  it('rejects a database of another program, which stays unchanged', async (t) => {
    const cli = commandLine(t)
    const db = new DatabaseSync(cli.storePath)
    db.exec('CREATE TABLE precious (id)')
    db.close()
    const before = readFileSync(cli.storePath)
    assertRefused(await cli.run(['scrub']), 1, /not a Lethe store.*LETHE_STORE/)
    assertRefused(await cli.run(['init']), 1, /not a Lethe store.*LETHE_STORE/)
    assert.deepEqual(readFileSync(cli.storePath), before)
  })

  it('treats a PostgreSQL database without the tables as a missing store, and prints no password', async (t) => {
    const url = new URL(await freshDatabase(t))
    url.password ||= 'hush'
    const cli = commandLine(t, url.href)
    const place = `${url.host}${url.pathname}`
    for (const args of [['scrub'], ['orgs', 'list'], ['backup', 'x']]) {
      const outcome = await cli.run(args)
      assertRefused(outcome, 1, /^error: There is no store at postgres.*LETHE_STORE/)
      assert.ok(outcome.stderr.includes(place), outcome.stderr)
      assert.ok(!outcome.stderr.includes(url.password), outcome.stderr)
    }
    const client = new Client(url.href)
    await client.connect()
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    await client.end()
    assert.deepEqual(rows, [])
  })
})

describe('lethe init', () => {
  it('creates an empty store and prints its location, or says that it exists', async (t) => {
    const cli = commandLine(t)
    const { code, stdout, stderr } = await cli.run(['init'])
    assert.deepEqual([code, stdout, stderr], [0, `Created an empty store at ${cli.storePath}.\n`, ''])
    const again = await cli.run(['init'])
    assert.equal(again.stdout, `A store already exists at ${cli.storePath}. Nothing was changed.\n`)
    assert.equal(again.code, 0)
    const { stdout: organisations, code: listed } = await cli.run(['orgs', 'list', '--json'])
    assert.deepEqual([listed, organisations], [0, ''])
  })

  it('reports as JSON whether it created a store', async (t) => {
    const cli = commandLine(t)
    assert.deepEqual(onlyJson(await cli.run(['init', '--json'])), { store: cli.storePath, created: true })
    assert.deepEqual(onlyJson(await cli.run(['init', '--json'])), { store: cli.storePath, created: false })
  })

  it('does not upgrade an older store', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const version = (set = '') => {
      const db = new DatabaseSync(cli.storePath)
      if (set) db.exec(set)
      const row = db.prepare('PRAGMA user_version').get()
      db.close()
      return row?.user_version
    }
    version('PRAGMA user_version = 1')
    assert.match((await cli.run(['init'])).stdout, /Nothing was changed/)
    assert.equal(version(), 1)
  })

  it('creates a store in a PostgreSQL database', async (t) => {
    const url = await freshDatabase(t)
    const cli = commandLine(t, url)
    assert.equal(onlyJson(await cli.run(['init', '--json'])).created, true)
    assert.equal((await cli.run(['orgs', 'list'])).code, 0)
    assert.equal(onlyJson(await cli.run(['init', '--json'])).created, false)
  })
})

describe('a command that creates a store', () => {
  it('says so and prints its location', async (t) => {
    for (const args of [['orgs', 'create', '--name', 'Acme'], ['migrate']]) {
      const cli = commandLine(t)
      const first = await cli.run(args)
      assert.equal(first.code, 0)
      const secret = join(cli.folder, 'lethe.secret')
      assert.equal(
        first.stderr,
        `Created an empty store at ${cli.storePath}.\nCreated a secret at ${secret}. Keep a copy of it, separate from backups of the store.\n`,
      )
      assert.equal((await cli.run(args)).stderr, '')
    }
  })
})
