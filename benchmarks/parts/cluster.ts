// Lethe on a Citus cluster compared with the same data on its coordinator alone, one request at a time.
import { readConfig } from '../../src/config.ts'
import { openServices } from '../../src/start.ts'
import { freshDistributedStore, freshSchema, namedCluster } from '../../test/support/citus.ts'
import type { Bench } from '../bench.ts'
import { startLethe } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { ClusterSize } from '../sizes.ts'
import { emptyStore, subjectsPath } from '../stores/empty-store.ts'
import { addSubject, fillStore, subjectPath } from '../stores/fill-store.ts'

const eventsEach = 10
const name = 'one at a time'

/** A request to one of the two services, by its path. */
type Ask = (path: string, method?: 'GET' | 'DELETE') => Promise<void>

export async function measureCluster(bench: Bench<ClusterSize>): Promise<Group[]> {
  const { size, lifetime, tell } = bench
  if (namedCluster === undefined) {
    return [{ name, rows: [], notes: ['Not measured: LETHE_TEST_CITUS names no cluster.'] }]
  }
  tell(`${size.subjects} subjects of ${eventsEach} events, twice`)
  const cluster = await startOn(bench, await freshDistributedStore(lifetime, namedCluster))
  const single = await startOn(bench, await freshSchema(lifetime, namedCluster))
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
  return [{ name, rows: figures.rows(), notes: ['Compared with the same data on the coordinator alone.'] }]
}

const large = 'visitor-with-many-events'

async function startOn({ size, lifetime }: Bench<ClusterSize>, address: string): Promise<Ask> {
  const store = await emptyStore(lifetime, { address })
  await fillStore(store.env, size.subjects, eventsEach)
  const services = await openServices(readConfig(store.env))
  await addSubject(services, large, size.exportedEvents)
  await services.close()
  const server = await startLethe(lifetime, store.env)
  const headers = { authorization: `Bearer ${store.key}` }
  return async (path, method = 'GET') => {
    const response = await fetch(server.url + path, { method, headers })
    if (response.status !== 200) throw new Error(`${response.status} for ${method}`)
    await response.arrayBuffer()
  }
}

async function timed(ask: Ask, path: string, method?: 'GET' | 'DELETE'): Promise<number> {
  const from = performance.now()
  await ask(path, method)
  return performance.now() - from
}
