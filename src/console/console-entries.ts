import { knownBrowserMs } from '../domain/known-browser.ts'
import type { Passwords } from '../domain/password.ts'
import { longestMs } from '../domain/sign-in.ts'
import type { AnswerWriter } from '../http/answer.ts'
import { spending, type Visit } from '../http/request-way.ts'
import { type Entry, withHead } from '../http/router.ts'
import { consoleBudgets } from './budgets.ts'
import type { ConsoleServices } from './console-route.ts'
import { type ConsoleWayParts, consoleWays } from './console-way.ts'
import { pages } from './pages.ts'
import { consoleRoutes } from './routes/index.ts'
import { dropFormerCookie, readCookie, setCookie } from './sign-in-cookie.ts'

export interface ConsoleParts extends ConsoleWayParts {
  passwords: Passwords
}

/** Every path of the console, beside the API's. */
export function consoleEntries(parts: ConsoleParts, answer: AnswerWriter): Entry[] {
  const { limiter, addressOf, surroundings, passwords } = parts
  const ways = consoleWays(parts)
  const { show, redirect } = pages(answer)
  const spend = spending(limiter)
  const services: ConsoleServices = {
    ...parts.services,
    passwords,
    async countAttempt(visit) {
      const refusal = await spend(consoleBudgets['sign-in'], addressOf(visit.request), visit)
      if (refusal) throw refusal
    },
    async countGuess(visit, account, browserId) {
      const from = browserId ?? addressOf(visit.request)
      const refusal =
        (await spend(consoleBudgets.account, `${account} ${from}`, visit)) ??
        (browserId === null ? await spend(consoleBudgets.strangers, account, visit) : null)
      if (refusal) throw refusal
    },
    browserMark: ({ request }) => readCookie(request, 'browser', surroundings.isSecure(request)),
    welcome({ request, response }, { token, mark }) {
      const isSecure = surroundings.isSecure(request)
      setCookie(response, 'console', isSecure, token, longestMs)
      setCookie(response, 'browser', isSecure, mark, knownBrowserMs)
      dropFormerCookie(request, response)
    },
    forgetToken({ request, response }) {
      setCookie(response, 'console', surroundings.isSecure(request), '', 0)
      dropFormerCookie(request, response)
    },
  }
  return [
    page('/', redirect),
    page('/console', show),
    page('/console/*', show),
    // Whatever else is asked for there is answered as the API would, not with a page.
    {
      methods: 'any',
      path: '/console/api/*',
      destination: { path: '/console/api/*', isPublic: true, way: ways.open },
    },
    ...consoleRoutes.map((route): Entry => {
      const { method, path, access } = route
      const isOpen = access === 'open'
      const respond = async (visit: Visit) => {
        const data = await route.answer(visit, services, isOpen ? null : ways.signedIn(visit))
        if (!visit.response.headersSent) answer.succeed(visit, data)
      }
      const destination = isOpen
        ? { path, respond, isPublic: true as const, way: ways.open }
        : { path, respond, needsMember: true as const, way: ways.members }
      return { methods: withHead(method), path, destination, elsewhere: ways.open }
    }),
  ]

  function page(path: string, respond: (visit: Visit) => void): Entry {
    const destination = { path, isPublic: true as const, respond }
    return { methods: withHead('GET'), path, destination, elsewhere: ways.open }
  }
}
