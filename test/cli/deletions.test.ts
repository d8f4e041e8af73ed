import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { deleteTracker } from '../../src/operations/tracker.ts'
import { openServices } from '../../src/start.ts'
import {
  assertRefused,
  type CommandLine,
  jsonLines,
  type LocalOutcome,
  onlyJson,
} from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'

/** An organisation with two trackers, a key and a member; the first tracker has two visits. */
const shop = preparedStore(async (cli) => {
  const make = runCommands(
    ['orgs', 'create', '--name', 'Acme', '--id', 'acme'],
    ...['shop', 'blog'].map((id) => [
      'trackers',
      'create',
      '--org',
      'acme',
      '--name',
      `The ${id}`,
      '--id',
      id,
    ]),
    ['keys', 'create', '--org', 'acme', '--name', 'nightly', '--scope', 'analytics:view'],
    ['variables', 'set', '--tracker', 'shop', 'telltale.variable=1'],
    ['variable-tokens', 'create', '--tracker', 'shop', '--name', 'website'],
    ['members', 'create', '--org', 'acme', '--email', 'ann@acme.example'],
  )
  await make(cli)
  await fill(cli)
})

async function fill(cli: CommandLine) {
  const file = join(cli.folder, 'visits.ndjson')
  const lines = ['telltale-anna', 'telltale-ben'].flatMap((subjectId) =>
    [1, 2].map((number) =>
      JSON.stringify({
        ...{ type: 'event', subjectId, sessionId: 's', eventId: `e${number}`, name: 'pageview' },
        occurredAt: new Date(Date.now() - 3_600_000).toISOString(),
      }),
    ),
  )
  writeFileSync(file, lines.join('\n'))
  const outcome = await cli.run(['import', file, '--tracker', 'shop', '--json'])
  writeFileSync(file, '')
  return outcome
}

const held = { subjects: 2, sessions: 2, events: 4 }

async function deletionsOf(cli: CommandLine): Promise<unknown[]> {
  const { stdout } = await cli.run(['activity', '--org', 'acme', '--json'])
  const entries = jsonLines(stdout).filter(({ kind }) => String(kind).endsWith('.deleted'))
  return entries.map(({ kind, actor, target }) => [kind, actor, target])
}

/** Asserts that a deletion was refused after it showed what it would delete. */
function assertUnconfirmed({ code, stdout, stderr }: LocalOutcome): void {
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /4 events.*\nerror: the name typed is not the name of this .*; nothing was deleted\n$/)
}

const trackersOf = async (cli: CommandLine) =>
  jsonLines((await cli.run(['trackers', 'list', '--org', 'acme', '--json'])).stdout).map(({ id }) => id)

/** Marks the tracker like a command that is killed before it deletes anything. */
async function breakOff(cli: CommandLine): Promise<void> {
  const services = await openServices(readConfig({ LETHE_STORE: `sqlite:${cli.storePath}` }), {
    writesHere: true,
  })
  await deleteTracker(services, 'shop', 'The shop')
  await services.close()
}

describe('lethe trackers delete', () => {
  it('shows what it will delete, asks for the name, and leaves no byte of it in the store', async (t) => {
    const cli = await shop(t)
    assert.equal(cli.holdsBytes('telltale'), true)
    const deleted = await cli.run(['trackers', 'delete', 'shop'], { answers: ['The shop'] })
    assert.equal(deleted.code, 0, deleted.stderr)
    assert.match(
      deleted.stderr,
      /"The shop" has 2 subjects, 2 sessions and 4 events\. All of this, .*variables/,
    )
    assert.deepEqual(deleted.asked, ['Type its name to delete it: '])
    assert.match(deleted.stdout, /^Deleted the tracker "The shop" with 2 subjects/)
    assert.deepEqual(await trackersOf(cli), ['blog'])
    assert.equal(cli.holdsBytes('telltale'), false)
    assert.deepEqual(await deletionsOf(cli), [
      ['tracker.deleted', { kind: 'command-line' }, 'shop: The shop'],
    ])
    assertRefused(await cli.run(['trackers', 'delete', 'shop', '--name', 'The shop']), 1, /no tracker "shop"/)
    const again = await fill(cli)
    assert.match(`${again.code} ${again.stderr}`, /^1 error: There is no tracker "shop"/)
  })

  it('deletes nothing if another name is typed, or none can be typed', async (t) => {
    const cli = await shop(t)
    const wrong = [
      await cli.run(['trackers', 'delete', 'shop', '--name', 'the shop']),
      await cli.run(['trackers', 'delete', 'shop'], { answers: [''] }),
    ]
    for (const outcome of wrong) assertUnconfirmed(outcome)
    const script = await cli.run(['trackers', 'delete', 'shop'])
    assert.match(`${script.code} ${script.stderr}`, /^2 .*--name is missing/s)
    assertRefused(await cli.run(['trackers', 'delete', 'nothing', '--name', 'x']), 1, /no tracker/)
    assert.deepEqual(await trackersOf(cli), ['shop', 'blog'])
    assert.deepEqual(await deletionsOf(cli), [])
  })

  it('prints what was deleted as one JSON object', async (t) => {
    const cli = await shop(t)
    const outcome = await cli.run(['trackers', 'delete', 'shop', '--name', 'The shop', '--json'])
    assert.deepEqual(onlyJson(outcome), { id: 'shop', orgId: 'acme', name: 'The shop', deleted: held })
  })

  it('continues an interrupted deletion, and asks for the name again', async (t) => {
    const cli = await shop(t)
    await breakOff(cli)
    assert.deepEqual(await trackersOf(cli), ['blog'])
    const taken = ['trackers', 'create', '--org', 'acme', '--name', 'New', '--id', 'shop']
    assertRefused(await cli.run(taken), 1, /still being removed/)
    assertUnconfirmed(await cli.run(['trackers', 'delete', 'shop', '--name', 'x']))
    const outcome = await cli.run(['trackers', 'delete', 'shop', '--name', 'The shop', '--json'])
    assert.deepEqual(onlyJson(outcome).deleted, held)
    assert.equal((await deletionsOf(cli)).length, 1)
    assert.equal((await cli.run(taken)).code, 0)
  })
})

describe('lethe orgs delete', () => {
  it('deletes the organisation with all its data, and keeps its activity', async (t) => {
    const cli = await shop(t)
    const deleted = await cli.run(['orgs', 'delete', 'acme'], { answers: ['Acme'] })
    assert.equal(deleted.code, 0, deleted.stderr)
    assert.match(
      deleted.stderr,
      /"Acme" has 2 trackers, 1 key, 1 member, 2 subjects, 2 sessions and 4 events/,
    )
    assert.match(deleted.stdout, /^Deleted the organisation "Acme" with 2 trackers/)
    assert.equal((await cli.run(['orgs', 'list', '--json'])).stdout, '')
    assert.equal(cli.holdsBytes('telltale'), false)
    assert.deepEqual(await deletionsOf(cli), [
      ['organisation.deleted', { kind: 'command-line' }, 'acme: Acme'],
    ])
    for (const args of [
      ['trackers', 'list', '--org', 'acme'],
      ['keys', 'list', '--org', 'acme'],
      ['orgs', 'rename', 'acme', '--name', 'New'],
      ['orgs', 'set-plan', 'acme', 'pro'],
      ['orgs', 'delete', 'acme', '--name', 'Acme'],
    ]) {
      assertRefused(await cli.run(args), 1, /no organisation "acme"/)
    }
    const again = await cli.run(['orgs', 'create', '--name', 'Acme', '--id', 'acme'])
    assertRefused(again, 1, /is the ID of a deleted organisation/)
    const status = onlyJson(await cli.run(['status', '--json']))
    assert.equal(JSON.stringify(status).includes('Acme'), false)
  })

  it('deletes nothing if another name is typed, or none can be typed', async (t) => {
    const cli = await shop(t)
    assertUnconfirmed(await cli.run(['orgs', 'delete', 'acme', '--name', 'acme']))
    const script = await cli.run(['orgs', 'delete', 'acme'])
    assert.match(`${script.code} ${script.stderr}`, /^2 .*--name is missing/s)
    assert.equal((await trackersOf(cli)).length, 2)
    assert.deepEqual(await deletionsOf(cli), [])
  })

  it('also deletes a tracker whose deletion was interrupted', async (t) => {
    const cli = await shop(t)
    await breakOff(cli)
    const outcome = await cli.run(['orgs', 'delete', 'acme', '--name', 'Acme', '--json'])
    const deleted = { trackers: 2, keys: 1, members: 1, ...held }
    assert.deepEqual(onlyJson(outcome), { id: 'acme', name: 'Acme', deleted })
    assert.equal(cli.holdsBytes('telltale'), false)
  })
})
