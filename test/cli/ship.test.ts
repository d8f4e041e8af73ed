import assert from 'node:assert/strict'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { credentialFormat } from '../../src/domain/credential.ts'
import { systemRandomness } from '../../src/runtime/randomness.ts'
import { assertRefused, commandLine, jsonLines } from '../support/command-line.ts'
import {
  answerLost,
  type BatchBehaviour,
  connectionReset,
  failed,
  ingestServer,
  proxyFailed,
} from '../support/ingest-server.ts'
import { anHourAgo } from '../support/shop.ts'
import { until } from '../support/until.ts'

const apiKey = credentialFormat('lethe').create('a'.repeat(16), systemRandomness)
const occurredAt = new Date(anHourAgo).toISOString()

/** A line with an event that is named after its number. */
function line(number: number): string {
  const owner = { subjectId: `v${number % 7}`, sessionId: 's1' }
  return `${JSON.stringify({ type: 'event', ...owner, eventId: `e${number}`, name: `${number}`, occurredAt })}\n`
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, i) => line(from + i)).join('')
}

/** Waits until newly written files get a later modification time. */
async function aged(path: string): Promise<void> {
  const { mtimeMs } = statSync(path)
  const probe = `${path}.probe`
  await until(() => {
    writeFileSync(probe, '')
    return statSync(probe).mtimeMs > mtimeMs
  })
  rmSync(probe)
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

/** A file in its own folder, a server, and the command that ships the file to it. */
async function shipping(t: TestContext, judge?: Parameters<typeof ingestServer>[1]) {
  const server = await ingestServer(t, judge)
  const cli = commandLine(t)
  const file = join(cli.folder, 'app.log')
  const env = { LETHE_URL: server.url, LETHE_API_KEY: apiKey }
  const args = ['ship', file, '--tracker', 'shop', '--interval', '0.05']
  return {
    ...{ server, cli, file, env, state: `${file}.ship` },
    /** Ships the existing lines. */
    once: (...more: string[]) => cli.run([...args, '--once', ...more], { env }),
    /** Starts to ship, until the end of the test at the latest. */
    follow: (...more: string[]) => cli.startProgram([...args, ...more], env),
    /** The numbers that arrived, in order. */
    arrived: () => server.stored.map(({ name }) => Number(name)),
  }
}

describe('lethe ship --once', { concurrency: 4 }, () => {
  it('sends the existing lines, stores its position, and sends new lines the next time', async (t) => {
    const { server, file, once, arrived, state } = await shipping(t)
    writeFileSync(file, lines(0, 30))
    const first = await once()
    assert.deepEqual(
      [first.code, first.stdout],
      [0, 'Sent 30 lines (0 refused); added 0 subjects, 0 sessions, 30 events.\n'],
    )
    assert.equal(first.stderr, `Sending ${file} to ${server.url} from line 1.\n`)
    assert.equal(server.batches[0]?.path, '/v1/ingest/trackers/shop/batches')
    assert.equal(statSync(state).mode & 0o777, 0o600)
    appendFileSync(file, lines(30, 40))
    const second = await once()
    assert.match(second.stderr, /from line 31\.$/m)
    assert.deepEqual(arrived(), numbers(0, 40))
    assert.match((await once()).stdout, /^Sent 0 lines/)
  })

  it('prints one object with --json, and accepts the address as an option', async (t) => {
    const { server, cli, file } = await shipping(t)
    writeFileSync(file, lines(0, 2))
    const args = ['ship', file, '--tracker', 'shop', '--once', '--json', '--to', server.url]
    const outcome = await cli.run(args, { env: { LETHE_API_KEY: apiKey } })
    assert.deepEqual(JSON.parse(outcome.stdout), {
      ...{ file, trackerId: 'shop', lines: 2, added: { subjects: 0, sessions: 0, events: 2 } },
      ...{ unchanged: 0, tooOld: 0, ofErased: 0, refused: 0 },
    })
  })

  it('leaves an incomplete last line until it is complete', async (t) => {
    const { file, once, arrived } = await shipping(t)
    const [start, end] = [line(2).slice(0, 20), line(2).slice(20)]
    writeFileSync(file, lines(0, 2) + start)
    assert.match((await once()).stderr, /The last line of .* is incomplete and was not sent\./)
    assert.deepEqual(arrived(), numbers(0, 2))
    appendFileSync(file, end)
    await once()
    assert.deepEqual(arrived(), numbers(0, 3))
  })

  it('skips empty lines and a byte order mark, and accepts carriage returns', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, `\ufeff${line(0)}\n\r\n  \n${line(1).replace('\n', '\r\n')}\n`)
    assert.equal((await once()).code, 0)
    assert.deepEqual(arrived(), numbers(0, 2))
  })

  it('reports rejected lines by number, writes them to a file, and continues', async (t) => {
    const { file, cli, once, arrived } = await shipping(t, ({ name }) => (name === '3' ? 'not good' : null))
    const bad = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}\n')])
    const long = `${JSON.stringify({ text: 'a'.repeat(300 * 1024) })}\n`
    writeFileSync(file, Buffer.concat([Buffer.from(lines(0, 2)), bad, Buffer.from(`${long}nonsense\n`)]))
    appendFileSync(file, lines(3, 5))
    const rejects = join(cli.folder, 'rejects')
    const outcome = await once('--rejects', rejects)
    assert.equal(outcome.code, 1)
    assert.match(outcome.stdout, /^Sent 7 lines \(4 refused\); .* 3 events\.$/m)
    const reported = [
      ...['3: not UTF-8', '4: longer than 256 KiB (LETHE_MAX_LINE_KIB)', '5: not JSON', '6: not good'],
    ].map((each) => `${file}:${each}\n`)
    assert.ok(outcome.stderr.endsWith(reported.join('')), outcome.stderr)
    assert.deepEqual(arrived(), [0, 1, 4])
    assert.deepEqual(readFileSync(rejects), Buffer.concat([bad, Buffer.from(`nonsense\n${line(3)}`)]))
  })

  it('does not write rejected lines to the file that it reads, or to the state file', async (t) => {
    const { file, cli, state, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 2))
    const link = join(cli.folder, 'link')
    symlinkSync(file, link)
    for (const rejects of [file, link, state])
      assertRefused(await once('--rejects', rejects), 2, /--rejects is the same file as/)
    assert.deepEqual(arrived(), [])
  })

  it('writes all rejected lines to the file, not only the first 100 of a batch', async (t) => {
    const { file, cli, once, arrived } = await shipping(t, ({ name }) => (Number(name) % 2 ? 'odd' : null))
    writeFileSync(file, lines(0, 700))
    const rejects = join(cli.folder, 'rejects')
    const { stdout, stderr } = await once('--rejects', rejects)
    assert.match(stdout, /^Sent 700 lines \(350 refused\)/)
    const odd = numbers(0, 700).filter((number) => number % 2)
    assert.equal(readFileSync(rejects, 'utf8'), odd.map(line).join(''))
    assert.match(stderr, /: 250 more lines refused in the same batch$/m)
    assert.deepEqual(
      [...new Set(arrived())],
      numbers(0, 700).filter((number) => number % 2 === 0),
    )
  })

  it('divides a batch that is rejected as a whole, down to single lines', async (t) => {
    const { server, file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 4))
    const stored: BatchBehaviour = { stores: true, answer: { status: 200 } }
    server.next(
      stored,
      proxyFailed(413),
      failed(400, 'invalid_request'),
      stored,
      ...Array.from({ length: 3 }, () => failed(422, 'validation_error')),
    )
    const { code, stderr } = await once()
    assert.equal(code, 1)
    assert.match(stderr, /app\.log:2: It is validation_error\.$/m)
    assert.deepEqual(arrived(), [0, 2, 3])
  })

  it('resends a single rejected line, which may have arrived too slowly', async (t) => {
    const { server, file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 1))
    server.next({ stores: true, answer: { status: 200 } }, failed(400, 'invalid_request'))
    assert.equal((await once()).code, 0)
    assert.deepEqual([arrived(), server.batches.length], [[0], 3])
  })

  it('stops with the reason and sends nothing if the key or the tracker is wrong', async (t) => {
    const wrong: [behaviour: BatchBehaviour, reason: RegExp][] = [
      [failed(401, 'unauthorized'), /The key in LETHE_API_KEY is unknown/],
      [failed(403, 'forbidden'), /Set LETHE_API_KEY to a key with this scope/],
      [failed(404, 'not_found'), /Check the IDs of the tracker/],
      [proxyFailed(302), /The address redirects/],
    ]
    for (const [behaviour, reason] of wrong) {
      const { server, file, once, state } = await shipping(t)
      writeFileSync(file, lines(0, 2))
      server.next(behaviour)
      const { code, stderr } = await once()
      assert.equal(code, 1)
      assert.match(stderr, reason)
      assert.deepEqual([server.batches.length, server.stored, existsSync(state)], [1, [], false])
    }
  })

  it('rejects files and options that it cannot use', async (t) => {
    const { cli, file, env, once, state } = await shipping(t)
    assertRefused(await once(), 1, /There is no file .*app\.log\./)
    mkdirSync(file)
    assert.match((await once()).stderr, /^error: Cannot read .*: it is not a file\.$/m)
    rmSync(file, { recursive: true })
    writeFileSync(file, lines(0, 1))
    writeFileSync(state, '{"version":2}')
    assertRefused(await once(), 1, /is not a state file/)
    rmSync(state)
    await once()
    const other = ['ship', file, '--tracker', 'blog', '--once']
    assertRefused(await cli.run(other, { env }), 1, /belongs to another tracker/)
    for (const interval of ['0', '-1', 'soon', '1e3']) {
      const args = ['ship', file, '--tracker', 'shop', '--interval', interval]
      assert.equal((await cli.run(args, { env })).code, 2)
    }
    assertRefused(await cli.run([...other, '--to', 'ftp://x'], { env }), 2, /an http or https address/)
  })

  it('starts with an unfinished rotated file, regardless of later rotations', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    appendFileSync(file, lines(10, 20))
    for (const rotation of [1, 2]) {
      if (rotation === 2) renameSync(`${file}.1`, `${file}.2`)
      renameSync(file, `${file}.1`)
      await aged(`${file}.1`)
      writeFileSync(file, lines(rotation * 10 + 10, rotation * 10 + 20))
    }
    writeFileSync(`${file}.3.gz`, 'not this one')
    writeFileSync(`${file}.note`, 'nor that')
    const { code, stderr } = await once()
    assert.equal(code, 0, stderr)
    assert.deepEqual(arrived(), numbers(0, 40))
  })

  it('sends rotated files that have the same modification time', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    renameSync(file, `${file}.1`)
    for (const rotation of [2, 3]) writeFileSync(`${file}.${rotation}`, lines(rotation * 5, rotation * 5 + 5))
    const { mtime } = statSync(`${file}.3`)
    for (const rotation of [1, 2, 3]) utimesSync(`${file}.${rotation}`, mtime, mtime)
    writeFileSync(file, lines(20, 30))
    assert.equal((await once()).code, 0)
    assert.deepEqual(
      arrived().sort((a, b) => a - b),
      numbers(0, 30),
    )
  })

  it('finishes the copy of a truncated file', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    appendFileSync(file, lines(10, 20))
    copyFileSync(file, `${file}.1`)
    truncateSync(file)
    appendFileSync(file, lines(20, 60))
    assert.equal((await once()).code, 0)
    assert.deepEqual(arrived(), numbers(0, 60))
  })

  it('sends lines that were written, copied and truncated before it sent any of the file', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    renameSync(file, `${file}.1`)
    await aged(`${file}.1`)
    writeFileSync(file, '')
    // Stores that the new file is next.
    await once()
    appendFileSync(file, lines(10, 20))
    copyFileSync(file, `${file}.2`)
    truncateSync(file)
    await aged(`${file}.2`)
    writeFileSync(`${file}.3`, '')
    appendFileSync(file, lines(20, 30))
    assert.equal((await once()).code, 0)
    assert.deepEqual(arrived(), numbers(0, 30))
  })

  it('says that an unfinished file is gone, and continues with the next', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    rmSync(file)
    writeFileSync(file, lines(20, 30))
    const { stderr } = await once()
    assert.match(stderr, /The file that was sent up to line 10 is gone\./)
    assert.deepEqual(arrived(), [...numbers(0, 10), ...numbers(20, 30)])
  })

  it('recognises a file that was replaced by a longer one', async (t) => {
    const { file, once, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    await once()
    writeFileSync(file, lines(10, 40))
    await once()
    assert.deepEqual(arrived(), numbers(0, 40))
  })
})

describe('lethe ship', { concurrency: true }, () => {
  it('follows a growing file across rotations, and stops on a signal', async (t) => {
    const { cli, file, follow, arrived } = await shipping(t)
    const program = follow()
    await program.waitFor('stderr', /Sending/)
    writeFileSync(file, lines(0, 5))
    await until(() => arrived().length === 5)
    appendFileSync(file, lines(5, 8))
    renameSync(file, `${file}.1`)
    appendFileSync(`${file}.1`, lines(8, 10))
    writeFileSync(file, lines(10, 15))
    await until(() => arrived().length === 15)
    appendFileSync(file, lines(15, 18))
    await until(() => arrived().length === 18)
    copyFileSync(file, join(cli.folder, 'app.log.2'))
    truncateSync(file)
    appendFileSync(file, lines(18, 20))
    await until(() => arrived().length === 20)
    assert.deepEqual(arrived(), numbers(0, 20))
    program.kill('SIGTERM')
    const { code, stdout } = await program.ended
    assert.deepEqual(
      [code, stdout],
      [0, 'Sent 20 lines (0 refused); added 0 subjects, 0 sessions, 20 events.\n'],
    )
  })

  it('sends lines that were copied and truncated before it read them, in order', async (t) => {
    const { file, follow, arrived } = await shipping(t)
    writeFileSync(file, '')
    const program = follow()
    await program.waitFor('stderr', /Sending/)
    program.kill('SIGSTOP')
    appendFileSync(file, lines(0, 10))
    copyFileSync(file, `${file}.1`)
    truncateSync(file)
    appendFileSync(file, lines(10, 20))
    program.kill('SIGCONT')
    await until(() => arrived().length === 20)
    assert.deepEqual(arrived(), numbers(0, 20))
    program.kill('SIGTERM')
    assert.equal((await program.ended).code, 0)
  })

  it('survives outages, says so once, and sends every line exactly once', async (t) => {
    const { server, file, follow, arrived } = await shipping(t)
    writeFileSync(file, lines(0, 10))
    server.next(connectionReset, failed(500, 'internal_error'))
    const program = follow()
    await program.waitFor('stderr', /Cannot reach the service.*Lines wait until then\.\n/)
    await program.waitFor('stderr', /The service accepts lines again\.\n/)
    await until(() => arrived().length === 10)
    server.next(answerLost)
    appendFileSync(file, lines(10, 20))
    await until(() => arrived().length === 30)
    assert.deepEqual([...new Set(arrived())], numbers(0, 20))
    program.kill('SIGTERM')
    assert.equal((await program.ended).code, 0)
  })

  it('keeps its position if the key is revoked', async (t) => {
    const { server, file, follow, once, arrived } = await shipping(t)
    const program = follow()
    await program.waitFor('stderr', /Sending/)
    server.next(failed(401, 'unauthorized'))
    writeFileSync(file, lines(0, 5))
    await program.waitFor('stderr', /The key in LETHE_API_KEY is unknown, .* Lines wait until then\./)
    program.kill('SIGTERM')
    assert.equal((await program.ended).code, 0)
    assert.deepEqual(arrived(), [])
    await once()
    assert.deepEqual(arrived(), numbers(0, 5))
  })

  it('does not start while another process uses the state file', async (t) => {
    const { follow, once, state, file } = await shipping(t)
    writeFileSync(file, lines(0, 1))
    const program = follow()
    await program.waitFor('stderr', /Sending/)
    assertRefused(await once(), 1, /Another process uses the state file/)
    assert.equal((await once('--state', `${state}.other`)).code, 0)
    program.kill('SIGKILL')
    await program.ended
    assert.equal((await once()).code, 0)
  })

  it('sends standard input to its end, including a last line without line feed', async (t) => {
    const { server, cli, env, arrived } = await shipping(t)
    const args = ['ship', '-', '--tracker', 'shop', '--json']
    const input = lines(0, 25_001).trimEnd()
    const outcome = await cli.runProgram(args, { env, input })
    assert.equal(jsonLines(outcome.stdout)[0]?.lines, 25_001)
    assert.equal(outcome.code, 0, outcome.stderr)
    assert.deepEqual(arrived(), numbers(0, 25_001))
    assert.deepEqual(
      server.batches.map(({ lines }) => lines.length),
      [0, 10_000, 10_000, 5_001],
    )
  })

  it('sends what it has read of standard input when it is stopped', async (t) => {
    const { cli, env, arrived } = await shipping(t)
    const args = ['ship', '-', '--tracker', 'shop', '--interval', '1']
    const program = cli.startProgram(args, env)
    await program.waitFor('stderr', /Sending standard input/)
    program.type(lines(0, 3))
    await until(() => arrived().length === 3)
    program.type(lines(3, 5))
    program.kill('SIGTERM')
    assert.equal((await program.ended).code, 0)
    assert.ok([3, 5].includes(arrived().length))
  })
})
