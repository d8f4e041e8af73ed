import { hash } from 'node:crypto'
import { normaliseEmail } from '../../domain/member.ts'
import { acceptInvitation } from '../../operations/accept-invitation.ts'
import { requireInvited } from '../../operations/require-invited.ts'
import { requireOrganisation } from '../../operations/require-organisation.ts'
import { signIn } from '../../operations/sign-in.ts'
import { signOut } from '../../operations/sign-out.ts'
import { memberRoute, openRoute } from '../console-route.ts'
import { presentMember } from '../present.ts'
import { email, organisation, password, token } from '../schemas.ts'

export const signInRoutes = [
  openRoute({
    method: 'POST',
    path: '/console/api/sign-in',
    body: { email, password, organisationId: organisation },
    async run({ visit, services, body }) {
      await services.countAttempt(visit)
      // The limiter may be another machine: it need not learn anybody's address.
      const account = hash('sha256', normaliseEmail(body.email))
      const countGuess = (browserId: string | null) => services.countGuess(visit, account, browserId)
      const { organisationId = null } = body
      const credentials = { ...body, organisationId, browserMark: services.browserMark(visit) }
      services.welcome(visit, await signIn({ ...services, countGuess }, credentials, visit.id))
      return {}
    },
  }),
  openRoute({
    method: 'POST',
    path: '/console/api/invitation',
    body: { token },
    async run({ visit, services, body }) {
      await services.countAttempt(visit)
      const member = await requireInvited(services, body.token)
      const { name } = await requireOrganisation(services, member.organisationId)
      return { email: member.email, organisation: name, hasPassword: member.passwordSetAt !== null }
    },
  }),
  openRoute({
    method: 'POST',
    path: '/console/api/invitation/accept',
    body: { token, password },
    async run({ visit, services, body }) {
      await services.countAttempt(visit)
      services.welcome(visit, await acceptInvitation(services, body, visit.id))
      return {}
    },
  }),
  memberRoute({
    method: 'GET',
    path: '/console/api/session',
    async run({ signedIn: { member, organisation }, services }) {
      const { id, name, plan } = organisation
      const retentionDays = services.retentionDays[plan]
      return { member: presentMember(member), organisation: { id, name, plan, retentionDays } }
    },
  }),
  ...(['sign-out', 'sign-out-everywhere'] as const).map((which) =>
    memberRoute({
      method: 'POST',
      path: `/console/api/${which}`,
      async run({ visit, services, signedIn, origin }) {
        await signOut(services, signedIn, { everywhere: which === 'sign-out-everywhere' }, origin)
        services.forgetToken(visit)
        return {}
      },
    }),
  ),
]
