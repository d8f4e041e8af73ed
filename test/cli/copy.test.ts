import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { maxBatchRows } from '../../src/operations/copy-store.ts'
import { assertRefused, type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { openStoreAt } from '../support/empty-store.ts'
import { everyTracker, fillEverything } from '../support/everything.ts'
import { fillStore } from '../support/filled-store.ts'
import { freshDatabase, freshStore } from '../support/fresh-database.ts'
import { preparedStore } from '../support/prepared-store.ts'
import { countAt, rowsAt } from '../support/raw-store.ts'
import { eventRow } from '../support/rows.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Lifetime } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eraseIn } from '../support/test-keyring.ts'

interface Fixture {
  cli: CommandLine
  /** An embedded store with rows in every table. */
  from: string
  /** Where another store may be created. */
  to: string
  copy: string[]
}

const filled = preparedStore(async ({ storePath }) => {
  const store = await openStoreAt(`sqlite:${storePath}`, { writesHere: true })
  await fillEverything(store)
  await store.close()
})

async function withFullStore(t: TestContext): Promise<Fixture> {
  const cli = await filled(t)
  const from = `sqlite:${cli.storePath}`
  const to = `sqlite:${join(cli.folder, 'copy.db')}`
  return { cli, from, to, copy: ['copy', '--from', from, '--to', to] }
}

async function eraseAt(address: string): Promise<void> {
  const store = await openStoreAt(address, { writesHere: true })
  await eraseIn(store, everyTracker[0] ?? assert.fail(), 'ä')
  await store.close()
}

describe('lethe copy', { concurrency: 4 }, () => {
  it('fills an empty PostgreSQL database, and shows the contents of both stores', async (t) => {
    const { cli, from } = await withFullStore(t)
    const to = await freshDatabase(t)
    const { code, stdout, stderr } = await cli.run(['copy', '--from', from, '--to', to])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^TABLE +SOURCE ROWS +TARGET ROWS +CHECKSUM\norganisations +2 +2 +[0-9a-f]{16}\n/)
    assert.match(stdout, /\nCopied \d+ rows; both stores are identical\.\n$/)
    assert.match(stderr, /^The target uses the same secret\. Copy the secret to [^\n]+\.\n$/)
    assert.deepEqual(await rowsAt(to), await rowsAt(from))
  })

  it('prints the copied rows and the checksums of every table as JSON; a second run copies nothing', async (t) => {
    const { cli, from, copy } = await withFullStore(t)
    const result = onlyJson(await cli.run([...copy, '--json']))
    const rows = await rowsAt(from)
    assert.equal(result.isSame, true)
    assert.equal(result.copiedRows, Object.values(rows).flat().length)
    assert.ok(Array.isArray(result.tables))
    assert.deepEqual(result.tables.map(({ table }) => table).sort(), Object.keys(rows))
    for (const { table, source, target, isSame } of result.tables) {
      assert.equal(isSame, true)
      assert.equal(source.rows, rows[table]?.length)
      assert.match(source.checksum, /^[0-9a-f]{64}$/)
      assert.deepEqual(target, source)
    }
    assert.partialDeepStrictEqual(result.scrub, {
      source: { isDue: true },
      target: { isDue: true },
      isSame: true,
    })
    const again = await cli.run(copy)
    assert.equal(again.code, 0)
    assert.match(again.stdout, /\nNothing was copied; both stores are identical\.\n$/)
  })

  it('rejects a target with other data, which stays unchanged', async (t) => {
    const { cli, to, copy } = await withFullStore(t)
    await cli.run(['orgs', 'create', '--name', 'Other', '--id', 'other'], { env: { LETHE_STORE: to } })
    const held = await rowsAt(to)
    assertRefused(
      await cli.run(copy),
      1,
      /The target is not empty.* differs from the source in retention_windows\. Nothing was changed/,
    )
    assert.deepEqual(await rowsAt(to), held)
  })

  it('rejects a missing source, and creates neither it nor a target', async (t) => {
    const { cli, from, to } = await withFullStore(t)
    const nowhere = join(cli.folder, 'nowhere.db')
    assertRefused(
      await cli.run(['copy', '--from', `sqlite:${nowhere}`, '--to', to]),
      1,
      /There is no store at/,
    )
    const database = await freshDatabase(t)
    assertRefused(
      await cli.run(['copy', '--from', database, '--to', from]),
      1,
      /There is no store at postgres/,
    )
    assert.deepEqual(await rowsAt(database), {})
    for (const path of [nowhere, join(cli.folder, 'copy.db')]) assert.equal(existsSync(path), false)
  })

  it('refuses to copy a store to itself, however its path is written', async (t) => {
    const { cli, from } = await withFullStore(t)
    for (const to of [from, `sqlite:${cli.folder}/./lethe.db`]) {
      assertRefused(await cli.run(['copy', '--from', from, '--to', to]), 2, /name the same store/)
    }
  })

  it('rejects an invalid address without repeating it, because it may contain a password', async (t) => {
    const { cli, from } = await withFullStore(t)
    for (const wrong of ['mysql://lethe:hush@db/x', 'postgres:/lethe:hush@db/x']) {
      const outcome = await cli.run(['copy', '--from', from, '--to', wrong])
      assertRefused(outcome, 2, /^error: --to is "[a-z]+:\/*…"; it accepts sqlite:PATH or postgres:\/\/…\.$/m)
    }
    for (const wrong of ['lethe:hush@db', 'host=db password=hush', 'hush']) {
      const outcome = await cli.run(['copy', '--from', wrong, '--to', from])
      assertRefused(
        outcome,
        2,
        /^error: --from is a value that is not shown because it may contain a password; /,
      )
      assert.doesNotMatch(outcome.stderr, /hush/)
    }
  })

  it('prints no password if a server cannot be reached', async (t) => {
    const { cli, from } = await withFullStore(t)
    const outcome = await cli.run(['copy', '--from', from, '--to', 'postgres://lethe:hush@127.0.0.1:1/x'])
    assertRefused(outcome, 1, /Cannot open the store postgres:\/\/…@127\.0\.0\.1:1\/x/)
    assert.doesNotMatch(outcome.stderr, /hush/)
  })

  it('waits for another process that copies, sweeps or scrubs the store', async (t) => {
    const { cli, to, copy } = await withFullStore(t)
    const target = await openStoreAt(to)
    t.after(() => target.close())
    const waits = Promise.withResolvers<string>()
    const held = await target.maintenance.withMaintenanceLock(async () => {
      const copying = cli.run([...copy, '--json'], { onTold: waits.resolve })
      assert.match(await waits.promise, /^Waiting for another process/)
      assert.deepEqual(await target.organisations.list(), [])
      return { copying }
    })
    assert.ok(held)
    onlyJson(await held.copying)
  })
})

describe('lethe copy --verify-only', () => {
  it('compares both stores, and writes nothing', async (t) => {
    const { cli, to, copy } = await withFullStore(t)
    await cli.run(['init'], { env: { LETHE_STORE: to } })
    const { code, stdout, stderr } = await cli.run([...copy, '--verify-only'])
    assert.equal(code, 1)
    assert.match(stdout, /\norganisations +2 +0 +[0-9a-f]{16} is not [0-9a-f]{16}\n/)
    assert.match(stdout, /\nNothing was copied; the stores differ\.\n$/)
    assert.match(stderr, /^error: The two stores differ: organisations, .*, whether a scrub is due\. Stop /)
    assert.deepEqual(Object.values(await rowsAt(to)).flat(), [])
  })

  it('names the tables in which the target still has a subject that was erased in the source', async (t) => {
    const { cli, from, copy } = await withFullStore(t)
    assert.equal((await cli.run(copy)).code, 0)
    assert.equal((await cli.run([...copy, '--verify-only'])).code, 0)
    await eraseAt(from)
    const { code, stdout, stderr } = await cli.run([...copy, '--verify-only', '--json'])
    assert.equal(code, 1)
    assert.equal(JSON.parse(stdout).isSame, false)
    assert.match(
      stderr,
      /^error: The two stores differ: subjects, sessions, events, identifiers, tombstones, ledger_entries\. Stop .* empty/,
    )
    assertRefused(await cli.run(copy), 1, /differs from the source in tombstones\. Nothing was changed/)
  })

  it('creates no target', async (t) => {
    const { cli, copy } = await withFullStore(t)
    assertRefused(await cli.run([...copy, '--verify-only']), 1, /There is no store at/)
    assert.equal(existsSync(join(cli.folder, 'copy.db')), false)
  })
})

// The tests start several processes, which start in half the time with a shared compile cache.
process.env.NODE_COMPILE_CACHE ??= temporaryFolder({ after })

/** A command line whose store has this many events of 100 subjects. */
async function withEvents(lifetime: Lifetime, count: number, properties = {}): Promise<CommandLine> {
  const cli = commandLine(lifetime)
  const events = Array.from({ length: count }, (_, i) =>
    eventRow({ subjectId: `s${i % 100}`, sessionId: `${i % 1_000}`, eventId: `e${i}`, properties }),
  )
  await fillStore(cli.storePath, events)
  return cli
}

describe('an interrupted lethe copy', async () => {
  const events = 2.5 * maxBatchRows
  const cli = await withEvents({ after }, events)

  /** Starts to copy, and waits for the first batch. */
  async function beginCopy(to: string) {
    await (await openStoreAt(to)).close()
    const args = ['copy', '--json', '--from', `sqlite:${cli.storePath}`, '--to', to]
    const program = cli.startProgram(args)
    const isOver = program.ended.then(() => true)
    while ((await countAt(to, 'events')) === 0 && !(await Promise.race([isOver, delay(25, false)])));
    return { args, program }
  }

  it('continues after SIGKILL on the way to PostgreSQL, without losing rows', async (t) => {
    const random = seededRandom()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    const database = await freshStore(t)
    const { args, program } = await beginCopy(database)
    // Some time into the next batch.
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

  it('completes its batch after a signal on the way to SQLite, and says that it can continue', async () => {
    const interrupt = async (attempt: number) => {
      const { args, program } = await beginCopy(`sqlite:${join(cli.folder, `copy-${attempt}.db`)}`)
      program.kill('SIGTERM')
      return { args, ...(await program.ended) }
    }
    let outcome = await interrupt(0)
    // On a busy machine, it may be done before the signal arrives.
    for (let attempt = 1; outcome.code === 0 && attempt < 5; attempt++) outcome = await interrupt(attempt)
    const { args, code, stdout, stderr } = outcome
    const stopped = 'Stopped by SIGTERM. Run it again to continue.'
    assert.equal(stdout, `${JSON.stringify({ error: { code: 'failed', message: stopped } })}\n`)
    // On a slow machine, progress may come first.
    assert.ok(stderr.endsWith(`error: ${stopped}\n`), stderr)
    assert.equal(code, 1)
    assert.equal(onlyJson(await cli.run(args)).isSame, true)
  })
})

describe('the memory of lethe copy', () => {
  it('does not grow with the size of the store', async (t) => {
    const events = 1_000
    const cli = await withEvents(t, events, { text: 'x'.repeat(30_000) })
    const [from, to] = [`sqlite:${cli.storePath}`, `sqlite:${join(cli.folder, 'copy.db')}`]
    // The program needs more than half of this itself, so the 30 MB of the store do not fit.
    const env = { NODE_OPTIONS: '--max-old-space-size=48' }
    const { code, stderr } = await cli.runProgram(['copy', '--from', from, '--to', to], { env })
    assert.equal(code, 0, stderr)
    assert.equal(await countAt(to, 'events'), events)
  })
})
