import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Budget, ConsoleBudgetName } from '../../domain/budget.ts'

/**
 * The token of a session, the mark of a browser in which a member has signed in, and the token of a browser
 * that is at the identity provider.
 */
type CookieName = 'console' | 'browser' | 'single-sign-on'

/** Scripts cannot read them, and other sites cannot send them. */
const attributes = 'HttpOnly; SameSite=Strict'

/** The former name of the session cookie. */
const formerName = '__Secure-lethe-console'

/**
 * Browsers accept the prefixed name only over TLS and for the exact host, so that nobody on the network and
 * no other host of the domain can plant one. Without TLS the cookie is sent to the console only.
 */
function nameOf(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-lethe-${name}` : `lethe-${name}`
}

/** The value of a request's cookie; `null` if it is absent. */
export function readCookie(request: IncomingMessage, name: CookieName, isSecure: boolean): string | null {
  return find(request, nameOf(name, isSecure))
}

/** Sets a cookie; an empty value without a lifetime deletes it. */
export function setCookie(
  response: ServerResponse,
  name: CookieName,
  isSecure: boolean,
  value: string,
  lifetimeMs: number,
): void {
  const where = isSecure ? `Path=/; ${attributes}; Secure` : `Path=/console; ${attributes}`
  response.appendHeader(
    'Set-Cookie',
    `${nameOf(name, isSecure)}=${value}; Max-Age=${lifetimeMs / 1_000}; ${where}`,
  )
}

/** Deletes the cookie of a former version, which is no longer valid. */
export function dropFormerCookie(request: IncomingMessage, response: ServerResponse): void {
  if (find(request, formerName) === null) return
  response.appendHeader('Set-Cookie', `${formerName}=; Max-Age=0; Path=/console; ${attributes}; Secure`)
}

function find({ headers }: IncomingMessage, name: string): string | null {
  const found = headers.cookie?.split(/; */).find((pair) => pair.startsWith(`${name}=`))
  return found?.slice(name.length + 1) || null
}

const minuteMs = 60_000

/**
 * The console's own budgets. The first is generous, for people who click. The others slow down guessing; the
 * last one is for guesses from many addresses, and does not apply to known browsers.
 */
export const consoleBudgets: Record<ConsoleBudgetName, Budget> = {
  console: { name: 'console', limit: 600, windowMs: minuteMs },
  'sign-in': { name: 'sign-in', limit: 30, windowMs: 15 * minuteMs },
  challenge: { name: 'challenge', limit: 60, windowMs: 15 * minuteMs },
  account: { name: 'account', limit: 10, windowMs: 15 * minuteMs },
  strangers: { name: 'strangers', limit: 100, windowMs: 60 * minuteMs },
}
