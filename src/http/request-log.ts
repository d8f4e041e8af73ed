import type { Logger } from 'pino'
import type { Clock } from '../domain/instant.ts'
import { withoutKeys } from '../domain/key-string.ts'
import { withoutSubject } from '../domain/without-subject.ts'
import type { Visit } from './request-way.ts'

/** Where the lines go: those that pino makes, and whole lines in its form. */
export interface ServerLog {
  logger: Logger
  write(lines: string): void
}

/** The id of a request as the log may have it. */
export function loggableId({ id, chosenId, params: { subjectId } }: Visit): string {
  // One of ours holds nothing that a client sent.
  if (chosenId === null || chosenId === 'unusable') return id
  return withoutKeys(subjectId ? withoutSubject(id, subjectId) : id)
}

/**
 * One line for each request, of what may be kept: never a URL, for ids stand in it, and never a header, for keys do. It has
 * pino's form, and is written by hand, because a line that always has the same fields need not be looked at field by field.
 */
export function requestLog({ logger, write }: ServerLog, clock: Clock) {
  return (visit: Visit): void => {
    if (!logger.isLevelEnabled('info')) return
    const { request, response, destination, caller, memberId, startedAt } = visit
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000
    // Of what is a text only the request id may hold something that JSON must escape.
    const keyId = caller ? `"${caller.key.id}"` : null
    const route = destination.path === undefined ? null : `"${destination.path}"`
    const member = memberId === null ? '' : `,"memberId":"${memberId}"`
    // A client that hung up did not get its answer.
    const hungUp = response.writableFinished ? '' : ',"hungUp":true'
    write(
      `{"level":30,"time":${clock()},"requestId":${JSON.stringify(loggableId(visit))},"method":"${request.method}","route":${route},"status":${response.statusCode},"durationMs":${durationMs},"keyId":${keyId}${member}${hungUp},"msg":"request"}\n`,
    )
  }
}
