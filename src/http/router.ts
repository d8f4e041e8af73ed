import { METHODS } from 'node:http'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { publicPaths } from './public-routes.ts'
import type { Destination, Step } from './request-way.ts'

/** The values that a path has for its parameters, decoded once. */
export type PathParameters = Record<string, string | undefined>

/** A path, with its parameters in braces, and where requests to it lead. */
export interface Entry {
  methods: readonly string[]
  path: string
  destination: Destination
  /** The way of requests with other methods, where it is not the usual one. */
  elsewhere?: readonly Step[]
}

export type Router = (method: string, url: string) => { destination: Destination; params: PathParameters }

/** Finds the destination of a request: nowhere for an unknown path, broken for one that cannot be decoded. */
export function buildRouter(entries: readonly Entry[], maxPathLength: number): Router {
  const router = findMyWay({
    maxParamLength: maxPathLength,
    // The request's way reads the query itself, at its turn.
    querystringParser: () => ({}),
    onBadUrl: unreachable,
  })
  for (const { methods, path, destination } of entries) {
    requireScopeOrPublic(path, destination)
    router.on(methods.filter(isMethod), path.replaceAll(/\{(\w+)\}/g, ':$1'), unreachable, destination)
  }
  return (method, url) => {
    // The router takes `*`, which OPTIONS may ask for, for the root.
    const found = isMethod(method) && url !== '*' ? router.find(method, url) : null
    if (found === null) return nowhere
    // Only what could not be decoded is found without a destination.
    return { destination: found.store ?? broken, params: found.params }
  }
}

const nowhere = { destination: {}, params: {} }
const broken: Destination = { isBroken: true }

const methods = new Set<string>(METHODS)

function isMethod(text: string): text is HTTPMethod {
  return methods.has(text)
}

/** The router is only asked where a path leads; what is done there is not its business. */
function unreachable(): void {}

/** Default deny: a path has a scope, or is for members, or has a place on the list of public ones, or the service does not start. */
function requireScopeOrPublic(path: string, destination: Destination): void {
  const { route, allow, isPublic, needsMember, way } = destination
  if (route?.scope || allow || (needsMember && way)) return
  if (!isPublic || !publicPaths.includes(path))
    throw new Error(`The path ${path} has no scope and is not public.`)
}
