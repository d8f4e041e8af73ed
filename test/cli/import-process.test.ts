import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type CommandLine, jsonLines, onlyJson } from '../support/command-line.ts'
import { inStore, shop } from '../support/filled-store.ts'
import { event, eventsOf, ndjson, recordOf, withShop, write } from '../support/import-shop.ts'
import { importShop, peakOf } from '../support/peak-memory.ts'
import { until } from '../support/until.ts'

/** Random lines, which stay long when compressed. */
function events(count: number): string {
  const line = (_: unknown, i: number) =>
    event({ eventId: `e${i}`, properties: { text: randomBytes(200).toString('base64') } })
  return ndjson(...Array.from({ length: count }, line))
}

describe('lethe import of compressed files', { concurrency: true }, () => {
  it('reads gzip and zstd, also concatenated, from files and from standard input', async (t) => {
    const cli = await withShop(t)
    const two = ndjson(event({ eventId: 'e1' }), event({ eventId: 'e2' }))
    const three = ndjson(event({ eventId: 'e3' }))
    const gzip = write(cli, 'a.ndjson.gz', Buffer.concat([gzipSync(two), gzipSync(three)]))
    const input = Buffer.concat([zstdCompressSync(ndjson(event({ eventId: 'e4' }))), zstdCompressSync(three)])
    const summary = onlyJson(await cli.runProgram([...importShop, gzip, '-'], { input }))
    assert.partialDeepStrictEqual(summary, { lines: 5, badLines: 0, rows: 5, events: 4 })
  })

  it('stores and reports the lines before the end of a truncated file, and fails with one line', async (t) => {
    const cli = await withShop(t)
    const count = 1_500
    const whole = gzipSync(events(count))
    const file = write(cli, 'broken', whole.subarray(0, whole.length - 100))
    const { code, stdout, stderr } = await cli.run([...importShop, file])
    assert.equal(code, 1)
    // On a slow machine, progress comes first.
    assert.equal(
      stderr.trimEnd().split('\n').at(-1),
      `error: Cannot read ${file}: the compressed data is truncated.`,
    )
    const [summary] = jsonLines(stdout)
    assert.partialDeepStrictEqual(summary, { badLines: 0 })
    const stored = (await recordOf(cli))?.counts.events
    assert.equal(stored, summary?.events)
    assert.ok(stored && stored > count / 5 && stored < count, `${stored} events`)
  })
})

describe('lethe import of malformed lines', () => {
  it('skips lines that are not UTF-8 or too long, and reads the others', async (t) => {
    const cli = await withShop(t)
    const good = ndjson(event())
    const notText = Buffer.from([0x7b, 0xc3, 0x28, 0x0a])
    const tooLong = ndjson(event({ properties: { text: 'x'.repeat(256 * 1024) } }))
    const bytes = Buffer.concat([good, notText, good, tooLong, good].map((part) => Buffer.from(part)))
    const file = write(cli, 'odd.ndjson', bytes)
    const { stdout, stderr } = await cli.run([...importShop, '--dry-run', file])
    assert.equal(stderr, `${file}:2: not UTF-8\n${file}:4: longer than 256 KiB (LETHE_MAX_LINE_KIB)\n`)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { lines: 5, badLines: 2, rows: 3 })
  })
})

/** How long a program may take to start on a busy machine. */
const startMs = 50_000

describe('lethe import from an open pipe', { concurrency: true }, () => {
  it('stores each line within a second, and on a signal reports what it stored and that input may be missing', async (t) => {
    const cli = await withShop(t)
    const program = cli.startProgram([...importShop, '-'])
    for (const subjectId of ['first', 'second']) {
      program.type(ndjson(event({ subjectId })))
      // The first line is written while the program is still starting.
      const typedAt = performance.now()
      await inStore(cli.storePath, ({ subjects }) =>
        until(async () => (await subjects.read(shop, subjectId)) !== null, startMs),
      )
      const tookMs = performance.now() - typedAt
      assert.ok(subjectId === 'first' || tookMs < 15_000, `it took ${Math.round(tookMs)} ms`)
    }
    assert.equal(program.stdout(), '')
    program.type(`${ndjson(event({ subjectId: 'third' }), 'bad')}{"type":`)
    await program.waitFor('stderr', /standard input:4: not JSON\n/)
    program.kill('SIGINT')
    const { code, stdout, stderr } = await program.ended
    assert.equal(code, 1)
    assert.partialDeepStrictEqual(JSON.parse(stdout), { lines: 4, badLines: 1, rows: 3, events: 3 })
    assert.match(stderr, /not JSON\nerror: Stopped by SIGINT before the input ended\. .*again.*\n$/)
    assert.equal((await eventsOf(cli, 'third'))?.length, 1)
  })

  it('stops at a bad line with --strict and stores nothing of that batch, even if the pipe stays open', async (t) => {
    const cli = await withShop(t)
    const program = cli.startProgram([...importShop, '--strict', '-'])
    program.type(ndjson(event(), 'bad'))
    const { code, stdout, stderr } = await program.ended
    assert.deepEqual([code, stderr], [1, 'standard input:2: not JSON\n'])
    assert.partialDeepStrictEqual(JSON.parse(stdout), { lines: 2, badLines: 1, rows: 0, events: 0 })
    assert.equal(await eventsOf(cli), null)
  })
})

describe('the memory of lethe import', () => {
  const megabyte = 1024 * 1024

  /** Reads with a small heap, and stores nothing. */
  const peakOfReading = (cli: CommandLine, file: string) =>
    peakOf(cli, ['--dry-run', file], '--max-old-space-size=96')

  function writeTimes(cli: CommandLine, name: string, block: string, times: number, end = ''): string {
    const path = join(cli.folder, name)
    const file = openSync(path, 'w')
    for (let i = 0; i < times; i++) writeSync(file, block)
    writeSync(file, end)
    closeSync(file)
    return path
  }

  it('is independent of the size of the file and the length of a line in a dry run', async (t) => {
    const cli = await withShop(t)
    const block = events(2_000)
    const times = Math.ceil((5 * megabyte) / block.length)
    const small = await peakOfReading(cli, writeTimes(cli, 'small', block, times))
    const large = await peakOfReading(cli, writeTimes(cli, 'large', block, 8 * times))
    assert.partialDeepStrictEqual(JSON.parse(large.outcome.stdout), { badLines: 0, rows: 16_000 * times })
    assert.ok(large.peak < small.peak + 32, `${small.peak} MB, then ${large.peak} MB`)
    const line = writeTimes(cli, 'long', 'x'.repeat(megabyte), 130, `\n${ndjson(event())}`)
    const long = await peakOfReading(cli, line)
    assert.partialDeepStrictEqual(JSON.parse(long.outcome.stdout), { lines: 2, badLines: 1, rows: 1 })
    assert.ok(long.peak < small.peak + 100, `${small.peak} MB, then ${long.peak} MB`)
  })
})
