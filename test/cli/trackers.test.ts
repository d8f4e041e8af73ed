import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertRefused, jsonLines, onlyJson } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

const withOrganisations = preparedStore(
  runCommands(...['acme', 'other'].map((id) => ['orgs', 'create', '--name', id, '--id', id])),
)

describe('lethe trackers create', { concurrency: true }, () => {
  it('prints the tracker as {id, orgId, name} with --json', async (t) => {
    const cli = await withOrganisations(t)
    const args = ['trackers', 'create', '--org', 'acme', '--name', 'Web shop', '--json']
    const chosen = onlyJson(await cli.run([...args, '--id', 'shop/eu 1']))
    assert.deepEqual(chosen, { id: 'shop/eu 1', orgId: 'acme', name: 'Web shop' })
    const { id, ...rest } = onlyJson(await cli.run(args))
    assert.deepEqual(rest, { orgId: 'acme', name: 'Web shop' })
    assert.match(String(id), /^trk_[0-9A-Za-z]{16}$/)
  })

  it('prints the name of the new tracker for people', async (t) => {
    const cli = await withOrganisations(t)
    const { code, stdout, stderr } = await cli.run([
      ...['trackers', 'create', '--org', 'acme', '--name', 'Web shop', '--id', 'shop'],
    ])
    assert.deepEqual([code, stdout, stderr], [0, 'Created the tracker shop.\n', ''])
  })

  it('rejects an ID that is taken, even by another organisation, an unknown organisation and an invalid ID', async (t) => {
    const cli = await withOrganisations(t)
    const create = (org: string, id: string) =>
      cli.run(['trackers', 'create', '--org', org, '--name', 'Web shop', '--id', id])
    await create('acme', 'shop')
    assertRefused(await create('acme', 'shop'), 1, /a tracker "shop" already exists/)
    assertRefused(await create('other', 'shop'), 1, /a tracker "shop" already exists/)
    assertRefused(await create('nobody', 'blog'), 1, /no organisation "nobody"/)
    assertRefused(await create('acme', 'a\nb'), 1, /id must be 1 to 256 characters/)
    const { stdout } = await cli.run(['trackers', 'list', '--org', 'other', '--json'])
    assert.equal(stdout, '')
  })

  it('asks for the organisation and the name on a terminal, and requires both options in a script', async (t) => {
    const cli = await withOrganisations(t)
    const asked = await cli.run(['trackers', 'create', '--json'], { answers: ['acme', 'Blog'] })
    assert.deepEqual(asked.asked, ['Organisation ID: ', 'Name of the tracker: '])
    assert.partialDeepStrictEqual(onlyJson(asked), { orgId: 'acme', name: 'Blog' })
    assertRefused(await cli.run(['trackers', 'create', '--name', 'Blog']), 2, /--org is missing/)
    assertRefused(await cli.run(['trackers', 'create', '--org', 'acme']), 2, /--name is missing/)
  })
})

describe('lethe trackers list', () => {
  it('prints the trackers of one organisation, one object per line or a table', async (t) => {
    const cli = await withOrganisations(t)
    for (const [org, id] of [
      ['acme', 'shop'],
      ['other', 'foreign'],
      ['acme', 'blog'],
    ] as const) {
      await cli.run(['trackers', 'create', '--org', org, '--name', `The ${id}`, '--id', id])
    }
    const { code, stdout, stderr } = await cli.run(['trackers', 'list', '--org', 'acme', '--json'])
    assert.deepEqual([code, stderr], [0, ''])
    const all = jsonLines(stdout).toSorted((one, other) => String(one.id).localeCompare(String(other.id)))
    assert.deepEqual(all, [
      { id: 'blog', orgId: 'acme', name: 'The blog' },
      { id: 'shop', orgId: 'acme', name: 'The shop' },
    ])
    const people = await cli.run(['trackers', 'list', '--org', 'other'])
    assert.equal(people.stdout, 'ID       NAME\nforeign  The foreign\n')
  })

  it('fails for an unknown organisation, and requires --org', async (t) => {
    const cli = await withOrganisations(t)
    const unknown = await cli.run(['trackers', 'list', '--org', 'nobody', '--json'])
    assertRefused(unknown, 1, /no organisation "nobody"/)
    assertRefused(await cli.run(['trackers', 'list']), 2, /--org/)
  })
})
