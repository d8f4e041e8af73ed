import { formatInstant } from '../../domain/instant.ts'
import { type SignIn as StoredSignIn, signInMethods } from '../../domain/sign-in.ts'
import { endOtherSignIns, endSignIn, listSignIns, setLanguage } from '../../operations/account.ts'
import { changePassword } from '../../operations/password.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, list, object, oneOf, orNull, text } from '../schema.ts'
import { instant, Nothing } from './fields.ts'
import { language } from './organisation-profile.ts'
import { password } from './sign-in.ts'

const SignIn = object(
  {
    ...{ id: text(), method: oneOf(signInMethods), startedAt: instant, lastSeenAt: instant },
    ...{ device: orNull(text()), address: orNull(text()) },
    /** Whether the request was sent with it. */
    isCurrent: boolean(),
  },
  { title: 'SignIn' },
)

const SignInList = object({ signIns: list(SignIn) }, { title: 'SignInList' })

/** What members may do with their own account, whatever their role. */
export const accountRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/account/sign-ins',
    access: 'viewer',
    response: SignInList,
    async handle({ services, signedIn }) {
      const all = await listSignIns(services, signedIn)
      return { signIns: all.map((each) => presentSignIn(each, each.id === signedIn.signIn.id)) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/account/sign-ins/{signInId}/end',
    access: 'viewer',
    body: {},
    response: Nothing,
    async handle({ services, context, http, signedIn, path }) {
      await endSignIn(services, signedIn, path.signInId, originOf(context))
      if (path.signInId === signedIn.signIn.id) http.clearToken(context)
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/account/end-other-sign-ins',
    access: 'viewer',
    body: {},
    response: Nothing,
    async handle({ services, context, signedIn }) {
      await endOtherSignIns(services, signedIn, originOf(context))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/account/language',
    access: 'viewer',
    body: { language: orNull(language, { 'x-rule': 'a language, or null' }) },
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, signedIn, body }) {
      await setLanguage(services, signedIn.member, body.language, originOf(context))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/account/password',
    ...{ access: 'viewer', isEnrolment: true, recentSignIn: true },
    body: { currentPassword: password, password },
    response: Nothing,
    async handle({ services, context, http, signedIn, body }) {
      const countGuess = () => http.countGuess(context, signedIn.member.email, signedIn.signIn.id)
      const deps = { ...services, passwords: http.passwords, countGuess }
      http.setCookies(context, await changePassword(deps, signedIn, body, originOf(context)))
      return {}
    },
  }),
]

function presentSignIn(signIn: StoredSignIn, isCurrent: boolean) {
  const { id, method, startedAt, lastSeenAt, device, address } = signIn
  const times = { startedAt: formatInstant(startedAt), lastSeenAt: formatInstant(lastSeenAt) }
  return { id, method, ...times, device, address, isCurrent }
}
