import { LetheError, notFound } from '../../domain/errors.ts'
import { beginSingleSignOn, finishSingleSignOn } from '../../operations/single-sign-on.ts'
import type { HttpTools, RequestContext } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { list, object, orNull, text } from '../schema.ts'
import { ProofPrompt } from './passkey-fields.ts'
import { organisation } from './sign-in.ts'

/** The ways to sign in that this installation offers besides the password. */
const SignInWays = object({ singleSignOn: orNull(text()) }, { title: 'SignInWays' })

/** Where the browser has to go. */
const RoundTrip = object({ address: text() }, { title: 'RoundTrip' })

/** Signed in, unless there is a prompt for a second step, or a choice of organisations. */
const SingleSignOn = object(
  { prompt: orNull(ProofPrompt), organisations: list(object({ id: text(), name: text() })) },
  { title: 'SingleSignOn' },
)

/** Where the provider sends browsers back to: a page, whose script calls the route that finishes. */
const returnPath = '/console/single-sign-on'

const query = text({
  maxLength: 8_000,
  'x-rule': 'the query that the identity provider added to the address',
})

export const singleSignOnRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/sign-in',
    access: 'open',
    response: SignInWays,
    handle: ({ http }) => ({ singleSignOn: http.singleSignOn?.provider.name ?? null }),
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/single-sign-on',
    access: 'open',
    body: { organisationId: organisation },
    response: RoundTrip,
    async handle({ context, services, http, body: { organisationId = null } }) {
      const { provider } = configured(http)
      await http.countChallenge(context)
      const start = { ...startOf(http, context), organisationId }
      return goTo(http, context, await beginSingleSignOn({ ...services, provider }, start))
    },
  }),
  /** For members who have to prove again who they are. */
  defineRoute({
    method: 'POST',
    path: '/console/api/verification/single-sign-on',
    access: 'viewer',
    isEnrolment: true,
    body: {},
    response: RoundTrip,
    async handle({ context, services, http, signedIn }) {
      const { provider } = configured(http)
      await http.countChallenge(context)
      const start = { ...startOf(http, context), signedIn }
      return goTo(http, context, await beginSingleSignOn({ ...services, provider }, start))
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/single-sign-on/finish',
    access: 'open',
    body: { query },
    response: SingleSignOn,
    async handle({ context, services, http, body }) {
      const deps = { ...services, ...configured(http) }
      const back = { ...body, browserToken: http.roundTripToken(context) }
      const outcome = await finishSingleSignOn(deps, back, http.sourceOf(context))
      if ('organisations' in outcome) return { prompt: null, ...outcome }
      if (outcome.browser) http.setCookies(context, outcome.browser)
      return { prompt: outcome.prompt, organisations: [] }
    },
  }),
]

function configured({ singleSignOn }: HttpTools) {
  if (singleSignOn) return singleSignOn
  throw notFound('Single sign-on')
}

function startOf(http: HttpTools, context: RequestContext) {
  const url = http.serviceUrl(context)
  if (url === null) {
    throw new LetheError('invalid_request', 'The address of the console is not known. Set LETHE_PUBLIC_URL.')
  }
  return { redirectUri: url + returnPath, browserToken: http.roundTripToken(context) }
}

function goTo(
  http: HttpTools,
  context: RequestContext,
  { address, browserToken }: Awaited<ReturnType<typeof beginSingleSignOn>>,
) {
  http.setRoundTripToken(context, browserToken)
  return { address }
}
