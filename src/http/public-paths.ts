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
