import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { readKeyId } from '../../src/domain/api-key.ts'
import { createKey } from '../../src/operations/api-key.ts'
import { openServices } from '../../src/start.ts'
import { assertRefused, type CommandLine, jsonLines, onlyJson, textOf } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const withOrganisation = preparedStore(runCommands(['orgs', 'create', '--name', 'Acme', '--id', 'acme']))

const reader = ['keys', 'create', '--org', 'acme', '--name', 'reader', '--scope', 'analytics:view']

async function listed(cli: CommandLine): Promise<Record<string, unknown>[]> {
  return jsonLines((await cli.run(['keys', 'list', '--org', 'acme', '--json'])).stdout)
}

/** An expired key, created with a clock in the past because a test cannot wait. */
async function createExpired(cli: CommandLine): Promise<string> {
  const services = await openServices(readConfig({ LETHE_STORE: `sqlite:${cli.storePath}` }))
  const clock = () => Date.parse('2026-01-01T00:00:00Z')
  const expiresAt = Date.parse('2026-01-02T00:00:00Z')
  const wanted = { organisationId: 'acme', name: 'expired', scopes: ['analytics:view'], expiresAt }
  const { key } = await createKey({ ...services, clock }, wanted)
  await services.close()
  return key.id
}

describe('lethe keys create', { concurrency: true }, () => {
  it('prints {id, name, orgId, scopes, expiresAt, key} with --json', async (t) => {
    const cli = await withOrganisation(t)
    const { key, id, ...rest } = onlyJson(await cli.run([...reader, '--json']))
    assert.deepEqual(rest, { name: 'reader', orgId: 'acme', scopes: ['analytics:view'], expiresAt: null })
    assert.match(String(key), /^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}$/)
    assert.equal(readKeyId(String(key)), id)
  })

  it('accepts several scopes, in one option or two, each once', async (t) => {
    const cli = await withOrganisation(t)
    const create = ['keys', 'create', '--org', 'acme', '--json']
    const both = ['analytics:view', 'analytics:delete-data']
    const oneFlag = await cli.run([...create, '--name', 'one', '--scope', ...both])
    assert.deepEqual(onlyJson(oneFlag).scopes, both)
    const flags = [...both, 'analytics:view'].flatMap((scope) => ['--scope', scope])
    assert.deepEqual(onlyJson(await cli.run([...create, '--name', 'two', ...flags])).scopes, both)
  })

  it('accepts an expiry with any offset, and prints it in UTC', async (t) => {
    const cli = await withOrganisation(t)
    const issued = onlyJson(await cli.run([...reader, '--json', '--expires-at', '2099-01-01T01:30:00+01:00']))
    assert.equal(issued.expiresAt, '2099-01-01T00:30:00.000Z')
  })

  it('prints only the key on standard output for people, and the rest on standard error', async (t) => {
    const cli = await withOrganisation(t)
    const { code, stdout, stderr } = await cli.run(reader)
    assert.equal(code, 0)
    assert.match(stdout, /^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}\n$/)
    assert.match(stderr, /"reader" \(ID [0-9A-Za-z]{16}\).*not shown again/)
    assert.equal(stderr.includes(stdout.trim()), false)
  })

  it('rejects an unknown scope, no scope and an invalid expiry as usage errors', async (t) => {
    const cli = await withOrganisation(t)
    const create = ['keys', 'create', '--org', 'acme', '--name', 'reader']
    const scoped = (scope: string) => cli.run([...create, '--scope', scope])
    assertRefused(
      await scoped('analytics:edit'),
      2,
      /analytics:edit.*analytics:view, analytics:collect, analytics:manage-requests, analytics:delete-data/,
    )
    assertRefused(await scoped('billing:view'), 2, /billing:view/)
    assertRefused(await cli.run([...create, '--scope']), 2, /--scope/)
    for (const instant of ['tomorrow', '2099-01-01', '2099-01-01T00:00:00', '2099-02-30T00:00:00Z']) {
      assertRefused(
        await cli.run([...reader, '--expires-at', instant]),
        2,
        /ISO 8601 instant with a time zone/,
      )
    }
    assert.deepEqual(await listed(cli), [])
  })

  it('rejects an expiry in the past, an invalid name and an unknown organisation', async (t) => {
    const cli = await withOrganisation(t)
    const past = [...reader, '--expires-at', '2020-01-01T00:00:00Z']
    assertRefused(await cli.run([...past, '--json']), 1, /must be in the future/)
    const named = (org: string, name: string) =>
      cli.run(['keys', 'create', '--org', org, '--name', name, '--scope', 'analytics:view'])
    assertRefused(await named('acme', ''), 1, /name must be 1 to 64 characters/)
    assertRefused(await named('acme', 'x'.repeat(65)), 1, /name must be 1 to 64 characters/)
    assertRefused(await named('nobody', 'reader'), 1, /no organisation "nobody"/)
    assert.deepEqual(await listed(cli), [])
  })

  it('rejects the name of an active key, and accepts that of an inactive one', async (t) => {
    const cli = await withOrganisation(t)
    const first = onlyJson(await cli.run([...reader, '--json']))
    assertRefused(await cli.run([...reader, '--json']), 1, /already has an active key named "reader"/)
    await cli.run(['orgs', 'create', '--name', 'Other', '--id', 'other'])
    const elsewhere = await cli.run(reader.with(3, 'other'))
    assert.equal(elsewhere.code, 0, 'another organisation may use the name')
    await cli.run(['keys', 'revoke', textOf(first, 'id'), '--name', 'reader'])
    const second = onlyJson(await cli.run([...reader, '--json']))
    assert.notEqual(second.id, first.id)
    assert.deepEqual(
      (await listed(cli)).map(({ state }) => state),
      ['revoked', 'active'],
    )
  })

  it('asks for the organisation, the name and the scopes on a terminal', async (t) => {
    const cli = await withOrganisation(t)
    const answers = ['acme', 'eraser', ' analytics:view,  analytics:delete-data ']
    const outcome = await cli.run(['keys', 'create', '--json'], { answers })
    assert.partialDeepStrictEqual(onlyJson(outcome), {
      name: 'eraser',
      orgId: 'acme',
      scopes: ['analytics:view', 'analytics:delete-data'],
    })
    const [organisation, name, scopes] = outcome.asked
    assert.match(String(organisation), /organisation/i)
    assert.match(String(name), /name/i)
    assert.match(
      String(scopes),
      /analytics:view: .*\n.*analytics:collect: .*\n.*analytics:manage-requests: .*\n.*analytics:delete-data: .*irreversibly/,
    )
  })

  it('creates no key from an invalid answer', async (t) => {
    const cli = await withOrganisation(t)
    const answer = (...answers: string[]) => cli.run(['keys', 'create'], { answers })
    assertRefused(
      await answer('acme', 'eraser', 'analytics:everything'),
      1,
      /analytics:everything.*is not a scope/,
    )
    assertRefused(await answer('acme', 'eraser', '  '), 1, /at least one scope/)
    assertRefused(await answer('nobody', 'eraser', 'analytics:view'), 1, /no organisation "nobody"/)
    assertRefused(await answer('acme', ' ', 'analytics:view'), 1, /name must be/)
    assert.deepEqual(await listed(cli), [])
  })

  it('requires its options in a script, as a usage error', async (t) => {
    const cli = await withOrganisation(t)
    for (const flag of ['--org', '--name', '--scope']) {
      const at = reader.indexOf(flag)
      assertRefused(await cli.run(reader.toSpliced(at, 2)), 2, new RegExp(`${flag} is missing`))
    }
    assert.deepEqual(await listed(cli), [])
  })
})

describe('lethe keys list', { concurrency: true }, () => {
  it('prints the details of each key as JSON, in every state, and never its string', async (t) => {
    const cli = await withOrganisation(t)
    const expiredId = await createExpired(cli)
    const active = onlyJson(await cli.run([...reader, '--json']))
    const other = onlyJson(await cli.run([...reader.with(5, 'gone'), '--json']))
    await cli.run(['keys', 'revoke', textOf(other, 'id'), '--name', 'gone'])
    const { stdout, stderr } = await cli.run(['keys', 'list', '--org', 'acme', '--json'])
    assert.equal(stderr, '')
    const keys = jsonLines(stdout)
    const fields =
      'id name orgId scopes lastFour state createdAt rotatedAt expiresAt revokedAt lastUsedAt'.split(' ')
    for (const key of keys) assert.deepEqual(Object.keys(key).toSorted(), fields.toSorted())
    const states = new Map(keys.map((key) => [key.id, key.state]))
    assert.deepEqual(
      [states.get(expiredId), states.get(active.id), states.get(other.id)],
      ['expired', 'active', 'revoked'],
    )
    const key = keys.find(({ id }) => id === active.id)
    assert.equal(key?.lastFour, textOf(active, 'key').slice(-4))
    assert.deepEqual(
      [key?.rotatedAt, key?.revokedAt, key?.lastUsedAt, key?.expiresAt],
      [null, null, null, null],
    )
    for (const { key } of [active, other]) assert.equal(stdout.includes(String(key).slice(23, 55)), false)
  })

  it('prints a table for people, without the strings', async (t) => {
    const cli = await withOrganisation(t)
    const keyString = (await cli.run(reader)).stdout.trim()
    const { stdout } = await cli.run(['keys', 'list', '--org', 'acme'])
    const [heading, row, ...more] = stdout.trimEnd().split('\n')
    assert.match(String(heading), /^ID +NAME +SCOPES +ENDS IN +STATE +CREATED +LAST USED +EXPIRES$/)
    assert.match(String(row), /reader +analytics:view +…[0-9A-Za-z]{4} +active +\S+Z +never +never$/)
    assert.deepEqual(more, [])
    assert.equal(stdout.includes(keyString), false)
  })

  it('fails for an unknown organisation, and requires --org', async (t) => {
    const cli = await withOrganisation(t)
    assertRefused(await cli.run(['keys', 'list', '--org', 'nobody', '--json']), 1, /no organisation "nobody"/)
    assertRefused(await cli.run(['keys', 'list']), 2, /--org/)
  })
})

describe('lethe keys rotate', { concurrency: true }, () => {
  it('prints the same key with another string, like keys create', async (t) => {
    const cli = await withOrganisation(t)
    const { key: old, ...before } = onlyJson(await cli.run([...reader, '--json']))
    const id = String(before.id)
    const { key, ...after } = onlyJson(await cli.run(['keys', 'rotate', id, '--yes', '--json']))
    assert.deepEqual(after, before)
    assert.notEqual(key, old)
    assert.equal(readKeyId(String(key)), id)
    const [stored] = await listed(cli)
    assert.equal(stored?.lastFour, String(key).slice(-4))
    assert.match(String(stored?.rotatedAt), /Z$/)
    const people = await cli.run(['keys', 'rotate', id, '--yes'])
    assert.match(people.stdout, /^lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]{38}\n$/)
  })

  it('requires a yes on a terminal and --yes in a script, and otherwise changes nothing', async (t) => {
    const cli = await withOrganisation(t)
    const { id, key } = onlyJson(await cli.run([...reader, '--json']))
    const args = ['keys', 'rotate', String(id)]
    const before = await listed(cli)
    for (const answer of ['', 'y', 'no', 'YES please']) {
      const outcome = await cli.run(args, { answers: [answer] })
      assertRefused(outcome, 1, /Nothing was changed/)
      assert.match(outcome.asked.join(), new RegExp(`"reader" that ends in ${String(key).slice(-4)} `))
    }
    assertRefused(await cli.run(args), 2, /--yes is missing/)
    assert.deepEqual(await listed(cli), before)
    const confirmed = await cli.run([...args, '--json'], { answers: ['yes'] })
    assert.notEqual(onlyJson(confirmed).key, key)
  })

  it('fails for an unknown, revoked or expired key', async (t) => {
    const cli = await withOrganisation(t)
    const expired = await createExpired(cli)
    const revoked = textOf(onlyJson(await cli.run([...reader, '--json'])), 'id')
    await cli.run(['keys', 'revoke', revoked, '--name', 'reader'])
    const before = await listed(cli)
    const rotate = (id: string) => cli.run(['keys', 'rotate', id, '--yes', '--json'])
    assertRefused(await rotate('nokey'), 1, /no key "nokey"/)
    assertRefused(await rotate(revoked), 1, /"reader" is revoked/)
    assertRefused(await rotate(expired), 1, /"expired" is expired/)
    assert.deepEqual(await listed(cli), before)
  })
})

describe('lethe keys revoke', { concurrency: true }, () => {
  it('revokes a key permanently if its name is given, and reports it as text or JSON', async (t) => {
    const cli = await withOrganisation(t)
    const id = textOf(onlyJson(await cli.run([...reader, '--json'])), 'id')
    const revoked = onlyJson(await cli.run(['keys', 'revoke', id, '--name', 'reader', '--json']))
    assert.partialDeepStrictEqual(revoked, { id, name: 'reader', orgId: 'acme', state: 'revoked' })
    assert.equal('key' in revoked, false)
    const other = textOf(onlyJson(await cli.run([...reader, '--json'])), 'id')
    const { stdout } = await cli.run(['keys', 'revoke', other, '--name', 'reader'])
    assert.equal(stdout, 'Revoked the key "reader".\n')
  })

  it('requires the name typed on a terminal and --name in a script; a wrong one changes nothing', async (t) => {
    const cli = await withOrganisation(t)
    const id = textOf(onlyJson(await cli.run([...reader, '--json'])), 'id')
    const before = await listed(cli)
    for (const answer of ['', 'Reader', 'yes', id]) {
      assertRefused(await cli.run(['keys', 'revoke', id], { answers: [answer] }), 1, /nothing was revoked/)
      const flag = await cli.run(['keys', 'revoke', id, '--name', answer, '--json'])
      assertRefused(flag, 1, /nothing was revoked/)
    }
    assertRefused(await cli.run(['keys', 'revoke', id]), 2, /--name is missing/)
    assert.deepEqual(await listed(cli), before)
    const typed = await cli.run(['keys', 'revoke', id, '--json'], { answers: ['reader'] })
    assert.equal(onlyJson(typed).state, 'revoked')
    assert.match(typed.asked.join(), /"reader" will stop working immediately and permanently/)
  })

  it('fails for an unknown key and one that is already revoked', async (t) => {
    const cli = await withOrganisation(t)
    const id = textOf(onlyJson(await cli.run([...reader, '--json'])), 'id')
    const revoke = (key: string) => cli.run(['keys', 'revoke', key, '--name', 'reader'])
    assertRefused(await revoke('nokey'), 1, /no key "nokey"/)
    await revoke(id)
    const before = await listed(cli)
    assertRefused(await revoke(id), 1, /"reader" is revoked/)
    assert.deepEqual(await listed(cli), before)
  })
})

describe('the string of a key', () => {
  it('is in no file of the store, neither while it is valid nor after a rotation', async (t) => {
    const cli = await withOrganisation(t)
    // An open reader keeps the write-ahead log from being truncated, so that it is searched too.
    const services = await openServices(readConfig({ LETHE_STORE: `sqlite:${cli.storePath}` }))
    await services.organisations.list()
    const first = onlyJson(await cli.run([...reader, '--json']))
    const second = onlyJson(await cli.run(['keys', 'rotate', textOf(first, 'id'), '--yes', '--json']))
    assert.ok(cli.holdsBytes(textOf(first, 'id')), 'the id is there, so the search works')
    for (const keyString of [textOf(first, 'key'), textOf(second, 'key')]) {
      const secret = keyString.slice('lethe_'.length + 16 + 1)
      assert.equal(cli.holdsBytes(secret), false)
      assert.equal(cli.holdsBytes(secret.slice(0, 32)), false)
    }
    await services.close()
  })
})
