// Lethe on PostgreSQL compared with plain SQL on the same server: reads, pages, erasures, requests per second
// and import.
import { join } from 'node:path'
import { Client } from 'pg'
import { readConfig } from '../../src/config.ts'
import { eraseSubject } from '../../src/operations/erase-subject.ts'
import { openServices } from '../../src/start.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { copyBarely, deleteBarely, listBarely, readBarely } from '../baselines/bare-postgres.ts'
import type { Bench } from '../bench.ts'
import { type LoadGenerator, measureRound } from '../load/load.ts'
import { importFile, writeFile } from '../processes/import-file.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { PostgresSize } from '../sizes.ts'
import { type BenchStore, emptyStore, organisation, subjectsPath } from '../stores/empty-store.ts'
import { addSubject, fillStore, somePaths, subjectId, subjectPath } from '../stores/fill-store.ts'
import { createDatabase, postgresVersion } from '../stores/postgres-database.ts'
import { subjectsIn, tracker } from '../stores/visits.ts'

const eventsEach = 10

interface Place {
  bench: Bench<PostgresSize>
  /** The address of the server. */
  address: string
  store: BenchStore
  sql: Client
  lethe: RunningProcess
}

export async function measurePostgres(bench: Bench<PostgresSize>): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  // With PostgreSQL's defaults: every commit is synced before it is confirmed.
  const server = await startPostgres({})
  lifetime.after(() => server.remove())
  const address = await createDatabase(server.url, 'bench')
  tell(`${size.subjects} subjects of ${eventsEach} events`)
  const store = await emptyStore(lifetime, { address })
  await fillStore(store.env, size.subjects, eventsEach)
  const sql = new Client(address)
  await sql.connect()
  lifetime.after(() => sql.end())
  await sql.query('VACUUM ANALYZE')
  const lethe = await startLethe(lifetime, store.env)
  const place = { bench, address: server.url, store, sql, lethe }
  const beside = await measureBesideSql(place)
  const versions = { PostgreSQL: await postgresVersion(sql) }
  return [{ ...beside, versions }, await measureProcesses(place), await measureImport(place)]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

async function measureBesideSql(place: Place): Promise<Group> {
  const { bench, store, sql, lethe } = place
  const { size, tell } = bench
  const figures = new Figures()
  const some = () => Math.floor(Math.random() * size.subjects)
  const ask = async (path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${store.key}` }
    const response = await fetch(lethe.url + path, { method, headers })
    if (response.status !== 200) throw new Error(`${response.status} for ${method}`)
    await response.arrayBuffer()
  }
  const pairs: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['read', () => readBarely(sql, subjectId(some())), () => ask(subjectPath(some()))],
    [
      'page of 50 by subjectId',
      () => listBarely(sql, 'subject_id'),
      () => ask(`${subjectsPath}?sort=subjectId`),
    ],
    [
      'page of 50 by lastSeenAt',
      () => listBarely(sql, 'last_seen_at, subject_id'),
      () => ask(`${subjectsPath}?sort=lastSeenAt`),
    ],
  ]
  tell('beside the bare SQL')
  for (let round = 0; round < size.rounds; round++) {
    for (const [name, bare, ours] of pairs) {
      const [bareMs, tookMs] = [await timed(bare), await timed(ours)]
      figures.add(name, { bareMs, tookMs, ratio: bareMs / tookMs })
    }
  }
  const services = await openServices(readConfig(store.env))
  const view = { organisationId: organisation, trackerId: tracker, since: 0 }
  for (const [kind, events] of size.erasedEvents.entries()) {
    for (let round = 0; round < (size.erasures[kind] ?? 1); round++) {
      const name = (who: string) => `${who}-${events}-${round}`
      for (const who of ['bare', 'store', 'ours']) await addSubject(services, name(who), events)
      await sql.query('CHECKPOINT')
      const bareMs = await timed(() => deleteBarely(sql, name('bare')))
      const storeMs = await timed(() => eraseSubject(services, view, name('store')))
      const tookMs = await timed(() => ask(`${subjectsPath}/${name('ours')}`, 'DELETE'))
      figures.add(`erase of ${events.toLocaleString('en')} events`, {
        bareMs,
        storeMs,
        tookMs,
        ratio: bareMs / tookMs,
      })
    }
  }
  await services.close()
  return {
    name: 'one at a time, beside the bare SQL',
    rows: figures.rows(),
    notes: ['PostgreSQL runs on the same machine; budgets are counted in memory.'],
  }
}

async function measureProcesses({ bench, store, lethe }: Place): Promise<Group> {
  const { size, load, lifetime, tell } = bench
  const second = await startLethe(lifetime, store.env)
  const figures = new Figures()
  tell('reads per second of one and of two processes')
  for (let round = -1; round < 3; round++) {
    const one = await readsPerSecond(load, [lethe], store, size)
    const two = await readsPerSecond(load, [lethe, second], store, size)
    if (round < 0) continue
    figures.add('1 process', { requestsPerSecond: one, ratio: 1 })
    figures.add('2 processes', { requestsPerSecond: two, ratio: two / one })
  }
  for (const server of [lethe, second]) await server.stop()
  return { name: 'concurrent reads', rows: figures.rows() }
}

async function readsPerSecond(
  load: LoadGenerator,
  servers: RunningProcess[],
  { key }: BenchStore,
  { connections, seconds, subjects }: PostgresSize,
): Promise<number> {
  const rounds = await Promise.all(
    servers.map((server) =>
      measureRound(load, server, {
        method: 'GET',
        headers: { authorization: `Bearer ${key}` },
        paths: somePaths(10_000, subjects),
        connections: connections / servers.length,
        seconds,
      }),
    ),
  )
  return rounds.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)
}

async function measureImport({ bench, address, store }: Place): Promise<Group> {
  const { size, lifetime, tell } = bench
  tell(`import of ${size.lines} lines`)
  const bare = await createDatabase(address, 'bare_copy')
  await emptyStore(lifetime, { address: bare })
  const bareRate = await copyBarely(bare, size.lines)
  const file = join(store.folder, 'visits.ndjson')
  await writeFile(file, size.lines, 'by time')
  const imported = await emptyStore(lifetime, { address: await createDatabase(address, 'imported') })
  const rows = size.lines + subjectsIn(size.lines)
  const figures = new Figures()
  figures.add('bare COPY', { rowsPerSecond: bareRate, ratio: 1 })
  for (const name of ['lethe import', 'the same file again']) {
    const { seconds, megabytes } = await importFile(file, imported.env)
    figures.add(name, { rowsPerSecond: rows / seconds, ratio: rows / seconds / bareRate, seconds, megabytes })
  }
  return {
    name: 'import, beside COPY',
    rows: figures.rows(),
    notes: [`${size.lines.toLocaleString('en')} lines.`],
  }
}
