import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { assertRefused, callApi, onlyJson, textOf } from '../support/command-line.ts'
import {
  event,
  eventsOf,
  type Line,
  ndjson,
  recordOf,
  session,
  withShop,
  write,
} from '../support/import-shop.ts'
import { startTestService } from '../support/service.ts'

describe('lethe import', { concurrency: 8 }, () => {
  it('loads files, with a summary for people and one for scripts; a second time adds nothing', async (t) => {
    const cli = await withShop(t)
    await cli.run(['trackers', 'create', '--org', 'acme', '--name', 'Blog', '--id', 'blog'])
    const one = write(cli, 'one.ndjson', ndjson(session(), event(), event({ name: 'purchase' })))
    const two = write(
      cli,
      'two.ndjson',
      ndjson(event({ trackerId: 'blog', subjectId: 'bert', eventId: 'e1' })),
    )
    const args = ['import', '--tracker', 'shop', one, two]
    const counts = { lines: 4, badLines: 0, tooOld: 0, ofErased: 0, rows: 4, dryRun: false, tooOldRows: [] }
    const summary = onlyJson(await cli.run([...args, '--json']))
    assert.deepEqual(summary, { ...counts, subjects: 2, sessions: 2, events: 3 })
    assert.equal((await eventsOf(cli))?.length, 2)
    assert.deepEqual(
      (await eventsOf(cli, 'bert', 'blog'))?.map(({ eventId }) => eventId),
      ['e1'],
    )
    const again = onlyJson(await cli.run([...args, '--json']))
    assert.deepEqual(again, { ...counts, subjects: 0, sessions: 0, events: 0 })
    const { code, stdout, stderr } = await cli.run(args)
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^Read 4 lines \(0 bad\); added 0 subjects, 0 sessions, 0 events\.\n$/)
  })

  it('derives a missing eventId from the content, in whatever order its fields stand', async (t) => {
    const cli = await withShop(t)
    const line = event({ properties: { a: 1, b: { c: [1, 2], d: null } } })
    const turned = Object.fromEntries(Object.entries(line).toReversed())
    const other = event({ properties: { a: 2 } })
    const file = write(cli, 'events.ndjson', ndjson(line, turned, { ...line, trackerId: 'shop' }, other))
    assert.equal(onlyJson(await cli.run(['import', '--tracker', 'shop', '--json', file])).events, 2)
  })

  it('reads Windows line ends, empty lines, and a last line without an end', async (t) => {
    const cli = await withShop(t)
    const text = `${JSON.stringify(session())}\r\n\r\n   \r\n${JSON.stringify(event())}`
    const file = write(cli, 'windows.ndjson', text)
    const summary = onlyJson(await cli.run(['import', '--tracker', 'shop', '--json', '--dry-run', file]))
    assert.partialDeepStrictEqual(summary, { badLines: 0, rows: 2 })
  })

  it('passes over a byte order mark at the start of a file', async (t) => {
    const cli = await withShop(t)
    const file = write(cli, 'marked.ndjson', `\ufeff${ndjson(event())}`)
    const outcome = await cli.run(['import', '--tracker', 'shop', '--json', '--dry-run', file])
    assert.equal(outcome.stderr, '')
    assert.partialDeepStrictEqual(onlyJson(outcome), { badLines: 0, rows: 1 })
  })

  it('takes the Unicode line separators in a text for what they are in JSON: text', async (t) => {
    const cli = await withShop(t)
    const properties = { title: 'one\u2028two\u2029three\u0085four' }
    const file = write(cli, 'separators.ndjson', ndjson(event({ properties })))
    const outcome = await cli.run(['import', '--tracker', 'shop', '--json', file])
    assert.equal(outcome.stderr, '')
    assert.partialDeepStrictEqual(onlyJson(outcome), { lines: 1, badLines: 0, events: 1 })
    assert.deepEqual((await eventsOf(cli))?.[0]?.properties, properties)
  })

  it('reports every bad line with its file, number and reason, stores the others, and fails', async (t) => {
    const cli = await withShop(t)
    const cases: [line: Line | string, reason: RegExp][] = [
      ['{"type":"event"', /not JSON/],
      ['[1]', /not a JSON object/],
      ['null', /not a JSON object/],
      [{ ...event(), type: 'visit' }, /type must be "session" or "event"/],
      [event({ subjectId: undefined }), /subjectId is missing/],
      [event({ subjectId: '' }), /subjectId must be 1 to 256 characters/],
      [event({ subjectId: 7 }), /subjectId must be/],
      [event({ subjectId: 'x'.repeat(257) }), /subjectId must be/],
      [event({ sessionId: 'a\nb' }), /sessionId must be/],
      [event({ name: undefined }), /name is missing/],
      [event({ occurredAt: 'yesterday' }), /occurredAt must be an ISO 8601 instant/],
      [event({ occurredAt: 1_700_000_000 }), /occurredAt must be/],
      [event({ properties: [] }), /properties must be an object/],
      [event({ trackerId: 'nowhere' }), /there is no tracker "nowhere"/],
      [session({ startedAt: undefined, endedAt: undefined }), /startedAt is missing/],
      [session({ endedAt: '2020-01-01T00:00:00Z' }), /endedAt lies before startedAt/],
      [session({ attributes: 'none' }), /attributes must be an object/],
    ]
    const input = ndjson(event(), ...cases.map(([line]) => line), event({ name: 'last' }))
    const file = write(cli, 'mixed.ndjson', input)
    const { code, stdout, stderr } = await cli.run(['import', '--tracker', 'shop', '--json', file])
    assert.equal(code, 1)
    const reported = stderr.trimEnd().split('\n')
    assert.equal(reported.length, cases.length, stderr)
    for (const [index, [, reason]] of cases.entries()) {
      const line = String(reported[index])
      assert.ok(line.startsWith(`${file}:${index + 2}: `), line)
      assert.match(line, reason)
    }
    assert.deepEqual(JSON.parse(stdout), {
      lines: cases.length + 2,
      badLines: cases.length,
      tooOld: 0,
      ofErased: 0,
      rows: 2,
      subjects: 1,
      sessions: 1,
      events: 2,
      dryRun: false,
      tooOldRows: [],
    })
  })

  it('stops at the first bad line with --strict, with nothing of the running batch stored', async (t) => {
    const cli = await withShop(t)
    const input = ndjson(event(), event({ name: 'second' }), '{broken', event({ name: 'fourth' }), '{broken')
    const file = write(cli, 'broken.ndjson', input)
    const strict = await cli.run(['import', '--tracker', 'shop', '--strict', '--json', file])
    assert.equal(strict.code, 1)
    assert.equal(strict.stderr, `${file}:3: not JSON\n`)
    assert.deepEqual(JSON.parse(strict.stdout), {
      lines: 3,
      badLines: 1,
      tooOld: 0,
      ofErased: 0,
      rows: 0,
      subjects: 0,
      sessions: 0,
      events: 0,
      dryRun: false,
      tooOldRows: [],
    })
    assert.equal(await eventsOf(cli), null)
  })

  it('counts what is older than the window, and stores nothing of it', async (t) => {
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
    const asJson = onlyJson(await cli.run(['import', '--tracker', 'shop', '--json', file]))
    assert.deepEqual(asJson.tooOldRows, [
      { orgId: 'acme', plan: 'free', days: 180, rows: 1, oldestAt: old.occurredAt },
    ])
    assert.equal(first.stdout, 'Read 3 lines (0 bad, 1 too old); added 1 subjects, 1 sessions, 1 events.\n')
    await cli.run(['orgs', 'set-plan', 'acme', 'pro'])
    const second = onlyJson(await cli.run(['import', '--tracker', 'shop', '--json', file]))
    assert.partialDeepStrictEqual(second, { tooOld: 0, ofErased: 0, rows: 3, events: 1 })
  })

  it('says that no plan, or no window at all, keeps what is very old', async (t) => {
    const cli = await withShop(t)
    const import1 = async (occurredAt: string) =>
      (
        await cli.run([
          'import',
          '--tracker',
          'shop',
          write(cli, 'old.ndjson', ndjson(event({ occurredAt }))),
        ])
      ).stderr
    assert.match(await import1('1990-01-01T00:00:00Z'), /To keep it: LETHE_RETENTION_DAYS=free=\d{5} for/)
    assert.match(await import1('1890-01-01T00:00:00Z'), /No window is long enough to keep it\.\n$/)
  })

  it('keeps to the windows that are configured', async (t) => {
    const cli = await withShop(t)
    const file = write(cli, 'new.ndjson', ndjson(event()))
    const env = { LETHE_RETENTION_DAYS: 'free=1' }
    const summary = onlyJson(await cli.run(['import', '--tracker', 'shop', '--json', file], { env }))
    assert.partialDeepStrictEqual(summary, { tooOld: 1, ofErased: 0, rows: 0 })
  })

  it('checks everything and stores nothing with --dry-run', async (t) => {
    const cli = await withShop(t)
    const file = write(cli, 'visits.ndjson', ndjson(session(), event(), event({ trackerId: 'nowhere' })))
    const args = ['import', '--tracker', 'shop', '--dry-run', file]
    const { code, stdout, stderr } = await cli.run(args)
    assert.equal(code, 1)
    assert.equal(stderr, `${file}:3: there is no tracker "nowhere"\n`)
    assert.equal(stdout, 'Checked 3 lines (1 bad); 2 would be stored, nothing was.\n')
    const json = await cli.run([...args, '--json'])
    assert.partialDeepStrictEqual(JSON.parse(json.stdout), { rows: 2, events: 0, dryRun: true })
    assert.equal(await eventsOf(cli), null)
  })

  it('reports the first 100 bad lines of a file and counts the others', async (t) => {
    const cli = await withShop(t)
    const one = write(cli, 'one.ndjson', ndjson(...Array.from({ length: 150 }, () => 'bad')))
    const two = write(cli, 'two.ndjson', ndjson(event(), 'bad'))
    const { code, stdout, stderr } = await cli.run(['import', '--tracker', 'shop', '--json', one, two])
    assert.equal(code, 1)
    const reported = stderr.trimEnd().split('\n')
    assert.equal(reported.length, 102)
    assert.equal(reported[99], `${one}:100: not JSON`)
    assert.equal(reported[100], `${one}: further bad lines are counted, not reported`)
    assert.equal(reported[101], `${two}:2: not JSON`)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { lines: 152, badLines: 151, events: 1 })
  })

  it('comes to the same in whatever order and how often lines come, across files and runs', async (t) => {
    const all = Array.from({ length: 40 }, (_, i) =>
      i % 4 === 0
        ? session({ subjectId: `v${i % 3}`, sessionId: `s${i % 5}`, attributes: { i } })
        : event({
            subjectId: `v${i % 3}`,
            sessionId: `s${i % 5}`,
            name: `n${i % 7}`,
            properties: { i: i % 9 },
          }),
    )
    const straight = await withShop(t)
    const whole = write(straight, 'all.ndjson', ndjson(...all))
    await straight.run(['import', '--tracker', 'shop', whole])
    const other = await withShop(t)
    const turned = write(other, 'turned.ndjson', ndjson(...all.slice(10).toReversed()))
    const early = write(other, 'early.ndjson', ndjson(...all.slice(0, 20)))
    await other.run(['import', '--tracker', 'shop', turned])
    await other.run(['import', '--tracker', 'shop', early, turned, early])
    for (const subjectId of ['v0', 'v1', 'v2']) {
      const events = await eventsOf(straight, subjectId)
      assert.notEqual(events?.length, 0)
      assert.deepEqual(await eventsOf(other, subjectId), events)
      assert.deepEqual(await recordOf(other, subjectId), await recordOf(straight, subjectId))
    }
  })

  it('shows how far it is on a screen, for as long as it reads', async (t) => {
    const cli = await withShop(t)
    const pipe = join(cli.folder, 'pipe')
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
    const looks = Promise.withResolvers<void>()
    let count = 0
    const columns = () => {
      // Four times a second: the fifth comes after the first second, when progress is shown.
      if (++count === 5) looks.resolve()
      return 80
    }
    const importing = cli.run(['import', '--tracker', 'shop', pipe], { columns })
    const writer = await open(pipe, 'w')
    await writer.write(ndjson(event()))
    await looks.promise
    await writer.close()
    const { code, stderr, drawn } = await importing
    assert.deepEqual([code, stderr], [0, ''])
    // On a busy machine the first look may come before the line.
    assert.match(drawn[0] ?? '', /^[01] lines {2}\d lines\/s {2}0:\d\d$/)
    assert.equal(drawn.at(-1), '')
  })

  it('hands back its failure, which is not the failure of a command after it', async (t) => {
    const cli = await withShop(t)
    const file = write(cli, 'bad.ndjson', ndjson('{broken'))
    assert.equal((await cli.run(['import', file])).code, 1)
    assert.equal((await cli.run(['orgs', 'list'])).code, 0)
  })

  it('fails with one line that names what cannot be read', async (t) => {
    const cli = await withShop(t)
    const missing = join(cli.folder, 'missing.ndjson')
    assertRefused(await cli.run(['import', missing]), 1, /no such file.*missing\.ndjson/)
    const folder = join(cli.folder, 'a-folder')
    mkdirSync(folder)
    assertRefused(await cli.run(['import', folder, '--json']), 1, /a-folder: it is a folder\./)
  })

  it('looks for every file before it reads the first', async (t) => {
    const cli = await withShop(t)
    const there = write(cli, 'there.ndjson', ndjson(event()))
    const args = ['import', '--tracker', 'shop', there, join(cli.folder, 'missing.ndjson')]
    assertRefused(await cli.run(args), 1, /no such file.*missing\.ndjson/)
    assert.equal(await eventsOf(cli), null)
  })

  it('refuses standard input twice, as wrong usage', async (t) => {
    const cli = await withShop(t)
    assertRefused(await cli.run(['import', '-', '-']), 2, /only once/)
  })

  it('fails with one line for a --tracker there is not, however long the file is', async (t) => {
    const cli = await withShop(t)
    const text = ndjson(event(), event({ name: 'second' }), event({ name: 'third' }))
    const outcome = await cli.run(['import', '--tracker', 'nowhere', write(cli, 'lost.ndjson', text)])
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /^[^\n]*no tracker "nowhere"[^\n]*\n$/)
  })
})

describe('lethe import beside a running server', () => {
  it('lets it answer, and erase, while 25,000 lines are loaded', async (t) => {
    const cli = await withShop(t)
    const early = write(cli, 'early.ndjson', ndjson(event({ subjectId: 'early' })))
    await cli.run(['import', '--tracker', 'shop', early])
    const scopes = ['analytics:view', 'analytics:delete-data']
    const issued = onlyJson(
      await cli.run(['keys', 'create', '--org', 'acme', '--name', 'all', '--json', '--scope', ...scopes]),
    )
    const key = textOf(issued, 'key')
    const env = { LETHE_STORE: `sqlite:${cli.storePath}` }
    const server = await startTestService(t, env, { writesHere: false })
    const subjects = `${server.url}/v1/analytics/trackers/shop/subjects`
    const lines = Array.from({ length: 25_000 }, (_, index) =>
      event({
        subjectId: `visitor-${index % 5_000}`,
        sessionId: `s-${index % 5_000}`,
        eventId: `e-${index}`,
      }),
    )
    const loading = cli.runProgram(['import', '--tracker', 'shop', '--json', '-'], {
      input: ndjson(...lines),
    })
    let isLoading = true
    const loaded = loading.finally(() => {
      isLoading = false
    })

    // The first batch is in: from here on both processes are at work on the store.
    while ((await listCount(`${subjects}?limit=2`, key)) < 2) {
      assert.ok(isLoading, 'loaded before it was seen')
      await pause(10)
    }
    const erasing = callApi(`${subjects}/early`, key, 'DELETE')
    let answered = 0
    let slowestMs = 0
    while (isLoading) {
      await pause(10)
      const startedAt = performance.now()
      assert.equal(await listCount(`${subjects}?limit=20`, key), 20)
      slowestMs = Math.max(slowestMs, performance.now() - startedAt)
      answered++
    }
    const erased = await erasing
    assert.equal(erased.status, 200)
    assert.partialDeepStrictEqual(erased.data, { alreadyErased: false, counts: { events: 1 } })
    assert.partialDeepStrictEqual(onlyJson(await loaded), { badLines: 0, events: 25_000 })
    assert.ok(answered >= 5, `only ${answered} answers while it loaded`)
    assert.ok(slowestMs < 15_000, `an answer took ${Math.round(slowestMs)} ms`)
  })
})

async function listCount(url: string, key: string): Promise<number> {
  const { status, data } = await callApi(url, key)
  assert.equal(status, 200)
  assert.ok(Array.isArray(data.subjects))
  return data.subjects.length
}
