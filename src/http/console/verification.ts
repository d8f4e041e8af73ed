import { beginVerification, verify } from '../../operations/verification.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { optional } from '../schema.ts'
import { Nothing } from './fields.ts'
import { code, ProofPrompt, passkeyAnswer } from './passkey-fields.ts'
import { password, token } from './sign-in.ts'

/** Members prove again who they are, for routes that need a recent sign-in. */
export const verificationRoutes = [
  /** Succeeds if the sign-in is recent: pages ask before a download, which cannot be repeated. */
  defineRoute({
    method: 'GET',
    path: '/console/api/verification',
    ...{ access: 'viewer', isEnrolment: true, recentSignIn: true },
    response: Nothing,
    handle: () => ({}),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/verification/options',
    ...{ access: 'viewer', isEnrolment: true },
    body: {},
    response: ProofPrompt,
    handle: ({ services, context, http, signedIn }) =>
      beginVerification(services, signedIn, http.relyingParty(context)),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/verification',
    ...{ access: 'viewer', isEnrolment: true },
    body: { token, password: optional(password), code: optional(code), passkey: optional(passkeyAnswer) },
    response: Nothing,
    async handle({ services, context, http, signedIn, body: { token, ...answer } }) {
      await http.countAttempt(context)
      const deps = {
        ...{ ...services, passwords: http.passwords },
        countGuess: () => http.countGuess(context, signedIn.member.email, signedIn.signIn.id),
      }
      const relyingParty = http.relyingParty(context)
      const renewed = await verify(deps, signedIn, { token, answer, relyingParty }, originOf(context))
      http.setCookies(context, { token: renewed, mark: null })
      return {}
    },
  }),
]
