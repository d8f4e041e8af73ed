import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '../../src/domain/api-key.ts'
import { assertRefused, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { deriveOnce } from '../support/derive-once.ts'
import { type RemoteShop, startRemoteShop } from '../support/remote-shop.ts'
import { always } from '../support/rows.ts'
import { failure, reply, reset, scriptedServer, success } from '../support/scripted-server.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

deriveOnce(1)

/** Lets a program derive as this process does, which reads what it noted. */
const deriving =
  'const{subtle}=crypto,derive=subtle.deriveBits.bind(subtle);subtle.deriveBits=(how,...of)=>derive({...how,iterations:1},...of)'
const quick = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(deriving)}` }

/** A list of so many subjects in a shop, in a tracker of its own and for a key of its own. */
async function withList(t: TestContext, shop: RemoteShop, count: number, scopes?: readonly Scope[]) {
  const { url, logged, organisationId } = shop
  const cli = commandLine(t)
  const tracker = await shop.createTracker(organisationId)
  const { key, keyString } = await shop.createKey(organisationId, scopes)
  const env = { LETHE_URL: url, LETHE_API_KEY: keyString }
  const ids = Array.from({ length: count }, (_, number) => `visitor-${number}`)
  await shop.ingest(ids.flatMap((id) => visit(id, { trackerId: tracker, events: 2 })))
  const file = join(cli.folder, 'ids.txt')
  writeFileSync(file, `${ids.join('\n')}\n`)
  /** Runs `lethe subjects erase` on the list. Somebody sits at the terminal only when `answers` are given. */
  const erase = (args: readonly string[] = [], answers?: readonly string[]) =>
    cli.run(['subjects', 'erase', tracker, '--from-file', file, ...args], {
      env,
      ...(answers && { answers, columns: () => 80 }),
    })
  /** What the service has been asked with the key and has answered so far. */
  const answered = () =>
    logged.flatMap((line): { method: string; status: number }[] => {
      const entry = JSON.parse(line)
      return entry.msg === 'request' && entry.keyId === key.id ? [entry] : []
    })
  return { cli, env, tracker, ids, file, journal: `${file}.journal`, erase, answered }
}

function doneIn(journal: string): Record<string, unknown>[] {
  const text = existsSync(journal) ? readFileSync(journal, 'utf8') : ''
  return jsonLines(text.slice(0, text.lastIndexOf('\n') + 1)).filter(({ type }) => type === 'done')
}

/** Looks into the journal now and then: the service runs in this process, and is not to be kept from it. */
async function untilDone(journal: string, count: number): Promise<void> {
  const deadline = performance.now() + 40_000
  while (doneIn(journal).length < count) {
    assert.ok(performance.now() < deadline, `never were ${count} done`)
    await pause(20)
  }
}

const shop = await startRemoteShop({ after })

describe('lethe subjects erase --from-file', { concurrency: true }, () => {
  it('tells the plan first, wants the number typed, and ends with a summary', async (t) => {
    const { erase, journal } = await withList(t, shop, 3)
    const { code, stdout, stderr, asked } = await erase([], ['3'])
    assert.deepEqual([code, stdout], [0, 'Erased 3 of 3 subjects: 3 sessions and 6 events.\n'])
    assert.equal(stderr, `3 subjects, at most 60 per hour, progress in ${journal}.\n`)
    assert.deepEqual(asked, ['This cannot be undone. Type the number of data subjects, 3, to erase them: '])
    assert.equal(doneIn(journal).length, 3)
  })

  it('looks at 50 of a longer list with --dry-run, from its beginning to its end, and tells how many days it takes', async (t) => {
    const { erase, file, answered } = await withList(t, shop, 1)
    const others = Array.from({ length: 4_999 }, (_, number) => `v${number}`)
    writeFileSync(file, [...others, 'visitor-0'].join('\n'))
    const { stdout, stderr } = await erase(['--dry-run'])
    assert.ok(stderr.startsWith('5,000 subjects, about 3 d 11 h at 60 per hour, progress in '), stderr)
    assert.match(
      stdout,
      /^Checked 50 of 5,000 subjects.* 1 have data, 1 session and 2 events\. Nothing was erased\.\n$/,
    )
    await until(() => answered().length === 51)
  })

  it('asks the service with --dry-run: who holds data, and whether there is such a tracker', async (t) => {
    const { erase, cli, env, file, journal, answered } = await withList(t, shop, 3)
    writeFileSync(file, 'visitor-0\nvistor-1\nvisitor-2\n')
    const { code, stdout } = await erase(['--dry-run'])
    assert.equal(stdout, '2 of 3 subjects have data: 2 sessions and 4 events. Nothing was erased.\n')
    assert.equal(code, 0)
    const elsewhere = ['subjects', 'erase', 'nope-tracker', '--from-file', file, '--dry-run']
    assertRefused(await cli.run(elsewhere, { env }), 1, /This tracker does not exist/)
    assert.equal(existsSync(journal), false)
    assert.ok(!answered().some(({ method }) => method === 'DELETE'))
  })

  it('says that a key which may erase but not read cannot do a dry run', async (t) => {
    const { erase } = await withList(t, shop, 1, ['analytics:delete-data'])
    assertRefused(await erase(['--dry-run']), 1, /analytics:view/)
  })

  it('erases nothing with --dry-run, without an answer, or after another one', async (t) => {
    const { erase, journal } = await withList(t, shop, 3)
    assert.deepEqual(onlyJson(await erase(['--dry-run', '--json'])), {
      ...{ subjects: 3, erased: 0, alreadyErased: 0, unknown: 0, resumed: 0, failed: 0, left: 3 },
      ...{ sessions: 0, events: 0, failures: [], dryRun: true },
      checked: { subjects: 3, holdingData: 3, sessions: 3, events: 6 },
    })
    const script = await erase()
    assert.equal(script.code, 2)
    assert.match(script.stderr, /error: --yes is missing/)
    const wrong = await erase([], ['yes'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /error: Not confirmed\. Nothing was erased\.\n$/)
    assert.equal(existsSync(journal), false)
  })

  it('goes by a number that it was told, where the service does not say', async (t) => {
    const { erase } = await withList(t, shop, 3)
    const { stderr } = await erase(['--dry-run', '--per-hour', '2'])
    assert.match(stderr, /^3 subjects, about 1 h at 2 per hour, progress in /)
    for (const count of ['0', '-1', 'fast']) {
      assertRefused(await erase(['--dry-run', `--per-hour=${count}`]), 2, /whole number of at least 1/)
    }
  })

  it('takes ids as they stand in the file, each once, and passes over empty lines', async (t) => {
    const { erase, file, tracker } = await withList(t, shop, 1)
    const odd = [' spaces ', 'a/b', '🦊', 'visitor-0']
    await shop.ingest(odd.flatMap((id) => visit(id, { trackerId: tracker, events: 2 })))
    writeFileSync(file, `\ufeff${[...odd, '', ...odd].join('\r\n')}`)
    const summary = onlyJson(await erase(['--yes', '--json']))
    assert.partialDeepStrictEqual(summary, { subjects: 4, erased: 4, events: 8 })
  })

  it('reads standard input, and then notes nothing unless told where', async (t) => {
    const { cli, env: access, tracker, journal } = await withList(t, shop, 2)
    const env = { ...access, ...quick }
    const args = ['subjects', 'erase', tracker, '--from-file', '-', '--json', '--yes']
    const first = await cli.runProgram(args, { input: 'visitor-0\n', env })
    assert.partialDeepStrictEqual(onlyJson(first), { subjects: 1, erased: 1 })
    assert.match(first.stderr, /^1 subject, at most 60 per hour, without a checkpoint file\.\n$/)
    const second = await cli.runProgram([...args, '--journal', journal], { input: 'visitor-1', env })
    assert.partialDeepStrictEqual(onlyJson(second), { subjects: 1, erased: 1 })
    assert.equal(doneIn(journal).length, 1)
  })

  it('refuses a list it cannot make sense of, before anything is sent', async (t) => {
    const { erase, file, answered } = await withList(t, shop, 1)
    const refusals: [text: string | Uint8Array, reason: RegExp][] = [
      ['visitor-0\n..\n', /ids\.txt:2: an ID has 1 to 256 characters/],
      ['visitor-0\n\na\tb\n', /ids\.txt:3: an ID/],
      [Buffer.from([0x61, 0xc3, 0x28]), /ids\.txt:1: an ID/],
      ['\n\n', /ids\.txt contains no IDs/],
    ]
    for (const [text, reason] of refusals) {
      writeFileSync(file, text)
      assertRefused(await erase(['--yes']), 1, reason)
    }
    rmSync(file)
    assertRefused(await erase(['--yes']), 1, /Cannot read .*no such file/i)
    assert.deepEqual(answered(), [])
  })

  it('refuses a journal of something else, and says what to do', async (t) => {
    const { erase, file, cli } = await withList(t, shop, 2)
    await erase(['--yes'])
    writeFileSync(file, 'visitor-0\nvisitor-2\n')
    assertRefused(await erase(['--yes']), 1, /belongs to another batch.*Choose another file with --journal/)
    const precious = join(cli.folder, 'precious')
    writeFileSync(precious, 'precious')
    assertRefused(await erase(['--yes', '--journal', precious]), 1, /is not a checkpoint file/)
    assert.equal(readFileSync(precious, 'utf8'), 'precious')
  })

  it('says of a batch that is done that it is', async (t) => {
    const { erase, answered } = await withList(t, shop, 2)
    await erase(['--yes'])
    const { code, stdout, stderr } = await erase()
    assert.equal(code, 0)
    assert.equal(stderr, 'All 2 subjects are already done.\n')
    assert.equal(stdout, 'Erased 2 of 2 subjects: 2 sessions and 4 events.\n')
    await until(() => answered().length === 2)
  })

  it('counts those that held nothing apart, for they may be typing mistakes', async (t) => {
    const { erase, file } = await withList(t, shop, 1)
    writeFileSync(file, 'visitor-0\nvistor-1\n')
    const { stdout } = await erase(['--yes'])
    assert.equal(
      stdout,
      'Erased 1 of 2 subjects: 1 session and 2 events. 1 had no data: already erased, expired, or never seen.\n',
    )
  })

  it('stops at what would stop them all, with a summary and what to do', async (t) => {
    const { cli, env, tracker, file } = await withList(t, shop, 2)
    const { url } = await scriptedServer(t, failure(401, 'unauthorized'))
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes']
    const { code, stdout, stderr } = await cli.run(args, { env: { ...env, LETHE_URL: url } })
    assert.deepEqual([code, stdout], [1, 'Erased 0 of 2 subjects: 0 sessions and 0 events. 2 remain.\n'])
    assert.match(stderr, /error: The key in LETHE_API_KEY is unknown/)
  })

  it('reports what failed, goes on with the rest, and ends with exit code 1', async (t) => {
    const { cli, env, tracker, file, journal } = await withList(t, shop, 3)
    const data = {
      trackerId: tracker,
      alreadyErased: false,
      counts: { sessions: 1, events: 2 },
      erasedAt: 't',
      receipt: 'r',
    }
    // So many an hour that no time is lost between them.
    const headers = {
      'RateLimit-Policy': '"erasure";q=999999;w=3600',
      RateLimit: '"erasure";r=999990;t=3600',
    }
    const good = (subjectId: string) => reply(200, success({ ...data, subjectId }), { headers })
    const broken = [reset, reset, reset, reset, reset] as const
    const { url } = await scriptedServer(t, good('visitor-0'), ...broken, good('visitor-2'))
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes', '--json']
    const { code, stdout, stderr } = await cli.run(args, { env: { ...env, LETHE_URL: url } })
    assert.equal(code, 1)
    const [summary] = jsonLines(stdout)
    assert.partialDeepStrictEqual(summary, { subjects: 3, erased: 2, failed: 1, left: 0, events: 4 })
    assert.partialDeepStrictEqual(summary?.failures, [
      { subjectId: 'visitor-1', code: 'ConnectionError', requestId: null },
    ])
    assert.match(stderr, /^visitor-1: No complete response was received: /m)
    assert.equal(doneIn(journal).length, 2)
  })
})

describe('a batch that takes its time', { concurrency: true }, () => {
  it('and is ended by a signal tells what it did, and goes on when it is run again', async (t) => {
    const slow = await startRemoteShop(t, { env: { LETHE_LIMIT_ERASURE: '1/minute' } })
    const { cli, env, tracker, file, journal, erase } = await withList(t, slow, 3)
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes', '--json']
    const program = cli.startProgram(args, { ...env, ...quick })
    await untilDone(journal, 1)
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { subjects: 3, erased: 1, left: 2, failed: 0 })
    assert.match(stderr, /error: Stopped by SIGINT before the end\. Run it again to continue\.\n$/)
    const plan = await erase(['--dry-run'])
    assert.match(plan.stderr, /^1 of 3 are already done; 2 subjects, at most 60 per hour/)
  })

  it('and is ended by SIGKILL erases every one of 90 once, meets no refusal, and completes its journal', async (t) => {
    // The default budgets, with a second for every minute and for every hour.
    const limits = { LETHE_LIMIT_IP: '60/second', LETHE_LIMIT_KEY: '120/second' }
    const spedUp = await startRemoteShop(t, { env: { ...limits, LETHE_LIMIT_ERASURE: '60/second' } })
    const { cli, env, tracker, file, journal, ids, answered } = await withList(t, spedUp, 90)
    const random = seededRandom()
    const hurry = ['--per-hour', String(60 * 3_600)]
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes', '--json', ...hurry]
    const program = cli.startProgram(args, { ...env, ...quick })
    const goal = 20 + random.integer(50)
    await untilDone(journal, goal)
    await pause(random.integer(40))
    program.kill('SIGKILL')
    assert.equal((await program.ended).signal, 'SIGKILL', `LETHE_TEST_SEED=${random.seed}`)
    const summary = onlyJson(await cli.run(args, { env }))
    const { erased, unknown, resumed } = summary
    assert.partialDeepStrictEqual(summary, { subjects: 90, alreadyErased: 0, failed: 0, left: 0 })
    assert.equal(Number(erased) + Number(unknown), 90)
    assert.ok(Number(unknown) <= 1, `${unknown} answers were lost by a kill`)
    assert.ok(Number(resumed) >= goal && Number(resumed) < 90)
    const positions = doneIn(journal).map(({ position }) => Number(position))
    assert.deepEqual(
      positions.sort((a, b) => a - b),
      ids.map((_, position) => position),
    )
    const statuses = answered().map(({ status }) => status)
    assert.deepEqual([...new Set(statuses)], [200])
    assert.ok(statuses.length <= 90 + Number(unknown) + 1)
    const noted = readFileSync(journal, 'utf8')
    for (const id of ids) assert.equal(noted.includes(`${id}"`), false)
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${JSON.stringify({ erased, unknown, resumed })}`)
    const { organisationId, services } = spedUp
    const view = { organisationId, trackerId: tracker, since: always }
    for (const id of ids) assert.equal(await services.subjects.read(view, id), null)
  })

  it('draws meanwhile how far it has come and how long it will take', async (t) => {
    const slow = await startRemoteShop(t, { env: { LETHE_LIMIT_ERASURE: '1/second' } })
    const { cli, env, tracker, file } = await withList(t, slow, 3)
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes', '--per-hour', '3600']
    const { drawn } = await cli.run(args, { env, columns: () => 80 })
    const bar = /^\[#+\.+\] {2}\d+% {2}\d of 3 subjects {2}0:0\d left$/
    assert.ok(
      drawn.some((line) => bar.test(line)),
      drawn.join('\n'),
    )
    assert.equal(drawn.at(-1), '')
  })
})
