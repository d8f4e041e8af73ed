import type { Logger } from 'pino'
import type { Visit } from './request-way.ts'

/** One line for each request, of what may be kept: never a URL, for ids stand in it, and never a header, for keys do. */
export function requestLog(logger: Logger) {
  return ({ request, reply, destination, caller, startedAt }: Visit): void => {
    logger.info(
      {
        requestId: withoutKeys(request.id),
        method: request.method,
        route: destination.path ?? null,
        status: reply.raw.statusCode,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        keyId: caller?.key.id ?? null,
        ...(!reply.raw.writableFinished && { hungUp: true }),
      },
      'request',
    )
  }
}

/** A client may choose any request id; should it choose its key, the log does not keep it. */
export function withoutKeys(requestId: string): string {
  return requestId.replaceAll(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[key]')
}
