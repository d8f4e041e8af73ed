import type { Eventually } from '../domain/eventually.ts'
import { checkReadiness } from '../operations/check-readiness.ts'
import type { AnswerWriter } from './answer.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Visit, WayParts } from './request-way.ts'

/** The only paths that answer without a key, uncounted. A route that is neither here nor has a scope stops the start. */
export const publicPaths: readonly string[] = ['/healthz', '/readyz', '/v1/analytics/openapi.json']

interface PublicRoute {
  path: string
  respond(visit: Visit): Eventually<void>
}

export function publicRoutes(
  { services, limiter }: Pick<WayParts, 'services' | 'limiter'>,
  { succeed, write }: AnswerWriter,
): PublicRoute[] {
  const document = JSON.stringify(openApiDocument())
  return [
    { path: '/healthz', respond: (visit) => succeed(visit, { status: 'ok' }) },
    {
      path: '/readyz',
      async respond(visit) {
        succeed(visit, { status: 'ready', parts: await checkReadiness(services, limiter) })
      },
    },
    { path: '/v1/analytics/openapi.json', respond: (visit) => write(visit, 200, document) },
  ]
}
