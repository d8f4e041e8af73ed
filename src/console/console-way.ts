import { LetheError } from '../domain/errors.ts'
import type { Eventually } from '../domain/eventually.ts'
import type { SignedIn } from '../domain/sign-in.ts'
import {
  requireRoute,
  requireSoundRequest,
  type Step,
  spending,
  type Visit,
  type WayParts,
} from '../http/request-way.ts'
import type { Services } from '../http/route.ts'
import { authenticateMember } from '../operations/authenticate-member.ts'
import { consoleBudgets } from './budgets.ts'
import { readCookie } from './sign-in-cookie.ts'
import type { Surroundings } from './surroundings.ts'

export interface ConsoleWayParts extends Pick<WayParts, 'limiter' | 'addressOf'> {
  services: Services
  surroundings: Surroundings
}

/** The ways of the console's requests: for whoever comes, and for members alone. */
export function consoleWays({ services, limiter, addressOf, surroundings }: ConsoleWayParts) {
  const members = new WeakMap<Visit, SignedIn>()
  const spend = spending(limiter)
  const open: Step[] = [
    requireSoundRequest,
    // 1. The address's budget.
    (visit) => spend(consoleBudgets.console, addressOf(visit.request), visit),
    // 2. The route.
    requireRoute,
    // 3. A change must come from a page of ours.
    requireOwnOrigin,
  ]
  // 4. The member. What is left, body and parameters, is the route's.
  return { open, members: [...open, requireMember], signedIn }

  function requireOwnOrigin({ request }: Visit): LetheError | null {
    if (request.method === 'GET' || request.method === 'HEAD') return null
    const { origin, 'sec-fetch-site': site } = request.headers
    if (site !== undefined && site !== 'same-origin') return foreignOrigin()
    return origin !== undefined && surroundings.isOurs(origin, request) ? null : foreignOrigin()
  }

  function requireMember(visit: Visit): Eventually<LetheError | null> {
    const token = readCookie(visit.request, 'console', surroundings.isSecure(visit.request))
    if (token === null) return signedOut()
    return authenticateMember(services, token).then((found) => {
      if (found === null) return signedOut()
      visit.memberId = found.member.id
      members.set(visit, found)
      return null
    })
  }

  /** Who makes the request, behind the last step. */
  function signedIn(visit: Visit): SignedIn {
    const found = members.get(visit)
    if (!found) throw new Error('A request came to a member’s route without one.')
    return found
  }
}

function signedOut(): LetheError {
  return new LetheError('unauthorized', 'You are not signed in, or no longer. Sign in and try again.')
}

function foreignOrigin(): LetheError {
  return new LetheError(
    'forbidden',
    'This change does not come from a page of this console. Behind a proxy, LETHE_PUBLIC_URL tells where the console is.',
  )
}
