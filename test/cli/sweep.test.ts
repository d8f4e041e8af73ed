import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { assertRefused, type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { storeRequest } from '../support/privacy-request.ts'
import { eventRow } from '../support/rows.ts'

const day = 86_400_000
const now = Date.now()
const nothing = { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0, waiting: [] }

/** A store with events of these subjects, each this many days ago. */
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

/** The JSON object of a command that may also have printed messages. */
function onlyJsonOf({ code, stdout }: { code: number | null; stdout: string }): Record<string, unknown> {
  return onlyJson({ code, stdout, stderr: '', signal: null })
}

describe('lethe sweep', { concurrency: true }, () => {
  it('deletes expired data, reports the counts, and deletes nothing the second time', async (t) => {
    const cli = await withVisits(t, { anna: [300, 200], ben: [190, 170, 3], cleo: [1] })
    const first = await cli.run(['sweep'])
    assert.deepEqual([first.code, first.stderr], [0, ''])
    assert.equal(first.stdout, 'Deleted 3 events, 3 sessions and 1 subject without remaining data.\n')
    assert.deepEqual(
      [await eventCount(cli, 'anna'), await eventCount(cli, 'ben'), await eventCount(cli, 'cleo')],
      [null, 2, 1],
    )
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'])), nothing)
  })

  it('applies the current plan and the configured windows', async (t) => {
    const cli = await withVisits(t, { anna: [300], ben: [20] })
    await cli.run(['orgs', 'set-plan', 'acme', 'starter'])
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'])), nothing)
    const env = { LETHE_RETENTION_DAYS: 'starter=30' }
    const args = ['sweep', '--now', '--yes', '--json']
    assert.partialDeepStrictEqual(JSON.parse((await cli.run(args, { env })).stdout), { events: 1 })
  })

  it('deletes nothing by a shortened window: reports what waits, until when, and how to prevent it', async (t) => {
    const cli = await withVisits(t, { anna: [3_000], ben: [20] })
    const env = { LETHE_RETENTION_DAYS: 'free=3650' }
    assert.equal((await cli.run(['sweep'], { env })).code, 0)
    const { code, stdout, stderr } = await cli.run(['sweep'])
    assert.equal(code, 0)
    assert.match(stdout, /^Deleted 0 events, 0 sessions and 0 subjects/)
    assert.match(
      stderr,
      /^acme: 1 session and 1 event are older than the 180 days of the plan free.* deleted at 20\S+Z; lethe sweep --now/,
    )
    const { waiting, ...swept } = onlyJsonOf(await cli.run(['sweep', '--json']))
    assert.deepEqual(swept, { subjects: 0, sessions: 0, events: 0, activity: 0, requests: 0 })
    assert.partialDeepStrictEqual(waiting, [
      { orgId: 'acme', plan: 'free', kind: 'visitors', keptDays: 3_650, days: 180, events: 1, sessions: 1 },
    ])
    assert.equal(await eventCount(cli, 'anna'), 1)
    // A process with the longer window cancels the deletion.
    assert.equal((await cli.run(['sweep'], { env })).stderr, '')
  })

  it('deletes it immediately with --now, after the counts are confirmed', async (t) => {
    const cli = await withVisits(t, { anna: [300], ben: [20] })
    await cli.run(['sweep'], { env: { LETHE_RETENTION_DAYS: 'free=365' } })
    const refused = await cli.run(['sweep', '--now'])
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(refused.stderr, /--yes is missing/)
    const declined = await cli.run(['sweep', '--now'], { answers: ['no'] })
    assert.deepEqual([declined.code, declined.stdout], [1, ''])
    assert.match(declined.stderr, /Nothing was deleted/)
    assert.equal(await eventCount(cli, 'anna'), 1)
    const done = await cli.run(['sweep', '--now'], { answers: ['yes'] })
    assert.match(done.stderr, /^acme, on the plan free \(180 days\): 1 event, 1 session and 1 subject/)
    assert.match(done.stdout, /^Deleted 1 event, 1 session and 1 subject/)
    assert.equal(await eventCount(cli, 'anna'), null)
    assert.equal(await eventCount(cli, 'ben'), 1)
  })

  it('sweeps the activity and closed requests by LETHE_ACTIVITY_DAYS', async (t) => {
    const cli = await withVisits(t, {})
    const at = now - 100 * day
    await inStore(cli.storePath, ({ organisations }) =>
      organisations.setPlan('acme', 'pro', {
        ...{ id: 'n', organisationId: 'acme', at, actor: { kind: 'command-line' } },
        ...{ kind: 'organisation.plan-changed', target: 'pro', requestId: null },
      }),
    )
    await inStore(cli.storePath, (store) =>
      storeRequest(store, 'acme', { receivedAt: at, closed: ['rejected', at] }),
    )
    assert.deepEqual(onlyJson(await cli.run(['sweep', '--json'])), nothing)
    const env = { LETHE_ACTIVITY_DAYS: '99' }
    const { waiting, ...kept } = onlyJsonOf(await cli.run(['sweep', '--json'], { env }))
    assert.deepEqual({ ...kept, waiting: [] }, nothing)
    const aged = { activity: 3, requests: 1 }
    assert.partialDeepStrictEqual(waiting, [{ kind: 'activity', keptDays: 1_825, days: 99, ...aged }])
    const declined = await cli.run(['sweep', '--now'], { env, answers: ['no'] })
    assert.match(
      declined.stderr,
      /activity 99 days\): 0 events.*, and 3 activity entries and 1 closed request will be deleted\./,
    )
    const swept = JSON.parse((await cli.run(['sweep', '--now', '--yes', '--json'], { env })).stdout)
    assert.deepEqual(swept, { ...nothing, ...aged })
  })

  it('does nothing on an empty store', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    const swept = onlyJson(await cli.run(['sweep', '--json']))
    assert.deepEqual(swept, nothing)
  })

  it('waits for another process that sweeps or scrubs, and says so once', async (t) => {
    const cli = await withVisits(t, { anna: [300] })
    const other = await openSqliteStore(cli.storePath)
    t.after(() => other.close())
    const waits = Promise.withResolvers<string>()
    const held = await other.maintenance.withMaintenanceLock(async () => {
      const sweeping = cli.run(['sweep', '--json'], { onTold: waits.resolve })
      await waits.promise
      assert.ok(await other.subjects.read(shop, 'anna'))
      return { sweeping }
    })
    assert.ok(held)
    const outcome = await held.sweeping
    assert.equal(outcome.stderr, 'Waiting for another process that is sweeping, scrubbing or copying.\n')
    assert.deepEqual(onlyJson(outcome), { ...nothing, subjects: 1, sessions: 1, events: 1 })
  })

  it('rejects unknown options as usage errors', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['sweep', 'shop']), 2, /too many arguments/)
    assertRefused(await cli.run(['sweep', '--tracker', 'shop']), 2, /--tracker/)
    assertRefused(await cli.run(['sweep', '--yes']), 2, /--yes requires --now/)
    const env = { LETHE_RETENTION_DAYS: 'free=0' }
    assertRefused(await cli.run(['sweep'], { env }), 2, /LETHE_RETENTION_DAYS is "free=0"/)
  })
})
