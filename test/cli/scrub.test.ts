import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { assertRefused, type CommandLine, commandLine, onlyJson, textOf } from '../support/command-line.ts'
import { fillStore, inStore, shop } from '../support/filled-store.ts'
import { preparedStore } from '../support/prepared-store.ts'
import { eventRow } from '../support/rows.ts'
import { eraseIn, testKeys } from '../support/test-keyring.ts'

/**
 * A store in which 50 of 100 subjects were erased, with their data on the same pages as that of the others.
 */
const withErasures = preparedStore(async (cli) => {
  await fillStore(cli.storePath, [])
  const numbers = Array.from({ length: 100 }, (_, number) => number)
  const name = (number: number) => `${number % 2 ? 'erased' : 'kept'}-visitor-${number}`
  await inStore(cli.storePath, async ({ ingest, subjects }) => {
    for (let round = 0; round < 5; round++) {
      const events = numbers.map((number) =>
        eventRow({
          ...{ subjectId: name(number), eventId: `${name(number)}-${round}` },
          properties: { who: name(number).repeat(1 + ((number * round) % 7)) },
        }),
      )
      await ingest.ingest(events, testKeys)
    }
    for (const number of numbers.filter((number) => number % 2))
      await eraseIn({ subjects }, shop, name(number))
  })
})

const stateOf = (cli: CommandLine) => inStore(cli.storePath, ({ maintenance }) => maintenance.scrubState())

describe('lethe scrub', { concurrency: true }, () => {
  it('leaves no byte of erased data in any file, and reports the duration', async (t) => {
    const cli = await withErasures(t)
    const { code, stdout, stderr } = await cli.run(['scrub'])
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^Scrubbed in \d+\.\d s: no deleted data remains in any file of the store\.\n$/)
    assert.equal(cli.holdsBytes('erased-visitor'), false)
    assert.equal(cli.holdsBytes('kept-visitor-42'), true)
    assert.equal((await stateOf(cli)).isDue, false)
  })

  it('reports its time and duration as JSON', async (t) => {
    const cli = await withErasures(t)
    const before = Date.now()
    const scrubbed = onlyJson(await cli.run(['scrub', '--json']))
    assert.deepEqual(Object.keys(scrubbed), ['scrubbedAt', 'durationMs'])
    assert.ok(Number.isInteger(scrubbed.durationMs))
    const at = Date.parse(textOf(scrubbed, 'scrubbedAt'))
    assert.ok(at >= before && at <= Date.now())
    assert.equal((await stateOf(cli)).lastAt, at)
  })

  it('succeeds if there is nothing to do', async (t) => {
    const cli = commandLine(t)
    await cli.run(['init'])
    onlyJson(await cli.run(['scrub', '--json']))
  })

  it('waits for another process that sweeps or scrubs, and says so once', async (t) => {
    const cli = await withErasures(t)
    const other = await openSqliteStore(cli.storePath)
    t.after(() => other.close())
    const program = await other.maintenance.withMaintenanceLock(async () => {
      const waiting = cli.startProgram(['scrub', '--json'])
      await waiting.waitFor('stderr', /\n/)
      assert.equal((await other.maintenance.scrubState()).isDue, true)
      return waiting
    })
    assert.ok(program)
    const outcome = await program.ended
    assert.equal(outcome.stderr, 'Waiting for another process that is sweeping, scrubbing or copying.\n')
    onlyJson(outcome)
    assert.equal((await other.maintenance.scrubState()).isDue, false)
  })

  it('rejects unknown options as usage errors', async (t) => {
    const cli = commandLine(t)
    assertRefused(await cli.run(['scrub', 'now']), 2, /too many arguments/)
    assertRefused(await cli.run(['scrub', '--force']), 2, /--force/)
  })
})
