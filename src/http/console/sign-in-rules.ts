import { roles } from '../../domain/member.ts'
import { maxDomainLength, maxDomains, secondFactorRules } from '../../domain/sign-in-rules.ts'
import { changeDomains, changePasswordRule, changeSecondFactorRule } from '../../operations/sign-in-rules.ts'
import { identityOf, originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, list, listedChoice, object, oneOf, orNull, text } from '../schema.ts'
import { Nothing } from './fields.ts'

const SignInRules = object(
  {
    ...{ secondFactor: oneOf(secondFactorRules), passwordAllowed: boolean() },
    ...{ domains: list(text()), domainRole: oneOf(roles) },
    /** The name of the identity provider; `null` without one. */
    provider: orNull(text()),
  },
  { title: 'SignInRules' },
)

const secondFactor = listedChoice(secondFactorRules)

const domains = list(text({ maxLength: maxDomainLength }), {
  ...{ maxItems: maxDomains, 'x-rule': `a list of at most ${maxDomains} domains` },
})

const domainRole = listedChoice(roles)

const passwordAllowed = boolean({ 'x-rule': 'true or false' })

export const signInRulesRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/sign-in-rules',
    access: 'admin',
    response: SignInRules,
    async handle({ services, context, http }) {
      const rules = await services.signInRules.find(identityOf(context).organisationId)
      return { ...rules, domains: [...rules.domains], provider: http.singleSignOn?.provider.name ?? null }
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
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in-rules/domains',
    access: 'admin',
    recentSignIn: true,
    body: { domains, domainRole },
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, body }) {
      await changeDomains(services, identityOf(context).organisationId, body, originOf(context))
      return {}
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/sign-in-rules/password',
    access: 'admin',
    recentSignIn: true,
    body: { passwordAllowed },
    bodyNamesNobody: true,
    response: Nothing,
    async handle({ services, context, http, signedIn, body }) {
      const change = { ...body, isAvailable: http.singleSignOn !== null }
      await changePasswordRule(services, signedIn, change, originOf(context))
      return {}
    },
  }),
]
