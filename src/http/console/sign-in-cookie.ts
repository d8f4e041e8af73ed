import type { IncomingMessage, ServerResponse } from 'node:http'
import { longestMs } from '../../domain/sign-in.ts'

/** Scripts cannot read it, other sites cannot send it, and it goes nowhere but to the console. */
const attributes = 'Path=/console; HttpOnly; SameSite=Strict'

/** A browser takes the prefixed name only over TLS, so that nobody in between can plant one. */
function nameOf(isSecure: boolean): string {
  return isSecure ? '__Secure-lethe-console' : 'lethe-console'
}

/** The token in a request's cookie; `null` without one. */
export function readSignInCookie({ headers }: IncomingMessage, isSecure: boolean): string | null {
  const name = `${nameOf(isSecure)}=`
  const found = headers.cookie?.split(/; */).find((pair) => pair.startsWith(name))
  return found?.slice(name.length) || null
}

/** Hands the browser a token; `null` takes it away. */
export function setSignInCookie(response: ServerResponse, isSecure: boolean, token: string | null): void {
  const maxAge = token === null ? 0 : longestMs / 1_000
  const secure = isSecure ? '; Secure' : ''
  response.setHeader(
    'Set-Cookie',
    `${nameOf(isSecure)}=${token ?? ''}; Max-Age=${maxAge}; ${attributes}${secure}`,
  )
}
