import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it, type TestContext } from 'node:test'
import type { Scope } from '../../src/domain/api-key.ts'
import { assertRefused, commandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { type RemoteShop, startRemoteShop } from '../support/remote-shop.ts'
import { always } from '../support/rows.ts'
import { failure, scriptedServer } from '../support/scripted-server.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

/** A list of this many subjects in a shop, with its own tracker and key. */
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
  const args = ['subjects', 'erase', tracker, '--from-file', file, '--reference', tracker]
  /** Runs `lethe subjects erase` on the list, on a terminal only if `answers` are given. */
  const erase = (more: readonly string[] = [], answers?: readonly string[]) =>
    cli.run([...args, ...more], { env, ...(answers && { answers, columns: () => 80 }) })
  /** The requests with the key that the service has answered. */
  const answered = () =>
    logged.flatMap((line): { method: string; status: number }[] => {
      const entry = JSON.parse(line)
      return entry.msg === 'request' && entry.keyId === key.id ? [entry] : []
    })
  /** The privacy requests of the list. */
  const made = async () => {
    const all = jsonLines((await cli.run(['requests', 'list', '--limit', 'all', '--json'], { env })).stdout)
    return all.filter(({ reference }) => reference === tracker)
  }
  return { cli, env, tracker, ids, file, args, erase, answered, made }
}

const shop = await startRemoteShop({ after })

describe('lethe subjects erase --from-file', { concurrency: true }, () => {
  it('requires the number typed, creates a request for each ID, and ends with a summary', async (t) => {
    const { erase, made } = await withList(t, shop, 3)
    const { code, stdout, stderr, asked } = await erase([], ['3'])
    assert.deepEqual([code, stdout], [0, 'Erased 3 of 3 subjects: 3 sessions and 6 events.\n'])
    assert.equal(stderr, '')
    assert.deepEqual(asked, ['This cannot be undone. Type the number of data subjects, 3, to erase them: '])
    assert.deepEqual(
      (await made()).map(({ kind, state }) => [kind, state]),
      Array.from({ length: 3 }, () => ['erasure', 'done']),
    )
  })

  it('requires a reference, with which a repeated run continues', async (t) => {
    const { cli, env, tracker, file } = await withList(t, shop, 1)
    const args = ['subjects', 'erase', tracker, '--from-file', file, '--yes']
    assertRefused(await cli.run(args, { env }), 2, /--from-file requires --reference/)
  })

  it('checks 50 IDs of a longer list with --dry-run, from start to end', async (t) => {
    const { erase, file, answered } = await withList(t, shop, 1)
    const others = Array.from({ length: 4_999 }, (_, number) => `v${number}`)
    writeFileSync(file, [...others, 'visitor-0'].join('\n'))
    const { stdout } = await erase(['--dry-run'])
    assert.match(
      stdout,
      /^Checked 50 of 5,000 subjects.* 1 have data, 1 session and 2 events\. Nothing was erased\.\n$/,
    )
    await until(() => answered().length === 51)
  })

  it('checks with --dry-run which subjects have data and whether the tracker exists', async (t) => {
    const { erase, cli, env, file, made } = await withList(t, shop, 3)
    writeFileSync(file, 'visitor-0\nvistor-1\nvisitor-2\n')
    const { code, stdout } = await erase(['--dry-run'])
    assert.equal(stdout, '2 of 3 subjects have data: 2 sessions and 4 events. Nothing was erased.\n')
    assert.equal(code, 0)
    const elsewhere = ['subjects', 'erase', 'nope-tracker', '--from-file', file, '--reference', 'x']
    assertRefused(await cli.run([...elsewhere, '--dry-run'], { env }), 1, /This tracker does not exist/)
    const erasing = await cli.run([...elsewhere, '--yes'], { env })
    assert.deepEqual([erasing.code, erasing.stdout.match(/3 remain/)?.length], [1, 1])
    assert.match(erasing.stderr, /^error: person must name data subjects of trackers of this organisation/m)
    assert.deepEqual(await made(), [])
  })

  it('says that a dry run needs a key that may read', async (t) => {
    const { erase } = await withList(t, shop, 1, ['analytics:delete-data'])
    assertRefused(await erase(['--dry-run']), 1, /analytics:view/)
  })

  it('erases nothing with --dry-run, without an answer, or after another answer', async (t) => {
    const { erase, made } = await withList(t, shop, 3)
    assert.deepEqual(onlyJson(await erase(['--dry-run', '--json'])), {
      subjects: 3,
      checked: { subjects: 3, holdingData: 3, sessions: 3, events: 6 },
      dryRun: true,
    })
    assertRefused(await erase(), 2, /error: --yes is missing/)
    assertRefused(await erase([], ['yes']), 1, /error: Not confirmed\. Nothing was erased\.\n$/)
    assert.deepEqual(await made(), [])
  })

  it('uses IDs exactly as they are in the file, each once, and skips empty lines', async (t) => {
    const { erase, file, tracker } = await withList(t, shop, 1)
    const odd = [' spaces ', 'a/b', '🦊', 'visitor-0']
    await shop.ingest(odd.flatMap((id) => visit(id, { trackerId: tracker, events: 2 })))
    writeFileSync(file, `\ufeff${[...odd, '', ...odd].join('\r\n')}`)
    const summary = onlyJson(await erase(['--yes', '--json']))
    assert.partialDeepStrictEqual(summary, { subjects: 4, done: 4, erased: 4, events: 8 })
  })

  it('reads standard input', async (t) => {
    const { cli, env, tracker } = await withList(t, shop, 2)
    const args = ['subjects', 'erase', tracker, '--from-file', '-', '--reference', 'x', '--json', '--yes']
    const outcome = await cli.runProgram(args, { input: 'visitor-0\nvisitor-1', env })
    assert.partialDeepStrictEqual(onlyJson(outcome), { subjects: 2, erased: 2 })
  })

  it('rejects an invalid list before it sends anything', async (t) => {
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

  it('reports a completed batch as such, and creates no request twice', async (t) => {
    const { erase, made } = await withList(t, shop, 2)
    await erase(['--yes'])
    const { code, stdout } = await erase(['--yes'])
    assert.equal(code, 0)
    assert.equal(
      stdout,
      'Erased 2 of 2 subjects: 2 sessions and 4 events. 2 of the requests were done by an earlier run.\n',
    )
    assert.equal((await made()).length, 2)
  })

  it('counts IDs without data separately, because they may be typing errors', async (t) => {
    const { erase, file } = await withList(t, shop, 1)
    writeFileSync(file, 'visitor-0\nvistor-1\n')
    const { stdout } = await erase(['--yes'])
    assert.equal(
      stdout,
      'Erased 1 of 2 subjects: 1 session and 2 events. 1 had no data: already erased, expired, or never seen.\n',
    )
  })

  it('stops at an error that affects all requests, with a summary and instructions', async (t) => {
    const { cli, env, args } = await withList(t, shop, 2)
    const { url } = await scriptedServer(t, failure(401, 'unauthorized'))
    const { code, stdout, stderr } = await cli.run([...args, '--yes'], { env: { ...env, LETHE_URL: url } })
    assert.deepEqual([code, stdout], [1, 'Erased 0 of 2 subjects: 0 sessions and 0 events. 2 remain.\n'])
    assert.match(stderr, /error: The key in LETHE_API_KEY is unknown/)
  })
})

describe('a batch that takes time', { concurrency: true }, () => {
  it('is only started with --no-wait, and reports cancelled requests with exit code 1', async (t) => {
    const slow = await startRemoteShop(t, { env: { LETHE_LIMIT_ERASURE: '1/hour' } })
    const { cli, env, erase, made } = await withList(t, slow, 3)
    const started = await erase(['--yes', '--no-wait', '--json'])
    assert.partialDeepStrictEqual(onlyJson(started), { subjects: 3, started: 3 })
    await until(async () => (await made()).filter(({ state }) => state === 'done').length === 1)
    for (const { requestId, state } of await made())
      if (state === 'running') await cli.run(['requests', 'cancel', String(requestId)], { env })
    const { code, stdout, stderr } = await erase(['--yes'])
    assert.equal(code, 1)
    assert.match(stdout, /^Erased 1 of 3 subjects: 1 session and 2 events\. .* 2 failed\.\n$/)
    assert.equal(stderr.match(/^visitor-\d: The request \S+ was cancelled\.$/gm)?.length, 2)
  })

  it('reports its progress on a signal, and continues when it is run again', async (t) => {
    const slow = await startRemoteShop(t, { env: { LETHE_LIMIT_ERASURE: '1/hour' } })
    const { cli, env, args, made } = await withList(t, slow, 3)
    const program = cli.startProgram([...args, '--yes', '--json'], env)
    await program.waitFor('stderr', /The service continues at /)
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { subjects: 3, started: 3, erased: 1, failed: 0 })
    assert.match(stderr, /error: Stopped by SIGINT before the end\. The service continues.* Run it again/)
    assert.equal((await made()).length, 3)
  })

  it('killed with SIGKILL erases each of 40 subjects once, and creates no request twice', async (t) => {
    const { cli, env, args, tracker, ids, made } = await withList(t, shop, 40)
    const random = seededRandom()
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}`)
    const program = cli.startProgram([...args, '--yes', '--json'], env)
    const goal = 1 + random.integer(38)
    await until(async () => (await made()).length >= goal)
    program.kill('SIGKILL')
    assert.equal((await program.ended).signal, 'SIGKILL')
    const summary = onlyJson(await cli.run([...args, '--yes', '--json'], { env }))
    assert.partialDeepStrictEqual(summary, { subjects: 40, done: 40, erased: 40, events: 80, failed: 0 })
    assert.equal((await made()).length, 40)
    const view = { organisationId: shop.organisationId, trackerId: tracker, since: always }
    for (const id of ids) assert.equal(await shop.services.subjects.read(view, id), null)
    const receipts = await Promise.all(
      ids.map(async (id) =>
        jsonLines((await cli.run(['receipts', 'get', tracker, id, '--json'], { env })).stdout),
      ),
    )
    for (const [receipt, ...others] of receipts)
      assert.deepEqual([receipt?.alreadyErased, others], [false, []], 'erased once')
  })

  it('shows its progress and remaining time', async (t) => {
    const slow = await startRemoteShop(t, { env: { LETHE_LIMIT_ERASURE: '1/second' } })
    const { cli, env, args } = await withList(t, slow, 4)
    const { drawn } = await cli.run([...args, '--yes'], { env, columns: () => 80 })
    const bar = /^\[#+\.+\] {2}\w+ {2}\d+% {2}\d subjects {2}\d subjects\/s {2}0:\d\d left$/
    assert.ok(
      drawn.some((line) => bar.test(line)),
      drawn.join('\n'),
    )
    assert.equal(drawn.at(-1), '')
  })
})
