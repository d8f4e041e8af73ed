import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { assertRefused, type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { eventRow } from '../support/rows.ts'

const day = 86_400_000
const now = Date.now()

/** A store with events of these subjects, each of so many days ago. */
async function withVisits(t: TestContext, visits: Record<string, readonly number[]>): Promise<CommandLine> {
  const cli = commandLine(t)
  const rows = Object.entries(visits).flatMap(([subjectId, ages]) =>
    ages.map((age) =>
      eventRow({ subjectId, sessionId: `s${age}`, eventId: 'e', occurredAt: now - age * day }),
    ),
  )
  await fillStore(cli.storePath, rows)
  return cli
}

function eventCount(cli: CommandLine, subjectId: string): Promise<number | null> {
  return inStore(
    cli.storePath,
    async ({ subjects }) => (await subjects.read(shop, subjectId))?.counts.events ?? null,
  )
}

describe('lethe sweep', { concurrency: true }, () => {
  it('deletes what has aged out, tells what, and finds nothing the second time', async (t) => {
    const cli = await withVisits(t, { anna: [300, 200], ben: [190, 170, 3], cleo: [1] })
    const first = await cli.run(['sweep'])
    assert.deepEqual([first.code, first.stderr], [0, ''])
    assert.equal(first.stdout, 'Deleted 3 events, 3 sessions and 1 subjects of which nothing is left.\n')
    assert.deepEqual(
      [await eventCount(cli, 'anna'), await eventCount(cli, 'ben'), await eventCount(cli, 'cleo')],
      [null, 2, 1],
    )
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'])), { subjects: 0, sessions: 0, events: 0 })
  })

  it('goes by the plan of the moment and the windows that are configured', async (t) => {
    const cli = await withVisits(t, { anna: [300], ben: [20] })
    await cli.run(['orgs', 'set-plan', 'acme', 'starter'])
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'])), { subjects: 0, sessions: 0, events: 0 })
    const env = { LETHE_RETENTION_DAYS: 'starter=10' }
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'], { env })), {
      ...{ subjects: 2, sessions: 2, events: 2 },
    })
  })

  it('does nothing on a store that is empty', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const swept = onlyJson(await cli.run(['sweep', '--json']))
    assert.deepEqual(swept, { subjects: 0, sessions: 0, events: 0 })
  })

  it('waits for another process that sweeps or scrubs, and says so once', async (t) => {
    const cli = await withVisits(t, { anna: [300] })
    const other = await openSqliteStore(cli.storePath)
    t.after(() => other.close())
    const program = await other.upkeep.alone(async () => {
      const waiting = cli.startProgram(['sweep', '--json'])
      await waiting.waitFor('stderr', /\n/)
      assert.ok(await other.subjects.read(shop, 'anna'))
      return waiting
    })
    assert.ok(program)
    const outcome = await program.ended
    assert.equal(outcome.stderr, 'Another process is sweeping, scrubbing or copying; waiting for it.\n')
    assert.deepEqual(onlyJson(outcome), { subjects: 1, sessions: 1, events: 1 })
  })

  it('refuses what it does not know, as wrong usage', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['sweep', 'shop']), 2, /too many arguments/)
    assertRefused(await cli.run(['sweep', '--tracker', 'shop']), 2, /--tracker/)
    const env = { LETHE_RETENTION_DAYS: 'free=0' }
    assertRefused(await cli.run(['sweep'], { env }), 2, /LETHE_RETENTION_DAYS is "free=0"/)
  })
})
