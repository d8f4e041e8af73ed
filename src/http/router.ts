import findMyWay from 'find-my-way'
import { publicPaths } from './public-routes.ts'
import type { Destination, Step } from './request-way.ts'

/** The values that a path has for its parameters, decoded once. */
export type PathParameters = Record<string, string | undefined>

/** A path, with its parameters in braces, and where requests to it lead. */
export interface Entry {
  methods: readonly string[] | 'any'
  path: string
  destination: Destination
  /** The way of requests with other methods, where it is not the usual one. */
  elsewhere?: readonly Step[]
}

/** `HEAD` works wherever `GET` does. */
export function withHead(method: string): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

export type Router = (method: string, url: string) => { destination: Destination; params: PathParameters }

/** Where a path leads, by method. */
interface Place {
  byMethod: ReadonlyMap<string, Destination>
  /** For the methods it does not take. */
  otherwise: Destination
}

/** Finds the destination of a request: nowhere for an unknown path, broken for one that cannot be decoded. */
export function buildRouter(entries: readonly Entry[], maxPathLength: number): Router {
  const router = findMyWay({
    maxParamLength: maxPathLength,
    // The request's way reads the query itself, at its turn.
    querystringParser: () => ({}),
    onBadUrl: unreachable,
  })
  for (const [path, same] of Map.groupBy(entries, (entry) => entry.path)) {
    for (const { destination } of same) requireScopeOrPublic(path, destination)
    // One tree of paths for all methods, of which this one stands for any.
    router.on('GET', path.replaceAll(/\{(\w+)\}/g, ':$1'), unreachable, placeOf(path, same))
  }
  return (method, url) => {
    // The router takes `*`, which OPTIONS may ask for, for the root.
    const found = url === '*' ? null : router.find('GET', url)
    if (found === null) return nowhere
    const place: Place | null = found.store
    // Only what could not be decoded is found without a place.
    const destination = place === null ? broken : (place.byMethod.get(method) ?? place.otherwise)
    return { destination, params: found.params }
  }
}

function placeOf(path: string, same: readonly Entry[]): Place {
  const byMethod = new Map<string, Destination>()
  for (const { methods, destination } of same) {
    if (methods === 'any') return { byMethod, otherwise: destination }
    for (const method of methods) byMethod.set(method, destination)
  }
  const way = same[0]?.elsewhere
  return { byMethod, otherwise: { allow: [...byMethod.keys()].join(', '), path, ...(way && { way }) } }
}

const nowhere = { destination: {}, params: {} }
const broken: Destination = { isBroken: true }

/** The router is only asked where a path leads; what is done there is not its business. */
function unreachable(): void {}

/** Default deny: a path has a scope, or is for members, or has a place on the list of public ones, or the service does not start. */
function requireScopeOrPublic(path: string, destination: Destination): void {
  const { route, allow, isPublic, needsMember, way } = destination
  if (route?.scope || allow || (needsMember && way)) return
  if (!isPublic || !publicPaths.includes(path))
    throw new Error(`The path ${path} has no scope and is not public.`)
}
