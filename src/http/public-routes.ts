import type { FastifyInstance } from 'fastify'
import { metaOf } from './envelope.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Services } from './route.ts'

/** The only paths that answer without a key, uncounted. A route that is neither here nor has a scope stops the start. */
export const publicPaths: readonly string[] = ['/healthz', '/readyz', '/v1/analytics/openapi.json']

export function registerPublicRoutes(app: FastifyInstance, services: Services): void {
  const config = (path: string) => ({ isPublic: true, path }) as const
  const document = JSON.stringify(openApiDocument())
  const status = (requestId: string, status: string) => ({
    data: { status },
    meta: metaOf(requestId, services.clock()),
  })

  app.get('/healthz', { config: config('/healthz') }, (request) => status(request.id, 'ok'))
  app.get('/readyz', { config: config('/readyz') }, async (request) => {
    await services.ping()
    return status(request.id, 'ready')
  })
  app.get(
    '/v1/analytics/openapi.json',
    { config: config('/v1/analytics/openapi.json') },
    (_request, reply) => {
      reply.type('application/json; charset=utf-8').send(document)
    },
  )
}
