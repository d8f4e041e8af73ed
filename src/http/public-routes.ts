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
import { variablesDocument } from './variables/document.ts'

/** Public routes without a budget: whether the process is alive, and whether it can serve requests. */
export function probeRoutes(limiter: Pick<Limiter, 'isReachable'>): Route[] {
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
  ]
}

/** Public routes without a budget: the documentation of the management API, and the page for receipts. */
export function documentationRoutes(
  facts: ServiceFacts,
  { serviceUrl }: Pick<OriginPolicy, 'serviceUrl'>,
): Route[] {
  const documents = once(() => [openApiDocument(facts), variablesDocument(facts)] as const)
  const packed = once(() => packDocument(documents()[0]))
  return [
    definePage('/v1/analytics/openapi.json', ({ http, context }) =>
      sendDocument(http.respond, context, packed(), serviceUrl(context.request) ?? '/'),
    ),
    ...referenceRoutes(documents, facts.budgets),
    verifyRoute(),
  ]
}

/** The page that verifies receipts. It also works as a local file, so its policy has hashes of its parts. */
function verifyRoute(): Route {
  const made = once(() => {
    const page = programFile('docs/verify.html')
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page.toString()) ?? []
    if (policy === undefined) throw new Error('docs/verify.html has no policy.')
    // Only a header can forbid frames, not the page itself.
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

/** The only paths that need neither a key nor a sign-in. Those of the console have budgets of their own. */
export const publicPaths: readonly string[] = [
  '/healthz',
  '/readyz',
  '/v1/analytics/openapi.json',
  '/v1/variables/openapi.json',
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
  '/console/api/sign-in/second-factor',
  '/console/api/sign-in/passkey/options',
  '/console/api/sign-in/passkey',
  '/console/api/single-sign-on',
  '/console/api/single-sign-on/finish',
  '/console/api/invitation',
  '/console/api/invitation/accept',
]
