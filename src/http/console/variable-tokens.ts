import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import type { VariableToken as Token } from '../../domain/variable-token.ts'
import {
  createVariableToken,
  type IssuedToken as Issued,
  listVariableTokens,
  revokeVariableToken,
  rotateVariableToken,
} from '../../operations/variable-token.ts'
import { type HttpTools, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, list, object, oneOf, orNull, text } from '../schema.ts'
import { instant, typed } from './fields.ts'

const VariableToken = object(
  {
    id: text(),
    name: text(),
    lastFour: text(),
    state: oneOf(['active', 'revoked']),
    createdAt: instant,
    rotatedAt: orNull(instant),
    revokedAt: orNull(instant),
    lastUsedAt: orNull(instant),
  },
  { title: 'VariableToken' },
)

const VariableTokenList = object({ tokens: list(VariableToken) }, { title: 'VariableTokenList' })

/** The only response that contains a token. */
const IssuedToken = object(
  { token: VariableToken, tokenString: text(), variablesPort: orNull(integer()) },
  { title: 'IssuedToken' },
)

const RevokedToken = object({ token: VariableToken }, { title: 'RevokedToken' })

export const variableTokenRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/trackers/{trackerId}/variable-tokens',
    access: 'viewer',
    response: VariableTokenList,
    async handle({ services, context, path }) {
      const tokens = await listVariableTokens(services, path.trackerId, originOf(context))
      return { tokens: tokens.map(presentToken).reverse() }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/trackers/{trackerId}/variable-tokens',
    access: 'admin',
    recentSignIn: true,
    body: { name: typed },
    bodyNamesNobody: true,
    response: IssuedToken,
    async handle({ services, context, http, path: { trackerId }, body: { name } }) {
      return present(await createVariableToken(services, { trackerId, name }, originOf(context)), http)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/variable-tokens/{tokenId}/rotate',
    access: 'admin',
    recentSignIn: true,
    body: {},
    response: IssuedToken,
    handle: async ({ services, context, http, path }) =>
      present(await rotateVariableToken(services, path.tokenId, originOf(context)), http),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/variable-tokens/{tokenId}/revoke',
    access: 'admin',
    recentSignIn: true,
    body: { name: typed },
    bodyNamesNobody: true,
    response: RevokedToken,
    async handle({ services, context, path, body }) {
      const token = await revokeVariableToken(services, path.tokenId, body.name, originOf(context))
      return { token: presentToken(token) }
    },
  }),
]

function present({ token, tokenString }: Issued, { installation }: Pick<HttpTools, 'installation'>) {
  return { token: presentToken(token), tokenString, variablesPort: installation.variablesPort }
}

/** A token without its string, which is not stored. */
function presentToken(token: Token) {
  const { id, name, lastFour, revokedAt } = token
  const state = revokedAt === null ? 'active' : 'revoked'
  return {
    ...({ id, name, lastFour, state } as const),
    createdAt: formatInstant(token.createdAt),
    rotatedAt: formatInstantOrNull(token.rotatedAt),
    revokedAt: formatInstantOrNull(revokedAt),
    lastUsedAt: formatInstantOrNull(token.lastUsedAt),
  }
}
