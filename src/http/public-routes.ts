import type { Eventually } from '../domain/eventually.ts'
import { checkReadiness } from '../operations/check-readiness.ts'
import type { AnswerWriter } from './answer.ts'
import { once } from './once.ts'
import { openApiDocument } from './openapi/document.ts'
import { reference } from './reference/reference.ts'
import type { Visit, WayParts } from './request-way.ts'

/**
 * The only paths that answer without a key or a member's sign-in. A route that is neither here nor has a scope, nor is for members,
 * stops the start. The console's own may be metered, by budgets of its own.
 */
export const publicPaths: readonly string[] = [
  '/healthz',
  '/readyz',
  '/v1/analytics/openapi.json',
  '/docs',
  '/docs/reference.css',
  '/docs/reference.js',
  '/docs/icon.svg',
  '/',
  '/console',
  '/console/*',
  '/console/api/*',
  '/console/api/sign-in',
  '/console/api/invitation',
  '/console/api/invitation/accept',
]

interface PublicRoute {
  path: string
  respond(visit: Visit): Eventually<void>
}

export function publicRoutes(
  { services, limiter, budgets }: Pick<WayParts, 'services' | 'limiter' | 'budgets'>,
  answer: AnswerWriter,
): PublicRoute[] {
  const { succeed, write } = answer
  // The same bytes for everybody, so that clients who do not read them cost no memory; made when somebody asks.
  const document = once(openApiDocument)
  const bytes = once(() => Buffer.from(JSON.stringify(document())))
  return [
    { path: '/healthz', respond: (visit) => succeed(visit, { status: 'ok' }) },
    {
      path: '/readyz',
      async respond(visit) {
        succeed(visit, { status: 'ready', parts: await checkReadiness(services, limiter) })
      },
    },
    { path: '/v1/analytics/openapi.json', respond: (visit) => write(visit, 200, bytes()) },
    ...reference(document, budgets, answer),
  ]
}
