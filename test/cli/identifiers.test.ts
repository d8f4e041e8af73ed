import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { SubjectIdentifier } from '../../src/domain/subject-identifier.ts'
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts'
import { assertRefused, type CommandLine, commandLine, onlyJson } from '../support/command-line.ts'
import { fill, fillStore, inStore, shop } from '../support/filled-store.ts'
import { freshStore } from '../support/fresh-database.ts'
import { eventRow, sessionRow } from '../support/rows.ts'
import { eraseIn } from '../support/test-keyring.ts'
import { until } from '../support/until.ts'

const day = 86_400_000
const now = Date.now()
const derive = ['identifiers', 'derive', '--tracker', 'shop']
const fromAttribute = [...derive, '--attribute', 'email']

async function withRows(t: TestContext, rows: readonly IncomingRow[]): Promise<CommandLine> {
  const cli = commandLine(t)
  await fillStore(cli.storePath, rows)
  return cli
}

function session(subjectId: string, attributes: Record<string, unknown>, age = 1): IncomingRow {
  const at = now - age * day
  return sessionRow({ subjectId, sessionId: `s${age}`, startedAt: at, endedAt: at, attributes })
}

function identifiersOf(cli: CommandLine, subjectId: string): Promise<SubjectIdentifier[] | undefined> {
  return inStore(cli.storePath, async ({ subjects }) => (await subjects.read(shop, subjectId))?.identifiers)
}

function only(outcome: Awaited<ReturnType<CommandLine['run']>>): Record<string, unknown> {
  return onlyJson({ ...outcome, stderr: '' })
}

describe('lethe identifiers derive', { concurrency: true }, () => {
  it('derives identifiers from attributes and properties, under their own or another name, and adds each once', async (t) => {
    const cli = await withRows(t, [
      session('anna', { email: 'ada@example.com', country: 'DE', customer: 7 }),
      session('anna', { email: 'ADA@example.com' }, 2),
      eventRow({ subjectId: 'ben', eventId: 'e', occurredAt: now - day, properties: { user_id: '42' } }),
      session('cleo', { country: 'FR' }),
    ])
    const args = [...fromAttribute, '--attribute', 'customer=customerNumber', '--property', 'user_id=userId']
    const first = await cli.run(args)
    assert.deepEqual([first.code, first.stderr], [0, ''])
    assert.equal(first.stdout, 'Checked 3 subjects; added 3 identifiers, renewed 0.\n')
    assert.deepEqual(await identifiersOf(cli, 'anna'), [
      { name: 'customerNumber', value: '7' },
      { name: 'email', value: 'ada@example.com' },
    ])
    assert.deepEqual(await identifiersOf(cli, 'ben'), [{ name: 'userId', value: '42' }])
    assert.deepEqual(await identifiersOf(cli, 'cleo'), [])
    const nothing = { added: 0, renewed: 0, refused: 0, unusable: 0 }
    const again = { trackerId: 'shop', subjects: 3, ...nothing, dryRun: false }
    assert.deepEqual(onlyJson(await cli.run([...args, '--json'])), again)
  })

  it('counts unusable values, says what is allowed, and ignores missing values', async (t) => {
    const unusable = ['', 'x'.repeat(257), 'a\nb', true, { deep: 'email' }, ['a@example.com']]
    const cli = await withRows(t, [
      ...unusable.map((email, i) => session('anna', { email }, i + 1)),
      session('anna', { email: null, text: 'my "email":', deep: { email: 'deep@example.com' } }, 10),
      session('ben', { email: 'x'.repeat(256) }),
    ])
    const outcome = await cli.run([...fromAttribute, '--json'])
    assert.partialDeepStrictEqual(only(outcome), { added: 1, unusable: unusable.length })
    assert.match(outcome.stderr, /^Skipped 6 values: an identifier is text or a number with 1 to 256/)
    assert.deepEqual(await identifiersOf(cli, 'anna'), [])
  })

  it('works with PostgreSQL', async (t) => {
    const address = await freshStore(t)
    const store = await openPostgresStore(address)
    await fill(
      store,
      Array.from({ length: 120 }, (_, i) => session(`visitor-${i}`, { email: `${i % 60}@example.com` })),
    )
    const cli = commandLine(t, address)
    assert.partialDeepStrictEqual(onlyJson(await cli.run([...fromAttribute, '--json'])), { added: 120 })
    assert.partialDeepStrictEqual(onlyJson(await cli.run([...fromAttribute, '--json'])), { added: 0 })
    const { rows } = await store.search.subjects(shop, {
      sought: { identifier: { name: 'email', value: '7@example.com' } },
      limit: 10,
      after: null,
    })
    await store.close()
    assert.deepEqual(rows.map(({ subjectId }) => subjectId).sort(), ['visitor-67', 'visitor-7'])
  })

  it('adds nothing with --dry-run', async (t) => {
    const cli = await withRows(t, [session('anna', { email: 'ada@example.com' })])
    const { stdout } = await cli.run([...fromAttribute, '--dry-run'])
    const words = 'would add 1 identifier, renewed 0. Nothing was changed.'
    assert.equal(stdout, `Checked 1 subject; ${words}\n`)
    assert.deepEqual(await identifiersOf(cli, 'anna'), [])
  })

  it('restores neither erased subjects nor expired data', async (t) => {
    const cli = await withRows(t, [
      session('anna', { email: 'ada@example.com' }),
      session('ben', { email: 'old@example.com' }, 200),
      session('ben', { email: 'new@example.com' }, 3),
    ])
    await inStore(cli.storePath, (store) => eraseIn(store, shop, 'anna'))
    assert.partialDeepStrictEqual(only(await cli.run([...fromAttribute, '--json'])), {
      subjects: 1,
      added: 1,
    })
    assert.equal(await identifiersOf(cli, 'anna'), undefined)
    assert.deepEqual(await identifiersOf(cli, 'ben'), [{ name: 'email', value: 'new@example.com' }])
  })

  it('handles more subjects, and more values of one subject, than fit into a step', async (t) => {
    const many = Array.from({ length: 150 }, (_, i) => session(`visitor-${i}`, { email: `${i}@example.com` }))
    const ofOne = Array.from({ length: 1_100 }, (_, i) =>
      eventRow({
        subjectId: 'anna',
        eventId: `e${i}`,
        occurredAt: now - day + i,
        properties: { email: `e${i}@example.com` },
      }),
    )
    const cli = await withRows(t, [...many, ...ofOne])
    const outcome = await cli.run([...fromAttribute, '--property', 'email', '--json'])
    assert.partialDeepStrictEqual(only(outcome), { subjects: 151, added: 1_150, refused: 100 })
    assert.equal(outcome.stderr, 'Skipped 100 identifiers: a data subject has at most 1000 identifiers.\n')
    assert.equal((await identifiersOf(cli, 'anna'))?.length, 1_000)
  })

  it('can be interrupted, says so, and is completed by another run', async (t) => {
    const rows = Array.from({ length: 800 }, (_, i) => session(`visitor-${i}`, { email: `${i}@example.com` }))
    const cli = await withRows(t, rows)
    const program = cli.startProgram([...fromAttribute, '--json'])
    await inStore(cli.storePath, ({ subjects }) =>
      until(async () => (await subjects.read(shop, 'visitor-0'))?.identifiers.length === 1),
    )
    program.kill('SIGTERM')
    const { code, stdout, stderr } = await program.ended
    if (code === 0) return t.diagnostic('it was done before the signal came')
    assert.match(stderr, /^error: Stopped by SIGTERM\. Run it again to complete it\.\n$/)
    const { added, error } = JSON.parse(stdout)
    assert.ok(added > 0 && error)
    const again = onlyJson(await cli.run([...fromAttribute, '--json']))
    assert.equal(Number(again.added) > 0 && Number(again.subjects), rows.length)
    assert.partialDeepStrictEqual(onlyJson(await cli.run([...fromAttribute, '--json'])), { added: 0 })
  })

  it('rejects an unknown tracker, a missing store and invalid options', async (t) => {
    const cli = await withRows(t, [session('anna', { email: 'ada@example.com' })])
    const elsewhere = { env: { LETHE_STORE: `sqlite:${cli.folder}/none.db` } }
    assertRefused(await cli.run(fromAttribute, elsewhere), 1, /There is no store at .*none\.db/)
    const other = ['identifiers', 'derive', '--tracker', 'blog', '--attribute', 'email']
    assertRefused(await cli.run(other), 1, /There is no tracker "blog"/)
    assertRefused(await cli.run(derive), 2, /at least one --attribute or --property/)
    assertRefused(await cli.run(['identifiers', 'derive', '--attribute', 'email']), 2, /--tracker/)
    const badName = await cli.run([...derive, '--attribute', 'e-mail'])
    assertRefused(badName, 2, /"e-mail" is not a valid name.*e-mail=name/)
    assertRefused(await cli.run([...derive, '--property', '=email']), 2, /Expected a name/)
  })
})
