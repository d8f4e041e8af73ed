import type { Logger } from 'pino'
import type { Clock } from '../domain/instant.ts'
import { withoutKeys } from '../domain/key-string.ts'
import { withoutSubject } from '../domain/without-subject.ts'
import type { RequestContext } from './request-context.ts'

/** Where the lines go: those that pino makes, and whole lines in its form. */
export interface ServerLog {
  logger: Logger
  write(lines: string): void
}

/** The id of a request as the log may have it. */
export function loggableId({ id, chosenId, match: { params }, request }: RequestContext): string {
  // One of ours holds nothing that a client sent.
  if (chosenId === null || chosenId === 'unusable') return id
  const subjectId = params.subjectId ?? subjectIn(request.url ?? '')
  return withoutKeys(subjectId ? withoutSubject(id, subjectId) : id)
}

/** Whom a URL speaks of that leads to no route, such as one with another method. */
function subjectIn(url: string): string | null {
  const [, segment = ''] = /\/subjects\/([^/?#]+)/.exec(url) ?? []
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * One line for each request, of what may be kept: never a URL, for ids stand in it, and never a header, for keys do. It has
 * pino's form, and is written by hand, because a line that always has the same fields need not be looked at field by field.
 */
export function requestLog({ logger, write }: ServerLog, clock: Clock) {
  return (context: RequestContext): void => {
    if (!logger.isLevelEnabled('info')) return
    const { request, response, match, caller, signedIn, startedAt } = context
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    // Of what is a text only the request id may hold something that JSON must escape.
    const keyId = caller ? `"${caller.key.id}"` : null
    const route = match.path === null ? null : `"${match.path}"`
    const member = signedIn === null ? '' : `,"memberId":"${signedIn.member.id}"`
    // A client that hung up did not get its answer.
    const hungUp = response.writableFinished ? '' : ',"hungUp":true'
    write(
      `{"level":30,"time":${clock()},"requestId":${JSON.stringify(loggableId(context))},"method":"${request.method}","route":${route},"status":${response.statusCode},"durationMs":${durationMs},"keyId":${keyId}${member}${hungUp},"msg":"request"}\n`,
    )
  }
}
