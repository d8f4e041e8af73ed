import { hash } from 'node:crypto'
import { normaliseEmail } from '../../domain/member.ts'
import { acceptInvitation, requireInvited } from '../../operations/member.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { signIn, signOut } from '../../operations/sign-in.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { email, Invited, Nothing, organisation, password, presentMember, SignedIn, token } from './fields.ts'

export const signInRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in',
    access: 'open',
    body: { email, password, organisationId: organisation },
    response: Nothing,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      // The limiter may be another machine: it need not learn anybody's address.
      const account = hash('sha256', normaliseEmail(body.email))
      const countGuess = (browserId: string | null) => http.countGuess(context, account, browserId)
      const { organisationId = null } = body
      const credentials = { ...body, organisationId, browserMark: http.browserMark(context) }
      const deps = { ...services, passwords: http.passwords, countGuess }
      http.welcome(context, await signIn(deps, credentials, context.keptId))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/invitation',
    access: 'open',
    body: { token },
    response: Invited,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      const member = await requireInvited(services, body.token)
      const { name } = await requireOrganisation(services, member.organisationId)
      return { email: member.email, organisation: name, hasPassword: member.passwordSetAt !== null }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/invitation/accept',
    access: 'open',
    body: { token, password },
    response: Nothing,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      const deps = { ...services, passwords: http.passwords }
      http.welcome(context, await acceptInvitation(deps, body, context.keptId))
      return {}
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/session',
    access: 'member',
    response: SignedIn,
    handle({ signedIn: { member, organisation }, services }) {
      const { id, name, plan } = organisation
      const retentionDays = services.retentionDays[plan]
      return { member: presentMember(member), organisation: { id, name, plan, retentionDays } }
    },
  }),
  ...(['sign-out', 'sign-out-everywhere'] as const).map((which) =>
    defineRoute({
      method: 'POST',
      path: `/console/api/${which}`,
      access: 'member',
      body: {},
      response: Nothing,
      async handle({ context, services, http, signedIn }) {
        const everywhere = which === 'sign-out-everywhere'
        await signOut(services, signedIn, { everywhere }, originOf(context))
        http.forgetToken(context)
        return {}
      },
    }),
  ),
]
