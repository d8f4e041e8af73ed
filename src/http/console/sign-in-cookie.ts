import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Budget, ConsoleBudgetName } from '../../domain/budget.ts'

/** The token of a sign-in, and the mark of a browser that a member has signed in from. */
type CookieName = 'console' | 'browser'

/** Scripts cannot read them, and other sites cannot send them. */
const attributes = 'HttpOnly; SameSite=Strict'

/** What the first one was called before it was the host's alone. */
const formerName = '__Secure-lethe-console'

/**
 * A browser takes the prefixed name only over TLS, for the whole host and for no other, so that nobody in between and no neighbour
 * under the same domain can plant one. Without TLS it goes nowhere but to the console.
 */
function nameOf(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-lethe-${name}` : `lethe-${name}`
}

/** The value of a request's cookie; `null` without one. */
export function readCookie(request: IncomingMessage, name: CookieName, isSecure: boolean): string | null {
  return find(request, nameOf(name, isSecure))
}

/** Hands the browser a value; an empty one with no time to live takes it away. */
export function setCookie(
  response: ServerResponse,
  name: CookieName,
  isSecure: boolean,
  value: string,
  livesMs: number,
): void {
  const where = isSecure ? `Path=/; ${attributes}; Secure` : `Path=/console; ${attributes}`
  response.appendHeader(
    'Set-Cookie',
    `${nameOf(name, isSecure)}=${value}; Max-Age=${livesMs / 1_000}; ${where}`,
  )
}

/** Takes away what a former version left; it has stood for nobody since. */
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
 * What the console counts, apart from the API's budgets. The first is generous: people click. The others slow down guessing; the last
 * one holds for guessers with many addresses, and never for a browser that the member has signed in from before.
 */
export const consoleBudgets: Record<ConsoleBudgetName, Budget> = {
  console: { name: 'console', limit: 600, windowMs: minuteMs },
  'sign-in': { name: 'sign-in', limit: 30, windowMs: 15 * minuteMs },
  account: { name: 'account', limit: 10, windowMs: 15 * minuteMs },
  strangers: { name: 'strangers', limit: 100, windowMs: 60 * minuteMs },
}
