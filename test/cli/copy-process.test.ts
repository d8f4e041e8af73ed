import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { maxBatchRows } from '../../src/operations/store/copy-store.ts'
import { type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { fillStore } from '../support/filled-store.ts'
import { freshDatabase } from '../support/fresh-database.ts'
import { countAt, rowsAt } from '../support/raw-store.ts'
import { eventRow } from '../support/rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// There are several processes to start, and they start in half the time with what one before them has compiled.
process.env.NODE_COMPILE_CACHE ??= temporaryFolder({ after })

/** A command line whose store has so many events, of a hundred subjects. */
async function withEvents(t: TestContext, count: number, properties = {}): Promise<CommandLine> {
  const cli = commandLine(t)
  const events = Array.from({ length: count }, (_, i) =>
    eventRow({ subjectId: `s${i % 100}`, sessionId: `${i % 1_000}`, eventId: `e${i}`, properties }),
  )
  await fillStore(cli.storePath, events)
  return cli
}

describe('lethe copy, broken off,', () => {
  it('goes on where it was and loses nothing, killed on its way to PostgreSQL, and from there to SQLite', async (t) => {
    const random = seededRandom()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    const events = 2.5 * maxBatchRows
    const cli = await withEvents(t, events)
    const database = await freshDatabase(t)
    for (const [from, to] of [
      [`sqlite:${cli.storePath}`, database],
      [database, `sqlite:${join(cli.folder, 'copy.db')}`],
    ] as const) {
      await (await openStoreAt(to)).close()
      const copy = ['copy', '--json', '--from', from, '--to', to]
      const program = cli.startProgram(copy)
      const isDead = program.ended.then(() => true)
      // It gets one batch far, and some way into the next.
      while ((await countAt(to, 'events')) === 0 && !(await Promise.race([isDead, delay(25, false)])));
      await delay(random.integer(20))
      program.kill('SIGKILL')
      await isDead
      const copied = await countAt(to, 'events')
      const { copiedRows, isSame } = onlyJson(await cli.run(copy))
      assert.equal(isSame, true)
      t.diagnostic(`killed with ${copied} of ${events} events there; the last run copied ${copiedRows} rows`)
      assert.ok(copied > 0 && Number(copiedRows) <= events - copied + 100, 'it did not start from zero')
    }
    const [source, copyOfCopy] = [cli.storePath, join(cli.folder, 'copy.db')]
    assert.deepEqual(await rowsAt(`sqlite:${copyOfCopy}`), await rowsAt(`sqlite:${source}`))
  })

  it('by a signal ends with the batch it has begun, and says that it can go on', async (t) => {
    const cli = await withEvents(t, 3.5 * maxBatchRows)
    const [from, to] = [`sqlite:${cli.storePath}`, `sqlite:${join(cli.folder, 'copy.db')}`]
    await (await openStoreAt(to)).close()
    const copy = ['copy', '--json', '--from', from, '--to', to]
    const program = cli.startProgram(copy)
    const isOver = program.ended.then(() => true)
    while ((await countAt(to, 'events')) === 0 && !(await Promise.race([isOver, delay(25, false)])));
    program.kill('SIGTERM')
    const stopped = 'Stopped by SIGTERM. Running it again goes on from there.'
    const { code, stdout, stderr } = await program.ended
    assert.equal(stdout, `${JSON.stringify({ error: { code: 'failed', message: stopped } })}\n`)
    assert.equal(stderr, `error: ${stopped}\n`)
    assert.equal(code, 1)
    assert.equal(onlyJson(await cli.run(copy)).isSame, true)
  })
})

describe('the memory of lethe copy', () => {
  it('does not grow with what the store holds', async (t) => {
    const events = 1_500
    const cli = await withEvents(t, events, { text: 'x'.repeat(30_000) })
    const [from, to] = [`sqlite:${cli.storePath}`, `sqlite:${join(cli.folder, 'copy.db')}`]
    // The program needs more than half of this for itself, so there is no room for all 45 MB of the store.
    const env = { NODE_OPTIONS: '--max-old-space-size=48' }
    const { code, stderr } = await cli.runProgram(['copy', '--from', from, '--to', to], { env })
    assert.equal(code, 0, stderr)
    assert.equal(await countAt(to, 'events'), events)
  })
})
