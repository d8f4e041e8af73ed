import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import type { Scope } from '../../src/domain/api-key.ts'
import type { IncomingRow } from '../../src/domain/ingest.ts'
import { assertRefused, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { emptyStore } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { type RemoteShop, startRemoteShop } from '../support/remote-shop.ts'
import { failure, reply, reset, scriptedServer } from '../support/scripted-server.ts'
import { anHourAgo, visit } from '../support/shop.ts'
import { testSecretFile } from '../support/test-keyring.ts'

const attributes = { country: 'DE', browser: 'Firefox' }

const shop = await startRemoteShop({ after })
await shop.ingest(visitorsOf('shop'))

function visitorsOf(trackerId: string): IncomingRow[] {
  const anna = visit('anna', { trackerId, events: 3, attributes })
  const ben = visit('ben', { trackerId, startedAt: anHourAgo + 60_000 })
  return [...anna, ...ben, ...visit('cleo/🦊', { trackerId })]
}

/** A command line in its own folder, with a key to the shop, which these tests only read. */
async function withVisitors(t: TestContext, scopes?: readonly Scope[]) {
  const { key, keyString } = await shop.createKey(shop.organisationId, scopes)
  const cli = commandLine(t)
  const env = { LETHE_URL: shop.url, LETHE_API_KEY: keyString }
  const subjects: RemoteShop['subjects'] = (args, { answers } = {}) =>
    cli.run(['subjects', ...args], { env, ...(answers && { answers, columns: () => 80 }) })
  return { cli, env, key: keyString, keyId: key.id, subjects }
}

/** The same with its own tracker, with the same visitors or others. */
async function withTracker(t: TestContext, { scopes, rows = visitorsOf }: TrackerOptions = {}) {
  const tracker = await shop.createTracker(shop.organisationId)
  await shop.ingest(rows(tracker))
  return { ...(await withVisitors(t, scopes)), tracker }
}

interface TrackerOptions {
  scopes?: readonly Scope[]
  rows?: (trackerId: string) => IncomingRow[]
}

const instant = (ms: number) => new Date(ms).toISOString()

describe('lethe subjects list', { concurrency: true }, () => {
  it('prints a table for people, and one JSON object per line with --json', async (t) => {
    const { subjects } = await withVisitors(t)
    const { code, stdout, stderr } = await subjects(['list', 'shop'])
    assert.deepEqual([code, stderr], [0, ''])
    const [headings, first, , third] = stdout.split('\n')
    assert.match(headings ?? '', /^SUBJECT {2,}FIRST SEEN {2,}LAST SEEN {2,}SESSIONS {2}EVENTS$/)
    assert.match(first ?? '', /^anna {2,}\S+Z {2}\S+Z {2}1 {9}3$/)
    assert.match(third ?? '', /^cleo\/🦊 /)
    const lines = jsonLines((await subjects(['list', 'shop', '--json'])).stdout)
    assert.deepEqual(lines[0], {
      ...{ subjectId: 'anna', firstSeenAt: instant(anHourAgo), lastSeenAt: instant(anHourAgo + 2_000) },
      counts: { sessions: 1, events: 3 },
    })
  })

  it('sorts and filters', async (t) => {
    const { subjects } = await withVisitors(t)
    const ids = async (...args: string[]) =>
      jsonLines((await subjects(['list', 'shop', '--json', ...args])).stdout).map((each) => each.subjectId)
    assert.deepEqual(await ids('--sort', '-lastSeenAt'), ['ben', 'anna', 'cleo/🦊'])
    assert.deepEqual(await ids('--prefix', 'cleo/'), ['cleo/🦊'])
    assert.deepEqual(await ids('--seen-after', instant(anHourAgo + 3_000)), ['ben'])
    assert.deepEqual(await ids('--seen-before', instant(anHourAgo + 1_000)), ['cleo/🦊'])
  })

  it('stops at a limit and says so, or reads all pages', async (t) => {
    const names = Array.from({ length: 410 }, (_, number) => `v${String(number).padStart(3, '0')}`)
    const rows = (trackerId: string) => names.flatMap((id) => visit(id, { trackerId }))
    const { subjects, tracker } = await withTracker(t, { rows })
    const more = 'More results exist. Use a larger --limit, or --limit all.\n'
    const usual = await subjects(['list', tracker, '--json'])
    assert.deepEqual([jsonLines(usual.stdout).length, usual.stderr], [50, more])
    const some = await subjects(['list', tracker, '--json', '--limit', '250'])
    assert.deepEqual([jsonLines(some.stdout).length, some.stderr], [250, more])
    const exact = await subjects(['list', tracker, '--json', '--limit', '410'])
    assert.deepEqual([jsonLines(exact.stdout).length, exact.stderr], [410, ''])
    const all = await subjects(['list', tracker, '--limit', 'all'])
    assert.deepEqual([all.stdout.split('\n').length, all.stderr], [412, ''])
    assert.equal(all.stdout.match(/SUBJECT/g)?.length, 1)
  })

  it('prints the problem if the service rejects a combination of parameters', async (t) => {
    const { subjects } = await withVisitors(t)
    const args = ['list', 'shop', '--prefix', 'a', '--sort', 'lastSeenAt']
    assertRefused(await subjects(args), 1, /subjectIdPrefix/)
  })

  it('rejects invalid options as usage errors', async (t) => {
    const { subjects } = await withVisitors(t)
    for (const limit of ['0', '-1', '1.5', 'many']) {
      assertRefused(
        await subjects(['list', 'shop', `--limit=${limit}`]),
        2,
        /whole number of at least 1, or all/,
      )
    }
    assertRefused(await subjects(['list', 'shop', '--seen-after', 'yesterday']), 2, /ISO 8601/)
    assertRefused(await subjects(['list', 'shop', '--sort', 'name']), 2, /Allowed choices/)
    assertRefused(await subjects(['list', '..']), 2, /An ID has 1 to 256 characters/)
  })
})

describe('lethe subjects show', { concurrency: true }, () => {
  it('prints a record with one field per line, or as JSON', async (t) => {
    const { subjects } = await withVisitors(t)
    const { stdout } = await subjects(['show', 'shop', 'anna'])
    assert.equal(
      stdout,
      [
        'Subject     anna',
        'Tracker     shop',
        `First seen  ${instant(anHourAgo)}`,
        `Last seen   ${instant(anHourAgo + 2_000)}`,
        'Sessions    1',
        'Events      3',
        'country     DE',
        'browser     Firefox\n',
      ].join('\n'),
    )
    const record = onlyJson(await subjects(['show', 'shop', 'anna', '--json']))
    assert.partialDeepStrictEqual(record, { trackerId: 'shop', subjectId: 'anna', attributes })
  })

  it('escapes control characters in the data of visitors', async (t) => {
    const odd = { '\u001b[2J': '\u001b]0;title\u0007', name: 'abc\u202e', deep: { '\u009b': '\u009b' } }
    const rows = (trackerId: string) => visit('evil\u202e', { trackerId, attributes: odd })
    const { subjects, tracker } = await withTracker(t, { rows })
    for (const args of [
      ['show', tracker, 'evil\u202e'],
      ['list', tracker],
    ]) {
      const { stdout } = await subjects(args)
      assert.doesNotMatch(stdout.replaceAll('\n', ''), /[\p{Cc}\u202e]/u)
      assert.match(stdout, /evil\\u202e/)
    }
  })
})

describe('lethe subjects export', { concurrency: true }, () => {
  it('writes the export to standard output, as JSON or with one entry per line', async (t) => {
    const { subjects } = await withVisitors(t)
    const whole = onlyJsonText((await subjects(['export', 'shop', 'anna'])).stdout)
    assert.partialDeepStrictEqual(whole, { subject: { subjectId: 'anna' }, sessions: [{ sessionId: 's1' }] })
    assert.equal(whole.events.length, 3)
    const { stdout, stderr } = await subjects(['export', 'shop', 'anna', '--format', 'ndjson'])
    assert.deepEqual(
      jsonLines(stdout).map(({ type }) => type),
      ['subject', 'session', 'event', 'event', 'event'],
    )
    assert.equal(stderr, '')
  })

  it('writes lines that an import accepts, with the same result in another store', async (t) => {
    const odd = 'a/b "c" \u{1f98a}'
    const { subjects, cli, tracker } = await withTracker(t, {
      rows: (trackerId) => [
        ...visit(odd, { trackerId, events: 3, attributes: { country: 'DE', 'x.y': [1, null] } }),
        ...visit(odd, {
          ...{ trackerId, sessionId: 's2', events: 0 },
          ...{ startedAt: anHourAgo - 60_000, attributes: { os: 'BeOS' } },
        }),
      ],
    })
    const file = join(cli.folder, 'odd.ndjson')
    await subjects(['export', tracker, odd, '--format', 'ndjson', '--output', file])
    const original = (await subjects(['export', tracker, odd])).stdout

    const lifetime = inReverse(t)
    const env = { LETHE_STORE: await emptyStore(lifetime), LETHE_SECRET_FILE: testSecretFile() }
    const other = await startRemoteShop(lifetime, { env })
    await other.createTracker(other.organisationId, tracker)
    const imported = onlyJson(await cli.run(['import', file, '--json'], { env }))
    assert.partialDeepStrictEqual(imported, { lines: 6, badLines: 0, subjects: 1, sessions: 2, events: 3 })
    assert.equal((await other.subjects(['export', tracker, odd])).stdout, original)
    const back = await other.subjects(['export', tracker, odd, '--format', 'ndjson'])
    assert.equal(back.stdout, readFileSync(file, 'utf8'))
  })

  it('writes a private file and prints its size', async (t) => {
    const { subjects, cli } = await withVisitors(t)
    const file = join(cli.folder, 'anna.json')
    const { code, stdout } = await subjects(['export', 'shop', 'anna', '--output', file])
    assert.deepEqual([code, stdout], [0, `Wrote ${file} (0.8 kB).\n`])
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(onlyJsonText(readFileSync(file, 'utf8')).events.length, 3)
    const other = join(cli.folder, 'anna.ndjson')
    const args = ['export', 'shop', 'anna', '--output', other, '--format', 'ndjson', '--json']
    assert.deepEqual(onlyJson(await subjects(args)), { file: other, bytes: statSync(other).size })
    assert.deepEqual(readdirSync(cli.folder).sort(), ['anna.json', 'anna.ndjson'])
  })

  it('leaves an existing file unchanged', async (t) => {
    const { subjects, cli } = await withVisitors(t)
    const file = join(cli.folder, 'precious')
    writeFileSync(file, 'precious')
    assertRefused(await subjects(['export', 'shop', 'anna', '--output', file]), 1, /already exists/)
    assert.equal(readFileSync(file, 'utf8'), 'precious')
  })

  it('writes nothing if it cannot write everything', async (t) => {
    const { subjects, cli, key } = await withVisitors(t)
    const file = join(cli.folder, 'nobody.json')
    assertRefused(await subjects(['export', 'shop', 'nobody', '--output', file]), 1, /does not exist/)
    assertRefused(await subjects(['export', 'shop', 'nobody']), 1, /does not exist/)
    const half = '{"data":{"trackerId":"shop","subjectId":"anna","sessions":[{"sessionId":"s"}'
    for (const args of [[], ['--output', file]]) {
      const { url } = await scriptedServer(t, reply(200, half))
      const env = { LETHE_URL: url, LETHE_API_KEY: key }
      const outcome = await cli.run(['subjects', 'export', 'shop', 'anna', ...args], { env })
      assertRefused(outcome, 1, /is incomplete|does not match the API/)
    }
    assert.deepEqual(readdirSync(cli.folder), [])
  })

  it('writes nothing if it is stopped by a signal', async (t) => {
    const { cli, key } = await withVisitors(t)
    let asked = () => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const { url } = await scriptedServer(t, () => asked())
    const env = { LETHE_URL: url, LETHE_API_KEY: key }
    const program = cli.startProgram(['subjects', 'export', 'shop', 'anna', '--output', 'a.json'], env)
    await isAsked
    program.kill('SIGINT')
    const outcome = await program.ended
    assertRefused(outcome, 1, /Stopped by SIGINT; nothing was written/)
    assert.deepEqual(readdirSync(cli.folder), [])
  })
})

function onlyJsonText(text: string): { subject: object; sessions: object[]; events: object[] } {
  return JSON.parse(text)
}

describe('lethe subjects erase', { concurrency: true }, () => {
  it('shows what it will erase, requires the ID typed, and reports what it erased', async (t) => {
    const { subjects, tracker } = await withTracker(t)
    const { code, stdout, stderr, asked } = await subjects(['erase', tracker, 'anna'], { answers: ['anna'] })
    assert.deepEqual([code, stdout], [0, 'Erased anna: 1 session and 3 events.\n'])
    assert.match(stderr, /^Subject {5}anna\n(.*\n)*Events {6}3\n/)
    assert.deepEqual(asked, ['This cannot be undone. Type the ID of the data subject to erase it: '])
    assertRefused(await subjects(['show', tracker, 'anna']), 1, /does not exist/)
  })

  it('erases nothing if something else is typed', async (t) => {
    const { subjects } = await withVisitors(t)
    const outcome = await subjects(['erase', 'shop', 'anna'], { answers: ['yes'] })
    assert.equal(outcome.code, 1)
    assert.match(outcome.stderr, /error: Not confirmed\. Nothing was erased\.\n$/)
    assert.equal((await subjects(['show', 'shop', 'anna'])).code, 0)
  })

  it('without --yes is a usage error in a script, and sends no request', async (t) => {
    const { cli, key } = await withVisitors(t)
    const { url, requests } = await scriptedServer(t, reset)
    const env = { LETHE_URL: url, LETHE_API_KEY: key }
    assertRefused(await cli.run(['subjects', 'erase', 'shop', 'anna'], { env }), 2, /--yes is missing/)
    assert.deepEqual(requests, [])
  })

  it('does not ask with --yes, and says if there was nothing to erase', async (t) => {
    const { subjects, tracker } = await withTracker(t, { scopes: ['analytics:delete-data'] })
    const first = onlyJson(await subjects(['erase', tracker, 'anna', '--yes', '--json']))
    assert.partialDeepStrictEqual(first, {
      ...{ subjectId: 'anna', alreadyErased: false, countsKnown: true },
      counts: { sessions: 1, events: 3 },
    })
    const again = await subjects(['erase', tracker, 'anna', '--yes'])
    assert.equal(again.stdout, 'anna had no data: already erased, expired, or never seen.\n')
  })

  it('asks even if there is nothing, or nothing that the key may read', async (t) => {
    const seeing = await withVisitors(t)
    const absent = await seeing.subjects(['erase', 'shop', 'nobody'], { answers: ['nobody'] })
    assert.match(absent.stderr, /^This data subject has no data\.\n$/)
    const blind = await withTracker(t, { scopes: ['analytics:delete-data'] })
    const unseen = await blind.subjects(['erase', blind.tracker, 'anna'], { answers: ['anna'] })
    assert.match(unseen.stderr, /^The data cannot be shown, because this key can erase but not read\.\n$/)
    assert.match(unseen.stdout, /^Erased anna/)
  })

  it('erases nothing with --dry-run', async (t) => {
    const { subjects } = await withVisitors(t, ['analytics:view'])
    const { stdout } = await subjects(['erase', 'shop', 'anna', '--dry-run'])
    assert.match(stdout, /Events {6}3\n(.*\n)*Nothing was erased\.\n$/)
    assert.deepEqual(onlyJson(await subjects(['erase', 'shop', 'anna', '--dry-run', '--json'])), {
      ...{ trackerId: 'shop', subjectId: 'anna', counts: { sessions: 1, events: 3 }, dryRun: true },
    })
  })

  it('requires one data subject or one file, as a usage error', async (t) => {
    const { subjects } = await withVisitors(t)
    assertRefused(await subjects(['erase', 'shop']), 2, /either one data subject or --from-file/)
    assertRefused(await subjects(['erase', 'shop', 'anna', '--from-file', 'x']), 2, /either one/)
    assertRefused(await subjects(['erase', 'shop', '..']), 2, /An ID has/)
  })
})

describe('errors say what to do:', { concurrency: true }, () => {
  const list = ['subjects', 'list', 'shop']

  it('no address or no key, as a usage error', async (t) => {
    const { cli, env } = await withVisitors(t)
    const { LETHE_URL, LETHE_API_KEY } = env
    assertRefused(await cli.run(list, { env: { LETHE_API_KEY } }), 2, /LETHE_URL is not set\. Set it/)
    assertRefused(await cli.run(list, { env: { LETHE_URL } }), 2, /LETHE_API_KEY is not set\. Set it/)
    assertRefused(
      await cli.run(list, { env: { ...env, LETHE_URL: 'shop.example' } }),
      2,
      /LETHE_URL is a value that is not shown.*http or https address/,
    )
    const damaged = await cli.run(list, { env: { ...env, LETHE_API_KEY: `${LETHE_API_KEY}x` } })
    assertRefused(damaged, 2, /LETHE_API_KEY is a value that is not shown.* it accepts the complete string/)
    assert.equal(damaged.stderr.includes(LETHE_API_KEY), false)
  })

  it('nothing is listening', async (t) => {
    const closed = await startRemoteShop(t)
    await closed.stop()
    assertRefused(
      await closed.subjects(['list', 'shop']),
      1,
      /No service is listening at http:.*lethe serve.*LETHE_URL/,
    )
  })

  it('the key is revoked, lacks a scope, or cannot see the tracker', async (t) => {
    const { subjects, keyId } = await withVisitors(t)
    assertRefused(await subjects(['list', 'nowhere']), 1, /does not exist.*Check the IDs/)
    const blind = await withVisitors(t, ['analytics:delete-data'])
    assertRefused(await blind.subjects(['list', 'shop']), 1, /analytics:view.*LETHE_API_KEY.*keys create/)
    await shop.services.apiKeys.revoke(keyId, Date.now())
    assertRefused(await subjects(['list', 'shop']), 1, /The key in LETHE_API_KEY is unknown.*keys list/)
  })

  const oddities: [what: string, behaviour: string, reason: RegExp][] = [
    [
      'something else answers',
      reply(200, '<html>', { headers: { 'Content-Type': 'text/html' } }),
      /not from Lethe.*LETHE_URL/,
    ],
    ['it redirects', reply(301, '', { headers: { Location: 'https://x.example' } }), /redirects.*LETHE_URL/],
    [
      'the budget is used up for long',
      failure(429, 'rate_limited', { 'Retry-After': '3000' }),
      /Try again in 50 minutes\.$/m,
    ],
  ]
  for (const [what, behaviour, reason] of oddities) {
    it(what, async (t) => {
      const { cli, env } = await withVisitors(t)
      const { url } = await scriptedServer(t, behaviour)
      assertRefused(await cli.run(list, { env: { ...env, LETHE_URL: url } }), 1, reason)
    })
  }

  it('the service fails repeatedly', async (t) => {
    const { cli, env } = await withVisitors(t)
    const { url, requests } = await scriptedServer(t, failure(500, 'internal_error'))
    assertRefused(
      await cli.run(list, { env: { ...env, LETHE_URL: url } }),
      1,
      /request ID of-the-server in its log/,
    )
    assert.equal(requests.length, 5)
  })
})
