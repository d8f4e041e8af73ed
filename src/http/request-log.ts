import { type DestinationStream, type Logger, symbols } from 'pino'
import type { Visit } from './request-way.ts'

/**
 * One line for each request, of what may be kept: never a URL, for ids stand in it, and never a header, for keys do. Goes to where
 * pino writes, in pino's form; for a line that is always the same shape, `JSON.stringify` takes a third of the time.
 */
export function requestLog(logger: Logger) {
  const stream: DestinationStream = Reflect.get(logger, symbols.streamSym)
  return ({ request, reply, destination, caller, startedAt }: Visit): void => {
    if (!logger.isLevelEnabled('info')) return
    const line = {
      level: 30,
      time: Date.now(),
      requestId: withoutKeys(request.id),
      method: request.method,
      route: destination.path ?? null,
      status: reply.raw.statusCode,
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      keyId: caller?.key.id ?? null,
      // A client that hung up did not get its answer.
      ...(!reply.raw.writableFinished && { hungUp: true }),
      msg: 'request',
    }
    stream.write(`${JSON.stringify(line)}\n`)
  }
}

/** A client may choose any request id; should it choose its key, the log does not keep it. */
export function withoutKeys(requestId: string): string {
  return requestId.replaceAll(/lethe_[0-9A-Za-z]{16}_[0-9A-Za-z]+/g, '[key]')
}
