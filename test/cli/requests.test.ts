import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { textIn } from '../support/answers.ts'
import { assertRefused, jsonLines, onlyJson, textOf } from '../support/command-line.ts'
import { startRemoteShop } from '../support/remote-shop.ts'
import { failure, reply, scriptedServer, success } from '../support/scripted-server.ts'
import { visit } from '../support/shop.ts'
import { fileIn, readZip } from '../support/zip.ts'

const ada = 'email=ada@example.com'
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/

/** A person with three subjects on two trackers, and another person. */
async function withAda(t: TestContext, env: Record<string, string> = {}) {
  const shop = await startRemoteShop(t, { env })
  await shop.createTracker(shop.organisationId, 'blog')
  const known = (subjectId: string, trackerId: string, email: string) =>
    visit(subjectId, { trackerId, events: 2, identifiers: { email } })
  await shop.ingest([
    ...known('anna', 'shop', 'ada@example.com'),
    ...known('a/b', 'shop', 'ada@example.com'),
    ...known('reader', 'blog', 'ada@example.com'),
    ...known('ben', 'shop', 'ben@example.com'),
  ])
  /** Creates a request and returns its ID. */
  const create = async (kind: 'access' | 'erasure', ...more: string[]) =>
    textOf(onlyJson(await shop.requests(['create', kind, '--by', ada, ...more, '--json'])), 'requestId')
  const held = async () => jsonLines((await shop.subjects(['find', ada, '--json'])).stdout).length
  return { ...shop, create, held }
}

describe('lethe requests create', { concurrency: true }, () => {
  it('prints what was found and the due date, or one JSON object', async (t) => {
    const { requests } = await withAda(t)
    const { code, stdout } = await requests(['create', 'erasure', '--by', ada, '--reference', 'ticket 1'])
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^Created the erasure request \S+, due \S+Z\.\nFound 3 subjects with 3 sessions and 6 events\.\n$/,
    )
    const again = onlyJson(await requests(['create', 'access', '--by', ada, '--json']))
    assert.partialDeepStrictEqual(again, { kind: 'access', state: 'open', found: { subjects: 3 } })
  })

  it('accepts several identifiers, data subjects of a tracker, and a date in the past', async (t) => {
    const { requests } = await withAda(t)
    const receivedAt = new Date(Date.now() - 86_400_000).toISOString()
    const created = onlyJson(
      await requests([
        ...[
          'create',
          'access',
          '--by',
          ada,
          'email=b@example.com',
          '--tracker',
          'shop',
          '--subject',
          'ben',
          'x',
        ],
        ...['--received-at', receivedAt, '--json'],
      ]),
    )
    assert.partialDeepStrictEqual(created, {
      receivedAt,
      found: { subjects: 4 },
      person: {
        identifiers: [
          { name: 'email', value: 'ada@example.com' },
          { name: 'email', value: 'b@example.com' },
        ],
        subjects: [
          { trackerId: 'shop', subjectId: 'ben' },
          { trackerId: 'shop', subjectId: 'x' },
        ],
      },
    })
  })

  it('creates a request with a chosen ID once', async (t) => {
    const { requests } = await withAda(t)
    const id = '0d2c8a54-3f0e-4f5b-8f55-2f1f6f1f2b7c'
    const args = ['create', 'access', '--by', ada, '--id', id]
    await requests(args)
    assert.equal((await requests(args)).code, 0)
    assert.equal(jsonLines((await requests(['list', '--json'])).stdout).length, 1)
    assertRefused(await requests([...args, '--reference', 'x']), 1, /requestId/)
    await requests(['cancel', id])
    assert.equal((await requests(args)).stdout, `The access request ${id} exists already and is cancelled.\n`)
  })

  it('rejects an invalid person as a usage error', async (t) => {
    const { requests } = await withAda(t)
    const refusals: [args: string[], reason: RegExp][] = [
      [[], /Specify the person/],
      [['--subject', 'anna'], /--subject and --tracker together/],
      [['--tracker', 'shop'], /Specify the person/],
      [['--tracker', 'shop', '--by', ada], /--subject and --tracker together/],
      [['--by', 'ada@example.com'], /name=value/],
      [['--by', ada, '--received-at', 'yesterday'], /ISO 8601/],
      [['--by', ada, '--reference', ' '], /Expected a text/],
    ]
    for (const [args, reason] of refusals)
      assertRefused(await requests(['create', 'access', ...args]), 2, reason)
    assertRefused(
      await requests(['create', 'deletion', '--by', ada]),
      2,
      /Allowed choices are access, erasure/,
    )
    assert.equal((await requests(['list', '--json'])).stdout, '')
  })

  it('names a missing scope', async (t) => {
    const { cli, url } = await withAda(t)
    const weak = await startRemoteShop(t, { scopes: ['analytics:view'] })
    assertRefused(await weak.requests(['create', 'access', '--by', ada]), 1, /analytics:manage-requests/)
    const env = { LETHE_URL: url, LETHE_API_KEY: '' }
    assertRefused(await cli.run(['requests', 'list'], { env }), 2, /LETHE_API_KEY is not set/)
  })
})

describe('lethe requests list and show', { concurrency: true }, () => {
  it('list prints a table or JSON, filtered by state and kind, and says if there are more', async (t) => {
    const { requests, create } = await withAda(t)
    const access = await create('access', '--reference', 'ticket 1')
    const erasure = await create('erasure', '--received-at', new Date(Date.now() - 86_400_000).toISOString())
    const { stdout } = await requests(['list'])
    const [headings, ...lines] = stdout.trimEnd().split('\n')
    assert.match(headings ?? '', /^REQUEST {2,}KIND {2,}STATE {2,}DUE {2,}REFERENCE$/)
    assert.deepEqual(
      lines.map((line) => uuid.exec(line)?.[0]),
      [erasure, access],
    )
    assert.match(lines[1] ?? '', / access {3}open {7}\S+Z {2}ticket 1$/)
    const ids = async (...args: string[]) =>
      jsonLines((await requests(['list', ...args, '--json'])).stdout).map(({ requestId }) => requestId)
    assert.deepEqual(await ids('--kind', 'access'), [access])
    assert.deepEqual(await ids('--state', 'done'), [])
    assert.deepEqual(await ids('--due-before', '2020-01-01T00:00:00Z'), [])
    const some = await requests(['list', '--limit', '1'])
    assert.equal(some.stdout.trimEnd().split('\n').length, 2)
    assert.match(some.stderr, /^More results exist/)
  })

  it('show prints the person until the request is closed', async (t) => {
    const { requests, create } = await withAda(t)
    const id = await create('access', '--reference', 'ticket 1')
    const { stdout } = await requests(['show', id])
    assert.match(stdout, /^Identifier email {2}ada@example\.com$/m)
    assert.match(stdout, /^Found {13}3 subjects with 3 sessions and 6 events$/m)
    assert.doesNotMatch(stdout, /Erased|Closed|Resumes/)
    const { stdout: closed } = await requests(['close', id])
    assert.equal(closed, `Closed ${id}. The service no longer knows whom it was about.\n`)
    const after = await requests(['show', id])
    assert.match(after.stdout, /^State {6}done$/m)
    assert.doesNotMatch(after.stdout, /ada@|example/)
    assert.partialDeepStrictEqual(onlyJson(await requests(['show', id, '--json'])), { person: null })
  })

  it('show says where to look if there is no such request', async (t) => {
    const { requests } = await withAda(t)
    const id = '00000000-0000-4000-8000-000000000000'
    for (const args of [
      ['show', id],
      ['cancel', id],
      ['erase', id, '--yes'],
      ['certificate', id],
    ])
      assertRefused(await requests(args), 1, /lethe requests list shows the requests/)
    assert.partialDeepStrictEqual(jsonLines((await requests(['show', id, '--json'])).stdout)[0], {
      error: { code: 'not_found' },
    })
  })
})

describe('lethe requests extend, reject, cancel and close', { concurrency: true }, () => {
  it('change the request once, and otherwise explain the problem', async (t) => {
    const { requests, create } = await withAda(t)
    const id = await create('access')
    assert.match(
      (await requests(['extend', id, '--reason', 'many'])).stdout,
      new RegExp(`^Extended ${id}\\. It is now due \\S+Z\\.\n$`),
    )
    assertRefused(await requests(['extend', id, '--reason', 'more']), 1, /extended once/)
    assertRefused(await requests(['extend', id]), 2, /--reason/)
    const rejected = onlyJson(await requests(['reject', id, '--reason', 'unknown', '--json']))
    assert.partialDeepStrictEqual(rejected, { state: 'rejected', reason: 'unknown', person: null })
    for (const command of ['cancel', 'close'])
      assertRefused(await requests([command, id]), 1, /this request is closed/)
  })
})

describe('lethe requests erase', { concurrency: true }, () => {
  it('shows the request, requires the number typed, and erases everything', async (t) => {
    const { requests, create, held, subjects } = await withAda(t)
    const id = await create('erasure')
    const wrong = await requests(['erase', id], { answers: ['yes'] })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /Not confirmed\. Nothing was erased/)
    assertRefused(
      await requests(['erase', id]).then((each) => ({ ...each, stderr: lastLines(each.stderr) })),
      2,
      /--yes is missing/,
    )
    assert.equal(await held(), 3)
    const { code, stdout, stderr, asked } = await requests(['erase', id], { answers: ['3'] })
    assert.deepEqual([code, stdout], [0, 'Erased 3 subjects: 3 sessions and 6 events.\n'])
    assert.match(stderr, /^Found {13}3 subjects/m)
    assert.deepEqual(asked, ['This cannot be undone. Type the number of data subjects, 3, to erase them: '])
    assert.equal(await held(), 0)
    assert.equal(jsonLines((await subjects(['find', 'email=ben@example.com', '--json'])).stdout).length, 1)
    // Repeated as after a lost response.
    const again = onlyJson(await requests(['erase', id, '--yes', '--json']))
    assert.partialDeepStrictEqual(again, { state: 'done', erased: { subjects: 3, sessions: 3, events: 6 } })
  })

  it('says that there was nothing to erase, and where the proof is', async (t) => {
    const { requests } = await withAda(t)
    const args = ['create', 'erasure', '--by', 'email=nobody@example.com', '--json']
    const { requestId } = onlyJson(await requests(args))
    const { stdout } = await requests(['erase', String(requestId), '--yes'])
    const proof = `lethe requests certificate ${requestId} shows what the ledger proves.`
    assert.equal(stdout, `There was nothing to erase. ${proof}\n`)
  })

  it('waits for the budget and says until when; a signal ends only the wait', async (t) => {
    const { requests, create, cli, env } = await withAda(t, { LETHE_LIMIT_ERASURE: '1/hour' })
    const id = await create('erasure')
    const program = cli.startProgram(['requests', 'erase', id, '--yes', '--json'], env)
    await program.waitFor('stderr', /budget for erasures is used up\. The service continues at \S+Z\.\n/)
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.deepEqual(Object.keys(jsonLines(stdout)[0] ?? {}), ['error'])
    assert.match(
      stderr,
      new RegExp(`Stopped waiting by SIGINT\\. The service continues.*lethe requests show ${id}`),
    )
    const shown = onlyJson(await requests(['show', id, '--json']))
    assert.partialDeepStrictEqual(shown, { state: 'running', erased: { subjects: 1 } })
  })

  it('only starts the erasure with --no-wait', async (t) => {
    const { requests, create } = await withAda(t, { LETHE_LIMIT_ERASURE: '1/hour' })
    const id = await create('erasure')
    const started = await requests(['erase', id, '--yes', '--no-wait'])
    assert.equal(started.code, 0)
    assert.match(started.stdout, /^The service erases the data\. lethe requests show /)
    await requests(['cancel', id])
    assertRefused(await requests(['erase', id, '--yes']), 1, /this request is closed/)
  })

  it('exits with 1 if the request is cancelled while it waits', async (t) => {
    const { create, requests, cli, env } = await withAda(t)
    const open = onlyJson(await requests(['show', await create('erasure'), '--json']))
    const answer = (state: string) => reply(200, success({ ...open, state }))
    const { url } = await scriptedServer(t, answer('open'), answer('running'), answer('cancelled'))
    const args = ['requests', 'erase', String(open.requestId), '--yes']
    const { code, stdout } = await cli.run(args, { env: { ...env, LETHE_URL: url } })
    assert.deepEqual(
      [code, stdout],
      [1, 'The request was cancelled meanwhile. Erased 0 subjects: 0 sessions and 0 events.\n'],
    )
  })

  it('rejects an access request', async (t) => {
    const { requests, create, held } = await withAda(t)
    assertRefused(await requests(['erase', await create('access'), '--yes']), 1, /erasure request/)
    assert.equal(await held(), 3)
  })
})

/** The output without the request that is shown first. */
function lastLines(text: string): string {
  return text.slice(text.indexOf('error:'))
}

describe('lethe requests export', { concurrency: true }, () => {
  it('writes a private ZIP file, and overwrites no file', async (t) => {
    const { requests, create, cli } = await withAda(t)
    const id = await create('access')
    const file = join(cli.folder, 'ada.zip')
    const { code, stdout } = await requests(['export', id, '--output', file])
    assert.equal(code, 0)
    assert.match(stdout, /^Wrote .*ada\.zip \(\d+\.\d kB\)\.\n$/)
    const bytes = readFileSync(file)
    assert.match(fileIn(readZip(bytes), 'index.html'), /ada@example\.com/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assertRefused(await requests(['export', id, '--output', file]), 1, /already exists/)
    assert.deepEqual(readFileSync(file), bytes)
    const other = join(cli.folder, 'other.zip')
    const summary = onlyJson(await requests(['export', id, '--output', other, '--json']))
    assert.deepEqual(summary, { file: other, bytes: statSync(other).size })
    assertRefused(await requests(['export', id]), 2, /--output/)
  })

  it('leaves no file if the download is interrupted', async (t) => {
    const { cli, env } = await withAda(t)
    const { url } = await scriptedServer(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nConnection: close\r\n\r\nPK')
      socket.end()
    })
    const file = join(cli.folder, 'cut.zip')
    const args = ['requests', 'export', 'x', '--output', file]
    assertRefused(await cli.run(args, { env: { ...env, LETHE_URL: url } }), 1, /incomplete/)
    const { url: refusing } = await scriptedServer(t, failure(404, 'not_found'))
    assertRefused(await cli.run(args, { env: { ...env, LETHE_URL: refusing } }), 1, /It is not_found/)
    assert.deepEqual(readdirSync(cli.folder), [])
  })
})

describe('lethe requests certificate', { concurrency: true }, () => {
  it('writes receipts that lethe receipts verify accepts, and verifies them itself', async (t) => {
    const { requests, create, cli, env } = await withAda(t)
    const id = await create('erasure')
    await requests(['erase', id, '--yes'])
    const folder = join(cli.folder, 'receipts')
    const key = (await cli.run(['receipts', 'key'], { env })).stdout.trim()
    const args = ['certificate', id, '--receipts', folder, '--key', key]
    const { code, stdout, stderr } = await requests(args)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^The erasure request \S+, received \S+Z, closed \S+Z\.\nENTRY {2}TRACKER/)
    assert.match(stderr, /^Wrote 3 receipts to .*\nVerified 3 receipts\.\n$/)
    const files = readdirSync(folder)
    assert.deepEqual(files.sort(), ['entry-1.receipt.txt', 'entry-2.receipt.txt', 'entry-3.receipt.txt'])
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    for (const file of files) {
      const verified = await cli.run(['receipts', 'verify', join(folder, file), '--key', key])
      assert.match(
        verified.stdout,
        /^The receipt is valid: .* erased a data subject: 1 session and 2 events\./,
      )
    }
    assertRefused(await requests(args), 1, /already exists/)
    const json = onlyJson(await requests(['certificate', id, '--json']))
    assert.partialDeepStrictEqual(json, { requestId: id, kind: 'erasure', complete: true, nothingHeld: [] })
  })

  it('names the identifier in a no-data certificate, and verifies its receipt', async (t) => {
    const { requests, cli, env } = await withAda(t)
    const nobody = 'email=nobody@example.com'
    const created = onlyJson(await requests(['create', 'access', '--by', nobody, '--json']))
    const id = textIn(created, 'requestId')
    await requests(['close', id])
    const folder = join(cli.folder, 'receipts')
    const key = (await cli.run(['receipts', 'key'], { env })).stdout.trim()
    const { stdout } = await requests(['certificate', id, '--receipts', folder, '--key', key])
    assert.match(stdout, /^At \S+Z nothing was held about the person with the identifier email\.$/m)
    const file = join(folder, 'entry-1.receipt.txt')
    const verified = await cli.run(['receipts', 'verify', file, '--key', key, '--identifier', nobody])
    assert.equal(verified.code, 0, verified.stderr)
  })

  it('writes no certificate with an invalid receipt', async (t) => {
    const { requests, create, cli, env, ...shop } = await withAda(t)
    const id = await create('erasure')
    await requests(['erase', id, '--yes'])
    const { keyString } = await shop.createKey(await shop.createOrganisation())
    const others = { ...env, LETHE_API_KEY: keyString }
    const foreign = (await cli.run(['receipts', 'key'], { env: others })).stdout.trim()
    const folder = join(cli.folder, 'receipts')
    const args = ['certificate', id, '--receipts', folder, '--key']
    assertRefused(await requests([...args, foreign]), 1, /not valid/)
    assertRefused(await requests([...args, 'nonsense']), 2, /--key/)
    assert.equal(existsSync(folder), false)
    mkdirSync(folder)
    writeFileSync(join(folder, 'precious'), 'x')
    assert.equal((await requests(['certificate', id, '--receipts', folder])).code, 0)
  })
})
