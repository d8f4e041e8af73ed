import { languages } from '../../domain/language.ts'
import { maxPasswordLength, minPasswordLength } from '../../domain/password.ts'
import { plans } from '../../domain/retention.ts'
import { acceptInvitation, requireInvited } from '../../operations/member.ts'
import { requireOrganisation } from '../../operations/organisation.ts'
import { beginPasskeySignIn, signInWithPasskey } from '../../operations/passkey-sign-in.ts'
import {
  allowsPassword,
  finishSignIn,
  type SignInOutcome,
  signIn,
  signOut,
} from '../../operations/sign-in.ts'
import { identifier } from '../parameters.ts'
import { type HttpTools, originOf, type RequestContext } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, integer, object, oneOf, optional, orNull, text } from '../schema.ts'
import { Nothing } from './fields.ts'
import { email, Member, presentMember } from './members.ts'
import { code, PasskeyRequest, ProofPrompt, passkeyAnswer } from './passkey-fields.ts'

const SignedIn = object(
  {
    member: Member,
    language: orNull(oneOf(languages)),
    /** What the member must add before anything else. */
    missingFactor: orNull(oneOf(['second-factor', 'passkey'])),
    organisation: object({ id: text(), name: text(), plan: oneOf(plans), retentionDays: integer() }),
  },
  { title: 'SignedIn' },
)

const Invited = object(
  {
    ...{ email: text(), organisation: text(), organisationId: text(), hasPassword: boolean() },
    passwordAllowed: boolean(),
  },
  { title: 'Invited' },
)

export const password = text({
  minLength: 1,
  maxLength: 4 * maxPasswordLength,
  'x-rule': `${minPasswordLength} to ${maxPasswordLength} characters`,
})

export const token = text({ minLength: 1, maxLength: 200, 'x-rule': 'the token from the link' })

export const organisation = optional(text(identifier))

/** Signed in, unless there is a prompt for a second step. */
const SignInStep = object({ prompt: orNull(ProofPrompt) }, { title: 'SignInStep' })

export const signInRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in',
    access: 'open',
    body: { email, password, organisationId: organisation },
    response: SignInStep,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      const countGuess = (browserId: string | null) => http.countGuess(context, body.email, browserId)
      const credentials = {
        ...{ ...body, organisationId: body.organisationId ?? null },
        browserMark: http.browserMark(context),
      }
      const deps = {
        ...{ ...services, passwords: http.passwords, countGuess },
        hasProvider: http.singleSignOn !== null,
      }
      return present(http, context, await signIn(deps, credentials, http.sourceOf(context)))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in/second-factor',
    access: 'open',
    body: { token, code: optional(code), passkey: optional(passkeyAnswer) },
    response: Nothing,
    async handle({ context, services, http, body: { token, ...answer } }) {
      const countGuess = (email: string, browserId: string | null) =>
        http.countGuess(context, email, browserId)
      const deps = { ...services, passwords: http.passwords, countGuess }
      http.setCookies(context, await finishSignIn(deps, { token, answer }, http.sourceOf(context)))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in/passkey/options',
    access: 'open',
    body: {},
    response: PasskeyRequest,
    async handle({ context, services, http }) {
      await http.countChallenge(context)
      return beginPasskeySignIn(services, http.requireRelyingParty(context))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in/passkey',
    access: 'open',
    body: { passkey: passkeyAnswer },
    response: Nothing,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      const countGuess = (email: string) => http.countGuess(context, email, null)
      const relyingParty = http.requireRelyingParty(context)
      const source = http.sourceOf(context)
      http.setCookies(
        context,
        await signInWithPasskey({ ...services, countGuess }, body.passkey, relyingParty, source),
      )
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
      const { email, organisationId, passwordSetAt } = member
      const { name: organisation } = await requireOrganisation(services, organisationId)
      const passwordAllowed = await allowsPassword(
        { ...services, hasProvider: http.singleSignOn !== null },
        member,
      )
      return { email, organisation, organisationId, hasPassword: passwordSetAt !== null, passwordAllowed }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/invitation/accept',
    access: 'open',
    body: { token, password },
    response: SignInStep,
    async handle({ context, services, http, body }) {
      await http.countAttempt(context)
      const deps = { ...services, passwords: http.passwords }
      return present(http, context, await acceptInvitation(deps, body, http.sourceOf(context)))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/session',
    access: 'viewer',
    isEnrolment: true,
    response: SignedIn,
    handle({ signedIn: { member, organisation, missingFactor }, services }) {
      const { id, name, plan } = organisation
      const retentionDays = services.retentionDays[plan]
      return {
        ...{ member: presentMember(member), language: member.language, missingFactor },
        organisation: { id, name, plan, retentionDays },
      }
    },
  }),
  ...(['sign-out', 'sign-out-everywhere'] as const).map((which) =>
    defineRoute({
      method: 'POST',
      path: `/console/api/${which}`,
      access: 'viewer',
      isEnrolment: true,
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

function present(http: HttpTools, context: RequestContext, { browser, prompt }: SignInOutcome) {
  if (browser) http.setCookies(context, browser)
  return { prompt }
}
