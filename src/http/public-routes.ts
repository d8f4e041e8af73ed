import type { FastifyInstance } from 'fastify'
import type { AnswerWriter } from './answer.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Services } from './route.ts'

/** The only paths that answer without a key, uncounted. A route that is neither here nor has a scope stops the start. */
export const publicPaths: readonly string[] = ['/healthz', '/readyz', '/v1/analytics/openapi.json']

export function registerPublicRoutes(
  app: FastifyInstance,
  services: Services,
  { succeed, write }: AnswerWriter,
): void {
  const config = (path: string) => ({ isPublic: true, path }) as const
  const document = JSON.stringify(openApiDocument())

  app.get('/healthz', { config: config('/healthz') }, ({ visit }) => succeed(visit, { status: 'ok' }))
  app.get('/readyz', { config: config('/readyz') }, async ({ visit }) => {
    await services.ping()
    succeed(visit, { status: 'ready' })
  })
  app.get('/v1/analytics/openapi.json', { config: config('/v1/analytics/openapi.json') }, ({ visit }) =>
    write(visit, 200, document),
  )
}
