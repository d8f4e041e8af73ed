import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CommandLine,
  callApi,
  commandLine,
  jsonLines,
  onlyJson,
  startServe,
  textOf,
} from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { eventRow } from '../support/rows.ts'
import { startTestService } from '../support/service.ts'
import { eraseIn, unrelatedKeys } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'

const day = 86_400_000
const now = Date.now()

/** An event of a subject this many days ago. */
function visit(subjectId: string, daysAgo: number) {
  return eventRow({ subjectId, sessionId: `s${daysAgo}`, eventId: 'e', occurredAt: now - daysAgo * day })
}

/** The log lines with this message, without the common fields. */
function linesOf(stdout: string, message: string) {
  return jsonLines(stdout)
    .filter(({ msg }) => msg === message)
    .map(({ level, time, msg, ...line }) => {
      assert.deepEqual([level, typeof time], [30, 'number'], msg === message ? message : '')
      return line
    })
}

describe('the maintenance of lethe serve', { concurrency: true }, () => {
  it('sweeps at startup and at intervals, and logs counts but no IDs', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [
      visit('visitor-old', 300),
      visit('visitor-both', 200),
      visit('visitor-both', 1),
    ])
    const env = { LETHE_SWEEP_SECONDS: '1', LETHE_SCRUB_HOUR: 'off' }
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}`, ...env })
    const sweeps = () => service.logged.filter((line) => line.includes('"msg":"swept"')).length
    await until(() => sweeps() === 1)
    await inStore(cli.storePath, async (store) =>
      store.ingest.ingest([visit('visitor-late', 400)], await unrelatedKeys(store)),
    )
    await until(() => sweeps() === 2)
    await service.stop()
    const stdout = `${service.logged.join('\n')}\n`
    const [first, second, ...others] = linesOf(stdout, 'swept')
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(first, { subjects: 1, sessions: 2, events: 2 })
    assert.partialDeepStrictEqual(second, { subjects: 1, sessions: 1, events: 1 })
    for (const line of [first, second]) {
      assert.deepEqual(Object.keys(line ?? {}), [
        ...['subjects', 'sessions', 'events', 'activity', 'requests', 'durationMs'],
      ])
      assert.ok(Number.isInteger(line?.durationMs))
    }
    assert.equal(stdout.includes('visitor'), false)
    assert.equal(stdout.includes('shop'), false)
    assert.equal(
      await inStore(cli.storePath, async ({ subjects }) => subjects.read(shop, 'visitor-late')),
      null,
    )
  })

  it('deletes nothing by a shortened window, and logs a warning with instructions', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [visit('visitor-old', 3_000)])
    await cli.run(['sweep'], { env: { LETHE_RETENTION_DAYS: 'free=3650' } })
    const service = await startTestService(t, {
      ...{ LETHE_STORE: `sqlite:${cli.storePath}`, LETHE_SCRUB_HOUR: 'off' },
      ...{ LETHE_SWEEP_SECONDS: '1', LETHE_METRICS_PORT: '0' },
    })
    const metrics = async () => (await fetch(String(service.metricsUrl))).text()
    // Polled slowly, because rendering all metrics takes time.
    while (!/^lethe_sweep_duration_seconds_count\{outcome="complete"\} [2-9]/m.test(await metrics()))
      await pause(200)
    assert.match(await metrics(), /^lethe_retention_windows_waiting 1$/m)
    await service.stop()
    const lines = jsonLines(`${service.logged.join('\n')}\n`).filter(({ level }) => level === 40)
    assert.partialDeepStrictEqual(lines, [
      { organisationId: 'acme', plan: 'free', kind: 'visitors', keptDays: 3_650, shorterDays: 180 },
    ])
    assert.match(String(lines[0]?.msg), /set LETHE_RETENTION_DAYS or the plan back/)
    assert.match(String(lines[0]?.deletesFrom), /^20\S+Z$/)
    assert.equal(lines.length, 1, 'once')
    assert.ok(await inStore(cli.storePath, async ({ subjects }) => subjects.read(shop, 'visitor-old')))
  })

  it('catches up on a missed nightly scrub, with its own log line', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [visit('visitor-old', 1), visit('visitor-kept', 1)])
    await inStore(cli.storePath, async ({ subjects, maintenance }) => {
      await maintenance.scrub(now - 2 * day)
      await eraseIn({ subjects }, shop, 'visitor-old')
    })
    const service = await startTestService(t, { LETHE_STORE: `sqlite:${cli.storePath}` })
    await until(() => service.logged.some((line) => line.includes('"msg":"scrubbed"')))
    await service.stop()
    const stdout = `${service.logged.join('\n')}\n`
    const [scrubbed, ...others] = linesOf(stdout, 'scrubbed')
    assert.deepEqual(others, [])
    assert.deepEqual(Object.keys(scrubbed ?? {}), ['durationMs'])
    assert.deepEqual(linesOf(stdout, 'swept'), [], 'there was nothing to sweep')
    const { lastAt, isDue } = await inStore(cli.storePath, ({ maintenance }) => maintenance.scrubState())
    assert.equal(isDue, false)
    assert.ok(lastAt >= now)
    assert.equal(cli.holdsBytes('visitor-old'), false)
    assert.equal(cli.holdsBytes('visitor-kept'), true)
  })

  it('leaves the work to another process that holds the lock, and stops in time', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [visit('visitor-old', 300)])
    await inStore(cli.storePath, ({ maintenance, subjects }) =>
      maintenance.withMaintenanceLock(async () => {
        const server = await startServe(cli, { LETHE_SWEEP_SECONDS: '1' })
        server.kill('SIGTERM')
        const { code, stdout, stderr } = await server.ended
        assert.deepEqual([code, stderr], [0, ''])
        assert.deepEqual(linesOf(stdout, 'swept'), [])
        assert.ok(await subjects.read(shop, 'visitor-old'))
      }),
    )
  })
})

describe('a change of plan while a service runs', () => {
  it('applies to its next request, in both directions', async (t) => {
    const cli = commandLine(t)
    await fillStore(cli.storePath, [visit('anna', 1), visit('anna', 30)])
    const key = await createKey(cli)
    await inStore(cli.storePath, ({ maintenance }) =>
      // Prevents sweeps, so that expired data is hidden but not deleted.
      maintenance.withMaintenanceLock(async () => {
        const env = { LETHE_STORE: `sqlite:${cli.storePath}`, LETHE_RETENTION_DAYS: 'free=2,pro=40' }
        const service = await startTestService(t, env)
        const url = `${service.url}/v1/analytics/trackers/shop/subjects/anna`
        for (const [plan, count] of [
          ['pro', 2],
          ['free', 1],
          ['pro', 2],
        ] as const) {
          await cli.run(['orgs', 'set-plan', 'acme', plan])
          const { counts } = (await callApi(url, key)).data
          assert.deepEqual(counts, { sessions: count, events: count }, plan)
        }
        await service.stop()
      }),
    )
  })

  async function createKey(cli: CommandLine): Promise<string> {
    const args = ['--org', 'acme', '--name', 'reader', '--scope', 'analytics:view', '--json']
    return textOf(onlyJson(await cli.run(['keys', 'create', ...args])), 'key')
  }
})
