import type { Logger } from 'pino'
import type { Clock } from '../domain/instant.ts'
import { idOfCursor } from '../domain/page.ts'
import { asUuid, isUuid, reveals, revealsInHex, textOfHex } from '../domain/reveals.ts'
import type { LineBlock } from '../operations/ingest.ts'
import { hasBody } from './request-body.ts'
import type { RequestContext } from './request-context.ts'

/** The log: a pino logger, and a function that writes complete lines in the same format. */
export interface ServerLog {
  logger: Logger
  write(lines: string): void
}

/**
 * Logs a line per request, without URLs, which contain IDs, and headers, which contain keys. The line has
 * pino's format, but is built by hand, which is faster for fixed fields.
 */
export function requestLog({ logger, write }: ServerLog, clock: Clock) {
  return (context: RequestContext): void => {
    if (!logger.isLevelEnabled('info')) return
    const { keptId, request, response, match, caller, reader, signedIn, trace, startedAt } = context
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    // Only the request ID can contain characters that JSON must escape.
    const keyId = caller ? `"${caller.key.id}"` : null
    const route = match.path === null ? null : `"${match.path}"`
    const token = reader === null ? '' : `,"tokenId":"${reader.tokenId}"`
    const member = signedIn === null ? '' : `,"memberId":"${signedIn.member.id}"`
    const traced = trace === null ? '' : `,"traceId":"${trace.traceId}"`
    // A client that disconnected did not get its response.
    const hungUp = response.writableFinished ? '' : ',"hungUp":true'
    write(
      `{"level":30,"time":${clock()},"requestId":${JSON.stringify(keptId)},"method":"${request.method}","route":${route},"status":${response.statusCode},"durationMs":${durationMs},"keyId":${keyId}${token}${member}${traced}${hungUp},"msg":"request"}\n`,
    )
  }
}

/**
 * Whether the log and the activity may contain a request ID chosen by the client: not if it reveals a person
 * named in the URL and, if the body or a privacy request can name a person, only if it is a UUID.
 */
export function isKeepable(context: RequestContext): boolean {
  const { id } = context
  if (bodyNamesPerson(context) && !isUuid(id)) return false
  const named = namedInUrl(context)
  return named === null ? isUuid(id) : !named.some((text) => reveals(id, text))
}

/** Whether the body of a request can name a person. */
export function bodyNamesPerson({ request, match }: RequestContext): boolean {
  return match.kind === 'route' ? match.route.namesPerson : hasBody(request)
}

/** Whether an ID of hexadecimal digits reveals a text or the name of a field in a body. */
export function isNamedInFields(digits: string, body: unknown): boolean {
  if (typeof body === 'string') return revealsInHex(digits, body)
  if (typeof body !== 'object' || body === null) return false
  const parts = Array.isArray(body) ? body : Object.entries(body).flat()
  return parts.some((each) => isNamedInFields(digits, each))
}

/**
 * The same for a batch of lines, whose text may be long: whether it contains the ID or what it spells. A line
 * that is not text may contain it.
 */
export function isNamedInLines(digits: string, blocks: readonly LineBlock[]): boolean {
  const sought = [digits, asUuid(digits), textOfHex(digits).toLowerCase()]
  const isNamed = (line: string) => sought.some((text) => line.includes(text))
  return blocks.some(({ lines }) =>
    lines.some((line) => typeof line !== 'string' || isNamed(line.toLowerCase())),
  )
}

/** Shorter values of a query and segments of an unknown path are not treated as IDs. */
const minNameLength = 4

/** The parts of a URL that can identify a person; `null` if the URL is malformed. */
export function namedInUrl({ request, query, match }: RequestContext): string[] | null {
  const { url = '' } = request
  const { values, isBroken } = query
  const { kind, params } = match
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
