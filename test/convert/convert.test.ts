import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { formats } from '../../src/convert/formats.ts'
import { parseImportLine } from '../../src/domain/ingest.ts'
import { assertRefused, jsonLines, programPath } from '../support/command-line.ts'
import { converter, convertFixture, convertFixtureText, convertSummary, linesOf } from '../support/convert.ts'

/** The options that a format requires. */
const neededOptions: Readonly<Record<string, readonly string[]>> = {
  csv: ['--map', convertFixture('visits.map.json')],
  accesslog: ['--salt-file', convertFixture('salt')],
}

const visits = convertFixtureText('matomo.json')

describe('every format of lethe convert', { concurrency: true }, () => {
  for (const { name, input } of formats) {
    const options = neededOptions[name] ?? []

    it(`writes nothing for an empty file: ${name}`, async (t) => {
      const { convert, file } = converter(t)
      for (const content of ['', '\n\n  \n', '\ufeff', gzipSync('')]) {
        const outcome = await convert(name, ...options, file('empty', content))
        assert.deepEqual([outcome.code, outcome.stdout], [0, ''], outcome.stderr)
        assert.equal(outcome.stderr, 'Read 0 records (0 unusable); wrote 0 sessions and 0 events.\n')
      }
    })

    it(`rejects exports of another system, its own output, and binary data: ${name}`, async (t) => {
      const { convert, file } = converter(t)
      const binary = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 73 + (i >> 3)) % 256))
      const own = await convert('matomo', convertFixture('matomo.json'))
      const other = input === 'lines' ? 'access log\n' : '<xml><row/></xml>\n'
      for (const content of [own.stdout, binary, Buffer.from(other), '[1, 2, 3]', '{"result":"error"}']) {
        const outcome = await convert(name, ...options, '--json', file('wrong', content))
        assert.deepEqual([outcome.code, outcome.stdout], [1, ''], outcome.stderr)
        const { records, unusable, error } = convertSummary(outcome)
        assert.ok(error !== undefined || (Number(records) > 0 && records === unusable), outcome.stderr)
      }
    })
  }
})

describe('the input of lethe convert', { concurrency: true }, () => {
  it('may be compressed, come from standard input, or be several files', async (t) => {
    const { convert, cli, file } = converter(t)
    const plain = await convert('matomo', convertFixture('matomo.json'))
    for (const content of [gzipSync(visits), zstdCompressSync(visits), `\ufeff${visits}`]) {
      const outcome = await convert('matomo', file('visits', content))
      assert.deepEqual([outcome.code, outcome.stdout], [0, plain.stdout])
    }
    for (const args of [[], ['-']]) {
      const outcome = await cli.runProgram(['convert', 'matomo', ...args], { input: gzipSync(visits) })
      assert.deepEqual([outcome.code, outcome.stdout], [0, plain.stdout])
    }
    const twice = await convert('matomo', convertFixture('matomo.json'), file('two', gzipSync(visits)))
    assert.equal(twice.stdout, plain.stdout + plain.stdout)
  })

  it('keeps what it wrote before a file ended early, and reports the reason', async (t) => {
    const { convert, file } = converter(t)
    const whole = gzipSync(Buffer.from(visits))
    const middle = visits.indexOf('"idVisit": "4712"')
    for (const [content, reason] of [
      [whole.subarray(0, whole.length - 20), 'Cannot read FILE: the compressed data is truncated.'],
      [visits.slice(0, middle), 'Cannot convert FILE: it is truncated.'],
      [visits.slice(0, visits.lastIndexOf(']')), 'Cannot convert FILE: it is truncated.'],
      [
        `${visits.slice(0, visits.lastIndexOf(']'))}, x]`,
        'Cannot convert FILE: it is not JSON, or not a list of objects.',
      ],
      [Buffer.from(visits, 'utf16le'), 'Cannot convert FILE: it is not JSON'],
      [Buffer.from(`\ufeff${visits}`, 'utf16le'), 'Cannot convert FILE: it is UTF-16; save it as UTF-8.'],
    ] as const) {
      const path = file('damaged', content)
      const outcome = await convert('matomo', '--json', path, convertFixture('matomo.json'))
      assert.equal(outcome.code, 1)
      assert.ok(outcome.stderr.startsWith(`error: ${reason.replace('FILE', path)}`), outcome.stderr)
      const { records, unusable, error } = convertSummary(outcome)
      assert.ok(Number(records) <= 2 && unusable === 0, 'the file after it is not read')
      assert.equal(Object(error).code, 'failed')
      for (const line of jsonLines(outcome.stdout)) assert.ok(parseImportLine(JSON.stringify(line), 'shop'))
    }
  })

  it('must exist, be a file, and be given once, which is checked before anything is written', async (t) => {
    const { convert, cli } = converter(t)
    mkdirSync(join(cli.folder, 'folder'))
    const good = convertFixture('matomo.json')
    const folder = join(cli.folder, 'folder')
    assertRefused(await convert('matomo', good, folder), 1, /Cannot read .*folder: it is a folder\./)
    assertRefused(await convert('matomo', good, 'nowhere'), 1, /Cannot read nowhere: ENOENT/)
    assertRefused(await convert('matomo', '-', '-'), 2, /Standard input can be read only once/)
    const input = openSync(folder, 'r')
    const args = [programPath, 'convert', 'matomo']
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: [input, 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    closeSync(input)
    assert.deepEqual([status, stderr], [1, 'error: Cannot read standard input: it is a folder.\n'])
  })

  it('loses only the record whose bytes are not UTF-8', async (t) => {
    const { convert, file } = converter(t)
    const latin = Buffer.from(visits.replace('Köln', 'K\xd6ln'), 'latin1')
    const outcome = await convert('matomo', '--json', file('latin', latin))
    assert.partialDeepStrictEqual(convertSummary(outcome), { records: 2, unusable: 1, sessions: 1 })
    assert.match(outcome.stderr, /"reason":"not UTF-8","records":1,"first":\{"file":"[^"]+","number":1\}/)
  })

  it('may contain long and deeply nested records, of which only those are unusable', async (t) => {
    const { convert, file } = converter(t)
    const visit = (extra: string) =>
      `{"visitorId":"a","idVisit":1,"serverTimestamp":1790850000,"actionDetails":[${extra}]}`
    const action = (items: string) => `{"type":"goal","timestamp":1790850000,"itemDetails":${items}}`
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    const long = JSON.stringify('x'.repeat(300_000))
    const records = [
      visit(''),
      visit(action(nested(200))),
      visit(action(nested(200_000))),
      visit(action(long)),
    ]
    const outcome = await convert('matomo', '--json', file('odd', `[${records.join(',\n')}]`))
    const { reasons, ...counts } = convertSummary(outcome)
    assert.partialDeepStrictEqual(counts, { records: 4, unusable: 3, sessions: 4, events: 0 })
    assert.deepEqual(
      Object(reasons).map(({ reason }: { reason: string }) => reason),
      [
        'properties is nested deeper than 100 levels',
        'its fields are nested too deeply',
        'its line would be longer than 256 KiB (LETHE_MAX_LINE_KIB)',
      ],
    )
  })
})

describe('the output of lethe convert', { concurrency: true }, () => {
  it('contains the tracker on request', async (t) => {
    const { convert } = converter(t)
    const lines = linesOf(await convert('matomo', '--tracker', 'shop', convertFixture('matomo.json')))
    assert.deepEqual(new Set(lines.map(({ trackerId }) => trackerId)), new Set(['shop']))
    assertRefused(await convert('matomo', '--tracker', '..'), 2, /Expected 1 to 256 characters/)
  })

  it('ends without an error if its reader does', async (t) => {
    const { cli, file } = converter(t)
    const line = `${JSON.stringify(JSON.parse(visits)[0])}\n`
    const path = file('many', line.repeat(2_000))
    const program = cli.startProgram(['convert', 'matomo', path])
    await program.waitFor('stdout', /\n/)
    program.closeOutput()
    const { code, stderr } = await program.ended
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('says what to do if a whole file is from another system', async (t) => {
    const { convert, file } = converter(t)
    const outcome = await convert('matomo', file('other', '{"event":"x"}\n{"event":"y"}\n'))
    assert.match(
      outcome.stderr,
      /^2 records could not be used: visitorId is missing \(first: .*other:1\)\.\n/,
    )
    assert.match(outcome.stderr, /\nNo record could be used\. Is this an export for matomo\?\n$/)
  })
})

describe('the command lethe convert', { concurrency: true }, () => {
  it('needs no store and no configuration, and rejects Plausible with the reason', async (t) => {
    const { convert, cli } = converter(t)
    const env = { LETHE_STORE: 'sqlite:/nowhere/at/all.db', LETHE_SECRET_FILE: '/nowhere' }
    const outcome = await cli.run(['convert', 'matomo', convertFixture('matomo.json')], { env })
    assert.equal(outcome.code, 0)
    assertRefused(
      await convert('plausible', 'export.zip'),
      2,
      /Plausible exports contain totals .* no visitors/,
    )
    assertRefused(await convert('Matomo', 'x'), 2, /Allowed choices are csv, .*matomo/)
  })

  it('rejects options that the format does not have', async (t) => {
    const { convert } = converter(t)
    for (const option of ['--map=x', '--delimiter=;', '--salt-file=x', '--daily', '--skip-bots'])
      assertRefused(await convert('matomo', option, 'x'), 2, /The format matomo has no option --/)
    for (const delimiter of ['', '""', '"', ';;'])
      assertRefused(await convert('csv', '--delimiter', delimiter, 'x'), 2, /Expected one character/)
  })

  it('lists each format in its help, with an example', async (t) => {
    const { cli } = converter(t)
    const { stdout } = await cli.run(['convert', '--help'])
    const lines = stdout.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))
    for (const { name, summary } of formats) assert.ok(lines.includes(`${name} ${summary}`), name)
    assert.match(stdout, /lethe convert matomo export\.json \| lethe import - --tracker acme-shop/)
  })
})
