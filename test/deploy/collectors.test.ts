import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { maxBatchBytes, maxBatchLines } from '../../src/http/request-lines.ts'
import { read } from '../docs/markdown.ts'
import { dataOf, isObject, listIn, textIn } from '../support/answers.ts'
import { inReverse } from '../support/in-reverse.ts'
import { missing } from '../support/missing.ts'
import { openRawConnection } from '../support/raw-http.ts'
import type { Lifetime } from '../support/service.ts'
import { type Shop, startShop, subjectPath } from '../support/shop.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const trackerId = 'acme-shop'
const batchesPath = `/v1/ingest/trackers/${trackerId}/batches`
const shownDay = '2026-11-14'
/** Recent enough for every plan, whenever the tests run. */
const day = new Date(Date.now() - 24 * 3_600_000).toISOString().slice(0, 10)
const log = read('examples/shop-events.log').replaceAll(shownDay, day)
const examples = {
  Vector: read('deploy/vector/vector.yaml'),
  'Fluent Bit': read('deploy/fluent-bit/fluent-bit.yaml'),
  'syslog-ng': read('deploy/syslog-ng/lethe.conf'),
}

/** The events of the log, newest first. */
const events = {
  'visitor-1': [
    {
      eventId: 'e-1002',
      sessionId: 's-1',
      name: 'purchase',
      occurredAt: `${day}T09:02:10.480Z`,
      properties: { path: '/checkout', cents: 1950 },
    },
    {
      eventId: 'e-1001',
      sessionId: 's-1',
      name: 'pageview',
      occurredAt: `${day}T09:00:00.120Z`,
      properties: { path: '/' },
    },
  ],
  'visitor-2': [
    {
      eventId: 'e-1003',
      sessionId: 's-2',
      name: 'pageview',
      occurredAt: `${day}T09:05:00.007Z`,
      properties: { path: '/café?q="tea"' },
    },
  ],
}

/** A shop with the tracker of the examples, and a key for ingest only. */
async function startAcme(t: Lifetime, env: Record<string, string> = {}) {
  const shop = await startShop(t, { scopes: ['analytics:view'], env })
  await shop.createTracker(shop.organisationId, trackerId)
  const { keyString } = await shop.createKey(shop.organisationId, ['analytics:collect'])
  return { shop, collectKey: keyString }
}

async function eventsOf(shop: Shop, subjectId: string): Promise<unknown[]> {
  const answer = await shop.ask(`${subjectPath(subjectId, trackerId)}/events`, { key: shop.key })
  return answer.status === 404 ? [] : listIn(dataOf(answer), 'events')
}

async function assertStored(shop: Shop): Promise<void> {
  for (const [subjectId, expected] of Object.entries(events)) {
    assert.deepEqual(await eventsOf(shop, subjectId), expected)
  }
  const found = await shop.ask('/v1/analytics/subjects/search', {
    method: 'POST',
    key: shop.key,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ identifier: { name: 'email', value: 'ada@example.com' } }),
  })
  assert.deepEqual(
    listIn(dataOf(found), 'subjects').map((subject) => textIn(subject, 'subjectId')),
    ['visitor-1'],
  )
}

type Compression = 'gzip' | 'zstd'

const compress: Record<Compression, (text: string) => Buffer> = { gzip: gzipSync, zstd: zstdCompressSync }

/** The request of a collector as sent: header lines in their order and case, and the body. */
function requestOf(fixture: string, key: string, compression: Compression): string {
  const [head = '', body = ''] = fixture.replaceAll(shownDay, day).split('\n\n')
  const bytes = compress[compression](body)
  const filled = head
    .replace(/(content-encoding: )\w+/i, `$1${compression}`)
    .replace('KEY', key)
    .replace('LENGTH', String(bytes.length))
  return `${filled.replaceAll('\n', '\r\n')}\r\n\r\n${bytes.toString('latin1')}`
}

const fixtures = {
  Vector: read('test/deploy/collectors/vector.http'),
  'Fluent Bit': read('test/deploy/collectors/fluent-bit.http'),
}

for (const [name, fixture] of Object.entries(fixtures)) {
  describe(`the request of ${name}`, () => {
    for (const compression of ['gzip', 'zstd'] as const) {
      test(`is stored, compressed with ${compression}, and changes nothing the second time`, async (t) => {
        const { shop, collectKey } = await startAcme(t)
        const connection = await openRawConnection(shop.url)
        t.after(() => connection.hangUp())
        for (const added of [
          { subjects: 2, sessions: 2, events: 3 },
          { subjects: 0, sessions: 0, events: 0 },
        ]) {
          connection.send(requestOf(fixture, collectKey, compression))
          const data = dataOf(await connection.answer('POST'))
          assert.partialDeepStrictEqual(data, { trackerId, lines: 3, added, refusedCount: 0 })
          await assertStored(shop)
        }
      })
    }
  })
}

/** The values of a setting of an example. */
function settings(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, value = '']) => value)
}

describe('the examples for collectors', () => {
  test('send the documented requests to the same path', () => {
    const [target = ''] = settings(fixtures.Vector, /^POST (\S+) /gm)
    for (const text of Object.values(examples)) assert.ok(text.includes(target))
    for (const fixture of Object.values(fixtures)) {
      assert.ok(fixture.startsWith(`POST ${target} HTTP/1.1\n`))
      assert.match(fixture, /^content-type: application\/x-ndjson$/im)
    }
    assert.match(
      fixtures.Vector,
      new RegExp(`^content-encoding: ${settings(examples.Vector, /^ +compression: (\w+)$/gm)}$`, 'm'),
    )
    assert.match(
      fixtures['Fluent Bit'],
      new RegExp(`^Content-Encoding: ${settings(examples['Fluent Bit'], /^ +compress: (\w+)$/gm)}$`, 'm'),
    )
  })

  test('stay within the limits of a batch', () => {
    const lines = [
      ...settings(examples.Vector, /max_events: (\d+)/g),
      ...settings(examples['syslog-ng'], /batch-lines\((\d+)\)/g),
    ]
    assert.deepEqual(lines.map(Number), [maxBatchLines, maxBatchLines])
    const bytes = [
      ...settings(examples.Vector, /max_bytes: (\d+)/g).map(Number),
      ...settings(examples['syslog-ng'], /batch-bytes\((\d+)Kb\)/g).map((kib) => Number(kib) * 1024),
    ]
    assert.equal(bytes.length, 2)
    for (const each of bytes) assert.ok(each < maxBatchBytes * 0.8)
  })
})

const noLua = missing('luajit')

/** Writes the result of a Lua program as JSON. */
const luaToJson = `
local function json(value)
  if type(value) ~= "table" then
    return type(value) == "string" and '"' .. value:gsub('[%c"\\\\]', function(c) return ("\\\\u%04x"):format(c:byte()) end) .. '"' or tostring(value)
  end
  local fields = {}
  for name, each in pairs(value) do fields[#fields + 1] = json(name) .. ":" .. json(each) end
  return "{" .. table.concat(fields, ",") .. "}"
end
`

/** The lines that the Fluent Bit filter creates for records; `null` for a dropped record. */
function filterRecords(t: Lifetime, records: readonly Record<string, string | number>[]): unknown[] {
  const file = join(temporaryFolder(t), 'run.lua')
  const calls = records.map((record) => {
    const fields = Object.entries(record).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    return `write(to_import_line("shop", 0, { ${fields.join(', ')} }))`
  })
  const write = `local function write(code, time, line) print(code == 2 and json(line) or "null") end`
  const program = [luaToJson, read('deploy/fluent-bit/lethe.lua'), write, ...calls]
  writeFileSync(file, program.join('\n'))
  const { status, stdout, stderr } = spawnSync('luajit', [file], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function isRecord(value: unknown): value is Record<string, string | number> {
  return isObject(value) && Object.values(value).every((each) => ['string', 'number'].includes(typeof each))
}

/** The size of a value in a chunk of Fluent Bit, which uses MessagePack. */
function packedBytes(value: unknown): number {
  if (typeof value === 'number') return 1
  if (typeof value === 'string') return Buffer.byteLength(value) + (value.length < 32 ? 1 : 2)
  assert.ok(isObject(value))
  return Object.entries(value).reduce((sum, [name, each]) => sum + packedBytes(name) + packedBytes(each), 1)
}

/** The maximum size of a chunk: its limit plus one read of the example. */
const fullChunkBytes = 2_048_000
const maxReadBytes = 200 * 1024
/** The size of the time of a record with its metadata. */
const packedTimeBytes = 13

describe('the filter for Fluent Bit', { skip: noLua }, () => {
  test('creates import lines for events, and drops everything else', (t) => {
    // A line that is not JSON is a record with the text under `log`.
    const records = log
      .trimEnd()
      .split('\n')
      .map((line): unknown => (line.startsWith('{') ? JSON.parse(line) : { log: line }))
      .filter(isRecord)
    assert.equal(records.length, 4)
    const [, body = ''] = fixtures['Fluent Bit'].replaceAll(shownDay, day).split('\n\n')
    const sent = body.trimEnd().split('\n')
    assert.deepEqual(filterRecords(t, records), [null, ...sent.map((line): unknown => JSON.parse(line))])
  })

  test('creates lines of which a full chunk fits into a batch', (t) => {
    const shortest = { action: 'a', visitor: '1', session: '1', time: '2026-11-14T09:00:00Z' }
    const records = [
      shortest,
      { ...shortest, agent: 'Mozilla/5.0 '.repeat(20), referrer: 'https://www.example/'.repeat(10) },
      { ...shortest, cents: 12345678901234 },
      // Around the length from which no padding is needed.
      ...Array.from({ length: 300 }, (_, length) => ({ ...shortest, path: 'x'.repeat(length) })),
    ]
    const lines = filterRecords(t, records)
    for (const [index, record] of records.entries()) {
      const perRead = maxReadBytes / (JSON.stringify(record).length + 1)
      const perChunk = fullChunkBytes / (packedBytes(lines[index]) + packedTimeBytes) + perRead
      assert.ok(perChunk <= maxBatchLines, `${perChunk} of ${JSON.stringify(record)}`)
    }
  })
})

const noSyslog = missing('syslog-ng')

/** The example in its own folder, for a service of a test. */
function prepareSyslog(t: Lifetime, url: string) {
  const folder = temporaryFolder(t)
  const events = join(folder, 'events.log')
  let text = examples['syslog-ng']
  for (const [theirs, ours] of [
    ['/var/log/shop/events.log', events],
    ['https://lethe.example', url],
    ['batch-timeout(2000)', 'batch-timeout(100)'],
    ['time-reopen(10)', 'time-reopen(1)'],
    ['disk-buffer(', `disk-buffer(dir("${folder}") `],
  ] as const) {
    assert.ok(text.includes(theirs), `${theirs} is not in the example`)
    text = text.replaceAll(theirs, ours)
  }
  const config = join(folder, 'syslog-ng.conf')
  writeFileSync(config, text)
  const files = [
    '-f',
    config,
    '-R',
    join(folder, 'persist'),
    '-c',
    join(folder, 'control'),
    '-p',
    join(folder, 'pid'),
  ]
  return { events, args: ['--foreground', '--no-caps', ...files] }
}

/** Runs syslog-ng, until the end of the test at the latest. */
function runSyslog(t: Lifetime, args: readonly string[], key: string) {
  const env = { PATH: `${process.env.PATH}:/usr/sbin`, LETHE_API_KEY: key }
  const child = spawn('syslog-ng', args, { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'close')
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    await ended
  }
  t.after(stop)
  return { stop }
}

describe('the example for syslog-ng', { skip: noSyslog }, () => {
  test('is valid', (t) => {
    const { args } = prepareSyslog(t, 'https://lethe.example')
    const { status, stdout, stderr } = spawnSync('syslog-ng', ['--syntax-only', ...args], {
      encoding: 'utf8',
      env: { PATH: `${process.env.PATH}:/usr/sbin`, LETHE_API_KEY: 'key' },
    })
    assert.deepEqual([status, stdout, stderr], [0, '', ''])
  })

  test('delivers the events of the log, and new ones after a restart', async (t) => {
    const lifetime = inReverse(t)
    const { shop, collectKey } = await startAcme(lifetime)
    const { events: file, args } = prepareSyslog(lifetime, shop.url)
    writeFileSync(file, log)
    const first = runSyslog(lifetime, args, collectKey)
    await until(async () => (await eventsOf(shop, 'visitor-2')).length === 1)
    await assertStored(shop)
    await first.stop()
    appendFileSync(file, log.replaceAll(/visitor-|ada@/g, 'later-'))
    runSyslog(lifetime, args, collectKey)
    await until(async () => (await eventsOf(shop, 'later-2')).length === 1)
    assert.deepEqual(await eventsOf(shop, 'later-1'), events['visitor-1'])
    await assertStored(shop)
    assert.equal(sentBatches(shop, 200), 2, 'nothing is sent twice')
  })

  test('retries a batch that exceeded a budget', async (t) => {
    const lifetime = inReverse(t)
    const { shop, collectKey } = await startAcme(lifetime, { LETHE_LIMIT_KEY: '5/minute' })
    const { events: file, args } = prepareSyslog(lifetime, shop.url)
    for (let spent = 0; spent < 5; spent++) await shop.ask(batchesPath, { key: collectKey })
    writeFileSync(file, log)
    runSyslog(lifetime, args, collectKey)
    await until(() => sentBatches(shop, 429) > 0)
    shop.passTime(60_000)
    await until(() => sentBatches(shop, 200) > 0)
    await assertStored(shop)
  })
})

/** The number of batches with this status in the log of the service. */
function sentBatches({ logged }: Shop, status: number): number {
  return logged
    .map((line): unknown => JSON.parse(line))
    .filter(
      (line) => isObject(line) && String(line.route).startsWith('/v1/ingest/') && line.status === status,
    ).length
}
