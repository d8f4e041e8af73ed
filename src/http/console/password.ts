import { hash } from 'node:crypto'
import { changePassword } from '../../operations/password.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { Nothing } from './fields.ts'
import { password } from './sign-in.ts'

export const passwordRoutes = [
  defineRoute({
    method: 'POST',
    path: '/console/api/account/password',
    ...{ access: 'viewer', isEnrolment: true, recentSignIn: true },
    body: { currentPassword: password, password },
    response: Nothing,
    async handle({ services, context, http, signedIn, body }) {
      const account = hash('sha256', signedIn.member.email)
      const countGuess = () => http.countGuess(context, account, signedIn.signIn.id)
      const deps = { ...services, passwords: http.passwords, countGuess }
      http.setCookies(context, await changePassword(deps, signedIn, body, originOf(context)))
      return {}
    },
  }),
]
