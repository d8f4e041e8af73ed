import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertRefused, type CommandLine, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'
import { eventRow } from '../support/rows.ts'

const withOrganisation = preparedStore(runCommands(['orgs', 'create', '--name', 'Acme', '--id', 'acme']))

/** An organisation on the plan pro, with a visit a year ago. */
const withOldVisit = preparedStore(async (cli) => {
  await fillStore(cli.storePath, [
    eventRow({ subjectId: 'anna', eventId: 'e', occurredAt: Date.now() - 365 * 86_400_000 }),
  ])
  await runCommands(['orgs', 'set-plan', 'acme', 'pro'])(cli)
})

describe('lethe orgs create', { concurrency: true }, () => {
  it('prints the organisation as {id, name, plan}, on the plan free by default', async (t) => {
    const cli = commandLine(t)
    const made = onlyJson(await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme', '--json']))
    assert.deepEqual(made, { id: 'acme', name: 'Acme', plan: 'free' })
    for (const plan of ['free', 'starter', 'pro', 'business']) {
      const { id, ...rest } = onlyJson(
        await cli.run(['orgs', 'create', '--name', `On ${plan}`, '--plan', plan, '--json']),
      )
      assert.deepEqual(rest, { name: `On ${plan}`, plan })
      assert.match(String(id), /^org_[0-9A-Za-z]{16}$/)
    }
  })

  it('prints the name of the new organisation for people', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const { code, stdout, stderr } = await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.equal(stdout, 'Created the organisation acme on the plan free.\n')
  })

  it('rejects an ID that is taken, and leaves that organisation unchanged', async (t) => {
    const cli = commandLine(t)
    await cli.run(['orgs', 'create', '--name', 'First', '--id', 'acme'])
    const second = await cli.run('orgs create --name Second --id acme --plan pro --json'.split(' '))
    assertRefused(second, 1, /an organisation "acme" already exists/)
    const { stdout } = await cli.run(['orgs', 'list', '--json'])
    assert.deepEqual(jsonLines(stdout), [{ id: 'acme', name: 'First', plan: 'free' }])
  })

  it('rejects an invalid name and an invalid ID, both in one error', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const both = await cli.run(['orgs', 'create', '--name', '  ', '--id', '..'])
    assertRefused(both, 1, /name must be 1 to 128 characters.*; id must be 1 to 64 letters, digits/)
    for (const id of ['../x', '.x', '-x', 'a/b', 'a b', 'ä', 'a%2e', '', 'x'.repeat(65)]) {
      assertRefused(
        await cli.run(['orgs', 'create', '--name', 'Acme', `--id=${id}`]),
        1,
        /id must be 1 to 64/,
      )
    }
    assertRefused(await cli.run(['orgs', 'create', '--name', 'a\tb']), 1, /name must be/)
    assertRefused(await cli.run(['orgs', 'create', '--name', 'x'.repeat(129)]), 1, /name must be/)
    assert.equal((await cli.run(['orgs', 'list', '--json'])).stdout, '')
  })

  it('rejects an unknown plan as a usage error', async (t) => {
    const cli = commandLine(t)
    const refused = await cli.run(['orgs', 'create', '--name', 'Acme', '--plan', 'gold'])
    assertRefused(refused, 2, /gold.*free, starter, pro, business/)
  })

  it('asks for the name on a terminal, and requires --name in a script', async (t) => {
    const cli = commandLine(t)
    const asked = await cli.run(['orgs', 'create', '--json'], { answers: ['Acme'] })
    assert.equal(onlyJson(asked).name, 'Acme')
    assert.deepEqual(asked.asked, ['Name of the organisation: '])
    assertRefused(await cli.run(['orgs', 'create', '--json']), 2, /--name is missing/)
  })
})

describe('lethe orgs list', () => {
  it('prints one JSON object per line, and nothing if there is no organisation', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const empty = await cli.run(['orgs', 'list', '--json'])
    assert.deepEqual([empty.code, empty.stdout, empty.stderr], [0, '', ''])
    await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'b'])
    await cli.run(['orgs', 'create', '--name', 'Ümläut & Söhne', '--id', 'a', '--plan', 'pro'])
    const { code, stdout, stderr } = await cli.run(['orgs', 'list', '--json'])
    assert.deepEqual([code, stderr], [0, ''])
    const all = jsonLines(stdout).toSorted((one, other) => String(one.id).localeCompare(String(other.id)))
    assert.deepEqual(all, [
      { id: 'a', name: 'Ümläut & Söhne', plan: 'pro' },
      { id: 'b', name: 'Acme', plan: 'free' },
    ])
  })

  it('prints a table for people', async (t) => {
    const cli = await withOrganisation(t)
    const { stdout } = await cli.run(['orgs', 'list'])
    assert.equal(stdout, 'ID    NAME  PLAN\nacme  Acme  free\n')
  })
})

describe('lethe orgs set-plan', { concurrency: true }, () => {
  it('moves an organisation to another plan, and reports it as text or JSON', async (t) => {
    const cli = await withOrganisation(t)
    const moved = onlyJson(await cli.run(['orgs', 'set-plan', 'acme', 'business', '--json']))
    const retention = { days: 1_825, aged: null, deletesFrom: null, deleted: null }
    assert.deepEqual(moved, { id: 'acme', name: 'Acme', plan: 'business', retention })
    const { stdout } = await cli.run(['orgs', 'set-plan', 'acme', 'pro'])
    assert.equal(stdout, 'Moved acme to the plan pro.\n')
    assert.equal((await cli.run(['orgs', 'list', '--json'])).stdout.includes('"plan":"pro"'), true)
  })

  const planOf = async (cli: CommandLine) => onlyJson(await cli.run(['orgs', 'list', '--json'])).plan
  const isStored = async (cli: CommandLine) =>
    inStore(cli.storePath, async ({ subjects }) => (await subjects.read(shop, 'anna')) !== null)

  it('asks on a terminal before it shortens the window, and changes nothing unless the answer is yes', async (t) => {
    const cli = await withOldVisit(t)
    const declined = await cli.run(['orgs', 'set-plan', 'acme', 'free'], { answers: ['no'] })
    assert.deepEqual([declined.code, declined.stdout], [1, ''])
    assert.match(
      declined.stderr,
      /The plan free keeps 180 days; pro keeps 730\. 1 event, 1 session and 1 sub/,
    )
    assert.match(declined.stderr, /hidden immediately and deleted a day later.*Nothing was changed/s)
    assert.equal(await planOf(cli), 'pro')
    const done = await cli.run(['orgs', 'set-plan', 'acme', 'free'], { answers: ['yes'] })
    assert.deepEqual([done.code, done.stdout], [0, 'Moved acme to the plan free.\n'])
    assert.match(
      done.stderr,
      /will be deleted at 20\S+Z\. Until then, lethe orgs set-plan acme pro restores it/,
    )
    assert.equal((await cli.run(['sweep'])).code, 0)
    assert.equal(await isStored(cli), true)
  })

  it('shortens the window in a script, says so, and deletes nothing for a day', async (t) => {
    const cli = await withOldVisit(t)
    const { code, stdout, stderr } = await cli.run(['orgs', 'set-plan', 'acme', 'free', '--json'])
    assert.equal(code, 0)
    const [{ retention, ...moved } = {}] = jsonLines(stdout)
    assert.deepEqual(moved, { id: 'acme', name: 'Acme', plan: 'free' })
    assert.partialDeepStrictEqual(retention, { days: 180, aged: { events: 1 }, deleted: null })
    assert.match(stdout, /"deletesFrom":"20/)
    assert.match(stderr, /will be hidden immediately and deleted a day later/)
    assert.equal(await isStored(cli), true)
  })

  it('deletes immediately with --yes, reports the counts, and leaves other organisations unchanged', async (t) => {
    const cli = await withOldVisit(t)
    const { code, stdout, stderr } = await cli.run(['orgs', 'set-plan', 'acme', 'free', '--yes'])
    assert.deepEqual([code, stdout], [0, 'Moved acme to the plan free.\n'])
    assert.match(stderr, /1 event, 1 session and 1 subject .* will be deleted now\.\nDeleted 1 event/)
    assert.equal(await isStored(cli), false)
  })

  it('is in the activity, once for each change', async (t) => {
    const cli = await withOldVisit(t)
    await cli.run(['orgs', 'set-plan', 'acme', 'pro'])
    const query = { limit: 9, after: null, requestId: null }
    const { rows } = await inStore(cli.storePath, ({ activity }) => activity.list('acme', query))
    assert.partialDeepStrictEqual(rows, [
      { kind: 'organisation.plan-changed', target: 'pro', actor: { kind: 'command-line' } },
    ])
    assert.equal(rows.length, 1)
  })

  it('fails for an unknown organisation', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    assertRefused(
      await cli.run(['orgs', 'set-plan', 'nobody', 'pro', '--json']),
      1,
      /no organisation "nobody"/,
    )
  })

  it('rejects an unknown plan as a usage error', async (t) => {
    const cli = await withOrganisation(t)
    const refused = await cli.run(['orgs', 'set-plan', 'acme', 'gold'])
    assertRefused(refused, 2, /free, starter, pro, business/)
    assert.equal(onlyJson(await cli.run(['orgs', 'list', '--json'])).plan, 'free')
  })
})
