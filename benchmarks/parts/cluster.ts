// Lethe on a Citus cluster compared with its coordinator alone: requests one at a time, sweeps and imports.
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { Services } from '../../src/domain/services.ts'
import { sweepAged } from '../../src/maintenance/sweep.ts'
import { openServices } from '../../src/start.ts'
import { freshDistributedStore, freshSchema, namedCluster } from '../../test/support/citus.ts'
import type { Bench } from '../bench.ts'
import { importFile, writeFile } from '../processes/import-file.ts'
import { type RunningProcess, startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { ClusterSize } from '../sizes.ts'
import { type BenchStore, emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { addSubject, daysBack, fillStore, subjectPath } from '../stores/fill-store.ts'
import { subjectsIn } from '../stores/visits.ts'

const eventsEach = 10
const name = 'one at a time'

/** A store on the cluster, or the same one on its coordinator, with a service. */
interface Place {
  store: BenchStore
  server: RunningProcess
}

export async function measureCluster(bench: Bench<ClusterSize>): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  if (namedCluster === undefined) {
    return [{ name, rows: [], notes: ['Not measured: LETHE_TEST_CITUS names no cluster.'] }]
  }
  tell(`${size.subjects} subjects of ${eventsEach} events, twice`)
  const single = await startOn(bench, await freshSchema(lifetime, namedCluster))
  const cluster = await startOn(bench, await freshDistributedStore(lifetime, namedCluster))
  const requests = await measureRequests(size, single, cluster)
  tell('sweeps')
  for (const { server } of [single, cluster]) await server.stop()
  const sweeps = new Figures()
  const alone = await openServices(readConfig(single.store.env))
  const spread = await openServices(readConfig(cluster.store.env))
  for (let round = 0; round < size.sweeps; round++) {
    const [singleRate, rate] = [await sweepSome(alone, round), await sweepSome(spread, round)]
    sweeps.add('sweep', toRates(rate, singleRate))
  }
  for (const services of [alone, spread]) await services.close()
  tell(`imports of ${size.lines} lines`)
  const file = join(single.store.folder, 'visits.ndjson')
  await writeFile(file, size.lines, 'by time')
  const imports = new Figures()
  for (let round = 0; round < size.imports; round++) {
    const singleRate = await importRate(bench, file, await freshSchema(lifetime, namedCluster))
    const rate = await importRate(bench, file, await freshDistributedStore(lifetime, namedCluster))
    imports.add('import', toRates(rate, singleRate))
  }
  const notes = ['Compared with the same data on the coordinator alone.']
  return [
    { name, rows: requests.rows(), notes },
    { name: 'sweeps and imports', rows: [...sweeps.rows(), ...imports.rows()] },
  ]
}

function toRates(rowsPerSecond: number, singleRowsPerSecond: number) {
  return { rowsPerSecond, singleRowsPerSecond, ratio: rowsPerSecond / singleRowsPerSecond }
}

const large = 'visitor-with-many-events'

async function startOn({ size, lifetime }: Bench<ClusterSize>, address: string): Promise<Place> {
  const store = await emptyStore(lifetime, { address })
  await fillStore(store.env, size.subjects, eventsEach)
  const services = await openServices(readConfig(store.env))
  await addSubject(services, large, size.exportedEvents)
  await services.close()
  return { store, server: await startLethe(lifetime, store.env) }
}

async function measureRequests(size: ClusterSize, single: Place, cluster: Place): Promise<Figures> {
  const figures = new Figures()
  const measure = async (row: string, path: string, method?: 'GET' | 'DELETE') => {
    const singleMs = await timed(single, path, method)
    const tookMs = await timed(cluster, path, method)
    figures.add(row, { tookMs, singleMs, times: tookMs / singleMs })
  }
  for (let round = 0; round < size.rounds; round++) {
    const some = Math.floor(Math.random() * (size.subjects - size.erasures))
    await measure('read', subjectPath(size.erasures + some))
    await measure('page of 200', `${subjectsPath}?limit=200&sort=-lastSeenAt`)
  }
  for (let round = 0; round < size.erasures; round++) {
    await measure(`erase of ${eventsEach} events`, subjectPath(round), 'DELETE')
  }
  for (let round = 0; round < size.exports; round++)
    await measure('export', `${subjectsPath}/${large}/export`)
  return figures
}

async function timed({ store, server }: Place, path: string, method = 'GET'): Promise<number> {
  const headers = { authorization: `Bearer ${store.key}` }
  const from = performance.now()
  const response = await fetch(server.url + path, { method, headers })
  if (response.status !== 200) throw new Error(`${response.status} for ${method}`)
  await response.arrayBuffer()
  return performance.now() - from
}

/** Sweeps a twentieth of the days that are left; returns the deleted rows in a second. */
async function sweepSome(services: Services, round: number): Promise<number> {
  const days = Math.round(daysBack * (1 - (round + 1) / 20))
  const policy = {
    retentionDays: { ...services.retentionDays, free: days },
    activityDays: services.activityDays,
  }
  // Otherwise a shorter window would wait for a day.
  await services.retention.settleWindows({ policy, now: Date.now(), rule: 'immediately' })
  const from = performance.now()
  const swept = await sweepAged({ ...services, ...policy })
  const seconds = (performance.now() - from) / 1_000
  return (swept.events + swept.sessions + swept.subjects) / seconds
}

async function importRate(
  { size, lifetime }: Bench<ClusterSize>,
  file: string,
  address: string,
): Promise<number> {
  const { env } = await emptyStore(lifetime, { address })
  const { seconds } = await importFile(file, env)
  return (size.lines + subjectsIn(size.lines)) / seconds
}
