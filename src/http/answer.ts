import type { Logger } from 'pino'
import type { Clock } from '../domain/instant.ts'
import { metaOf } from './envelope.ts'
import { answerFailure } from './failure.ts'
import { commonHeaders, type HeaderList } from './headers.ts'
import { loggableId } from './request-log.ts'
import type { Visit } from './request-way.ts'

export interface AnswerParts {
  clock: Clock
  logger: Logger
  /** Whether the server is about to stop: a client that kept its connection would keep it from that. */
  isClosing(): boolean
  /** Told of every answer that is made for its client alone, and of its bytes, before it is sent. */
  onSend(visit: Visit, bytes: number): void
}

export type AnswerWriter = ReturnType<typeof answerWriter>

/**
 * Writes every answer of the API, straight to Node: all its headers are known at once, which is when that costs least. A request has one
 * answer, the first: another is dropped and logged, whoever makes it.
 */
export function answerWriter({ clock, logger, isClosing, onSend }: AnswerParts) {
  function write(visit: Visit, status: number, body: string | Buffer, headers?: HeaderList): void {
    const { id, request, response, budget } = visit
    if (response.headersSent) {
      logger.error({ requestId: loggableId(visit), status }, 'a second answer to a request was dropped')
      return
    }
    const list = headers ?? commonHeaders(id, budget)
    const isText = typeof body === 'string'
    const bytes = isText ? Buffer.byteLength(body) : body.length
    list.push('Content-Length', bytes)
    // Node drops whatever came behind a request for another protocol, so its client must not wait for answers to that.
    if (isClosing() || request.headers.upgrade !== undefined) list.push('Connection', 'close')
    response.writeHead(status, list)
    // Most answers are plain ASCII, which goes out as it stands.
    if (request.method === 'HEAD') response.end()
    else if (isText) {
      onSend(visit, bytes)
      response.end(body, bytes === body.length ? 'latin1' : 'utf8')
    } else response.end(body)
  }

  return {
    write,
    succeed(visit: Visit, data: unknown): void {
      write(visit, 200, JSON.stringify({ data, meta: metaOf(visit.id, clock()) }))
    },
    /** The last resort, which never throws: a client that cannot even be told of a failure sees its connection end. */
    fail(visit: Visit, error: unknown): void {
      try {
        tellFailure(visit, error)
      } catch (cause) {
        logger.error({ requestId: loggableId(visit), err: cause }, 'a failure could not be answered')
        visit.response.destroy()
      }
    },
  }

  function tellFailure(visit: Visit, error: unknown): void {
    const { request, destination } = visit
    const { status, headers, body } = answerFailure(error, {
      requestId: visit.id,
      now: clock(),
      budget: visit.budget,
      hasCredential: request.headers.authorization !== undefined,
      isConsole: destination.way !== undefined,
      scope: destination.route?.scope,
      allow: visit.allow,
    })
    if (status === 500) logger.error({ requestId: loggableId(visit), err: error }, 'request failed')
    write(visit, status, JSON.stringify(body), headers)
  }
}
