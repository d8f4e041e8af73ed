// Lethe on PostgreSQL beside the bare SQL, on one server in one run: reads, pages, erasures, requests per second, and the import.
import { join } from 'node:path'
import autocannon from 'autocannon'
import { Client, Pool } from 'pg'
import { readConfig } from '../src/config.ts'
import { type CopyValue, copyRows } from '../src/storage/postgres/copy-rows.ts'
import { subjectKeyText } from '../src/storage/postgres/key-text.ts'
import { openWorkplace } from '../src/workplace.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { importFile, writeFile } from './import-file.ts'
import { addSubject, emptyStore, fillStore, median, startProcess, temporaryFolder } from './support.ts'
import { subjectsIn, tracker, visits } from './visits.ts'

const subjects = Number(process.argv[2] ?? 200_000)
const eventsEach = 10
const rounds = 400
const subjectColumns = [
  ...['subject_key', 'tracker_id', 'subject_id', 'first_seen_at', 'last_seen_at', 'oldest_at'],
  ...['session_count', 'event_count'],
]
const sessionColumns = [
  ...['subject_key', 'session_id', 'started_at', 'ended_at', 'event_count', 'attributes', 'attributes_at'],
]
const eventColumns = ['subject_key', 'occurred_at', 'event_id', 'session_id', 'name', 'properties']
const erasures = [
  { events: 10, rounds: 40 },
  { events: 1_000, rounds: 10 },
  { events: 100_000, rounds: 3 },
]

// As careful as PostgreSQL is by itself: every commit is on the disk before it is answered.
const server = await startPostgres({})
process.on('exit', () => void server.remove())
const url = new URL(server.url)
url.pathname = '/bench'
const admin = new Client(server.url)
await admin.connect()
await admin.query("CREATE DATABASE bench TEMPLATE template0 ENCODING 'UTF8'")
const { rows: version } = await admin.query('SHOW server_version')
await admin.end()

const startedAt = performance.now()
const store = await fillStore(subjects, eventsEach, 'free', url.href)
const filledS = (performance.now() - startedAt) / 1_000
console.log(
  `PostgreSQL ${version[0]?.server_version}: ${subjects} subjects, ${subjects * eventsEach} events, filled in ${filledS.toFixed(0)} s (${Math.round((subjects * eventsEach) / filledS)} events/s)\n`,
)
const sql = new Client({ connectionString: url.href })
await sql.connect()
await sql.query('VACUUM ANALYZE')
const lethe = await startProcess('src/main.ts', ['serve', '--json'], store.env)
const headers = { authorization: `Bearer ${store.key}` }

async function ask(path: string, method = 'GET'): Promise<unknown> {
  const response = await fetch(lethe.url + path, { method, headers })
  if (response.status !== 200) throw new Error(`${response.status} for ${path}`)
  return response.json()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

function report(what: string, bare: readonly number[], ours: readonly number[]): void {
  const [a, b] = [median(bare), median(ours)]
  console.log(
    `${what.padEnd(32)}${a.toFixed(2).padStart(12)}${b.toFixed(2).padStart(12)}${(b / a).toFixed(2).padStart(8)}`,
  )
}

console.log(`median ms, one at a time      ${'bare SQL'.padStart(10)}${'Lethe'.padStart(12)}   ratio`)
const some = () => Math.floor(Math.random() * subjects)
const idOf = (number: number) => `visitor-${number.toString().padStart(8, '0')}`
const pairs: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
  [
    'read, over HTTP',
    () =>
      sql.query({
        name: 'read',
        text: 'SELECT * FROM subjects WHERE subject_key = $1',
        values: [subjectKeyText(tracker, idOf(some()))],
      }),
    () => ask(store.subjectPath(some())),
  ],
  [
    'page of 50 by subjectId, HTTP',
    () => page('subject_id'),
    () => ask(`${store.listPath}?sort=subjectId&limit=50`),
  ],
  [
    'page of 50 by lastSeenAt, HTTP',
    () => page('last_seen_at, subject_id'),
    () => ask(`${store.listPath}?sort=lastSeenAt&limit=50`),
  ],
]
function page(order: string) {
  const text = `SELECT * FROM subjects WHERE tracker_id = $1 ORDER BY ${order} LIMIT 51`
  return sql.query({ name: order, text, values: [tracker] })
}
for (const [what, bare, ours] of pairs) {
  const costs = { bare: [] as number[], ours: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    costs.bare.push(await timed(bare))
    costs.ours.push(await timed(ours))
  }
  report(what, costs.bare, costs.ours)
}

const workplace = await openWorkplace(readConfig(store.env))
for (const { events, rounds } of erasures) {
  const costs = { bare: [] as number[], store: [] as number[], ours: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const who of ['bare', 'store', 'ours']) {
      await addSubject(workplace, `${who}-${events}-${round}`, events)
    }
    await sql.query('CHECKPOINT')
    const key = subjectKeyText(tracker, `bare-${events}-${round}`)
    costs.bare.push(
      await timed(async () => {
        await sql.query('BEGIN')
        for (const table of ['events', 'sessions', 'subjects']) {
          await sql.query({
            name: `delete ${table}`,
            text: `DELETE FROM ${table} WHERE subject_key = $1`,
            values: [key],
          })
        }
        await sql.query('COMMIT')
      }),
    )
    const view = { organisationId: 'bench', trackerId: tracker, since: 0 }
    costs.store.push(await timed(() => workplace.subjects.erase(view, `store-${events}-${round}`)))
    costs.ours.push(await timed(() => ask(`${store.listPath}/ours-${events}-${round}`, 'DELETE')))
  }
  report(`erase ${events} events`, costs.bare, costs.store)
  report(`  the same, over HTTP`, costs.bare, costs.ours)
}
await workplace.close()

async function requestsPerSecond(urls: string[], connections: number): Promise<number> {
  const results = await Promise.all(
    urls.map((url) =>
      autocannon({
        url,
        connections: connections / urls.length,
        duration: 8,
        requests: [{ setupRequest: (request) => ({ ...request, path: store.subjectPath(some()) }) }],
        headers,
      }),
    ),
  )
  for (const { non2xx, errors } of results) {
    if (non2xx + errors > 0) throw new Error(`${non2xx + errors} requests failed`)
  }
  return results.reduce((sum, { requests }) => sum + requests.average, 0)
}
const second = await startProcess('src/main.ts', ['serve', '--json'], store.env)
console.log('\nreads per second at 64 connections')
for (const urls of [[lethe.url], [lethe.url, second.url]]) {
  await requestsPerSecond(urls, 64)
  console.log(
    `${urls.length} process${urls.length > 1 ? 'es' : ''}`.padEnd(32),
    Math.round(await requestsPerSecond(urls, 64)),
  )
}
lethe.stop()
second.stop()

/** Rows per second of COPY into the same tables of an empty store, in batches as large; making the rows is not timed. */
async function copyBarely(address: string, lines: number): Promise<number> {
  const pool = new Pool({ connectionString: address, max: 1 })
  const client = await pool.connect()
  let spentMs = 0
  const seen = new Set<string>()
  const batch = { subjects: [] as CopyValue[][], sessions: [] as CopyValue[][], events: [] as CopyValue[][] }
  async function store(): Promise<void> {
    spentMs += await timed(async () => {
      await client.query('BEGIN')
      await copyRows(client, 'subjects', subjectColumns, batch.subjects)
      await copyRows(client, 'sessions', sessionColumns, batch.sessions)
      await copyRows(client, 'events', eventColumns, batch.events)
      await client.query('COMMIT')
    })
    for (const rows of Object.values(batch)) rows.length = 0
  }
  for (const row of visits(lines, 'by time')) {
    const key = subjectKeyText(row.trackerId, row.subjectId)
    if (row.type === 'event') {
      const { occurredAt, eventId, sessionId, name, properties } = row
      batch.events.push([key, occurredAt, eventId, sessionId, name, JSON.stringify(properties)])
    } else {
      const { sessionId, startedAt, endedAt, attributes } = row
      batch.sessions.push([key, sessionId, startedAt, endedAt, 4, JSON.stringify(attributes), endedAt])
      if (!seen.has(row.subjectId)) {
        seen.add(row.subjectId)
        batch.subjects.push([key, row.trackerId, row.subjectId, startedAt, endedAt, startedAt, 3, 12])
      }
    }
    if (batch.events.length + batch.sessions.length >= 20_000) await store()
  }
  await store()
  client.release()
  await pool.end()
  return (lines + subjectsIn(lines)) / (spentMs / 1_000)
}

async function emptyDatabase(name: string): Promise<string> {
  await sql.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const address = new URL(url)
  address.pathname = name
  await emptyStore('free', address.href)
  return address.href
}
const lines = Math.min(1_000_000, subjects * 5)
const bareRate = await copyBarely(await emptyDatabase('bare_copy'), lines)
const file = join(temporaryFolder(), 'visits.ndjson')
await writeFile(file, lines, 'by time')
const env = { ...store.env, LETHE_STORE: await emptyDatabase('imported') }
const { seconds, megabytes } = await importFile(file, env)
const rate = (lines + subjectsIn(lines)) / seconds
console.log(`\nimport of ${lines} lines`)
console.log(`bare COPY                    ${Math.round(bareRate)} rows/s`)
console.log(
  `lethe import                 ${Math.round(rate)} rows/s, ratio ${(rate / bareRate).toFixed(2)}, ${Math.round(megabytes)} MB at its peak`,
)
const again = await importFile(file, env)
console.log(`the same file again          ${Math.round(lines / again.seconds)} lines/s`)
await sql.end()
await server.remove()
process.exit()
