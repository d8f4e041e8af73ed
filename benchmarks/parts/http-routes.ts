import type { Bench } from '../bench.ts'
import { allAddresses } from '../load/load.ts'
import { type RunningProcess, startLethe, startProcess } from '../processes/start-process.ts'
import type { HttpSize } from '../sizes.ts'
import { subjectsPath } from '../stores/empty-store.ts'
import { somePaths, subjectPath } from '../stores/fill-store.ts'
import type { HttpStore } from './http-stores.ts'

/** A measured route of Lethe, with a sample response. */
export interface LetheRoute {
  name: string
  /** The path on a bare server with the same response. */
  place: string
  method: 'GET' | 'DELETE'
  status: number
  headers: Record<string, string>
  server: RunningProcess
  sample: string
  /** Node's own server with the body of a read is measured instead of Lethe. */
  isBare: boolean
  nextPaths(): string[]
  /** Reports how many of the paths may have been requested. */
  used(requests: number): void
  /** Whether the configured limiter counts requests; if not, responses have no rate-limit headers. */
  isCounted(): Promise<boolean>
}

const pathsAtHand = 10_000
const endless = { used: () => {} }
const nobody = 'nobody-was-ever-here'

/** Starts Lethe with unlimited budgets, and once for each used-up budget, and requests each route once. */
export async function startRoutes(
  { size, lifetime }: Bench<HttpSize>,
  store: HttpStore,
): Promise<LetheRoute[]> {
  const open = await startLethe(lifetime, store.env)
  const key = { authorization: `Bearer ${store.key}` }
  const get = { method: 'GET', status: 200, headers: key, server: open, isBare: false, ...endless } as const
  const reads = somePaths(pathsAtHand, size.subjects)
  const page = (limit: number) => [`${subjectsPath}?limit=${limit}`]
  const baseline = await startProcess(lifetime, 'benchmarks/baselines/route-server.ts', [], store.env)
  const baselineRefusal = await startProcess(
    lifetime,
    'benchmarks/baselines/refusal-server.ts',
    [],
    store.env,
  )
  const kinds = [
    { ...get, name: 'node:http', isBare: true, nextPaths: () => reads },
    { ...get, name: 'baseline read', server: baseline, nextPaths: () => reads },
    { ...get, name: 'read', nextPaths: () => reads },
    { ...get, name: 'baseline page of 50', server: baseline, nextPaths: () => page(50) },
    { ...get, name: 'page of 50', nextPaths: () => page(50) },
    { ...get, name: 'page of 200', nextPaths: () => page(200) },
    { ...get, name: 'erase', method: 'DELETE', ...toBeErased(size) } as const,
    {
      ...get,
      name: 'baseline 401',
      server: baselineRefusal,
      status: 401,
      headers: {},
      nextPaths: () => reads,
    },
    { ...get, name: '401', status: 401, headers: {}, nextPaths: () => reads },
    { ...get, name: '404', status: 404, nextPaths: () => [`${subjectsPath}/${nobody}`] },
  ]
  if (size.routes.includes('429 by address')) {
    const server = await startLethe(lifetime, { ...store.env, LETHE_LIMIT_IP: '1/day' })
    for (const address of allAddresses()) await ask(server.url, reads[0], { 'X-Forwarded-For': address })
    kinds.push({ ...get, name: '429 by address', status: 429, server, nextPaths: () => reads })
  }
  if (size.routes.includes('429 by key')) {
    const server = await startLethe(lifetime, { ...store.env, LETHE_LIMIT_KEY: '1/day' })
    await ask(server.url, reads[0], key)
    kinds.push({ ...get, name: '429 by key', status: 429, server, nextPaths: () => reads })
  }
  const routes = []
  for (const kind of kinds.filter(({ name }) => size.routes.includes(name))) {
    const { status, text } = await ask(kind.server.url, kind.nextPaths()[0], sampleHeaders(kind), kind.method)
    if (status !== kind.status) throw new Error(`${status} instead of ${kind.status} for ${kind.name}`)
    kind.used(1)
    const isCounted = async () =>
      kind.server === baseline || (await ask(kind.server.url, reads[0], kind.headers)).isCounted
    routes.push({ ...kind, place: kind.name.replaceAll(/\W+/g, '-'), sample: text, isCounted })
  }
  return routes
}

function sampleHeaders({ headers }: { headers: Record<string, string> }): Record<string, string> {
  return { ...headers, 'X-Forwarded-For': allAddresses()[0] ?? '' }
}

/** Subjects after those that are read; each is used once. */
function toBeErased({ subjects, erasures }: HttpSize) {
  let next = 0
  return {
    nextPaths: () =>
      Array.from({ length: erasures - next }, (_, number) => subjectPath(subjects + next + number)),
    used(requests: number) {
      next += requests
      if (next >= erasures) throw new Error('There are too few subjects to erase: give http.erasures more.')
    },
  }
}

async function ask(url: string, path: string | undefined, headers: Record<string, string>, method = 'GET') {
  const response = await fetch(url + path, { method, headers })
  const isCounted = response.headers.has('x-ratelimit-limit')
  return { status: response.status, text: await response.text(), isCounted }
}
