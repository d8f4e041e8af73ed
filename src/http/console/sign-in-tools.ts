import { hash } from 'node:crypto'
import type { Limiter } from '../../domain/budget.ts'
import { LetheError } from '../../domain/errors.ts'
import { normaliseEmail } from '../../domain/member.ts'
import { hashToken } from '../../domain/randomness.ts'
import { knownBrowserMs, maxSignInMs } from '../../domain/sign-in.ts'
import { roundTripMs } from '../../domain/single-sign-on.ts'
import type { clientAddress, OriginPolicy } from '../client-address.ts'
import { spending } from '../pipeline.ts'
import type { SignInTools } from '../request-context.ts'
import { describeDevice } from './device.ts'
import { consoleBudgets, dropFormerCookie, readCookie, setCookie } from './sign-in-cookie.ts'

interface SignInDeps {
  limiter: Pick<Limiter, 'take'>
  addressOf: ReturnType<typeof clientAddress>
  originPolicy: OriginPolicy
}

/** Counts attempts to sign in, and sets the cookies. */
export function signInTools({ limiter, addressOf, originPolicy }: SignInDeps): SignInTools {
  const spend = spending(limiter)
  const { isSecure } = originPolicy
  return {
    async countAttempt(context) {
      const refusal = await spend(consoleBudgets['sign-in'], addressOf(context.request), context)
      if (refusal) throw refusal
    },
    async countChallenge(context) {
      const refusal = await spend(consoleBudgets.challenge, addressOf(context.request), context)
      if (refusal) throw refusal
    },
    async countGuess(context, email, browserId) {
      // The limiter may be another machine, which does not need to know anyone's address.
      const account = hash('sha256', normaliseEmail(email))
      const from = browserId ?? addressOf(context.request)
      const refusal =
        (await spend(consoleBudgets.account, `${account} ${from}`, context)) ??
        (browserId === null ? await spend(consoleBudgets.strangers, account, context) : null)
      if (refusal) throw refusal
    },
    relyingParty: ({ request }) => originPolicy.relyingParty(request),
    requireRelyingParty({ request }) {
      const relyingParty = originPolicy.relyingParty(request)
      if (relyingParty) return relyingParty
      throw new LetheError(
        'invalid_request',
        'Passkeys need a host name. Open the console by its name, such as https://lethe.example, not by an IP address.',
      )
    },
    browserMark: ({ request }) => readCookie(request, 'browser', isSecure(request)),
    sourceOf({ request, keptId }) {
      const token = readCookie(request, 'console', isSecure(request))
      return {
        relyingParty: originPolicy.relyingParty(request),
        device: describeDevice(request.headers['user-agent']),
        address: addressOf(request),
        requestId: keptId,
        replaces: token === null ? null : hashToken(token),
      }
    },
    setCookies({ request, response }, { token, mark }) {
      setCookie(response, 'console', isSecure(request), token, maxSignInMs)
      if (mark !== null) setCookie(response, 'browser', isSecure(request), mark, knownBrowserMs)
      dropFormerCookie(request, response)
    },
    roundTripToken({ request }) {
      const token = readCookie(request, 'single-sign-on', isSecure(request))
      return token !== null && /^[0-9A-Za-z]{43}$/.test(token) ? token : null
    },
    setRoundTripToken({ request, response }, token) {
      setCookie(response, 'single-sign-on', isSecure(request), token, roundTripMs)
    },
    clearToken({ request, response }) {
      setCookie(response, 'console', isSecure(request), '', 0)
      dropFormerCookie(request, response)
    },
  }
}
