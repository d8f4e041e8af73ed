import { secondFactorRules } from '../../domain/sign-in-rules.ts'
import { changeSecondFactorRule } from '../../operations/sign-in-rules.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { object, oneOf } from '../schema.ts'
import { Nothing } from './fields.ts'

export const SignInRules = object({ secondFactor: oneOf(secondFactorRules) }, { title: 'SignInRules' })

const secondFactor = oneOf(secondFactorRules, { 'x-rule': `one of ${secondFactorRules.join(', ')}` })

export const signInRulesRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/sign-in-rules',
    access: 'admin',
    response: SignInRules,
    async handle({ services, context }) {
      const { secondFactor } = await services.signInRules.find(identityOf(context).organisationId)
      return { secondFactor }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in-rules/second-factor',
    access: 'admin',
    recentSignIn: true,
    body: { secondFactor },
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, signedIn, body }) {
      await changeSecondFactorRule(services, signedIn, body.secondFactor, originOf(context))
      return {}
    },
  }),
]
