import findMyWay from 'find-my-way'
import { isRole } from '../domain/member.ts'
import type { PathParameters } from './parameters.ts'
import { publicPaths } from './public-routes.ts'
import type { Access, PipelineName, Route, RouteMatch } from './request-context.ts'
import { bodilessHeaders } from './response-headers.ts'
import { defineRoute } from './route.ts'

type Router = (method: string, url: string) => RouteMatch

/** The entry of a path in the route table. */
interface PathEntry {
  byMethod: ReadonlyMap<string, { route: Route; pipeline: PipelineName }>
  path: string
  allow: string
  /** The pipeline of requests with other methods. */
  otherwise: PipelineName
}

/** Unknown paths below it belong to the console, not to the API. */
const consoleApi = '/console/api/*'

/**
 * Builds the route table. Throws for a route without access control whose path is not in `publicPaths`.
 * Unknown paths belong to `otherwise`.
 */
export function buildRouter(
  routes: readonly Route[],
  maxPathLength: number,
  otherwise: PipelineName = 'key',
): Router {
  const nothing: RouteMatch = { kind: 'nothing', pipeline: otherwise, path: null, params: {} }
  const broken: RouteMatch = { kind: 'broken-url', pipeline: otherwise, path: null, params: {} }
  const router = findMyWay({
    maxParamLength: maxPathLength,
    // The pipeline reads the query with the other parameters.
    querystringParser: () => ({}),
    onBadUrl: unreachable,
  })
  const add = (path: string, entry: PathEntry | null) =>
    // One tree of paths serves all methods, registered as GET.
    router.on('GET', path.replaceAll(/\{(\w+)\}/g, ':$1'), unreachable, entry)
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) add(path, entryOf(path, same))
  if (otherwise === 'key') {
    add(consoleApi, { byMethod: new Map(), path: consoleApi, allow: '', otherwise: 'open' })
  }
  return (method, url) => {
    // The router would treat `*`, which OPTIONS may use, as the root.
    const found = url === '*' ? null : router.find('GET', url)
    if (found === null) return nothing
    const entry: PathEntry | null = found.store
    // Only a path that cannot be decoded has no entry.
    if (entry === null) return broken
    const params = found.params as PathParameters
    const { byMethod, path, allow, otherwise } = entry
    const taken = byMethod.get(method)
    if (taken) return { kind: 'route', pipeline: taken.pipeline, path, route: taken.route, params }
    if (allow === '') return { kind: 'nothing', pipeline: otherwise, path, params }
    return { kind: 'other-method', pipeline: otherwise, path, allow, params }
  }
}

function entryOf(path: string, routes: readonly Route[]): PathEntry {
  const byMethod = new Map<string, { route: Route; pipeline: PipelineName }>()
  for (const route of routes) {
    const pipeline = pipelineFor(route.access)
    const isOpen = pipeline === 'open' || pipeline === 'public'
    // A browser asks with OPTIONS, before it sends a credential.
    if (isOpen && route.method !== 'OPTIONS' && !publicPaths.includes(path))
      throw new Error(`The path ${path} has no scope and is not public.`)
    byMethod.set(route.method, { route, pipeline })
    // `HEAD` works wherever `GET` does.
    if (route.method === 'GET') byMethod.set('HEAD', { route, pipeline })
  }
  if (publicPaths.includes(path)) {
    const allow = [...byMethod.keys(), 'OPTIONS'].join(', ')
    byMethod.set('OPTIONS', { route: optionsRoute(path, allow), pipeline: 'public' })
  }
  return { byMethod, path, allow: [...byMethod.keys()].join(', '), otherwise: pipelineOfOthers(path, routes) }
}

/** The pipeline of requests to a path with a method that it does not support. */
function pipelineOfOthers(path: string, routes: readonly Route[]): PipelineName {
  if (path === '/' || path.startsWith('/console')) return 'open'
  return routes.some(({ access }) => access === 'variable-token') ? 'token' : 'key'
}

/** Lists the methods of a public path. */
function optionsRoute(path: string, allow: string): Route {
  return defineRoute({
    method: 'OPTIONS',
    path,
    access: 'public',
    response: null,
    handle({ context, http }) {
      http.respond.write(context, 204, '', [...bodilessHeaders(context), 'Allow', allow])
    },
  })
}

function pipelineFor(access: Access): PipelineName {
  if (access === 'variable-token') return 'token'
  if (isRole(access)) return 'member'
  if (access === 'open' || access === 'public') return access
  if (/^[a-z-]+:[a-z-]+$/.test(access ?? '')) return 'key'
  throw new Error(`A route has no access: ${access}`)
}

/** The router is only used for matching; it never calls handlers. */
function unreachable(): void {}
