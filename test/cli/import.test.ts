import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertRefused, onlyJson } from '../support/command-line.ts'
import { event, eventsOf, ndjson, session, withShop, write } from '../support/import-shop.ts'

describe('lethe import', { concurrency: 8 }, () => {
  it('imports files, with a summary for people or as JSON; a second import adds nothing', async (t) => {
    const cli = await withShop(t)
    await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Blog', '--id', 'blog'])
    const one = write(cli, 'one.ndjson', ndjson(session(), event(), event({ name: 'purchase' })))
    const two = write(
      cli,
      'two.ndjson',
      ndjson(event({ trackerId: 'blog', subjectId: 'bert', eventId: 'e1' })),
    )
    const args = ['import', '--tracker', 'shop', one, two]
    const counts = { lines: 4, badLines: 0, tooOld: 0, ofErased: 0, rows: 4, unchanged: 0 }
    const others = { dryRun: false, tooOldRows: [] }
    const summary = onlyJson(await cli.run([...args, '--json']))
    assert.deepEqual(summary, { ...counts, ...others, subjects: 2, sessions: 2, events: 3 })
    assert.equal((await eventsOf(cli))?.length, 2)
    assert.deepEqual(
      (await eventsOf(cli, 'bert', 'blog'))?.map(({ eventId }) => eventId),
      ['e1'],
    )
    const { code, stdout, stderr } = await cli.run(args)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^Read 4 lines \(0 bad\); added 0 subjects, 0 sessions, 0 events\.\n$/)
  })

  it('reads a byte order mark, CRLF line endings, empty lines, and a last line without a line ending', async (t) => {
    const cli = await withShop(t)
    const text = `\ufeff${JSON.stringify(session())}\r\n\r\n   \r\n${JSON.stringify(event())}`
    const file = write(cli, 'windows.ndjson', text)
    const outcome = await cli.run(['import', '--tracker', 'shop', '--json', '--dry-run', file])
    assert.equal(outcome.stderr, '')
    assert.partialDeepStrictEqual(onlyJson(outcome), { badLines: 0, rows: 2 })
  })

  it('reports the first 100 bad lines of a file, counts the others, stores the good ones, and fails', async (t) => {
    const cli = await withShop(t)
    const bad = Array.from({ length: 149 }, () => 'bad')
    const one = write(cli, 'one.ndjson', ndjson(event(), event({ subjectId: '' }), ...bad))
    const two = write(cli, 'two.ndjson', ndjson(event({ name: 'last' }), 'bad'))
    const { code, stdout, stderr } = await cli.run(['import', '--tracker', 'shop', '--json', one, two])
    assert.equal(code, 1)
    const reported = stderr.trimEnd().split('\n')
    assert.equal(reported.length, 102)
    assert.match(String(reported[0]), /one\.ndjson:2: subjectId must be 1 to 256 characters/)
    assert.equal(reported[99], `${one}:101: not JSON`)
    assert.equal(reported[100], `${one}: further bad lines are counted but not reported`)
    assert.equal(reported[101], `${two}:2: not JSON`)
    const counts = { lines: 153, badLines: 151, tooOld: 0, ofErased: 0, rows: 2, unchanged: 0 }
    const added = { subjects: 1, sessions: 1, events: 2 }
    assert.deepEqual(JSON.parse(stdout), { ...counts, ...added, dryRun: false, tooOldRows: [] })
    assert.equal((await cli.run(['orgs', 'list'])).code, 0, 'its failure is not that of a command after it')
  })

  it('counts and skips data that is older than the window', async (t) => {
    const cli = await withShop(t)
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const old = event({ name: 'old', occurredAt: daysAgo(181) })
    const file = write(cli, 'old.ndjson', ndjson(old, session({ startedAt: daysAgo(190) }), event()))
    const first = await cli.run(['import', '--tracker', 'shop', file])
    assert.equal(first.code, 0)
    assert.equal(
      first.stderr,
      '1 line is older than the 180 days that the plan free keeps, and was not stored. To keep it: lethe orgs set-plan acme starter, or LETHE_RETENTION_DAYS=free=183 for every command and the service; then import again.\n',
    )
    assert.equal(first.stdout, 'Read 3 lines (0 bad, 1 too old); added 1 subject, 1 session, 1 event.\n')
    assert.deepEqual(
      (await eventsOf(cli))?.map(({ name }) => name),
      ['pageview'],
    )
  })

  it('says which window would keep the data, or that none would', async (t) => {
    const cli = await withShop(t)
    const told = async (occurredAt: string) => {
      const file = write(cli, 'old.ndjson', ndjson(event({ occurredAt })))
      return (await cli.run(['import', '--tracker', 'shop', '--dry-run', file])).stderr
    }
    assert.match(await told('1990-01-01T00:00:00Z'), /To keep it: LETHE_RETENTION_DAYS=free=\d{5} for/)
    assert.match(await told('1890-01-01T00:00:00Z'), /No window is long enough to keep it\.\n$/)
  })

  it('applies the configured windows', async (t) => {
    const cli = await withShop(t)
    const line = event()
    const file = write(cli, 'new.ndjson', ndjson(line))
    const args = ['import', '--tracker', 'shop', '--json', '--dry-run', file]
    const summary = onlyJson(await cli.run(args, { env: { LETHE_RETENTION_DAYS: 'free=1' } }))
    assert.partialDeepStrictEqual(summary, { tooOld: 1, ofErased: 0, rows: 0 })
    assert.deepEqual(summary.tooOldRows, [
      { orgId: 'acme', plan: 'free', days: 1, rows: 1, oldestAt: line.occurredAt },
    ])
  })

  it('checks all lines and stores nothing with --dry-run', async (t) => {
    const cli = await withShop(t)
    const file = write(cli, 'visits.ndjson', ndjson(session(), event(), event({ trackerId: 'nowhere' })))
    const args = ['import', '--tracker', 'shop', '--dry-run', file]
    const { code, stdout, stderr } = await cli.run(args)
    assert.equal(code, 1)
    assert.equal(stderr, `${file}:3: there is no tracker "nowhere"\n`)
    assert.equal(stdout, 'Checked 3 lines (1 bad); 2 would be stored. Nothing was stored.\n')
    const json = await cli.run([...args, '--json'])
    assert.partialDeepStrictEqual(JSON.parse(json.stdout), { rows: 2, events: 0, dryRun: true })
    assert.equal(await eventsOf(cli), null)
  })

  it('shows progress on a terminal while it reads', async (t) => {
    const cli = await withShop(t)
    const pipe = join(cli.folder, 'pipe')
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
    const looks = Promise.withResolvers<void>()
    let count = 0
    const columns = () => {
      // Four times a second: progress is shown after the first second, with the fifth look.
      if (++count === 5) looks.resolve()
      return 80
    }
    const importing = cli.run(['import', '--tracker', 'shop', '--dry-run', pipe], { columns })
    const writer = await open(pipe, 'w')
    await writer.write(ndjson(event()))
    await looks.promise
    await writer.close()
    const { code, stderr, drawn } = await importing
    assert.deepEqual([code, stderr], [0, ''])
    // On a busy machine, the first look may come before the line.
    assert.match(drawn[0] ?? '', /^[01] lines {2}\d lines\/s {2}0:\d\d$/)
    assert.equal(drawn.at(-1), '')
  })

  it('fails with one line that names an unreadable file', async (t) => {
    const cli = await withShop(t)
    const missing = join(cli.folder, 'missing.ndjson')
    assertRefused(await cli.run(['import', missing]), 1, /no such file.*missing\.ndjson/)
    const folder = join(cli.folder, 'a-folder')
    mkdirSync(folder)
    assertRefused(await cli.run(['import', folder, '--json']), 1, /a-folder: it is a folder\./)
  })

  it('checks that every file exists before it reads the first', async (t) => {
    const cli = await withShop(t)
    const there = write(cli, 'there.ndjson', ndjson(event()))
    const args = ['import', '--tracker', 'shop', there, join(cli.folder, 'missing.ndjson')]
    assertRefused(await cli.run(args), 1, /no such file.*missing\.ndjson/)
    assert.equal(await eventsOf(cli), null)
  })

  it('rejects repeated standard input as a usage error', async (t) => {
    const cli = await withShop(t)
    assertRefused(await cli.run(['import', '-', '-']), 2, /only once/)
  })

  it('fails with one line for an unknown --tracker, for a file of any length', async (t) => {
    const cli = await withShop(t)
    const text = ndjson(event(), event({ name: 'second' }), event({ name: 'third' }))
    const outcome = await cli.run(['import', '--tracker', 'nowhere', write(cli, 'lost.ndjson', text)])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^[^\n]*no tracker "nowhere"[^\n]*\n$/)
  })
})
