// Requests per second of Lethe's routes, each compared with a bare Fastify route with the same body, in
// interleaved rounds.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BareAnswer } from '../baselines/bare-server.ts'
import type { Bench } from '../bench.ts'
import { worstFreshConnection } from '../load/fresh-connections.ts'
import { measureRound } from '../load/load.ts'
import { startLethe, startProcess } from '../processes/start-process.ts'
import { Figures, type Group } from '../report/results.ts'
import type { HttpSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { fillStore, somePaths } from '../stores/fill-store.ts'
import { type LetheRoute, startRoutes } from './http-routes.ts'
import { eventsEach, type HttpStore, openHttpStore } from './http-stores.ts'

export async function measureHttp(bench: Bench<HttpSize>): Promise<Group[]> {
  const groups = []
  for (const name of bench.size.stores) {
    const store = await openHttpStore(bench, name)
    groups.push(
      typeof store === 'string' ? { name, rows: [], notes: [store] } : await measureOn(bench, store),
    )
  }
  if (bench.size.busyConnections > 0) groups.push(await measureFreshConnections(bench))
  return groups
}

async function measureOn(bench: Bench<HttpSize>, store: HttpStore): Promise<Group> {
  const { size, load, lifetime, tell } = bench
  const routes = await startRoutes(bench, store)
  const file = join(store.folder, 'bare.json')
  const answers = routes.map(
    ({ place, method, status, sample }): BareAnswer => ({ place, method, status, body: JSON.parse(sample) }),
  )
  writeFileSync(file, JSON.stringify(answers))
  const fastify = await startProcess(lifetime, 'benchmarks/baselines/bare-server.ts', ['fastify', file], {})
  const node = await startProcess(lifetime, 'benchmarks/baselines/bare-server.ts', ['node:http', file], {})
  const figures = new Figures()
  let uncounted = 0

  async function measurePair(route: LetheRoute) {
    const paths = route.nextPaths()
    const demand = { ...size, method: route.method, headers: route.headers }
    const bare = await measureRound(
      load,
      fastify,
      { ...demand, paths: paths.map((path) => `/${route.place}${path}`) },
      route.status,
    )
    // Node's own server takes Lethe's place, so that its ratio is computed in the same way.
    const measured = route.isBare
      ? await measureRound(load, node, { ...demand, paths: paths.map((path) => `/${route.place}${path}`) })
      : await measureRound(load, route.server, { ...demand, paths }, route.status)
    route.used(measured.requests + size.connections)
    if (!route.isBare && !(await route.isCounted())) uncounted += 1
    return { bare, measured }
  }
  for (let warmUp = 0; warmUp < size.warmUps; warmUp++) for (const route of routes) await measurePair(route)
  for (let round = 0; round < size.rounds; round++) {
    tell(`${store.name}, round ${round + 1} of ${size.rounds}`)
    for (const route of routes) {
      const { bare, measured } = await measurePair(route)
      const { requests: _, ...told } = measured
      figures.add(route.name, {
        ...told,
        bareRequestsPerSecond: bare.requestsPerSecond,
        bareCpuMicros: bare.cpuMicros,
        // Compared with its neighbour in time, because other load on the machine changes from second to
        // second.
        ratio: measured.requestsPerSecond / bare.requestsPerSecond,
        cpuRatio: bare.cpuMicros && measured.cpuMicros ? bare.cpuMicros / measured.cpuMicros : null,
      })
    }
  }
  for (const { name, sample } of routes) figures.add(name, { bodyBytes: Buffer.byteLength(sample) })
  return {
    name: store.name,
    rows: figures.rows(),
    notes: [...store.notes, ...limiterNotes(uncounted)],
    versions: store.versions,
  }
}

/** A limiter that was lost under load did not do its work. */
function limiterNotes(uncounted: number): string[] {
  return uncounted === 0 ? [] : [`After ${uncounted} loads the limiter could not be reached.`]
}

/**
 * How long a new connection waits for `/healthz` while many others are busy, with requests that are allowed
 * or refused.
 */
async function measureFreshConnections({ size, load, lifetime, tell }: Bench<HttpSize>): Promise<Group> {
  const store = await emptyStore(lifetime)
  await fillStore(store.env, size.subjects, eventsEach)
  const demand = {
    method: 'GET',
    paths: somePaths(10_000, size.subjects),
    connections: size.busyConnections,
  } as const
  const headers = { authorization: `Bearer ${store.key}` }
  const figures = new Figures()
  for (const [name, limit] of Object.entries({ allowed: store.env.LETHE_LIMIT_IP ?? '', refused: '1/day' })) {
    const server = await startLethe(lifetime, { ...store.env, LETHE_LIMIT_IP: limit })
    for (let round = -1; round < size.rounds; round++) {
      tell(`fresh connections, ${name}, round ${round + 1} of ${size.rounds}`)
      const busy = load.run({ ...demand, url: server.url, headers, seconds: size.seconds * 5 })
      const worstMs = await worstFreshConnection(server.url, busy)
      if (round >= 0) figures.add(name, { worstMs })
    }
    await server.stop()
  }
  return {
    name: 'fresh connections',
    rows: figures.rows(),
    notes: [`Beside ${size.busyConnections} busy connections.`],
  }
}
