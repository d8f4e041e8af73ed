import type { Limiter } from '../domain/budget.ts'
import { checkReadiness } from '../operations/store-status.ts'
import { programFile } from '../runtime/program-files.ts'
import { openApiDocument, type ServiceFacts } from './api/openapi/document.ts'
import { packDocument, sendDocument } from './api/openapi/send-document.ts'
import { referenceRoutes } from './api/reference/page.ts'
import { sendAsset, textAsset } from './asset.ts'
import type { OriginPolicy } from './client-address.ts'
import type { Route } from './request-context.ts'
import { definePage, defineRoute } from './route.ts'
import { object, once, oneOf } from './schema.ts'

/** What anybody may read, unmetered: how the service is, and how its API is used. */
export function publicRoutes(
  limiter: Pick<Limiter, 'isReachable'>,
  facts: ServiceFacts,
  { serviceUrl }: Pick<OriginPolicy, 'serviceUrl'>,
): Route[] {
  // Made when somebody asks.
  const document = once(() => openApiDocument(facts))
  const packed = once(() => packDocument(document()))
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      access: 'public',
      response: object({ status: oneOf(['ok']) }),
      handle: () => ({ status: 'ok' as const }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      access: 'public',
      response: object({
        status: oneOf(['ready']),
        parts: object({ store: oneOf(['ok']), limiter: oneOf(['ok', 'unreachable']) }),
      }),
      async handle({ services }) {
        return { status: 'ready' as const, parts: await checkReadiness(services, limiter) }
      },
    }),
    definePage('/v1/analytics/openapi.json', ({ http, context }) =>
      sendDocument(http.respond, context, packed(), serviceUrl(context.request) ?? '/'),
    ),
    ...referenceRoutes(document, facts.budgets),
    verifyRoute(),
  ]
}

/** The page that verifies receipts: one file that also works offline, so its policy names its script and its style by their hashes. */
function verifyRoute(): Route {
  const made = once(() => {
    const page = programFile('docs/verify.html')
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page.toString()) ?? []
    if (policy === undefined) throw new Error('docs/verify.html has no policy.')
    // A page cannot forbid frames around itself; only a header can.
    return {
      page: textAsset('text/html; charset=utf-8', page),
      policy: `${policy}; frame-ancestors 'none'`,
    }
  })
  return definePage('/verify', ({ http, context }) => {
    const { page, policy } = made()
    sendAsset(http.respond, context, page, 'no-store', policy)
  })
}

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
  '/verify',
  '/',
  '/console',
  '/console/*',
  '/console/api/*',
  '/console/api/sign-in',
  '/console/api/invitation',
  '/console/api/invitation/accept',
]
