// Lethe on PostgreSQL beside the bare SQL, on one server in one run: reads, pages, erasures, requests per second, and the import.
import autocannon from 'autocannon'
import { Client } from 'pg'
import { readConfig } from '../src/config.ts'
import { openWorkplace } from '../src/start.ts'
import { subjectKeyText } from '../src/storage/postgres/key-text.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { addSubject, fillStore, median, startProcess } from './support.ts'
import { tracker } from './visits.ts'

const subjects = Number(process.argv[2] ?? 200_000)
const eventsEach = 10
const rounds = 400
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
    `${what.padEnd(28)}${a.toFixed(2).padStart(12)}${b.toFixed(2).padStart(12)}${(b / a).toFixed(2).padStart(8)}`,
  )
}

console.log(`median ms, one at a time      ${'bare SQL'.padStart(10)}${'over HTTP'.padStart(12)}   ratio`)
const some = () => Math.floor(Math.random() * subjects)
const idOf = (number: number) => `visitor-${number.toString().padStart(8, '0')}`
const pairs: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
  [
    'read',
    () =>
      sql.query({
        name: 'read',
        text: 'SELECT * FROM subjects WHERE subject_key = $1',
        values: [subjectKeyText(tracker, idOf(some()))],
      }),
    () => ask(store.subjectPath(some())),
  ],
  [
    'page of 50 by subjectId',
    () => page('subject_id'),
    () => ask(`${store.listPath}?sort=subjectId&limit=50`),
  ],
  [
    'page of 50 by lastSeenAt',
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
  const costs = { bare: [] as number[], ours: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const id of [`bare-${events}-${round}`, `ours-${events}-${round}`]) {
      await addSubject(workplace, id, events)
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
    costs.ours.push(await timed(() => ask(`${store.listPath}/ours-${events}-${round}`, 'DELETE')))
  }
  report(`erase ${events} events`, costs.bare, costs.ours)
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
    `${urls.length} process${urls.length > 1 ? 'es' : ''}`.padEnd(28),
    Math.round(await requestsPerSecond(urls, 64)),
  )
}
lethe.stop()
second.stop()
await sql.end()
await server.remove()
process.exit()
