import { isUtf8 } from 'node:buffer'
import type { Origin } from '../domain/activity.ts'
import { LetheError } from '../domain/errors.ts'
import type { Passwords } from '../domain/password.ts'
import { windowStart } from '../domain/plan.ts'
import { Problems } from '../domain/problems.ts'
import type { SignedIn, SignedInBrowser } from '../domain/sign-in.ts'
import type { TrackerView } from '../domain/tracker.ts'
import { parseQueryString, queryOf } from '../http/query-string.ts'
import { readBody } from '../http/request-body.ts'
import type { Visit } from '../http/request-way.ts'
import { check, readQuery, type Services, validators } from '../http/route.ts'
import { fitting } from '../http/schemas/fitting.ts'
import { type Fields, isOptional, object, type ValuesOf } from '../http/schemas/schema.ts'
import { pathParameters } from './schemas.ts'

/** What the console's routes work with. */
export interface ConsoleServices extends Services {
  passwords: Passwords
  /** Counts an attempt to sign in from its address. Ends the request when there were too many. */
  countAttempt(visit: Visit): Promise<void>
  /** The same for its account: from a browser that the member is known to use, or else from its address and from all strangers. */
  countGuess(visit: Visit, account: string, browserId: string | null): Promise<void>
  /** What its browser shows of an earlier sign-in. */
  browserMark(visit: Visit): string | null
  /** Hands the browser what a sign-in has made for it. */
  welcome(visit: Visit, browser: SignedInBrowser): void
  /** Takes the token away from the browser, which stays known. */
  forgetToken(visit: Visit): void
}

/** A request whose parameters have been read. */
export interface Call<Query, Body> {
  visit: Visit
  services: ConsoleServices
  /** The values of the path's parameters; `''` for one that the path does not have. */
  path: Record<keyof typeof pathParameters, string>
  query: Query
  body: Body
  /** For what only the route itself can find wrong. */
  problems: Problems
}

/** A call by a member. */
export interface MemberCall<Query, Body> extends Call<Query, Body> {
  signedIn: SignedIn
  organisationId: string
  /** Where its changes come from. */
  origin: Origin
  /** What the member sees of the tracker in the path. */
  tracker: TrackerView
}

/** A route of the console. It says who may use it: there is no third kind. */
export interface ConsoleRoute {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  access: 'open' | 'member'
  /** What its query may hold, and the JSON object in its body, by name. */
  query: Fields
  body: Fields
  /** Reads the parameters, all problems at once, and does the work. What it hands back is the data of the answer. */
  answer(visit: Visit, services: ConsoleServices, signedIn: SignedIn | null): Promise<unknown>
}

interface Declaration<Query extends Fields, Body extends Fields, TheCall> {
  method: ConsoleRoute['method']
  path: string
  query?: Query
  body?: Body
  run(call: TheCall): Promise<unknown>
}

/** A route for whoever comes. It must stand on the list of public paths. */
export function openRoute<Query extends Fields, Body extends Fields>(
  declaration: Declaration<Query, Body, Call<ValuesOf<Query>, ValuesOf<Body>>>,
): ConsoleRoute {
  const read = reading(declaration)
  const { method, path, query = {}, body = {} } = declaration
  return {
    ...{ method, path, access: 'open', query, body },
    answer: async (visit, services) => declaration.run(await read(visit, services)),
  }
}

/** A route for members who are signed in. */
export function memberRoute<Query extends Fields, Body extends Fields>(
  declaration: Declaration<Query, Body, MemberCall<ValuesOf<Query>, ValuesOf<Body>>>,
): ConsoleRoute {
  const read = reading(declaration)
  const { method, path, query = {}, body = {} } = declaration
  return {
    ...{ method, path, access: 'member', query, body },
    async answer(visit, services, signedIn) {
      if (!signedIn) throw new Error('A request came to a member’s route without one.')
      const call = await read(visit, services)
      const { id, email } = signedIn.member
      const { id: organisationId, plan } = signedIn.organisation
      const actor = { kind: 'member', id, name: email } as const
      const since = windowStart(services.retentionDays, plan, services.clock())
      return declaration.run({
        ...call,
        signedIn,
        organisationId,
        origin: { actor, requestId: visit.id, organisationId },
        tracker: { organisationId, trackerId: call.path.trackerId, since },
      })
    },
  }
}

const pathFields = validators(pathParameters)

/** Reads path, query and body of a route's requests, and refuses what is wrong with them at once. */
function reading<Query extends Fields, Body extends Fields>({
  path,
  query = {} as Query,
  body = {} as Body,
}: Pick<Declaration<Query, Body, never>, 'path' | 'query' | 'body'>) {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
  const queryFields = validators(query)
  const bodyFields = validators(body)
  const isQuery = fitting(object(query))
  const isBody = fitting(object(body))
  const needed = Object.keys(body).filter((name) => !isOptional(body[name]))

  return async (visit: Visit, services: ConsoleServices): Promise<Call<ValuesOf<Query>, ValuesOf<Body>>> => {
    const sent = await readJson(visit)
    const problems = new Problems()
    const { trackerId = '', subjectId = '', keyId = '', memberId = '' } = visit.params
    const values = { trackerId, subjectId, keyId, memberId }
    for (const name of names) check(name, visit.params[name], pathFields, problems)
    const queryValues = readQuery(queryFields, parseQueryString(queryOf(visit.request.url)), problems)
    for (const name of new Set([...needed, ...Object.keys(sent)]))
      check(name, sent[name], bodyFields, problems)
    problems.throwIfAny()
    if (!isQuery(queryValues) || !isBody(sent)) {
      throw new Error('A request that passed field by field fails as a whole.')
    }
    return { visit, services, path: values, query: queryValues, body: sent, problems }
  }
}

/** The fields of a JSON object in a request's body; none without a body. */
async function readJson({ request }: Visit): Promise<Record<string, unknown>> {
  const bytes = await readBody(request)
  if (bytes.length === 0 || request.method === 'GET' || request.method === 'HEAD') return {}
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
  const fields = isJson && isUtf8(bytes) ? parse(bytes.toString()) : null
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new LetheError(
      'invalid_request',
      'The body must be a JSON object in UTF-8, sent as application/json.',
    )
  }
  return { ...fields }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
