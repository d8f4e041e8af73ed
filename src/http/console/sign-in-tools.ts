import type { Limiter } from '../../domain/budget.ts'
import { knownBrowserMs } from '../../domain/known-browser.ts'
import { longestMs } from '../../domain/sign-in.ts'
import type { clientAddress } from '../client-address.ts'
import { spending } from '../pipeline.ts'
import type { SignInTools } from '../request-context.ts'
import { consoleBudgets } from './budgets.ts'
import type { OriginPolicy } from './origin-policy.ts'
import { dropFormerCookie, readCookie, setCookie } from './sign-in-cookie.ts'

export interface SignInDeps {
  limiter: Pick<Limiter, 'take'>
  addressOf: ReturnType<typeof clientAddress>
  originPolicy: OriginPolicy
}

/** Counts attempts to sign in, and keeps the cookies of a browser. */
export function signInTools({ limiter, addressOf, originPolicy: { isSecure } }: SignInDeps): SignInTools {
  const spend = spending(limiter)
  return {
    async countAttempt(context) {
      const refusal = await spend(consoleBudgets['sign-in'], addressOf(context.request), context)
      if (refusal) throw refusal
    },
    async countGuess(context, account, browserId) {
      const from = browserId ?? addressOf(context.request)
      const refusal =
        (await spend(consoleBudgets.account, `${account} ${from}`, context)) ??
        (browserId === null ? await spend(consoleBudgets.strangers, account, context) : null)
      if (refusal) throw refusal
    },
    browserMark: ({ request }) => readCookie(request, 'browser', isSecure(request)),
    welcome({ request, response }, { token, mark }) {
      setCookie(response, 'console', isSecure(request), token, longestMs)
      setCookie(response, 'browser', isSecure(request), mark, knownBrowserMs)
      dropFormerCookie(request, response)
    },
    forgetToken({ request, response }) {
      setCookie(response, 'console', isSecure(request), '', 0)
      dropFormerCookie(request, response)
    },
  }
}
