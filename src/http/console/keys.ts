import { type ApiKey, apiKeyState, areas, scopes } from '../../domain/api-key.ts'
import { dayOf, formatDay } from '../../domain/daily-total.ts'
import {
  formatInstant,
  formatInstantOrNull,
  type Instant,
  instantRule,
  readInstant,
} from '../../domain/instant.ts'
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
import { integer, list, object, oneOf, optional, orNull, text } from '../schema.ts'
import { instant, typed } from './fields.ts'

const Key = object(
  {
    id: text(),
    name: text(),
    scopes: list(text()),
    lastFour: text(),
    state: oneOf(['active', 'expired', 'revoked']),
    createdAt: instant,
    rotatedAt: orNull(instant),
    expiresAt: orNull(instant),
    revokedAt: orNull(instant),
    lastUsedAt: orNull(instant),
  },
  { title: 'Key' },
)

/** The only response that contains a key. */
const IssuedKey = object({ key: Key, keyString: text() }, { title: 'IssuedKey' })

const Area = object(
  { area: text(), scopes: list(object({ scope: text(), allows: text() })) },
  { title: 'Area' },
)

const KeyDetail = object(
  {
    key: Key,
    scopes: list(object({ scope: text(), allows: text() })),
    today: text(),
    days: list(object({ day: text(), requests: integer(), refusals: integer() }, { title: 'KeyDay' })),
  },
  { title: 'KeyDetail' },
)

const KeyList = object({ keys: list(Key) }, { title: 'KeyList' })

const AreaList = object({ areas: list(Area) }, { title: 'AreaList' })

const RevokedKey = object({ key: Key }, { title: 'RevokedKey' })

const scopeList = list(text({ maxLength: 100 }), {
  maxItems: 50,
  'x-rule': 'a list of scopes',
})

const expiry = optional(orNull(text({ maxLength: 100 }), { 'x-rule': `${instantRule}, or null` }))

/** How many days of use a key's page shows. */
const shownKeyDays = 90

export const keyRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/keys',
    access: 'viewer',
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
    access: 'viewer',
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
    access: 'admin',
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
    access: 'viewer',
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
    access: 'admin',
    recentSignIn: true,
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
    access: 'admin',
    recentSignIn: true,
    body: {},
    response: IssuedKey,
    handle: async ({ services, context, path }) =>
      present(await rotateKey(services, path.keyId, originOf(context)), services),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/keys/{keyId}/revoke',
    access: 'admin',
    recentSignIn: true,
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

/** A key without its string, which is not stored. */
function presentKey(key: ApiKey, now: Instant) {
  const { id, name, scopes, lastFour } = key
  return {
    ...{ id, name, scopes: [...scopes], lastFour, state: apiKeyState(key, now) },
    createdAt: formatInstant(key.createdAt),
    rotatedAt: formatInstantOrNull(key.rotatedAt),
    expiresAt: formatInstantOrNull(key.expiresAt),
    revokedAt: formatInstantOrNull(key.revokedAt),
    lastUsedAt: formatInstantOrNull(key.lastUsedAt),
  }
}
