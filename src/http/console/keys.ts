import { areas, scopes } from '../../domain/api-key.ts'
import { dayOf, formatDay } from '../../domain/daily-total.ts'
import { readInstant } from '../../domain/instant.ts'
import type { Services } from '../../domain/services.ts'
import {
  createKey,
  type IssuedKey as Issued,
  renameKey,
  requireKey,
  revokeKey,
  rotateKey,
} from '../../operations/api-key.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import {
  AreaList,
  expiry,
  IssuedKey,
  KeyDetail,
  KeyList,
  presentKey,
  RevokedKey,
  scopeList,
  typed,
} from './fields.ts'

/** So many days a key's page tells of. */
const shownKeyDays = 90

export const keyRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/keys',
    access: 'member',
    response: KeyList,
    async handle({ services, context }) {
      const now = services.clock()
      const keys = await services.apiKeys.list(identityOf(context).organisationId)
      return { keys: keys.map((key) => presentKey(key, now)).reverse() }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/keys/{keyId}',
    access: 'member',
    response: KeyDetail,
    async handle({ services, context, path }) {
      const key = await requireKey(services, path.keyId, originOf(context))
      const today = dayOf(services.clock())
      const days = await services.apiKeys.listDays(key.id, today - shownKeyDays + 1)
      return {
        key: presentKey(key, services.clock()),
        scopes: key.scopes.map((scope) => ({ scope, allows: scopes[scope] })),
        today: formatDay(today),
        days: days.map(({ day, requests, refusals }) => ({ day: formatDay(day), requests, refusals })),
      }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/rename',
    access: 'member',
    body: { name: typed },
    bodyNamesNobody: true,
    response: RevokedKey,
    async handle({ services, context, path, body }) {
      const key = await renameKey(services, path.keyId, body.name, originOf(context))
      return { key: presentKey(key, services.clock()) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/scopes',
    access: 'member',
    response: AreaList,
    handle: () => ({
      areas: areas.map((area) => ({
        area,
        scopes: Object.entries(scopes)
          .filter(([scope]) => scope.startsWith(`${area}:`))
          .map(([scope, allows]) => ({ scope, allows })),
      })),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/keys',
    access: 'member',
    body: { name: typed, scopes: scopeList, expiresAt: expiry },
    bodyNamesNobody: true,
    response: IssuedKey,
    plan: ({ body }, problems) => readInstant('expiresAt', body.expiresAt ?? undefined, problems),
    async handle({ services, context, body: { name, scopes }, plan: expiresAt }) {
      const { organisationId } = identityOf(context)
      const wanted = { organisationId, name, scopes, expiresAt }
      return present(await createKey(services, wanted, originOf(context)), services)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/rotate',
    access: 'member',
    body: {},
    response: IssuedKey,
    handle: async ({ services, context, path }) =>
      present(await rotateKey(services, path.keyId, originOf(context)), services),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/revoke',
    access: 'member',
    body: { name: typed },
    bodyNamesNobody: true,
    response: RevokedKey,
    async handle({ services, context, path, body }) {
      const key = await revokeKey(services, path.keyId, body.name, originOf(context))
      return { key: presentKey(key, services.clock()) }
    },
  }),
]

function present({ key, keyString }: Issued, { clock }: Services) {
  return { key: presentKey(key, clock()), keyString }
}
