import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { commandLine, jsonLines, type LocalOutcome } from '../support/command-line.ts'
import { preparedStore, runCommands } from '../support/prepared-store.ts'
import { startRemoteShop } from '../support/remote-shop.ts'

/** Returns the JSON object of a failed command, which must match its message on standard error. */
function failureIn({ stdout, stderr }: LocalOutcome): Record<string, unknown> {
  const [object, ...others] = jsonLines(stdout)
  assert.deepEqual(others, [], stdout)
  const error = Object(object?.error)
  assert.ok(typeof error.message === 'string' && error.message !== '', stdout)
  assert.ok(stderr.includes(`error: ${error.message}\n`), `${stderr} beside ${stdout}`)
  return error
}

const withOrganisation = preparedStore(runCommands(['orgs', 'create', '--name', 'Acme', '--id', 'acme']))

describe('a command that fails with --json', { concurrency: true }, () => {
  it('prints the reason as JSON, also for usage and configuration errors', async (t) => {
    const cli = commandLine(t)
    const list = ['orgs', 'list', '--json']
    for (const [args, env, code, exitCode] of [
      [list, {}, 'missing_store', 1],
      [[...list, '--colour'], {}, 'usage_error', 2],
      [['orgs', 'lst', '--json'], {}, 'usage_error', 2],
      [['keys', 'list', '--json'], {}, 'usage_error', 2],
      [list, { LETHE_PORT: 'x' }, 'configuration_error', 2],
      [list, { LETHE_STOER: 'x' }, 'configuration_error', 2],
      [['serve', '--json'], { LETHE_PORT: 'x' }, 'configuration_error', 2],
      [['subjects', 'list', 'shop', '--json'], {}, 'usage_error', 2],
    ] as const) {
      const outcome = await cli.run(args, { env })
      assert.equal(failureIn(outcome).code, code, args.join(' '))
      assert.equal(outcome.code, exitCode)
    }
  })

  it('names the invalid fields, like the errors of the API', async (t) => {
    const cli = await withOrganisation(t)
    const taken = failureIn(await cli.run(['orgs', 'create', '--name', ' ', '--id', '..', '--json']))
    assert.equal(taken.code, 'validation_error')
    assert.partialDeepStrictEqual(taken.details, [{ field: 'name' }, { field: 'id' }])
    const unknown = failureIn(await cli.run(['trackers', 'list', '--org', 'nobody', '--json']))
    assert.deepEqual(Object.keys(unknown), ['code', 'message'])
    assert.equal(unknown.code, 'not_found')
  })

  it('has the error code of the service if the service refused', async (t) => {
    const { subjects, cli } = await startRemoteShop(t)
    const missing = await subjects(['show', 'shop', 'nobody', '--json'])
    assert.equal(failureIn(missing).code, 'not_found')
    const env = { LETHE_URL: 'http://127.0.0.1:1', LETHE_API_KEY: 'lethe_x' }
    const wrongKey = await cli.run(['subjects', 'show', 'shop', 'nobody', '--json'], { env })
    assert.equal(failureIn(wrongKey).code, 'configuration_error')
    assert.ok(!wrongKey.stdout.includes('lethe_x'))
  })

  it('prints a single object, with the results of a partial run', async (t) => {
    const cli = await withOrganisation(t)
    await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Shop', '--id', 'shop'])
    const [good, cutOff] = [join(cli.folder, 'good.ndjson'), join(cli.folder, 'cut-off.ndjson.gz')]
    const now = new Date().toISOString()
    const event = { type: 'event', subjectId: 'a', sessionId: 's', name: 'n', occurredAt: now }
    writeFileSync(good, `${JSON.stringify(event)}\n`)
    writeFileSync(cutOff, gzipSync('x'.repeat(100)).subarray(0, 20))
    const outcome = await cli.run(['import', good, cutOff, '--tracker', 'shop', '--json'])
    assert.equal(outcome.code, 1)
    assert.equal(failureIn(outcome).code, 'failed')
    assert.partialDeepStrictEqual(JSON.parse(outcome.stdout), { lines: 1, events: 1 })
  })

  it('prints no JSON without --json, nor if --json is an argument', async (t) => {
    const cli = commandLine(t)
    assert.equal((await cli.run(['orgs', 'list'])).stdout, '')
    assert.equal((await cli.run(['orgs', 'set-plan', '--', '--json', 'free'])).stdout, '')
  })
})
