import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { maxBatchRows } from '../../src/operations/copy-store.ts'
import { type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { fillStore } from '../support/filled-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { countAt, rowsAt } from '../support/raw-store.ts'
import { eventRow } from '../support/rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// There are several processes to start, and they start in half the time with what one before them has compiled.
process.env.NODE_COMPILE_CACHE ??= temporaryFolder({ after })

/** A command line whose store has so many events, of a hundred subjects. */
async function withEvents(lifetime: Lifetime, count: number, properties = {}): Promise<CommandLine> {
  const cli = commandLine(lifetime)
  const events = Array.from({ length: count }, (_, i) =>
    eventRow({ subjectId: `s${i % 100}`, sessionId: `${i % 1_000}`, eventId: `e${i}`, properties }),
  )
  await fillStore(cli.storePath, events)
  return cli
}

describe('lethe copy, broken off,', async () => {
  const events = 2.5 * maxBatchRows
  const cli = await withEvents({ after }, events)

  /** Starts to copy, and lets it get one batch far. */
  async function beginCopy(to: string) {
    await (await openStoreAt(to)).close()
    const args = ['copy', '--json', '--from', `sqlite:${cli.storePath}`, '--to', to]
    const program = cli.startProgram(args)
    const isOver = program.ended.then(() => true)
    while ((await countAt(to, 'events')) === 0 && !(await Promise.race([isOver, delay(25, false)])));
    return { args, program }
  }

  it('goes on where it was and loses nothing, killed on its way to PostgreSQL', async (t) => {
    const random = seededRandom()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    const database = await freshStore(t)
    const { args, program } = await beginCopy(database)
    // Some way into the next batch.
    await delay(random.integer(20))
    program.kill('SIGKILL')
    await program.ended
    const copied = await countAt(database, 'events')
    const { copiedRows, isSame } = onlyJson(await cli.run(args))
    assert.equal(isSame, true)
    t.diagnostic(`killed with ${copied} of ${events} events there; the last run copied ${copiedRows} rows`)
    assert.ok(copied > 0 && Number(copiedRows) <= events - copied + 100, 'it did not start from zero')
    assert.deepEqual(await rowsAt(database), await rowsAt(`sqlite:${cli.storePath}`))
  })

  it('by a signal on its way to SQLite ends with the batch it has begun, and says that it can go on', async () => {
    const { args, program } = await beginCopy(`sqlite:${join(cli.folder, 'copy.db')}`)
    program.kill('SIGTERM')
    const stopped = 'Stopped by SIGTERM. Running it again goes on from there.'
    const { code, stdout, stderr } = await program.ended
    assert.equal(stdout, `${JSON.stringify({ error: { code: 'failed', message: stopped } })}\n`)
    assert.equal(stderr, `error: ${stopped}\n`)
    assert.equal(code, 1)
    assert.equal(onlyJson(await cli.run(args)).isSame, true)
  })
})

describe('the memory of lethe copy', () => {
  it('does not grow with what the store holds', async (t) => {
    const events = 1_000
    const cli = await withEvents(t, events, { text: 'x'.repeat(30_000) })
    const [from, to] = [`sqlite:${cli.storePath}`, `sqlite:${join(cli.folder, 'copy.db')}`]
    // The program needs more than half of this for itself, so there is no room for all 30 MB of the store.
    const env = { NODE_OPTIONS: '--max-old-space-size=48' }
    const { code, stderr } = await cli.runProgram(['copy', '--from', from, '--to', to], { env })
    assert.equal(code, 0, stderr)
    assert.equal(await countAt(to, 'events'), events)
  })
})
