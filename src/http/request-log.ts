import type { Logger } from 'pino'
import type { Clock } from '../domain/instant.ts'
import { idOfCursor } from '../domain/page.ts'
import { isUuid, reveals } from '../domain/reveals.ts'
import { parseQueryString, queryOf } from './parameters.ts'
import { hasBody } from './request-body.ts'
import type { RequestContext, RouteMatch } from './request-context.ts'

/** Where the lines go: those that pino makes, and whole lines in its form. */
export interface ServerLog {
  logger: Logger
  write(lines: string): void
}

/**
 * One line for each request, of what may be kept: never a URL, for ids stand in it, and never a header, for keys do. It has
 * pino's form, and is written by hand, because a line that always has the same fields need not be looked at field by field.
 */
export function requestLog({ logger, write }: ServerLog, clock: Clock) {
  return (context: RequestContext): void => {
    if (!logger.isLevelEnabled('info')) return
    const { keptId, request, response, match, caller, signedIn, startedAt } = context
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    // Of what is a text only the request id may hold something that JSON must escape.
    const keyId = caller ? `"${caller.key.id}"` : null
    const route = match.path === null ? null : `"${match.path}"`
    const member = signedIn === null ? '' : `,"memberId":"${signedIn.member.id}"`
    // A client that hung up did not get its answer.
    const hungUp = response.writableFinished ? '' : ',"hungUp":true'
    write(
      `{"level":30,"time":${clock()},"requestId":${JSON.stringify(keptId)},"method":"${request.method}","route":${route},"status":${response.statusCode},"durationMs":${durationMs},"keyId":${keyId}${member}${hungUp},"msg":"request"}\n`,
    )
  }
}

/**
 * Whether log and activity may keep an id that a client chose: not where it tells whom the URL names, and, where a body may name
 * somebody, only if it is a UUID.
 */
export function isKeepable({ id, request, match }: RequestContext): boolean {
  const bodyNamesPerson = match.kind === 'route' ? match.route.bodyNamesPerson : hasBody(request)
  if (bodyNamesPerson && !isUuid(id)) return false
  const named = namedIn(request.url ?? '', match)
  return named === null ? isUuid(id) : !named.some((text) => reveals(id, text))
}

/** The same once its body has been read. */
export function isNamedIn(id: string, body: unknown): boolean {
  if (typeof body === 'string') return reveals(id, body)
  return typeof body === 'object' && body !== null && Object.values(body).some((each) => isNamedIn(id, each))
}

/** Shorter values of a query, and words of a path that leads nowhere, tell nobody's id. */
const minNameLength = 4

/** What a URL may name somebody by; `null` where it is broken. */
function namedIn(url: string, { kind, params }: RouteMatch): string[] | null {
  const { values, isBroken } = parseQueryString(queryOf(url))
  const segments = kind === 'route' ? [] : decodedSegments(url)
  if (isBroken || segments === null) return null
  const cursor = values.get('cursor')
  const others = [...values.values(), (cursor && idOfCursor(cursor)) ?? '', ...segments]
  return [params.subjectId ?? '', ...others.filter((text) => text.length >= minNameLength)]
}

function decodedSegments(url: string): string[] | null {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return null
  }
}
