import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { assertRefused, jsonLines, onlyJson } from '../support/command-line.ts'
import { deriveOnce } from '../support/derive-once.ts'
import { type RemoteShop, startRemoteShop } from '../support/remote-shop.ts'
import { failure, reply, reset, scriptedServer, success } from '../support/scripted-server.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { visit } from '../support/shop.ts'
import { until } from '../support/until.ts'

deriveOnce(1)

/** Lets a program derive as this process does, which reads what it noted. */
const quick = [
  `--import=data:text/javascript,${encodeURIComponent(
    `import { deriveOnce } from '${new URL('../support/derive-once.ts', import.meta.url)}'; deriveOnce(1)`,
  )}`,
]

/** The default budgets, with a second for every minute and for every hour. */
const spedUp = {
  LETHE_LIMIT_IP: '60/second',
  LETHE_LIMIT_KEY: '120/second',
  LETHE_LIMIT_ERASURE: '60/second',
}

async function withList(t: TestContext, count: number, env: Record<string, string> = {}) {
  const shop = await startRemoteShop(t, { env })
  const ids = Array.from({ length: count }, (_, number) => `visitor-${number}`)
  await shop.ingest(ids.flatMap((id) => visit(id, { events: 2 })))
  const file = join(shop.cli.folder, 'ids.txt')
  writeFileSync(file, `${ids.join('\n')}\n`)
  return { ...shop, ids, file, journal: `${file}.journal` }
}

/** The statuses with which the service has answered so far. */
function statuses({ logged }: Pick<RemoteShop, 'logged'>): number[] {
  return logged.flatMap((line) => {
    const entry: { msg?: string; method?: string; status?: number } = JSON.parse(line)
    return entry.msg === 'request' && entry.status !== undefined ? [entry.status] : []
  })
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

describe('lethe subjects erase --from-file', { concurrency: true }, () => {
  it('tells the plan first, wants the number typed, and ends with a summary', async (t) => {
    const { subjects, file, journal } = await withList(t, 3)
    const { code, stdout, stderr, asked } = await subjects(['erase', 'shop', '--from-file', file], {
      answers: ['3'],
    })
    assert.deepEqual([code, stdout], [0, 'Erased 3 of 3 subjects: 3 sessions and 6 events.\n'])
    assert.equal(stderr, `3 subjects, no more than 60 an hour, noted in ${journal}.\n`)
    assert.deepEqual(asked, ['They cannot be brought back. Type how many will go, 3, to erase them: '])
    assert.equal(doneIn(journal).length, 3)
  })

  it('tells of many how many hours they take', async (t) => {
    const { subjects, file } = await withList(t, 0)
    for (const [count, words] of [
      [400, 'about 6 h at 60 an hour'],
      [5_000, 'about 3 d 11 h at 60 an hour'],
    ] as const) {
      writeFileSync(file, Array.from({ length: count }, (_, number) => `v${number}`).join('\n'))
      const { stdout, stderr } = await subjects(['erase', 'shop', '--from-file', file, '--dry-run'])
      assert.ok(stderr.startsWith(`${count.toLocaleString('en')} subjects, ${words}, noted in `), stderr)
      assert.match(
        stdout,
        /50 were looked at.* 0 hold data.*The others were not looked at\. Nothing was erased\.\n$/,
      )
    }
  })

  it('asks the service with --dry-run: who holds data, and whether there is such a tracker', async (t) => {
    const { subjects, file, journal, logged } = await withList(t, 3)
    writeFileSync(file, 'visitor-0\nvistor-1\nvisitor-2\n')
    const dryRun = ['--from-file', file, '--dry-run']
    const { code, stdout } = await subjects(['erase', 'shop', ...dryRun])
    assert.equal(stdout, '2 of 3 subjects hold data: 2 sessions and 4 events. Nothing was erased.\n')
    assert.equal(code, 0)
    const lost = await subjects(['erase', 'nope-tracker', ...dryRun])
    assertRefused(lost, 1, /This tracker does not exist/)
    assert.equal(existsSync(journal), false)
    assert.ok(!logged.some((line) => line.includes('"method":"DELETE"')))
  })

  it('looks at 50 of a longer list with --dry-run, from its beginning to its end', async (t) => {
    const { subjects, file, ids, logged } = await withList(t, 101)
    writeFileSync(file, [...ids.slice(0, 100).map((id) => `x${id}`), ids[100]].join('\n'))
    const { stdout } = await subjects(['erase', 'shop', '--from-file', file, '--dry-run', '--json'])
    assert.partialDeepStrictEqual(JSON.parse(stdout), {
      ...{ subjects: 101, dryRun: true },
      checked: { subjects: 50, holdingData: 1, sessions: 1, events: 2 },
    })
    await until(() => statuses({ logged }).length === 51)
  })

  it('says that a key which may erase but not read cannot do a dry run', async (t) => {
    const shop = await startRemoteShop(t, { scopes: ['analytics:delete-data'] })
    const file = join(shop.cli.folder, 'ids.txt')
    writeFileSync(file, 'visitor-0\n')
    const outcome = await shop.subjects(['erase', 'shop', '--from-file', file, '--dry-run'])
    assertRefused(outcome, 1, /analytics:view/)
  })

  it('erases nothing with --dry-run, without an answer, or after another one', async (t) => {
    const { subjects, file, journal, cli, env } = await withList(t, 3)
    const many = ['erase', 'shop', '--from-file', file]
    assert.deepEqual(onlyJson(await subjects([...many, '--dry-run', '--json'])), {
      ...{ subjects: 3, erased: 0, alreadyErased: 0, unknown: 0, resumed: 0, failed: 0, left: 3 },
      ...{ sessions: 0, events: 0, failures: [], dryRun: true },
      checked: { subjects: 3, holdingData: 3, sessions: 3, events: 6 },
    })
    const script = await cli.run(['subjects', ...many], { env })
    assert.equal(script.code, 2)
    assert.match(script.stderr, /error: --yes is missing/)
    const wrong = await subjects(many, { answers: ['yes'] })
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /error: Not confirmed; nothing was erased\.\n$/)
    assert.equal(existsSync(journal), false)
  })

  it('goes by a number that it was told, where the service does not say', async (t) => {
    const { subjects, file } = await withList(t, 100)
    const many = ['erase', 'shop', '--from-file', file, '--dry-run', '--per-hour']
    const { stderr } = await subjects([...many, '600'])
    assert.match(stderr, /^100 subjects, no more than 600 an hour, noted in /)
    for (const count of ['0', '-1', 'fast']) {
      assertRefused(
        await subjects([...many.slice(0, -1), `--per-hour=${count}`]),
        2,
        /whole number from 1 on/,
      )
    }
  })

  it('takes ids as they stand in the file, each once, and passes over empty lines', async (t) => {
    const { subjects, file, ingest } = await withList(t, 1)
    const odd = [' spaces ', 'a/b', '🦊', 'visitor-0']
    await ingest(odd.flatMap((id) => visit(id, { events: 2 })))
    writeFileSync(file, `\ufeff${[...odd, '', ...odd].join('\r\n')}`)
    const summary = onlyJson(await subjects(['erase', 'shop', '--from-file', file, '--yes', '--json']))
    assert.partialDeepStrictEqual(summary, { subjects: 4, erased: 4, events: 8 })
  })

  it('reads standard input, and then notes nothing unless told where', async (t) => {
    const { cli, env, file, journal } = await withList(t, 2)
    const args = ['subjects', 'erase', 'shop', '--from-file', '-', '--json', '--yes']
    const first = await cli.runProgram(args, { input: 'visitor-0\n', env })
    assert.partialDeepStrictEqual(onlyJson(first), { subjects: 1, erased: 1 })
    assert.match(first.stderr, /^1 subject, no more than 60 an hour, without a journal\.\n$/)
    const second = await cli.runProgram([...args, '--journal', journal], { input: 'visitor-1', env })
    assert.partialDeepStrictEqual(onlyJson(second), { subjects: 1, erased: 1 })
    assert.equal(doneIn(`${file}.journal`).length, 1)
    const unconfirmed = await cli.runProgram(args.slice(0, -1), { input: 'visitor-1', env })
    assert.equal(unconfirmed.code, 2)
  })

  it('refuses a list it cannot make sense of, before anything is sent', async (t) => {
    const { subjects, file, logged } = await withList(t, 1)
    const many = ['erase', 'shop', '--from-file', file, '--yes']
    const refusals: [text: string | Uint8Array, reason: RegExp][] = [
      ['visitor-0\n..\n', /ids\.txt:2: an id is 1 to 256 characters/],
      ['visitor-0\n\na\tb\n', /ids\.txt:3: an id/],
      [Buffer.from([0x61, 0xc3, 0x28]), /ids\.txt:1: an id/],
      ['\n\n', /There are no ids in .*ids\.txt/],
    ]
    for (const [text, reason] of refusals) {
      writeFileSync(file, text)
      assertRefused(await subjects(many), 1, reason)
    }
    assertRefused(
      await subjects(['erase', 'shop', '--from-file', `${file}x`, '--yes']),
      1,
      /Cannot read .*no such file/i,
    )
    assert.deepEqual(statuses({ logged }), [])
  })

  it('refuses a journal of something else, and says what to do', async (t) => {
    const { subjects, file, cli } = await withList(t, 2)
    const many = ['erase', 'shop', '--from-file', file, '--yes']
    await subjects(many)
    writeFileSync(file, 'visitor-0\nvisitor-2\n')
    assertRefused(await subjects(many), 1, /belongs to another batch.*Name another file with --journal/)
    const precious = join(cli.folder, 'precious')
    writeFileSync(precious, 'precious')
    assertRefused(await subjects([...many, '--journal', precious]), 1, /is not a journal/)
    assert.equal(readFileSync(precious, 'utf8'), 'precious')
  })

  it('says of a batch that is done that it is', async (t) => {
    const { subjects, file, logged } = await withList(t, 2)
    const many = ['erase', 'shop', '--from-file', file]
    await subjects([...many, '--yes'])
    const { code, stdout, stderr } = await subjects(many)
    assert.equal(code, 0)
    assert.equal(stderr, 'All 2 subjects were done before.\n')
    assert.equal(stdout, 'Erased 2 of 2 subjects: 2 sessions and 4 events.\n')
    await until(() => statuses({ logged }).length === 2)
  })

  it('counts those that held nothing apart, for they may be typing mistakes', async (t) => {
    const { subjects, file } = await withList(t, 1)
    writeFileSync(file, 'visitor-0\nvistor-1\n')
    const { stdout } = await subjects(['erase', 'shop', '--from-file', file, '--yes'])
    assert.equal(
      stdout,
      'Erased 1 of 2 subjects: 1 session and 2 events. 1 held no data: erased before, aged out, or never seen.\n',
    )
  })

  it('stops at what would stop them all, with a summary and what to do', async (t) => {
    const { cli, env, file } = await withList(t, 2)
    const { url } = await scriptedServer(t, failure(401, 'unauthorized'))
    const args = ['subjects', 'erase', 'shop', '--from-file', file, '--yes']
    const { code, stdout, stderr } = await cli.run(args, { env: { ...env, LETHE_URL: url } })
    assert.deepEqual([code, stdout], [1, 'Erased 0 of 2 subjects: 0 sessions and 0 events. 2 are left.\n'])
    assert.match(stderr, /error: The service does not accept the key in LETHE_API_KEY/)
  })

  it('reports what failed, goes on with the rest, and ends with exit code 1', async (t) => {
    const { cli, env, file, journal } = await withList(t, 3)
    const data = {
      trackerId: 'shop',
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
    const args = ['subjects', 'erase', 'shop', '--from-file', file, '--yes', '--json']
    const { code, stdout, stderr } = await cli.run(args, { env: { ...env, LETHE_URL: url } })
    assert.equal(code, 1)
    const [summary] = jsonLines(stdout)
    assert.partialDeepStrictEqual(summary, { subjects: 3, erased: 2, failed: 1, left: 0, events: 4 })
    assert.partialDeepStrictEqual(summary?.failures, [
      { subjectId: 'visitor-1', code: 'ConnectionError', requestId: null },
    ])
    assert.match(stderr, /^visitor-1: No whole answer came: /m)
    assert.equal(doneIn(journal).length, 2)
  })
})

describe('a batch that is interrupted', { concurrency: true }, () => {
  it('by a signal tells what it did, and goes on when it is run again', async (t) => {
    const { cli, env, file, journal } = await withList(t, 20, { LETHE_LIMIT_ERASURE: '1/minute' })
    const args = ['subjects', 'erase', 'shop', '--from-file', file, '--yes', '--json']
    const program = cli.startProgram(args, env, quick)
    await untilDone(journal, 1)
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { subjects: 20, erased: 1, left: 19, failed: 0 })
    assert.match(stderr, /error: Stopped by SIGINT before the end; run it again to go on\.\n$/)
    const plan = await cli.run([...args, '--dry-run'], { env })
    assert.match(plan.stderr, /^1 of 20 were done before; 19 subjects, no more than 60 an hour/)
  })

  it('twice by SIGKILL erases every one of 120 once, meets no refusal, and completes its journal', async (t) => {
    const shop = await withList(t, 120, spedUp)
    const { cli, env, file, journal, ids } = shop
    const random = seededRandom()
    const hurry = ['--per-hour', String(60 * 3_600)]
    const args = ['subjects', 'erase', 'shop', '--from-file', file, '--yes', '--json', ...hurry]
    for (const [round, goal] of [20 + random.integer(30), 70 + random.integer(30)].entries()) {
      const program = cli.startProgram(args, env, quick)
      await untilDone(journal, goal)
      await pause(random.integer(40))
      program.kill('SIGKILL')
      const { signal } = await program.ended
      assert.equal(signal, 'SIGKILL', `round ${round}, LETHE_TEST_SEED=${random.seed}`)
    }
    const summary = onlyJson(await cli.run(args, { env }))
    const { erased, unknown, resumed } = summary
    assert.partialDeepStrictEqual(summary, { subjects: 120, alreadyErased: 0, failed: 0, left: 0 })
    assert.equal(Number(erased) + Number(unknown), 120)
    assert.ok(Number(unknown) <= 2, `${unknown} answers were lost by two kills`)
    assert.ok(Number(resumed) >= 70 && Number(resumed) < 120)
    const positions = doneIn(journal).map(({ position }) => Number(position))
    assert.deepEqual(
      positions.sort((a, b) => a - b),
      ids.map((_, position) => position),
    )
    const answered = statuses(shop)
    assert.deepEqual([...new Set(answered)], [200])
    assert.ok(answered.length <= 120 + Number(unknown) + 2)
    for (const id of ids) assert.equal(readFileSync(journal, 'utf8').includes(`${id}"`), false)
    t.diagnostic(`LETHE_TEST_SEED=${random.seed}: ${JSON.stringify({ erased, unknown, resumed })}`)
    const { keyString } = await shop.createKey(shop.organisationId, ['analytics:view'])
    const left = await shop.ask('/v1/analytics/trackers/shop/subjects', { key: keyString })
    assert.deepEqual(left.body, { ...Object(left.body), data: { subjects: [], nextCursor: null } })
  })
})

describe('the screen during a batch', () => {
  it('shows how far it has come and how long it will take', async (t) => {
    const { cli, env, file } = await withList(t, 5, { LETHE_LIMIT_ERASURE: '1/second' })
    const args = ['subjects', 'erase', 'shop', '--from-file', file, '--yes', '--per-hour', '3600']
    const { drawn } = await cli.run(args, { env, columns: () => 80 })
    const bar = /^\[#+\.+\] {2}\d+% {2}\d of 5 subjects {2}0:0\d left$/
    assert.ok(
      drawn.some((line) => bar.test(line)),
      drawn.join('\n'),
    )
    assert.equal(drawn.at(-1), '')
  })
})
