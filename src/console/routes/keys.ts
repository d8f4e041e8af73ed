import { readInstant } from '../../domain/instant.ts'
import { areas, scopes } from '../../domain/scope.ts'
import { createKey, type IssuedKey } from '../../operations/create-key.ts'
import { revokeKey } from '../../operations/revoke-key.ts'
import { rotateKey } from '../../operations/rotate-key.ts'
import { type ConsoleServices, memberRoute } from '../console-route.ts'
import { presentKey } from '../present.ts'
import { expiry, scopeList, typed } from '../schemas.ts'

export const keyRoutes = [
  memberRoute({
    method: 'GET',
    path: '/console/api/keys',
    async run({ services, organisationId }) {
      const now = services.clock()
      const keys = await services.apiKeys.list(organisationId)
      return { keys: keys.map((key) => presentKey(key, now)).reverse() }
    },
  }),
  memberRoute({
    method: 'GET',
    path: '/console/api/scopes',
    run: async () => ({
      areas: areas.map((area) => ({
        area,
        scopes: Object.entries(scopes)
          .filter(([scope]) => scope.startsWith(`${area}:`))
          .map(([scope, allows]) => ({ scope, allows })),
      })),
    }),
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/keys',
    body: { name: typed, scopes: scopeList, expiresAt: expiry },
    async run({ services, organisationId, body, origin, problems }) {
      const expiresAt = readInstant('expiresAt', body.expiresAt ?? undefined, problems)
      problems.throwIfAny()
      const { name, scopes } = body
      return present(await createKey(services, { organisationId, name, scopes, expiresAt }, origin), services)
    },
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/rotate',
    run: async ({ services, path, origin }) =>
      present(await rotateKey(services, path.keyId, origin), services),
  }),
  memberRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/revoke',
    body: { name: typed },
    async run({ services, path, body, origin }) {
      const key = await revokeKey(services, path.keyId, body.name, origin)
      return { key: presentKey(key, services.clock()) }
    },
  }),
]

/** The one answer that holds a key's string. */
function present({ key, keyString }: IssuedKey, { clock }: ConsoleServices) {
  return { key: presentKey(key, clock()), keyString }
}
