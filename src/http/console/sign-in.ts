import { hash } from 'node:crypto'
import { languages } from '../../domain/language.ts'
import { normaliseEmail } from '../../domain/member.ts'
import { maxPasswordLength, minPasswordLength } from '../../domain/password.ts'
import { plans } from '../../domain/retention.ts'
import { acceptInvitation, requireInvited } from '../../operations/member.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { signIn, signOut } from '../../operations/sign-in.ts'
import { identifier } from '../parameters.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, integer, object, oneOf, optional, orNull, text } from '../schema.ts'
import { Nothing } from './fields.ts'
import { email, Member, presentMember } from './members.ts'

export const SignedIn = object(
  {
    member: Member,
    language: orNull(oneOf(languages)),
    organisation: object({ id: text(), name: text(), plan: oneOf(plans), retentionDays: integer() }),
  },
  { title: 'SignedIn' },
)

export const Invited = object(
  { email: text(), organisation: text(), hasPassword: boolean() },
  { title: 'Invited' },
)

export const password = text({
  minLength: 1,
  maxLength: 4 * maxPasswordLength,
  'x-rule': `${minPasswordLength} to ${maxPasswordLength} characters`,
})

export const token = text({ minLength: 1, maxLength: 200, 'x-rule': 'the token from the link' })

export const organisation = optional(text(identifier))

export const signInRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in',
    access: 'open',
    body: { email, password, organisationId: organisation },
    response: Nothing,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      // The limiter may be another machine, which does not need to know anyone's address.
      const account = hash('sha256', normaliseEmail(body.email))
      const countGuess = (browserId: string | null) => http.countGuess(context, account, browserId)
      const { organisationId = null } = body
      const credentials = { ...body, organisationId, browserMark: http.browserMark(context) }
      const deps = { ...services, passwords: http.passwords, countGuess }
      http.setCookies(context, await signIn(deps, credentials, http.sourceOf(context)))
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
      http.setCookies(context, await acceptInvitation(deps, body, http.sourceOf(context)))
      return {}
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/session',
    access: 'viewer',
    response: SignedIn,
    handle({ signedIn: { member, organisation }, services }) {
      const { id, name, plan } = organisation
      const retentionDays = services.retentionDays[plan]
      return {
        ...{ member: presentMember(member), language: member.language },
        organisation: { id, name, plan, retentionDays },
      }
    },
  }),
  ...(['sign-out', 'sign-out-everywhere'] as const).map((which) =>
    defineRoute({
      method: 'POST',
      path: `/console/api/${which}`,
      access: 'viewer',
      body: {},
      response: Nothing,
      async handle({ context, services, http, signedIn }) {
        const everywhere = which === 'sign-out-everywhere'
        await signOut(services, signedIn, { everywhere }, originOf(context))
        http.clearToken(context)
        return {}
      },
    }),
  ),
]
