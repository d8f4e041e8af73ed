import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { assertRefused, type CommandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const withShop = preparedStore(
  runCommands(
    ['orgs', 'create', '--name', 'Acme', '--id', 'acme'],
    ['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'acme-shop'],
    ['keys', 'create', '--org', 'acme', '--name', 'nightly', '--scope', 'analytics:view'],
  ),
)

async function shop(t: TestContext): Promise<{ cli: CommandLine; keyId: string }> {
  const cli = await withShop(t)
  const { id } = onlyJson(await cli.run(['keys', 'list', '--org', 'acme', '--json']))
  return { cli, keyId: String(id) }
}

async function createKey(cli: CommandLine, name: string): Promise<string> {
  const scope = ['--scope', 'analytics:view']
  const made = onlyJson(
    await cli.run(['keys', 'create', '--org', 'acme', '--name', name, ...scope, '--json']),
  )
  return String(made.id)
}

/** The renames in the activity of the organisation, newest first. */
async function renames(cli: CommandLine): Promise<unknown[]> {
  const { stdout } = await cli.run(['activity', '--org', 'acme', '--json'])
  const entries = jsonLines(stdout).filter(({ kind }) => String(kind).endsWith('.renamed'))
  return entries.map(({ kind, target }) => [kind, target])
}

describe('renaming from the command line', () => {
  it('renames an organisation, a tracker and a key, with both names in the activity', async (t) => {
    const { cli, keyId } = await shop(t)
    const org = await cli.run(['orgs', 'rename', 'acme', '--name', 'Acme Ltd'])
    assert.deepEqual([org.code, org.stdout, org.stderr], [0, 'Renamed acme to "Acme Ltd".\n', ''])
    const tracker = await cli.run(['trackers', 'rename', 'acme-shop', '--name', 'The shop'])
    assert.deepEqual([tracker.code, tracker.stdout], [0, 'Renamed acme-shop to "The shop".\n'])
    const key = await cli.run(['keys', 'rename', keyId, '--name', 'hourly'])
    assert.deepEqual([key.code, key.stdout], [0, `Renamed the key ${keyId} to "hourly".\n`])
    assert.deepEqual(await renames(cli), [
      ['key.renamed', 'nightly → hourly'],
      ['tracker.renamed', 'acme-shop: Shop → The shop'],
      ['organisation.renamed', 'Acme → Acme Ltd'],
    ])
  })

  it('prints the renamed object as JSON, like lists', async (t) => {
    const { cli, keyId } = await shop(t)
    const renamed = async (...args: string[]) => onlyJson(await cli.run([...args, '--name', 'New', '--json']))
    const listed = async (...args: string[]) => jsonLines((await cli.run([...args, '--json'])).stdout)
    assert.deepEqual([await renamed('orgs', 'rename', 'acme')], await listed('orgs', 'list'))
    assert.deepEqual(
      [await renamed('trackers', 'rename', 'acme-shop')],
      await listed('trackers', 'list', '--org', 'acme'),
    )
    assert.deepEqual([await renamed('keys', 'rename', keyId)], await listed('keys', 'list', '--org', 'acme'))
  })

  it('asks for the name on a terminal, and reports a missing one in a script', async (t) => {
    const { cli, keyId } = await shop(t)
    for (const [args, question] of [
      [['orgs', 'rename', 'acme'], 'New name of the organisation: '],
      [['trackers', 'rename', 'acme-shop'], 'New name of the tracker: '],
      [['keys', 'rename', keyId], 'New name of the key: '],
    ] as const) {
      assertRefused(await cli.run(args), 2, /--name is missing/)
      const { code, asked } = await cli.run(args, { answers: ['Typed'] })
      assert.deepEqual([code, asked], [0, [question]])
    }
  })

  it('rejects an invalid name and an unknown ID, without an entry in the activity', async (t) => {
    const { cli, keyId } = await shop(t)
    for (const args of [
      ['orgs', 'rename', 'acme'],
      ['trackers', 'rename', 'acme-shop'],
    ]) {
      assertRefused(await cli.run([...args, '--name', '']), 1, /name must be 1 to 128 characters/)
    }
    assertRefused(
      await cli.run(['keys', 'rename', keyId, '--name', 'x'.repeat(65)]),
      1,
      /name must be 1 to 64/,
    )
    assertRefused(await cli.run(['orgs', 'rename', 'none', '--name', 'x']), 1, /no organisation "none"/)
    assertRefused(await cli.run(['trackers', 'rename', 'none', '--name', 'x']), 1, /no tracker "none"/)
    assertRefused(await cli.run(['keys', 'rename', 'none', '--name', 'x']), 1, /no key "none"/)
    assert.deepEqual(await renames(cli), [])
  })

  it('succeeds without an entry if the name is unchanged', async (t) => {
    const { cli, keyId } = await shop(t)
    for (const args of [
      ['orgs', 'rename', 'acme', '--name', 'Acme'],
      ['trackers', 'rename', 'acme-shop', '--name', 'Shop'],
      ['keys', 'rename', keyId, '--name', 'nightly'],
    ]) {
      assert.equal((await cli.run(args)).code, 0)
    }
    assert.deepEqual(await renames(cli), [])
  })

  it('rejects the name of another active key, and renames no inactive key', async (t) => {
    const { cli, keyId } = await shop(t)
    const other = await createKey(cli, 'hourly')
    const taken = await cli.run(['keys', 'rename', keyId, '--name', 'hourly'])
    assertRefused(taken, 1, /the organisation already has an active key named "hourly"/)
    await cli.run(['keys', 'revoke', other, '--name', 'hourly'])
    assert.equal((await cli.run(['keys', 'rename', keyId, '--name', 'hourly'])).code, 0)
    assertRefused(
      await cli.run(['keys', 'rename', other, '--name', 'x']),
      1,
      /is revoked; only an active key/,
    )
  })
})
